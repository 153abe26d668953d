//! I7: how far ahead the end of a reservation may be. Room that is empty is kept for an hour at most, whatever the grace of the
//! pod was that left it; while that pod is there, nothing ends later than a day from now.

use common::model::Reservation;
use common::model::keep::LIFE_MAX;
use jiff::{SignedDuration, Timestamp};

/// The longest that anything is kept for a pod that is yet to leave.
const AHEAD_MAX: SignedDuration = SignedDuration::from_hours(24);
/// Clocks are apart by up to two seconds, and ends are written in whole seconds.
const SLACK: SignedDuration = SignedDuration::from_secs(3);
/// How long it may take until whoever writes an end has heard that the pod is gone, and until that write is there.
const ON_ITS_WAY: SignedDuration = SignedDuration::from_secs(120);

/// What is wrong with the end of a reservation that is there at `now`. `empty` is since when its room is empty; none
/// while the pod is there that it replaces.
pub fn too_far(reservation: &Reservation, empty: Option<Timestamp>, now: Timestamp) -> Option<String> {
    let (replaced, end) = (reservation.replaces()?, reservation.record()?.expires);
    let life = SignedDuration::try_from(LIFE_MAX).unwrap_or_default();
    let latest = match empty {
        Some(empty) => empty + life + ON_ITS_WAY,
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
