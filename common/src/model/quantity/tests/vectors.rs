//! Compares our result for every golden vector with the result of Kubernetes. `common/vectors/README.md` says how the vectors are
//! made.

use serde_json::Value;

use crate::model::quantity::{Quantity, QuantityProblem};

const VECTORS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/quantity.jsonl"));

/// The file is generated. A generator without inputs must not look like success.
const VECTORS_MIN: usize = 2000;

#[test]
fn agrees_with_kubernetes() {
    let mut compared = 0;
    for line in VECTORS.lines() {
        let vector: Value = serde_json::from_str(line).expect("a vector is JSON");
        check(&vector);
        compared += 1;
    }
    assert!(compared >= VECTORS_MIN, "only {compared} vectors");
}

#[test]
fn vectors_reach_every_corner() {
    for corner in [
        r#""error":"format""#,
        r#""error":"suffix""#,
        r#""error":"numeric""#,
        "wraps",
        "over_max",
        "value_exact",
    ] {
        assert!(VECTORS.contains(corner), "no vector with {corner}");
    }
}

fn check(vector: &Value) {
    let input = vector["input"].as_str().expect("an input");
    let parsed = Quantity::parse(input);
    match (vector["error"].as_str(), parsed) {
        (Some(kind), Err(error)) => assert_eq!(kind, kind_of(error.problem()), "{input:?}"),
        (Some(kind), Ok(quantity)) => {
            panic!("{input:?}: refused as {kind} by Kubernetes, read as {quantity:?}")
        }
        (None, Err(error)) => panic!("{input:?}: accepted by Kubernetes, but {error}"),
        (None, Ok(_)) if vector["wraps"] == true => {}
        (None, Ok(quantity)) => check_amount(input, vector, quantity),
    }
}

fn kind_of(problem: QuantityProblem) -> &'static str {
    match problem {
        QuantityProblem::Empty | QuantityProblem::Character(_) => "format",
        QuantityProblem::Suffix => "suffix",
        QuantityProblem::Digits => "numeric",
    }
}

fn check_amount(input: &str, vector: &Value, quantity: Quantity) {
    let number = |field: &str| vector[field].as_i64();
    let sign = number("sign").expect("a sign");
    let expected = |field: &str, exact: &str, over: &str| match vector[over] == true {
        true => sign * i64::MAX,
        false => number(exact).or(number(field)).expect("a number"),
    };
    assert_eq!(quantity.cmp(&Quantity::ZERO) as i64, sign, "sign of {input:?}");
    assert_eq!(quantity.value(), expected("value", "value_exact", "over_max"), "value of {input:?}");
    assert_eq!(quantity.milli_value(), expected("milli", "milli_exact", "milli_over"), "milli of {input:?}");
    let canonical = match vector["over_max"] == true {
        true => (sign * i64::MAX).to_string(),
        false => vector["canonical"].as_str().expect("a canonical form").to_owned(),
    };
    assert_eq!(quantity.to_string(), canonical, "canonical form of {input:?}");
}
