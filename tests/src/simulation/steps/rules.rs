//! The rules that no write may break, asked as each write lands. Those about a moment are the history checker's own; here is
//! who knew what when.

use super::api::Who;
use super::evicted::{Removed, Since};
use super::past::{Truth, without_idle};
use crate::history::past::{take_off, valid};
use crate::history::{Counts, expiry, releases, room, seats};
use common::api::names;
use common::model::{Node, NodeName, Pod, Reservation, Uid, Workload};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The rules that are checked here; each has to be checked in a run of many seeds.
pub(in crate::simulation) const RULES: [&str; 16] = [
    "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I10", "I11", "I16", "I19", "I20", "I22", "I24", PROMISE,
];
/// The rule that has no number.
pub(super) const PROMISE: &str = "the promise";

/// How far apart clocks are.
const CLOCK: SignedDuration = SignedDuration::from_secs(2);

/// Up to which revision somebody has seen nodes, pods and workloads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sight {
    pub(super) nodes: u64,
    pub(super) pods: u64,
    pub(super) owners: u64,
}

/// A decision of a daemon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision {
    pub(super) sight: Sight,
    /// The how many-th of all decisions it was.
    pub(super) turn: usize,
    pub(super) at: Timestamp,
}

/// A pod that was bound.
pub(super) struct Bound {
    pub(super) by: Who,
    /// The revision.
    pub(super) at: u64,
    pub(super) pod: Arc<Pod>,
}

/// What has to be remembered to judge.
#[derive(Default)]
pub(super) struct Rules {
    /// The first rule that was broken.
    pub(super) broken: Option<String>,
    pub(super) schedulers: BTreeSet<String>,
    /// Whether one daemon decides at a time.
    pub(super) is_elected: bool,
    /// The pods that the daemon which writes now has sent to nodes besides, and that are still on their way.
    pub(super) under_way: Vec<Pod>,
    pub(super) bound: BTreeMap<Uid, Bound>,
    /// Seats that were taken.
    seated: BTreeSet<String>,
    /// What a daemon knew when it last decided on a pod, or on a reservation.
    pub(super) decided: BTreeMap<(Who, String), Decision>,
    pub(super) decisions: usize,
    /// An owner of a kind that nobody watches, and after how many decisions of all each daemon had read it.
    pub(super) foreign: Option<Workload>,
    pub(super) read: BTreeMap<Who, usize>,
    /// The daemons that wrote each reservation, whether or not it is still there.
    pub(super) writers: BTreeMap<(NodeName, String), BTreeSet<usize>>,
    /// Pods that a daemon bound and was then told are not where it put them, and after how many decisions of all.
    forgotten: BTreeMap<(Who, Uid), usize>,
    /// Since when the room of each pod that is gone, or has ended, is empty.
    pub(super) empty: BTreeMap<Uid, Timestamp>,
    /// Pods that the command evicted, and which run of it.
    pub(super) evicted: BTreeMap<Uid, Who>,
    /// Since which revision each reservation is there, and since which it is whose it is.
    pub(super) since: BTreeMap<(NodeName, String), Since>,
    /// Pods whose reservation was removed, and how.
    pub(super) removed: BTreeMap<Uid, Removed>,
    /// Pods that no longer wish that their room be kept, and since when.
    pub(super) unwished: BTreeMap<Uid, u64>,
    /// How often each rule was asked: one that is never asked shows nothing.
    pub(super) counts: Counts,
}

impl Rules {
    pub(super) fn break_(&mut self, rule: &str, what: &str) {
        self.broken.get_or_insert_with(|| format!("{rule}: {what}"));
    }

    /// A daemon decided on something, knowing this.
    pub(super) fn decided(&mut self, who: Who, on: String, sight: Sight, at: Timestamp) {
        self.decisions += 1;
        self.decided.insert((who, on), Decision { sight, turn: self.decisions, at });
    }

    /// An answer told a daemon that a pod is not where it put it.
    pub(super) fn forgot(&mut self, who: Who, pod: Uid) {
        self.forgotten.insert((who, pod), self.decisions);
    }

