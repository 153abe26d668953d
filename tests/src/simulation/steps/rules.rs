//! Checks the rules at each write. The rules about a state are those of `crate::history`; this module remembers who knew what when.

use super::api::Actor;
use super::evictions::{Removal, ReservationRevisions};
use super::knowledge::{Truth, remove_harmless};
use crate::history::knowledge::{remove_reservation, valid_reservations};
use crate::history::{Counts, expiry, releases, room, seats};
use common::api::names;
use common::model::{Node, NodeName, Pod, Reservation, Uid, Workload};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The rules that this tier checks. A run of many seeds must check each of them.
pub(in crate::simulation) const RULES: [&str; 16] = [
    "I1",
    "I2",
    "I3",
    "I4",
    "I5",
    "I6",
    "I7",
    "I8",
    "I10",
    "I11",
    "I16",
    "I19",
    "I20",
    "I22",
    "I24",
    NO_PLACE_LOST,
];
/// The rule without a number: no recreated pod loses its place.
pub(super) const NO_PLACE_LOST: &str = "the promise";

/// The largest difference between clocks.
const CLOCK: SignedDuration = SignedDuration::from_secs(2);

/// The revisions up to which a daemon has seen nodes, pods and workloads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeenRevisions {
    pub(super) nodes: u64,
    pub(super) pods: u64,
    pub(super) owners: u64,
}

/// A decision of a daemon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision {
    pub(super) seen: SeenRevisions,
    /// Its number among all decisions.
    pub(super) turn: usize,
    pub(super) at: Timestamp,
}

/// A pod that was bound.
pub(super) struct BoundPod {
    pub(super) by: Actor,
    /// The revision of the bind.
    pub(super) at: u64,
    pub(super) pod: Arc<Pod>,
}

/// What has to be remembered to check the rules.
#[derive(Default)]
pub(super) struct RuleChecker {
    /// The first violation.
    pub(super) broken: Option<String>,
    pub(super) schedulers: BTreeSet<String>,
    /// Whether there is an election, so that only one daemon decides at a time.
    pub(super) is_elected: bool,
    /// The pods of the sender's other binds that have not arrived yet.
    pub(super) pending_binds: Vec<Pod>,
    pub(super) bound: BTreeMap<Uid, BoundPod>,
    /// Seats that were taken.
    taken_seats: BTreeSet<String>,
    /// The last decision of each daemon on each pod and each reservation.
    pub(super) decisions: BTreeMap<(Actor, String), Decision>,
    /// The number of all decisions so far.
    pub(super) decision_count: usize,
    /// The owner of a kind that the daemons do not watch.
    pub(super) foreign_owner: Option<Workload>,
    /// The number of all decisions when each daemon read that owner.
    pub(super) owner_reads: BTreeMap<Actor, usize>,
    /// The daemons that wrote each reservation, also of removed ones.
    pub(super) writers: BTreeMap<(NodeName, String), BTreeSet<usize>>,
    /// The number of all decisions when a daemon learned from an answer that its bind of a pod has failed.
    failed_binds: BTreeMap<(Actor, Uid), usize>,
    /// When each pod that is gone or has ended left its room.
    pub(super) room_empty_since: BTreeMap<Uid, Timestamp>,
    /// Pods that the command evicted, and the run that did it.
    pub(super) evicted: BTreeMap<Uid, Actor>,
    /// The reservations on nodes, by node and id.
    pub(super) reservations: BTreeMap<(NodeName, String), ReservationRevisions>,
    /// The last removal of a reservation, by the replaced pod.
    pub(super) removals: BTreeMap<Uid, Removal>,
    /// The revision at which `reserve/keep` of a pod was removed.
    pub(super) keep_removals: BTreeMap<Uid, u64>,
    /// How often each rule was checked.
    pub(super) counts: Counts,
}

impl RuleChecker {
    pub(super) fn break_(&mut self, rule: &str, what: &str) {
        self.broken.get_or_insert_with(|| format!("{rule}: {what}"));
    }

    /// A daemon has decided on a pod or a reservation.
    pub(super) fn record_decision(&mut self, who: Actor, on: String, seen: SeenRevisions, at: Timestamp) {
        self.decision_count += 1;
        self.decisions.insert((who, on), Decision { seen, turn: self.decision_count, at });
    }

    /// A daemon has learned from an answer that its bind of a pod has failed.
    pub(super) fn record_failed_bind(&mut self, who: Actor, pod: Uid) {
        self.failed_binds.insert((who, pod), self.decision_count);
    }

    /// Whether a daemon had learned from an answer, before decision number `turn`, that its bind of a pod has failed.
    pub(super) fn knew_failed_bind(&self, who: Actor, pod: &Uid, turn: usize) -> bool {
        self.failed_binds.get(&(who, pod.clone())).is_some_and(|at| turn > *at)
    }

