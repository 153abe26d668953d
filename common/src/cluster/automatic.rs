//! Which pods are kept a place for without anybody asking by hand, and what that reservation is.
//!
//! A pod is kept a place for when it, one of its owners, or its namespace says `reserve/keep`, and it is being deleted
//! although its owner wants it back. A pod that says so itself has its reservation from the start.
//!
//! The same answer serves twice: the controller writes the reservation down as soon as the deletion begins, and the
//! belief makes one of its own in the very step in which a pod vanishes that has none yet, so that nobody is placed
//! on its room meanwhile. Both have the same key; the one on the node goes before ours, unless it is over.

use super::Cluster;
use super::eligibility::PodContext;
use super::ledger::{Ledger, State};
use super::replacing::{Terms, expiry_for, later, owner, replacing};
use crate::api::reservation::encode;
use crate::model::ids::Text;
use crate::model::owner::Owner;
use crate::model::reservation::{
    ANNOTATIONS_MAX, AUTOMATIC, BYTES_MAX, KEYS_MAX, PER_NODE_MAX, Parsed, Placement, ReplacedPod,
};
use crate::model::{Keep, Pod, Reservation, ReservationId};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// Why no place is kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKept {
    /// Nobody wishes it.
    #[error("nothing asks for it")]
    NotWished,
    /// It is not on a node that is known, or has ended there.
    #[error("the pod is on no node")]
    NoNode,
    /// It was created with the name of its node in it, and its kubelet has not accepted it.
    #[error("the kubelet of its node has not accepted it")]
    NotAdmitted,
    /// It is of a kind that finds its node by itself, or has to leave it.
    #[error("{0}")]
    Unfit(&'static str),
    /// Nobody that was read controls it.
    #[error("its owner cannot be read")]
    NoOwner,
    /// Its owner lacks no pods, or places are kept for all that it lacks.
    #[error("its owner lacks no pod that no room is reserved for")]
    NotShort,
    /// Its namespace has as many as it may have.
    #[error("the namespace has {0} automatic reservations already, which is the limit")]
    TooMany(usize),
    /// Its namespace would have more reserved than its pods requested.
    #[error("the namespace would have more {0} reserved than its pods requested at most in the last hour")]
    OverUsage(Text),
    /// Its namespace would have more reserved than a ResourceQuota allows.
    #[error("the namespace would have more {0} reserved than its ResourceQuota allows")]
    OverQuota(Text),
    /// Its record cannot be written, because it is too long.
    #[error("the reservation cannot be written: {0}")]
    Unwritable(Text),
    /// Its node has no room for more annotations.
    #[error("the node has too many annotations")]
    NodeFull,
}

impl NotKept {
    /// Whether a limit keeps the place from being kept, so that people have to be told although the pod did not ask by itself.
    pub fn is_limit(&self) -> bool {
        match self {
            Self::TooMany(_) | Self::OverUsage(_) | Self::OverQuota(_) => true,
            Self::Unwritable(_) | Self::NodeFull => true,
            Self::NotWished | Self::NoNode | Self::NotAdmitted | Self::Unfit(_) => false,
            Self::NoOwner | Self::NotShort => false,
        }
    }

    /// The reason in one word, for counting.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotWished => "not-wished",
            Self::NoNode => "no-node",
            Self::NotAdmitted => "not-admitted",
            Self::Unfit(_) => "unfit",
            Self::NoOwner => "no-owner",
            Self::NotShort => "not-short",
            Self::TooMany(_) => "too-many",
            Self::OverUsage(_) => "over-usage",
            Self::OverQuota(_) => "over-quota",
            Self::Unwritable(_) => "unwritable",
            Self::NodeFull => "node-full",
        }
    }
}

