//! How much is kept: everything that a pod asks for counts, and a node bears very many reservations.

use super::{GRACE, SHARED_CLUSTER};
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use reserve_tests::control_plane::{Write, bare_pod, deployment, is_running};
use reserve_tests::shared_cluster::SOON;
use serde_json::json;
use std::time::Duration;

#[test]
fn sidecars_and_overhead_are_kept_too() -> Result<()> {
    SHARED_CLUSTER.run("overhead", async |ns| {
        let node = ns.node("a", "3").await?;
        let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "heavy"},
                           "handler": "heavy", "overhead": {"podFixed": {"cpu": "500m"}}});
        ns.cluster.apply(&class.to_string()).await?;
        let asks = |name: &str| json!({"name": name, "image": "nginx", "resources": {"requests": {"cpu": "1"}}});
        let mut sidecar = asks("sidecar");
        sidecar["restartPolicy"] = json!("Always");
        let web = deployment("web").terminate_after(GRACE).pod_field("runtimeClassName", json!("heavy"));
        let web = web.pod_field("initContainers", json!([sidecar])).pod_field("containers", json!([asks("web")]));
        let web = ns.deploy_kept(web, 1).await?;
        let stranger = ns.deploy_waiting(deployment("stranger").cpu("1")).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        ns.reserved(&node, 1).await?;
        let annotations = ns.cluster.node(&node).await?.metadata.annotations.unwrap_or_default();
        let cpu = annotations.iter().find(|(key, _)| key.starts_with(names::CPU)).context("no cpu is reserved")?.1;
        ensure!(cpu == "2500m", "reserved: {cpu}");
        ns.replacement(&web, &old).await?;
        ns.still_waits(&stranger).await
    })
}

/// 128 of them count, which is the bound; the others are passed over, and nobody adds one more.
#[test]
fn two_hundred_owners_on_one_node() -> Result<()> {
    SHARED_CLUSTER.run("two-hundred", async |ns| {
        // Each of them keeps room for a pod, too.
        let node = ns.node_with("a", |shape| shape.cpu("4").pods(500)).await?;
        let keys = (0..200)
            .map(|number| (format!("{}/00000000-0000-4000-8000-{number:012}", names::CPU), json!("10m")));
        let keys: serde_json::Map<String, serde_json::Value> = keys.collect();
        let patch = json!({"metadata": {"annotations": keys}}).to_string();
        ns.cluster.run_kubectl(&["patch", "node", &node, "--type=merge", "-p", &patch]).await?;
        let web = ns.deploy_kept(deployment("web").cpu("1").terminate_after(GRACE), 1).await?;
        let stranger = ns.deploy_waiting(deployment("stranger").cpu("1721m")).await?;
        let fits = ns.deploy(deployment("fits").cpu("1720m")).await?;
        ns.running(&fits, 1).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        ns.replacement(&web, &old).await?;
        ns.still_waits(&stranger).await?;
        let uid = web.uid.as_str();
        let audit = ns.cluster.audit().await?.to("nodes").named(&node);
        let is_ours =
            |write: &Write| write.request_object.as_ref().is_some_and(|json| json.to_string().contains(uid));
        ensure!(!audit.writes().iter().any(is_ours), "one more was reserved");
        Ok(())
    })
}

#[test]
fn churn_of_many_owners_breaks_no_rule() -> Result<()> {
    SHARED_CLUSTER.run("churn", async |ns| {
        for number in 0..4 {
            ns.node(&format!("n{number}"), "4").await?;
        }
        let mut kept = Vec::new();
        for number in 0..8 {
            let web = deployment(&format!("web-{number}")).cpu("2").terminate_after(Duration::from_secs(1));
            kept.push(ns.deploy(web.annotation(reserve_tests::shared_cluster::KEEP, "true")).await?);
        }
        for web in &kept {
            ns.running(web, 1).await?;
        }
        ns.deploy_waiting(bare_pod("stranger").cpu("1")).await?;
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..40 {
            let web = &kept[rng.usize(..kept.len())];
            if let Some(pod) = ns.pods(web).await?.iter().find(|pod| is_running(pod)) {
                ns.delete(pod).await?;
            }
            tokio::time::sleep(Duration::from_millis(rng.u64(..200))).await;
        }
        ns.cluster
            .wait_until("all of them run again", SOON, async || {
                for web in &kept {
                    let pods = ns.pods(web).await?;
                    ensure!(pods.len() == 1 && pods.iter().all(is_running), "{}", web.name);
                }
                Ok(())
            })
            .await
    })
}
