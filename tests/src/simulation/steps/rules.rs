//! The rules that no write may break, asked as each write lands. Those about a moment are the history checker's own; here is
//! who knew what when.

use super::api::{Stream, Who};
use super::evicted::{Removed, Since};
use crate::history::picture::Picture;
use crate::history::{releases, room, seats};
use common::api::names;
use common::model::{Node, NodeName, Pod, Reservation, Uid, Workload};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How far apart clocks are.
const CLOCK: SignedDuration = SignedDuration::from_secs(2);

/// Up to which revision somebody has seen nodes, pods and workloads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sight {
    pub(super) nodes: u64,
    pub(super) pods: u64,
    pub(super) owners: u64,
}

/// Something that took room of a node, or changed what it has.
struct Change {
    stream: Stream,
    revision: u64,
    by: Who,
    /// The reservation, if it is one.
    reservation: Option<String>,
}

/// What has to be remembered to judge.
#[derive(Default)]
pub(super) struct Rules {
    /// The first rule that was broken.
    pub(super) broken: Option<String>,
    /// Whether several daemons decide at once, so that room is not one's alone.
    pub(super) is_contended: bool,
    pub(super) schedulers: BTreeSet<String>,
    /// The pods that the daemon which binds one now has bound besides, as far as it knows.
    pub(super) under_way: Vec<Pod>,
    changes: BTreeMap<NodeName, Vec<Change>>,
    /// When each owner, and each pod, last was short of one more than before.
    stirred: BTreeMap<Uid, u64>,
    /// Pods that were bound, and by whom.
    bound_by: BTreeMap<Uid, Who>,
    /// Seats that were taken.
    seated: BTreeSet<String>,
    /// What a daemon knew when it decided on a pod, or on a reservation; and the how many-th decision that was.
    decided: BTreeMap<(Who, String), (Sight, usize)>,
    decisions: usize,
    /// Pods that the command evicted, and which run of it.
    pub(super) evicted: BTreeMap<Uid, Who>,
    /// Reservations whose pod was evicted in the belief that everybody knows of them.
    pub(super) acknowledged: BTreeSet<(NodeName, String)>,
    /// Since which revision each reservation is there, and since which it is whose it is.
    pub(super) since: BTreeMap<(NodeName, String), Since>,
    /// Pods whose reservation was removed, and how.
    pub(super) removed: BTreeMap<Uid, Removed>,
    /// Pods that no longer wish that their room be kept, and since when.
    pub(super) unwished: BTreeMap<Uid, u64>,
    /// How often each thing happened: rules about what never happens prove nothing.
    pub(super) counts: BTreeMap<&'static str, u64>,
}

