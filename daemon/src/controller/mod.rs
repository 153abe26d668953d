//! The controller: creates, extends, shortens and releases reservations.
//!
//! Each rule is a function of the belief and finds which reservations are missing or not needed. After a failure, a restart or a
//! change of leader the same rules find the same things again. The controller remembers only what it wrote and has not seen yet,
//! and which events it sent.
//!
//! ```text
//!   changes ─▶ WorkItems: pods, owners, nodes ─▶ create · retention · events ─▶ Effect::Annotate, Effect::WriteEvent
//! ```
//!
//! `changed` collects work, `act` does it, `annotated` handles the outcome of a write. `stand_in` is what a replica does that does
//! not lead. Knows nothing of: how annotations are written, how pods are scheduled.

mod confirm;
mod create;
mod events;
mod resync;
mod retention;
mod stand_in;
mod surplus;
#[cfg(test)]
mod tests;
mod writes;

use crate::state::{AnnotationOutcome, AnnotationWrite, Effect, Now, ReservationChange, Step, WriteRefusal};
use common::cluster::{Change, Cluster, EventResource, NodeId};
use common::model::ids::{PodKey, Uid};
use common::model::{CatalogKind, NodeName, ReservationId};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;
use std::time::Duration;
use writes::Writes;

/// Each node with reservations, and each pod that is being deleted, is checked at least this often. It makes a missed change
/// harmless.
const RESYNC_PERIOD: SignedDuration = SignedDuration::from_secs(20);

#[derive(Default)]
pub(crate) struct Controller {
    /// Changes of ledgers up to this version were handled.
    version: u64,
    work: WorkItems,
    resyncs: resync::NodeResyncs,
    /// Nodes where a release waits until all replicas have seen a pod.
    awaiting: BTreeSet<NodeId>,
    /// When to check all pods again for which a reservation may be missing.
    pods_due: Option<Timestamp>,
    writes: Writes,
    /// The reservations that the leader should have written, while this replica does not lead.
    missing: stand_in::MissingReservations,
    events: events::Events,
    confirmations: confirm::Confirmations,
}

#[derive(Default)]
struct WorkItems {
    pods: BTreeSet<PodKey>,
    owners: BTreeSet<Uid>,
    nodes: BTreeSet<NodeId>,
    /// Check everything: at the start, or after a change of a namespace.
    all: bool,
    /// Check what waits for replicas: they have seen more.
    replicas: bool,
}

impl Controller {
    /// Learns what an event altered. A replica that does not lead remembers nothing: it checks everything when it begins to lead.
    pub(crate) fn changed(&mut self, changes: &[Change], is_leading: bool, step: &mut Step<'_>) {
        self.missing.set_changed();
        for change in changes {
            match change {
                Change::KeepInvalid(owner, text) => self.events.keep_invalid(owner, text),
                _ if !is_leading => {}
                Change::PodNotWaiting(key) => self.pod_settled(key, step.cluster),
                Change::OwnerChanged(uid) => drop(self.work.owners.insert(uid.clone())),
                Change::Cluster(change)
                    if change.event.resource == EventResource::Catalog(CatalogKind::Namespace) =>
                {
                    self.work.all = true;
                }
                Change::ReplicasChanged => self.work.replicas = true,
                // Changed nodes are found by the version of their ledgers.
                Change::Cluster(_)
                | Change::ReservationsChanged(_)
                | Change::PodWaiting(_)
                | Change::OwnersChanged => {}
            }
        }
    }

    /// This replica begins to lead: the first `act` checks everything.
    pub(crate) fn begin(&mut self) {
        self.work.all = true;
        self.version = 0;
    }

    fn pod_settled(&mut self, key: &PodKey, cluster: &Cluster) {
        let Some(pod) = cluster.pod(key).filter(|pod| pod.is_counted()) else { return };
        self.confirmations.forget_unless_requested(pod);
        if pod.deleting || pod.keep().is_some() {
            self.work.pods.insert(key.clone());
        } else {
            self.events.no_keep(pod, cluster);
        }
        // With one pod more or less, its owner may need fewer reservations, or more.
        if cluster.has_reservations()
            && let Some(top) = cluster.context(pod).top()
            && cluster.ledgers_of(&top.uid).next().is_some()
        {
            self.work.owners.insert(top.uid.clone());
        }
    }

