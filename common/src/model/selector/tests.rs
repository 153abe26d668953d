//! Selectors: what they match, and properties that hold for all of them.

use super::{Selector, selects};
use crate::model::labels::Labels;
use crate::model::requirement::{Operator, Requirement};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof, proptest};

#[test]
fn all_requirements_must_hold() {
    let selector = Selector::from_pairs([("app", "web"), ("tier", "front")]);
    assert!(selector.matches(&Labels::new([("app", "web"), ("tier", "front"), ("x", "y")])));
    assert!(!selector.matches(&Labels::new([("app", "web")])));
    assert!(!selector.matches(&Labels::new([("app", "web"), ("tier", "back")])));
    assert_eq!(selector.requirements().len(), 2);
}

#[test]
fn an_empty_selector_matches_everything_and_none_matches_nothing() {
    let labels = Labels::new([("app", "web")]);
    let empty = Selector::default();
    assert!(empty.is_empty() && empty.matches(&labels) && empty.matches(&Labels::default()));
    assert!(selects(Some(&empty), &labels));
    assert!(!selects(None, &labels) && !selects(None, &Labels::default()));
}

#[test]
fn the_order_of_requirements_makes_no_difference() {
    let pairs = [("b", "1"), ("a", "2"), ("b", "1")];
    let reversed = pairs.into_iter().rev();
    assert_eq!(Selector::from_pairs(pairs), Selector::from_pairs(reversed));
}

const WORDS: [&str; 3] = ["a", "b", "c"];

fn word() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(WORDS[0]), Just(WORDS[1]), Just(WORDS[2])]
}

fn labels() -> impl Strategy<Value = Labels> {
    vec((word(), word()), 0..4).prop_map(Labels::new)
}

fn selector() -> impl Strategy<Value = Selector> {
    let operator = prop_oneof![
        Just(Operator::In),
        Just(Operator::NotIn),
        Just(Operator::Exists),
        Just(Operator::DoesNotExist)
    ];
    let requirement = (word(), operator, vec(word(), 1..3)).prop_map(|(key, operator, values)| Requirement {
        key: key.into(),
        operator,
        values: values.into_iter().map(Into::into).collect(),
    });
    vec(requirement, 0..3).prop_map(Selector::new)
}

proptest! {
    #[test]
    fn and_matches_what_both_match(one in selector(), other in selector(), labels in labels()) {
        assert_eq!(one.and(&other).matches(&labels), one.matches(&labels) && other.matches(&labels));
        assert_eq!(one.and(&other), other.and(&one));
        assert_eq!(one.and(&one), one);
    }

    #[test]
    fn a_label_more_is_one_more_to_have(one in selector(), key in word(), value in word(), labels in labels()) {
        let narrower = one.and_label(key, value);
        assert_eq!(narrower.matches(&labels), one.matches(&labels) && labels.get(key) == Some(value));
    }

    #[test]
    fn an_operator_and_its_opposite_never_agree(key in word(), values in vec(word(), 1..3), labels in labels()) {
        let matches = |operator| {
            let values = values.iter().map(|value| (*value).into()).collect();
            Requirement { key: key.into(), operator, values }.matches(&labels)
        };
        assert_ne!(matches(Operator::In), matches(Operator::NotIn));
        assert_ne!(matches(Operator::Exists), matches(Operator::DoesNotExist));
    }
}
