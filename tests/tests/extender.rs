//! The daemon as an extender of the real kube-scheduler: room that is kept is kept from kube-scheduler's pods too. And the
//! other way round: an extender that the daemon asks.

use anyhow::{Context as _, Result, ensure};
use common::api::names::EXTENDS;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use reserve_tests::control_plane::{
    Cluster, ControlPlane, User, Workload, bare_pod, deployment, describe, is_running, name_of, node, node_of,
};
use reserve_tests::mutual::certificates;
use reserve_tests::programs::{Daemon, daemon, reserve};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";
const SOON: Duration = Duration::from_secs(90);
const DEFAULT: &str = "default-scheduler";

/// A port that is free now. The programs of a test take it a moment later.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// What kube-scheduler is told, as the shipped configuration has it.
fn configuration(url: &str, more: &str) -> String {
    format!(
        "percentageOfNodesToScore: 100\nextenders:\n- {{urlPrefix: '{url}', filterVerb: filter, prioritizeVerb: prioritize, \
         preemptVerb: preempt, weight: 100, ignorable: true, httpTimeout: 5s, {more}}}"
    )
}

async fn start_daemon(cluster: &Cluster, port: u16, files: &[String]) -> Result<Daemon> {
    let shape = daemon("reserve-scheduler").argument(&format!("--extender-address=127.0.0.1:{port}"));
    files.iter().fold(shape, |shape, file| shape.argument(file)).start(cluster).await
}

/// Waits until kube-scheduler has told the pod that it has no place, and returns the words.
async fn told(cluster: &Cluster, workload: &Workload) -> Result<String> {
    cluster
        .wait_until("the pod is told why it waits", SOON, async || {
            let pods = cluster.pods(&workload.selector).await?;
            ensure!(!pods.iter().any(is_running), "it runs: {}", describe(&pods));
            let conditions = pods.iter().flat_map(|pod| pod.status.iter());
            let conditions = conditions.flat_map(|status| status.conditions.iter().flatten());
            conditions.filter_map(|condition| condition.message.clone()).next_back().context("nothing yet")
        })
        .await
}

