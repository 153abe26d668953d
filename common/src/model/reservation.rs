//! A reservation as a value: whose it is, where it came from, how much, until when.
//!
//! Its state is not stored anywhere: it follows from the node, the pods counted there and the time
//! (`cluster::ledger`). Its form on the wire is `api::reservation`.

use super::ids::{Text, Uid};
use super::owner::Owner;
pub use super::port::HostPort;
use super::resources::Resources;
use jiff::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Who made a reservation that nobody asked for by hand, as its record says.
pub const AUTOMATIC: &str = "reserve-daemon";

/// The most reservations that one node can have.
pub const PER_NODE_MAX: usize = 128;

/// The most annotations of ours that one node can have.
pub const KEYS_MAX: usize = 512;

/// The most bytes of them, keys and values.
pub const BYTES_MAX: usize = 128 << 10;

/// With more annotations than this, in bytes, nobody adds to them: at 256 KiB the API server refuses every write of one.
pub const ANNOTATIONS_MAX: usize = 200 << 10;

/// What the annotations of a node amount to, one by one.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// A well-formed reservation.
    Valid(Arc<Reservation>),
    /// Something under our prefix that is no reservation. It is shown, reported, and otherwise ignored.
    Invalid(Invalid),
}

/// Room kept on a node for an owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation {
    /// Which one it is.
    pub id: ReservationId,
    /// How much is kept. One pod slot is always part of it.
    pub amount: Resources,
    /// The host ports that are kept.
    pub ports: Box<[HostPort]>,
    /// What else is known about it.
    pub origin: Origin,
}

/// The name part of the annotation keys: `<owner-uid>` or `<owner-uid>.<seat>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReservationId {
    /// The UID of the owner.
    pub owner: Uid,
    /// Which of the owner's reservations on the node; none in the plain form.
    pub seat: Option<Seat>,
}

/// Tells several reservations of one owner on one node apart. At most 20 characters of `[a-z0-9]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat(Text);

/// Where a reservation came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// Written by hand in the plain form: no expiry, no record of who and why.
    Manual,
    /// Written by one of our programs, with a record.
    Recorded(Box<Record>),
    /// Written by a newer version of our programs. Its amounts and, if readable, its expiry count.
    Newer {
        /// The version that its record names.
        version: u64,
        /// When it ends, if that could be read.
        expires: Option<Timestamp>,
    },
}

/// The `reserve.info` annotation.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The top owner.
    pub owner: Owner,
    /// The pod whose room is kept; none when the reservation replaces no pod.
    pub replaces: Option<ReplacedPod>,
    /// The owner's priority: pods above it need not heed the reservation.
    pub priority: i32,
    /// When it was made.
    pub created: Timestamp,
    /// From when on it no longer counts.
    pub expires: Timestamp,
    /// For how long it lives from the moment at which the replaced pod is gone, if whoever made it said so.
    pub life: Option<Duration>,
    /// Unique id of the command or event that made it.
    pub request: Text,
    /// Who made it.
    pub by: Text,
    /// Why it was made.
    pub reason: Text,
    /// How strongly the replacement is tied to the node.
    pub placement: Placement,
    /// Fields that this version does not know, as the text of a JSON object. Whoever rewrites the record keeps them.
    pub unknown: Option<Box<str>>,
}

/// The pod that is to be recreated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedPod {
    /// Its name.
    pub name: Text,
    /// Its UID.
    pub uid: Uid,
    /// The seat of the same owner that it had taken itself: with it gone, that one has been passed on.
    pub seat: Option<Seat>,
}

/// How strongly a replacement is tied to the node of its reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It waits for its node while the replaced pod is terminating.
    Wait,
    /// Its node scores highest.
    Prefer,
    /// It goes to its node or nowhere.
    Require,
}

/// Something under our prefix that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The annotation key at fault, shortened and with control characters escaped.
    pub key: Text,
    /// What is wrong with it.
    pub problem: Text,
}

impl Reservation {
    /// When it ends; `None` for never.
    pub fn expires(&self) -> Option<Timestamp> {
        match &self.origin {
            Origin::Manual => None,
            Origin::Recorded(record) => Some(record.expires),
            Origin::Newer { expires, .. } => *expires,
        }
    }

    /// Whether it still counts at `now`. Every reader judges this itself; removing the annotation is hygiene.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires().is_none_or(|expires| now < expires)
    }

    /// Its record, when it has one that we can read.
    pub fn record(&self) -> Option<&Record> {
        match &self.origin {
            Origin::Recorded(record) => Some(record),
            Origin::Manual | Origin::Newer { .. } => None,
        }
    }

    /// The pod whose room is kept.
    pub fn replaces(&self) -> Option<&ReplacedPod> {
        self.record().and_then(|record| record.replaces.as_ref())
    }

    /// When it was made, if that was recorded.
    pub fn created(&self) -> Option<Timestamp> {
        self.record().map(|record| record.created)
    }

    /// Whether nobody asked for it by hand.
    pub fn is_automatic(&self) -> bool {
        self.record().is_some_and(|record| &*record.by == AUTOMATIC)
    }

    /// Whether it is in the plain form.
    pub fn is_manual(&self) -> bool {
        matches!(self.origin, Origin::Manual)
    }
}

impl Parsed {
    /// The reservation, if it is one.
    pub fn valid(&self) -> Option<&Arc<Reservation>> {
        match self {
            Self::Valid(reservation) => Some(reservation),
            Self::Invalid(_) => None,
        }
    }

    /// What is wrong, if it is none.
    pub fn invalid(&self) -> Option<&Invalid> {
        match self {
            Self::Valid(_) => None,
            Self::Invalid(invalid) => Some(invalid),
        }
    }
}

impl Seat {
    /// The longest seat. With a UID and a dot it stays under the API server's 63 characters for a key's name.
    pub const LEN_MAX: usize = 20;

    /// The seat written as `text`, if that is one.
    pub fn parse(text: &str) -> Option<Self> {
        let is_seat = (1..=Self::LEN_MAX).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
        is_seat.then(|| Self(text.into()))
    }

    /// The seat of a reservation that replaces the pod with this UID: the same UID gives the same seat, so that a
    /// repeated command writes the same keys. `None` if the UID is not one that the API server makes.
    pub fn for_replaced(pod: &Uid) -> Option<Self> {
        // Twelve hexadecimal digits: short enough to type, and two pods of one owner on one node with the same
        // ones are not to be expected in the life of a cluster.
        let digits =
            || pod.to_string().chars().filter(|character| *character != '-').take(12).collect::<String>();
        pod.is_canonical().then(|| Self(digits().into()))
    }

    /// The seat as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Placement {
    /// The placement by its name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Wait, Self::Prefer, Self::Require].into_iter().find(|placement| placement.as_str() == name)
    }

    /// The name on the wire.
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
