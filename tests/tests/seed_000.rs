//! Seed 000 to the letter, on a real control plane, driven by real kubectl with our plugin on its PATH: a node of
//! 6000m with a system pod of 250m, the Deployment testngx, a reservation of 5000m written by hand.
//!
//! With `--nocapture` it prints what was typed and what came back.
#![expect(clippy::print_stdout, reason = "the transcript is what `make demo` shows")]

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::core::v1::Pod;
use reserve_tests::control_plane::{
    Cluster, ControlPlane, User, Workload, Write, bare_pod, deployment, describe, is_running, name_of, node,
};
use reserve_tests::programs::{self, Daemon, daemon, example};
use serde_json::json;
use std::process::Output;
use std::time::Duration;

/// What a pod is told for which the only node has too little left.
const FULL: &str = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption \
                    victims found for incoming pod.";
const NODE: &str = "zsj-dev-worker1-201";
const SCHEDULER: &str = "test-scheduler";
const OTHER_OWNER: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";
const SOON: Duration = Duration::from_secs(90);

/// The seed's cluster, with testngx running.
async fn seed(name: &str) -> Result<(Cluster, Daemon, Workload)> {
    let cluster = ControlPlane::start(name).plugin_dir(programs::build()?).await?;
    cluster.add_node(node(NODE).cpu("6000m").memory("8Gi").pods(110)).await?;
    let system =
        bare_pod("kube-proxy").namespace("kube-system").cpu("250m").pod_field("nodeName", json!(NODE));
    cluster.deploy(system).await?;
    let daemon = Daemon::start(&cluster, SCHEDULER).await?;
    let testngx = cluster.deploy(testngx()).await?;
    cluster.wait_until_running(&testngx.selector, 1).await?;
    Ok((cluster, daemon, testngx))
}

fn testngx() -> reserve_tests::control_plane::WorkloadShape {
    deployment("testngx").replicas(1).image("nginx").cpu("1000m").memory("128Mi").scheduler(SCHEDULER)
}

