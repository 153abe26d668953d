//! Which annotation keys are ours, and which of our keys are well-formed.

use super::{OWNER, invalid, key, problem, record, valid};
use crate::api::reservation::parse;

const NOT_AN_OWNER: &str = "the name after the slash does not start with an owner's UID (a lower-case UUID)";
const NOT_A_SEAT: &str = "the seat is not 1 to 20 characters of a-z and 0-9";
const NO_SUCH_KEY: &str =
    "no such key: there are reserve.cpu, reserve.memory, reserve.ephemeral-storage and reserve.info";

#[test]
fn foreign_keys_are_passed_over() {
    let foreign = [
        "",
        "/",
        "/x",
        "reserve",
        "reserve/seat",
        &format!("reserve/{OWNER}"),
        &format!("Reserve.CPU/{OWNER}"),
        &format!("RESERVE.cpu/{OWNER}"),
        &format!("xreserve.cpu/{OWNER}"),
        &format!(" reserve.cpu/{OWNER}"),
        &format!("\u{feff}reserve.cpu/{OWNER}"),
        "reserve.example.com/team",
        "reserve.example.com/cpu",
        "reserve.example.com",
        "node.alpha.kubernetes.io/ttl",
    ];
    for key in foreign {
        assert_eq!(parse([(key, "1")]), [], "{key:?}");
    }
}

#[test]
fn malformed_keys_are_named_with_what_is_wrong() {
    let upper = "AAAAAAAA-2222-3333-4444-555555555555";
    let without_dashes = OWNER.replace('-', "");
    let table = [
        ("reserve.".to_owned(), NO_SUCH_KEY),
        ("reserve.cpu".to_owned(), NOT_AN_OWNER),
        ("reserve.cpu/".to_owned(), NOT_AN_OWNER),
        ("reserve.cpu//x".to_owned(), NOT_AN_OWNER),
        (format!("reserve.cpu//{OWNER}"), NOT_AN_OWNER),
        ("reserve.cpu/a/b".to_owned(), NOT_AN_OWNER),
        ("reserve.cpu/..".to_owned(), NOT_AN_OWNER),
        (format!("reserve.cpu/{}", "a".repeat(63)), NOT_AN_OWNER),
        (format!("reserve.cpu/{}", "a".repeat(64)), NOT_AN_OWNER),
        (format!("reserve.cpu/{upper}"), NOT_AN_OWNER),
        (format!("reserve.cpu/{OWNER}x"), NOT_AN_OWNER),
        (format!("reserve.cpu/{OWNER}/"), NOT_AN_OWNER),
        (format!("reserve.cpu/{OWNER} "), NOT_AN_OWNER),
        (format!("reserve.cpu/{OWNER}\0"), NOT_AN_OWNER),
        (format!("reserve.cpu/{without_dashes}"), NOT_AN_OWNER),
        ("reserve.cpu/a/b~1c ..".to_owned(), NOT_AN_OWNER),
        (format!("reserve.info/{upper}.a1"), NOT_AN_OWNER),
        (format!("reserve.cpu/{OWNER}."), NOT_A_SEAT),
        (format!("reserve.cpu/{OWNER}.A"), NOT_A_SEAT),
        (format!("reserve.cpu/{OWNER}.a.b"), NOT_A_SEAT),
        (format!("reserve.cpu/{OWNER}.{}", "0".repeat(21)), NOT_A_SEAT),
        (format!("reserve.cpu/{OWNER}.a\0"), NOT_A_SEAT),
        (format!("reserve.gpu/{OWNER}"), NO_SUCH_KEY),
        (format!("reserve.CPU/{OWNER}"), NO_SUCH_KEY),
        (format!("reserve.meta/{OWNER}"), NO_SUCH_KEY),
        (format!("reserve./{OWNER}"), NO_SUCH_KEY),
        (format!("reserve.cpu.evil/{OWNER}"), NO_SUCH_KEY),
        (format!("reserve.cpu./{OWNER}"), NO_SUCH_KEY),
    ];
    for (key, expected) in table {
        assert_eq!(problem(&[(&key, "1")]), expected, "{key:?}");
    }
}

#[test]
fn any_canonical_uid_can_be_an_owner() {
    for owner in [OWNER, "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"] {
        let key = format!("reserve.cpu/{owner}");
        let found = valid(&[(&key, "1")]);
        assert_eq!(found.len(), 1, "{owner}");
        assert_eq!(found[0].id.to_string(), owner);
        assert!(found[0].is_manual());
    }
}