/// The owner's pod is recreated in a full cluster where a stranger waits for just its room, again and again.
async fn comes_back(cluster: &Cluster, web: &Workload, stranger: &Workload, rounds: u32) -> Result<()> {
    for round in 0..rounds {
        let old = cluster.wait_until_running(&web.selector, 1).await?;
        let old = name_of(old.first().context("no pod")?).to_owned();
        cluster.delete_pod(&old).await?;
        cluster
            .wait_until("the replacement runs", SOON, async || {
                let pods = cluster.pods(&web.selector).await?;
                ensure!(pods.iter().any(|pod| is_running(pod) && name_of(pod) != old), "{}", describe(&pods));
                Ok(())
            })
            .await
            .with_context(|| format!("round {round}"))?;
        let strangers = cluster.pods(&stranger.selector).await?;
        ensure!(!strangers.iter().any(is_running), "round {round}: {}", describe(&strangers));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kube_scheduler_keeps_strangers_out_of_what_is_kept() -> Result<()> {
    let port = free_port()?;
    let url = format!("http://127.0.0.1:{port}");
    let yaml = configuration(&url, "nodeCacheCapable: true");
    let cluster = ControlPlane::start("extender_loopback").with_scheduler_configuration(&yaml).await?;
    cluster.add_node(node("n1").cpu("4").memory("8Gi")).await?;
    let daemon = start_daemon(&cluster, port, &[]).await?;
    let web = cluster.deploy(deployment("web").cpu("3")).await?;
    cluster.wait_until_running(&web.selector, 1).await?;
    reserve(&cluster, "n1", &web.uid, Some("3")).await?;
    let stranger = cluster.deploy(deployment("stranger").cpu("3")).await?;
    let words = told(&cluster, &stranger).await?;
    assert!(words.contains("Insufficient cpu"), "{words}");
    comes_back(&cluster, &web, &stranger, 5).await?;

    let leases: Api<Lease> = Api::namespaced(cluster.admin(), "kube-system");
    let lease = leases.get("reserve-reserve-daemon").await?;
    let extends = lease.metadata.annotations.and_then(|all| all.get(EXTENDS).cloned());
    assert_eq!(extends.as_deref(), Some(DEFAULT), "the command reads there who enforces");

    // Two that fit one at a time, and ask at the same time.
    cluster.run_kubectl(&["delete", "deployment", "stranger"]).await?;
    cluster.add_node(node("n2").cpu("4").memory("8Gi")).await?;
    reserve(&cluster, "n2", NOBODY, Some("2")).await?;
    let twins = cluster.deploy(deployment("twins").replicas(2).cpu("2")).await?;
    cluster
        .wait_until("one of them runs", SOON, async || {
            let pods = cluster.pods(&twins.selector).await?;
            ensure!(pods.iter().filter(|pod| is_running(pod)).count() == 1, "{}", describe(&pods));
            Ok(())
        })
        .await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let pods = cluster.pods(&twins.selector).await?;
    assert_eq!(pods.iter().filter(|pod| is_running(pod)).count(), 1, "{}", describe(&pods));
    reserve(&cluster, "n2", NOBODY, None).await?;
    cluster.wait_until_running(&twins.selector, 2).await?;

    // Without the daemon kube-scheduler goes on, as if nothing were kept.
    daemon.kill()?;
    let plain = cluster.deploy(deployment("plain").cpu("100m")).await?;
    cluster.wait_until_running(&plain.selector, 1).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_with_mutual_tls_whole_nodes_and_bindings_of_ours() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let (files, tls) = certificates(dir.path())?;
    let port = free_port()?;
    let more = format!("nodeCacheCapable: false, bindVerb: bind, {tls}");
    let yaml = configuration(&format!("https://127.0.0.1:{port}"), &more);
    let cluster = ControlPlane::start("extender_mutual").with_scheduler_configuration(&yaml).await?;
    // It binds kube-scheduler's pods, because kube-scheduler asks it to.
    cluster.record(User::Daemon, &[DEFAULT]).await?;
    cluster.add_node(node("n1").cpu("4").memory("8Gi")).await?;
    let daemon = start_daemon(&cluster, port, &files).await?;
    let web = cluster.deploy(deployment("web").cpu("3")).await?;
    cluster.wait_until_running(&web.selector, 1).await?;
    reserve(&cluster, "n1", &web.uid, Some("3")).await?;
    let stranger = cluster.deploy(deployment("stranger").cpu("3")).await?;
    told(&cluster, &stranger).await?;
    // kube-scheduler ignores an extender that it has not reached yet, and binds its first pod itself then.
    let before = cluster.audit().await?.to("pods/binding").stored().writes().len();
    comes_back(&cluster, &web, &stranger, 3).await?;
    let bound = cluster.audit().await?.to("pods/binding").stored();
    let (by, bound) = (cluster.user_name(User::Daemon), &bound.writes()[before..]);
    assert!(!bound.is_empty(), "{}", daemon.log()?);
    assert!(bound.iter().all(|write| write.user == by), "all bindings are ours: {bound:?}");
    Ok(())
}

/// An extender of this test: nobody gets `n1`, and `n3` is the best.
#[expect(clippy::disallowed_methods, reason = "a thread of the test, which ends with it")]
fn small_extender() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A caller that went away in the middle is its own affair.
            let _ = answer_one(stream);
        }
    });
    Ok(port)
}

