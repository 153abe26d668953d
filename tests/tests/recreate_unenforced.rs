//! `kubectl reserve pod` where nothing enforces reservations: only kube-scheduler, and no daemon at all.

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{User, deployment, is_running, name_of};
use reserve_tests::shared_cluster::{SharedCluster, TestNamespace};
use std::process::{Output, Stdio};
use std::time::Duration;

static SHARED_CLUSTER: SharedCluster =
    SharedCluster::new("recreate_unenforced", None).with_scheduler("percentageOfNodesToScore: 100");

async fn typed(ns: &TestNamespace, arguments: &[&str]) -> Result<(Option<i32>, String)> {
    let mut command = ns.cluster.kubectl(User::Admin)?;
    command.arg("reserve").args(arguments).args(["-n", ns.name]).stdin(Stdio::null());
    let output: Output =
        tokio::task::spawn_blocking(move || command.output()).await?.context("run kubectl")?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8(said)?))
}

#[test]
fn nothing_enforces_it_so_it_stops_unless_told_otherwise() -> Result<()> {
    SHARED_CLUSTER.run("unenforced", async |ns| {
        let node = ns.node("n1", "4").await?;
        let shape = deployment("web").cpu("1").terminate_after(Duration::from_secs(2));
        let web = ns.cluster.deploy(ns.fit_for(shape, "default-scheduler")).await?;
        let old = ns.running(&web, 1).await?;
        let (code, said) = typed(&ns, &["pod", "web", "--yes"]).await?;
        ensure!(
            code == Some(15) && said.contains("placed by default-scheduler, which does not enforce"),
            "{said}"
        );
        ensure!(said.contains("--unenforced"), "{said}");
        ensure!(ns.reservations(&node).await?.is_empty());
        let (code, said) = typed(&ns, &["pod", "web", "--yes", "--unenforced"]).await?;
        ensure!(
            code == Some(0) && said.contains("nobody acknowledges it") && said.contains("released"),
            "{said}"
        );
        let new = ns.running(&web, 1).await?;
        ensure!(is_running(&new[0]) && name_of(&new[0]) != name_of(&old[0]));
        ensure!(ns.reservations(&node).await?.is_empty(), "nobody else would release it");
        let (code, said) = typed(&ns, &["pod", "web", "--yes", "--no-reserve"]).await?;
        ensure!(code == Some(0) && !said.contains("reserved"), "{said}");
        Ok(())
    })
}

/// A scheduler that does not enforce puts the replacement where it likes.
#[test]
fn ready_on_another_node_is_a_failure_where_its_own_was_required() -> Result<()> {
    SHARED_CLUSTER.run("elsewhere", async |ns| {
        let home = ns.node("n1", "4").await?;
        let shape = deployment("web").cpu("1").terminate_after(Duration::from_secs(2));
        let web = ns.cluster.deploy(ns.fit_for(shape, "default-scheduler")).await?;
        let old = ns.running(&web, 1).await?;
        let other = ns.node("n2", "4").await?;
        ns.cluster.run_kubectl(&["cordon", &home]).await?;
        let (code, said) =
            typed(&ns, &["pod", "web", "--yes", "--unenforced", "--same-node=require"]).await?;
        let elsewhere = format!("is on {other}, not on {home} (--same-node=require)");
        ensure!(code == Some(16) && said.contains(&elsewhere), "{code:?} {said}");
        let new = ns.running(&web, 1).await?;
        ensure!(name_of(&new[0]) != name_of(&old[0]) && said.contains(name_of(&new[0])), "{said}");
        Ok(())
    })
}
