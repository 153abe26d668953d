//! I7: how far ahead the end of a reservation may be. Empty room is reserved for an hour at most, whatever the grace period of the
//! replaced pod was; while that pod is still there, the end is at most a day ahead.

use common::model::Reservation;
use common::model::keep::LIFE_MAX;
use jiff::{SignedDuration, Timestamp};

/// How far ahead the end may be while the replaced pod is still there.
const AHEAD_MAX: SignedDuration = SignedDuration::from_hours(24);
/// Clocks differ by up to two seconds, and ends are written in whole seconds.
const SLACK: SignedDuration = SignedDuration::from_secs(3);
/// How long it may take until the writer of an end has seen that the pod is gone, and until its write is stored.
const WRITE_DELAY: SignedDuration = SignedDuration::from_secs(120);

/// What is wrong with the end of a reservation at `now`. `empty` is the time since when its room is empty; `None` while the
/// replaced pod is still there.
pub fn too_far(reservation: &Reservation, empty: Option<Timestamp>, now: Timestamp) -> Option<String> {
    let (replaced, end) = (reservation.replaces()?, reservation.record()?.expires);
    let life = SignedDuration::try_from(LIFE_MAX).unwrap_or_default();
    let latest = match empty {
        Some(empty) => empty + life + WRITE_DELAY,
        None => now + AHEAD_MAX + SLACK,
    };
    let since = empty.map_or_else(|| "yet to leave".to_owned(), |empty| format!("gone since {empty}"));
    (end > latest).then(|| {
        format!(
            "{} ends at {end}, and {}, which it replaces, is {since}; it is {now}",
            reservation.id, replaced.name
        )
    })
}
