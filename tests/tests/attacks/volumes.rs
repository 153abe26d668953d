//! Stolen token: volumes and claims. What the daemon writes passes; nothing else of a volume or claim can be changed.

use crate::installed::{allowed, run, wait_until_refused};
use anyhow::Result;
use kube::Client;
use reserve_tests::requests::{as_annotation, patch};
use reserve_tests::shared_cluster::TestNamespace;
use serde_json::{Value, json};

const UID: &str = "0b6b4d3e-3b0f-4a43-9d3c-1f6a2f0a7c11";
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

/// What is tried, on which object, and the patch.
type Attempt = (&'static str, String, Value);

async fn all_refused(ns: TestNamespace, client: &Client, policy: &str, attempts: Vec<Attempt>) -> Result<()> {
    for (what, path, change) in attempts {
        wait_until_refused(ns.cluster, (policy, what), async || patch(client, &path, &change).await).await?;
    }
    Ok(())
}

/// A volume of a class whose claims wait for a pod, so that no controller binds it.
fn volume(name: &str, claim: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": {"tier": "gold"}, "annotations": {"theirs": "1"}},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "waits",
                 "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/data"}, "claimRef": claim},
    })
}

fn claim_ref(name: &str, uid: Option<&str>) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default", "name": name, "uid": uid})
}

fn claims(name: &str, uid: Option<&str>) -> Value {
    json!({"spec": {"claimRef": claim_ref(name, uid)}})
}

fn path_of(volume: &str) -> String {
    format!("/api/v1/persistentvolumes/{volume}?dryRun=All")
}

#[test]
fn a_stolen_token_cannot_take_or_change_volumes() -> Result<()> {
    run("stolen-volumes", async |ns, daemon| {
        let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
            volume("free", &Value::Null),
            volume("named", &claim_ref("later", None)),
            volume("taken", &claim_ref("theirs", Some("7d1d0d3e-3b0f-4a43-9d3c-1f6a2f0a7c99"))),
        ]});
        ns.cluster.apply(&objects.to_string()).await?;
        let mut first = claims("data", Some(UID));
        first["metadata"] = json!({"annotations": {BOUND_BY_CONTROLLER: "yes"}});
        let path = path_of("free");
        ns.cluster
            .wait_until(
                "the daemon gives a volume its claim",
                reserve_tests::shared_cluster::SOON,
                async || allowed("a claim for a volume without one", &patch(&daemon, &path, &first).await?),
            )
            .await?;
        let named = patch(&daemon, &path_of("named"), &claims("later", Some(UID))).await?;
        allowed("a claim that the volume names", &named)?;
        let on = |change: Value| {
            let mut both = claims("data", Some(UID));
            let fields = change.as_object().cloned().unwrap_or_default();
            for (field, value) in fields {
                let old = both[&field].as_object().cloned().unwrap_or_default();
                let new = value.as_object().cloned().unwrap_or_default();
                both[&field] = Value::Object(old.into_iter().chain(new).collect());
            }
            (path_of("free"), both)
        };
        let with = |what, change| {
            let (path, both) = on(change);
            (what, path, both)
        };
        let attempts = vec![
            with(
                "deletes the data when released",
                json!({"spec": {"persistentVolumeReclaimPolicy": "Delete"}}),
            ),
            with("changes the size", json!({"spec": {"capacity": {"storage": "2Gi"}}})),
            with("changes mount options", json!({"spec": {"mountOptions": ["suid"]}})),
            with("labels", json!({"metadata": {"labels": {"tier": "lead"}}})),
            with("unlabels", json!({"metadata": {"labels": {"tier": null}}})),
            with("removes finalizers", json!({"metadata": {"finalizers": null}})),
            with("annotates", json!({"metadata": {"annotations": {"theirs": "2"}}})),
            with("removes an annotation", json!({"metadata": {"annotations": {"theirs": null}}})),
            with("other value", json!({"metadata": {"annotations": {BOUND_BY_CONTROLLER: "no"}}})),
            ("a claim without a UID", path_of("free"), claims("data", None)),
            ("takes another's volume", path_of("taken"), claims("data", Some(UID))),
            ("takes it by the same name", path_of("taken"), claims("theirs", Some(UID))),
            ("takes a volume that names another claim", path_of("named"), claims("data", Some(UID))),
            ("lets go of another's volume", path_of("taken"), json!({"spec": {"claimRef": null}})),
        ];
        all_refused(ns, &daemon, "reserve-daemon-volumes", attempts).await
    })
}

#[test]
fn a_stolen_token_cannot_change_claims() -> Result<()> {
    run("stolen-claims", async |ns, daemon| {
        let claim = |name: &str, volume: Value| {
            json!({
                "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "metadata": {"name": name, "namespace": ns.name, "annotations": {"theirs": "1"}},
                "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "waits", "volumeName": volume,
                         "resources": {"requests": {"storage": "1Gi"}}},
            })
        };
        let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "waits"},
             "provisioner": "example.com/none", "volumeBindingMode": "WaitForFirstConsumer"},
            claim("data", Value::Null), claim("bound", "somewhere".into()),
        ]});
        ns.cluster.apply(&objects.to_string()).await?;
        let path =
            |name: &str| format!("/api/v1/namespaces/{}/persistentvolumeclaims/{name}?dryRun=All", ns.name);
        allowed("names a node", &patch(&daemon, &path("data"), &as_annotation(SELECTED_NODE, "n1")).await?)?;
        let chosen = path("data").replace("?dryRun=All", "");
        allowed("chosen", &patch(&ns.cluster.admin(), &chosen, &as_annotation(SELECTED_NODE, "n1")).await?)?;
        allowed("another node", &patch(&daemon, &path("data"), &as_annotation(SELECTED_NODE, "n2")).await?)?;
        let unnamed = json!({"metadata": {"annotations": {SELECTED_NODE: null}}});
        let attempts = vec![
            ("no node", path("data"), as_annotation(SELECTED_NODE, "")),
            ("takes the node back", path("data"), unnamed),
            ("annotates", path("data"), as_annotation("volume.kubernetes.io/storage-provisioner", "mine")),
            ("removes annotations", path("data"), json!({"metadata": {"annotations": {"theirs": null}}})),
            ("labels", path("data"), json!({"metadata": {"labels": {"a": "b"}}})),
            ("removes finalizers", path("data"), json!({"metadata": {"finalizers": null}})),
            ("chooses a volume", path("data"), json!({"spec": {"volumeName": "free"}})),
            ("a claim that has a volume", path("bound"), as_annotation(SELECTED_NODE, "n1")),
        ];
        all_refused(ns, &daemon, "reserve-daemon-claims", attempts).await
    })
}
