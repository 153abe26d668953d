//! What a reservation may look like: the values that are refused where they are written, and those that are not.

use crate::records::record;
use crate::{OWNER, SharedCluster, shared_cluster};
use anyhow::Result;
use reserve_tests::requests::{Answer, as_annotation, patch};
use serde_json::{Map, Value, json};

/// Whatever passes is a reservation to our code too, or the policy is too lax. What the code understands and the policy
/// refuses can be spelled in another way.
#[tokio::test(flavor = "multi_thread")]
async fn malformed_and_excessive_values_are_refused_where_they_are_written() -> Result<()> {
    let shared_cluster = shared_cluster("manifests_values").await?;
    for (key, value) in good() {
        let said = write(&shared_cluster, &key, &value).await?;
        assert_eq!(said.code, 200, "{key}={value}: {}", said.message);
        let read = common::api::reservation::parse([(key.as_str(), value.as_str())]);
        let is_plain = !key.contains(&format!("{OWNER}."));
        let is_valid = read.iter().any(|parsed| parsed.valid().is_some());
        assert!(!is_plain || is_valid, "{key}={value} passes, and our code takes it for malformed");
    }
    for (key, value) in bad() {
        let said = write(&shared_cluster, &key, &value).await?;
        assert_eq!(said.code, 422, "{key}={value}: {}", said.message);
        assert!(said.message.contains("reserve-values"), "{}", said.message);
    }
    the_number_is_bounded(&shared_cluster).await
}

/// The node has 4 CPUs, 16Gi of memory and 100Gi of storage.
fn good() -> Vec<(String, String)> {
    let plain = OWNER.to_owned();
    let seat = format!("{OWNER}.0123456789abcdefghij");
    let pairs = [
        ("cpu", &plain, "4"),
        ("cpu", &plain, "4000m"),
        ("cpu", &plain, "0.5"),
        ("cpu", &seat, "1m"),
        ("memory", &plain, "16Gi"),
        ("memory", &seat, "1.5Gi"),
        ("memory", &seat, "134217728"),
        ("memory", &plain, "1.125Gi"),
        ("memory", &plain, "1.234G"),
        ("ephemeral-storage", &seat, "100Gi"),
        ("ephemeral-storage", &plain, "500M"),
    ];
    pairs.map(|(word, id, value)| (format!("reserve.{word}/{id}"), value.to_owned())).into()
}

fn bad() -> Vec<(String, String)> {
    let long = "x".repeat(4097);
    let wide = "é".repeat(2049);
    let upper = OWNER.to_uppercase();
    let pairs = [
        // Keys.
        ("reserve.cpu", "1"),
        ("reserve.cpu/x", "1"),
        (&format!("reserve.gpu/{OWNER}"), "1"),
        (&format!("reserve.cpu/{upper}"), "1"),
        (&format!("reserve.cpu/{OWNER}.A"), "1"),
        (&format!("reserve.cpu/{OWNER}.a.b"), "1"),
        (&format!("reserve.cpu/{OWNER}.{}", "a".repeat(21)), "1"),
        // Values.
        (&format!("reserve.cpu/{OWNER}"), ""),
        (&format!("reserve.cpu/{OWNER}"), "0"),
        (&format!("reserve.cpu/{OWNER}"), "0.000"),
        (&format!("reserve.cpu/{OWNER}"), "0.5m"),
        (&format!("reserve.cpu/{OWNER}"), "0.0001"),
        (&format!("reserve.cpu/{OWNER}"), "-1"),
        (&format!("reserve.cpu/{OWNER}"), "1Gi"),
        (&format!("reserve.cpu/{OWNER}"), "1 "),
        (&format!("reserve.cpu/{OWNER}"), "1\n"),
        (&format!("reserve.cpu/{OWNER}"), "1e3"),
        (&format!("reserve.cpu/{OWNER}"), "2E6024865272343"),
        (&format!("reserve.cpu/{OWNER}"), "1234567890"),
        (&format!("reserve.memory/{OWNER}"), "lots"),
        (&format!("reserve.memory/{OWNER}"), "0Gi"),
        (&format!("reserve.memory/{OWNER}"), "1.5"),
        (&format!("reserve.memory/{OWNER}"), "1.001Ki"),
        (&format!("reserve.memory/{OWNER}"), "1gi"),
        (&format!("reserve.memory/{OWNER}"), "1Ei"),
        (&format!("reserve.ephemeral-storage/{OWNER}.a"), "+1Gi"),
        (&format!("reserve.info/{OWNER}.a"), &long),
        (&format!("reserve.info/{OWNER}.a"), &wide),
        // More than the node has.
        (&format!("reserve.cpu/{OWNER}"), "4001m"),
        (&format!("reserve.memory/{OWNER}"), "17Gi"),
        (&format!("reserve.ephemeral-storage/{OWNER}"), "1Ti"),
    ];
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

pub(crate) async fn write(shared_cluster: &SharedCluster, key: &str, value: &str) -> Result<Answer> {
    patch(&shared_cluster.cluster.admin(), "/api/v1/nodes/n1?dryRun=All", &as_annotation(key, value)).await
}

/// 512 keys on one node and no more; whoever has too many can still take some away, and the node still works.
async fn the_number_is_bounded(shared_cluster: &SharedCluster) -> Result<()> {
    let (admin, path) = (shared_cluster.cluster.admin(), "/api/v1/nodes/n2");
    let many = |seats: std::ops::Range<usize>, value: Value| {
        let each = seats.map(|seat| (format!("reserve.cpu/{OWNER}.{seat}"), value.clone()));
        json!({"metadata": {"annotations": each.collect::<Map<String, Value>>()}})
    };
    let said = patch(&admin, path, &many(0..513, "1m".into())).await?;
    assert!(said.code == 422 && said.message.contains("more than 512"), "{said:?}");
    let said = patch(&admin, path, &many(0..512, "1m".into())).await?;
    assert_eq!(said.code, 200, "{}", said.message);
    let said = patch(&admin, path, &many(512..513, "1m".into())).await?;
    assert_eq!(said.code, 422, "{}", said.message);
    let said = patch(&admin, "/api/v1/nodes/n2/status", &json!({"status": {"phase": "Running"}})).await?;
    assert_eq!(said.code, 200, "{}", said.message);
    let said = patch(&admin, path, &many(0..512, Value::Null)).await?;
    assert_eq!(said.code, 200, "{}", said.message);
    let mut record = record(1);
    record["reason"] = "".into();
    record["reason"] = "x".repeat(1024 - record.to_string().len()).into();
    let large = |seats: std::ops::Range<usize>| {
        let value = Value::from(record.to_string());
        let each = seats.map(|seat| (format!("reserve.info/{OWNER}.{seat}"), value.clone()));
        json!({"metadata": {"annotations": each.collect::<Map<String, Value>>()}})
    };
    let said = patch(&admin, path, &large(0..125)).await?;
    assert!(said.code == 422 && said.message.contains("more than 128 KiB"), "{said:?}");
    let said = patch(&admin, path, &large(0..110)).await?;
    assert_eq!(said.code, 200, "{}", said.message);
    Ok(())
}
