//! Automatic reservations: which pods get one because of `reserve/keep`, and what it is. Entry point:
//! [`Cluster::automatic_reservation`].
//!
//! A pod gets one when it, one of its owners or its namespace has `reserve/keep`, and the pod is being deleted although its owner
//! wants a replacement. A pod that has `reserve/keep` itself gets it at once. The controller writes the reservation as soon as the
//! deletion begins. If a pod vanishes before that, the belief counts the same reservation locally in the same step, so that no
//! other pod gets the room meanwhile. Both have the same key; the written one counts unless it has expired.

use crate::api::reservation::encode;
use crate::cluster::Cluster;
use crate::cluster::reservations::replacement::{later, reservation_owner};
use crate::cluster::{
    Ledger, PodContext, ReservationState, ReservationTerms, expiry_for, replacement_reservation,
};
use crate::model::reservation::{ANNOTATIONS_MAX, AUTOMATIC, BYTES_MAX, KEYS_MAX, PER_NODE_MAX};
use crate::model::{
    Keep, Owner, ParsedReservation, Placement, Pod, ReplacedPod, Reservation, ReservationId, Text,
};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReservedReason {
    /// Neither the pod, nor an owner, nor the namespace has `reserve/keep`; or the pod itself does not have it, and is not being
    /// deleted.
    #[error("nothing asks for it")]
    NotRequested,
    #[error("the pod is on no node")]
    NoNode,
    /// The pod was created with `spec.nodeName`, and the kubelet has not accepted it.
    #[error("the kubelet of its node has not accepted it")]
    NotAdmitted,
    /// The pod returns to its node by itself, or has to leave it.
    #[error("{0}")]
    Unfit(&'static str),
    #[error("its owner cannot be read")]
    NoOwner,
    #[error("its owner lacks no pod that no room is reserved for")]
    NoMissingReplica,
    #[error("the namespace has {0} automatic reservations already, which is the limit")]
    TooMany(usize),
    /// The namespace would have more of this resource reserved than its pods requested.
    #[error("the namespace would have more {0} reserved than its pods requested at most in the last hour")]
    OverUsage(Text),
    /// The namespace would have more of this resource reserved than a ResourceQuota allows.
    #[error("the namespace would have more {0} reserved than its ResourceQuota allows")]
    OverQuota(Text),
    /// The record is too long to be written.
    #[error("the reservation cannot be written: {0}")]
    Unwritable(Text),
    #[error("the node has too many annotations")]
    NodeFull,
}

impl NotReservedReason {
    /// Whether a limit is the reason. Then users are told even if the pod has no `reserve/keep` itself.
    pub fn is_limit(&self) -> bool {
        match self {
            Self::TooMany(_) | Self::OverUsage(_) | Self::OverQuota(_) => true,
            Self::Unwritable(_) | Self::NodeFull => true,
            Self::NotRequested | Self::NoNode | Self::NotAdmitted | Self::Unfit(_) => false,
            Self::NoOwner | Self::NoMissingReplica => false,
        }
    }

    /// The reason as a short word, for metrics.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NotRequested => "not-wished",
            Self::NoNode => "no-node",
            Self::NotAdmitted => "not-admitted",
            Self::Unfit(_) => "unfit",
            Self::NoOwner => "no-owner",
            Self::NoMissingReplica => "not-short",
            Self::TooMany(_) => "too-many",
            Self::OverUsage(_) => "over-usage",
            Self::OverQuota(_) => "over-quota",
            Self::Unwritable(_) => "unwritable",
            Self::NodeFull => "node-full",
        }
    }
}

