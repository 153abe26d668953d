//! The promise: a recreated pod does not lose its place, in a full cluster where others wait for it.
//!
//! Each round is a node of its own with a workload that fills it; a crowd of Pending pods could take any of these nodes,
//! and more come all the time. All rounds go side by side: the pods are recreated in five ways at once. The same rounds
//! without `reserve/keep` must lose most of their places, else this would prove nothing.
//!
//! `RESERVE_ROUNDS=100 cargo test --test promise` (or `make promise`) for more rounds of each.

use anyhow::{Context as _, Result, anyhow, ensure};
use common::api::names;
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, EvictParams};
use reserve_tests::control_plane::{
    Cluster, ControlPlane, Workload, WorkloadShape, bare_pod, deployment, describe, is_running, name_of,
    node, node_of, stateful_set,
};
use reserve_tests::programs::Daemon;
use reserve_tests::shared_cluster::KEEP;
use serde_json::{Value, json};
use std::time::Duration;

const ROUNDS: usize = 10;
/// So many rounds of each way are in one namespace.
const BATCH: usize = 10;
/// How long pods stay terminating.
const GRACE: Duration = Duration::from_secs(2);
/// How often somebody else comes.
const PACE: Duration = Duration::from_millis(50);
const LABEL: &str = "test.reserve/round";
const CROWD: &str = "test.reserve/crowd";

/// A way to recreate a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Delete,
    Evict,
    Restart,
    RollStatefulSet,
    LocalVolume,
}

const WAYS: [Way; 5] = [Way::Delete, Way::Evict, Way::Restart, Way::RollStatefulSet, Way::LocalVolume];

/// One node, and the workload that fills it.
struct Round {
    way: Way,
    node: String,
    workload: Workload,
    old: Pod,
}

#[expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]
fn rounds() -> usize {
    std::env::var("RESERVE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS)
}

/// All rounds take this long at most to settle.
fn patience() -> Duration {
    Duration::from_secs(150) + Duration::from_secs(2) * u32::try_from(rounds()).unwrap_or(100)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recreated_pod_does_not_lose_its_place() -> Result<()> {
    let cluster = ControlPlane::start("promise_kept").await?;
    let _daemon = Daemon::start(&cluster, names::SCHEDULER_NAME).await?;
    let rounds = set_up(&cluster, "kept").await?;
    let all_back = async {
        recreate_all(&cluster, &rounds).await?;
        cluster
            .wait_until("every replacement runs in its place", patience(), async || {
                let returned = try_join_all(rounds.iter().map(|round| replacement(&cluster, round))).await?;
                let lost: Vec<String> = returned.iter().zip(&rounds).filter_map(missing).collect();
                ensure!(
                    lost.is_empty(),
                    "{} of {} are not back:\n{}",
                    lost.len(),
                    rounds.len(),
                    lost.join("\n")
                );
                Ok(())
            })
            .await
    };
    in_a_stream_of_newcomers(&cluster, "kept", all_back).await?;
    println!("with reserve/keep: {} of {} replacements are back in their places", rounds.len(), rounds.len());
    let crowd = cluster.pods_in("kept", CROWD).await?;
    ensure!(!crowd.iter().any(is_running), "somebody took a place: {}", describe(&crowd));
    cluster
        .wait_until("nothing is reserved any more", patience(), async || {
            let listed = cluster.run_kubectl(&["get", "nodes", "-o", "json"]).await?;
            ensure!(!listed.contains(names::INFO), "something is left");
            Ok(())
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_reservation_most_places_are_lost() -> Result<()> {
    let cluster = ControlPlane::start("promise_off").await?;
    let _daemon = Daemon::start(&cluster, names::SCHEDULER_NAME).await?;
    let rounds = set_up(&cluster, "off").await?;
    let all_taken = async {
        recreate_all(&cluster, &rounds).await?;
        cluster
            .wait_until("every place has somebody again", patience(), async || {
                let crowd = cluster.pods_in("off", CROWD).await?;
                let taken = crowd.iter().filter(|pod| is_running(pod)).count();
                let returned = try_join_all(rounds.iter().map(|round| replacement(&cluster, round))).await?;
                let back = returned.iter().flatten().filter(|pod| is_running(pod)).count();
                ensure!(taken + back == rounds.len(), "{taken} taken, {back} back of {}", rounds.len());
                Ok(taken)
            })
            .await
    };
    let lost = in_a_stream_of_newcomers(&cluster, "off", all_taken).await?;
    println!("without it: {lost} of {} places are lost", rounds.len());
    ensure!(2 * lost > rounds.len(), "only {lost} of {} places were lost", rounds.len());
    Ok(())
}

/// A cluster that is full, and the crowd that waits.
async fn set_up(cluster: &Cluster, name: &str) -> Result<Vec<Round>> {
    cluster.add_namespace(name).await?;
    let mut all = Vec::new();
    for batch in (0..rounds()).collect::<Vec<_>>().chunks(BATCH) {
        cluster.add_namespace(&namespace_of(name, batch[0])).await?;
        let some = batch.iter().flat_map(|number| WAYS.map(|way| set_up_round(cluster, name, way, *number)));
        all.extend(try_join_all(some).await?);
    }
    let crowd = rival(deployment("crowd"), name).replicas(u32::try_from(all.len())?);
    let crowd = cluster.deploy(crowd).await?;
    cluster
        .wait_until("the crowd waits", patience(), async || {
            let pods = cluster.pods_in(name, &crowd.selector).await?;
            let told =
                pods.iter().filter(|pod| reserve_tests::control_plane::unscheduled(pod).is_some()).count();
            ensure!(told == all.len(), "{told} of {}", all.len());
            Ok(())
        })
        .await?;
    Ok(all)
}

/// The namespace of a round: a single one may have a hundred automatic reservations at a time.
fn namespace_of(name: &str, number: usize) -> String {
    format!("{name}-{}", number / BATCH)
}

/// Somebody who would fit any of the places.
fn rival(shape: WorkloadShape, name: &str) -> WorkloadShape {
    let shape = shape.cpu("3").namespace(name).pod_label(CROWD, name).scheduler(names::SCHEDULER_NAME);
    shape.pod_field("nodeSelector", json!({CROWD: name}))
}

/// Those who have waited for long try seldom. So do what is to be done while others come all the time, who try at once.
async fn in_a_stream_of_newcomers<T>(
    cluster: &Cluster,
    name: &str,
    meanwhile: impl Future<Output = Result<T>>,
) -> Result<T> {
    let stream = async {
        for number in 0.. {
            cluster.deploy(rival(bare_pod(&format!("newcomer-{number}")), name)).await?;
            tokio::time::sleep(PACE).await;
        }
        Ok(())
    };
    tokio::select! {
        biased;
        done = meanwhile => done,
        failed = stream => failed.and(Err(anyhow!("nobody comes any more"))),
    }
}

async fn set_up_round(cluster: &Cluster, crowd: &str, way: Way, number: usize) -> Result<Round> {
    let name = format!("{way:?}-{number}").to_lowercase();
    let namespace = namespace_of(crowd, number);
    let shape = node(&name).cpu("4").label(LABEL, &name).label(CROWD, crowd);
    cluster.add_node(shape).await?;
    if way == Way::LocalVolume {
        cluster.apply(&local_volume(&namespace, &name).to_string()).await?;
    }
    let shape = workload(way, &name).namespace(&namespace).cpu("3").terminate_after(GRACE);
    let shape = shape.scheduler(names::SCHEDULER_NAME).pod_field("nodeSelector", json!({LABEL: name}));
    let shape = if crowd == "kept" { shape.annotation(KEEP, "true") } else { shape };
    let workload = cluster.deploy(shape).await?;
    let pods = cluster.wait_until_running_in(&namespace, &workload.selector, 1).await?;
    let old = pods.into_iter().next().context("no pod")?;
    Ok(Round { way, node: name, workload, old })
}

fn workload(way: Way, name: &str) -> WorkloadShape {
    match way {
        Way::Delete | Way::Evict => deployment(name),
        // Without room for one more, a rollout has to take the old one away first.
        Way::Restart => deployment(name).field(
            "strategy",
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
        ),
        Way::RollStatefulSet => stateful_set(name),
        Way::LocalVolume => stateful_set(name)
            .pod_field("volumes", json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}])),
    }
}

/// A volume on the disk of one node, and the claim that has it.
fn local_volume(namespace: &str, name: &str) -> Value {
    let affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [name]}]}]}});
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                 "persistentVolumeReclaimPolicy": "Retain", "local": {"path": "/data"}, "nodeAffinity": affinity,
                 "claimRef": {"namespace": namespace, "name": name}}});
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"storageClassName": "local", "accessModes": ["ReadWriteOnce"], "volumeName": name,
                 "resources": {"requests": {"storage": "1Gi"}}}});
    json!({"apiVersion": "v1", "kind": "List", "items": [volume, claim]})
}