    /// Checks everything that changed or is due.
    pub(crate) fn act(&mut self, step: &mut Step<'_>) {
        self.collect_work(step.cluster, step.now.wall);
        let work = std::mem::take(&mut self.work);
        for key in &work.pods {
            self.reconcile_pod(key, step);
        }
        for id in &work.nodes {
            self.reconcile_node(*id, step);
        }
        self.confirm(&work, step);
        if work.all {
            self.events.namespaces_with_invalid_keep(step.cluster);
            self.events.unprotected(step.cluster.pods(), step.cluster);
        }
        for owner in &work.owners {
            let pods = step.cluster.pods_concerned_by(owner);
            self.events.unprotected(pods.iter().filter_map(|key| step.cluster.pod(key)), step.cluster);
        }
        self.events.send(step);
    }

    /// Adds what follows from changes of ledgers, owners and time.
    fn collect_work(&mut self, cluster: &Cluster, now: Timestamp) {
        let is_ours = |id: &NodeId| {
            let ledger = cluster.ledger(*id);
            ledger.is_some_and(|ledger| !ledger.entries.is_empty() || !ledger.node.reservations.is_empty())
        };
        let changed: Vec<NodeId> = cluster
            .changed_since(self.version)
            .filter(|id| is_ours(id) || self.resyncs.contains(*id))
            .collect();
        self.version = cluster.version();
        self.work.nodes.extend(changed);
        self.work.nodes.extend(self.resyncs.due_by(now));
        if self.work.all {
            self.work.nodes.extend(self.resyncs.all());
        }
        if self.work.replicas {
            self.work.nodes.append(&mut self.awaiting);
        }
        for uid in &self.work.owners {
            self.work.nodes.extend(cluster.ledgers_of(uid).map(|ledger| ledger.id));
        }
        if self.work.all || self.pods_due.is_some_and(|at| at <= now) {
            self.work.pods.extend(cluster.reservation_candidates().cloned());
        } else if !self.work.owners.is_empty() {
            let pods = self.work.owners.iter().flat_map(|owner| cluster.reservation_candidates_of(owner));
            self.work.pods.extend(pods);
        }
        // What prevented a write there before may be over.
        let ledgers = self.work.nodes.iter().filter_map(|id| cluster.ledger(*id));
        let pods = ledgers.flat_map(|ledger| &ledger.pods);
        self.work
            .pods
            .extend(pods.filter(|pod| pod.deleting || pod.keep().is_some()).map(|pod| pod.key.clone()));
        let has_candidates = cluster.reservation_candidates().next().is_some();
        self.pods_due = match self.pods_due {
            _ if !has_candidates => None,
            Some(at) if at > now && !self.work.all => Some(at),
            _ => Some(after(now, RESYNC_PERIOD)),
        };
    }

    /// Checks one node: sends events about what changed there, and changes each reservation that needs it.
    fn reconcile_node(&mut self, id: NodeId, step: &mut Step<'_>) {
        self.events.observe(id, step.cluster, &mut self.writes, step.now.wall);
        let Some(ledger) = step.cluster.ledger(id) else {
            self.resyncs.remove(id);
            return;
        };
        if ledger.node.reservations.is_empty() && ledger.entries.is_empty() {
            self.resyncs.remove(id);
            return;
        }
        let now = step.now.wall;
        let (mut changes, mut unneeded, mut due) = (Vec::new(), Vec::new(), after(now, RESYNC_PERIOD));
        // Our own last write must have been seen: before that, something may only seem to be missing.
        if self.writes.has_seen_own(ledger) {
            for reservation in ledger.unwritten() {
                match step.cluster.is_still_needed(reservation) {
                    true => changes.push(ReservationChange::Reserve(Box::new((**reservation).clone()))),
                    false => unneeded.push(reservation.id.clone()),
                }
            }
            for entry in &ledger.entries {
                let is_releasing = |node: &NodeName, id: &ReservationId| self.writes.is_releasing(node, id);
                match retention::decide(entry, ledger, step.cluster, now, &is_releasing) {
                    retention::ReservationAction::Keep => {}
                    retention::ReservationAction::KeepUntil(at) if at > now => due = due.min(at),
                    // Expired by the node's annotations, but an extension that was sent counts already.
                    retention::ReservationAction::KeepUntil(_) => {}
                    retention::ReservationAction::KeepUntilSeen => drop(self.awaiting.insert(id)),
                    retention::ReservationAction::Change(change) => changes.push(change),
                }
            }
        }
        let (node, uid) = (ledger.node.name.clone(), ledger.node.uid.clone());
        self.resyncs.insert(id, due);
        unneeded.iter().for_each(|id| self.drop_unwritten(&node, id, step.cluster));
        for change in changes {
            self.write(AnnotationWrite { node: node.clone(), uid: uid.clone(), change }, step);
        }
    }

