//! Golden output of `describe`: every state.

use super::{ReservationDescription, ReservationEvent, node, reservation};
use crate::reservations::{fixture, rows, waiting_pods};

fn described(name: &str, is_known: bool) -> String {
    let mut cluster = fixture::cluster();
    let now = fixture::now();
    let snapshot = cluster.snapshot(now);
    let rows = rows(&snapshot);
    let row = rows.iter().find(|row| row.id() == name).unwrap();
    let event = ReservationEvent {
        at: Some("2026-11-16T08:09:13Z".parse().unwrap()),
        kind: "Normal".into(),
        reason: "Reserved".into(),
        about: "Pod/testngx-1".into(),
        note: "Its room on node node-1 is reserved".into(),
    };
    reservation(&ReservationDescription {
        row,
        now,
        has_pods: is_known,
        waiting: waiting_pods(row, &snapshot, &fixture::waiting()),
        annotations: vec![(format!("reserve.cpu/{}.7f3a0c", fixture::WEB), "5000m".into())],
        events: is_known.then(|| vec![event]),
        enforced_by: is_known.then(|| "reserve-scheduler (the daemon)".into()),
    })
}

#[test]
fn every_state_says_why() {
    for (state, name) in [
        ("held", "node-1/7f3a0c"),
        ("expired", "node-1/91c0aa"),
        ("occupied", "node-1/0cc7"),
        ("taken", "node-1/7a4e"),
        ("nobody", &format!("node-1/{}", fixture::NOBODY)),
        ("invalid", "node-1/reserve.cpu/oops"),
        ("short", "node-2/5807"),
        ("in_part", "node-3/22222222-0000-4000-8000-000000000002"),
        ("orphaned", "node-3/0149"),
        ("newer", "node-3/new1"),
    ] {
        insta::assert_snapshot!(format!("describe_{state}"), described(name, true));
    }
    insta::assert_snapshot!("describe_unknown", described("node-1/7f3a0c", false));
}

#[test]
fn a_node_shows_all_of_its_reservations() {
    let mut cluster = fixture::cluster();
    let now = fixture::now();
    let snapshot = cluster.snapshot(now);
    let mut rows = rows(&snapshot);
    rows.retain(|row| row.node() == "node-1");
    insta::assert_snapshot!("describe_node", node(rows[0].ledger, &rows, Some(&[]), now, Some(80)));
}