async fn recreate_all(cluster: &Cluster, rounds: &[Round]) -> Result<()> {
    for batch in rounds.chunks(BATCH) {
        try_join_all(batch.iter().map(|round| recreate(cluster, round))).await?;
    }
    Ok(())
}

async fn recreate(cluster: &Cluster, round: &Round) -> Result<()> {
    let namespace = round.workload.namespace.as_str();
    let pods: Api<Pod> = Api::namespaced(cluster.admin(), namespace);
    let restart = async |kind: &str| {
        let name = format!("{kind}/{}", round.workload.name);
        cluster.run_kubectl(&["rollout", "restart", &name, "-n", namespace]).await.map(drop)
    };
    match round.way {
        Way::Delete | Way::LocalVolume => {
            pods.delete(name_of(&round.old), &Default::default()).await.map(drop).context("delete")
        }
        Way::Evict => {
            pods.evict(name_of(&round.old), &EvictParams::default()).await.map(drop).context("evict")
        }
        Way::Restart => restart("deployment").await,
        Way::RollStatefulSet => restart("statefulset").await,
    }
}

/// The pod that replaces the old one, if there is one.
async fn replacement(cluster: &Cluster, round: &Round) -> Result<Option<Pod>> {
    let pods = cluster.pods_in(&round.workload.namespace, &round.workload.selector).await?;
    Ok(pods.into_iter().find(|pod| pod.metadata.uid != round.old.metadata.uid))
}

/// What is wrong with a replacement.
fn missing((pod, round): (&Option<Pod>, &Round)) -> Option<String> {
    match pod {
        Some(pod) if is_running(pod) && node_of(pod) == round.node => None,
        Some(pod) => Some(format!("{:?}: {}", round.way, describe(std::slice::from_ref(pod)))),
        None => Some(format!("{:?}: {} has no pod", round.way, round.workload.name)),
    }
}
