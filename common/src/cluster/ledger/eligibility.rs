//! Which pods may use a reservation, and to which pods it yields. Entry points: [`PodContext::may_use`] and
//! [`PodContext::outranks`].
//!
//! A pod may use a reservation when an owner that was read (same namespace, kind, name and UID, with `controller: true`) has the UID of
//! the reservation. An owner reference alone proves nothing, because every user who creates pods can write one. A reservation yields to
//! pods of higher priority, to `system-*-critical` pods, and to pods that a DaemonSet's controller made for the node.

use crate::cluster::{Ledger, Owners};
use crate::model::owner::{OwnerKind, Workload};
use crate::model::reservation::{Origin, Reservation};
use crate::model::{Pod, Uid};

/// A pod together with its owners that were read and confirmed. That a pod names an owner proves nothing.
#[derive(Clone, Debug)]
pub struct PodContext<'w> {
    pub pod: &'w Pod,
    chain: Vec<&'w Workload>,
    is_stranger: bool,
}

impl<'w> PodContext<'w> {
    pub fn new(pod: &'w Pod, owners: &'w Owners) -> Self {
        Self { pod, chain: owners.chain(pod), is_stranger: false }
    }

    /// The same pod without its reservations and its DaemonSet: the answers for it hold for every pod with the same spec.
    #[must_use]
    pub fn as_stranger(&self) -> Self {
        Self { is_stranger: true, ..self.clone() }
    }

    /// Whether this pod may use `reservation`.
    ///
    /// Pods of Deployments, ReplicaSets and Jobs can replace each other. A pod of a StatefulSet is recreated under its name, so
    /// only the pod with the name of the replaced pod may use the reservation. A bare pod is its own owner, and comes back under
    /// the same name with another UID.
    pub fn may_use(&self, reservation: &Reservation) -> bool {
        if self.is_stranger {
            return false;
        }
        let replaced = reservation.replaces();
        if let Some(record) = reservation.record()
            && &*record.owner.kind == "Pod"
        {
            return self.is_bare()
                && record.owner.namespace == self.pod.key.namespace
                && record.owner.name == self.pod.key.name;
        }
        if self.is_bare() && reservation.record().is_none() {
            return self.pod.uid == reservation.id.owner;
        }
        self.is_owned_by(&reservation.id.owner)
            && (!self.is_of_stateful_set()
                || replaced.is_none_or(|replaced| replaced.name == self.pod.key.name))
    }

    /// Whether `reservation`, which is on the node of `ledger`, yields to this pod. It yields to system-critical pods, to pods that
    /// a DaemonSet's controller made for this node (they can run nowhere else), and to pods with a higher priority than the
    /// replaced pod. The plain form has no priority, so it yields only to the first two.
    pub fn outranks(&self, reservation: &Reservation, ledger: &Ledger) -> bool {
        let has_higher_priority = match &reservation.origin {
            Origin::Recorded(record) => self.pod.spec.priority > record.priority,
            Origin::Manual | Origin::Newer { .. } => false,
        };
        has_higher_priority || self.pod.is_system_critical() || self.is_made_for(ledger)
    }

    /// Whether a DaemonSet's controller made the pod for the node of `ledger`: the DaemonSet was read, and its controller would
    /// make such a pod for this node now. It makes none beside a pod that is still being deleted.
    pub fn is_made_for(&self, ledger: &Ledger) -> bool {
        let set = self.chain.first().filter(|_| !self.is_stranger);
        let template = set.filter(|set| !set.is_deleting).and_then(|set| set.daemon.as_ref());
        let is_other = |pod: &&Pod| {
            pod.uid != self.pod.uid
                && pod.controller == self.pod.controller
                && pod.key.namespace == self.pod.key.namespace
        };
        let others = ledger.pods.iter().map(|pod| &**pod).filter(is_other);
        template.is_some_and(|template| template.makes(self.pod, &ledger.node, others))
    }

    pub fn is_owned_by(&self, uid: &Uid) -> bool {
        self.chain.iter().any(|owner| owner.uid == *uid)
    }

    /// The owners of the pod that were read, nearest first.
    pub fn chain(&self) -> &[&'w Workload] {
        &self.chain
    }

    pub fn top(&self) -> Option<&'w Workload> {
        self.chain.last().copied()
    }

    /// Whether a DaemonSet is among the owners. This does not mean that the DaemonSet's controller made the pod.
    pub fn is_of_daemon_set(&self) -> bool {
        self.chain.iter().any(|owner| owner.kind == OwnerKind::DaemonSet)
    }

    /// Whether a StatefulSet is among the owners, so that the name of the pod matters.
    fn is_of_stateful_set(&self) -> bool {
        self.chain.iter().any(|owner| owner.kind == OwnerKind::StatefulSet)
    }

    /// Whether the pod has no controller.
    pub(in crate::cluster) fn is_bare(&self) -> bool {
        self.pod.controller.is_none()
    }
}
