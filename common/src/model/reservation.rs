//! A reservation as a value: its owner, its amount, its expiry, and who made it.
//!
//! The state of a reservation is not stored anywhere: it follows from the node, the pods counted there and the time
//! (`cluster::ledger`). The annotation format is in `api::reservation`.

pub use super::port::HostPort;
use super::{Owner, Resources, Text, Uid};
use jiff::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The value of `by` in the record of a reservation that the daemon made because of `reserve/keep`.
pub const AUTOMATIC: &str = "reserve-daemon";

pub const PER_NODE_MAX: usize = 128;

/// The most annotations of ours (`reserve.*`) on one node.
pub const KEYS_MAX: usize = 512;

/// The most bytes of our annotations on one node, keys and values.
pub const BYTES_MAX: usize = 128 << 10;

/// We add nothing to annotations of more bytes than this: above 256 KiB the API server refuses every write of an annotation.
pub const ANNOTATIONS_MAX: usize = 200 << 10;

/// The result of reading one reservation, or one invalid annotation, of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedReservation {
    Valid(Arc<Reservation>),
    /// An annotation with our prefix that is not a well-formed reservation. It is shown, reported and otherwise ignored.
    Invalid(InvalidAnnotation),
}

/// Room kept on a node for an owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation {
    pub id: ReservationId,
    /// How much is kept. One pod slot is always part of it.
    pub amount: Resources,
    pub ports: Box<[HostPort]>,
    pub origin: Origin,
}

/// The name part of the annotation keys: `<owner-uid>` or `<owner-uid>.<seat>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReservationId {
    pub owner: Uid,
    /// Which of the owner's reservations on the node; `None` in the plain form.
    pub seat: Option<Seat>,
}

/// Distinguishes several reservations of one owner on one node. At most 20 characters of `[a-z0-9]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat(Text);

#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// Written by hand in the plain form: no expiry and no record.
    Manual,
    /// Written by one of our programs, with a record.
    Recorded(Box<Record>),
    /// Written by a newer version of our programs. Its amounts and, if readable, its expiry count.
    Newer { version: u64, expires: Option<Timestamp> },
}

/// The `reserve.info` annotation.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The owner at the top of the chain of owners.
    pub owner: Owner,
    /// The pod whose room is kept; `None` if the reservation replaces no pod.
    pub replaces: Option<ReplacedPod>,
    /// The owner's priority. The reservation yields to pods of a higher priority.
    pub priority: i32,
    pub created: Timestamp,
    /// From this time on the reservation no longer counts.
    pub expires: Timestamp,
    /// How long the reservation lasts after the replaced pod is gone, if the writer recorded that.
    pub life: Option<Duration>,
    /// Unique id of the command or event that made it.
    pub request: Text,
    /// Who made the reservation: a user name, or [`AUTOMATIC`].
    pub by: Text,
    pub reason: Text,
    /// How strongly the replacement is tied to the node.
    pub placement: Placement,
    /// Fields that this version does not know, as the text of a JSON object. They are kept when the record is rewritten.
    pub unknown: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedPod {
    pub name: Text,
    pub uid: Uid,
    /// The seat of the same owner that this pod had taken itself. Once the pod is gone, that older seat counts as taken, since this
    /// reservation replaces it.
    pub seat: Option<Seat>,
}

/// How strongly a replacement is tied to the node of its reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The replacement waits for the node while the replaced pod is terminating.
    Wait,
    /// The node gets the highest score.
    Prefer,
    /// The replacement is scheduled to the node or not at all.
    Require,
}

/// An annotation with our prefix that is not a well-formed reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAnnotation {
    /// The annotation key at fault, shortened and with control characters escaped.
    pub key: Text,
    pub problem: Text,
}

impl Reservation {
    /// When the reservation expires; `None` for never.
    pub fn expires(&self) -> Option<Timestamp> {
        match &self.origin {
            Origin::Manual => None,
            Origin::Recorded(record) => Some(record.expires),
            Origin::Newer { expires, .. } => *expires,
        }
    }

    /// Whether the reservation has not expired at `now`. Every reader checks this itself; the annotation is removed only later.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires().is_none_or(|expires| now < expires)
    }

    /// The record, if there is one and this version can read it.
    pub fn record(&self) -> Option<&Record> {
        match &self.origin {
            Origin::Recorded(record) => Some(record),
            Origin::Manual | Origin::Newer { .. } => None,
        }
    }

    pub fn replaces(&self) -> Option<&ReplacedPod> {
        self.record().and_then(|record| record.replaces.as_ref())
    }

    pub fn created(&self) -> Option<Timestamp> {
        self.record().map(|record| record.created)
    }

    /// Whether the daemon made it because of `reserve/keep`.
    pub fn is_automatic(&self) -> bool {
        self.record().is_some_and(|record| &*record.by == AUTOMATIC)
    }

    /// Whether the reservation is in the plain form.
    pub fn is_manual(&self) -> bool {
        matches!(self.origin, Origin::Manual)
    }
}

impl ParsedReservation {
    pub fn valid(&self) -> Option<&Arc<Reservation>> {
        match self {
            Self::Valid(reservation) => Some(reservation),
            Self::Invalid(_) => None,
        }
    }

    pub fn invalid(&self) -> Option<&InvalidAnnotation> {
        match self {
            Self::Valid(_) => None,
            Self::Invalid(invalid) => Some(invalid),
        }
    }
}

impl Seat {
    /// The longest seat. Together with a UID and a dot it fits into the 63 characters that the API server allows after the slash.
    pub const LEN_MAX: usize = 20;

    pub fn parse(text: &str) -> Option<Self> {
        let is_seat = (1..=Self::LEN_MAX).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
        is_seat.then(|| Self(text.into()))
    }

    /// The seat of the reservation for the replaced pod with this UID. The same UID gives the same seat, so that a repeated command
    /// writes the same keys. `None` if the UID is not in the form that the API server writes.
    pub fn for_replaced(pod: &Uid) -> Option<Self> {
        // Twelve hexadecimal digits are short enough to type, and long enough that two pods of one owner on one node practically
        // never have the same seat.
        let digits =
            || pod.to_string().chars().filter(|character| *character != '-').take(12).collect::<String>();
        pod.is_canonical().then(|| Self(digits().into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Placement {
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Wait, Self::Prefer, Self::Require].into_iter().find(|placement| placement.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Prefer => "prefer",
            Self::Require => "require",
        }
    }
}

impl fmt::Display for ReservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.seat {
            Some(seat) => write!(f, "{}.{}", self.owner, seat.as_str()),
            None => write!(f, "{}", self.owner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Seat, Uid};

    #[test]
    fn a_seat_follows_from_the_uid_of_the_replaced_pod() {
        let uid = Uid::from("a8f6f901-47c9-4475-b1f4-cac44597e173");
        assert_eq!(Seat::for_replaced(&uid).unwrap().as_str(), "a8f6f90147c9");
        assert_eq!(Seat::for_replaced(&Uid::from("a/b~1c ..")), None);
    }

    #[test]
    fn a_seat_has_up_to_twenty_lower_case_letters_and_digits() {
        assert!(Seat::parse("a").is_some());
        assert!(Seat::parse("01234567890123456789").is_some());
        for odd in ["", "012345678901234567890", "A", "a.b", "a-b", "ä", "a\0"] {
            assert!(Seat::parse(odd).is_none(), "{odd:?}");
        }
    }
}
