//! Makes reservations, extends them, and releases them: the other half of the promise.
//!
//! Each rule is a function of the belief, and finds by itself what is missing or too many: after a failure, a restart or a
//! change of leader the same rules find the same things again. Nothing is remembered but what was written and not
//! yet seen, and what was said already.
//!
//! ```text
//!   what changed ─▶ pods, owners, nodes to look at ─▶ make · judge · events ─▶ Effect::Annotate, Effect::WriteEvent
//! ```
//!
//! Knows nothing of: how annotations are written, how pods are placed.

mod confirm;
mod due;
mod events;
mod judge;
mod make;
mod stand_in;
#[cfg(test)]
mod tests;
mod writes;

use crate::state::{Annotated, Annotation, Effect, Now, Refusal, Rewrite, Step};
use common::cluster::{Change, Cluster, NodeId};
use common::model::ids::{PodKey, Uid};
use common::model::{NodeName, OtherKind, ReservationId};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;
use std::time::Duration;
use writes::Writes;

/// Each node with reservations, and each pod on its way out, is looked at again after this long at the latest. It makes
/// a missed hint harmless.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(20);

/// The controller.
#[derive(Default)]
pub(crate) struct Controller {
    /// Books up to this version were looked at.
    version: u64,
    look: Look,
    /// When to look at a node again although nothing happened.
    due: due::Due,
    /// Where a release waits until all replicas have seen a pod.
    awaiting: BTreeSet<NodeId>,
    /// When to look at all leaving pods again.
    pods_due: Option<Timestamp>,
    writes: Writes,
    /// What the leader should have written, while this replica does not lead.
    missing: stand_in::Missing,
    events: events::Events,
    confirmations: confirm::Confirmations,
}

/// What to look at.
#[derive(Default)]
struct Look {
    pods: BTreeSet<PodKey>,
    owners: BTreeSet<Uid>,
    nodes: BTreeSet<NodeId>,
    /// Everything: at the start, or when much may have changed at once.
    all: bool,
    /// Replicas have seen more.
    replicas: bool,
}

impl Controller {
    /// Learns what an event altered. Whoever does not lead need not remember what to look at: it looks at everything when it
    /// begins to.
    pub(crate) fn changed(&mut self, changes: &[Change], is_leading: bool, step: &mut Step<'_>) {
        self.missing.has_news();
        for change in changes {
            match change {
                Change::KeepInvalid(owner, text) => self.events.keep_invalid(owner, text),
                _ if !is_leading => {}
                Change::PodSettled(key) => self.pod_settled(key, step.cluster),
                Change::OwnerChanged(uid) => drop(self.look.owners.insert(uid.clone())),
                Change::OthersChanged(OtherKind::Namespace) => self.look.all = true,
                Change::ReplicasChanged => self.look.replicas = true,
                // What became of nodes is found by the version of their books.
                Change::NodeChanged(_)
                | Change::NodeGone(_)
                | Change::RoomFreed(_)
                | Change::ReservationsChanged(_)
                | Change::PodWaiting(_)
                | Change::OwnersChanged
                | Change::OthersChanged(_) => {}
            }
        }
    }

    /// This daemon is the one that acts from now on: whatever the one before left undone is to be found.
    pub(crate) fn begin(&mut self) {
        self.look.all = true;
        self.version = 0;
    }

    fn pod_settled(&mut self, key: &PodKey, cluster: &Cluster) {
        let Some(pod) = cluster.pod(key).filter(|pod| pod.is_counted()) else { return };
        self.confirmations.unasked(pod);
        if pod.deleting || pod.keep().is_some() {
            self.look.pods.insert(key.clone());
        } else {
            self.events.asks_nothing(pod, cluster);
        }
        // With one pod more or fewer, its owner may need fewer reservations, or more.
        if cluster.has_reservations()
            && let Some(top) = cluster.pod_context(pod).top()
            && cluster.ledgers_of(&top.uid).next().is_some()
        {
            self.look.owners.insert(top.uid.clone());
        }
    }

