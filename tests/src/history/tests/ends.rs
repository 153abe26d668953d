//! Tests of I7 for the end of a reservation, and of I24 for pods that wait at the end.

use super::{
    DAEMON, HistoryBuilder, NEW, SEAT, STRANGER, moment, pod, reserve_patch, reserved,
    until_the_new_one_waits, until_the_old_one_goes,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The reservation of the history with another end.
fn reserved_until(end: Timestamp) -> Value {
    let mut annotations = reserved();
    let record = &mut annotations[format!("reserve.info/{SEAT}")];
    let mut info: Value = serde_json::from_str(record.as_str().unwrap()).unwrap();
    info["expires"] = json!(end);
    *record = json!(info.to_string());
    annotations
}

#[test]
fn i7_an_end_that_is_more_than_a_day_ahead() {
    let after = |hours: i64, user: &str| {
        let mut builder = until_the_old_one_goes();
        let end = moment(builder.revision) + SignedDuration::from_hours(hours);
        builder.node(&reserved_until(end), user, reserve_patch());
        builder.broken()
    };
    assert_eq!(after(23, DAEMON), Vec::<&str>::new());
    assert_eq!(after(25, DAEMON), ["I7"]);
    assert_eq!(after(25, "admin"), Vec::<&str>::new(), "what others write is not ours to answer for");
}

#[test]
fn i7_an_end_that_is_more_than_an_hour_after_the_room_became_empty() {
    let after = |minutes: i64| {
        let mut builder = until_the_new_one_waits();
        // The old pod was gone one revision before the new one came.
        let end = moment(builder.revision - 1) + SignedDuration::from_mins(minutes);
        builder.node(&reserved_until(end), DAEMON, reserve_patch());
        builder.broken()
    };
    assert_eq!(after(61), Vec::<&str>::new());
    assert_eq!(after(63), ["I7", "I7"], "when it is written, and at the end");
    let mut builder = until_the_old_one_goes();
    let end = moment(builder.revision) + SignedDuration::from_mins(63);
    builder.node(&reserved_until(end), DAEMON, reserve_patch());
    assert_eq!(builder.broken(), Vec::<&str>::new(), "the pod is still there");
}

/// The old pod is gone, another pod waits, and the history ends `steps` revisions later.
fn waits(waiting: Value, steps: u64) -> HistoryBuilder {
    let mut builder = until_the_old_one_goes();
    builder.pod_gone(super::going(pod("old", super::OLD, "3", true)));
    let mut waiting = waiting;
    waiting["metadata"]["creationTimestamp"] = json!(moment(builder.revision + 1));
    builder.pod(waiting);
    builder.history.end = moment(builder.revision + steps);
    builder
}

#[test]
fn i24_a_pod_that_waits_beside_the_place_that_is_kept_for_it() {
    let builder = waits(pod("new", NEW, "3", true), 7);
    assert_eq!(builder.broken_at(true), ["I24"]);
    assert_eq!(builder.broken_at(false), Vec::<&str>::new(), "things go on");
    let builder = waits(pod("new", NEW, "3", true), 5);
    assert_eq!(builder.broken_at(true), Vec::<&str>::new(), "it came a moment ago");
}

#[test]
fn i24_a_pod_that_waits_although_there_is_room() {
    let stranger = |cpu: &str| waits(pod("stranger", STRANGER, cpu, false), 7).broken_at(true);
    assert_eq!(stranger("2"), Vec::<&str>::new(), "the room is kept for another");
    assert_eq!(stranger("1"), ["I24"], "beside what is kept there is room");
}
