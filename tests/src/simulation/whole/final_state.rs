//! I16: after the faults the cluster has settled: a daemon leads, waiting pods have a condition that says why, and no daemon writes
//! without end.

use super::user_api::NAMESPACE;
use crate::control_plane::Write;
use crate::history::{CheckSettings, Counts, History, VersionedObject};
use common::model::{Pod, Uid};
use jiff::SignedDuration;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the leader's Lease, and how long it is valid.
const LEADER: &str = "reserve-daemon";
const GOOD_FOR: SignedDuration = SignedDuration::from_secs(15);
/// The scheduler may not have looked yet at a pod that was created less than this before the end.
const WAIT_MIN: SignedDuration = SignedDuration::from_secs(60);
/// More writes to nodes and pods in the last minute mean that the daemons have not settled. Some writes are normal: long
/// reservations are extended every few minutes, and the conditions of waiting pods are updated when their reasons change.
const WRITES_MAX: usize = 30;

/// The violations of I16 at the end of a history.
pub(super) fn final_violations(
    history: &History,
    settings: &CheckSettings,
    counts: &mut Counts,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let is_late = |write: &&Write| history.end.duration_since(write.at) <= WAIT_MIN;
    let late: Vec<&Write> =
        history.writes.iter().rev().take_while(is_late).filter(|write| write.is_stored()).collect();
    let is_lead = |write: &&&Write| {
        (&*write.resource, &*write.namespace, &*write.name) == ("leases", NAMESPACE, LEADER)
            && history.end.duration_since(write.at) <= GOOD_FOR
    };
    counts.check("I16");
    if !late.iter().any(|write| is_lead(&write)) {
        wrong.push("I16: nobody leads at the end".to_owned());
    }
    let is_of_daemon = |write: &&&Write| {
        let about = write.resource.split('/').next();
        settings.daemons.contains(&write.user) && matches!(about, Some("nodes" | "pods"))
    };
    counts.check("I16");
    let count = late.iter().filter(|write| is_of_daemon(write)).count();
    if count > WRITES_MAX {
        wrong.push(format!("I16: {count} writes of daemons in the last minute"));
    }
    for pod in waiting_pods(history, settings) {
        counts.check("I16");
        if pod.unscheduled().is_none() {
            wrong.push(format!("I16: {} waits and was not told why", pod.key));
        }
    }
    wrong
}

/// The pods of our scheduler that have waited for some time.
fn waiting_pods(history: &History, settings: &CheckSettings) -> Vec<Arc<Pod>> {
    let mut pods: BTreeMap<&Uid, &Arc<Pod>> = BTreeMap::new();
    for version in &history.versions {
        match &version.object {
            VersionedObject::Pod(pod) => drop(pods.insert(&pod.uid, pod)),
            VersionedObject::PodGone(pod) => drop(pods.remove(&pod.uid)),
            VersionedObject::Node(..) | VersionedObject::NodeGone(_) => {}
        }
    }
    let is_old =
        |pod: &Pod| pod.created.is_some_and(|created| history.end.duration_since(created.time()) > WAIT_MIN);
    let is_ours = |pod: &Pod| settings.schedulers.contains(&*pod.spec.scheduler_name);
    let mine = pods.into_values().filter(|pod| pod.is_waiting() && is_ours(pod) && is_old(pod));
    mine.map(Arc::clone).collect()
}
