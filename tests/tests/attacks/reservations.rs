//! A tenant lets the daemon reserve: for years, many times what its quota allows, and as often as it can write.

use super::TOWN;
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use reserve_tests::control_plane::{User, bare_pod, deployment, name_of};
use reserve_tests::town::{KEEP, Plot, SOON};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a reservation lasts from the moment at which it was made or last changed, by its own record.
fn lasts(record: &Value, since: Timestamp) -> Result<SignedDuration> {
    let expires: Timestamp = record["expires"].as_str().context("no expires")?.parse()?;
    Ok(expires.duration_since(since))
}

const HOUR: SignedDuration = SignedDuration::from_hours(1);
/// Clocks, and the second that a record says it is younger by.
const SLACK: SignedDuration = SignedDuration::from_secs(10);

#[test]
fn a_grace_period_of_ten_years_holds_no_room_for_more_than_an_hour() -> Result<()> {
    TOWN.run("ten-years", async |plot| {
        plot.cluster.grant(User::Tenant, "edit", Some(plot.name)).await?;
        let node = plot.node("a", "4").await?;
        let tool = bare_pod("tool").cpu("3").terminate_after(Duration::from_secs(3600));
        let tool = tool.pod_field("terminationGracePeriodSeconds", json!(315_360_000));
        let tool = plot.deploy(tool).await?;
        plot.running(&tool, 1).await?;
        let as_tenant = async |arguments: &[&str]| {
            let arguments = [arguments, &["-n", plot.name]].concat();
            plot.cluster.run_kubectl_as(User::Tenant, &arguments).await
        };
        as_tenant(&["delete", "pod", "tool", "--wait=false"]).await?;
        as_tenant(&["annotate", "pod", "tool", &format!("{KEEP}=1m")]).await?;
        let made = plot.reserved(&node, 1).await?;
        let created: Timestamp = made[0]["created"].as_str().context("no created")?.parse()?;
        ensure!(lasts(&made[0], created)? <= HOUR + SLACK, "{}", made[0]);
        as_tenant(&["delete", "pod", "tool", "--force", "--grace-period=0"]).await?;
        let held = plot.reserved(&node, 1).await?;
        ensure!(lasts(&held[0], Timestamp::now())? <= HOUR + SLACK, "{}", held[0]);
        Ok(())
    })
}

/// No program writes such a record, and the policies refuse it; where they are not installed, people with rights on nodes can.
#[test]
fn a_record_of_ten_years_is_shortened_to_an_hour() -> Result<()> {
    TOWN.run("shortened", async |plot| {
        let node = plot.node("a", "4").await?;
        let owner = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let record = json!({ "v": 1, "owner": { "kind": "Pod", "namespace": plot.name, "name": "gone", "uid": owner },
            "replaces": { "name": "gone", "uid": owner }, "created": Timestamp::now().to_string(),
            "expires": "2036-01-31T12:00:00Z", "request": "by-hand", "placement": "prefer", "note": "kept" });
        let cpu = format!("{}/{owner}.a=1", names::CPU);
        let info = format!("{}/{owner}.a={record}", names::INFO);
        plot.cluster.run_kubectl(&["annotate", "node", &node, &cpu, &info]).await?;
        let shortened = plot
            .cluster
            .wait_until("it ends within the hour", SOON, async || {
                let found = plot.reservations(&node).await?;
                ensure!(lasts(&found[0], Timestamp::now())? <= HOUR + SLACK, "{found:?}");
                Ok(found)
            })
            .await?;
        ensure!(shortened[0]["note"] == "kept", "a field that nobody knows is kept: {shortened:?}");
        Ok(())
    })
}

#[test]
fn pods_that_come_and_go_hold_no_more_than_was_requested_at_once() -> Result<()> {
    TOWN.run("quota", async |plot| {
        plot.cluster.grant(User::Tenant, "edit", Some(plot.name)).await?;
        let node = plot.node("a", "16").await?;
        let quota = json!({ "apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": { "name": "two", "namespace": plot.name }, "spec": { "hard": { "requests.cpu": "2" } } });
        plot.cluster.apply(&quota.to_string()).await?;
        for round in 0..4 {
            let name = format!("tool-{round}");
            let tool = bare_pod(&name).cpu("2").annotation(KEEP, "1h").pod_annotation(KEEP, "1h");
            // The controller of quotas has to see that the pod before is gone.
            let tool = plot
                .cluster
                .wait_until("the quota lets it in", SOON, async || plot.deploy(tool.clone()).await)
                .await?;
            let pod = plot.running(&tool, 1).await?;
            told(&plot, name_of(&pod[0]), if round == 0 { "Reserved" } else { "NotReserved" }).await?;
            let delete = ["delete", "pod", &name, "-n", plot.name, "--force", "--grace-period=0"];
            plot.cluster.run_kubectl_as(User::Tenant, &delete).await?;
        }
        let held = plot.reservations(&node).await?;
        ensure!(held.len() == 1, "four times two cpus were requested, one after the other: {held:?}");
        Ok(())
    })
}

/// Waits until the daemon has told the pod this.
async fn told(plot: &Plot, pod: &str, reason: &str) -> Result<()> {
    let selector = format!("involvedObject.name={pod},reason={reason}");
    let arguments = ["get", "events", "-n", plot.name, "--field-selector", &selector, "-o", "name"];
    plot.cluster
        .wait_until(&format!("{pod} is told {reason}"), SOON, async || {
            let events = plot.cluster.run_kubectl(&arguments).await?;
            ensure!(!events.trim().is_empty());
            Ok(())
        })
        .await
}

#[test]
fn a_hundred_pods_that_ask_for_a_second_cause_few_writes() -> Result<()> {
    TOWN.run_alone("storm", async |plot| {
        plot.cluster.grant(User::Tenant, "edit", Some(plot.name)).await?;
        let mut nodes = Vec::new();
        for name in ["a", "b"] {
            nodes.push(plot.node(name, "64").await?);
        }
        let many = deployment("many").replicas(100).cpu("10m").pod_annotation(KEEP, "1s");
        let many = plot.deploy(many).await?;
        plot.running(&many, 100).await?;
        // Others are placed meanwhile.
        let other = plot.deploy(deployment("other").replicas(10).cpu("10m")).await?;
        plot.running(&other, 10).await?;
        plot.cluster
            .wait_until("all are reserved", SOON, async || {
                let mut count = 0;
                for node in &nodes {
                    count += plot.reservations(node).await?.len();
                }
                ensure!(count == 100, "{count} reservations");
                Ok(())
            })
            .await?;
        let since = Timestamp::now();
        // The daemon says every five seconds what it has seen.
        for _ in 0..3 {
            renewed(&plot).await?;
        }
        let writes = plot.cluster.audit().await?.to("nodes").by("reserve-daemon").since(since);
        let seconds = Timestamp::now().duration_since(since).as_secs_f64();
        let rate = writes.writes().len() as f64 / seconds;
        ensure!(rate < 1.0, "{} writes to nodes in {seconds:.0} s", writes.writes().len());
        Ok(())
    })
}

/// Waits until the daemon has renewed its replica's Lease once more.
async fn renewed(plot: &Plot) -> Result<()> {
    let leases: Api<Lease> = Api::namespaced(plot.cluster.admin(), "kube-system");
    let read = async || {
        let lease = leases.get("reserve-reserve-daemon").await?;
        lease.spec.and_then(|spec| spec.renew_time).context("no renewTime")
    };
    let before = read().await?;
    plot.cluster
        .wait_until("the Lease is renewed", SOON, async || {
            ensure!(read().await? != before);
            Ok(())
        })
        .await
}
