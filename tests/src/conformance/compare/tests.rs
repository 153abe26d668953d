//! The comparison can fail: each part of an outcome, once altered, is found and named.

use super::differences;
use crate::conformance::format::Outcome;
use serde_json::{Value, json};

/// A pod that fits two nodes alike and not a third.
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

/// A pod that fits nowhere, and two nodes that could be made to.
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
                "a": { "victims": ["default/x"], "violations": 0 },
                "b": { "victims": ["default/y"], "violations": 0 },
            },
        },
    })
}

/// A pod that names node `b`, which is too small: as upstream says it, and as we do.
fn named() -> (Value, Value) {
    let small =
        json!({ "plugin": "NodeResourcesFit", "code": "UU", "reasons": ["Insufficient example.com/x"] });
    let theirs = json!({
        "id": "1/3",
        "excludedBy": ["NodeName"],
        "nodes": [
            { "node": "a", "rejection":
                { "plugin": "", "code": "UU", "reasons": ["node(s) didn't satisfy plugin(s) [NodeName]"] } },
            { "node": "b", "rejection": small },
        ],
        "message": "0/2 nodes are available: 1 Insufficient example.com/x, 1 node(s) didn't satisfy plugin(s) [NodeName].",
    });
    let ours = json!({
        "id": "1/3",
        "nodes": [
            { "node": "a", "rejection": { "plugin": "NodeName", "code": "UU",
                "reasons": ["node(s) didn't match the requested node name"] } },
            { "node": "b", "rejection": small },
        ],
        "message": "0/2 nodes are available: 1 Insufficient example.com/x, 1 node(s) didn't match the requested node name.",
    });
    (ours, theirs)
}

fn outcome(value: Value) -> Outcome {
    serde_json::from_value(value).unwrap()
}

/// What is found when the core says the same but for one altered field.
fn found(whole: &Value, pointer: &str, altered: Value) -> Vec<String> {
    let mut core = whole.clone();
    *core.pointer_mut(pointer).unwrap() = altered;
    let found = differences(&outcome(core), &outcome(whole.clone()));
    found.into_iter().map(|difference| difference.what).collect()
}

#[test]
fn the_same_outcome_has_no_differences() {
    for whole in [placed(), unplaced(), named().0, named().1] {
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
        ("/preemption/candidates/a/victims/0", json!("default/z"), "candidates"),
        ("/preemption/candidates/a/violations", json!(1), "candidates"),
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

#[test]
fn any_of_the_candidates_that_are_alike_may_be_nominated() {
    let message = unplaced()["message"].as_str().unwrap().replace("node a,", "node b,");
    let mut core = unplaced();
    core["preemption"]["nominated"] = json!("b");
    core["message"] = json!(message);
    assert_eq!(differences(&outcome(core.clone()), &outcome(unplaced())), []);
    let mut worse = unplaced();
    worse["preemption"]["candidates"]["b"]["violations"] = json!(1);
    core["preemption"]["candidates"] = worse["preemption"]["candidates"].clone();
    let found = differences(&outcome(core), &outcome(worse));
    assert_eq!(found.iter().map(|one| one.what.as_str()).collect::<Vec<_>>(), ["nominated"]);
}

#[test]
fn a_pod_that_names_its_node_is_refused_in_other_words() {
    let (ours, theirs) = named();
    assert_eq!(differences(&outcome(ours.clone()), &outcome(theirs.clone())), []);
    let mut wrong = ours;
    wrong["nodes"][0]["rejection"]["plugin"] = json!("TaintToleration");
    assert_eq!(differences(&outcome(wrong), &outcome(theirs)).len(), 1);
}
