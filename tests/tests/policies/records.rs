//! Records of reservations: each says when it ends, and none ends in days.

use crate::values::write;
use crate::{OWNER, SOON, SharedCluster, shared_cluster};
use anyhow::{Result, ensure};
use jiff::{SignedDuration, Timestamp};
use reserve_tests::requests::{as_annotation, patch};
use serde_json::{Value, json};

/// A record that ends so many hours from now.
pub(crate) fn record(hours: i64) -> Value {
    let time =
        |hours: i64| (Timestamp::now() + SignedDuration::from_hours(hours)).strftime("%Y-%m-%dT%H:%M:%SZ");
    json!({
        "v": 1, "owner": {"kind": "Deployment", "namespace": "a", "name": "expires", "uid": OWNER}, "priority": 0,
        "created": time(0).to_string(), "expires": time(hours).to_string(), "request": "r", "by": "CORP\\somebody",
        "reason": "\"expires\":\"2100-01-01T00:00:00Z\"", "placement": "prefer",
    })
}

/// The same with another value of a field; `null` removes it.
fn with(field: &str, value: Value) -> String {
    let mut record = record(1);
    match value {
        Value::Null => drop(record.as_object_mut().and_then(|fields| fields.remove(field))),
        value => record[field] = value,
    }
    record.to_string()
}

fn key() -> String {
    format!("reserve.info/{OWNER}.a")
}

/// What the policies let through is read by our code with an end, or not as a reservation at all.
async fn passes(shared_cluster: &SharedCluster, what: &str, value: &str) -> Result<()> {
    let said = write(shared_cluster, &key(), value).await?;
    ensure!(said.code == 200, "{what}: {}", said.message);
    let cpu = format!("reserve.cpu/{OWNER}.a");
    let read = common::api::reservation::parse([(cpu.as_str(), "1"), (&key(), value)]);
    let valid: Vec<_> = read.iter().filter_map(|parsed| parsed.valid()).collect();
    ensure!(valid.len() == 1 && valid[0].expires().is_some(), "{what}: our code reads {read:?}");
    Ok(())
}

