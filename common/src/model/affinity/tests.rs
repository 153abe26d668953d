//! Node selectors: each rule by which they match, and the messages about invalid ones.

use super::{NodeAffinity, NodeSelector, NodeSelectorTerm};
use crate::model::labels::Labels;
use crate::model::requirement::{Operator, Requirement};

/// A requirement for each part between semicolons: a key, an operator and values.
fn requirements(text: &str) -> Vec<Requirement> {
    let one = |part: &str| {
        let mut words = part.split_whitespace();
        let (key, operator) = (words.next().unwrap(), Operator::from_name(words.next().unwrap()));
        Requirement { key: key.into(), operator, values: words.map(Into::into).collect() }
    };
    text.split(';').filter(|part| !part.trim().is_empty()).map(one).collect()
}

fn term(expressions: &str, fields: &str) -> NodeSelectorTerm {
    NodeSelectorTerm::new(requirements(expressions), requirements(fields))
}

fn matches(expressions: &str, fields: &str) -> bool {
    term(expressions, fields).matches(&Labels::new([("zone", "a"), ("cores", "8")]), "n1")
}

#[test]
fn all_of_a_term_must_hold() {
    assert!(matches("zone In a; cores Gt 4", ""));
    assert!(!matches("zone In a; cores Gt 8", ""));
    assert!(matches("zone In a", "metadata.name In n1"));
    assert!(!matches("zone In a", "metadata.name In n2"));
    assert!(!matches("zone In b", "metadata.name In n1"));
}

#[test]
fn the_name_is_the_only_field_and_others_read_as_empty() {
    assert!(matches("", "metadata.name In n1"));
    assert!(matches("", "metadata.name NotIn n2"));
    assert!(!matches("", "metadata.name NotIn n1"));
    assert!(!matches("", "metadata.name In n1; metadata.name In n2"));
    assert!(!matches("", "spec.podCIDR In x"));
    assert!(matches("", "spec.podCIDR NotIn x"));
    assert!(term("", "metadata.name In n1").matches(&Labels::default(), ""), "no name to compare");
}

#[test]
fn an_empty_term_and_an_empty_selector_match_nothing() {
    assert!(!matches("", ""));
    assert!(term("", "").is_empty() && term("", "").problem().is_none());
    assert!(!NodeSelector::default().matches(&Labels::default(), "n1"));
}

#[test]
fn one_term_is_enough_and_a_malformed_one_is_passed_over() {
    let labels = Labels::new([("zone", "a")]);
    let selector = |terms: &[(&str, &str)]| NodeSelector {
        terms: terms.iter().map(|(expressions, fields)| term(expressions, fields)).collect(),
    };
    assert!(selector(&[("zone In b", ""), ("zone In a", "")]).matches(&labels, "n1"));
    assert!(!selector(&[("zone In b", ""), ("rack Exists", "")]).matches(&labels, "n1"));
    assert!(!selector(&[("zone Exists", "metadata.name In n1 n2")]).matches(&labels, "n1"));
    assert!(!selector(&[("zone Exists; zone In", "")]).matches(&labels, "n1"));
    assert!(!selector(&[("rack NotIn", "")]).matches(&labels, "n1"), "NotIn of nothing is malformed");
    assert!(selector(&[("zone Gt x", ""), ("", ""), ("zone Exists", "")]).matches(&labels, "n1"));
}

#[test]
fn what_is_wrong_with_a_term_is_said_in_kubernetes_words() {
    let table = [
        ("", "metadata.name In", "matchFields[0].values: Invalid value: null: must have one element"),
        (
            "",
            "metadata.name NotIn a b",
            "matchFields[0].values: Invalid value: [\"a\",\"b\"]: must have one element",
        ),
        (
            "",
            "metadata.name In a; metadata.name Exists",
            "matchFields[1].operator: Unsupported value: \"Exists\": supported values: \"In\", \"NotIn\"",
        ),
        (
            "zone In",
            "metadata.name In",
            "[matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be \
             empty, matchFields[0].values: Invalid value: null: must have one element]",
        ),
    ];
    for (expressions, fields, expected) in table {
        assert_eq!(term(expressions, fields).problem().as_deref(), Some(expected));
    }
    assert_eq!(term("zone In a", "metadata.name In n1").problem(), None);
}

#[test]
fn preferred_terms_add_up_and_only_those_that_count_can_be_wrong() {
    let affinity = |terms: &[(i32, &str)]| NodeAffinity {
        required: None,
        preferred: terms.iter().map(|(weight, text)| (*weight, term(text, ""))).collect(),
    };
    let labels = Labels::new([("zone", "a"), ("cores", "8")]);
    let liked = affinity(&[(3, "zone In a"), (5, "zone In b"), (7, "cores Exists"), (9, "")]);
    assert_eq!((liked.score(&labels, "n1"), liked.preferred_problem()), (10, None));
    assert_eq!(affinity(&[(0, "zone In"), (1, "")]).preferred_problem(), None);
    assert_eq!(
        affinity(&[(1, "zone Exists"), (2, "zone Gt x")]).preferred_problem().as_deref(),
        Some(
            "[1].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must \
             be an integer"
        )
    );
}
