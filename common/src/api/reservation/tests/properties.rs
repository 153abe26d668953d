//! Property tests: what holds for all reservations and all annotations.

use super::super::{encode, parse};
use crate::model::ids::Uid;
use crate::model::owner::Owner;
use crate::model::reservation::{HostPort, Origin, ParsedReservation, Placement, Record, ReplacedPod, Seat};
use crate::model::{Reservation, ReservationId, ResourceName, Resources};
use jiff::Timestamp;
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use proptest::prop_assert_eq;
use std::sync::Arc;
use std::time::Duration;

fn uid() -> impl Strategy<Value = Uid> {
    "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}".prop_map(Uid::from)
}

fn time() -> impl Strategy<Value = Timestamp> {
    (0..4_000_000_000_i64, 0..1_000_000_000_i32).prop_map(|(s, n)| Timestamp::new(s, n).unwrap())
}

fn amount(keyless: bool) -> impl Strategy<Value = Resources> {
    let keyed = [ResourceName::Cpu, ResourceName::Memory, ResourceName::EphemeralStorage];
    let scalars = ["nvidia.com/gpu", "hugepages-2Mi", "example.com/odd_Name.1"].map(ResourceName::from);
    let names: Vec<ResourceName> = keyed.into_iter().chain(scalars.into_iter().filter(|_| keyless)).collect();
    prop::collection::vec((prop::sample::select(names), 1..=i64::MAX), 1..6).prop_map(|amounts| {
        let mut resources = Resources::default();
        resources.pods = 1;
        amounts.into_iter().for_each(|(name, amount)| resources.set(name, amount));
        resources
    })
}

fn ports() -> impl Strategy<Value = Box<[HostPort]>> {
    let protocol = prop::sample::select(vec!["TCP", "UDP", "SCTP"]);
    let port = (protocol, "([0-9a-f:.]{1,15})?", 1..=u16::MAX);
    let host_port = |(protocol, ip, port): (&str, String, u16)| HostPort {
        protocol: protocol.into(),
        ip: ip.into(),
        port,
    };
    prop::collection::vec(port.prop_map(host_port), 0..3).prop_map(Vec::into_boxed_slice)
}

fn record(owner: Uid) -> impl Strategy<Value = Record> {
    let placement = prop::sample::select(vec![Placement::Wait, Placement::Prefer, Placement::Require]);
    let replaced = prop::option::of(("[a-z0-9.-]{1,40}", uid(), prop::option::of("[a-z0-9]{1,20}")));
    // Longer texts, escaped as JSON, may not fit into the record together with the other fields.
    let text = ".{0,10}";
    let life = prop::option::of((0..1_000_000_u64).prop_map(Duration::from_secs));
    let times = (time(), time(), life);
    ("[A-Za-z0-9.:-]{1,20}", text, text, any::<i32>(), times, placement, replaced).prop_map(
        move |(name, by, reason, priority, (created, expires, life), placement, replaced)| Record {
            owner: Owner { kind: "Job".into(), namespace: "a".into(), name: name.into(), uid: owner.clone() },
            replaces: replaced.map(|(name, uid, seat)| ReplacedPod {
                name: name.into(),
                uid,
                seat: seat.and_then(|seat| Seat::parse(&seat)),
            }),
            priority,
            created,
            expires,
            life,
            request: "r-1".into(),
            by: by.into(),
            reason: reason.into(),
            placement,
            unknown: None,
        },
    )
}

fn reservation() -> impl Strategy<Value = Reservation> {
    let plain = (uid(), amount(false)).prop_map(|(owner, amount)| Reservation {
        id: ReservationId { owner, seat: None },
        amount,
        ports: Box::default(),
        origin: Origin::Manual,
    });
    let full =
        (uid(), "[a-z0-9]{1,20}").prop_flat_map(|(owner, seat)| {
            let id = ReservationId { owner: owner.clone(), seat: Seat::parse(&seat) };
            (Just(id), amount(true), ports(), record(owner)).prop_map(|(id, amount, ports, record)| {
                Reservation { id, amount, ports, origin: Origin::Recorded(Box::new(record)) }
            })
        });
    prop_oneof![1 => plain, 3 => full]
}

/// Keys and values, from random text to almost valid.
fn annotation() -> impl Strategy<Value = (String, String)> {
    let word = prop_oneof![
        Just("cpu"),
        Just("memory"),
        Just("info"),
        Just("ephemeral-storage"),
        Just("gpu"),
        Just("")
    ];
    let near =
        (word, uid(), prop::option::of("[a-zA-Z0-9.]{0,22}")).prop_map(|(word, uid, seat)| match seat {
            Some(seat) => format!("reserve.{word}/{uid}.{seat}"),
            None => format!("reserve.{word}/{uid}"),
        });
    let key = prop_oneof![near, "reserve\\..{0,60}", "\\PC{0,60}", any::<String>()];
    let value = prop_oneof!["[0-9]{1,20}[mkKMGTPEi]{0,2}", "\\{\"v\":[0-9]{1,3}.{0,40}\\}", any::<String>()];
    (key, value)
}

fn read(annotations: &[(String, String)]) -> Vec<ParsedReservation> {
    parse(annotations.iter().map(|(key, value)| (key.as_str(), value.as_str())))
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(reservation in reservation()) {
        let annotations = encode(&reservation).unwrap();
        prop_assert_eq!(read(&annotations), vec![ParsedReservation::Valid(Arc::new(reservation))]);
    }

    /// Invariant I14: other annotations of the node do not change a valid reservation.
    #[test]
    fn no_other_annotation_changes_a_good_reservation(
        reservation in reservation(),
        others in prop::collection::vec(annotation(), 0..40),
    ) {
        let good = encode(&reservation).unwrap();
        let id = reservation.id.to_string();
        let same = |key: &str| key.split_once('/').is_some_and(|(_, name)| name == id);
        let others = others.into_iter().filter(|(key, _)| !same(key));
        let annotations: Vec<(String, String)> = others.chain(good).collect();
        let parsed = read(&annotations);
        let found: Vec<&Reservation> =
            parsed.iter().filter_map(ParsedReservation::valid).map(|one| &**one).filter(|one| one.id == reservation.id).collect();
        prop_assert_eq!(found, vec![&reservation]);
    }

    #[test]
    fn nothing_makes_it_panic_and_the_order_does_not_matter(
        annotations in prop::collection::vec(annotation(), 0..20),
    ) {
        let mut unique = annotations;
        unique.sort();
        unique.dedup_by(|a, b| a.0 == b.0);
        let forwards = read(&unique);
        unique.reverse();
        let backwards = read(&unique);
        let ids = |parsed: &[ParsedReservation]| -> Vec<String> {
            parsed.iter().filter_map(ParsedReservation::valid).map(|one| one.id.to_string()).collect()
        };
        prop_assert_eq!(ids(&forwards), ids(&backwards));
        prop_assert_eq!(forwards.len(), backwards.len());
    }
}