    /// Does what is due.
    pub(crate) fn act(&mut self, step: &mut Step<'_>) {
        self.gather(step.cluster, step.now.wall);
        let look = std::mem::take(&mut self.look);
        for key in &look.pods {
            self.make(key, step);
        }
        for id in &look.nodes {
            self.look_at(*id, step);
        }
        self.confirm(&look, step);
        if look.all {
            self.events.namespaces(step.cluster);
            self.events.unprotected(step.cluster.pods(), step.cluster);
        }
        for owner in &look.owners {
            let pods = step.cluster.concerned_by(owner);
            self.events.unprotected(pods.iter().filter_map(|key| step.cluster.pod(key)), step.cluster);
        }
        self.events.send(step);
    }

    /// Finds out what there is to look at.
    fn gather(&mut self, cluster: &Cluster, now: Timestamp) {
        let is_ours = |id: &NodeId| {
            let ledger = cluster.ledger(*id);
            ledger.is_some_and(|ledger| !ledger.entries.is_empty() || !ledger.node.reservations.is_empty())
        };
        let changed: Vec<NodeId> =
            cluster.changed_since(self.version).filter(|id| is_ours(id) || self.due.contains(*id)).collect();
        self.version = cluster.version();
        self.look.nodes.extend(changed);
        self.look.nodes.extend(self.due.by(now));
        if self.look.all {
            self.look.nodes.extend(self.due.all());
        }
        if self.look.replicas {
            self.look.nodes.append(&mut self.awaiting);
        }
        for uid in &self.look.owners {
            self.look.nodes.extend(cluster.ledgers_of(uid).map(|ledger| ledger.id));
        }
        if self.look.all || self.pods_due.is_some_and(|at| at <= now) {
            self.look.pods.extend(cluster.leaving().cloned());
        } else if !self.look.owners.is_empty() {
            let pods = self.look.owners.iter().flat_map(|owner| cluster.leaving_of(owner));
            self.look.pods.extend(pods);
        }
        // What kept us from writing there may be over.
        let ledgers = self.look.nodes.iter().filter_map(|id| cluster.ledger(*id));
        let pods = ledgers.flat_map(|ledger| &ledger.pods);
        self.look
            .pods
            .extend(pods.filter(|pod| pod.deleting || pod.keep().is_some()).map(|pod| pod.key.clone()));
        let has_leaving = cluster.leaving().next().is_some();
        self.pods_due = match self.pods_due {
            _ if !has_leaving => None,
            Some(at) if at > now && !self.look.all => Some(at),
            _ => Some(after(now, LOOK_AGAIN)),
        };
    }

    /// Looks at one node: what is new there, and what each of its reservations needs.
    fn look_at(&mut self, id: NodeId, step: &mut Step<'_>) {
        self.events.observe(id, step.cluster, &mut self.writes, step.now.wall);
        let Some(ledger) = step.cluster.ledger(id) else {
            self.due.remove(id);
            return;
        };
        if ledger.node.reservations.is_empty() && ledger.entries.is_empty() {
            self.due.remove(id);
            return;
        }
        let now = step.now.wall;
        let (mut wishes, mut idle, mut due) = (Vec::new(), Vec::new(), after(now, LOOK_AGAIN));
        // What we wrote ourselves must have come back before anything is concluded from what is not there.
        if self.writes.has_seen_own(ledger) {
            for reservation in ledger.unwritten() {
                match step.cluster.is_still_needed(reservation) {
                    true => wishes.push(Rewrite::Reserve(Box::new((**reservation).clone()))),
                    false => idle.push(reservation.id.clone()),
                }
            }
            for entry in &ledger.entries {
                let is_releasing = |node: &NodeName, id: &ReservationId| self.writes.is_releasing(node, id);
                match judge::judge(entry, ledger, step.cluster, now, &is_releasing) {
                    judge::Verdict::Stays => {}
                    judge::Verdict::StaysUntil(at) if at > now => due = due.min(at),
                    // Its time is over by what the node says, and an extension that was sent still counts.
                    judge::Verdict::StaysUntil(_) => {}
                    judge::Verdict::StaysUntilSeen => drop(self.awaiting.insert(id)),
                    judge::Verdict::Becomes(rewrite) => wishes.push(rewrite),
                }
            }
        }
        let (node, uid) = (ledger.node.name.clone(), ledger.node.uid.clone());
        self.due.insert(id, due);
        idle.iter().for_each(|id| self.drop_unwritten(&node, id, step.cluster));
        for change in wishes {
            self.write(Annotation { node: node.clone(), uid: uid.clone(), change }, step);
        }
    }

