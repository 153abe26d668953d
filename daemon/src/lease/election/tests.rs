//! What a candidate does with each possible Lease; `simulation` has several candidates.

mod simulation;

use super::{Action, Candidate, Record, Timing};
use jiff::Timestamp;
use std::time::Duration;

const TIMING: Timing = Timing {
    lease: Duration::from_secs(15),
    deadline: Duration::from_secs(10),
    retry: Duration::from_secs(2),
};

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn wall() -> Timestamp {
    "2026-11-16T08:00:00Z".parse().unwrap()
}

fn held(holder: &str, seconds: i32) -> Record {
    Record { holder: holder.into(), seconds, acquired: Some(wall()), renewed: Some(wall()), transitions: 4 }
}

fn candidate() -> Candidate<u64> {
    Candidate::new("me".into(), TIMING)
}

/// A candidate that leads since `begun`, with a Lease of version 7.
fn leader(begun: Duration) -> Candidate<u64> {
    let mut leader = candidate();
    leader.saw(None, begun);
    let Action::Write(record, None) = leader.next(begun, wall()) else { panic!("a Lease to create") };
    leader.wrote(record, 7, begun);
    leader
}

fn is_write(action: &Action<u64>) -> bool {
    matches!(action, Action::Write(..))
}

#[test]
fn a_lease_is_taken_only_when_nobody_can_have_it() {
    // The Lease that is read at 100 s, and after how many more seconds the candidate may take it.
    let cases: [(&str, Option<Record>, u64); 12] = [
        ("no Lease", None, 0),
        ("a Lease without a spec", Some(Record::default()), 0),
        ("released", Some(held("", 1)), 0),
        ("our own", Some(held("me", 15)), 0),
        ("somebody's", Some(held("other", 15)), 15),
        ("somebody's with more patience than ours", Some(held("other", 40)), 40),
        ("somebody's with less", Some(held("other", 5)), 15),
        ("somebody's, released by hand without a duration", Some(held("", 15)), 15),
        ("nothing to wait for", Some(held("other", 0)), 15),
        ("a negative duration", Some(held("other", -1)), 15),
        ("the most negative", Some(held("other", i32::MIN)), 15),
        ("an absurd one", Some(held("other", i32::MAX)), 600),
    ];
    for (what, record, after) in cases {
        let mut candidate = candidate();
        candidate.begin(secs(100));
        assert_eq!(candidate.next(secs(100), wall()), Action::Read);
        candidate.saw(record.clone().map(|record| (record, 3)), secs(100));
        for waited in [0, 1, 5, 14, 15, 39, 40, 599, 600] {
            let action = candidate.next(secs(100 + waited), wall());
            assert_eq!(is_write(&action), waited >= after, "{what}, after {waited} s");
            if let Action::Write(record, version) = action {
                assert_eq!((record.holder.as_str(), record.seconds), ("me", 15), "{what}");
                assert_eq!(version.is_none(), what == "no Lease");
            }
        }
    }
}

#[test]
fn any_change_of_the_record_is_a_sign_of_life_and_a_second_look_is_none() {
    let mut candidate = candidate();
    let mut record = held("other", 15);
    candidate.saw(Some((record.clone(), 1)), secs(0));
    candidate.saw(Some((record.clone(), 2)), secs(14));
    assert!(is_write(&candidate.next(secs(15), wall())), "somebody put a label on it");
    record.renewed = "1970-01-01T00:00:00Z".parse().ok();
    candidate.saw(Some((record, 3)), secs(15));
    assert!(!is_write(&candidate.next(secs(29), wall())), "whatever its clock says");
    assert!(is_write(&candidate.next(secs(30), wall())));
}

#[test]
fn a_lease_that_vanished_is_waited_for_like_one_that_is_there() {
    let mut candidate = candidate();
    candidate.saw(Some((held("other", 15), 1)), secs(0));
    candidate.saw(None, secs(2));
    assert!(!is_write(&candidate.next(secs(14), wall())));
    assert!(matches!(candidate.next(secs(15), wall()), Action::Write(_, None)));
}

#[test]
fn a_leader_counts_from_the_beginning_of_its_last_write() {
    let mut leader = leader(secs(100));
    assert!(leader.is_leading(secs(109)));
    assert!(!leader.is_leading(secs(110)));
    leader.begin(secs(102));
    let Action::Write(record, Some(7)) = leader.next(secs(102), wall()) else { panic!("no need to look") };
    assert_eq!(record.transitions, 0);
    leader.wrote(record, 8, secs(102));
    assert_eq!(leader.leads_until(), Some(secs(112)));
    leader.failed();
    assert!(leader.is_leading(secs(111)), "a write that failed alters nothing");
    assert!(!leader.is_leading(secs(112)), "and extends nothing");
}

#[test]
fn a_leader_that_sees_somebody_else_stops_at_once() {
    let mut leader = leader(secs(0));
    leader.failed();
    assert_eq!(leader.next(secs(2), wall()), Action::Read);
    leader.saw(Some((held("other", 15), 9)), secs(2));
    assert!(!leader.is_leading(secs(2)));
    assert_eq!(leader.next(secs(2), wall()), Action::Rest);
    assert_eq!(leader.release(wall()), None, "it is not ours to release");
}

#[test]
fn a_leader_writes_anew_what_was_deleted_or_emptied_by_hand() {
    let mut deleted = leader(secs(0));
    deleted.failed();
    deleted.saw(None, secs(2));
    assert!(deleted.is_leading(secs(2)));
    assert!(matches!(deleted.next(secs(2), wall()), Action::Write(_, None)));
    let mut emptied = leader(secs(0));
    emptied.failed();
    emptied.saw(Some((held("", 15), 9)), secs(2));
    assert!(matches!(emptied.next(secs(2), wall()), Action::Write(_, Some(9))));
}

#[test]
fn leaders_are_counted_without_overflow_and_renewals_are_not() {
    for (before, after) in [(4, 5), (i32::MAX, i32::MAX), (i32::MIN, 1)] {
        let mut candidate = candidate();
        candidate.saw(Some((Record { transitions: before, ..held("", 1) }, 1)), secs(0));
        let Action::Write(record, _) = candidate.next(secs(0), wall()) else { panic!("free") };
        assert_eq!(record.transitions, after);
    }
    let mut again = candidate();
    again.saw(Some((held("me", 15), 1)), secs(0));
    let Action::Write(record, _) = again.next(secs(0), "2030-01-01T00:00:00Z".parse().unwrap()) else {
        panic!("ours")
    };
    assert_eq!((record.transitions, record.acquired), (4, Some(wall())));
}

#[test]
fn whoever_goes_leaves_a_lease_that_is_free_at_once() {
    let mut old = leader(secs(0));
    let (record, version) = old.release(wall()).unwrap();
    assert!(!old.is_leading(secs(0)));
    assert_eq!((record.holder.as_str(), record.seconds, version), ("", 1, 7));
    let mut new = Candidate::new("new".into(), TIMING);
    new.saw(Some((record, 8)), secs(1));
    assert!(matches!(new.next(secs(1), wall()), Action::Write(_, Some(8))));
}