impl Cluster {
    /// The reservation that `pod` is to have as of `now`, whether or not there is one already.
    ///
    /// # Errors
    /// Why it is to have none.
    pub fn keep(&self, pod: &Pod, now: Timestamp) -> Result<Reservation, NotKept> {
        let pod_context = PodContext::new(pod, &self.owners);
        let life = self.life_for(&pod_context).ok_or(NotKept::NotWished)?;
        if !pod.deleting && pod.keep().and_then(Keep::life).is_none() {
            return Err(NotKept::NotWished);
        }
        fit(&pod_context)?;
        if !pod.is_admitted() {
            return Err(NotKept::NotAdmitted);
        }
        let id = pod.node.as_ref().and_then(|node| self.nodes.id(node));
        let ledger = id.and_then(|id| self.nodes.get(id)).ok_or(NotKept::NoNode)?;
        if !ledger.node.is_ready {
            return Err(NotKept::Unfit("its node is not ready"));
        }
        let owner = owner(&pod_context, &self.owners)?;
        let expires = match pod.deleting {
            // The grace period means nothing once the pod is gone.
            true if self.is_there(pod) => later(pod.gone_by().map_or(now, |gone| gone.max(now)), life),
            true => later(now, life),
            false => expiry_for(pod, life, now),
        };
        let reservation = reservation(pod, owner.clone(), expires, now)?;
        if pod.deleting && !self.is_short_of_seats(&owner, &reservation.id) {
            return Err(NotKept::NotShort);
        }
        self.check_caps(ledger, &reservation)?;
        Ok(reservation)
    }

    /// Whether this very pod still takes room.
    fn is_there(&self, pod: &Pod) -> bool {
        self.pod(&pod.key).is_some_and(|known| known.uid == pod.uid && known.is_counted())
    }

    /// How long room is kept for the pod: what it says itself, else its owners from the nearest, else its namespace.
    pub fn life(&self, pod: &Pod) -> Option<Duration> {
        self.life_for(&PodContext::new(pod, &self.owners))
    }

    pub(super) fn life_for(&self, pod_context: &PodContext<'_>) -> Option<Duration> {
        let namespace = self.catalog.namespaces.named(&pod_context.pod.key.namespace);
        let owners = pod_context.chain().iter().map(|owner| owner.keep.as_ref());
        let wishes = std::iter::once(pod_context.pod.keep()).chain(owners);
        let wishes = wishes.chain([namespace.and_then(|namespace| namespace.keep.as_ref())]);
        wishes.flatten().find_map(Keep::life)
    }

    /// Whether a waiting pod belongs to an owner that keeps places and lacks pods.
    pub fn is_kept_and_short(&self, pod: &Pod) -> bool {
        let pod_context = PodContext::new(pod, &self.owners);
        self.life_for(&pod_context).is_some()
            && owner(&pod_context, &self.owners)
                .is_ok_and(|owner| self.short(&owner).is_none_or(|short| short > 0))
    }

    /// Whether a place that is kept for a pod which is gone is still to be written down: its replacement may have taken another one
    /// meanwhile, such as the seat that the pod itself had.
    pub fn is_still_needed(&self, reservation: &Reservation) -> bool {
        reservation.record().is_none_or(|record| self.is_short_of_seats(&record.owner, &reservation.id))
    }

    /// Whether `owner` lacks a pod that no other reservation than `id` is for. Where that cannot be told it does.
    fn is_short_of_seats(&self, owner: &Owner, id: &ReservationId) -> bool {
        let Some(short) = self.short(owner) else { return true };
        let ledgers = self.seats.of(&owner.uid).filter_map(|id| self.nodes.get(id));
        let open = ledgers.flat_map(|ledger| ledger.entries.iter().map(move |entry| (ledger, entry)));
        let open = open.filter(|(ledger, entry)| {
            let reservation = &*entry.reservation;
            let is_other = reservation.id.owner == owner.uid && reservation.id != *id;
            is_other && !reservation.is_manual() && is_open(ledger, reservation, entry.state)
        });
        open.count() < short as usize
    }

