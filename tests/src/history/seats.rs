//! I3 and I5: a seat is taken once, by one pod, when it is empty. I8: what we bind, and how.

use super::cluster_state::ClusterState;
use super::replay::{Replay, StoredWrite};
use super::{CheckSettings, Counts, History, Violation, requested_uid, room};
use common::model::{Node, NodeName, Pod, Uid};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The annotation of a binding with the seat that the pod takes, as a JSON pointer.
const STAMP: &str = "/metadata/annotations/reserve~1seat";

/// Checks a pod that we have just bound; `before` is its version before.
pub(super) fn check<'h>(
    replay: &mut Replay<'h>,
    revision: u64,
    (before, pod): (Option<&Pod>, &Pod),
    stored: StoredWrite<'h>,
) {
    let is_known = |name: &NodeName| replay.state.nodes.contains_key(name);
    let is_excused = pod.node.as_ref().is_some_and(|name| {
        let had = |then: &ClusterState, _| then.nodes.contains_key(name);
        !is_known(name) && replay.was_right(stored, (name, revision), had)
    });
    // The stamp of the binding counts. A user can also create a pod with the annotation, which means nothing.
    let stamp = stored.write.request_object.as_ref().and_then(|binding| binding.pointer(STAMP)?.as_str());
    let ask = if stamp.is_some() { Counts::check } else { Counts::skip };
    ["I3", "I5"].into_iter().for_each(|rule| ask(&mut replay.counts, rule));
    let said = Pod { stamp: stamp.map(Into::into), ..pod.clone() };
    let wrong = wrong(&replay.state, &replay.settings.schedulers, (before, &said), is_excused);
    let found = wrong.into_iter().map(|(rule, what)| Violation::new(rule, revision, what));
    replay.violations.extend(found);
}

/// What is wrong with a bind of ours, given the versions of the pod before and after it: the rule, and a message. `is_excused`: the
/// node is gone, and the daemon need not have known that.
pub fn wrong(
    state: &ClusterState,
    schedulers: &BTreeSet<String>,
    (before, pod): (Option<&Pod>, &Pod),
    is_excused: bool,
) -> Vec<(&'static str, String)> {
    let mut wrong = Vec::new();
    let key = &pod.key;
    if !schedulers.contains(&*pod.spec.scheduler_name) {
        wrong.push(("I8", format!("{key} is for {}", pod.spec.scheduler_name)));
    }
    if before.is_some_and(|before| before.deleting || !before.spec.gates.is_empty()) {
        wrong.push(("I8", format!("{key} was deleted or gated, and bound all the same")));
    }
    let node = pod.node.as_ref().and_then(|name| state.nodes.get(name));
    if node.is_none() && !is_excused {
        wrong.push(("I8", format!("{key} was bound to {:?}, which is no node", pod.node)));
    }
    if let (Some(node), Some(stamp)) = (node, pod.stamp.as_deref()) {
        wrong.extend(wrong_seat(state, node, pod, stamp));
    }
    wrong
}

/// What is wrong with the seat that the pod took.
fn wrong_seat(state: &ClusterState, node: &Node, pod: &Pod, stamp: &str) -> Vec<(&'static str, String)> {
    let (key, mut wrong) = (&pod.key, Vec::new());
    let all: Vec<_> = state.counted(&node.name).collect();
    let valid = node.reservations.iter().filter_map(|one| one.valid());
    let seat = valid.into_iter().find(|one| one.id.to_string() == stamp);
    // A stamp means nothing on a pod that may not use the seat.
    let may = |other: &Pod| seat.is_none_or(|seat| state.may_use(other, seat));
    let same =
        |other: &&&Arc<Pod>| other.uid != pod.uid && other.stamp.as_deref() == Some(stamp) && may(other);
    if let Some(other) = all.iter().find(same) {
        wrong.push(("I5", format!("{key} took seat {stamp}, which {} has", other.key)));
    }
    if seat.is_some_and(|seat| room::is_occupied(&all, seat)) {
        wrong.push(("I3", format!("{key} took seat {stamp}, where the replaced pod still sits")));
    }
    if seat.is_some_and(|seat| !state.may_use(pod, seat)) {
        wrong.push(("I5", format!("{key} took seat {stamp} of another owner")));
    }
    wrong
}

/// I8, from the requests alone: each binding has a UID, and no pod is bound twice.
pub(super) fn binds(history: &History, settings: &CheckSettings, counts: &mut Counts) -> Vec<Violation> {
    let ours = history.writes.iter().filter(|write| write.resource == "pods/binding");
    let mut bound: BTreeSet<Uid> = BTreeSet::new();
    let mut violations = Vec::new();
    for write in ours.filter(|write| settings.daemons.contains(&write.user)) {
        let name = format!("{}/{}", write.namespace, write.name);
        counts.check("I8");
        match requested_uid(write) {
            None => violations.push(Violation::new("I8", 0, format!("{name} was bound without its UID"))),
            Some(uid) if write.is_stored() && !bound.insert(uid.clone()) => {
                violations.push(Violation::new("I8", 0, format!("{name} was bound twice")));
            }
            Some(_) => {}
        }
    }
    violations
}
