//! A tenant lets the daemon reserve: for years, and many times what its quota allows.

use super::SHARED_CLUSTER;
use crate::tenant::Tenant;
use crate::time::let_time_pass;
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use reserve_tests::control_plane::{User, Workload, WorkloadShape, bare_pod, name_of};
use reserve_tests::shared_cluster::{KEEP, SOON, TestNamespace};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a reservation lasts from the moment at which it was made or last changed, by its own record.
fn lasts(record: &Value, since: Timestamp) -> Result<SignedDuration> {
    let expires: Timestamp = record["expires"].as_str().context("no expires")?.parse()?;
    Ok(expires.duration_since(since))
}

/// Makes a pod without an owner, as the tenant.
async fn pod(ns: TestNamespace, tenant: &Tenant, name: &str, shape: WorkloadShape) -> Result<Workload> {
    let mut pod = ns.fit(shape).template();
    pod["metadata"]["name"] = name.into();
    tenant.create::<Pod>(pod).await
}

/// Runs kubectl in the namespace, as the tenant.
async fn kubectl(ns: TestNamespace, arguments: &[&str]) -> Result<String> {
    let arguments = [arguments, &["-n", ns.name]].concat();
    ns.cluster.run_kubectl_as(User::Tenant, &arguments).await
}

const HOUR: SignedDuration = SignedDuration::from_hours(1);
/// Clocks, and the second that a record says it is younger by.
const SLACK: SignedDuration = SignedDuration::from_secs(10);

#[test]
fn a_grace_period_of_ten_years_holds_no_room_for_more_than_an_hour() -> Result<()> {
    SHARED_CLUSTER.run("ten-years", async |ns| {
        let (tenant, node) = (Tenant::of(ns).await?, ns.node("a", "4").await?);
        let tool = bare_pod("tool").cpu("3").terminate_after(Duration::from_secs(3600));
        let tool = tool.pod_field("terminationGracePeriodSeconds", json!(315_360_000));
        let tool = pod(ns, &tenant, "tool", tool).await?;
        ns.running(&tool, 1).await?;
        kubectl(ns, &["delete", "pod", "tool", "--wait=false"]).await?;
        kubectl(ns, &["annotate", "pod", "tool", &format!("{KEEP}=1m")]).await?;
        let made = ns.reserved(&node, 1).await?;
        let created: Timestamp = made[0]["created"].as_str().context("no created")?.parse()?;
        ensure!(lasts(&made[0], created)? <= HOUR + SLACK, "{}", made[0]);
        kubectl(ns, &["delete", "pod", "tool", "--force", "--grace-period=0"]).await?;
        let held = ns.reserved(&node, 1).await?;
        ensure!(lasts(&held[0], Timestamp::now())? <= HOUR + SLACK, "{}", held[0]);
        // The room is kept from others until that time has passed, and then it is free, although the pod never came back.
        let stranger = ns.deploy_waiting(bare_pod("stranger").cpu("2")).await?;
        let_time_pass(ns, &node, SignedDuration::from_secs(2)).await?;
        ns.reserved(&node, 0).await?;
        ns.running(&stranger, 1).await.map(drop)
    })
}

/// No program writes such a record, and the policies refuse it; where they are not installed, people with rights on nodes can.
#[test]
fn a_record_of_ten_years_is_shortened_to_an_hour() -> Result<()> {
    SHARED_CLUSTER.run("shortened", async |ns| {
        let node = ns.node("a", "4").await?;
        let owner = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let record = json!({ "v": 1, "owner": { "kind": "Pod", "namespace": ns.name, "name": "gone", "uid": owner },
            "replaces": { "name": "gone", "uid": owner }, "created": Timestamp::now().to_string(),
            "expires": "2036-01-31T12:00:00Z", "request": "by-hand", "placement": "prefer", "note": "kept" });
        let cpu = format!("{}/{owner}.a=1", names::CPU);
        let info = format!("{}/{owner}.a={record}", names::INFO);
        ns.cluster.run_kubectl(&["annotate", "node", &node, &cpu, &info]).await?;
        let shortened = ns
            .cluster
            .wait_until("it ends within the hour", SOON, async || {
                let found = ns.reservations(&node).await?;
                ensure!(lasts(&found[0], Timestamp::now())? <= HOUR + SLACK, "{found:?}");
                Ok(found)
            })
            .await?;
        ensure!(shortened[0]["note"] == "kept", "a field that nobody knows is kept: {shortened:?}");
        Ok(())
    })
}

fn quota(ns: TestNamespace, cpu: &str) -> String {
    json!({ "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": "cpus", "namespace": ns.name },
        "spec": { "hard": { "requests.cpu": cpu } } })
    .to_string()
}

