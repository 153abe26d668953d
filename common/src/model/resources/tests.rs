//! Amounts of resources: arithmetic, order, names, and how they are shown.

use std::mem::size_of;

use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{ResourceName, Resources, is_scalar_name};
use crate::model::quantity::Quantity;

fn resources(entries: &[(&str, i64)]) -> Resources {
    let mut resources = Resources::default();
    for (name, amount) in entries {
        resources.set(ResourceName::from(*name), *amount);
    }
    resources
}

fn shown(resources: &Resources) -> String {
    let entries: Vec<String> = resources.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
    entries.join(" ")
}

#[test]
fn stays_small_because_there_are_very_many() {
    assert!(size_of::<Resources>() <= 56, "{} bytes", size_of::<Resources>());
}

#[test]
fn lists_what_there_is_in_a_fixed_order() {
    let all = resources(&[
        ("b.io/x", 6),
        ("pods", 4),
        ("a.io/x", 5),
        ("memory", 2),
        ("ephemeral-storage", 3),
        ("cpu", 1),
    ]);
    assert_eq!(shown(&all), "cpu=1 memory=2 ephemeral-storage=3 pods=4 a.io/x=5 b.io/x=6");
    assert_eq!(all.scalars().collect::<Vec<_>>(), [("a.io/x", 5), ("b.io/x", 6)]);
    assert_eq!(shown(&resources(&[("memory", -2), ("cpu", 0)])), "memory=-2");
}

#[test]
fn zero_is_the_same_as_absent() {
    let mut there = resources(&[("cpu", 1), ("a.io/x", 5)]);
    there.set(ResourceName::from("a.io/x"), 0);
    there.set(ResourceName::from("b.io/x"), 0);
    assert_eq!(there, resources(&[("cpu", 1)]));
    assert_eq!(there.get(&ResourceName::from("a.io/x")), 0);
    assert!(there.minus(&there).is_zero());
    assert!(!there.is_zero());
    assert!(!resources(&[("a.io/x", 1)]).is_zero());
}

#[test]
fn adds_subtracts_and_takes_the_larger_of_each() {
    let left = resources(&[("cpu", 1), ("memory", 10), ("a.io/x", 5), ("c.io/x", -1)]);
    let right = resources(&[("cpu", 2), ("ephemeral-storage", 3), ("pods", 1), ("a.io/x", 1), ("b.io/x", 7)]);
    assert_eq!(
        shown(&left.plus(&right)),
        "cpu=3 memory=10 ephemeral-storage=3 pods=1 a.io/x=6 b.io/x=7 c.io/x=-1"
    );
    assert_eq!(
        shown(&left.minus(&right)),
        "cpu=-1 memory=10 ephemeral-storage=-3 pods=-1 a.io/x=4 b.io/x=-7 c.io/x=-1"
    );
    assert_eq!(shown(&left.max_each(&right)), "cpu=2 memory=10 ephemeral-storage=3 pods=1 a.io/x=5 b.io/x=7");
}

#[test]
fn quantities_are_rounded_up_and_unknown_names_dropped() {
    let mut sum = Resources::default();
    for (name, text) in [
        ("cpu", "1n"),
        ("cpu", "1500m"),
        ("memory", "1.5"),
        ("ephemeral-storage", "1Ki"),
        ("pods", "110"),
        ("nvidia.com/gpu", "2"),
        ("hugepages-2Mi", "4Mi"),
        ("example.com/none", "0"),
        ("storage", "9"),
        ("requests.example.com/x", "9"),
    ] {
        sum.add_quantity(name, Quantity::parse(text).expect("a quantity"));
    }
    assert_eq!(
        shown(&sum),
        "cpu=1501 memory=2 ephemeral-storage=1024 pods=110 hugepages-2Mi=4194304 nvidia.com/gpu=2"
    );
    sum.add_quantity("cpu", Quantity::parse("1e100").expect("a quantity"));
    assert_eq!(sum.cpu, i64::MAX);
}

#[test]
fn names_are_scalars_by_the_rule_of_the_scheduler() {
    for name in [
        "nvidia.com/gpu",
        "hugepages-2Mi",
        "kubernetes.io/x",
        "a.kubernetes.io/y",
        "attachable-volumes-aws-ebs",
        "a/b",
    ] {
        assert!(is_scalar_name(name), "{name}");
    }
    for name in [
        "",
        "foo",
        "storage",
        "/x",
        "a/",
        "a/b/c",
        "A/b",
        "a_b/c",
        "a/-b",
        "requests.a.io/b",
        "a..b/c",
        "ä/b",
        "a/ü",
    ] {
        assert!(!is_scalar_name(name), "{name}");
    }
}

#[test]
fn names_survive_the_wire() {
    for name in ["cpu", "memory", "ephemeral-storage", "pods", "hugepages-1Gi", "nvidia.com/gpu", ""] {
        assert_eq!(ResourceName::from(name).to_string(), name);
    }
    assert_eq!(format!("[{:>6}]", ResourceName::Cpu), "[   cpu]");
}

#[test]
fn amounts_are_shown_as_kubectl_would() {
    let cases = [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2000m"),
        ("cpu", 0, "0m"),
        ("cpu", -250, "-250m"),
        ("memory", 128 << 20, "128Mi"),
        ("memory", 2 << 30, "2Gi"),
        ("memory", 1536 << 20, "1536Mi"),
        ("memory", 129_000_000, "129M"),
        ("memory", 1500, "1500"),
        ("memory", 0, "0"),
        ("memory", -(1 << 20), "-1Mi"),
        ("ephemeral-storage", 1 << 30, "1Gi"),
        ("hugepages-2Mi", 4 << 20, "4Mi"),
        ("nvidia.com/gpu", 8000, "8000"),
        ("pods", 110, "110"),
    ];
    for (name, amount, text) in cases {
        assert_eq!(ResourceName::from(name).format(amount), text, "{amount} of {name}");
    }
}

const NAMES: [&str; 7] = ["cpu", "memory", "ephemeral-storage", "pods", "a.io/x", "b.io/x", "c.io/x"];

fn any_resources() -> impl Strategy<Value = Resources> {
    let names = proptest::sample::select(&NAMES[..]);
    let amounts = prop_oneof![-3..4_i64, any::<i64>()];
    proptest::collection::vec((names, amounts), 0..8).prop_map(|entries| resources(&entries))
}

proptest! {
    #[test]
    fn each_resource_is_reckoned_alone(left in any_resources(), right in any_resources()) {
        let (sum, difference, larger) = (left.plus(&right), left.minus(&right), left.max_each(&right));
        for name in NAMES.map(ResourceName::from) {
            let (a, b) = (left.get(&name), right.get(&name));
            prop_assert_eq!(sum.get(&name), a.saturating_add(b));
            prop_assert_eq!(difference.get(&name), a.saturating_sub(b));
            prop_assert_eq!(larger.get(&name), a.max(b));
        }
        prop_assert!(sum.scalars().map(|(name, _)| name).is_sorted());
        prop_assert!(sum.scalars().all(|(_, amount)| amount != 0));
    }

    #[test]
    fn in_place_is_the_same(left in any_resources(), right in any_resources()) {
        let mut sum = left.clone();
        sum.add_assign(&right);
        prop_assert_eq!(&sum, &left.plus(&right));
        let mut difference = left.clone();
        difference.sub_assign(&right);
        prop_assert_eq!(&difference, &left.minus(&right));
    }
}