    /// Whether a daemon knew by an answer, before a decision, that a pod is not where it put it.
    pub(super) fn has_forgotten(&self, who: Who, pod: &Uid, turn: usize) -> bool {
        self.forgotten.get(&(who, pod.clone())).is_some_and(|at| turn > *at)
    }

    /// I1, I3, I5, I8, I13, I23.
    pub(super) fn bound(&mut self, truth: Truth<'_>, who: Who, (before, pod): (&Pod, &Pod), revision: u64) {
        let stored = truth.picture.pods.get(&pod.uid).map_or_else(|| Arc::new(pod.clone()), Arc::clone);
        if self.bound.insert(pod.uid.clone(), Bound { by: who, at: revision, pod: stored }).is_some() {
            self.break_("I8", &format!("{} was bound twice", pod.key));
        }
        let (Some(node), Who::Daemon(..)) = (&pod.node, who) else { return };
        let is_gone = !truth.picture.nodes.contains_key(node);
        self.counts.check("I8");
        let ask = if is_gone { Counts::skip } else { Counts::check };
        ask(&mut self.counts, "I1");
        let ask = if pod.stamp.is_some() { Counts::check } else { Counts::skip };
        ["I3", "I5"].into_iter().for_each(|rule| ask(&mut self.counts, rule));
        self.seated.extend(pod.stamp.as_ref().map(ToString::to_string));
        let wrong = seats::wrong(truth.picture, &self.schedulers, (Some(before), pod), is_gone);
        let lacking = room::lacking(&self.as_decided(truth.picture, who, pod), pod, truth.now);
        if !wrong.is_empty() || !lacking.is_empty() {
            self.bound_wrongly(truth, who, (before, pod), (wrong, lacking));
        }
    }