impl Cluster {
    /// The automatic reservation that `pod` should have as of `now`, whether or not it exists already.
    pub fn automatic_reservation(&self, pod: &Pod, now: Timestamp) -> Result<Reservation, NotReservedReason> {
        let context = PodContext::new(pod, &self.owners);
        let life = self.reservation_life_for(&context).ok_or(NotReservedReason::NotRequested)?;
        if !pod.deleting && pod.keep().and_then(Keep::life).is_none() {
            return Err(NotReservedReason::NotRequested);
        }
        check_eligible(&context)?;
        if !pod.is_admitted() {
            return Err(NotReservedReason::NotAdmitted);
        }
        let id = pod.node.as_ref().and_then(|node| self.nodes.id(node));
        let ledger = id.and_then(|id| self.nodes.get(id)).ok_or(NotReservedReason::NoNode)?;
        if !ledger.node.is_ready {
            return Err(NotReservedReason::Unfit("its node is not ready"));
        }
        let owner = reservation_owner(&context, &self.owners)?;
        let expires = match pod.deleting {
            // Once the pod is gone, the rest of its grace period does not count.
            true if self.is_there(pod) => {
                later(pod.deletion_timestamp().map_or(now, |gone| gone.max(now)), life)
            }
            true => later(now, life),
            false => expiry_for(pod, life, now),
        };
        let reservation = reservation(pod, owner.clone(), expires, now)?;
        if pod.deleting && !self.lacks_reservation(&owner, &reservation.id) {
            return Err(NotReservedReason::NoMissingReplica);
        }
        self.check_limits(ledger, &reservation)?;
        Ok(reservation)
    }

    /// Whether this pod, by its UID, is still counted on its node.
    fn is_there(&self, pod: &Pod) -> bool {
        self.pod(&pod.key).is_some_and(|known| known.uid == pod.uid && known.is_counted())
    }

    /// How long room is kept after the pod is gone: by the `reserve/keep` of the pod, else of the nearest owner that has one, else
    /// of the namespace.
    pub fn reservation_life(&self, pod: &Pod) -> Option<Duration> {
        self.reservation_life_for(&PodContext::new(pod, &self.owners))
    }

    pub(in crate::cluster) fn reservation_life_for(&self, context: &PodContext<'_>) -> Option<Duration> {
        let namespace = self.catalog.namespaces.named(&context.pod.key.namespace);
        let owners = context.chain().iter().map(|owner| owner.keep.as_ref());
        let keeps = std::iter::once(context.pod.keep()).chain(owners);
        let keeps = keeps.chain([namespace.and_then(|namespace| namespace.keep.as_ref())]);
        keeps.flatten().find_map(Keep::life)
    }

    /// Whether a waiting pod may be the replacement of a pod with an automatic reservation: `reserve/keep` applies to it, and its
    /// owner misses pods.
    pub fn is_expected_replacement(&self, pod: &Pod) -> bool {
        let context = PodContext::new(pod, &self.owners);
        self.reservation_life_for(&context).is_some()
            && reservation_owner(&context, &self.owners)
                .is_ok_and(|owner| self.missing_replicas(&owner).is_none_or(|missing| missing > 0))
    }

    /// Whether a reservation for a pod that is gone still has to be written: the replacement may have taken another reservation
    /// meanwhile, such as the seat that the gone pod had.
    pub fn is_still_needed(&self, reservation: &Reservation) -> bool {
        reservation.record().is_none_or(|record| self.lacks_reservation(&record.owner, &reservation.id))
    }

    /// Whether `owner` misses more pods than there are open reservations for it, besides `id`. True if that is unknown.
    fn lacks_reservation(&self, owner: &Owner, id: &ReservationId) -> bool {
        let Some(missing) = self.missing_replicas(owner) else { return true };
        let ledgers = self.reservation_index.of(&owner.uid).filter_map(|id| self.nodes.get(id));
        let open = ledgers.flat_map(|ledger| ledger.entries.iter().map(move |entry| (ledger, entry)));
        let open = open.filter(|(ledger, entry)| {
            let reservation = &*entry.reservation;
            let is_other = reservation.id.owner == owner.uid && reservation.id != *id;
            is_other && !reservation.is_manual() && is_open(ledger, reservation, entry.state)
        });
        open.count() < missing as usize
    }