#[test]
fn pods_that_come_and_go_hold_no_more_than_was_requested_at_once() -> Result<()> {
    SHARED_CLUSTER.run("quota", async |ns| {
        let (tenant, node) = (Tenant::of(ns).await?, ns.node("a", "16").await?);
        ns.cluster.apply(&quota(ns, "2")).await?;
        for round in 0..4 {
            let name = format!("tool-{round}");
            let tool = bare_pod(&name).cpu("2").pod_annotation(KEEP, "1h");
            // The controller of quotas has to see that the pod before is gone.
            let tool = ns
                .cluster
                .wait_until("the quota lets it in", SOON, async || {
                    pod(ns, &tenant, &name, tool.clone()).await
                })
                .await?;
            let pod = ns.running(&tool, 1).await?;
            told(ns, name_of(&pod[0]), if round == 0 { "Reserved" } else { "NotReserved" }).await?;
            kubectl(ns, &["delete", "pod", &name, "--force", "--grace-period=0"]).await?;
        }
        let held = ns.reservations(&node).await?;
        ensure!(held.len() == 1, "four times two cpus were requested, one after the other: {held:?}");
        Ok(())
    })
}

/// Pods that request more than a ResourceQuota, which came after them, and which holds for what is reserved.
#[test]
fn no_more_is_reserved_than_a_resource_quota_allows() -> Result<()> {
    SHARED_CLUSTER.run("over-quota", async |ns| {
        let (tenant, node) = (Tenant::of(ns).await?, ns.node("a", "16").await?);
        for name in ["first", "second"] {
            let pod = pod(ns, &tenant, name, bare_pod(name).cpu("2")).await?;
            ns.running(&pod, 1).await?;
        }
        kubectl(ns, &["annotate", "pod", "first", &format!("{KEEP}=1h")]).await?;
        ns.reserved(&node, 1).await?;
        ns.cluster.apply(&quota(ns, "3")).await?;
        // The daemon may hear of the wish before it hears of the quota: then the wish is taken back, and made again.
        let why = ns
            .cluster
            .wait_until("the quota bites", SOON, async || {
                kubectl(ns, &["annotate", "pod", "second", &format!("{KEEP}=1h")]).await?;
                let said = answer(ns, "second").await;
                if said.as_ref().is_ok_and(|(reason, _)| reason == "NotReserved") {
                    return said;
                }
                kubectl(ns, &["annotate", "pod", "second", &format!("{KEEP}-")]).await?;
                ns.reserved(&node, 1).await?;
                forget(ns, "second").await?;
                anyhow::bail!("{said:?}")
            })
            .await?;
        ensure!(why.1.contains("more cpu reserved than its ResourceQuota allows"), "{why:?}");
        let held = ns.reservations(&node).await?;
        ensure!(held.len() == 1 && held[0]["owner"]["name"] == "first", "{held:?}");
        Ok(())
    })
}

/// What the daemon has told a pod that wishes its place kept: reason and message.
async fn answer(ns: TestNamespace, pod: &str) -> Result<(String, String)> {
    ns.cluster
        .wait_until(&format!("{pod} is answered"), SOON, async || {
            let events = events(ns, pod).await?;
            let said = events.iter().filter_map(|event| {
                let text = |field: &str| event[field].as_str().map(str::to_owned);
                Some((text("reason")?, text("message")?))
            });
            let mut said = said.filter(|(reason, _)| matches!(&**reason, "Reserved" | "NotReserved"));
            said.next().with_context(|| format!("{events:?}"))
        })
        .await
}

async fn events(ns: TestNamespace, pod: &str) -> Result<Vec<Value>> {
    let about = format!("involvedObject.name={pod}");
    let arguments = ["get", "events", "-n", ns.name, "--field-selector", &about, "-o", "json"];
    let list: Value = serde_json::from_str(&ns.cluster.run_kubectl(&arguments).await?)?;
    Ok(list["items"].as_array().cloned().unwrap_or_default())
}

/// Removes what a pod was told.
async fn forget(ns: TestNamespace, pod: &str) -> Result<()> {
    let about = format!("involvedObject.name={pod}");
    let arguments = ["delete", "events", "-n", ns.name, "--field-selector", &about];
    ns.cluster.run_kubectl(&arguments).await.map(drop)
}

/// Waits until the daemon has told the pod this.
async fn told(ns: TestNamespace, pod: &str, reason: &str) -> Result<()> {
    ns.cluster
        .wait_until(&format!("{pod} is told {reason}"), SOON, async || {
            let events = events(ns, pod).await?;
            ensure!(events.iter().any(|event| event["reason"] == reason), "{events:?}");
            Ok(())
        })
        .await
}
