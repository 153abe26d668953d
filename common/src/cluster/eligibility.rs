//! Who may use a reservation, and to whom it yields.

use super::{Ledger, Owners};
use crate::model::owner::{OwnerKind, Workload};
use crate::model::reservation::{Origin, Reservation};
use crate::model::{Pod, Uid};

/// A pod together with the owners that it really has.
#[derive(Clone, Debug)]
pub struct PodContext<'w> {
    /// The pod.
    pub pod: &'w Pod,
    chain: Vec<&'w Workload>,
    is_stranger: bool,
}

impl<'w> PodContext<'w> {
    /// Resolves who owns `pod`.
    pub fn new(pod: &'w Pod, owners: &'w Owners) -> Self {
        Self { pod, chain: owners.chain(pod), is_stranger: false }
    }

    /// The same pod as if nothing were kept for it, and no DaemonSet's controller had made it: what is said of it holds for
    /// every pod that asks for the same.
    #[must_use]
    pub fn as_stranger(&self) -> Self {
        Self { is_stranger: true, ..self.clone() }
    }

    /// Whether this pod may use `reservation`.
    ///
    /// Replicas of Deployments, ReplicaSets and Jobs are alike. A StatefulSet's pod is not: its name comes back, so
    /// only the pod of the replaced one's name may have the room. A bare pod has no owner but itself, and comes
    /// back under the same name with another UID.
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
            && (!self.is_by_name() || replaced.is_none_or(|replaced| replaced.name == self.pod.key.name))
    }

    /// Whether `reservation`, which is on the node of `ledger`, gives way to this pod: the system's own pods, those that a
    /// DaemonSet's controller made for this node (which can run nowhere else), and whatever has a higher priority than the
    /// reservation's owner. The plain form has no priority, so it gives way only to the first two.
    pub fn outranks(&self, reservation: &Reservation, ledger: &Ledger) -> bool {
        let has_higher_priority = match &reservation.origin {
            Origin::Recorded(record) => self.pod.spec.priority > record.priority,
            Origin::Manual | Origin::Newer { .. } => false,
        };
        has_higher_priority || self.pod.is_system_critical() || self.is_made_for(ledger)
    }

    /// Whether a DaemonSet's controller made the pod for the node of `ledger`, as far as can be told: the DaemonSet was read,
    /// and its controller would make such a pod for this node now.
    pub fn is_made_for(&self, ledger: &Ledger) -> bool {
        let set = self.chain.first().filter(|_| !self.is_stranger);
        let template = set.filter(|set| !set.is_deleting).and_then(|set| set.daemon.as_ref());
        let is_other = |pod: &&Pod| {
            pod.uid != self.pod.uid
                && !pod.deleting
                && pod.controller == self.pod.controller
                && pod.key.namespace == self.pod.key.namespace
        };
        let others = ledger.pods.iter().map(|pod| &**pod).filter(is_other);
        template.is_some_and(|template| template.makes(self.pod, &ledger.node, others))
    }

    /// Whether one of its owners has this UID.
    pub fn is_owned_by(&self, uid: &Uid) -> bool {
        self.chain.iter().any(|owner| owner.uid == *uid)
    }

    /// The owners that it really has, nearest first.
    pub fn chain(&self) -> &[&'w Workload] {
        &self.chain
    }

    /// The topmost owner that was read.
    pub fn top(&self) -> Option<&'w Workload> {
        self.chain.last().copied()
    }

    /// Whether a DaemonSet owns it, as it says; whether its controller made it is another question.
    pub fn is_of_daemon_set(&self) -> bool {
        self.chain.iter().any(|owner| owner.kind == OwnerKind::DaemonSet)
    }

    /// Whether its name says which of its owner's pods it is.
    fn is_by_name(&self) -> bool {
        self.chain.iter().any(|owner| owner.kind == OwnerKind::StatefulSet)
    }

    /// Whether nobody controls the pod.
    pub(super) fn is_bare(&self) -> bool {
        self.pod.controller.is_none()
    }
}