#[test]
fn the_plain_form_may_have_any_of_its_amounts() {
    let [cpu, memory, storage] =
        ["cpu", "memory", "ephemeral-storage"].map(|word| format!("reserve.{word}/{OWNER}"));
    let amounts = |annotations: &[(&str, &str)]| match valid(annotations).as_slice() {
        [one] => (one.amount.cpu, one.amount.memory, one.amount.ephemeral_storage, one.amount.pods),
        other => panic!("{other:?}"),
    };
    assert_eq!(amounts(&[(&cpu, "1500m")]), (1500, 0, 0, 1));
    assert_eq!(amounts(&[(&memory, "128Mi")]), (0, 128 << 20, 0, 1));
    assert_eq!(amounts(&[(&storage, "1Gi")]), (0, 0, 1 << 30, 1));
    assert_eq!(amounts(&[(&storage, "2"), (&cpu, "1"), (&memory, "3k")]), (1000, 3000, 2, 1));
}

#[test]
fn the_longest_seat_still_makes_a_key_that_the_api_server_takes() {
    let seat = "0".repeat(20);
    let name = format!("{OWNER}.{seat}");
    assert!(name.len() <= 63);
    let keys = [format!("reserve.cpu/{name}"), format!("reserve.info/{name}")];
    let found = valid(&[(&keys[0], "1"), (&keys[1], &record().to_string())]);
    assert_eq!(found[0].id.seat.as_ref().unwrap().as_str(), seat);
}

#[test]
fn a_seat_needs_a_record_and_a_record_needs_a_seat() {
    assert_eq!(problem(&[(&key("cpu"), "1")]), "has the seat a1 but no reserve.info beside it");
    let plain = format!("reserve.info/{OWNER}");
    assert_eq!(
        problem(&[(&plain, &record().to_string())]),
        "has no seat: expected <owner-uid>.<seat>",
        "a record alone"
    );
    assert_eq!(valid(&[(&plain, &record().to_string())]), []);
    let cpu = format!("reserve.cpu/{OWNER}");
    let both = [(&*plain, "{}"), (&*cpu, "2")];
    assert_eq!(valid(&both)[0].amount.cpu, 2000, "the plain form beside it stays");
    assert_eq!(invalid(&both).len(), 1);
}

#[test]
fn a_record_alone_is_a_reservation_of_one_pod_slot() {
    let found = valid(&[(&key("info"), &record().to_string())]);
    assert_eq!((found[0].amount.pods, found[0].amount.cpu), (1, 0));
}

#[test]
fn one_bad_amount_makes_its_own_reservation_invalid_as_a_whole() {
    let (cpu, memory) = (format!("reserve.cpu/{OWNER}"), format!("reserve.memory/{OWNER}"));
    let other = "reserve.cpu/99999999-2222-3333-4444-555555555555";
    for bad in ["", "-1", "+1", "1e3", "0", "NaN", "1 ", "1\0", "0.5m", "٥", "9999999999999999E"] {
        let annotations = [(&*cpu, bad), (&*memory, "1Gi"), (other, "1")];
        let found = valid(&annotations);
        assert_eq!(found.len(), 1, "{bad:?}");
        assert_eq!(found[0].id.to_string(), &other["reserve.cpu/".len()..], "{bad:?}");
        let malformed = invalid(&annotations);
        assert_eq!(malformed.len(), 1, "{bad:?}");
        assert_eq!(&*malformed[0].key, cpu, "{bad:?}");
    }
}

#[test]
fn bad_amounts_are_explained() {
    let cpu = format!("reserve.cpu/{OWNER}");
    let table = [
        ("-5", "`-5` is not an amount of cpu: write it without a sign"),
        ("1e3", "`1e3` is not an amount of cpu: write it without an exponent"),
        ("0", "`0` is not an amount of cpu: it must be more than zero"),
        ("", "`` is not an amount of cpu: it is empty"),
        ("5m\0", "`5m\\u{0}` is not an amount of cpu: unexpected `\\u{0}`"),
        (
            "0.0001",
            "`0.0001` is not an amount of cpu: it is not a whole number of the smallest unit, which is 1m",
        ),
        ("10E", "`10E` is not an amount of cpu: it is more than anything can have"),
    ];
    for (value, expected) in table {
        assert_eq!(problem(&[(&cpu, value)]), expected);
    }
}
