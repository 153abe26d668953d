//! The thread through all rooms, where it could tear: what is not served, what is malformed, who may not.

use anyhow::{Context as _, Result, bail, ensure};
use reserve_tests::control_plane::{
    Cluster, ControlPlane, User, bare_pod, deployment, describe, is_running, name_of, node, node_of,
};
use reserve_tests::programs::{self, Daemon};
use serde_json::{Value, json};
use std::process::Output;
use std::time::Duration;

/// What a pod is told for which the only node has too little left.
const FULL: &str = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption \
                    victims found for incoming pod.";
/// What is added when nobody would have to go, because it is not pods that are in the way.
const USELESS: &str = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
/// The same when it is pods, and none is less important.
const NOBODY_LESS: &str =
    "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
const SCHEDULER: &str = "reserve-scheduler";
const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";
const SOON: Duration = Duration::from_secs(90);

async fn start(name: &str) -> Result<(Cluster, Daemon)> {
    let cluster = ControlPlane::start(name).plugin_dir(programs::build()?).await?;
    cluster.add_node(node("n1").cpu("4").memory("8Gi")).await?;
    let daemon = Daemon::start(&cluster, SCHEDULER).await?;
    Ok((cluster, daemon))
}

/// Runs our command by itself, as somebody without kubectl would.
fn reserve(cluster: &Cluster, user: User, arguments: &[&str]) -> Result<Output> {
    let program = programs::build()?.join("kubectl-reserve");
    std::process::Command::new(program)
        .args(arguments)
        .env("KUBECONFIG", cluster.kubeconfig(user))
        .output()
        .context("run kubectl-reserve")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The message of the pod's PodScheduled condition.
async fn told(cluster: &Cluster, selector: &str) -> Result<String> {
    cluster
        .wait_until("the pod is told why it waits", SOON, async || {
            let pods = cluster.pods(selector).await?;
            let [pod] = &pods[..] else { bail!("{}", describe(&pods)) };
            ensure!(!is_running(pod), "it runs: {}", describe(&pods));
            let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
            conditions.filter_map(|condition| condition.message.clone()).next_back().context("nothing yet")
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_pod_asks_of_nodes_and_of_others_is_heeded() -> Result<()> {
    let (cluster, _daemon) = start("thread_asked").await?;
    let fields = [
        (
            "selector",
            "nodeSelector",
            json!({"no/such": "label"}),
            "node(s) didn't match Pod's node affinity/selector",
        ),
        (
            "spread",
            "topologySpreadConstraints",
            spread(),
            "node(s) didn't match pod topology spread constraints (missing required label)",
        ),
        ("affine", "affinity", pod_affinity(), "node(s) didn't match pod affinity rules"),
    ];
    for (name, field, value, reason) in fields {
        let pod = cluster.deploy(bare_pod(name).scheduler(SCHEDULER).pod_field(field, value)).await?;
        assert_eq!(
            told(&cluster, &pod.selector).await?,
            format!("0/1 nodes are available: 1 {reason}. {USELESS}")
        );
    }
    let port = |name| bare_pod(name).scheduler(SCHEDULER).pod_field("containers", host_port());
    let first = cluster.deploy(port("first")).await?;
    cluster.wait_until_running(&first.selector, 1).await?;
    let second = cluster.deploy(port("second")).await?;
    let taken = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.";
    assert_eq!(told(&cluster, &second.selector).await?, format!("{taken} {NOBODY_LESS}"));
    let other = cluster.deploy(deployment("other").cpu("1").scheduler(SCHEDULER)).await?;
    cluster.wait_until_running(&other.selector, 1).await?;
    cluster.wait_until_running("app=affine", 1).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_cannot_have_what_it_uses_is_never_bound() -> Result<()> {
    let (cluster, daemon) = start("thread_unserved").await?;
    let devices = json!([{"name": "device", "resourceClaimName": "c"}]);
    let devices = bare_pod("devices").scheduler(SCHEDULER).pod_field("resourceClaims", devices);
    let devices = cluster.deploy(devices).await?;
    let message = told(&cluster, &devices.selector).await?;
    assert!(message.starts_with("0/1 nodes are available: "), "{message}");
    assert!(message.contains("spec.resourceClaims"), "{message}");

    cluster.apply(&late_class().to_string()).await?;
    cluster.apply(&late_claim().to_string()).await?;
    let volume = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "late"}}]);
    cluster.deploy(bare_pod("volume").scheduler(SCHEDULER).pod_field("volumes", volume)).await?;
    cluster
        .wait_until("the claim names the node that a volume is to be made for", SOON, async || {
            let claim = cluster.run_kubectl(&["get", "pvc", "late", "-o", "json"]).await?;
            let claim: Value = serde_json::from_str(&claim)?;
            let node = &claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"];
            ensure!(node == "n1", "{claim:#}");
            Ok(())
        })
        .await?;

    let plain = cluster.deploy(deployment("plain").cpu("1").scheduler(SCHEDULER)).await?;
    cluster.wait_until_running(&plain.selector, 1).await?;
    let bound = cluster.audit().await?.by(&cluster.user_name(User::Daemon)).to("pods/binding");
    assert_eq!(
        bound.writes().len(),
        1,
        "only the plain pod, for nobody makes volumes here: {bound:?}\n{}",
        daemon.log()?
    );
    Ok(())
}

/// Volumes of this class are made once the first pod that wants one has a node.
fn late_class() -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
           "provisioner": "example.com/late", "volumeBindingMode": "WaitForFirstConsumer"})
}

