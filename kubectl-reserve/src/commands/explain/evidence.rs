//! Reads events: about the pods that are explained, about their unbound claims, and of schedulers that may not run.

use super::subject::Subject;
use crate::cluster_data::{ClusterData, Resource, events};
use crate::connect::Session;
use crate::error::Failure;
use common::cluster::Enforcement;
use common::model::{Pod, PodKey};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The maximum number of pods, and of claims, whose events are read.
const PODS_MAX: usize = 20;

/// Reads the events into `data.diagnostics`.
pub(super) async fn read(
    session: &Session,
    data: &mut ClusterData,
    subject: &Subject,
) -> Result<(), Failure> {
    let pods = subject_pods(data, subject);
    for key in one_pod_per_owner(&pods) {
        let selector = format!("involvedObject.kind=Pod,involvedObject.name={}", key.name);
        events(session, data, Some(&key.namespace), &selector).await?;
    }
    for (namespace, claim) in claims(&pods, data) {
        let selector = format!("involvedObject.kind=PersistentVolumeClaim,involvedObject.name={claim}");
        events(session, data, Some(&namespace), &selector).await?;
    }
    for name in silent_schedulers(&pods, data) {
        let selector = format!("source={name}");
        let can_read = events(session, data, None, &selector).await?
            || events(session, data, Some(&session.namespace), &selector).await?;
        if !can_read && !data.unreadable.contains(&Resource::Events) {
            data.unreadable.push(Resource::Events);
        }
    }
    Ok(())
}

fn subject_pods(data: &ClusterData, subject: &Subject) -> Vec<Arc<Pod>> {
    if subject.pending.is_some() {
        let is_asked = |pod: &&Arc<Pod>| pod.is_waiting() && subject.selects(&pod.key);
        return data.cluster.pods().filter(is_asked).cloned().collect();
    }
    let workloads = subject.workloads.iter().flat_map(|(_, pods)| pods);
    subject.pods.iter().chain(workloads).filter_map(|key| data.cluster.pod(key)).cloned().collect()
}

/// The first pod of each controller, and all pods without one.
fn one_pod_per_owner(pods: &[Arc<Pod>]) -> Vec<PodKey> {
    let mut known = BTreeSet::new();
    let mut sorted: Vec<&Arc<Pod>> = pods.iter().collect();
    sorted.sort_by(|one, other| one.key.cmp(&other.key));
    let is_first = |pod: &&Arc<Pod>| match &pod.controller {
        Some(controller) => known.insert(controller.uid.clone()),
        None => true,
    };
    sorted.into_iter().filter(is_first).map(|pod| pod.key.clone()).take(PODS_MAX).collect()
}

/// The claims of waiting pods that are not bound to a volume.
fn claims(pods: &[Arc<Pod>], data: &ClusterData) -> Vec<(String, String)> {
    let claims = &data.cluster.catalog().claims;
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

/// The schedulers of waiting pods without a message, except the daemon: their events show whether they run.
fn silent_schedulers(pods: &[Arc<Pod>], data: &ClusterData) -> BTreeSet<String> {
    let has_message =
        |pod: &Pod| pod.unscheduled().is_some_and(|unscheduled| !unscheduled.message.is_empty());
    let waiting = pods.iter().filter(|pod| pod.is_waiting() && !has_message(pod));
    let names = waiting.map(|pod| pod.spec.scheduler_name.to_string());
    names.filter(|name| data.enforcement(name) != Enforcement::Scheduler).collect()
}
