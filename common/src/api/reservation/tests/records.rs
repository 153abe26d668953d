//! The `reserve.info` record: what is read, what makes it invalid, and what is read of a newer version.

use super::{OWNER, invalid, key, problem, record, record_with, valid};
use crate::model::Reservation;
use crate::model::reservation::{Origin, Placement};
use serde_json::{Value, json};

/// The reservation with this record and one cpu.
fn read(info: &str) -> Option<Reservation> {
    valid(&[(&key("cpu"), "1"), (&key("info"), info)]).pop()
}

/// What is wrong with the reservation with this record.
fn refused(info: &str) -> String {
    problem(&[(&key("cpu"), "1"), (&key("info"), info)])
}

#[test]
fn a_full_record_is_read_in_full() {
    let mut info = record();
    info["replaces"] = json!({ "name": "web-1", "uid": "p1" });
    info["priority"] = json!(-7);
    info["by"] = json!("jane");
    info["reason"] = json!("drain");
    info["placement"] = json!("require");
    info["resources"] = json!({ "nvidia.com/gpu": "2", "hugepages-2Mi": "4Mi" });
    info["ports"] =
        json!([{ "port": 53, "protocol": "UDP", "ip": "10.0.0.1" }, { "port": 80, "protocol": "TCP" }]);
    info["unknown"] = json!({ "of": ["a newer", "minor change"] });
    let found = read(&info.to_string()).unwrap();
    let record = found.record().unwrap();
    assert_eq!(found.id.to_string(), format!("{OWNER}.a1"));
    let amounts: Vec<String> = found.amount.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
    assert_eq!(amounts, ["cpu=1000", "pods=1", "hugepages-2Mi=4194304", "nvidia.com/gpu=2"]);
    assert_eq!(
        (&*record.owner.kind, &*record.owner.namespace, &*record.owner.name),
        ("Deployment", "shop", "web")
    );
    assert_eq!((&*record.by, &*record.reason, record.priority), ("jane", "drain", -7));
    assert_eq!(record.placement, Placement::Require);
    assert_eq!(&*found.replaces().unwrap().name, "web-1");
    assert_eq!((&*found.ports[0].ip, found.ports[1].port), ("10.0.0.1", 80));
    assert_eq!(record.expires.to_string(), "2026-01-31T12:10:00Z");
}

#[test]
fn what_may_be_missing_has_a_default() {
    let found = read(&record().to_string()).unwrap();
    let record = found.record().unwrap();
    assert_eq!((record.priority, &*record.by, &*record.reason), (0, "", ""));
    assert_eq!((record.replaces.as_ref(), found.ports.len()), (None, 0));
}

#[test]
fn malformed_records_are_explained() {
    let table = [
        ("", "not a record: EOF while parsing a value at line 1 column 0"),
        ("{}", "not a record: missing field `v` at line 1 column 2"),
        ("\0", "not a record: expected value at line 1 column 1"),
        ("null", "not a record: invalid type: null, expected struct VersionWire at line 1 column 4"),
        ("{\"v\":1", "not a record: EOF while parsing an object at line 1 column 6"),
        ("{\"v\":1}", "not a record: missing field `owner` at line 1 column 7"),
        ("{\"v\":0}", "v: version 0 does not exist"),
        ("{\"v\":-1}", "not a record: invalid value: integer `-1`, expected u64 at line 1 column 7"),
        ("{\"v\":\"1\"}", "not a record: invalid type: string \"1\", expected u64 at line 1 column 8"),
        ("{\"v\":1,\"v\":2}", "not a record: duplicate field `v` at line 1 column 10"),
        ("{\"v\":1} x", "not a record: trailing characters at line 1 column 9"),
    ];
    for (info, expected) in table {
        assert_eq!(refused(info), expected, "{info:?}");
    }
}

#[test]
fn fields_that_do_not_fit_are_explained() {
    let owner = |uid: &str| json!({ "kind": "Job", "namespace": "a", "name": "b", "uid": uid });
    let table = [
        ("owner", owner("x"), "owner.uid is \"x\", but the key names another owner"),
        ("owner", owner(""), "owner.uid is \"\", but the key names another owner"),
        ("placement", json!("here"), "placement: \"here\" is none of wait, prefer, require"),
        ("created", json!("now"), "created: \"now\" is not a time like 2026-01-31T12:00:00Z"),
        (
            "resources",
            json!({ "cpu": "1" }),
            "resources: cpu does not belong here, it has a key of its own or is understood",
        ),
        (
            "resources",
            json!({ "pods": "1" }),
            "resources: pods does not belong here, it has a key of its own or is understood",
        ),
        ("resources", json!({ "foo": "1" }), "resources: \"foo\" is not a resource that nodes have"),
        (
            "resources",
            json!({ "a.b/c": "-1" }),
            "resources: \"a.b/c\": `-1` is not an amount of a.b/c: write it without a sign",
        ),
        ("ports", json!([{ "port": 0, "protocol": "TCP" }]), "ports: 0 is not a port"),
        ("ports", json!([{ "port": 1, "protocol": "tcp" }]), "ports: \"tcp\" is none of TCP, UDP, SCTP"),
    ];
    for (field, value, expected) in table {
        assert_eq!(refused(&record_with(field, value)), expected);
    }
    for (field, value) in
        [("ports", json!([{ "port": 65536, "protocol": "TCP" }])), ("priority", json!(1_u64 << 31))]
    {
        assert!(refused(&record_with(field, value)).starts_with("not a record: invalid value"), "{field}");
    }
    for field in ["owner", "created", "expires", "request", "placement"] {
        let problem = refused(&record_with(field, Value::Null));
        assert!(problem.starts_with(&format!("not a record: missing field `{field}`")), "{problem}");
    }
}

