//! What else is said about the pods in question: events, and whether their schedulers say anything at all.

use super::subject::Subject;
use crate::connect::Session;
use crate::error::Failure;
use crate::world::{Resource, World, events};
use common::cluster::Enforcement;
use common::model::{Pod, PodKey};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Pods about which events are read one by one; of more, one speaks for its owner.
const PODS_MAX: usize = 20;

/// Reads it into the world's notes.
pub(super) async fn read(session: &Session, world: &mut World, subject: &Subject) -> Result<(), Failure> {
    let pods = subject_pods(world, subject);
    for key in speakers(&pods) {
        let selector = format!("involvedObject.kind=Pod,involvedObject.name={}", key.name);
        events(session, world, Some(&key.namespace), &selector).await?;
    }
    for (namespace, claim) in claims(&pods, world) {
        let selector = format!("involvedObject.kind=PersistentVolumeClaim,involvedObject.name={claim}");
        events(session, world, Some(&namespace), &selector).await?;
    }
    for name in unheard(&pods, world) {
        let selector = format!("source={name}");
        let is_heard = events(session, world, None, &selector).await?
            || events(session, world, Some(&session.namespace), &selector).await?;
        if !is_heard && !world.unreadable.contains(&Resource::Events) {
            world.unreadable.push(Resource::Events);
        }
    }
    Ok(())
}

fn subject_pods(world: &World, subject: &Subject) -> Vec<Arc<Pod>> {
    if subject.everything.is_some() {
        let is_asked = |pod: &&Arc<Pod>| pod.is_waiting() && subject.is_asked(&pod.key);
        return world.cluster.pods().filter(is_asked).cloned().collect();
    }
    let workloads = subject.workloads.iter().flat_map(|(_, pods)| pods);
    subject.pods.iter().chain(workloads).filter_map(|key| world.cluster.pod(key)).cloned().collect()
}

/// One pod of each owner, and pods without one.
fn speakers(pods: &[Arc<Pod>]) -> Vec<PodKey> {
    let mut known = BTreeSet::new();
    let mut sorted: Vec<&Arc<Pod>> = pods.iter().collect();
    sorted.sort_by(|one, other| one.key.cmp(&other.key));
    let is_first = |pod: &&Arc<Pod>| match &pod.controller {
        Some(controller) => known.insert(controller.uid.clone()),
        None => true,
    };
    sorted.into_iter().filter(is_first).map(|pod| pod.key.clone()).take(PODS_MAX).collect()
}

/// Claims that have no volume.
fn claims(pods: &[Arc<Pod>], world: &World) -> Vec<(String, String)> {
    let claims = &world.cluster.catalog().claims;
    let mut found = BTreeSet::new();
    for pod in pods.iter().filter(|pod| pod.is_waiting()) {
        let names = pod.spec.volumes.iter().filter_map(|volume| volume.claim_name(&pod.key.name));
        for name in names {
            if claims.get(&pod.key.namespace, &name).is_some_and(|claim| !claim.is_bound()) {
                found.insert((pod.key.namespace.to_string(), name.into_owned()));
            }
        }
    }
    found.into_iter().take(PODS_MAX).collect()
}

/// Schedulers that said nothing to a waiting pod, and of which nothing else is known.
fn unheard(pods: &[Arc<Pod>], world: &World) -> BTreeSet<String> {
    let is_told = |pod: &Pod| pod.unscheduled().is_some_and(|told| !told.message.is_empty());
    let waiting = pods.iter().filter(|pod| pod.is_waiting() && !is_told(pod));
    let names = waiting.map(|pod| pod.spec.scheduler_name.to_string());
    names.filter(|name| world.enforcement(name) != Enforcement::Scheduler).collect()
}
