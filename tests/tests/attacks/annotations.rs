//! A node with as many annotations as fit, or with values that are long once they are written as text: nothing is refused that
//! does not touch reservations, and what does is judged as always. And claims of a tenant with as many annotations as fit.

use crate::installed::{allowed, run, wait_until_refused};
use crate::tenant::Tenant;
use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::Client;
use reserve_tests::control_plane::{User, node};
use reserve_tests::requests::{as_annotation, patch, strategic};
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// What the API server allows for all annotations of an object, keys and values together.
const BYTES_MAX: usize = 256 * 1024;
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const OWNER: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

/// There is one kubelet, whose node is `n1`: one test at a time has it.
static KUBELETS_NODE: Mutex<()> = Mutex::const_new(());

/// Annotations of three letters without values: as many as fit into so many bytes, or `limit`.
fn tiny(bytes: usize, limit: usize) -> Map<String, Value> {
    let letter = |number: usize| char::from(LETTERS[number % LETTERS.len()]);
    let count = (bytes / 3).min(limit);
    let key = |number: usize| -> String {
        [letter(number), letter(number / LETTERS.len()), letter(number / LETTERS.len().pow(2))]
            .iter()
            .collect()
    };
    (0..count).map(|number| (key(number), Value::from(""))).collect()
}

/// Values of control characters, each of which a policy's text has as four: as many as fit into so many bytes.
fn escaped(bytes: usize) -> Map<String, Value> {
    const VALUE: usize = 4096;
    let value = Value::from("\u{1}".repeat(VALUE));
    (0..bytes / (VALUE + 8)).map(|number| (format!("key-{number:04}"), value.clone())).collect()
}

fn reserve(value: &str) -> Value {
    as_annotation(&format!("reserve.cpu/{OWNER}.a"), value)
}

/// One report of a kubelet, and how long the API server took for it.
async fn report(kubelet: &Client, phase: &str) -> Result<Duration> {
    let began = Instant::now();
    let said = strategic(kubelet, "/api/v1/nodes/n1/status", &json!({"status": {"phase": phase}})).await?;
    allowed("a kubelet reports", &said)?;
    Ok(began.elapsed())
}

#[test]
fn many_tiny_annotations_keep_no_kubelet_from_reporting() -> Result<()> {
    run("many-annotations", async |ns, daemon| {
        let (_alone, path) = (KUBELETS_NODE.lock().await, "/api/v1/nodes/n1");
        ns.cluster.add_node(node("n1")).await?;
        values_that_look_like_our_keys_are_values(ns, &ns.cluster.client(User::Kubelet)?).await?;
        // Room for what others put there: the node's own annotations, and a reservation.
        let many = tiny(BYTES_MAX - 4096, usize::MAX);
        ensure!(many.len() > 80_000, "only {} annotations", many.len());
        everybody_works_on_a_node_with(ns, many).await?;
        // The daemon is held to reserve.* by a loop, and so does not write to such a node at all.
        wait_until_refused(ns.cluster, ("reserve-daemon-confinement", "more than 10,000"), async || {
            patch(&daemon, &format!("{path}?dryRun=All"), &reserve("2")).await
        })
        .await?;
        // Other tests share the API server.
        ns.cluster.run_kubectl(&["delete", "node", "n1"]).await.map(drop)
    })
}

/// The longest text that annotations can become: a policy that looks for our keys in it must not cost too much.
#[test]
fn values_of_control_characters_keep_no_kubelet_from_reporting() -> Result<()> {
    run("control-characters", async |ns, daemon| {
        let (_alone, path) = (KUBELETS_NODE.lock().await, "/api/v1/nodes/n1");
        ns.cluster.add_node(node("n1")).await?;
        everybody_works_on_a_node_with(ns, escaped(BYTES_MAX - 4096)).await?;
        allowed("the daemon reserves", &patch(&daemon, path, &reserve("2")).await?)?;
        ns.cluster.run_kubectl(&["delete", "node", "n1"]).await.map(drop)
    })
}