    /// Asks for a write, unless the same is under way or has just failed.
    fn write(&mut self, annotation: Annotation, step: &mut Step<'_>) {
        if !self.writes.start(&annotation, step.now.elapsed) {
            return;
        }
        // From now on it counts: it may be there long before we see it.
        match &annotation.change {
            Rewrite::Reserve(reservation) => {
                step.cluster.reserve_locally(&annotation.node, (**reservation).clone());
            }
            Rewrite::Extend { id, request, expires } => {
                step.cluster.extend_locally(&annotation.node, id, request, *expires);
            }
            Rewrite::Shorten { .. } | Rewrite::Release { .. } => {}
        }
        step.effects.push(Effect::Annotate(Box::new(annotation)));
    }

    /// Learns what has become of a write.
    pub(crate) fn annotated(&mut self, annotation: &Annotation, outcome: &Annotated, step: &mut Step<'_>) {
        let pause = self.writes.answered(annotation, outcome, step.now.elapsed);
        match (outcome, &annotation.change) {
            (Annotated::Done { version }, change) => {
                if matches!(change, Rewrite::Reserve(_)) {
                    self.confirmations.wrote(*version, step.now.elapsed);
                    step.cluster.wrote_locally(&annotation.node, annotation.id(), *version);
                }
                step.notes.extend(make::note(change));
            }
            (
                Annotated::Refused { refusal: Refusal::Final, .. },
                Rewrite::Reserve(_) | Rewrite::Extend { .. },
            ) => {
                step.cluster.drop_local(&annotation.node, annotation.id());
            }
            (Annotated::Refused { .. }, Rewrite::Reserve(_)) => self.forget_unwanted(annotation, step),
            (Annotated::Refused { .. } | Annotated::Unknown { .. }, _) => {}
        }
        // Whatever is still to be done there is found again.
        let again =
            pause.map(|pause| after(step.now.wall, SignedDuration::try_from(pause).unwrap_or(LOOK_AGAIN)));
        let ledger = step.cluster.ledger_of(&annotation.node);
        match (ledger.map(|ledger| ledger.id), again) {
            (Some(id), Some(again)) => {
                self.due.insert_earlier(id, again);
                self.pods_due = Some(self.pods_due.map_or(again, |due| due.min(again)));
            }
            (Some(id), None) => drop(self.look.nodes.insert(id)),
            (None, _) => {}
        }
    }

    /// It was refused, and is not to be tried again: unless an earlier try may have succeeded, it is not there.
    fn forget_unwanted(&mut self, annotation: &Annotation, step: &mut Step<'_>) {
        let (node, id) = (&annotation.node, annotation.id());
        let Some(ledger) = step.cluster.ledger_of(node) else { return };
        if ledger.is_unwanted(id) && !self.writes.may_be_there(ledger, id) {
            step.cluster.drop_local(node, id);
        }
    }

    /// When something is due by itself.
    pub(crate) fn next_tick(&self, now: Now) -> Option<Duration> {
        let wall = self.due.first().into_iter().chain(self.pods_due).min();
        wall.map(|at| now.elapsed + Duration::try_from(at.duration_since(now.wall)).unwrap_or_default())
    }
}

/// So much after `time`, or the end of time.
fn after(time: Timestamp, more: SignedDuration) -> Timestamp {
    time.checked_add(more).unwrap_or(Timestamp::MAX)
}
