//! The patches, applied to a model of an API server's node.

use super::{Plan, plan};
use crate::state::{AnnotationWrite, EXPIRED, ReservationChange};
use common::api::reservation::patch::ObservedNode;
use common::api::reservation::{encode, parse};
use common::model::owner::Owner;
use common::model::reservation::{Origin, Placement, Record, Seat};
use common::model::{Reservation, ReservationId, Resources, Uid};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const NODE: &str = "6e0f3b1c-8d2a-4c95-9f77-30b1a2c4d5e6";
const OWNER: &str = "11111111-2222-3333-4444-555555555555";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn reservation(request: &str) -> Reservation {
    let owner = Uid::from(OWNER);
    let record = Record {
        owner: Owner {
            kind: "Deployment".into(),
            namespace: "shop".into(),
            name: "web".into(),
            uid: owner.clone(),
        },
        replaces: None,
        priority: 0,
        created: at(0),
        expires: at(600),
        life: None,
        request: request.into(),
        by: "test".into(),
        reason: String::new().into(),
        placement: Placement::Prefer,
        unknown: None,
    };
    let mut amount = Resources::default();
    (amount.cpu, amount.memory, amount.pods) = (1000, 1 << 30, 1);
    let id = ReservationId { owner, seat: Seat::parse("a") };
    Reservation { id, amount, ports: Box::default(), origin: Origin::Recorded(Box::new(record)) }
}

fn change(change: ReservationChange) -> AnnotationWrite {
    AnnotationWrite { node: "n1".into(), uid: NODE.into(), change }
}

fn reserve(request: &str) -> AnnotationWrite {
    change(ReservationChange::Reserve(Box::new(reservation(request))))
}

fn release(request: &str) -> AnnotationWrite {
    change(ReservationChange::Release { judged: Arc::new(reservation(request)), why: "taken" })
}

fn released(judged: Reservation, why: &'static str) -> AnnotationWrite {
    change(ReservationChange::Release { judged: Arc::new(judged), why })
}

/// The reservation with another expiry.
fn lasting(request: &str, seconds: i64) -> Reservation {
    let mut reservation = reservation(request);
    if let Origin::Recorded(record) = &mut reservation.origin {
        record.expires = at(seconds);
    }
    reservation
}

fn extend(request: &str, seconds: i64) -> AnnotationWrite {
    change(ReservationChange::Extend {
        id: reservation("x").id,
        request: request.into(),
        expires: at(seconds),
    })
}

/// A node as an API server stores it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredNode {
    pub(crate) uid: String,
    pub(crate) version: u64,
    pub(crate) annotations: BTreeMap<String, String>,
}

impl StoredNode {
    pub(crate) fn new(annotations: &[(&str, &str)]) -> Self {
        let annotations = annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Self { uid: NODE.into(), version: 7, annotations: annotations.collect() }
    }

    fn plan(&self, annotation: &AnnotationWrite, seconds: i64) -> Plan {
        let version = self.version.to_string();
        let seen = ObservedNode { uid: &self.uid, version: &version, annotations: &self.annotations };
        plan(&seen, annotation, at(seconds))
    }

    /// Applies a JSON patch as an API server does: all steps or none.
    fn patch(&mut self, patch: &Value) -> Result<(), String> {
        let mut next = self.clone();
        // An API server stores no empty map.
        let mut has_map = !next.annotations.is_empty();
        for step in patch.as_array().unwrap() {
            let (op, path) = (step["op"].as_str().unwrap(), step["path"].as_str().unwrap());
            let key = path.strip_prefix("/metadata/annotations/");
            let key = key.map(|key| key.replace("~1", "/").replace("~0", "~"));
            let value = || step["value"].as_str().unwrap().to_owned();
            let is_well = match (op, path, key) {
                ("test", "/metadata/uid", _) => next.uid == value(),
                ("test", "/metadata/resourceVersion", _) => next.version.to_string() == value(),
                ("test", _, Some(key)) => next.annotations.get(&key) == Some(&value()),
                ("remove", _, Some(key)) => next.annotations.remove(&key).is_some(),
                ("add", "/metadata/annotations", _) => {
                    has_map = true;
                    next.annotations.is_empty()
                }
                ("add", _, Some(key)) if has_map => {
                    next.annotations.insert(key, value());
                    true
                }
                _ => false,
            };
            if !is_well {
                return Err(format!("{step}"));
            }
        }
        next.version += 1;
        *self = next;
        Ok(())
    }