fn late_claim() -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "late", "namespace": "default"},
           "spec": {"storageClassName": "late", "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}}}})
}

/// By a label that no node has.
fn spread() -> Value {
    json!([{"maxSkew": 1, "topologyKey": "no/such", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "spread"}}}])
}

fn pod_affinity() -> Value {
    json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "other"}}}]}})
}

fn host_port() -> Value {
    json!([{"name": "c", "image": "nginx", "ports": [{"containerPort": 80, "hostPort": 80}]}])
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_annotations_are_listed_and_change_nothing() -> Result<()> {
    let (cluster, _daemon) = start("thread_malformed").await?;
    let bad = [
        (format!("reserve.cpu/{NOBODY}"), "-5"),
        ("reserve.cpu/not-an-owner".into(), "3"),
        (format!("reserve.gpu/{NOBODY}"), "1"),
        (format!("reserve.memory/{NOBODY}.seat"), "1Gi"),
        (format!("reserve.info/{NOBODY}.other"), "{\"v\":1}"),
        ("reserve.memory/A8F6F901-47C9-4475-B1F4-CAC44597E173".into(), "1e2147483647"),
    ];
    for (key, value) in &bad {
        cluster.annotate_node("n1", key, Some(value)).await?;
    }
    let whole = cluster.deploy(deployment("whole").cpu("4").memory("8Gi").scheduler(SCHEDULER)).await?;
    cluster.wait_until_running(&whole.selector, 1).await?;
    let listed = stdout(&reserve(&cluster, User::Admin, &["list", "-o", "json"])?);
    let listed: Value = serde_json::from_str(&listed).context(listed)?;
    let items = listed["items"].as_array().context("no items")?;
    assert!(items.iter().all(|item| item["state"] == "Invalid"), "{listed:#}");
    let mut names: Vec<&str> = items.iter().filter_map(|item| item["name"].as_str()).collect();
    let mut expected: Vec<&str> = bad.iter().map(|(key, _)| key.as_str()).collect();
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected, "each says where");
    assert!(items.iter().all(|item| item["problem"].as_str().is_some_and(|problem| problem.len() > 10)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claimed_owner_opens_no_door() -> Result<()> {
    let (cluster, _daemon) = start("thread_forged").await?;
    let web = cluster.deploy(deployment("web").cpu("1").scheduler(SCHEDULER)).await?;
    cluster.wait_until_running(&web.selector, 1).await?;
    programs::reserve(&cluster, "n1", &web.uid, Some("4")).await?;
    let claims = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": web.uid, "controller": true}]);
    cluster.add_namespace("elsewhere").await?;
    let forged = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "forged", "namespace": "elsewhere", "labels": {"app": "forged"}, "ownerReferences": claims,
                     "annotations": {"reserve/seat": format!("{}.abc", web.uid)}},
        "spec": {"schedulerName": SCHEDULER, "containers": [
            {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}]},
    });
    cluster.apply(&forged.to_string()).await?;
    let message = cluster
        .wait_until("the forged pod is told why it waits, or is collected", SOON, async || {
            let pods = cluster.pods_in("elsewhere", "app=forged").await?;
            // The garbage collector removes an object whose owner is not in its namespace; either way it never ran.
            let Some(pod) = pods.first() else { return Ok("collected".to_owned()) };
            ensure!(pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_none()), "it was bound");
            let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
            conditions.filter_map(|condition| condition.message.clone()).next_back().context("nothing yet")
        })
        .await?;
    assert!(["collected", FULL].contains(&&*message), "{message}");
    let bound = cluster.audit().await?.to("pods/binding").named("forged");
    assert_eq!(bound.writes().len(), 0, "{bound:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_says_what_it_lacks() -> Result<()> {
    let (cluster, _daemon) = start("thread_rights").await?;
    let refused = reserve(&cluster, User::Tenant, &["list"])?;
    assert_eq!(refused.status.code(), Some(14), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("Forbidden") && stderr(&refused).contains("get,list nodes (cluster scope)"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(stdout(&refused), "");

    cluster.grant(User::Tenant, "reserve-viewer", None).await?;
    let huge = cluster.deploy(deployment("huge").cpu("64").scheduler(SCHEDULER)).await?;
    told(&cluster, &huge.selector).await?;
    let pods = cluster.pods(&huge.selector).await?;
    let explained = reserve(&cluster, User::Tenant, &["explain", name_of(&pods[0])])?;
    assert_eq!(explained.status.code(), Some(10), "{}", stderr(&explained));
    assert!(stdout(&explained).contains("cpu 60"), "{}", stdout(&explained));

    let missing = reserve(&cluster, User::Tenant, &["explain", "no-such-pod"])?;
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("pods \"no-such-pod\" not found"), "{}", stderr(&missing));
    let typo = reserve(&cluster, User::Tenant, &["explain", "../../nodes"])?;
    assert_eq!(typo.status.code(), Some(2), "{}", stderr(&typo));
    let empty = reserve(&cluster, User::Tenant, &["list", "-A"])?;
    assert_eq!((empty.status.code(), stdout(&empty)), (Some(0), String::new()));
    assert!(stderr(&empty).contains("No reservations found"), "{}", stderr(&empty));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_replacement_takes_its_seat_in_the_write_that_binds_it() -> Result<()> {
    let (cluster, _daemon) = start("thread_seat").await?;
    let web = deployment("web").cpu("3").scheduler(SCHEDULER).terminate_after(Duration::from_secs(2));
    // Once it runs, the reservation is released.
    let web = cluster.deploy(web.start_after(Duration::from_secs(6))).await?;
    let old = cluster.wait_until_running(&web.selector, 1).await?.remove(0);
    let stranger = cluster.deploy(deployment("stranger").cpu("3").scheduler(SCHEDULER)).await?;
    told(&cluster, &stranger.selector).await?;

    let id = format!("{}.seat1", web.uid);
    let created = old.metadata.creation_timestamp.as_ref().context("the pod was never created")?.0;
    let info = json!({
        "v": 1, "owner": {"kind": "Deployment", "namespace": "default", "name": "web", "uid": web.uid},
        "replaces": {"name": name_of(&old), "uid": old.metadata.uid}, "priority": 0, "created": created,
        "expires": created + Duration::from_secs(3600), "request": "r1", "placement": "wait",
    });
    cluster.annotate_node("n1", &format!("reserve.cpu/{id}"), Some("3")).await?;
    cluster.annotate_node("n1", &format!("reserve.info/{id}"), Some(&info.to_string())).await?;
    assert_eq!(listed(&cluster)?["state"], "Occupied");

    cluster.delete_pod(name_of(&old)).await?;
    let new = cluster
        .wait_until("the replacement has a node", SOON, async || {
            let pods = cluster.pods(&web.selector).await?;
            let new = pods.iter().find(|pod| name_of(pod) != name_of(&old) && !node_of(pod).is_empty());
            new.cloned().with_context(|| describe(&pods))
        })
        .await?;
    let stamp = new.metadata.annotations.as_ref().and_then(|annotations| annotations.get("reserve/seat"));
    assert_eq!(stamp, Some(&id));
    let item = listed(&cluster)?;
    assert_eq!((&item["state"], &item["takenBy"]["name"]), (&json!("Taken"), &json!(name_of(&new))));
    let waiting = cluster.pods(&stranger.selector).await?;
    assert!(!waiting.iter().any(is_running), "the stranger must still wait: {}", describe(&waiting));
    Ok(())
}

/// The one reservation that `list` shows.
fn listed(cluster: &Cluster) -> Result<Value> {
    let text = stdout(&reserve(cluster, User::Admin, &["list", "-o", "json"])?);
    let mut list: Value = serde_json::from_str(&text).with_context(|| text.clone())?;
    ensure!(list["items"].as_array().is_some_and(|items| items.len() == 1), "{text}");
    Ok(list["items"][0].take())
}
