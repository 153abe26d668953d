//! The controller on a real control plane: places are kept without anybody asking by hand, and nothing is left behind.
//!
//! Each test has a node that is full of one workload, and a competitor of the same size that waits for room. Who gets the
//! room when a pod of the workload is deleted?

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::ListParams;
use reserve_tests::control_plane::{
    Cluster, ControlPlane, Workload, WorkloadShape, bare_pod, deployment, describe, is_running, name_of,
    node, node_of,
};
use reserve_tests::programs::{self, Daemon};
use std::time::Duration;

const SCHEDULER: &str = "reserve-scheduler";
const KEEP: &str = "reserve/keep";
const SOON: Duration = Duration::from_secs(90);

/// A node full of `web`, and a competitor that waits.
async fn full(name: &str, web: WorkloadShape) -> Result<(Cluster, Daemon, Workload)> {
    let cluster = ControlPlane::start(name).plugin_dir(programs::build()?).await?;
    cluster.add_node(node("n1").cpu("4").memory("8Gi")).await?;
    let daemon = Daemon::start(&cluster, SCHEDULER).await?;
    let web = cluster.deploy(web.cpu("3").scheduler(SCHEDULER)).await?;
    cluster.wait_until_running(&web.selector, 1).await?;
    cluster.deploy(deployment("rival").cpu("3").scheduler(SCHEDULER)).await?;
    cluster.wait_until_unschedulable("default", "app=rival").await?;
    Ok((cluster, daemon, web))
}

/// The annotations of reservations on `n1`.
async fn annotations(cluster: &Cluster) -> Result<Vec<(String, String)>> {
    let all = cluster.node("n1").await?.metadata.annotations.unwrap_or_default();
    Ok(all.into_iter().filter(|(key, _)| key.starts_with("reserve.")).collect())
}

async fn wait_until_reserved(cluster: &Cluster, is_reserved: bool) -> Result<Vec<(String, String)>> {
    let what = if is_reserved { "there is a reservation" } else { "there is no reservation" };
    cluster
        .wait_until(what, SOON, async || {
            let found = annotations(cluster).await?;
            ensure!(found.is_empty() != is_reserved, "{found:?}");
            Ok(found)
        })
        .await
}

/// The one pod of `web` that is another one than `old`, once it runs.
async fn wait_until_back(cluster: &Cluster, web: &Workload, old: &Pod) -> Result<Pod> {
    cluster
        .wait_until("the replacement runs", SOON, async || {
            let pods = cluster.pods(&web.selector).await?;
            let others: Vec<&Pod> = pods.iter().filter(|pod| pod.metadata.uid != old.metadata.uid).collect();
            let [pod] = others[..] else { bail!("{}", describe(&pods)) };
            ensure!(is_running(pod), "{}", describe(&pods));
            Ok(pod.clone())
        })
        .await
}

async fn the_pod(cluster: &Cluster, web: &Workload) -> Result<Pod> {
    cluster.pods(&web.selector).await?.into_iter().next().context("it has no pod")
}

