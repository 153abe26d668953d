//! The reservation that keeps the room of a pod while it is recreated: the same keys and amounts, whoever makes it.

use super::eligibility::PodContext;
use super::{Cluster, NotKept, Owners};
use crate::model::ids::{PodKey, Text};
use crate::model::keep::{LIFE_DEFAULT, LIFE_MAX};
use crate::model::owner::Owner;
use crate::model::reservation::{Origin, Placement, Record, ReplacedPod, Seat};
use crate::model::{Moment, Pod, Reservation, ReservationId, Uid};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// A pod without a stamp that was bound before a reservation was made must not seem to have come for it. It says when by
/// the API server's clock, which ours follows to within a second; so a reservation says that it is that much younger.
const CLOCK_MARGIN: Duration = Duration::from_secs(1);

/// By how much more than one life a reservation is extended while its pod is leaving, at least.
const LEAVING_MORE: Duration = Duration::from_secs(60);

/// The same while its pod stays: a hundred pods cause less than one write in two seconds.
const STAYING_MORE: Duration = Duration::from_secs(4 * 60);

/// What does not follow from the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The time.
    pub now: Timestamp,
    /// When it is to end. What would be later than the cap allows ends then.
    pub expires: Timestamp,
    /// For how long it lives from the moment at which the pod is gone, if a person says so. What the pod and its owners wish is
    /// read from them, because it can change.
    pub life: Option<Duration>,
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
        expires: capped(terms.expires, terms.now),
        life: terms.life,
        request: format!("{}@{}", terms.request, pod.resource_version).into(),
        by: terms.by,
        reason: terms.reason,
        placement: terms.placement,
        unknown: None,
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
        owner(&PodContext::new(pod, &self.owners), &self.owners)
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
pub(super) fn owner(pod_context: &PodContext<'_>, owners: &Owners) -> Result<Owner, NotKept> {
    if pod_context.is_bare() {
        let (key, uid) = (&pod_context.pod.key, pod_context.pod.uid.clone());
        return Ok(Owner {
            kind: "Pod".into(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            uid,
        });
    }
    // With an owner that is gone, or not yet read, nobody knows who is at the top.
    if owners.is_missing_for(pod_context.pod) {
        return Err(NotKept::NoOwner);
    }
    let top = pod_context.top().filter(|top| top.uid.is_canonical()).ok_or(NotKept::NoOwner)?;
    Ok(top.owner())
}

/// When a reservation is to end that keeps the place of `pod`, which is still there, for `life` after it is gone. Whoever keeps a
/// place extends it while the pod is there, so it need not last for the whole grace period, which a tenant can choose.
pub fn expiry_for(pod: &Pod, life: Duration, now: Timestamp) -> Timestamp {
    let more = match pod.deleting {
        true => LEAVING_MORE.max(life / 2),
        // The place of a pod that stays can be kept for days: each extension is a write to its node.
        false => life.clamp(STAYING_MORE, LIFE_DEFAULT).max(life / 2),
    };
    let empty = pod.gone_by().map_or(now, |gone| gone.max(now));
    capped(later(empty, life.saturating_add(more)), now)
}

/// When so little is left of a reservation that keeps a place for `life` that it is extended. What [`expiry_for`] gives is later by
/// half a life or more.
pub fn extended_below(life: Duration) -> Duration {
    life.min(LIFE_MAX / 2)
}

/// Nothing is written to last for more than an hour from `now`: so no room is held for more than an hour after it became empty,
/// however long the grace period of the pod was.
fn capped(expires: Timestamp, now: Timestamp) -> Timestamp {
    Moment::of(expires.min(later(now, LIFE_MAX))).time()
}

/// So much after `time`, or the end of time.
pub(super) fn later(time: Timestamp, more: Duration) -> Timestamp {
    let more = SignedDuration::try_from(more).unwrap_or(SignedDuration::MAX);
    time.checked_add(more).unwrap_or(Timestamp::MAX)
}