    /// Makes the change; an error with the reason if it was refused.
    pub(crate) fn annotate(&mut self, annotation: &AnnotationWrite, now: Timestamp) -> Result<(), String> {
        let version = self.version.to_string();
        let seen = ObservedNode { uid: &self.uid, version: &version, annotations: &self.annotations };
        match plan(&seen, annotation, now) {
            Plan::Done => Ok(()),
            Plan::Never(why) => Err(why),
            Plan::Patch(patch) => self.patch(&patch),
        }
    }

    /// Reads and writes, without other writers.
    fn run(&mut self, annotation: &AnnotationWrite, seconds: i64) -> Plan {
        let plan = self.plan(annotation, seconds);
        if let Plan::Patch(patch) = &plan {
            self.patch(patch).unwrap();
        }
        plan
    }

    pub(crate) fn reservations(&self) -> Vec<Reservation> {
        let pairs = self.annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        parse(pairs).iter().filter_map(|parsed| parsed.valid().map(|one| (**one).clone())).collect()
    }
}

#[test]
fn a_reservation_comes_and_goes_and_nothing_else_is_touched() {
    let foreign = [("example.com/a~b", "1"), ("reserve.cpu/99999999-2222-3333-4444-555555555555", "5")];
    for annotations in [&[][..], &foreign[..]] {
        let empty = StoredNode::new(annotations);
        let mut server = empty.clone();
        assert!(matches!(server.run(&reserve("r1"), 1), Plan::Patch(_)));
        assert!(server.reservations().contains(&reservation("r1")));
        assert_eq!(server.run(&reserve("r1"), 1), Plan::Done, "done is done");
        assert!(matches!(server.run(&extend("r1", 900), 2), Plan::Patch(_)));
        assert!(server.reservations().iter().any(|one| one.expires() == Some(at(900))));
        assert_eq!(server.run(&extend("r1", 800), 2), Plan::Done, "never shorter");
        assert!(matches!(server.run(&released(lasting("r1", 900), "taken"), 3), Plan::Patch(_)));
        assert_eq!(server.annotations, empty.annotations);
        assert_eq!(server.run(&release("r1"), 3), Plan::Done, "gone is gone");
    }
}

#[test]
fn what_was_extended_since_it_was_judged_is_not_released() {
    let mut server = StoredNode::new(&[]);
    server.run(&reserve("r1"), 0);
    let judged = released(lasting("r1", 600), EXPIRED);
    // Like `kubectl reserve extend`, which keeps the request.
    server.run(&extend("r1", 900), 599);
    assert!(matches!(server.plan(&judged, 601), Plan::Never(_)));
    assert!(matches!(server.plan(&released(lasting("r1", 600), "unneeded"), 601), Plan::Never(_)));
    let mut other = lasting("r1", 900);
    other.amount.cpu += 1;
    assert!(matches!(server.plan(&released(other, "taken"), 601), Plan::Never(_)), "other amounts");
    let again = released(lasting("r1", 900), EXPIRED);
    assert!(matches!(server.plan(&again, 899), Plan::Never(_)), "not expired by the clock of whoever writes");
    assert!(matches!(server.plan(&again, 900), Plan::Patch(_)));
}

#[test]
fn what_lasts_too_long_is_shortened_unless_it_was_changed_since() {
    let mut server = StoredNode::new(&[]);
    let long = change(ReservationChange::Reserve(Box::new(lasting("r1", 1_000_000))));
    server.run(&long, 0);
    let shorten = |judged| change(ReservationChange::Shorten { judged: Arc::new(judged), expires: at(3600) });
    assert!(matches!(server.plan(&shorten(lasting("r1", 999_999)), 1), Plan::Never(_)));
    assert!(matches!(server.run(&shorten(lasting("r1", 1_000_000)), 1), Plan::Patch(_)));
    assert_eq!(server.reservations(), [lasting("r1", 3600)]);
}

