//! When a reservation that is on its way counts for a seat that is already there.

use crate::history::knowledge::{passes_on_seat, valid_reservations};
use common::api::node::node;
use common::model::Node;
use serde_json::{Map, json};

/// A node with reservations of one Deployment: each has a seat, and the seat that its replaced pod had had.
fn node_with(seats: &[(&str, &str)]) -> Node {
    let owner = "00000000-0000-4000-8000-000000000001";
    let mut annotations = Map::new();
    for (seat, replaced) in seats {
        let info = json!({"v": 1, "owner": {"kind": "Deployment", "namespace": "default", "name": "web", "uid": owner},
            "replaces": {"name": "old", "uid": format!("old-{seat}"), "seat": replaced}, "priority": 0,
            "created": "2026-01-01T00:00:04Z", "expires": "2026-01-01T00:00:40Z", "request": "r1", "placement": "wait"});
        annotations.insert(format!("reserve.cpu/{owner}.{seat}"), json!("1"));
        annotations.insert(format!("reserve.info/{owner}.{seat}"), json!(info.to_string()));
    }
    node(&json!({"metadata": {"name": "n1", "annotations": annotations}}).to_string()).unwrap()
}

#[test]
fn a_reservation_for_the_pod_that_took_a_seat_passes_it_on() {
    let passes = |known: &[(&str, &str)], fresh: (&str, &str)| {
        let fresh = node_with(&[fresh]);
        let fresh = valid_reservations(&fresh).next().unwrap();
        passes_on_seat(&node_with(known), fresh)
    };
    assert!(passes(&[("s1", "")], ("s2", "s1")));
    assert!(!passes(&[("s1", "")], ("s2", "")), "the replaced pod had no seat");
    assert!(!passes(&[("s1", "")], ("s2", "s3")), "it had another one");
    assert!(!passes(&[("s1", ""), ("s2", "s1")], ("s3", "s1")), "passed on before");
}
