//! Proof of the harness: a real control plane does what later tests rely on.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, ListParams, Patch, PatchParams};
use reserve_tests::control_plane::{
    Cluster, ControlPlane, User, deployment, describe, is_running, job, kubernetes_version, name_of, node,
    node_of,
};
use serde_json::json;

/// A cluster starts in a few seconds, also where much else is going on.
const START_MAX: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(90);

/// Three nodes and the workload of seed 000. The names and amounts are those of its README.
async fn seed_000(name: &str) -> Result<Cluster> {
    let cluster = ControlPlane::start(name).with_scheduler().await?;
    for name in ["n1", "n2", "n3"] {
        cluster.add_node(node(name).cpu("6000m").memory("8Gi").pods(110)).await?;
    }
    Ok(cluster)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_pod_comes_back_and_the_log_says_who_wrote() -> Result<()> {
    let cluster = seed_000("a_deleted_pod_comes_back").await?;
    assert!(cluster.started_in() <= START_MAX, "the start took {:?}", cluster.started_in());

    let testngx = cluster.deploy(deployment("testngx").replicas(1).cpu("1000m").memory("128Mi")).await?;
    let first = cluster.wait_until_running("app=testngx", 1).await?.remove(0);
    cluster.delete_pod(name_of(&first)).await?;
    let second = cluster
        .wait_until("another pod of testngx runs", SOON, async || {
            let pods = cluster.pods("app=testngx").await?;
            let other = pods.iter().find(|pod| is_running(pod) && name_of(pod) != name_of(&first));
            other.cloned().with_context(|| describe(&pods))
        })
        .await?;

    let key = format!("reserve.cpu/{}", testngx.uid);
    cluster.annotate_node(node_of(&second), &key, Some("5000m")).await?;
    let annotations = cluster.node(node_of(&second)).await?.metadata.annotations.unwrap_or_default();
    assert_eq!(annotations.get(&key).map(String::as_str), Some("5000m"));

    gone(&cluster, &first).await?;
    let audit = cluster.audit().await?;
    for pod in [&first, &second] {
        let bound = audit.clone().to("pods/binding").named(name_of(pod)).stored();
        let [binding] = bound.writes() else { bail!("{} was bound by {bound:?}", name_of(pod)) };
        assert_eq!(binding.user, cluster.user_name(User::Scheduler));
        let target = binding.request_object.as_ref().and_then(|object| object["target"]["name"].as_str());
        assert_eq!(target, Some(node_of(pod)));
    }
    let created = audit.clone().to("pods").verb("create").named(name_of(&second));
    let [created] = created.writes() else { bail!("created by {created:?}") };
    assert_eq!(created.user, "system:serviceaccount:kube-system:replicaset-controller");
    let annotated = audit.clone().to("nodes").by("admin").verb("patch").named(node_of(&second));
    let [annotated] = annotated.writes() else { bail!("annotated by {annotated:?}") };
    assert_eq!(annotated.request_object, Some(json!({"metadata": {"annotations": {(key): "5000m"}}})));
    assert!(annotated.resource_version_after.is_some() && annotated.user_agent == "reserve-tests/admin");
    let deleted = audit.to("pods").verb("delete").named(name_of(&first));
    let users: Vec<&str> = deleted.writes().iter().map(|write| write.user.as_str()).collect();
    assert_eq!(users, ["admin", "kwok"], "asked for by us, carried out by the fake kubelet");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_start_complete_and_terminate_when_their_annotations_say() -> Result<()> {
    let cluster = seed_000("pods_take_their_time").await?;
    let quick = cluster.deploy(deployment("quick")).await?;
    let slow = cluster.deploy(deployment("slow").terminate_after(Duration::from_secs(8))).await?;
    let late = cluster.deploy(deployment("late").start_after(Duration::from_secs(5))).await?;
    cluster.deploy(job("done").replicas(2)).await?;
    let quick_pod = cluster.wait_until_running(&quick.selector, 1).await?.remove(0);
    let slow_pod = cluster.wait_until_running(&slow.selector, 1).await?.remove(0);
    let waiting = cluster.pods(&late.selector).await?;
    assert!(!waiting.iter().any(is_running), "{}", describe(&waiting));

    cluster.delete_pod(name_of(&quick_pod)).await?;
    cluster.delete_pod(name_of(&slow_pod)).await?;
    // A change of the pod meanwhile must not give it more time.
    let touch = format!("pod/{}", name_of(&slow_pod));
    tokio::time::sleep(Duration::from_secs(4)).await;
    cluster.run_kubectl(&["annotate", &touch, "touched=yes"]).await?;
    gone(&cluster, &quick_pod).await?;
    gone(&cluster, &slow_pod).await?;

    let audit = cluster.audit().await?;
    let took = |pod: &Pod| -> Result<i64> {
        let deletes = audit.clone().to("pods").verb("delete").named(name_of(pod)).stored();
        let [asked, done, ..] = deletes.writes() else { bail!("deletes of {}: {deletes:?}", name_of(pod)) };
        Ok(i64::try_from(done.at.duration_since(asked.at).as_millis())?)
    };
    let (quick_ms, slow_ms) = (took(&quick_pod)?, took(&slow_pod)?);
    assert!(quick_ms < 4000, "quick took {quick_ms} ms");
    // Twelve seconds, if the change had begun it anew.
    assert!((8000..11_800).contains(&slow_ms), "slow took {slow_ms} ms");
    cluster.wait_until_running(&late.selector, 1).await?;
    cluster.run_kubectl(&["wait", "--for=condition=complete", "--timeout=90s", "job/done"]).await?;
    Ok(())
}

async fn gone(cluster: &Cluster, pod: &Pod) -> Result<()> {
    let pods: Api<Pod> = Api::default_namespaced(cluster.admin());
    cluster
        .wait_until(&format!("{} is gone", name_of(pod)), SOON, async || {
            let left = pods.get_opt(name_of(pod)).await?;
            ensure!(left.is_none(), "{}", describe(left.as_slice()));
            Ok(())
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_may_do_what_they_may_and_no_more() -> Result<()> {
    let cluster = ControlPlane::start("everybody_may_do_what_they_may").kubelet_of("mine").await?;
    for name in ["mine", "other"] {
        cluster.add_node(node(name)).await?;
    }
    cluster.add_namespace("shop").await?;

    let patch = Patch::Merge(json!({"metadata": {"annotations": {"reserve.cpu/x": "1"}}}));
    for (user, own, others) in [(User::Kubelet, 200, 403), (User::Tenant, 403, 403), (User::Daemon, 403, 403)]
    {
        let nodes: Api<Node> = Api::all(cluster.client(user)?);
        for (name, expected) in [("mine", own), ("other", others)] {
            let answer = nodes.patch(name, &PatchParams::default(), &patch).await;
            assert_eq!(code(answer), expected, "{user:?} on {name}");
        }
    }
    let audit = cluster.audit().await?.to("nodes").verb("patch").by("system:node:mine");
    let codes: Vec<(&str, u16)> =
        audit.writes().iter().map(|write| (write.name.as_str(), write.code)).collect();
    assert_eq!(codes, [("mine", 200), ("other", 403)]);

    assert_eq!(code(pods_of_shop(&cluster, User::Tenant)?.list(&ListParams::default()).await), 403);
    assert_eq!(code(pods_of_shop(&cluster, User::Daemon)?.list(&ListParams::default()).await), 403);
    cluster.let_tenant_edit("shop").await?;
    cluster.install_roles().await?;
    for user in [User::Tenant, User::Daemon] {
        let pods = pods_of_shop(&cluster, user)?;
        // Rights take effect when the API server's authorizer has seen them.
        let see = async || pods.list(&ListParams::default()).await.context("list pods");
        cluster.wait_until(&format!("{user:?} may list pods"), SOON, see).await?;
    }
    Ok(())
}

fn pods_of_shop(cluster: &Cluster, user: User) -> Result<Api<Pod>> {
    Ok(Api::namespaced(cluster.client(user)?, "shop"))
}

fn code<T>(answer: kube::Result<T>) -> u16 {
    match answer {
        Err(kube::Error::Api(status)) => status.code,
        Err(_) => 0,
        Ok(_) => 200,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_is_ready_or_not_as_its_fake_kubelet_is_told() -> Result<()> {
    let cluster = ControlPlane::start("a_node_is_ready_or_not").await?;
    cluster.add_node(node("n1").taint("gpu", "yes", "NoSchedule")).await?;
    cluster.report_ready("n1", false).await?;
    cluster.run_kubectl(&["wait", "--for=condition=Ready=false", "--timeout=90s", "node/n1"]).await?;
    cluster.report_ready("n1", true).await?;
    let node = cluster.wait_until_ready("n1").await?;
    let taints = node.spec.and_then(|spec| spec.taints).unwrap_or_default();
    assert_eq!(taints.iter().map(|taint| taint.key.as_str()).collect::<Vec<_>>(), ["gpu"]);
    let allocatable = node.status.and_then(|status| status.allocatable).unwrap_or_default();
    assert_eq!(allocatable.get("cpu").map(|quantity| quantity.0.as_str()), Some("4"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_krew_and_a_failed_wait_speak_clearly() -> Result<()> {
    let cluster = ControlPlane::start("clients_speak_clearly").await?;
    // Ready-made programs may differ in the last number.
    let version = kubernetes_version()?;
    let (minor, _) = version.rsplit_once('.').context("no minor version")?;
    let versions: serde_json::Value =
        serde_json::from_str(&cluster.run_kubectl(&["version", "-o=json"]).await?)?;
    for side in ["clientVersion", "serverVersion"] {
        let found = versions[side]["gitVersion"].as_str().unwrap_or_default();
        assert!(found.starts_with(&format!("{minor}.")), "{side} is {found}");
    }
    let krew = cluster.run_kubectl(&["krew", "version"]).await?;
    assert!(
        krew.contains(&*cluster.dir().to_string_lossy()),
        "krew works outside the test's folder:\n{krew}"
    );

    let refusal =
        cluster.run_kubectl_as(User::Tenant, &["get", "nodes"]).await.expect_err("the tenant has no rights");
    assert!(
        refusal.to_string().contains("kubectl get nodes") && refusal.to_string().contains("Forbidden"),
        "{refusal}"
    );

    let short = Duration::from_millis(300);
    let nothing: Result<()> =
        cluster.wait_until("pigs fly", short, async || bail!("0 pigs in the air")).await;
    let failure = nothing.expect_err("no pigs").to_string();
    assert!(failure.contains("waited 300ms until pigs fly; last seen: 0 pigs in the air"), "{failure}");
    assert!(failure.contains(&*cluster.dir().to_string_lossy()), "{failure}");

    let manifest = cluster.dir().join("namespace.yaml");
    std::fs::write(&manifest, "apiVersion: v1\nkind: Namespace\nmetadata: {name: from-a-file}\n")?;
    assert_eq!(cluster.apply_file(Path::new(&manifest)).await?, "namespace/from-a-file created\n");
    Ok(())
}