    fn check_limits(&self, ledger: &Ledger, reservation: &Reservation) -> Result<(), NotReservedReason> {
        // This is checked even if a shorter record with the same key is in the annotations already.
        let annotations =
            encode(reservation).map_err(|error| NotReservedReason::Unwritable(error.to_string().into()))?;
        if ledger.is_reserved(&reservation.id) {
            return Ok(());
        }
        let is_counted = ledger.entries.iter().any(|entry| entry.reservation.id == reservation.id);
        let namespace = reservation.record().map(|record| &record.owner.namespace);
        let in_namespace = namespace.map_or(0, |namespace| self.reservation_index.automatic_in(namespace));
        let most = self.reservation_index.automatic_max;
        if in_namespace.saturating_sub(usize::from(is_counted)) >= most {
            return Err(NotReservedReason::TooMany(most));
        }
        self.check_namespace_limits(reservation, is_counted)?;
        let keys = u32::try_from(annotations.len()).unwrap_or(u32::MAX);
        let bytes: usize = annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let size = ledger.node.annotations;
        let is_full = ledger.entries.len() >= PER_NODE_MAX
            || size.our_keys.saturating_add(keys) as usize > KEYS_MAX
            || size.our_bytes.saturating_add(bytes) as usize > BYTES_MAX
            || size.bytes.saturating_add(bytes) as usize > ANNOTATIONS_MAX;
        if is_full { Err(NotReservedReason::NodeFull) } else { Ok(()) }
    }

    /// Reserves the room of a pod whose deletion had begun and that is gone. The reservation counts locally until a replica writes
    /// it; if the node's annotations have it already, nothing changes.
    pub(in crate::cluster) fn reserve_for_gone(&mut self, gone: &Pod) {
        let Some(id) = gone.node.as_ref().and_then(|node| self.nodes.id(node)) else { return };
        if let Ok(reservation) = self.automatic_reservation(gone, self.now) {
            self.reserve_locally_at(id, reservation);
        }
    }
}

/// Whether a pod of the owner is still expected to take the reservation.
fn is_open(ledger: &Ledger, reservation: &Reservation, state: ReservationState) -> bool {
    let is_leaving =
        |replaced: &ReplacedPod| ledger.pods.iter().any(|pod| pod.uid == replaced.uid && pod.deleting);
    match state {
        ReservationState::Held | ReservationState::Short => true,
        ReservationState::Occupied => reservation.replaces().is_some_and(is_leaving),
        ReservationState::Taken | ReservationState::Expired => false,
    }
}

fn check_eligible(context: &PodContext<'_>) -> Result<(), NotReservedReason> {
    let pod = context.pod;
    let unfit = if pod.is_mirror {
        "its kubelet makes it from a file"
    } else if context.is_of_daemon_set() {
        "a DaemonSet's pods return to their nodes by themselves"
    } else if pod.preempted {
        "it has to go for a more important pod"
    } else if pod.evicted_by_node_pressure {
        "its node runs out of something"
    } else if pod.problem.is_some() {
        "what it asks for cannot be read"
    } else {
        return Ok(());
    };
    Err(NotReservedReason::Unfit(unfit))
}

pub(in crate::cluster) fn reservation(
    pod: &Pod,
    owner: Owner,
    expires: Timestamp,
    now: Timestamp,
) -> Result<Reservation, NotReservedReason> {
    let (verb, reason) =
        if pod.deleting { ("delete", "the pod is being deleted") } else { ("keep", "the pod asks for it") };
    let terms = ReservationTerms {
        now,
        expires,
        life: None,
        // All replicas make the same request id: of two that write, the second finds the reservation done.
        request: format!("{verb}-{}", pod.uid).into(),
        by: AUTOMATIC.into(),
        reason: reason.into(),
        placement: Placement::Prefer,
    };
    replacement_reservation(pod, owner, terms).ok_or(NotReservedReason::NoOwner)
}

impl Ledger {
    /// Whether the node's annotations have exactly this reservation.
    pub fn is_durable(&self, reservation: &Reservation) -> bool {
        self.durable(&reservation.id).is_some_and(|one| **one == *reservation)
    }

    pub fn is_reserved(&self, id: &ReservationId) -> bool {
        self.durable(id).is_some()
    }

    pub fn durable(&self, id: &ReservationId) -> Option<&Arc<Reservation>> {
        self.node
            .reservations
            .iter()
            .filter_map(ParsedReservation::valid)
            .find(|reservation| reservation.id == *id)
    }
}