    /// Checks a bind: I1, I3, I5, I8, I13, I23.
    pub(super) fn check_bind(
        &mut self,
        truth: Truth<'_>,
        who: Actor,
        (before, pod): (&Pod, &Pod),
        revision: u64,
    ) {
        let stored = truth.state.pods.get(&pod.uid).map_or_else(|| Arc::new(pod.clone()), Arc::clone);
        if self.bound.insert(pod.uid.clone(), BoundPod { by: who, at: revision, pod: stored }).is_some() {
            self.break_("I8", &format!("{} was bound twice", pod.key));
        }
        let (Some(node), Actor::Daemon(..)) = (&pod.node, who) else { return };
        let is_gone = !truth.state.nodes.contains_key(node);
        self.counts.check("I8");
        let ask = if is_gone { Counts::skip } else { Counts::check };
        ask(&mut self.counts, "I1");
        let ask = if pod.stamp.is_some() { Counts::check } else { Counts::skip };
        ["I3", "I5"].into_iter().for_each(|rule| ask(&mut self.counts, rule));
        self.taken_seats.extend(pod.stamp.as_ref().map(ToString::to_string));
        let wrong = seats::wrong(truth.state, &self.schedulers, (Some(before), pod), is_gone);
        let lacking = room::lacking(&self.with_own_decisions(truth.state, who, pod), pod, truth.now);
        if !wrong.is_empty() || !lacking.is_empty() {
            self.excuse_or_report_bind(truth, who, (before, pod), (wrong, lacking));
        }
    }

