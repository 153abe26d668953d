//! Tests of the comparison: a change of any part of an outcome is found and named.

use super::differences;
use crate::conformance::format::CaseOutcome;
use serde_json::{Value, json};

/// The outcome of a pod that fits two nodes equally well, and not a third.
fn placed() -> Value {
    let scores = json!({ "NodeResourcesFit": { "raw": 50, "final": 50 } });
    let no =
        json!({ "plugin": "TaintToleration", "code": "UU", "reasons": ["node(s) had untolerated taint(s)"] });
    json!({
        "id": "1/1",
        "nodes": [
            { "node": "a", "scores": scores, "total": 50 },
            { "node": "b", "scores": scores, "total": 50 },
            { "node": "c", "rejection": no, "filters": [no] },
        ],
        "best": ["a", "b"],
        "host": "a",
    })
}

/// The outcome of a pod that fits no node; two nodes are preemption candidates.
fn unplaced() -> Value {
    let no = json!({ "plugin": "NodeResourcesFit", "code": "U", "reasons": ["Insufficient cpu"] });
    json!({
        "id": "1/2",
        "nodes": [{ "node": "a", "rejection": no, "filters": [no] }, { "node": "b", "rejection": no, "filters": [no] }],
        "best": [],
        "message": "0/2 nodes are available: 2 Insufficient cpu. preemption: found a potential placement for pod on \
                    node a, preempting 1 victims",
        "preemption": {
            "nominated": "a",
            "candidates": {
                "a": candidate("x"),
                "b": candidate("y"),
            },
        },
    })
}

/// A candidate with one victim.
fn candidate(victim: &str) -> Value {
    json!({
        "victims": [format!("default/{victim}")], "violations": 0, "highestPriority": 5, "prioritySum": 2_147_483_653_i64,
        "earliestStart": "2026-01-31T12:00:00Z",
    })
}

/// The outcome of a pod with the node name `b`, which is too small; `a` is excluded.
fn named() -> Value {
    let small = json!({ "plugin": "NodeResourcesFit", "code": "UU", "reasons": ["Insufficient cpu"] });
    json!({
        "id": "1/3",
        "excludedBy": ["NodeName"],
        "nodes": [
            { "node": "a", "rejection":
                { "plugin": "", "code": "UU", "reasons": ["node(s) didn't satisfy plugin(s) [NodeName]"] } },
            { "node": "b", "rejection": small },
        ],
        "message": "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeName].",
    })
}

fn outcome(value: Value) -> CaseOutcome {
    serde_json::from_value(value).unwrap()
}

/// The differences when one field of the core's outcome is altered.
fn found(whole: &Value, pointer: &str, altered: Value) -> Vec<String> {
    let mut core = whole.clone();
    *core.pointer_mut(pointer).unwrap() = altered;
    let found = differences(&outcome(core), &outcome(whole.clone()));
    found.into_iter().map(|difference| difference.what).collect()
}

#[test]
fn the_same_outcome_has_no_differences() {
    for whole in [placed(), unplaced(), named()] {
        assert_eq!(differences(&outcome(whole.clone()), &outcome(whole)), []);
    }
}

#[test]
fn every_part_of_a_placement_is_compared() {
    let table = [
        ("/nodes/0/node", json!("z"), "nodes"),
        ("/nodes/0/scores/NodeResourcesFit/raw", json!(49), "scores of a"),
        ("/nodes/0/scores/NodeResourcesFit/final", json!(51), "scores of a"),
        ("/nodes/0/scores", json!({}), "scores of a"),
        ("/nodes/1/total", json!(51), "total of b"),
        ("/nodes/2/rejection/plugin", json!("NodeName"), "rejection of c"),
        ("/nodes/2/rejection/code", json!("U"), "rejection of c"),
        ("/nodes/2/rejection/reasons/0", json!("no"), "rejection of c"),
        ("/nodes/2/rejection", Value::Null, "rejection of c"),
        ("/nodes/2/filters", json!([]), "filters of c"),
        ("/best", json!(["a"]), "best"),
        ("/host", json!("c"), "host"),
        ("/host", Value::Null, "host"),
    ];
    for (pointer, altered, expected) in table {
        assert_eq!(found(&placed(), pointer, altered), [expected], "{pointer}");
    }
}