/// Types a kubectl command, and shows it with its answer.
fn kubectl(cluster: &Cluster, user: User, arguments: &[&str]) -> Result<Output> {
    let output = cluster.kubectl(user)?.args(arguments).output().context("run kubectl")?;
    print!("\n$ kubectl {}\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stdout));
    print!("{}", String::from_utf8_lossy(&output.stderr));
    Ok(output)
}

/// The same for a command that must succeed; returns what it printed.
fn typed(cluster: &Cluster, arguments: &[&str]) -> Result<String> {
    let output = kubectl(cluster, User::Admin, arguments)?;
    ensure!(output.status.success(), "kubectl {} failed", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}

/// Deletes the one pod of testngx as the seed does, and returns the pod that replaces it.
async fn delete_and_find_replacement(cluster: &Cluster) -> Result<Pod> {
    let old = cluster.pods("app=testngx").await?.into_iter().next().context("testngx has no pod")?;
    typed(cluster, &["delete", "po", name_of(&old)])?;
    cluster
        .wait_until("testngx has another pod", SOON, async || {
            let pods = cluster.pods("app=testngx").await?;
            let other = pods.iter().find(|pod| name_of(pod) != name_of(&old));
            other.cloned().with_context(|| describe(&pods))
        })
        .await
}

/// Waits until the pod was told that it has no place, and returns the words.
async fn wait_until_unschedulable(cluster: &Cluster, selector: &str) -> Result<String> {
    cluster
        .wait_until("the pod is told why it waits", SOON, async || {
            let pods = cluster.pods(selector).await?;
            let [pod] = &pods[..] else { bail!("{}", describe(&pods)) };
            ensure!(
                pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_none()),
                "it was bound: {}",
                describe(&pods)
            );
            let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
            let told = conditions.find(|condition| condition.reason.as_deref() == Some("Unschedulable"));
            told.and_then(|condition| condition.message.clone()).context("nothing yet")
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn room_reserved_for_another_owner_keeps_the_replacement_out_until_it_is_released() -> Result<()> {
    let (cluster, _daemon, testngx) = seed("seed_000_other_owner").await?;
    let key = format!("reserve.cpu/{OTHER_OWNER}");
    typed(&cluster, &["annotate", "node", NODE, &format!("{key}=5000m")])?;
    programs::wait_until_seen(&cluster, NODE).await?;
    let replacement = delete_and_find_replacement(&cluster).await?;
    let told = wait_until_unschedulable(&cluster, &testngx.selector).await?;
    assert_eq!(told, FULL);

    typed(&cluster, &["get", "po"])?;
    let described = cluster
        .wait_until("describe shows the event", SOON, async || {
            let text = cluster.run_kubectl(&["describe", "po", name_of(&replacement)]).await?;
            ensure!(text.contains("FailedScheduling"), "{text}");
            Ok(text)
        })
        .await?;
    assert!(described.contains("1 Insufficient cpu"), "{described}");
    assert!(!described.contains(OTHER_OWNER), "an event never names the owner of a reservation");

    typed(&cluster, &["reserve", "list"])?;
    let explained = kubectl(&cluster, User::Admin, &["reserve", "explain", name_of(&replacement), "--full"])?;
    let text = String::from_utf8(explained.stdout)?;
    assert_eq!(explained.status.code(), Some(10), "no node can have it");
    assert!(text.contains(OTHER_OWNER) && text.contains("keeps cpu 5 for"), "for whom: {text}");
    let unbroken = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let numbers = "ASKS ALLOC USED RESERVED FREE SHORT 1 zsj-dev-worker1-201 cpu cpu 1 6 0.25 5 0.75 0.25";
    assert!(unbroken.contains(numbers), "the numbers: {text}");
    assert!(unbroken.contains(&told), "what the scheduler said: {text}");
    assert!(
        text.contains(&format!("kubectl reserve release {NODE}/{OTHER_OWNER}")),
        "what would help: {text}"
    );

    typed(&cluster, &["annotate", "node", NODE, &format!("{key}-")])?;
    cluster.wait_until_running(&testngx.selector, 1).await?;
    typed(&cluster, &["get", "po", "-o", "wide"])?;
    the_daemon_only_bound_and_told(&cluster).await
}

#[tokio::test(flavor = "multi_thread")]
async fn room_reserved_for_testngx_is_there_when_it_comes_back_and_a_stranger_waits() -> Result<()> {
    let (cluster, _daemon, testngx) = seed("seed_000_own").await?;
    let key = format!("reserve.cpu/{}", testngx.uid);
    typed(&cluster, &["annotate", "node", NODE, &format!("{key}=5000m")])?;
    programs::wait_until_seen(&cluster, NODE).await?;
    let stranger = cluster.deploy(deployment("stranger").cpu("1000m").scheduler(SCHEDULER)).await?;
    let told = wait_until_unschedulable(&cluster, &stranger.selector).await?;
    assert_eq!(told, FULL);

    let replacement = delete_and_find_replacement(&cluster).await?;
    let running = cluster.wait_until_running(&testngx.selector, 1).await?;
    assert_eq!(name_of(&running[0]), name_of(&replacement));
    let waiting = cluster.pods(&stranger.selector).await?;
    assert!(!waiting.iter().any(is_running), "the stranger must still wait: {}", describe(&waiting));

    let listed = typed(&cluster, &["reserve", "list"])?;
    assert!(listed.contains("Deployment/testngx") && listed.contains("Held (manual, in part)"), "{listed}");
    let name = name_of(&waiting[0]);
    let explain = ["reserve", "explain", &format!("pod/{name}"), "--full"];
    let explained = kubectl(&cluster, User::Admin, &explain)?;
    let text = String::from_utf8(explained.stdout)?;
    assert!(text.contains("keeps cpu 4 for Deployment/testngx in default"), "{text}");

    typed(&cluster, &["annotate", "node", NODE, &format!("{key}-")])?;
    cluster.wait_until_running(&stranger.selector, 1).await?;
    Ok(())
}

/// Every write of the daemon: each pod bound once, with its UID as a precondition; nothing else touched.
async fn the_daemon_only_bound_and_told(cluster: &Cluster) -> Result<()> {
    let audit = cluster.audit().await?.by(&cluster.user_name(User::Daemon));
    let bindings = audit.clone().to("pods/binding");
    assert_eq!(bindings.writes().len(), 2, "the first pod and its replacement: {bindings:?}");
    for binding in bindings.writes() {
        let object = binding.request_object.as_ref().context("the audit log has no request")?;
        assert_eq!(binding.code, 201);
        assert!(object["metadata"]["uid"].as_str().is_some_and(|uid| uid.len() == 36), "{object}");
    }
    // Its own Lease, where it says what it has seen, is asked for before it is there.
    let is_own_lease = |write: &Write| write.resource == "leases" && write.name == "reserve-reserve-daemon";
    for write in audit.writes().iter().filter(|write| !is_own_lease(write)) {
        let known = ["pods/binding", "pods/status", "events"];
        assert!(known.contains(&write.resource.as_str()), "the daemon wrote {write:?}");
        assert!(write.is_stored(), "the daemon was refused: {write:?}");
    }
    Ok(())
}

/// When a reservation with a record ends, as the API server writes times.
#[expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]
fn in_seconds(seconds: i64) -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds)).to_string()
}

/// Writes a reservation with a seat and a record by hand, for somebody else.
fn reserve_a_seat(cluster: &Cluster, other: &Workload, expires: &str) -> Result<()> {
    let owner = json!({"kind": "Deployment", "namespace": "default", "name": other.name, "uid": other.uid});
    let info = json!({"v": 1, "owner": owner, "priority": 0, "created": in_seconds(0), "expires": expires,
                      "request": "by-hand", "placement": "prefer"});
    let key = format!("{}.seat1", other.uid);
    let (cpu, info) = (format!("reserve.cpu/{key}=5000m"), format!("reserve.info/{key}={info}"));
    typed(cluster, &["annotate", "--overwrite", "node", NODE, &cpu, &info]).map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seeds_own_command_line_beside_kube_scheduler_with_the_form_that_ends() -> Result<()> {
    let cluster =
        ControlPlane::start("seed_000_seat").plugin_dir(programs::build()?).with_scheduler().await?;
    cluster.add_node(node(NODE).cpu("6000m").memory("8Gi").pods(110)).await?;
    let kubeconfig = cluster.kubeconfig(User::Daemon);
    let mut shape = daemon(SCHEDULER).configuration(example("000-reserve-cpu", "scheduler.yaml"));
    for flag in ["--kube-api-qps=200", "--kube-api-burst=300", "--profiling=false"] {
        shape = shape.argument(flag);
    }
    for flag in ["authentication", "authorization"] {
        shape = shape.argument(&format!("--{flag}-kubeconfig={}", kubeconfig.display()));
    }
    let _daemon = shape.start(&cluster).await?;
    // Of the other scheduler, which knows nothing of reservations; each places its own.
    let default = cluster.deploy(deployment("default").cpu("250m")).await?;
    cluster.wait_until_running(&default.selector, 1).await?;
    cluster.apply_file(example("000-reserve-cpu", "workload.yaml")).await?;
    cluster.wait_until_running("app=testngx", 1).await?;

    let other = cluster.deploy(deployment("other").replicas(0).scheduler(SCHEDULER)).await?;
    reserve_a_seat(&cluster, &other, &in_seconds(600))?;
    programs::wait_until_seen(&cluster, NODE).await?;
    delete_and_find_replacement(&cluster).await?;
    let told = wait_until_unschedulable(&cluster, "app=testngx").await?;
    assert!(told.starts_with(FULL), "{told}");
    // It ends by itself, and nobody has to remove it.
    reserve_a_seat(&cluster, &other, &in_seconds(3))?;
    let pods = cluster.wait_until_running("app=testngx", 1).await?;
    let binder = cluster.audit().await?.to("pods/binding").named(name_of(&pods[0])).stored();
    assert_eq!(binder.writes()[0].user, cluster.user_name(User::Daemon));
    Ok(())
}