impl Rules {
    pub(super) fn break_(&mut self, rule: &str, what: &str) {
        self.broken.get_or_insert_with(|| format!("{rule}: {what}"));
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// A daemon decided on something, knowing this.
    pub(super) fn decided(&mut self, who: Who, on: String, sight: Sight) {
        self.decisions += 1;
        self.decided.insert((who, on), (sight, self.decisions));
    }

    /// I1, I3, I5, I8, I13, I23.
    pub(super) fn bound(
        &mut self,
        picture: &Picture,
        who: Who,
        (before, pod): (&Pod, &Pod),
        revision: u64,
        now: Timestamp,
    ) {
        if self.bound_by.insert(pod.uid.clone(), who).is_some() {
            self.break_("I8", &format!("{} was bound twice", pod.key));
        }
        let Some(node) = pod.node.clone() else { return };
        if let Who::Daemon(..) = who {
            self.count("bound");
            if let Some(stamp) = &pod.stamp {
                self.seated.insert(stamp.to_string());
                self.count("seated");
            }
            let (sight, _) = self.decided.get(&(who, pod.uid.to_string())).copied().unwrap_or_default();
            let is_gone = !picture.nodes.contains_key(&node);
            let is_unseen = self.is_unseen(picture, pod, (sight, now), who);
            for (rule, what) in seats::wrong(picture, &self.schedulers, (Some(before), pod), is_gone) {
                // Two that do not know of each other can give one seat to two pods; then one of them has it.
                if !(rule == "I5" && what.contains("which") && is_unseen) {
                    self.break_(rule, &what);
                }
            }
            let lacking = room::lacking(&self.as_decided(picture, who, pod), pod, now);
            if let Some(what) = lacking.first().filter(|_| !is_unseen) {
                self.break_("I1", what);
            }
            self.count(if lacking.is_empty() { "fits" } else { "overcommitted unseen" });
        }
        let change = Change { stream: Stream::Pods, revision, by: who, reservation: None };
        self.changes.entry(node).or_default().push(change);
    }

    /// The how many-th decision of all that was, if a daemon decided on it.
    fn turn(&self, who: Who, on: String) -> usize {
        self.decided.get(&(who, on)).map_or(0, |(_, turn)| *turn)
    }

    /// How it was for the daemon when it decided: with what it had decided on before, whether or not that has landed, and
    /// without what it decided on later and was faster.
    fn as_decided(&self, picture: &Picture, who: Who, pod: &Pod) -> Picture {
        let turn = |uid: &Uid| self.turn(who, uid.to_string());
        let own = turn(&pod.uid);
        let mut then = picture.clone();
        then.pods.retain(|uid, _| self.bound_by.get(uid) != Some(&who) || turn(uid) <= own);
        for other in self.under_way.iter().filter(|other| turn(&other.uid) < own) {
            then.pods.insert(other.uid.clone(), Arc::new(other.clone()));
        }
        then
    }

    /// Whether others did something to a node that one with this sight did not know of, and need not have.
    fn is_unseen(&self, picture: &Picture, pod: &Pod, (sight, now): (Sight, Timestamp), who: Who) -> bool {
        let Some(node) = &pod.node else { return false };
        let changes = self.changes.get(node).into_iter().flatten();
        changes.into_iter().any(|change| {
            let seen = if change.stream == Stream::Nodes { sight.nodes } else { sight.pods };
            let must_know =
                |id: &String| !self.is_contended && self.acknowledged.contains(&(node.clone(), id.clone()));
            let is_idle = |id: &String| is_idle(picture, pod, id, now);
            // What it made itself it knows from the moment at which it decided to.
            let is_later = |id: &String| {
                self.turn(who, made(&format!("{node}/{id}"))) > self.turn(who, pod.uid.to_string())
            };
            let is_harmless = |id: &String| is_idle(id) || is_later(id);
            let is_own = change.by == who && !change.reservation.as_ref().is_some_and(is_harmless);
            change.revision > seen && !is_own && !change.reservation.as_ref().is_some_and(must_know)
        })
    }

    /// Whether a pod was bound with this seat.
    pub(super) fn is_seated(&self, seat: &str) -> bool {
        self.seated.contains(seat)
    }

    /// A pod that has a node was told that it has none.
    pub(super) fn told_bound(&mut self, who: Who, pod: &Pod) {
        if self.bound_by.get(&pod.uid) == Some(&who) {
            self.break_("I8", &format!("{who:?} bound {} and then told it that it has no place", pod.key));
        }
    }

    /// A pod came to its node without any scheduler.
    pub(super) fn preset(&mut self, node: &NodeName, revision: u64) {
        let change = Change { stream: Stream::Pods, revision, by: Who::Other, reservation: None };
        self.changes.entry(node.clone()).or_default().push(change);
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

    /// I3, I6: a node was written.
    pub(super) fn node(
        &mut self,
        picture: &Picture,
        who: Who,
        (before, node): (Option<&Node>, &Node),
        revision: u64,
        now: Timestamp,
    ) {
        let valid = |node: &Node| -> Vec<Arc<Reservation>> {
            node.reservations.iter().filter_map(|one| one.valid().cloned()).collect()
        };
        let old = before.filter(|before| before.uid == node.uid);
        let (was, is) = (old.map(valid).unwrap_or_default(), valid(node));
        for gone in was.iter().filter(|one| !is.iter().any(|other| other.id == one.id)) {
            let key = (node.name.clone(), gone.id.to_string());
            let since = self.since.remove(&key);
            self.acknowledged.remove(&key);
            if let Some(replaced) = gone.replaces() {
                let owned = since.map_or(0, |since| since.owned);
                let is_over = !gone.is_live(now + CLOCK);
                self.removed.insert(replaced.uid.clone(), Removed { at: revision, by: who, owned, is_over });
            }
            self.released(picture, who, &node.name, gone, now);
        }
        let changes = self.changes.entry(node.name.clone()).or_default();
        let mut change = |reservation| {
            changes.push(Change { stream: Stream::Nodes, revision, by: who, reservation });
        };
        if old.is_none_or(|old| old.allocatable != node.allocatable) {
            change(None);
        }
        for one in is.iter().filter(|one| !was.contains(one)) {
            change(Some(one.id.to_string()));
        }
        let request = |one: &Reservation| one.record().map(|record| record.request.clone());
        for one in &is {
            let key = (node.name.clone(), one.id.to_string());
            let since = self.since.entry(key).or_insert(Since { made: revision, owned: revision });
            if was.iter().any(|old| old.id == one.id && request(old) != request(one)) {
                since.owned = revision;
            }
        }
    }

    fn released(&mut self, picture: &Picture, who: Who, node: &NodeName, gone: &Reservation, now: Timestamp) {
        let replaced = gone.replaces().map(|replaced| &replaced.uid);
        let Some(what) = releases::needed(picture, node, gone, now) else {
            return self.count("released");
        };
        match who {
            Who::Daemon(..) => {
                let request = gone.record().map_or("", |record| &record.request);
                let on = format!("{node}/{} {request}", gone.id);
                // What was made since under the same name is not what was decided on, and nothing excuses that.
                let decided = self.decided.get(&(who, on)).map(|(sight, _)| sight.pods.min(sight.owners));
                let stirred = [Some(&gone.id.owner), replaced].into_iter().flatten();
                let mut stirred = stirred.filter_map(|uid| self.stirred.get(uid));
                if !decided.is_some_and(|known| stirred.any(|at| *at > known)) {
                    self.break_("I3", &format!("{who:?}: {what}"));
                }
            }
            Who::Command(_) if replaced.is_some_and(|uid| self.evicted.get(uid) == Some(&who)) => {
                self.break_("I19", &format!("{who:?} took back what it needs: {what}"));
            }
            Who::Command(_) | Who::Other => {}
        }
    }

    pub(super) fn node_gone(&mut self, node: &Node, revision: u64) {
        self.since.retain(|(on, _), _| *on != node.name);
        let lost = node.reservations.iter().filter_map(|one| one.valid()?.replaces());
        let removed = Removed { at: revision, by: Who::Other, owned: 0, is_over: false };
        self.removed.extend(lost.map(|replaced| (replaced.uid.clone(), removed)));
        self.acknowledged.retain(|(on, _)| *on != node.name);
        let change = Change { stream: Stream::Nodes, revision, by: Who::Other, reservation: None };
        self.changes.entry(node.name.clone()).or_default().push(change);
    }

    /// The owner of `pod` is short of one more than before.
    pub(super) fn stir(&mut self, picture: &Picture, pod: &Pod, revision: u64) {
        self.stirred.insert(pod.uid.clone(), revision);
        for (uid, _) in picture.owners.chain(pod) {
            self.stirred.insert(uid.clone(), revision);
        }
    }

    pub(super) fn pod_gone(&mut self, picture: &Picture, pod: &Pod, revision: u64, _now: Timestamp) {
        self.stir(picture, pod, revision);
    }

    pub(super) fn owner(&mut self, workload: &Workload, revision: u64) {
        self.stirred.insert(workload.uid.clone(), revision);
        if let Some(above) = &workload.controller {
            self.stirred.insert(above.uid.clone(), revision);
        }
    }
}

/// Under what it is remembered that somebody decided to make a reservation, rather than to release it.
pub(super) fn made(place: &str) -> String {
    format!("made {place}")
}

/// Whether a reservation that the daemon itself was writing when it decided on `pod` is no harm: it is for the pod's own
/// owner, of which a pod left before the seat that it took was released, so that there are two; or its owner lacks fewer
/// pods by now. Either way it goes once the daemon has seen what it wrote.
fn is_idle(picture: &Picture, pod: &Pod, id: &str, now: Timestamp) -> bool {
    let owner = Uid::from(id.split('.').next().unwrap_or_default());
    let short = releases::short(picture, &owner);
    picture.owners.owns(&owner, pod, None)
        || short.is_some_and(|short| releases::kept(picture, &owner, now) > short.max(0))
}
