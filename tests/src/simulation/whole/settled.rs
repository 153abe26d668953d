//! I16: when all is calm it has settled. Somebody leads, who waits was told why, and nobody writes without end.

use super::door::NAMESPACE;
use crate::control_plane::Write;
use crate::history::{Counts, History, Rules, What};
use common::model::{Pod, Uid};
use jiff::SignedDuration;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The Lease of the leader, and how long it is good.
const LEADER: &str = "reserve-daemon";
const GOOD_FOR: SignedDuration = SignedDuration::from_secs(15);
/// A pod that came so short a time before the end may yet be looked at.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);
/// So many writes to nodes and pods in the last minute are no rest: places that are kept for long are renewed every few
/// minutes, and pods that wait are told so again when that changes.
const WRITES_MAX: usize = 30;

/// What has not settled at the end of a history.
pub(super) fn unsettled(history: &History, rules: &Rules, counts: &mut Counts) -> Vec<String> {
    let mut wrong = Vec::new();
    let is_late = |write: &&Write| history.end.duration_since(write.at) <= PATIENCE;
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
        rules.daemons.contains(&write.user) && matches!(about, Some("nodes" | "pods"))
    };
    counts.check("I16");
    let count = late.iter().filter(|write| is_of_daemon(write)).count();
    if count > WRITES_MAX {
        wrong.push(format!("I16: {count} writes of daemons in the last minute"));
    }
    for pod in waiting(history, rules) {
        counts.check("I16");
        if pod.unscheduled().is_none() {
            wrong.push(format!("I16: {} waits and was not told why", pod.key));
        }
    }
    wrong
}

/// The pods of ours that have waited for some time.
fn waiting(history: &History, rules: &Rules) -> Vec<Arc<Pod>> {
    let mut pods: BTreeMap<&Uid, &Arc<Pod>> = BTreeMap::new();
    for version in &history.versions {
        match &version.what {
            What::Pod(pod) => drop(pods.insert(&pod.uid, pod)),
            What::PodGone(pod) => drop(pods.remove(&pod.uid)),
            What::Node(..) | What::NodeGone(_) => {}
        }
    }
    let is_old =
        |pod: &Pod| pod.created.is_some_and(|created| history.end.duration_since(created.time()) > PATIENCE);
    let is_ours = |pod: &Pod| rules.schedulers.contains(&*pod.spec.scheduler_name);
    let mine = pods.into_values().filter(|pod| pod.is_waiting() && is_ours(pod) && is_old(pod));
    mine.map(Arc::clone).collect()
}