#[test]
fn whoever_extends_keeps_the_fields_that_it_does_not_know() {
    let mut server = StoredNode::new(&[]);
    for (key, value) in encode(&reservation("r1")).unwrap() {
        let value = value.replace("\"v\":1", "\"v\":1,\"devices\":[{\"driver\":\"gpu.example.com\"}]");
        server.annotations.insert(key, value);
    }
    server.run(&extend("r1", 900), 1);
    let record = &server.annotations[&format!("reserve.info/{OWNER}.a")];
    assert!(record.contains("\"devices\":[{\"driver\":\"gpu.example.com\"}]"), "{record}");
    assert_eq!(server.reservations()[0].expires(), Some(at(900)));
    assert!(
        matches!(server.plan(&released(lasting("r1", 900), "taken"), 2), Plan::Never(_)),
        "it was judged without them"
    );
    let judged = server.reservations().remove(0);
    assert!(matches!(server.plan(&released(judged, "taken"), 2), Plan::Patch(_)));
}

#[test]
fn another_request_under_the_same_key_is_left_alone() {
    let mut server = StoredNode::new(&[]);
    server.run(&reserve("r1"), 0);
    assert!(matches!(server.plan(&release("r2"), 1), Plan::Never(_)));
    assert!(matches!(server.plan(&extend("r2", 900), 1), Plan::Never(_)));
    assert_eq!(server.plan(&reserve("r2"), 1), Plan::Done, "the room is kept already, whoever asked");
    assert!(matches!(server.run(&reserve("r2"), 600), Plan::Patch(_)), "what has expired is in nobody's way");
    assert_eq!(server.reservations(), [reservation("r2")]);
}

#[test]
fn another_node_under_the_same_name_is_left_alone() {
    let mut server = StoredNode::new(&[]);
    server.uid = "other".into();
    assert!(matches!(server.plan(&reserve("r1"), 0), Plan::Never(_)));
}

#[test]
fn of_two_writers_one_succeeds() {
    let foreign = [("example.com/a", "1")];
    let changes = [reserve("r1"), reserve("r2"), release("r0"), extend("r0", 900), extend("r0", 950)];
    for first in &changes {
        for second in &changes {
            let mut server = StoredNode::new(&foreign);
            if !matches!(first.change, ReservationChange::Reserve(_)) {
                server.run(&reserve("r0"), 0);
            }
            let (one, other) = (server.plan(first, 1), server.plan(second, 1));
            let (Plan::Patch(one), Plan::Patch(other)) = (one, other) else { continue };
            server.patch(&one).unwrap();
            assert!(server.patch(&other).is_err(), "{first:?} and {second:?}");
        }
    }
}

#[test]
fn a_kubelet_that_writes_meanwhile_costs_a_try_at_most() {
    let mut server = StoredNode::new(&[("example.com/a", "1")]);
    let Plan::Patch(stale) = server.plan(&reserve("r1"), 0) else { panic!() };
    server.version += 1;
    assert!(server.patch(&stale).is_err());
    server.run(&reserve("r1"), 0);
    let Plan::Patch(release) = server.plan(&release("r1"), 0) else { panic!() };
    server.version += 1;
    server.annotations.insert("example.com/b".into(), "2".into());
    assert!(server.patch(&release).is_ok(), "a release minds only its own keys");
    assert_eq!(server.annotations.len(), 2);
}

#[test]
fn what_is_malformed_under_our_key_makes_room_for_what_is_not() {
    let broken = format!("reserve.info/{OWNER}.a");
    let mut server = StoredNode::new(&[(&broken, "no record")]);
    assert!(matches!(server.plan(&release("r1"), 0), Plan::Never(_)), "nobody knows what it was");
    assert!(matches!(server.run(&reserve("r1"), 0), Plan::Patch(_)));
    assert_eq!(server.reservations(), [reservation("r1")]);
}

#[test]
fn what_a_newer_version_wrote_is_never_rewritten() {
    let mut server = StoredNode::new(&[]);
    for (key, value) in encode(&reservation("r1")).unwrap() {
        server.annotations.insert(key, value.replace("\"v\":1", "\"v\":2"));
    }
    assert!(matches!(server.plan(&release("r1"), 9999), Plan::Never(_)));
    assert!(matches!(server.plan(&extend("r1", 9999), 9999), Plan::Never(_)));
    assert!(!matches!(server.plan(&reserve("r1"), 1), Plan::Patch(_)));
    assert!(!matches!(server.plan(&reserve("r1"), 9999), Plan::Patch(_)), "nor when it has expired");
}
