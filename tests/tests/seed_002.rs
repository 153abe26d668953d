//! Seed 002 with the files in `manifests/examples/002-extender`: the real kube-scheduler asks our daemon, and keeps
//! places that it knows nothing of. Without the daemon it goes on as if nothing were reserved.

use anyhow::{Context as _, Result, ensure};
use common::api::names;
use futures::future::try_join_all;
use reserve_tests::control_plane::{
    Cluster, ControlPlane, User, bare_pod, deployment, describe, is_running, name_of, node, node_of,
};
use reserve_tests::programs::{Daemon, daemon, example, reserve};
use serde_json::json;
use std::net::TcpListener;
use std::time::Duration;

const SEED: &str = "002-extender";
const SOON: Duration = Duration::from_secs(90);
/// How often two strangers try at once.
const RACES: usize = 8;
/// How often a place is released that a stranger waits for. kube-scheduler hears of it when we do, and asks at once.
const RELEASES: usize = 5;

/// kube-scheduler, configured as the example says, and a daemon that answers it.
async fn start(name: &str) -> Result<(Cluster, Daemon)> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let text = std::fs::read_to_string(example(SEED, "kube-scheduler.yaml"))?;
    // The harness says itself how to reach the API server.
    let start = text.find("percentageOfNodesToScore").context("not the example that it was")?;
    let yaml = text[start..].replace("127.0.0.1:8888", &format!("127.0.0.1:{port}"));
    // A machine that builds other things meanwhile may stand still for a second, and then nothing would be kept.
    let yaml = yaml.replace("httpTimeout: 1s", "httpTimeout: 5s");
    let cluster = ControlPlane::start(name).with_scheduler_configuration(&yaml).await?;
    let shape = daemon(names::SCHEDULER_NAME).argument(&format!("--extender-address=127.0.0.1:{port}"));
    let daemon = shape.start(&cluster).await?;
    Ok((cluster, daemon))
}

#[tokio::test(flavor = "multi_thread")]
async fn kube_scheduler_keeps_a_place_that_it_does_not_know_of() -> Result<()> {
    let (cluster, _daemon) = start("seed_002_place").await?;
    cluster.add_node(node("worker1").cpu("2")).await?;
    cluster.apply_file(example(SEED, "workload.yaml")).await?;
    cluster.wait_until_running("app=testngx", 1).await?;
    cluster.wait_until_running("app=stranger", 1).await?;
    let uid =
        cluster.run_kubectl(&["get", "deployment", "testngx", "-o", "jsonpath={.metadata.uid}"]).await?;
    reserve(&cluster, "worker1", &uid, Some("2")).await?;
    cluster.run_kubectl(&["delete", "pod", "-l", "app in (testngx,stranger)"]).await?;
    cluster.wait_until_running("app=testngx", 1).await?;
    let told = cluster.wait_until_unschedulable("default", "app=stranger").await?;
    assert!(told.starts_with("0/1 nodes are available: 1 Insufficient cpu."), "{told}");
    assert!(!told.contains(&uid), "{told}");
    let bound = cluster.audit().await?.to("pods/binding").by(&cluster.user_name(User::Daemon));
    assert!(bound.writes().is_empty(), "the daemon only answers: {bound:?}");
    for round in 0..RELEASES {
        // Whether the daemon has heard of it before it is asked is left to chance.
        cluster.annotate_node("worker1", &format!("{}/{uid}", names::CPU), None).await?;
        cluster.wait_until_running("app=stranger", 1).await.with_context(|| format!("round {round}"))?;
        reserve(&cluster, "worker1", &uid, Some("2")).await?;
        cluster.run_kubectl(&["delete", "pod", "-l", "app=stranger"]).await?;
        cluster.wait_until_unschedulable("default", "app=stranger").await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_strangers_that_ask_at_once_one_is_let_in() -> Result<()> {
    let (cluster, _daemon) = start("seed_002_strangers").await?;
    let nobody = "a8f6f901-47c9-4475-b1f4-cac44597e173";
    let set_up = async |number: usize| {
        let name = format!("n{number}");
        let shape = node(&name).cpu("4").label("race", &name);
        cluster.add_node(shape.annotation(&format!("{}/{nobody}", names::CPU), "2")).await
    };
    try_join_all((0..RACES).map(set_up)).await?;
    let race = async |number: usize| {
        let selector = json!({"race": format!("n{number}")});
        let rivals = ["a", "b"].map(|rival| {
            let pod =
                bare_pod(&format!("r{number}{rival}")).cpu("2").pod_label("race", &format!("n{number}"));
            cluster.deploy(pod.pod_field("nodeSelector", selector.clone()))
        });
        try_join_all(rivals).await
    };
    try_join_all((0..RACES).map(race)).await?;
    for number in 0..RACES {
        let what = format!("one of two runs on n{number}, the other was told why not");
        cluster
            .wait_until(&what, SOON, async || {
                let pods = cluster.pods(&format!("race=n{number}")).await?;
                let running = pods.iter().filter(|pod| is_running(pod)).count();
                let told = pods
                    .iter()
                    .filter(|pod| reserve_tests::control_plane::unscheduled(pod).is_some())
                    .count();
                ensure!((running, told) == (1, 1), "{}", describe(&pods));
                Ok(())
            })
            .await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn owners_are_sent_home_and_without_the_daemon_everybody_goes_on() -> Result<()> {
    let (cluster, daemon) = start("seed_002_home").await?;
    for name in ["w1", "w2"] {
        cluster.add_node(node(name).cpu("4")).await?;
    }
    // Fuller than the other one, and nevertheless the better one for web.
    let heavy = bare_pod("heavy").cpu("2").pod_field("nodeName", json!("w1"));
    cluster.deploy(heavy).await?;
    let web = cluster.deploy(deployment("web").replicas(0).cpu("1")).await?;
    reserve(&cluster, "w1", &web.uid, Some("1")).await?;
    cluster.run_kubectl(&["scale", "deployment/web", "--replicas=1"]).await?;
    let pods = cluster.wait_until_running(&web.selector, 1).await?;
    assert_eq!(node_of(&pods[0]), "w1", "where its room is kept");

    daemon.kill()?;
    let nobody = "a8f6f901-47c9-4475-b1f4-cac44597e173";
    cluster.annotate_node("w2", &format!("{}/{nobody}", names::CPU), Some("4")).await?;
    let free = cluster.deploy(deployment("free").cpu("3")).await?;
    let pods = cluster.wait_until_running(&free.selector, 1).await?;
    assert_eq!(node_of(&pods[0]), "w2", "{}", name_of(&pods[0]));
    Ok(())
}