    /// Excuses a wrong bind if it was right on the state that the daemon knew when it decided, else reports it.
    fn excuse_or_report_bind(
        &mut self,
        truth: Truth<'_>,
        who: Actor,
        (before, pod): (&Pod, &Pod),
        (wrong, lacking): (Vec<(&'static str, String)>, Vec<String>),
    ) {
        let seen = self.decisions.get(&(who, pod.uid.to_string())).map_or(0, |decision| decision.seen.nodes);
        let then = self.known_state(truth, who, &pod.uid.to_string()).map(|mut then| {
            then.state.pods.insert(pod.uid.clone(), Arc::new(pod.clone()));
            remove_harmless(&mut then, truth.logs, pod, seen);
            then
        });
        for (rule, what) in wrong {
            // Two daemons that do not know of each other can give one seat to two pods. And a daemon that has not seen a bind
            // cannot know that the pod is in the seat.
            let can_be_unknown = rule == "I3" || rule == "I5" && what.contains("which");
            let is_right = then.as_ref().is_some_and(|then| {
                let wrong = seats::wrong(&then.state, &self.schedulers, (Some(before), pod), false);
                !wrong.iter().any(|(other, _)| *other == rule)
            });
            if can_be_unknown && is_right {
                self.counts.excuse(rule);
            } else {
                self.break_(rule, &what);
            }
        }
        let Some(what) = lacking.first() else { return };
        let lacked = then.map(|then| room::lacking(&then.state, pod, then.at));
        match lacked {
            Some(lacked) if lacked.is_empty() => self.counts.excuse("I1"),
            Some(lacked) => {
                let known = lacked.first().map_or("", String::as_str);
                self.break_("I1", &format!("{what}; as the daemon knew it: {known}"));
            }
            None => self.break_("I1", &format!("{what}; and nobody decided that")),
        }
    }

    /// Whether a pod was bound with this seat.
    pub(super) fn is_taken_seat(&self, seat: &str) -> bool {
        self.taken_seats.contains(seat)
    }

    /// I8: a daemon writes the condition of an unschedulable pod to a pod that has a node.
    pub(super) fn check_status_after_bind(&mut self, who: Actor, pod: &Pod) {
        if self.bound.get(&pod.uid).is_some_and(|one| one.by == who) {
            self.break_("I8", &format!("{who:?} bound {} and then told it that it has no place", pod.key));
        }
    }

    /// I6 and I11: a write of our programs changes only the keys of one reservation.
    pub(super) fn check_annotations(
        &mut self,
        who: Actor,
        node: &NodeName,
        before: &BTreeMap<String, String>,
        after: &BTreeMap<String, String>,
    ) {
        if who == Actor::Other {
            return;
        }
        ["I6", "I11"].into_iter().for_each(|rule| self.counts.check(rule));
        let keys = before.keys().chain(after.keys()).filter(|key| before.get(*key) != after.get(*key));
        let mut ids = BTreeSet::new();
        for key in keys {
            match key.split_once('/').filter(|_| key.starts_with(names::NODE_PREFIX)) {
                Some((_, id)) => drop(ids.insert(id)),
                None => return self.break_("I11", &format!("{who:?} wrote {key} on {node}")),
            }
        }
        if ids.len() > 1 {
            self.break_("I6", &format!("{who:?} wrote {ids:?} on {node} at once"));
        }
    }

    /// Checks a write to a node: I3, I7.
    pub(super) fn check_node(
        &mut self,
        truth: Truth<'_>,
        who: Actor,
        (before, node): (Option<&Node>, &Node),
        revision: u64,
    ) {
        let old = before.filter(|before| before.uid == node.uid);
        let was: Vec<&Arc<Reservation>> = old.into_iter().flat_map(valid_reservations).collect();
        let is: Vec<&Arc<Reservation>> = valid_reservations(node).collect();
        for gone in was.iter().filter(|one| !is.iter().any(|other| other.id == one.id)) {
            let key = (node.name.clone(), gone.id.to_string());
            let since = self.reservations.remove(&key);
            if let Some(replaced) = gone.replaces() {
                let owned = since.map_or(0, |since| since.owned);
                let is_over = !gone.is_live(truth.now + CLOCK);
                self.removals.insert(replaced.uid.clone(), Removal { at: revision, by: who, owned, is_over });
            }
            self.check_release(truth, who, &node.name, gone);
        }
        let request = |one: &Reservation| one.record().map(|record| record.request.clone());
        for one in &is {
            let key = (node.name.clone(), one.id.to_string());
            if let Actor::Daemon(index, _) = who
                && !was.contains(one)
            {
                self.writers.entry(key.clone()).or_default().insert(index);
            }
            let since = self
                .reservations
                .entry(key)
                .or_insert(ReservationRevisions { made: revision, owned: revision });
            if was.iter().any(|old| old.id == one.id && request(old) != request(one)) {
                since.owned = revision;
            }
            if who != Actor::Other && !was.contains(one) {
                self.check_end(who, one, truth.now);
            }
        }
    }

    /// I7: a reservation that our programs write has an end that is not too far ahead.
    fn check_end(&mut self, who: Actor, one: &Reservation, now: Timestamp) {
        let empty = one.replaces().and_then(|replaced| self.room_empty_since.get(&replaced.uid)).copied();
        self.counts.check("I7");
        if let Some(what) = expiry::too_far(one, empty, now) {
            self.break_("I7", &format!("{who:?} wrote that {what}"));
        }
    }

    /// Checks the removal of a reservation: I3, I19.
    fn check_release(&mut self, truth: Truth<'_>, who: Actor, node: &NodeName, gone: &Reservation) {
        if let Actor::Daemon(..) = who {
            self.counts.check("I3");
        }
        let Some(what) = releases::why_needed(truth.state, node, gone, truth.now) else { return };
        let replaced = gone.replaces().map(|replaced| &replaced.uid);
        match who {
            Actor::Daemon(..) if self.was_of_no_use(truth, who, node, gone) => self.counts.excuse("I3"),
            Actor::Daemon(..) => self.break_("I3", &format!("{who:?}: {what}")),
            Actor::Command(_) if replaced.is_some_and(|uid| self.evicted.get(uid) == Some(&who)) => {
                self.break_("I19", &format!("{who:?} took back what it needs: {what}"));
            }
            Actor::Command(_) | Actor::Other => {}
        }
    }

    /// Whether a reservation was of no more use on the state that the daemon knew when it decided to release it. The release of a
    /// reservation that was made or extended since under the same id is not excused.
    fn was_of_no_use(&self, truth: Truth<'_>, who: Actor, node: &NodeName, gone: &Reservation) -> bool {
        let request = gone.record().map_or("", |record| &record.request);
        let on = format!("{node}/{} {request}", gone.id);
        let Some(mut then) = self.known_state(truth, who, &on) else { return false };
        let judged = remove_reservation(&mut then.state, node, &gone.id);
        judged.is_some_and(|judged| *judged == *gone)
            && releases::why_needed(&then.state, node, gone, then.at).is_none()
    }

    pub(super) fn node_gone(&mut self, node: &Node, revision: u64) {
        self.reservations.retain(|(on, _), _| *on != node.name);
        let lost = node.reservations.iter().filter_map(|one| one.valid()?.replaces());
        let removal = Removal { at: revision, by: Actor::Other, owned: 0, is_over: false };
        self.removals.extend(lost.map(|replaced| (replaced.uid.clone(), removal)));
    }

    /// A pod is gone or has ended, so its room is empty.
    pub(super) fn record_pod_gone(&mut self, pod: &Pod, now: Timestamp) {
        self.room_empty_since.entry(pod.uid.clone()).or_insert(now);
    }
}

/// The key in `decisions` of a decision to make or extend a reservation, which differs from that of a release.
pub(super) fn write_key(place: &str, request: &str) -> String {
    format!("made {place} {request}")
}
