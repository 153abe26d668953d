//! Stolen token: pods. What the daemon writes about a pod passes; nothing else of a pod can be changed, and no pod is deleted
//! that was not told so first.

use crate::installed::{allowed, run, wait_until_refused};
use anyhow::{Context as _, Result, ensure};
use http::Method;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client, ResourceExt as _};
use reserve_tests::control_plane::{WorkloadShape, bare_pod, node};
use reserve_tests::requests::{ask, patch, strategic};
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::{Value, json};

/// A pod of the test's own namespace.
struct Target {
    name: &'static str,
    uid: String,
    path: String,
}

impl Target {
    /// Creates the pod; no scheduler runs, so that it waits unless it names its node.
    async fn create(ns: TestNamespace, name: &'static str, shape: WorkloadShape) -> Result<Self> {
        ns.cluster.deploy(shape.namespace(ns.name).scheduler("nobody")).await?;
        let pods: Api<Pod> = Api::namespaced(ns.cluster.admin(), ns.name);
        let uid = pods.get(name).await?.uid().context("a pod without a UID")?;
        Ok(Self { name, uid, path: format!("/api/v1/namespaces/{}/pods/{name}", ns.name) })
    }

    fn status(&self) -> String {
        format!("{}/status?dryRun=All", self.path)
    }

    /// The patch as `effects/condition.rs` and `effects/evict.rs` write it.
    fn condition(&self, kind: &str, status: &str, reason: &str) -> Value {
        // A controller takes back a DisruptionTarget that is older than two minutes.
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        json!({"metadata": {"uid": self.uid}, "status": {"conditions": [{
            "type": kind, "status": status, "reason": reason, "message": "why", "observedGeneration": 1,
            "lastTransitionTime": now}]}})
    }

    fn preempted(&self) -> Value {
        self.condition("DisruptionTarget", "True", "PreemptionByScheduler")
    }

    /// The options as `effects/evict.rs` writes them.
    fn deletion(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"], "preconditions": {"uid": self.uid}})
    }
}

/// The name of this test's node, and a pod that was put there.
async fn placed(ns: TestNamespace, name: &'static str, priority_class: Option<&str>) -> Result<Target> {
    let shape = bare_pod(name).pod_field("nodeName", ns.name.into());
    let shape = match priority_class {
        Some(class) => shape.pod_field("priorityClassName", class.into()),
        None => shape,
    };
    Target::create(ns, name, shape).await
}

async fn status_refused(
    ns: TestNamespace,
    client: &Client,
    pod: &Target,
    tries: &[(&str, Value)],
) -> Result<()> {
    for (what, change) in tries {
        let at = ("reserve-daemon-pod-status", *what);
        wait_until_refused(ns.cluster, at, async || strategic(client, &pod.status(), change).await).await?;
    }
    Ok(())
}

#[test]
fn a_stolen_token_cannot_lie_about_a_pod_that_waits() -> Result<()> {
    run("stolen-waiting", async |ns, daemon| {
        let pod = Target::create(ns, "waiting", bare_pod("waiting")).await?;
        for reason in ["Unschedulable", "SchedulerError", "WaitingForReservedNode"] {
            let mut change = pod.condition("PodScheduled", "False", reason);
            change["status"]["nominatedNodeName"] = "fence".into();
            allowed(reason, &strategic(&daemon, &pod.status(), &change).await?)?;
        }
        let tries = [
            ("it is placed", pod.condition("PodScheduled", "True", "Unschedulable")),
            ("another reason", pod.condition("PodScheduled", "False", "Evil")),
            ("another condition", pod.condition("Ready", "True", "Unschedulable")),
            ("preempted where it never was", pod.preempted()),
            ("failed", json!({"status": {"phase": "Failed"}})),
            ("a message", json!({"status": {"message": "Evicted"}})),
            ("an address", json!({"status": {"podIPs": [{"ip": "10.0.0.9"}], "podIP": "10.0.0.9"}})),
            ("a label", json!({"metadata": {"labels": {"app": "bank"}}})),
            ("an annotation", json!({"metadata": {"annotations": {"reserve/keep": "1h"}}})),
            ("a finalizer", json!({"metadata": {"finalizers": ["example.com/stay"]}})),
        ];
        status_refused(ns, &daemon, &pod, &tries).await
    })
}