    /// Sends a write, unless the same one is pending or failed a short time ago.
    fn write(&mut self, annotation: AnnotationWrite, step: &mut Step<'_>) {
        if !self.writes.start(&annotation, step.now.elapsed) {
            return;
        }
        // The belief counts it from now on: the node may have it long before the watch shows it.
        match &annotation.change {
            ReservationChange::Reserve(reservation) => {
                step.cluster.reserve_locally(&annotation.node, (**reservation).clone());
            }
            ReservationChange::Extend { id, request, expires } => {
                step.cluster.extend_locally(&annotation.node, id, request, *expires);
            }
            ReservationChange::Shorten { .. } | ReservationChange::Release { .. } => {}
        }
        step.effects.push(Effect::Annotate(Box::new(annotation)));
    }

    pub(crate) fn annotated(
        &mut self,
        annotation: &AnnotationWrite,
        outcome: &AnnotationOutcome,
        step: &mut Step<'_>,
    ) {
        let pause = self.writes.finish(annotation, outcome, step.now.elapsed);
        match (outcome, &annotation.change) {
            (AnnotationOutcome::Done { version }, change) => {
                step.cluster.note_version(&annotation.node, annotation.id(), *version);
                if matches!(change, ReservationChange::Reserve(_)) {
                    self.confirmations.note_write(*version, step.now.elapsed);
                    step.cluster.note_written(&annotation.node, annotation.id(), *version);
                }
                step.notes.extend(create::note(change));
            }
            (
                AnnotationOutcome::Refused { refusal: WriteRefusal::Final, .. },
                ReservationChange::Reserve(_) | ReservationChange::Extend { .. },
            ) => {
                step.cluster.drop_local(&annotation.node, annotation.id());
            }
            (AnnotationOutcome::Refused { .. }, ReservationChange::Reserve(_)) => {
                self.forget_unneeded(annotation, step);
            }
            (AnnotationOutcome::Refused { .. } | AnnotationOutcome::Unknown { .. }, _) => {}
        }
        // The next check of the node finds what is still to be done there.
        let again =
            pause.map(|pause| after(step.now.wall, SignedDuration::try_from(pause).unwrap_or(RESYNC_PERIOD)));
        let ledger = step.cluster.ledger_of(&annotation.node);
        match (ledger.map(|ledger| ledger.id), again) {
            (Some(id), Some(again)) => {
                self.resyncs.insert_earlier(id, again);
                self.pods_due = Some(self.pods_due.map_or(again, |due| due.min(again)));
            }
            (Some(id), None) => drop(self.work.nodes.insert(id)),
            (None, _) => {}
        }
    }

    /// A refused write of a reservation that is no longer needed: drops the reservation from the belief, unless an earlier try may
    /// have created it.
    fn forget_unneeded(&mut self, annotation: &AnnotationWrite, step: &mut Step<'_>) {
        let (node, id) = (&annotation.node, annotation.id());
        let Some(ledger) = step.cluster.ledger_of(node) else { return };
        if ledger.is_writing_stopped(id) && !self.writes.may_exist(ledger, id) {
            step.cluster.drop_local(node, id);
        }
    }

    /// When `act` has something to do although nothing changes.
    pub(crate) fn next_tick(&self, now: Now) -> Option<Duration> {
        let wall = self.resyncs.first().into_iter().chain(self.pods_due).min();
        wall.map(|at| now.elapsed + Duration::try_from(at.duration_since(now.wall)).unwrap_or_default())
    }
}

/// `time` plus `more`; the latest possible time if that overflows.
fn after(time: Timestamp, more: SignedDuration) -> Timestamp {
    time.checked_add(more).unwrap_or(Timestamp::MAX)
}