/// Fills the kubelet's node: the kubelet reports and annotates and cannot reserve, an operator reserves, and what is malformed is
/// refused.
async fn everybody_works_on_a_node_with(ns: TestNamespace, annotations: Map<String, Value>) -> Result<()> {
    let (admin, path) = (ns.cluster.admin(), "/api/v1/nodes/n1");
    let kubelet = ns.cluster.client(User::Kubelet)?;
    // So many at once take a busy API server longer than it gives a request.
    let filled = json!({"metadata": {"annotations": annotations}});
    let fill = async || allowed("filled", &patch(&admin, path, &filled).await?);
    ns.cluster.wait_until("the node is filled", SOON * 3, fill).await?;
    let took = report(&kubelet, "Pending").await?;
    // A loop over all of them takes the API server longer than that, even on a machine with nothing else to do.
    ensure!(took < Duration::from_secs(10), "a report took {took:?}");
    let began = Instant::now();
    let own = as_annotation("volumes.kubernetes.io/controller-managed-attach-detach", "true");
    allowed("a kubelet annotates its node", &patch(&kubelet, path, &own).await?)?;
    ensure!(began.elapsed() < Duration::from_secs(20), "an annotation took {:?}", began.elapsed());
    wait_until_refused(ns.cluster, ("reserve-writers", "a kubelet reserves"), async || {
        patch(&kubelet, &format!("{path}?dryRun=All"), &reserve("1")).await
    })
    .await?;
    allowed("an operator reserves", &patch(&admin, path, &reserve("1")).await?)?;
    wait_until_refused(ns.cluster, ("reserve-values", "malformed"), async || {
        patch(&admin, &format!("{path}?dryRun=All"), &reserve("lots")).await
    })
    .await?;
    report(&kubelet, "Running").await.map(drop)
}

/// The daemon's account is held to one annotation of a claim. A loop over all of them would take the API server half a minute, each
/// time that a pod with such a claim is tried.
#[test]
fn a_claim_with_many_annotations_costs_the_api_server_no_seconds() -> Result<()> {
    run("claim-annotations", async |ns, daemon| {
        let tenant = Tenant::of(ns).await?;
        let many = tiny(BYTES_MAX - 4096, usize::MAX);
        ensure!(many.len() > 80_000, "only {} annotations", many.len());
        let spec = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": "none",
                          "resources": {"requests": {"storage": "1Gi"}}});
        let made = async |name: &str, annotations: &Map<String, Value>| {
            let claim = json!({"metadata": {"name": name, "annotations": annotations}, "spec": spec});
            ns.cluster
                .wait_until("the tenant has the claim", SOON, async || {
                    match tenant.create::<PersistentVolumeClaim>(claim.clone()).await {
                        // The answer to the first try may have come too late.
                        Err(error) if format!("{error:#}").contains("already exists") => Ok(()),
                        made => made.map(drop),
                    }
                })
                .await
        };
        made("many", &many).await?;
        made("some", &tiny(BYTES_MAX, 900)).await?;
        let at =
            |name: &str| format!("/api/v1/namespaces/{}/persistentvolumeclaims/{name}?dryRun=All", ns.name);
        let chosen = as_annotation("volume.kubernetes.io/selected-node", "n1");
        wait_until_refused(ns.cluster, ("reserve-daemon-claims", "more than 1,000"), async || {
            patch(&daemon, &at("many"), &chosen).await
        })
        .await?;
        let began = Instant::now();
        let said = patch(&daemon, &at("many"), &chosen).await?;
        ensure!(said.message.contains("more than 1,000"), "{said:?}");
        ensure!(began.elapsed() < Duration::from_secs(10), "it took {:?}", began.elapsed());
        allowed("a claim with hundreds", &patch(&daemon, &at("some"), &chosen).await?)
    })
}

#[test]
fn the_daemon_reserves_on_a_node_with_thousands_of_annotations() -> Result<()> {
    run("some-annotations", async |ns, daemon| {
        ns.cluster.add_node(node(ns.name)).await?;
        let (admin, path) = (ns.cluster.admin(), format!("/api/v1/nodes/{}", ns.name));
        let some = json!({"metadata": {"annotations": tiny(BYTES_MAX, 9_900)}});
        allowed("filled", &patch(&admin, &path, &some).await?)?;
        allowed("the daemon reserves", &patch(&daemon, &path, &reserve("1")).await?)?;
        let released = json!({"metadata": {"annotations": {format!("reserve.cpu/{OWNER}.a"): null}}});
        allowed("the daemon releases", &patch(&daemon, &path, &released).await?)
    })
}

/// A policy finds our keys in one text of all annotations. What stands in a value is no key.
async fn values_that_look_like_our_keys_are_values(ns: TestNamespace, kubelet: &Client) -> Result<()> {
    let path = "/api/v1/nodes/n1?dryRun=All";
    let values = [
        format!("reserve.cpu/{OWNER}"),
        format!("\"reserve.cpu/{OWNER}\":\"1\", \"x\":\""),
        format!("\", \"reserve.cpu/{OWNER}\":\"1"),
        format!("\\\", \"reserve.cpu/{OWNER}\":\"1"),
    ];
    for value in values {
        allowed(&value, &patch(kubelet, path, &as_annotation("theirs", &value)).await?)?;
    }
    // And a key is one whatever stands in the values around it.
    let mut forged = reserve("1");
    for key in ["r", "reserve-a", "reserve.b.c/d", "s"] {
        forged["metadata"]["annotations"][key] = "\\\", \\".into();
    }
    wait_until_refused(ns.cluster, ("reserve-writers", "a key among such values"), async || {
        patch(kubelet, path, &forged).await
    })
    .await
}
