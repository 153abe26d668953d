//! A tenant writes Leases that look like those of the daemon's replicas.

use super::SHARED_CLUSTER;
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use reserve_tests::control_plane::{User, deployment, name_of, node_of};
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::TestNamespace;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;

/// A scheduler that knows nothing of reservations.
const FOREIGN: &str = "volcano";

/// How a command ended, and all that it said.
struct Typed {
    code: Option<i32>,
    said: String,
}

async fn typed(ns: &TestNamespace, arguments: &[&str]) -> Result<Typed> {
    let mut command = ns.cluster.kubectl(User::Admin)?;
    command.arg("reserve").args(arguments).stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output()).await?.context("run kubectl")?;
    let said = String::from_utf8([output.stdout, output.stderr].concat())?;
    Ok(Typed { code: output.status.code(), said })
}

/// What the tenant writes: as a replica would, good for a minute, renewed in this very second.
async fn forge(ns: &TestNamespace, name: &str, seen: &str, schedulers: &str) -> Result<()> {
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": { "name": format!("reserve-{name}"), "namespace": ns.name,
            "labels": { names::APP_LABEL: names::APP },
            "annotations": { names::SEEN_NODES: seen, names::SEEN_PODS: seen, names::SCHEDULERS: schedulers } },
        "spec": { "holderIdentity": name, "leaseDurationSeconds": 60, "renewTime": now(ns).await? },
    });
    let path = ns.cluster.dir().join(format!("{name}.json"));
    std::fs::write(&path, lease.to_string())?;
    let file = path.to_string_lossy().into_owned();
    ns.cluster.run_kubectl_as(User::Tenant, &["apply", "-n", ns.name, "-f", &file]).await?;
    Ok(())
}

/// The API server's time: that of an object which it has just made.
async fn now(ns: &TestNamespace) -> Result<String> {
    let pod = ["create", "configmap", "clock", "-n", ns.name, "--dry-run=server", "-o", "json"];
    let made: Value = serde_json::from_str(&ns.cluster.run_kubectl(&pod).await?)?;
    let at = made["metadata"]["creationTimestamp"].as_str().context("no time")?.to_owned();
    Ok(at.replace('Z', ".000000Z"))
}

#[test]
fn leases_of_a_tenant_are_ignored_and_told() -> Result<()> {
    SHARED_CLUSTER.run_alone("shop", async |ns| {
        ns.cluster.grant(User::Tenant, "edit", Some(ns.name)).await?;
        let real = daemon(names::SCHEDULER_NAME).start(ns.cluster).await?;
        let node = ns.node("n1", "4").await?;
        let web = deployment("web").cpu("3").terminate_after(Duration::from_secs(1));
        let web = ns.cluster.deploy(ns.fit_for(web, names::SCHEDULER_NAME)).await?;
        let old = ns.running(&web, 1).await?;

        // One that has seen nothing does not stop anybody.
        forge(&ns, "blind", "0", "").await?;
        let done = typed(&ns, &["pod", "web", "-n", ns.name, "--yes"]).await?;
        ensure!(done.code == Some(0) && done.said.contains("by 1 replica of the daemon"), "{}", done.said);
        ensure!(node_of(&ns.replacement(&web, &old).await?) == node);
        let doctor = typed(&ns, &["doctor"]).await?;
        ensure!(doctor.said.contains("Lease reserve-blind in namespace shop"), "{}", doctor.said);
        ensure!(doctor.said.contains("forged"), "{}", doctor.said);

        // One that claims to have seen everything makes no scheduler enforce reservations, ...
        let foreign = deployment("batch").cpu("100m").pod_field("nodeName", json!(node));
        let foreign = ns.cluster.deploy(ns.fit_for(foreign, FOREIGN)).await?;
        let foreign = ns.running(&foreign, 1).await?;
        forge(&ns, "evil", "18446744073709551615", &format!("{FOREIGN},{}", names::SCHEDULER_NAME)).await?;
        let refused = typed(&ns, &["pod", name_of(&foreign[0]), "-n", ns.name, "--yes"]).await?;
        let heedless = format!("placed by {FOREIGN}, which does not enforce reservations");
        ensure!(refused.code == Some(15) && refused.said.contains(&heedless), "{}", refused.said);
        let status = typed(&ns, &["status"]).await?.said;
        ensure!(!status.contains("evil") && !status.contains("blind"), "{status}");

        // ... and acknowledges nothing for a daemon that is down.
        real.kill()?;
        ns.cluster.run_kubectl(&["delete", "lease", "-n", "kube-system", "reserve-reserve-daemon"]).await?;
        let before = ns.running(&web, 1).await?;
        forge(&ns, "evil", "18446744073709551615", &format!("{FOREIGN},{}", names::SCHEDULER_NAME)).await?;
        let refused = typed(&ns, &["pod", "web", "-n", ns.name, "--yes"]).await?;
        ensure!(refused.code == Some(15) && refused.said.contains("does not enforce"), "{}", refused.said);
        ensure!(ns.running(&web, 1).await?[0].metadata.uid == before[0].metadata.uid, "it was evicted");
        // Whoever says that the daemon is in the tenant's namespace believes what is there.
        let believed = ["status", "--daemon-namespace", ns.name];
        ensure!(typed(&ns, &believed).await?.said.contains("evil"), "the flag has no effect");
        Ok(())
    })
}