    fn check_caps(&self, ledger: &Ledger, reservation: &Reservation) -> Result<(), NotKept> {
        // Also where another record of the same place was short enough.
        let annotations =
            encode(reservation).map_err(|error| NotKept::Unwritable(error.to_string().into()))?;
        if ledger.is_reserved(&reservation.id) {
            return Ok(());
        }
        let is_counted = ledger.entries.iter().any(|entry| entry.reservation.id == reservation.id);
        let namespace = reservation.record().map(|record| &record.owner.namespace);
        let in_namespace = namespace.map_or(0, |namespace| self.seats.automatic_in(namespace));
        let most = self.seats.automatic_max;
        if in_namespace.saturating_sub(usize::from(is_counted)) >= most {
            return Err(NotKept::TooMany(most));
        }
        self.check_usage(reservation, is_counted)?;
        let keys = u32::try_from(annotations.len()).unwrap_or(u32::MAX);
        let bytes: usize = annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let size = ledger.node.annotations;
        let is_full = ledger.entries.len() >= PER_NODE_MAX
            || size.our_keys.saturating_add(keys) as usize > KEYS_MAX
            || size.our_bytes.saturating_add(bytes) as usize > BYTES_MAX
            || size.bytes.saturating_add(bytes) as usize > ANNOTATIONS_MAX;
        if is_full { Err(NotKept::NodeFull) } else { Ok(()) }
    }

    /// A pod that was being deleted is gone: unless its node says so already, its place is kept for a while, in which
    /// somebody will write it down.
    pub(super) fn keep_place_of(&mut self, gone: &Pod) {
        let Some(id) = gone.node.as_ref().and_then(|node| self.nodes.id(node)) else { return };
        if let Ok(meant) = self.keep(gone, self.now) {
            self.keep_locally(id, meant);
        }
    }
}

/// Whether a pod still has to come for the reservation.
fn is_open(ledger: &Ledger, reservation: &Reservation, state: State) -> bool {
    let is_leaving =
        |replaced: &ReplacedPod| ledger.pods.iter().any(|pod| pod.uid == replaced.uid && pod.deleting);
    match state {
        State::Held | State::Short => true,
        State::Occupied => reservation.replaces().is_some_and(is_leaving),
        State::Taken | State::Expired => false,
    }
}

fn fit(pod_context: &PodContext<'_>) -> Result<(), NotKept> {
    let pod = pod_context.pod;
    let unfit = if pod.is_mirror {
        "its kubelet makes it from a file"
    } else if pod_context.is_of_daemon_set() {
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
    Err(NotKept::Unfit(unfit))
}

/// The reservation of a pod that nobody asked for by hand.
pub(super) fn reservation(
    pod: &Pod,
    owner: Owner,
    expires: Timestamp,
    now: Timestamp,
) -> Result<Reservation, NotKept> {
    let (verb, reason) =
        if pod.deleting { ("delete", "the pod is being deleted") } else { ("keep", "the pod asks for it") };
    let terms = Terms {
        now,
        expires,
        life: None,
        // The same for whoever makes it: of two that try, one finds it done.
        request: format!("{verb}-{}", pod.uid).into(),
        by: AUTOMATIC.into(),
        reason: reason.into(),
        placement: Placement::Prefer,
    };
    replacing(pod, owner, terms).ok_or(NotKept::NoOwner)
}

impl Ledger {
    /// Whether the node itself says this very reservation.
    pub fn says(&self, reservation: &Reservation) -> bool {
        self.durable(&reservation.id).is_some_and(|one| **one == *reservation)
    }

    /// Whether the node itself says that `id` is reserved.
    pub fn is_reserved(&self, id: &ReservationId) -> bool {
        self.durable(id).is_some()
    }

    /// The reservation `id`, as the node itself says it.
    pub fn durable(&self, id: &ReservationId) -> Option<&Arc<Reservation>> {
        self.node.reservations.iter().filter_map(Parsed::valid).find(|reservation| reservation.id == *id)
    }
}