async fn refused(shared_cluster: &SharedCluster, what: &str, value: &str) -> Result<()> {
    let said = write(shared_cluster, &key(), value).await?;
    ensure!(said.code == 422 && said.message.contains("reserve-values"), "{what}: {said:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_record_ends_and_within_a_day() -> Result<()> {
    let shared_cluster = shared_cluster("manifests_records").await?;
    every_record_says_once_when_it_ends(&shared_cluster).await?;
    names_may_have_backslashes(&shared_cluster).await?;
    nothing_is_reserved_for_days(&shared_cluster).await?;
    nothing_is_reserved_for_days_without_managed_fields(&shared_cluster).await
}

/// Of a version that our code does not know it reads only the end, and what has none is held for ever.
async fn every_record_says_once_when_it_ends(shared_cluster: &SharedCluster) -> Result<()> {
    let ends = record(1)["expires"].as_str().unwrap_or_default().to_owned();
    passes(shared_cluster, "a newer version", &format!(r#"{{"v":2,"expires":"{ends}"}}"#)).await?;
    let deep = json!({"v": 2, "a": [{"b": "]}\""}, 1], "e": {}, "expires": ends});
    passes(shared_cluster, "a newer version with more in it", &deep.to_string()).await?;
    let ports = json!([{"port": 53, "protocol": "UDP", "ip": "10.0.0.1"}, {"port": 80, "protocol": "TCP"}]);
    passes(shared_cluster, "ports", &with("ports", ports)).await?;
    let bad = [
        ("no end", r#"{"v":2}"#.to_owned()),
        ("no end, of our version", with("expires", Value::Null)),
        ("no JSON", "x".to_owned()),
        ("an end inside", format!(r#"{{"v":2,"a":{{"expires":"{ends}"}}}}"#)),
        ("an end inside a list", format!(r#"{{"v":2,"a":[{{"expires":"{ends}"}}]}}"#)),
        (
            "an end inside, after brackets in a string",
            format!(r#"{{"v":2,"a":{{"b":"}}","expires":"{ends}"}}}}"#),
        ),
        ("an end in a string", json!({"v": 2, "a": format!(r#","expires":"{ends}""#)}).to_string()),
        ("two ends", format!(r#"{{"v":2,"expires":"{ends}","expires":"{ends}"}}"#)),
        ("a number", r#"{"v":2,"expires":4102444800}"#.to_owned()),
        ("no time", r#"{"v":2,"expires":"2026-02-31T12:00:00Z"}"#.to_owned()),
    ];
    for (what, value) in bad {
        refused(shared_cluster, what, &value).await?;
    }
    Ok(())
}

/// A backslash in a name is written as two. Only a single one makes an escape of what follows.
async fn names_may_have_backslashes(shared_cluster: &SharedCluster) -> Result<()> {
    for by in ["CORP\\ulrich", "CORP\\u0065", "\\", "a\\\\u0065", "\u{7}bell", "<ulrich>"] {
        passes(shared_cluster, by, &with("by", by.into())).await?;
    }
    let escaped = with("by", "CORP\\ulrich".into()).replace("CORP\\\\u", "CORP\\\\\\u0075");
    refused(shared_cluster, "a letter as an escape", &escaped).await
}

/// The API server has no clock for policies; by what it notes in managedFields a policy knows the time.
async fn nothing_is_reserved_for_days(shared_cluster: &SharedCluster) -> Result<()> {
    for hours in [-5, 1, 23] {
        passes(shared_cluster, &format!("{hours} h"), &record(hours).to_string()).await?;
    }
    let far = record(87_600).to_string();
    let mut forged = record(25);
    forged["created"] = forged["expires"].clone();
    let near = format!("{{\"other\":{{\"expires\":{}}},", record(1)["expires"]);
    let bad = [
        ("25 h", record(25).to_string()),
        ("ten years", far.clone()),
        ("created tomorrow", forged.to_string()),
        ("spaces", far.replace("\"expires\":", "\"expires\" : ")),
        ("escapes", far.replace("\"expires\":", "\"exp\\u0069res\":")),
        ("a nearer one before it", far.replacen('{', &near, 1)),
        ("another way to say it", record(1).to_string().replace("Z\",\"", "+00:00\",\"")),
    ];
    for (what, value) in bad {
        refused(shared_cluster, what, &value).await?;
    }
    forged_managed_fields(shared_cluster, "n1", &far).await
}

/// Whatever managedFields the request brings along.
async fn forged_managed_fields(shared_cluster: &SharedCluster, node: &str, far: &str) -> Result<()> {
    let entry = json!({"manager": "reserve-tests", "operation": "Update", "apiVersion": "v1", "time": "2200-01-01T00:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": {format!("f:{}", key()): {}}}}});
    for managed in [json!([entry]), json!([{}])] {
        let mut change = as_annotation(&key(), far);
        change["metadata"]["managedFields"] = managed;
        let path = format!("/api/v1/nodes/{node}?dryRun=All");
        let said = patch(&shared_cluster.cluster.admin(), &path, &change).await?;
        ensure!(
            said.code == 422 && said.message.contains("reserve.info expires more than a day"),
            "{said:?}"
        );
    }
    Ok(())
}

/// On a node whose managedFields somebody removed the API server notes nothing: then the record's own `created` counts.
async fn nothing_is_reserved_for_days_without_managed_fields(shared_cluster: &SharedCluster) -> Result<()> {
    let (admin, path) = (shared_cluster.cluster.admin(), "/api/v1/nodes/n2?dryRun=All");
    shared_cluster
        .cluster
        .wait_until("the node has no managedFields", SOON, async || {
            let none = json!({"metadata": {"managedFields": [{}]}});
            let said = patch(&admin, "/api/v1/nodes/n2", &none).await?;
            ensure!(said.code == 200, "{said:?}");
            let left = shared_cluster.cluster.node("n2").await?.metadata.managed_fields.unwrap_or_default();
            ensure!(left.is_empty(), "{left:?}");
            Ok(())
        })
        .await?;
    for hours in [1, 23] {
        let said = patch(&admin, path, &as_annotation(&key(), &record(hours).to_string())).await?;
        ensure!(said.code == 200, "{hours} h: {said:?}");
    }
    let far = record(87_600).to_string();
    let bad = [
        ("25 h", record(25).to_string(), "a day after it was created"),
        ("ten years", far.clone(), "a day after it was created"),
        ("no time of creation", with("created", Value::Null), "a day after it was created"),
        ("no end", with("expires", Value::Null), "when it ends"),
    ];
    for (what, value, why) in bad {
        let said = patch(&admin, path, &as_annotation(&key(), &value)).await?;
        ensure!(said.code == 422 && said.message.contains(why), "{what}: {said:?}");
    }
    forged_managed_fields(shared_cluster, "n2", &far).await
}
