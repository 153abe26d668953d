//! The reservation for the replacement of a pod, and when it expires. Entry point: [`replacement_reservation`]. The daemon and the
//! command use the same function, so both write the same keys and amounts.

use crate::cluster::Cluster;
use crate::cluster::{NotReservedReason, Owners, PodContext};
use crate::model::keep::{LIFE_DEFAULT, LIFE_MAX};
use crate::model::{
    Moment, Origin, Owner, Placement, Pod, PodKey, Record, ReplacedPod, Reservation, ReservationId, Seat,
    Text, Uid,
};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// Added to the creation time of a reservation, so that a pod without a stamp which was bound before does not count as having taken
/// it. The time of the binding is from the API server's clock, and ours may differ by up to a second.
const CLOCK_MARGIN: Duration = Duration::from_secs(1);

/// While its pod is being deleted, a reservation is written to last one life plus at least this.
const LEAVING_MORE: Duration = Duration::from_secs(60);

/// While its pod stays, a reservation is written to last one life plus at least this: a hundred pods cause less than one write in
/// two seconds.
const STAYING_MORE: Duration = Duration::from_secs(4 * 60);

/// The parts of a reservation that do not follow from the replaced pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationTerms {
    pub now: Timestamp,
    /// When the reservation should expire. It expires earlier if that is beyond the cap of one hour from now.
    pub expires: Timestamp,
    /// The life that a user asked for, from the moment at which the pod is gone. A life from `reserve/keep` is not stored here: it
    /// is read again each time, because it can change.
    pub life: Option<Duration>,
    /// The unique id of the request. The resource version of the pod is added to it.
    pub request: Text,
    pub by: Text,
    pub reason: Text,
    pub placement: Placement,
}

/// The reservation for the replacement of `pod`. `None` if its UID is not one that the API server makes.
pub fn replacement_reservation(pod: &Pod, owner: Owner, terms: ReservationTerms) -> Option<Reservation> {
    let id = ReservationId { owner: owner.uid.clone(), seat: Some(Seat::for_replaced(&pod.uid)?) };
    let seat = pod.stamp.as_deref().and_then(|stamp| stamp.split_once('.'));
    // A bare pod is its own owner and had another UID before; `is_heir` compares the names later.
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
    /// The owner of a reservation for the replacement of `pod`: its top owner, or the pod itself if it has no controller.
    ///
    /// # Errors
    /// When an owner that the pod names was not read.
    pub fn owner_of(&self, pod: &Pod) -> Result<Owner, NotReservedReason> {
        reservation_owner(&PodContext::new(pod, &self.owners), &self.owners)
    }

    /// Whether the process that made the reservation had seen a newer version of the replaced pod than this belief has. Then the
    /// belief may be wrong about that pod: that it is not being deleted, has no `reserve/keep`, or does not exist.
    pub fn is_behind(&self, record: &Record) -> bool {
        let version = record.request.rsplit_once('@').and_then(|(_, version)| version.parse().ok());
        let (Some(version), Some(replaced)) = (version, &record.replaces) else { return false };
        let key = PodKey { namespace: record.owner.namespace.clone(), name: replaced.name.clone() };
        let seen: u64 = match self.pod(&key).filter(|pod| pod.uid == replaced.uid) {
            Some(pod) => pod.resource_version,
            None => self.newest_versions().1,
        };
        seen < version
    }
}

/// The owner of a reservation: the top owner, or the pod itself if it has no controller.
pub(in crate::cluster) fn reservation_owner(
    context: &PodContext<'_>,
    owners: &Owners,
) -> Result<Owner, NotReservedReason> {
    if context.is_bare() {
        let (key, uid) = (&context.pod.key, context.pod.uid.clone());
        return Ok(Owner {
            kind: "Pod".into(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            uid,
        });
    }
    // If one of the owners is gone or not read yet, the top owner is unknown.
    if owners.is_missing_for(context.pod) {
        return Err(NotReservedReason::NoOwner);
    }
    let top = context.top().filter(|top| top.uid.is_canonical()).ok_or(NotReservedReason::NoOwner)?;
    Ok(top.owner())
}

/// The expiry of a reservation for the replacement of `pod`, which is still there, so that `life` remains when the pod is gone. The
/// controller extends the reservation while the pod is there, so it need not last for the whole grace period, which a tenant can
/// choose.
pub fn expiry_for(pod: &Pod, life: Duration, now: Timestamp) -> Timestamp {
    let more = match pod.deleting {
        true => LEAVING_MORE.max(life / 2),
        // A pod that stays can have its reservation for days, and each extension is a write to its node.
        false => life.clamp(STAYING_MORE, LIFE_DEFAULT).max(life / 2),
    };
    let empty = pod.deletion_timestamp().map_or(now, |gone| gone.max(now));
    capped(later(empty, life.saturating_add(more)), now)
}

/// A reservation with this `life` is extended when less than this is left of it. [`expiry_for`] then adds half a life or more.
pub fn extension_threshold(life: Duration) -> Duration {
    life.min(LIFE_MAX / 2)
}

/// Limits an expiry to one hour from `now`, so that no room is held for more than an hour after it became empty, however long the
/// grace period of the pod was.
fn capped(expires: Timestamp, now: Timestamp) -> Timestamp {
    Moment::of(expires.min(later(now, LIFE_MAX))).time()
}

/// `time` plus `more`, at most `Timestamp::MAX`.
pub(in crate::cluster) fn later(time: Timestamp, more: Duration) -> Timestamp {
    let more = SignedDuration::try_from(more).unwrap_or(SignedDuration::MAX);
    time.checked_add(more).unwrap_or(Timestamp::MAX)
}