#[test]
fn a_stolen_token_cannot_lie_about_a_pod_that_runs() -> Result<()> {
    run("stolen-running", async |ns, daemon| {
        ns.cluster.add_node(node(ns.name)).await?;
        let pod = placed(ns, "placed", None).await?;
        let critical = placed(ns, "critical", Some("system-node-critical")).await?;
        allowed("preempted", &strategic(&daemon, &pod.status(), &pod.preempted()).await?)?;
        let no_nomination = json!({"status": {"nominatedNodeName": null}});
        allowed("no nomination", &strategic(&daemon, &pod.status(), &no_nomination).await?)?;
        let ready = json!({"status": {"containerStatuses": [{"name": "app", "ready": false, "restartCount": 9,
            "image": "i", "imageID": "i"}]}});
        let tries = [
            ("it has no place", pod.condition("PodScheduled", "False", "Unschedulable")),
            ("not ready", pod.condition("Ready", "False", "Unschedulable")),
            (
                "preempted for another reason",
                pod.condition("DisruptionTarget", "True", "EvictionByEvictionAPI"),
            ),
            ("not preempted", pod.condition("DisruptionTarget", "False", "PreemptionByScheduler")),
            ("succeeded", json!({"status": {"phase": "Succeeded"}})),
            ("its containers", ready),
        ];
        status_refused(ns, &daemon, &pod, &tries).await?;
        // Of newer API servers the validation refuses it, which comes before policies.
        let nominated = json!({"status": {"nominatedNodeName": "fence"}});
        let said = strategic(&daemon, &pod.status(), &nominated).await?;
        ensure!(said.code == 422, "nominated elsewhere: {said:?}");
        status_refused(ns, &daemon, &critical, &[("a critical pod preempted", critical.preempted())]).await?;
        ns.cluster
            .wait_until("the pod has conditions", SOON, async || {
                let pods: Api<Pod> = Api::namespaced(ns.cluster.admin(), ns.name);
                pods.get("placed").await?.status.and_then(|status| status.conditions).context("none yet")
            })
            .await?;
        let none = json!({"status": {"conditions": null}});
        let at = ("reserve-daemon-pod-status", "no conditions");
        wait_until_refused(ns.cluster, at, async || patch(&daemon, &pod.status(), &none).await).await
    })
}

#[test]
fn a_stolen_token_deletes_no_pod_that_was_not_told_first() -> Result<()> {
    run("stolen-deletes", async |ns, daemon| {
        ns.cluster.add_node(node(ns.name)).await?;
        let pod = placed(ns, "victim", None).await?;
        let critical = placed(ns, "critical", Some("system-node-critical")).await?;
        let waiting = Target::create(ns, "waiting", bare_pod("waiting")).await?;
        let refused = async |what: &str, pod: &Target, options: &Value| {
            let at = ("reserve-daemon-preemption", what);
            let attempt = async || ask(&daemon, Method::DELETE, &pod.path, options).await;
            wait_until_refused(ns.cluster, at, attempt).await
        };
        refused("not told", &pod, &pod.deletion()).await?;
        let admin = ns.cluster.admin();
        for target in [&pod, &critical, &waiting] {
            let path = format!("{}/status", target.path);
            allowed(target.name, &strategic(&admin, &path, &target.preempted()).await?)?;
        }
        refused("a critical pod", &critical, &critical.deletion()).await?;
        refused("a pod without a node", &waiting, &waiting.deletion()).await?;
        let mut options = pod.deletion();
        options["gracePeriodSeconds"] = 0.into();
        refused("at once", &pod, &options).await?;
        options["gracePeriodSeconds"] = 1.into();
        refused("in a second", &pod, &options).await?;
        options = pod.deletion();
        options["preconditions"] = Value::Null;
        refused("whichever pod has the name", &pod, &options).await?;
        allowed("as the daemon does it", &ask(&daemon, Method::DELETE, &pod.path, &pod.deletion()).await?)
    })
}

#[test]
fn a_stolen_token_cannot_put_anything_into_a_pod_by_binding_it() -> Result<()> {
    run("stolen-bindings", async |ns, daemon| {
        ns.cluster.add_node(node(ns.name).label("topology.kubernetes.io/zone", "z1")).await?;
        let pod = Target::create(ns, "waiting", bare_pod("waiting")).await?;
        let path = format!("{}/binding?dryRun=All", pod.path);
        // As effects/bind.rs writes it.
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": "waiting", "namespace": ns.name, "uid": pod.uid,
                         "annotations": {"reserve/seat": "a8f6f901-47c9-4475-b1f4-cac44597e173.a1"}},
            "target": {"apiVersion": "v1", "kind": "Node", "name": ns.name},
        });
        allowed("with a seat", &ask(&daemon, Method::POST, &path, &binding).await?)?;
        let changed = |pointer: &[&str], value: Value| {
            let mut changed = binding.clone();
            changed[pointer[0]][pointer[1]] = value;
            changed
        };
        let unstamped = changed(&["metadata", "annotations"], Value::Null);
        allowed("without a seat", &ask(&daemon, Method::POST, &path, &unstamped).await?)?;
        let tries = [
            ("whichever pod has the name", changed(&["metadata", "uid"], Value::Null)),
            ("a label", changed(&["metadata", "labels"], json!({"app": "bank"}))),
            ("an annotation", changed(&["metadata", "annotations"], json!({"reserve/keep": "1h"}))),
            ("no seat", changed(&["metadata", "annotations"], json!({"reserve/seat": "mine"}))),
            ("a field of the target", changed(&["target", "fieldPath"], "spec".into())),
        ];
        for (what, body) in tries {
            let at = ("reserve-daemon-binding", what);
            let attempt = async || ask(&daemon, Method::POST, &path, &body).await;
            wait_until_refused(ns.cluster, at, attempt).await?;
        }
        Ok(())
    })
}
