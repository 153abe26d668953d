//! The scheduler beside the real kube-scheduler: what pods are told, who has to go for whom, which volume a pod gets.
//!
//! Each scheduler has nodes of its own, told apart by the label `side`; the cluster is the same on both sides. So whatever
//! one says about its pods, the other must say about theirs, word for word.

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams};
use reserve_tests::control_plane::{
    Cluster, ControlPlane, User, WorkloadShape, bare_pod, describe, name_of, node, node_of,
};
use reserve_tests::programs::{self, Daemon};
use serde_json::{Value, json};
use std::time::Duration;

const OURS: &str = "reserve-scheduler";
const THEIRS: &str = "default-scheduler";
const SOON: Duration = Duration::from_secs(90);

/// The sides, with the scheduler of each.
const SIDES: [(&str, &str); 2] = [("ours", OURS), ("theirs", THEIRS)];

/// A pod for one of the sides.
fn pod(name: &str, side: &str, scheduler: &str) -> WorkloadShape {
    bare_pod(&format!("{name}-{side}"))
        .scheduler(scheduler)
        .pod_field("nodeSelector", json!({ "side": side }))
}

/// What was said about a pod, with everything that differs between the sides taken out.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    kind: String,
    reason: String,
    action: String,
    note: String,
}

/// What the events about a pod say.
async fn words(cluster: &Cluster, name: &str, side: &str) -> Result<Vec<Word>> {
    let events: Api<Event> = Api::namespaced(cluster.admin(), "default");
    let uids: Vec<String> =
        cluster.pods("").await?.iter().filter_map(|pod| pod.metadata.uid.clone()).collect();
    let plain = |text: Option<&String>| {
        let mut text = text.cloned().unwrap_or_default().replace(side, "<side>");
        uids.iter().for_each(|uid| text = text.replace(uid, "<uid>"));
        text
    };
    let about = |event: &Event| {
        event.regarding.as_ref().and_then(|pod| pod.name.as_deref()) == Some(&format!("{name}-{side}"))
            && [OURS, THEIRS].contains(&event.reporting_controller.as_deref().unwrap_or_default())
    };
    let word = |event: &Event| Word {
        kind: plain(event.type_.as_ref()),
        reason: plain(event.reason.as_ref()),
        action: plain(event.action.as_ref()),
        note: plain(event.note.as_ref()),
    };
    let mut words: Vec<Word> =
        events.list(&ListParams::default()).await?.iter().filter(|event| about(event)).map(word).collect();
    words.sort();
    words.dedup();
    Ok(words)
}

/// The reason and the message of the pod's PodScheduled condition, with the side taken out.
async fn condition(cluster: &Cluster, name: &str, side: &str) -> Result<(String, String)> {
    let pods: Api<Pod> = Api::namespaced(cluster.admin(), "default");
    let pod = pods.get(&format!("{name}-{side}")).await?;
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let found = conditions.rfind(|one| one.type_ == "PodScheduled" && one.status == "False");
    let found = found.context("no condition yet")?;
    let message = found.message.clone().unwrap_or_default().replace(side, "<side>");
    Ok((found.reason.clone().unwrap_or_default(), message))
}

/// Waits until both sides say the same about this pod, and something at all.
async fn both_say_the_same(cluster: &Cluster, name: &str) -> Result<Vec<Word>> {
    cluster
        .wait_until("both schedulers say the same", SOON, async || {
            let ours = words(cluster, name, "ours").await?;
            let theirs = words(cluster, name, "theirs").await?;
            ensure!(!theirs.is_empty() && ours == theirs, "{name}:\n{ours:#?}\n{theirs:#?}");
            Ok(ours)
        })
        .await
}

/// Waits until both sides' pods have the same condition, and one at all.
async fn same_condition(cluster: &Cluster, name: &str) -> Result<(String, String)> {
    cluster
        .wait_until("both pods have the same condition", SOON, async || {
            let ours = condition(cluster, name, "ours").await?;
            let theirs = condition(cluster, name, "theirs").await?;
            ensure!(ours == theirs, "{name}:\n{ours:#?}\n{theirs:#?}");
            Ok(ours)
        })
        .await
}