    /// What is wrong in truth is excused if it was right by what the daemon knew when it decided.
    fn bound_wrongly(
        &mut self,
        truth: Truth<'_>,
        who: Who,
        (before, pod): (&Pod, &Pod),
        (wrong, lacking): (Vec<(&'static str, String)>, Vec<String>),
    ) {
        let sight = self.decided.get(&(who, pod.uid.to_string())).map_or(0, |decision| decision.sight.nodes);
        let then = self.as_seen(truth, who, &pod.uid.to_string()).map(|mut then| {
            then.picture.pods.insert(pod.uid.clone(), Arc::new(pod.clone()));
            without_idle(&mut then, truth.logs, pod, sight);
            then
        });
        for (rule, what) in wrong {
            // Two that do not know of each other can give one seat to two pods; then one of them has it. And who does not know
            // yet that a pod was bound cannot know that it sits where its seat is.
            let can_be_unknown = rule == "I3" || rule == "I5" && what.contains("which");
            let is_right = then.as_ref().is_some_and(|then| {
                let wrong = seats::wrong(&then.picture, &self.schedulers, (Some(before), pod), false);
                !wrong.iter().any(|(other, _)| *other == rule)
            });
            if can_be_unknown && is_right {
                self.counts.excuse(rule);
            } else {
                self.break_(rule, &what);
            }
        }
        let Some(what) = lacking.first() else { return };
        let lacked = then.map(|then| room::lacking(&then.picture, pod, then.at));
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
    pub(super) fn is_seated(&self, seat: &str) -> bool {
        self.seated.contains(seat)
    }

    /// A pod that has a node was told that it has none.
    pub(super) fn told_bound(&mut self, who: Who, pod: &Pod) {
        if self.bound.get(&pod.uid).is_some_and(|one| one.by == who) {
            self.break_("I8", &format!("{who:?} bound {} and then told it that it has no place", pod.key));
        }
    }

    /// I6 and I11: ours alter only the keys of one reservation.
    pub(super) fn annotated(
        &mut self,
        who: Who,
        node: &NodeName,
        before: &BTreeMap<String, String>,
        after: &BTreeMap<String, String>,
    ) {
        if who == Who::Other {
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

    /// I3, I7: a node was written.
    pub(super) fn node(
        &mut self,
        truth: Truth<'_>,
        who: Who,
        (before, node): (Option<&Node>, &Node),
        revision: u64,
    ) {
        let old = before.filter(|before| before.uid == node.uid);
        let was: Vec<&Arc<Reservation>> = old.into_iter().flat_map(valid).collect();
        let is: Vec<&Arc<Reservation>> = valid(node).collect();
        for gone in was.iter().filter(|one| !is.iter().any(|other| other.id == one.id)) {
            let key = (node.name.clone(), gone.id.to_string());
            let since = self.since.remove(&key);
            if let Some(replaced) = gone.replaces() {
                let owned = since.map_or(0, |since| since.owned);
                let is_over = !gone.is_live(truth.now + CLOCK);
                self.removed.insert(replaced.uid.clone(), Removed { at: revision, by: who, owned, is_over });
            }
            self.released(truth, who, &node.name, gone);
        }
        let request = |one: &Reservation| one.record().map(|record| record.request.clone());
        for one in &is {
            let key = (node.name.clone(), one.id.to_string());
            if let Who::Daemon(index, _) = who
                && !was.contains(one)
            {
                self.writers.entry(key.clone()).or_default().insert(index);
            }
            let since = self.since.entry(key).or_insert(Since { made: revision, owned: revision });
            if was.iter().any(|old| old.id == one.id && request(old) != request(one)) {
                since.owned = revision;
            }
            if who != Who::Other && !was.contains(one) {
                self.ends_in_time(who, one, truth.now);
            }
        }
    }

    /// I7: what ours write ends in time.
    fn ends_in_time(&mut self, who: Who, one: &Reservation, now: Timestamp) {
        let empty = one.replaces().and_then(|replaced| self.empty.get(&replaced.uid)).copied();
        self.counts.check("I7");
        if let Some(what) = expiry::too_far(one, empty, now) {
            self.break_("I7", &format!("{who:?} wrote that {what}"));
        }
    }

    /// I3, I19: a reservation is gone by somebody's write.
    fn released(&mut self, truth: Truth<'_>, who: Who, node: &NodeName, gone: &Reservation) {
        if let Who::Daemon(..) = who {
            self.counts.check("I3");
        }
        let Some(what) = releases::needed(truth.picture, node, gone, truth.now) else { return };
        let replaced = gone.replaces().map(|replaced| &replaced.uid);
        match who {
            Who::Daemon(..) if self.was_of_no_use(truth, who, node, gone) => self.counts.excuse("I3"),
            Who::Daemon(..) => self.break_("I3", &format!("{who:?}: {what}")),
            Who::Command(_) if replaced.is_some_and(|uid| self.evicted.get(uid) == Some(&who)) => {
                self.break_("I19", &format!("{who:?} took back what it needs: {what}"));
            }
            Who::Command(_) | Who::Other => {}
        }
    }

    /// Whether a reservation was of no more use by what the daemon knew when it decided to release it. What was made or
    /// extended since under the same name is not what was decided on, and nothing excuses that.
    fn was_of_no_use(&self, truth: Truth<'_>, who: Who, node: &NodeName, gone: &Reservation) -> bool {
        let request = gone.record().map_or("", |record| &record.request);
        let on = format!("{node}/{} {request}", gone.id);
        let Some(mut then) = self.as_seen(truth, who, &on) else { return false };
        let judged = take_off(&mut then.picture, node, &gone.id);
        judged.is_some_and(|judged| *judged == *gone)
            && releases::needed(&then.picture, node, gone, then.at).is_none()
    }

    pub(super) fn node_gone(&mut self, node: &Node, revision: u64) {
        self.since.retain(|(on, _), _| *on != node.name);
        let lost = node.reservations.iter().filter_map(|one| one.valid()?.replaces());
        let removed = Removed { at: revision, by: Who::Other, owned: 0, is_over: false };
        self.removed.extend(lost.map(|replaced| (replaced.uid.clone(), removed)));
    }

    /// The room of a pod is empty.
    pub(super) fn left(&mut self, pod: &Pod, now: Timestamp) {
        self.empty.entry(pod.uid.clone()).or_insert(now);
    }
}

/// Under what it is remembered that somebody decided to make or extend a reservation, rather than to release it.
pub(super) fn made(place: &str, request: &str) -> String {
    format!("made {place} {request}")
}