fn answer_one(stream: TcpStream) -> Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut path, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(rest) = line.strip_prefix("POST ") {
            path = rest.split(' ').next().unwrap_or_default().to_owned();
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let asked: Value = serde_json::from_slice(&body)?;
    let names = asked["NodeNames"].as_array().cloned().unwrap_or_default();
    let answer = match path.as_str() {
        "/filter" => {
            let left: Vec<&Value> = names.iter().filter(|name| **name != "n1").collect();
            json!({"NodeNames": left, "FailedNodes": {"n1": "n1 is not for everybody"}})
        }
        // Nobody has to go from `n2`. Of the others victims come whole to the second, which gives them back by UID.
        "/preempt" => {
            let mut left = asked["NodeNameToMetaVictims"].as_object().cloned().unwrap_or_default();
            left.remove("n2");
            json!({"NodeNameToMetaVictims": left})
        }
        "/whole" => {
            let mut nodes = asked["NodeNameToVictims"].as_object().cloned().unwrap_or_default();
            for victims in nodes.values_mut() {
                let pods = victims["Pods"].as_array().cloned().unwrap_or_default();
                let whole = pods.iter().filter(|pod| pod["spec"]["containers"].is_array());
                victims["Pods"] = whole.map(|pod| json!({"UID": pod["metadata"]["uid"]})).collect();
            }
            json!({"NodeNameToMetaVictims": nodes})
        }
        _ => {
            let score = |name: &Value| if *name == "n3" { 10 } else { 0 };
            let scores = names.iter().map(|name| json!({"Host": name, "Score": score(name)}));
            Value::Array(scores.collect())
        }
    };
    let text = answer.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        text.len()
    );
    reader.get_mut().write_all(format!("{head}{text}").as_bytes())?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn our_daemon_asks_extenders_and_one_that_is_down_may_be_ignored() -> Result<()> {
    let (port, down) = (small_extender()?, free_port()?);
    let cluster = ControlPlane::start("extender_asked").await?;
    for name in ["n1", "n2", "n3"] {
        cluster.add_node(node(name).cpu("4").memory("8Gi")).await?;
    }
    let file = cluster.dir().join("asking.yaml");
    let yaml = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
         profiles: [{{schedulerName: reserve-scheduler}}]\nextenders:\n\
         - {{urlPrefix: 'http://127.0.0.1:{down}', filterVerb: filter, ignorable: true, httpTimeout: 1s, nodeCacheCapable: true}}\n\
         - {{urlPrefix: 'http://127.0.0.1:{port}', filterVerb: filter, prioritizeVerb: prioritize, preemptVerb: preempt, weight: 50, nodeCacheCapable: true}}\n\
         - {{urlPrefix: 'http://127.0.0.1:{port}', preemptVerb: whole}}\n"
    );
    std::fs::write(&file, yaml)?;
    let daemon = daemon("reserve-scheduler").configuration(file).start(&cluster).await?;
    let liked =
        cluster.deploy(deployment("liked").replicas(3).cpu("1").scheduler("reserve-scheduler")).await?;
    let pods = cluster.wait_until_running(&liked.selector, 3).await?;
    assert!(pods.iter().all(|pod| node_of(pod) == "n3"), "{}\n{}", describe(&pods), daemon.log()?);
    assert!(daemon.log()?.contains("skipped: Post"), "one of them is down: {}", daemon.log()?);
    let big = cluster.deploy(deployment("big").replicas(2).cpu("3").scheduler("reserve-scheduler")).await?;
    let words = cluster
        .wait_until("one of them is told that n1 is not for everybody", SOON, async || {
            let pods = cluster.pods(&big.selector).await?;
            let conditions = pods.iter().flat_map(|pod| pod.status.iter());
            let conditions = conditions.flat_map(|status| status.conditions.iter().flatten());
            let messages = conditions.filter_map(|condition| condition.message.clone());
            messages
                .into_iter()
                .find(|message| message.contains("n1 is not for everybody"))
                .context("nothing yet")
        })
        .await?;
    assert!(
        words.starts_with("0/3 nodes are available: 1 n1 is not for everybody, 2 Insufficient cpu"),
        "{words}"
    );
    victims_go_where_the_extender_says(&cluster, &daemon, &big).await
}

/// One pod would have to go from n2, and two from n3. Without the extender it would be the one.
async fn victims_go_where_the_extender_says(
    cluster: &Cluster,
    daemon: &Daemon,
    big: &Workload,
) -> Result<()> {
    let class =
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 1000}";
    cluster.apply(class).await?;
    let before = cluster
        .wait_until("one runs", SOON, async || {
            let pods = cluster.pods(&big.selector).await?;
            pods.iter().find(|pod| is_running(pod)).cloned().with_context(|| describe(&pods))
        })
        .await?;
    assert_eq!(node_of(&before), "n2");
    // The API server learns of a class by a watch of its own.
    let urgent = cluster
        .wait_until("the class is known", SOON, async || {
            let urgent = bare_pod("urgent").cpu("3").scheduler("reserve-scheduler");
            cluster.deploy(urgent.pod_field("priorityClassName", json!("urgent"))).await
        })
        .await?;
    let pods = cluster.wait_until_running(&urgent.selector, 1).await?;
    assert_eq!(node_of(&pods[0]), "n3", "{}", daemon.log()?);
    let after = cluster.pods(&big.selector).await?;
    let stays = after.iter().any(|pod| is_running(pod) && pod.metadata.uid == before.metadata.uid);
    assert!(stays, "{}\n{}", describe(&after), daemon.log()?);
    Ok(())
}