/// A cluster in which both schedulers have two nodes of two cpus.
async fn two_sides(name: &str) -> Result<(Cluster, Daemon)> {
    let cluster = ControlPlane::start(name).with_scheduler().plugin_dir(programs::build()?).await?;
    for (side, _) in SIDES {
        for index in [1, 2] {
            let name = format!("{side}-{index}");
            cluster.add_node(node(&name).cpu("2").memory("8Gi").label("side", side)).await?;
        }
    }
    let daemon = Daemon::start(&cluster, OURS).await?;
    Ok((cluster, daemon))
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_are_told_what_kube_scheduler_tells_them() -> Result<()> {
    let (cluster, _daemon) = two_sides("scheduler_words").await?;
    for (side, scheduler) in SIDES {
        cluster.deploy(pod("large", side, scheduler).cpu("3")).await?;
        let friend = json!({ "podAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
            { "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": { "app": "nobody" } } }] } });
        cluster.deploy(pod("lonely", side, scheduler).pod_field("affinity", friend)).await?;
        let gone = json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["no"] }] }] } } });
        cluster.deploy(pod("pinned", side, scheduler).pod_field("affinity", gone)).await?;
        cluster.deploy(pod("small", side, scheduler).cpu("1")).await?;
        let gates = json!([{ "name": "example.com/gate" }]);
        cluster.deploy(pod("gated", side, scheduler).pod_field("schedulingGates", gates)).await?;
    }
    for name in ["large", "lonely", "pinned"] {
        let said = both_say_the_same(&cluster, name).await?;
        assert_eq!(said.first().map(|word| word.reason.as_str()), Some("FailedScheduling"), "{said:?}");
        let ours = same_condition(&cluster, name).await?;
        assert_eq!((ours.0.as_str(), &ours.1), ("Unschedulable", &said[0].note));
    }
    assert_eq!(same_condition(&cluster, "gated").await?.0, "SchedulingGated");
    let pods: Api<Pod> = Api::namespaced(cluster.admin(), "default");
    for (side, _) in SIDES {
        let patch = Patch::Merge(json!({ "spec": { "schedulingGates": null } }));
        pods.patch(&format!("gated-{side}"), &PatchParams::default(), &patch).await?;
        for name in ["small", "gated"] {
            cluster.wait_until_running(&format!("app={name}-{side}"), 1).await?;
        }
    }
    let said = both_say_the_same(&cluster, "gated").await?;
    assert_eq!(said.iter().map(|word| word.reason.as_str()).collect::<Vec<_>>(), ["Scheduled"], "{said:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_pod_has_to_go_and_a_budget_is_respected() -> Result<()> {
    let (cluster, _daemon) = two_sides("scheduler_preemption").await?;
    cluster.apply(&priority_class().to_string()).await?;
    for (side, scheduler) in SIDES {
        cluster.apply(&budget(side).to_string()).await?;
        for index in [1, 2] {
            let home = json!({ "kubernetes.io/hostname": format!("{side}-{index}") });
            let low = bare_pod(&format!("low{index}-{side}")).scheduler(scheduler).cpu("2");
            cluster.deploy(low.pod_field("nodeSelector", home)).await?;
            cluster.wait_until_running(&format!("app=low{index}-{side}"), 1).await?;
        }
    }
    for (side, scheduler) in SIDES {
        let high = pod("high", side, scheduler).cpu("2").pod_field("priorityClassName", json!("high"));
        cluster.deploy(high).await?;
        let running = cluster.wait_until_running(&format!("app=high-{side}"), 1).await?;
        assert_eq!(node_of(&running[0]), format!("{side}-2"), "the budget protects the other one");
        cluster.wait_until_running(&format!("app=low1-{side}"), 1).await?;
    }
    let said = both_say_the_same(&cluster, "low2").await?;
    let notes: Vec<(&str, &str)> =
        said.iter().map(|word| (word.reason.as_str(), word.note.as_str())).collect();
    assert!(notes.contains(&("Preempted", "Preempted by pod <uid> on node <side>-2")), "{notes:?}");
    let said = both_say_the_same(&cluster, "high").await?;
    assert!(said.iter().any(|word| word.note.contains("preempting 1 victims")), "{said:?}");

    let audit = cluster.audit().await?;
    let told = |user: &str| -> Result<Value> {
        let writes = audit.clone().by(user).to("pods/status");
        let told = writes.writes().iter().find_map(|write| {
            let conditions = write.request_object.as_ref()?["status"]["conditions"].as_array()?.clone();
            conditions.into_iter().find(|condition| condition["type"] == "DisruptionTarget")
        });
        told.with_context(|| format!("{user} told nobody"))
    };
    let ours = told(&cluster.user_name(User::Daemon))?;
    assert_eq!(ours["reason"], "PreemptionByScheduler");
    assert_eq!(ours["message"], format!("{OURS}: preempting to accommodate a higher priority pod"));
    Ok(())
}

