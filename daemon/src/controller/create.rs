//! Creates reservations: for pods that are being deleted and whose room is kept, and for pods that have `reserve/keep` themselves.

use super::Controller;
use crate::state::{AnnotationWrite, Note, ReservationChange, Step};
use common::cluster::{Cluster, Ledger, NotReservedReason};
use common::model::{NodeName, Pod, PodKey, Reservation, ReservationId};

impl Controller {
    /// Creates the reservation of a pod if it is missing, and gives up a write that is no longer needed.
    pub(super) fn reconcile_pod(&mut self, key: &PodKey, step: &mut Step<'_>) {
        let Some(pod) = step.cluster.pod(key).cloned() else { return };
        self.events.pod_keep_invalid(&pod);
        let Some(ledger) = pod.node.as_ref().and_then(|node| step.cluster.ledger_of(node)) else { return };
        match action(&pod, ledger, step.cluster, step.now.wall) {
            // A write that is pending or not seen yet may release the reservation.
            PodAction::Keep if self.writes.is_settled(ledger) => {
                self.confirmations.await_replicas(&pod, ledger);
            }
            PodAction::Keep => {}
            PodAction::Create(reservation) if self.writes.is_created_unseen(ledger, &reservation.id) => {}
            PodAction::Create(reservation) => {
                let (node, uid) = (ledger.node.name.clone(), ledger.node.uid.clone());
                self.write(
                    AnnotationWrite { node, uid, change: ReservationChange::Reserve(reservation) },
                    step,
                );
            }
            PodAction::Nothing => self.give_up_write(&pod, step.cluster),
            PodAction::Refuse(why) => {
                self.events.not_reserved(&pod, &why);
                self.give_up_write(&pod, step.cluster);
            }
        }
    }

    /// Does not try again to write a reservation for the pod. One that an earlier try may have created counts until the node is
    /// seen; `retention` then decides on it.
    fn give_up_write(&mut self, pod: &Pod, cluster: &mut Cluster) {
        let located = pod.node.as_ref().and_then(|node| Some((node, cluster.ledger_of(node)?)));
        let Some((node, ledger)) = located else { return };
        if let Some(id) = ledger.unwritten_for(&pod.uid).cloned() {
            self.drop_unwritten(node, &id, cluster);
        }
    }

    /// Does not try again to write the reservation `id` to `node`.
    pub(super) fn drop_unwritten(&mut self, node: &NodeName, id: &ReservationId, cluster: &mut Cluster) {
        let Some(ledger) = cluster.ledger_of(node) else { return };
        match self.writes.may_exist(ledger, id) {
            true => cluster.stop_writing_local(node, id),
            false => cluster.drop_local(node, id),
        }
    }
}

#[derive(Debug, PartialEq)]
pub(super) enum PodAction {
    /// Nothing: it exists.
    Keep,
    Create(Box<Reservation>),
    Nothing,
    /// Report that the pod cannot have one: it asks for it itself, or a limit is reached.
    Refuse(NotReservedReason),
}

pub(super) fn action(pod: &Pod, ledger: &Ledger, cluster: &Cluster, now: jiff::Timestamp) -> PodAction {
    if !pod.is_counted() {
        return PodAction::Nothing;
    }
    let entries = ledger.entries.iter().map(|entry| &entry.reservation);
    let mut own = entries.filter(|one| one.replaces().is_some_and(|replaced| replaced.uid == pod.uid));
    // By whom it was created does not matter.
    if own.any(|one| one.is_live(now) && ledger.is_durable(one)) {
        return PodAction::Keep;
    }
    match cluster.automatic_reservation(pod, now) {
        Ok(reservation) => PodAction::Create(Box::new(reservation)),
        // A pod that its kubelet has not admitted yet may be admitted any moment.
        Err(NotReservedReason::NotRequested | NotReservedReason::NotAdmitted) => PodAction::Nothing,
        Err(why) if why.is_limit() => PodAction::Refuse(why),
        // An owner that was not read yet may come any moment.
        Err(why) if !pod.deleting && !cluster.is_owner_missing(pod) => PodAction::Refuse(why),
        Err(_) => PodAction::Nothing,
    }
}

pub(super) fn note(change: &ReservationChange) -> Option<Note> {
    match change {
        ReservationChange::Reserve(reservation) => {
            let request = &reservation.record()?.request;
            let by = if request.starts_with("keep") { "keep" } else { "delete" };
            Some(Note::Reserved { by })
        }
        ReservationChange::Release { why, .. } => Some(Note::Released { why }),
        ReservationChange::Extend { .. } | ReservationChange::Shorten { .. } => None,
    }
}