#[test]
fn every_truncation_of_a_record_is_invalid() {
    let info = record().to_string();
    for length in 0..info.len() {
        assert!(read(&info[..length]).is_none(), "{length}");
        assert_eq!(invalid(&[(&key("info"), &info[..length])]).len(), 1, "{length}");
    }
}

#[test]
fn a_field_that_comes_twice_is_no_choice_of_ours() {
    let info = record().to_string();
    let twice = info.replacen('{', "{\"expires\":\"2027-01-01T00:00:00Z\",", 1);
    assert!(refused(&twice).starts_with("not a record: duplicate field `expires`"), "{}", refused(&twice));
}

#[test]
fn times_need_a_zone_and_a_place_in_the_calendar() {
    let good = [
        ("2026-01-31T12:10:00Z", "2026-01-31T12:10:00Z"),
        ("2026-01-31T14:10:00+02:00", "2026-01-31T12:10:00Z"),
        ("2026-01-31T12:10:00.123456789Z", "2026-01-31T12:10:00.123456789Z"),
        ("2026-06-30T23:59:60Z", "2026-06-30T23:59:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ];
    for (text, expected) in good {
        let found = read(&record_with("expires", json!(text))).unwrap();
        assert_eq!(found.expires().unwrap().to_string(), expected);
    }
    let bad = [
        "",
        "0",
        "-1",
        "1e18",
        "10m",
        "2026-01-31",
        "2026-01-31T12:10:00",
        "2026-02-30T12:10:00Z",
        "2026-01-31T12:10:00.123456789012Z",
        "9999-12-31T23:59:59Z",
        "10000-01-01T00:00:00Z",
        "\0",
    ];
    for text in bad {
        let problem = refused(&record_with("expires", json!(text)));
        assert!(problem.starts_with("expires: ") && problem.contains("is not a time like"), "{problem}");
    }
    assert!(read(&record_with("expires", json!(1_769_861_400))).is_none(), "a number is no time");
}

#[test]
fn of_a_newer_version_amounts_and_expiry_count() {
    let newer = |info: &str| match read(info).unwrap() {
        Reservation { origin: Origin::Newer { version, expires }, amount, .. } => {
            assert_eq!((amount.cpu, amount.pods), (1000, 1));
            (version, expires.map(|time| time.to_string()))
        }
        other => panic!("{other:?}"),
    };
    let time = "2026-01-31T12:10:00Z".to_owned();
    assert_eq!(newer(&record_with("v", json!(2))), (2, Some(time.clone())));
    assert_eq!(
        newer(r#"{"v":3,"expires":"2026-01-31T12:10:00Z","owner":["another","shape"]}"#),
        (3, Some(time))
    );
    assert_eq!(newer(r#"{"v":18446744073709551615}"#), (u64::MAX, None));
    assert_eq!(newer(r#"{"v":2,"expires":{"after":"10m"}}"#), (2, None));
    assert_eq!(newer(r#"{"v":2,"expires":"soon"}"#), (2, None));
    let bad_amount = [(&*key("cpu"), "-1"), (&*key("info"), r#"{"v":2}"#)];
    assert_eq!(valid(&bad_amount), [], "its amounts are in the grammar that all versions share");
}

#[test]
fn what_is_called_a_name_must_be_one() {
    let mut info = record();
    info["owner"]["name"] = json!("web\u{1b}[2J\nx");
    assert_eq!(refused(&info.to_string()), r#"owner.name: "web\u{1b}[2J\nx" is not a name"#);
    for (field, name) in [("kind", ""), ("namespace", "a b")] {
        let mut info = record();
        info["owner"][field] = json!(name);
        assert_eq!(refused(&info.to_string()), format!("owner.{field}: {name:?} is not a name"));
    }
    let mut info = record();
    info["replaces"] = json!({ "name": "x".repeat(254), "uid": "u" });
    assert!(refused(&info.to_string()).starts_with("replaces.name: "));
}