fn priority_class() -> Value {
    json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": "high" }, "value": 1000 })
}

fn budget(side: &str) -> Value {
    json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": { "name": format!("low1-{side}"), "namespace": "default" },
            "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": format!("low1-{side}") } } } })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_waits_for_its_pod_gets_the_volume_of_the_pods_node() -> Result<()> {
    let cluster = ControlPlane::start("scheduler_volumes").plugin_dir(programs::build()?).await?;
    for name in ["n1", "n2", "n3"] {
        cluster.add_node(node(name).cpu("4").memory("8Gi")).await?;
    }
    let daemon = Daemon::start(&cluster, OURS).await?;
    cluster.apply(&storage_class().to_string()).await?;
    cluster.apply(&local_volume("n2").to_string()).await?;
    cluster.apply(&claim().to_string()).await?;
    let volumes = json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "data" } }]);
    cluster.deploy(bare_pod("db").scheduler(OURS).pod_field("volumes", volumes)).await?;
    let running = cluster.wait_until_running("app=db", 1).await?;
    assert_eq!(node_of(&running[0]), "n2", "{}", daemon.log()?);
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(cluster.admin(), "default");
    let claim = claims.get("data").await?;
    assert_eq!(claim.spec.and_then(|spec| spec.volume_name).as_deref(), Some("local-n2"));

    // The only volume is taken now; the next claim has none, and its pod says so.
    let mut other = self::claim();
    other["metadata"]["name"] = json!("more");
    cluster.apply(&other.to_string()).await?;
    let volumes = json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "more" } }]);
    cluster.deploy(bare_pod("more").scheduler(OURS).pod_field("volumes", volumes)).await?;
    cluster
        .wait_until("the pod is told that there is no volume", SOON, async || {
            let pods = cluster.pods("app=more").await?;
            let [pod] = &pods[..] else { bail!("{}", describe(&pods)) };
            let text = cluster.run_kubectl(&["describe", "po", name_of(pod)]).await?;
            ensure!(text.contains("3 node(s) didn't find available persistent volumes to bind"), "{text}");
            Ok(())
        })
        .await?;
    cluster.apply(&local_volume("n3").to_string()).await?;
    let running = cluster.wait_until_running("app=more", 1).await?;
    assert_eq!(node_of(&running[0]), "n3", "a new volume wakes it");
    Ok(())
}

fn storage_class() -> Value {
    json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": "local" },
            "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer" })
}

fn local_volume(node: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": format!("local-{node}") },
            "spec": { "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                      "persistentVolumeReclaimPolicy": "Retain", "local": { "path": "/data" },
                      "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [
                          { "key": "kubernetes.io/hostname", "operator": "In", "values": [node] }] }] } } } })
}

fn claim() -> Value {
    json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "data", "namespace": "default" },
            "spec": { "storageClassName": "local", "accessModes": ["ReadWriteOnce"],
                      "resources": { "requests": { "storage": "1Gi" } } } })
}
