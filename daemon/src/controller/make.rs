//! Which pods get a reservation written down: those on their way out whose place is kept, and those that ask for it themselves.

use super::Controller;
use crate::state::{Annotation, Note, Rewrite, Step};
use common::cluster::{Cluster, Ledger, NotKept};
use common::model::{NodeName, Pod, PodKey, Reservation, ReservationId};

impl Controller {
    /// Sees to it that the pod has the reservation that it is to have.
    pub(super) fn make(&mut self, key: &PodKey, step: &mut Step<'_>) {
        let Some(pod) = step.cluster.pod(key).cloned() else { return };
        self.events.pod_keep(&pod);
        let Some(ledger) = pod.node.as_ref().and_then(|node| step.cluster.ledger_of(node)) else { return };
        match wish(&pod, ledger, step.cluster, step.now.wall) {
            // What we are about to write, or have just written, may be that it is released.
            Wish::Made if self.writes.is_still(ledger) => self.confirmations.made(&pod, ledger),
            Wish::Made => {}
            Wish::Make(reservation) if self.writes.is_on_its_way(ledger, &reservation.id) => {}
            Wish::Make(reservation) => {
                let (node, uid) = (ledger.node.name.clone(), ledger.node.uid.clone());
                self.write(Annotation { node, uid, change: Rewrite::Reserve(reservation) }, step);
            }
            Wish::Nothing => self.unmake(&pod, step.cluster),
            Wish::Refused(why) => {
                self.events.not_reserved(&pod, &why);
                self.unmake(&pod, step.cluster);
            }
        }
    }

    /// What was about to be written for the pod is not tried again. What may be there already counts until it is seen, and the
    /// rules then say what becomes of it.
    fn unmake(&mut self, pod: &Pod, cluster: &mut Cluster) {
        let place = pod.node.as_ref().and_then(|node| Some((node, cluster.ledger_of(node)?)));
        let Some((node, ledger)) = place else { return };
        if let Some(id) = ledger.unwritten_for(&pod.uid).cloned() {
            self.drop_unwritten(node, &id, cluster);
        }
    }

    /// What was about to be written as `id` into `node` is not tried again.
    pub(super) fn drop_unwritten(&mut self, node: &NodeName, id: &ReservationId, cluster: &mut Cluster) {
        let Some(ledger) = cluster.ledger_of(node) else { return };
        match self.writes.may_be_there(ledger, id) {
            true => cluster.unwant_local(node, id),
            false => cluster.drop_local(node, id),
        }
    }
}

/// What is to be done about a pod.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    /// It has its reservation.
    Made,
    /// It is to have this one.
    Make(Box<Reservation>),
    /// It is to have none.
    Nothing,
    /// It asked for one by itself, or a limit is in the way, and it cannot have one.
    Refused(NotKept),
}

/// What is to be done about `pod`, which is on the node of `ledger`.
pub(super) fn wish(pod: &Pod, ledger: &Ledger, cluster: &Cluster, now: jiff::Timestamp) -> Wish {
    if !pod.is_counted() {
        return Wish::Nothing;
    }
    let entries = ledger.entries.iter().map(|entry| &entry.reservation);
    let mut own = entries.filter(|one| one.replaces().is_some_and(|replaced| replaced.uid == pod.uid));
    // Whoever made it, by hand or not.
    if own.any(|one| one.is_live(now) && ledger.says(one)) {
        return Wish::Made;
    }
    match cluster.keep(pod, now) {
        Ok(reservation) => Wish::Make(Box::new(reservation)),
        // Its kubelet may accept it any moment.
        Err(NotKept::NotWished | NotKept::NotAdmitted) => Wish::Nothing,
        // An owner that nobody has read yet may come any moment.
        Err(why) if why.is_limit() => Wish::Refused(why),
        Err(why) if !pod.deleting && !cluster.is_owner_missing(pod) => Wish::Refused(why),
        Err(_) => Wish::Nothing,
    }
}

/// What there is to count when `change` was done.
pub(super) fn note(change: &Rewrite) -> Option<Note> {
    match change {
        Rewrite::Reserve(reservation) => {
            let request = &reservation.record()?.request;
            let by = if request.starts_with("keep") { "keep" } else { "delete" };
            Some(Note::Reserved { by })
        }
        Rewrite::Release { why, .. } => Some(Note::Released { why }),
        Rewrite::Extend { .. } | Rewrite::Shorten { .. } => None,
    }
}