#[test]
fn every_part_of_a_refusal_is_compared() {
    let table = [
        ("/message", json!("0/2 nodes are available: 2 Insufficient memory."), "message"),
        ("/message", Value::Null, "message"),
        ("/preemption", Value::Null, "preemption"),
        ("/preemption/candidates/a/victims/0", json!("default/z"), "candidate a"),
        ("/preemption/candidates/b/violations", json!(1), "candidate b"),
        ("/preemption/candidates/b/highestPriority", json!(6), "candidate b"),
        ("/preemption/candidates/b/prioritySum", json!(6), "candidate b"),
        ("/preemption/candidates/b/earliestStart", Value::Null, "candidate b"),
        ("/preemption/candidates", json!({ "a": candidate("x") }), "candidate b"),
        ("/preemption/nominated", json!("c"), "nominated"),
        ("/preemption/nominated", Value::Null, "nominated"),
    ];
    for (pointer, altered, expected) in table {
        assert!(found(&unplaced(), pointer, altered.clone()).contains(&expected.to_owned()), "{pointer}");
    }
    let with = |field: &str, value: Value| {
        let mut core = unplaced();
        core[field] = value;
        differences(&outcome(core), &outcome(unplaced())).into_iter().map(|one| one.what).collect::<Vec<_>>()
    };
    let verdict = json!({ "plugin": "VolumeBinding", "code": "UU", "reasons": ["no"] });
    assert_eq!(with("preFilter", verdict.clone()), ["preFilter"]);
    assert_eq!(with("preEnqueue", json!([verdict])), ["preEnqueue"]);
    assert_eq!(with("error", json!("broken")), ["error"]);
}

#[test]
fn any_of_the_best_nodes_may_be_taken() {
    assert!(found(&placed(), "/host", json!("b")).is_empty());
}

/// The differences if the core nominates `b` instead of `a`, and candidate `b` has the altered fields on both sides.
fn nominated(altered: &[(&str, Value)]) -> Vec<String> {
    let mut theirs = unplaced();
    for (field, value) in altered {
        theirs["preemption"]["candidates"]["b"][field] = value.clone();
    }
    let mut core = theirs.clone();
    core["preemption"]["nominated"] = json!("b");
    core["message"] = json!(theirs["message"].as_str().unwrap().replace("node a,", "node b,"));
    let found = differences(&outcome(core), &outcome(theirs));
    found.into_iter().map(|difference| difference.what).collect()
}

#[test]
fn any_of_the_candidates_that_are_alike_may_be_nominated() {
    assert_eq!(nominated(&[]), [""; 0]);
    assert_eq!(nominated(&[("victims", json!(["shop/z"]))]), [""; 0], "which victims is no rank");
}

/// The order of importance: fewer violations, lower priorities, fewer victims, a later start.
#[test]
fn no_candidate_that_is_worse_may_be_nominated() {
    let (two, late) = (json!(["default/y", "default/z"]), json!("2026-01-31T13:00:00Z"));
    let worse: [&[(&str, Value)]; 6] = [
        &[("violations", json!(1)), ("highestPriority", json!(0))],
        &[("highestPriority", json!(6)), ("prioritySum", json!(1))],
        &[("prioritySum", json!(2_147_483_654_i64)), ("earliestStart", late)],
        &[("victims", two), ("earliestStart", Value::Null)],
        &[("earliestStart", json!("2026-01-31T11:59:59Z"))],
        &[("earliestStart", json!("2026-01-31T11:59:59Z")), ("highestPriority", json!(5))],
    ];
    for altered in worse {
        assert_eq!(nominated(altered), ["nominated"], "{altered:?}");
    }
    // If `b` is better, upstream's nomination of `a` is wrong, which must be noticed too.
    let better: [&[(&str, Value)]; 2] =
        [&[("highestPriority", json!(4)), ("violations", json!(0))], &[("earliestStart", Value::Null)]];
    for altered in better {
        assert_eq!(nominated(altered), ["nominated"], "{altered:?}");
    }
}

#[test]
fn a_node_that_is_not_looked_at_has_to_be_said_to_be_so() {
    let table = [
        ("/excludedBy", json!([]), "excludedBy"),
        ("/excludedBy", json!(["NodeAffinity"]), "excludedBy"),
        ("/nodes/0/rejection/plugin", json!("NodeName"), "rejection of a"),
        ("/nodes/0/rejection/reasons/0", json!("no"), "rejection of a"),
    ];
    for (pointer, altered, expected) in table {
        assert_eq!(found(&named(), pointer, altered), [expected], "{pointer}");
    }
}
