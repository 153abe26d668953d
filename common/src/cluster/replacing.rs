//! The reservation that keeps the room of a pod while it is recreated: the same keys and amounts, whoever makes it.

use super::whose::Asker;
use super::{Cluster, NotKept, Owners};
use crate::model::ids::{PodKey, Text};
use crate::model::keep::LIFE_MAX;
use crate::model::owner::Owner;
use crate::model::reservation::{AUTOMATIC, Origin, Placement, Record, ReplacedPod, Seat};
use crate::model::{Moment, Pod, Reservation, ReservationId, Uid};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// A pod without a stamp that was bound before a reservation was made must not seem to have come for it. It says when by
/// the API server's clock, which ours follows to within a second; so a reservation says that it is that much younger.
const CLOCK_MARGIN: Duration = Duration::from_secs(1);

/// What does not follow from the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The time.
    pub now: Timestamp,
    /// When the room is expected to be empty.
    pub empty: Timestamp,
    /// For how long it is kept from then on.
    pub life: Duration,
    /// Unique id of whatever makes it. The version of the pod that it was made for is added.
    pub request: Text,
    /// Who makes it.
    pub by: Text,
    /// Why.
    pub reason: Text,
    /// How strongly the replacement is tied to the node.
    pub placement: Placement,
}

/// The reservation for the replacement of `pod`. `None` if its UID is not one that the API server makes.
pub fn replacing(pod: &Pod, owner: Owner, terms: Terms) -> Option<Reservation> {
    let id = ReservationId { owner: owner.uid.clone(), seat: Some(Seat::for_replaced(&pod.uid)?) };
    let seat = pod.stamp.as_deref().and_then(|stamp| stamp.split_once('.'));
    // Of a bare pod each one is its own owner; whether the seat was meant for its name is asked when it counts.
    let is_own = |of: &str| &*owner.kind == "Pod" || Uid::from(of) == owner.uid;
    let seat = seat.filter(|(of, _)| is_own(of)).and_then(|(_, seat)| Seat::parse(seat));
    let record = Record {
        owner,
        replaces: Some(ReplacedPod { name: pod.key.name.clone(), uid: pod.uid.clone(), seat }),
        priority: pod.spec.priority,
        created: later(terms.now, CLOCK_MARGIN),
        expires: Moment::of(later(terms.empty.max(terms.now), terms.life.min(LIFE_MAX))).time(),
        // What the pod and its owners wish can change; what a person asked for stays.
        life: (*terms.by != *AUTOMATIC).then_some(terms.life),
        request: format!("{}@{}", terms.request, pod.resource_version).into(),
        by: terms.by,
        reason: terms.reason,
        placement: terms.placement,
    };
    let mut amount = pod.spec.requests.counted().clone();
    amount.pods = 1;
    let origin = Origin::Recorded(Box::new(record));
    Some(Reservation { id, amount, ports: pod.spec.ports.clone(), origin })
}

impl Cluster {
    /// Whom a reservation for the replacement of `pod` is for: its top owner, or itself if nobody controls it.
    ///
    /// # Errors
    /// When an owner that it claims was not read.
    pub fn owner_of(&self, pod: &Pod) -> Result<Owner, NotKept> {
        owner(&Asker::new(pod, &self.owners), &self.owners)
    }

    /// Whether the pod that a reservation replaces was seen by whoever made it in a newer version than here: that it does not
    /// leave, wishes nothing, or is not there at all, may be out of date.
    pub fn is_behind(&self, record: &Record) -> bool {
        let version = record.request.rsplit_once('@').and_then(|(_, version)| version.parse().ok());
        let (Some(version), Some(replaced)) = (version, &record.replaces) else { return false };
        let key = PodKey { namespace: record.owner.namespace.clone(), name: replaced.name.clone() };
        let seen: u64 = match self.pod(&key).filter(|pod| pod.uid == replaced.uid) {
            Some(pod) => pod.resource_version,
            None => self.newest().1,
        };
        seen < version
    }
}

/// Whom the reservation is for: the top owner, or the pod itself if nobody controls it.
pub(super) fn owner(asker: &Asker<'_>, owners: &Owners) -> Result<Owner, NotKept> {
    if asker.is_bare() {
        let (key, uid) = (&asker.pod.key, asker.pod.uid.clone());
        return Ok(Owner {
            kind: "Pod".into(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            uid,
        });
    }
    // With an owner that is gone, or not yet read, nobody knows who is at the top.
    if owners.is_missing_for(asker.pod) {
        return Err(NotKept::NoOwner);
    }
    let top = asker.top().filter(|top| top.uid.is_canonical()).ok_or(NotKept::NoOwner)?;
    Ok(top.owner())
}

/// So much after `time`, or the end of time.
pub(super) fn later(time: Timestamp, more: Duration) -> Timestamp {
    let more = SignedDuration::try_from(more).unwrap_or(SignedDuration::MAX);
    time.checked_add(more).unwrap_or(Timestamp::MAX)
}
