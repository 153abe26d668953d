//! Each operator, and each way in which a requirement can be invalid.

use super::{Operator, Requirement};
use crate::model::labels::Labels;

fn requirement(text: &str) -> Requirement {
    let mut words = text.split_whitespace();
    let (key, operator) = (words.next().unwrap(), Operator::from_name(words.next().unwrap()));
    Requirement { key: key.into(), operator, values: words.map(Into::into).collect() }
}

#[test]
fn each_operator_compares_in_its_own_way() {
    let labels = Labels::new([("zone", "a"), ("cores", "8"), ("empty", ""), ("plus", "+8")]);
    let table = [
        ("zone In a b", true),
        ("zone In b", false),
        ("rack In a", false),
        ("zone NotIn b", true),
        ("zone NotIn a b", false),
        ("rack NotIn a", true),
        ("zone Exists", true),
        ("empty Exists", true),
        ("rack Exists", false),
        ("zone DoesNotExist", false),
        ("rack DoesNotExist", true),
        ("cores Gt 7", true),
        ("cores Gt 8", false),
        ("cores Lt 9", true),
        ("cores Lt 8", false),
        ("plus Gt 7", true),
        ("zone Gt 7", false),
        ("rack Lt 7", false),
        ("cores Gt", false),
        ("cores Gt 1 2", false),
        ("cores Gt x", false),
        ("zone Resembles a", false),
    ];
    for (text, expected) in table {
        assert_eq!(requirement(text).matches(&labels), expected, "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_in_kubernetes_words() {
    let table = [
        ("zone In", "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"),
        ("zone NotIn", "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"),
        (
            "zone Exists a b",
            "values: Invalid value: [\"a\",\"b\"]: values set must be empty for exists and does not exist",
        ),
        ("zone Gt", "values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required"),
        (
            "zone Lt x",
            "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
        (
            "zone Resembles a",
            "operator: Unsupported value: \"unknown operator\": supported values: \"In\", \"NotIn\", \
             \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(requirement(text).problems(""), [expected], "{text}");
        assert_eq!(requirement(text).problems("a[0]"), [format!("a[0].{expected}")], "{text}");
    }
    assert_eq!(requirement("zone Gt 1 2").problems("").len(), 1);
    for fine in ["zone In a", "zone NotIn a b", "zone Exists", "zone DoesNotExist", "zone Gt 1", "z Lt 1"] {
        assert_eq!(requirement(fine).problems(""), [""; 0], "{fine}");
    }
}

#[test]
fn keys_and_values_must_be_those_of_labels() {
    let problems = |text: &str| requirement(text).problems("[1].matchExpressions[0]").join("\n");
    let key = problems("a/b/c Exists");
    assert!(
        key.starts_with("[1].matchExpressions[0].key: Invalid value: \"a/b/c\": a valid label key"),
        "{key}"
    );
    let value = problems("a In b c/d");
    let says = "[1].matchExpressions[0].values[1][a]: Invalid value: \"c/d\": a valid label must be";
    assert!(value.starts_with(says), "{value}");
    let negative = problems("a Gt -1");
    assert!(negative.contains("a valid label must be"), "an integer, but no label can be it: {negative}");
}
