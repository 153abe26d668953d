//! Very many or very long annotations: the output stays bounded, and valid reservations stay valid.

use super::super::{INFO_LEN_MAX, PER_NODE_MAX, parse};
use super::{OWNER, invalid, key, problem, record, valid};
use crate::api::node;
use crate::model::reservation::ParsedReservation;
use serde_json::json;

const LAST: &str = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/// The `index`th of many owners.
fn owner(index: usize) -> String {
    format!("{index:08x}-2222-3333-4444-555555555555")
}

fn texts(parsed: &[ParsedReservation]) -> usize {
    let length = |parsed: &ParsedReservation| match parsed {
        ParsedReservation::Valid(_) => 0,
        ParsedReservation::Invalid(invalid) => invalid.key.len() + invalid.problem.len(),
    };
    parsed.iter().map(length).sum()
}

#[test]
fn values_and_keys_of_300_kib_are_refused_in_few_words() {
    let huge = "9".repeat(300 << 10);
    let cpu = format!("reserve.cpu/{OWNER}");
    let expected =
        format!("`{}…` is not an amount of cpu: it has 307200 characters, more than 32", "9".repeat(40));
    assert_eq!(problem(&[(&cpu, &huge)]), expected);
    assert_eq!(
        problem(&[(&key("info"), &huge)]),
        format!("has 307200 bytes, and at most {INFO_LEN_MAX} are read")
    );
    let long_key = format!("reserve.cpu/{huge}");
    let found = invalid(&[(&long_key, "1")]);
    assert_eq!(found[0].key.chars().count(), 91);
    assert!(found[0].key.ends_with("9…"));
    let escapes = format!("reserve.cpu/{}", "\0\u{202e}\n".repeat(1000));
    let found = invalid(&[(&escapes, "1")]);
    assert!(
        found[0].key.starts_with("reserve.cpu/\\u{0}\\u{202e}\\n") && found[0].key.len() < 100,
        "{found:?}"
    );
}

#[test]
fn more_reservations_than_a_node_can_have_are_one_problem() {
    let keys: Vec<String> = (0..4000).map(|index| format!("reserve.cpu/{}", owner(index))).collect();
    let parsed = parse(keys.iter().map(|key| (key.as_str(), "1")));
    let good = parsed.iter().filter_map(ParsedReservation::valid).count();
    assert_eq!((good, parsed.len()), (PER_NODE_MAX, PER_NODE_MAX + 1));
    let Some(ParsedReservation::Invalid(last)) = parsed.last() else { panic!("{parsed:?}") };
    assert_eq!(&*last.problem, "3872 reservations more than the 128 that one node can have");
    assert_eq!(&*last.key, "reserve.");
}

#[test]
fn a_flood_of_malformed_keys_is_counted_rather_than_listed() {
    let keys: Vec<String> = (0..4000).map(|index| format!("reserve.cpu/{index}{}", "x".repeat(40))).collect();
    let parsed = parse(keys.iter().map(|key| (key.as_str(), "1")));
    assert_eq!(parsed.len(), PER_NODE_MAX + 1);
    assert!(texts(&parsed) < 64 << 10);
    let Some(ParsedReservation::Invalid(last)) = parsed.last() else { panic!("{parsed:?}") };
    assert_eq!(&*last.problem, "3872 more malformed annotations");
}

#[test]
fn malformed_reservations_do_not_crowd_out_a_good_one() {
    let good = format!("reserve.cpu/{LAST}");
    for bad_value in ["-1", "", "1e3"] {
        let keys: Vec<String> = (0..4000).map(|index| format!("reserve.cpu/{}", owner(index))).collect();
        let flood = keys.iter().map(|key| (key.as_str(), bad_value));
        let parsed = parse(flood.chain([(good.as_str(), "1")]));
        let found: Vec<String> =
            parsed.iter().filter_map(ParsedReservation::valid).map(|one| one.id.to_string()).collect();
        assert_eq!(found, [LAST], "{bad_value:?}");
        assert_eq!(parsed.len(), 1 + PER_NODE_MAX + 1);
    }
}

#[test]
fn seats_of_one_owner_are_told_apart() {
    let info = record().to_string();
    let keys: Vec<String> = (0..10).map(|seat| format!("reserve.info/{OWNER}.s{seat}")).collect();
    let annotations: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), info.as_str())).collect();
    assert_eq!(valid(&annotations).len(), 10);
}

#[test]
fn of_a_key_that_comes_twice_in_raw_json_the_last_counts() {
    let raw = |annotations: &str| {
        let json = format!(r#"{{"metadata":{{"name":"n","annotations":{{{annotations}}}}}}}"#);
        node::node(&json).unwrap().reservations
    };
    let amounts = raw(&format!(r#""reserve.cpu/{OWNER}":"1","reserve.cpu/{OWNER}":"2""#));
    assert_eq!(amounts[0].valid().unwrap().amount.cpu, 2000);
    let records = raw(&format!(r#""reserve.info/{OWNER}":"{{}}","reserve.info/{OWNER}":"{{}}""#));
    assert!(records.iter().all(|parsed| parsed.valid().is_none()), "two records without a seat: {records:?}");
}

#[test]
fn a_node_full_of_poison_is_still_a_node() {
    let mut annotations = serde_json::Map::new();
    for index in 0..4000 {
        annotations.insert(format!("reserve.cpu/{}.{index}", owner(index)), json!("1\u{0}"));
        annotations.insert(format!("reserve.x{index}"), json!("\u{feff}"));
    }
    let json = json!({ "metadata": { "name": "n", "annotations": annotations }, "status": { "allocatable": { "cpu": "1" } } });
    let node = node::node(&json.to_string()).unwrap();
    assert_eq!((node.allocatable.cpu, node.problem), (1000, None));
    assert_eq!(node.reservations.len(), PER_NODE_MAX + 1);
}