/// Deletes the pod of `web` like this, and checks that its place was kept, taken, and released.
async fn comes_back(cluster: &Cluster, daemon: &Daemon, web: &Workload, how: &[&str]) -> Result<()> {
    let old = the_pod(cluster, web).await?;
    cluster.run_kubectl(&[&["delete", "pod", name_of(&old), "--wait=false"], how].concat()).await?;
    let new = wait_until_back(cluster, web, &old).await.with_context(|| daemon.log().unwrap_or_default())?;
    assert_eq!(node_of(&new), "n1");
    let rivals = cluster.pods("app=rival").await?;
    assert!(rivals.iter().all(|pod| !is_running(pod)), "{}", describe(&rivals));
    wait_until_reserved(cluster, false).await?;
    cluster
        .wait_until("the log says so", SOON, async || {
            let log = daemon.log()?;
            ensure!(log.contains("released") && log.contains("why=\"taken\""), "{log}");
            Ok(())
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_pod_of_a_deployment_that_keeps_its_places_comes_back() -> Result<()> {
    let web = deployment("web").annotation(KEEP, "true").terminate_after(Duration::from_secs(2));
    let (cluster, daemon, web) = full("controller_deployment", web).await?;
    let old = the_pod(&cluster, &web).await?;
    cluster.run_kubectl(&["delete", "pod", name_of(&old), "--wait=false"]).await?;
    let reserved = wait_until_reserved(&cluster, true).await?;
    let keys: Vec<&str> =
        reserved.iter().filter_map(|(key, _)| key.split_once('/')).map(|(key, _)| key).collect();
    assert_eq!(keys, ["reserve.cpu", "reserve.info"], "{reserved:?}");
    let new = wait_until_back(&cluster, &web, &old).await?;
    assert_eq!(node_of(&new), "n1");
    wait_until_reserved(&cluster, false).await?;
    comes_back(&cluster, &daemon, &web, &["--grace-period=5"]).await?;
    // No grace, and so no time to write anything down before the pod is gone.
    for _ in 0..3 {
        comes_back(&cluster, &daemon, &web, &["--force", "--grace-period=0"]).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn scaled_to_nothing_or_deleted_it_leaves_nothing_behind() -> Result<()> {
    let web = deployment("web").annotation(KEEP, "true").terminate_after(Duration::from_secs(3));
    let (cluster, daemon, web) = full("controller_scaled", web).await?;
    let old = the_pod(&cluster, &web).await?;
    cluster.run_kubectl(&["delete", "pod", name_of(&old), "--wait=false"]).await?;
    wait_until_reserved(&cluster, true).await?;
    cluster.run_kubectl(&["scale", "deployment", "web", "--replicas=0"]).await?;
    wait_until_reserved(&cluster, false).await.with_context(|| daemon.log().unwrap_or_default())?;
    cluster.wait_until_running("app=rival", 1).await.context("nothing is kept for anybody")?;
    ensure!(daemon.log()?.contains("why=\"unneeded\""), "{}", daemon.log()?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_can_wish_it_for_all() -> Result<()> {
    let (cluster, daemon, web) = full("controller_namespace", deployment("web")).await?;
    cluster.run_kubectl(&["annotate", "namespace", "default", "reserve/keep=5m"]).await?;
    comes_back(&cluster, &daemon, &web, &["--grace-period=1"]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_asks_for_it_is_told() -> Result<()> {
    let (cluster, daemon, _web) = full("controller_pod", deployment("web")).await?;
    let asks = bare_pod("asks").cpu("1").scheduler(SCHEDULER).annotation(KEEP, "true");
    cluster.deploy(asks).await?;
    let events: Api<Event> = Api::namespaced(cluster.admin(), "default");
    let told = |reason: &'static str, name: &'static str| {
        let (cluster, events, daemon) = (&cluster, &events, &daemon);
        async move {
            cluster
                .wait_until("the pod is told", SOON, async || {
                    let all = events.list(&ListParams::default()).await?;
                    let is_it = |event: &&Event| {
                        event.reason.as_deref() == Some(reason)
                            && event.regarding.as_ref().and_then(|about| about.name.as_deref()) == Some(name)
                    };
                    let found = all.iter().find(is_it).and_then(|event| event.note.clone());
                    found.with_context(|| daemon.log().unwrap_or_default())
                })
                .await
        }
    };
    assert!(told("Reserved", "asks").await?.starts_with("Its room on node n1 is reserved until 20"));
    assert_eq!(annotations(&cluster).await?.len(), 2);
    cluster.run_kubectl(&["annotate", "pod", "asks", "reserve/keep-"]).await?;
    wait_until_reserved(&cluster, false).await?;
    cluster.run_kubectl(&["annotate", "pod", "asks", "reserve/keep=sometimes"]).await?;
    assert!(told("InvalidKeep", "asks").await?.contains("\"sometimes\""));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_reserved_by_hand_is_never_touched() -> Result<()> {
    let web = deployment("web").annotation(KEEP, "true");
    let (cluster, daemon, web) = full("controller_manual", web).await?;
    let manual = "reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173";
    cluster.annotate_node("n1", manual, Some("500m")).await?;
    let old = the_pod(&cluster, &web).await?;
    cluster.run_kubectl(&["delete", "pod", name_of(&old), "--wait=false", "--grace-period=1"]).await?;
    wait_until_back(&cluster, &web, &old).await.with_context(|| daemon.log().unwrap_or_default())?;
    cluster
        .wait_until("only what was made by hand is left", SOON, async || {
            let found = annotations(&cluster).await?;
            ensure!(found == [(manual.to_owned(), "500m".to_owned())], "{found:?}\n{}", daemon.log()?);
            Ok(())
        })
        .await
}
