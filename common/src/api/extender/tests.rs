//! The wire between schedulers and extenders: what is said is understood, and what is odd is no answer.

use super::ask;
use super::{Nodes, Victims, binding, bound, filtered, preempted, preemption, prioritized, question};
use crate::model::ids::{NodeName, PodKey, Uid};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const POD: &str = r#"{"metadata":{"name":"p","namespace":"default","uid":"u"},"spec":{"schedulerName":"default-scheduler"}}"#;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn names(names: &[&str]) -> Vec<NodeName> {
    names.iter().map(|name| NodeName::from(*name)).collect()
}

fn refused(node: &str) -> BTreeMap<NodeName, String> {
    [(NodeName::from(node), "Insufficient cpu".to_owned())].into()
}

#[test]
fn nodes_by_name_go_there_and_back() {
    let asked = ask::question(&raw(POD), &ask::Nodes::Names(&names(&["a", "b"])));
    let read = question(&asked).unwrap();
    assert_eq!((&*read.pod.key.name, read.nodes.names()), ("p", names(&["a", "b"])));
    let answer = filtered(&read.nodes, &refused("a"));
    let expected = r#"{"Nodes":null,"NodeNames":["b"],"FailedNodes":{},"FailedAndUnresolvableNodes":{"a":"Insufficient cpu"},"Error":""}"#;
    assert_eq!(answer, expected);
    let heard = ask::filtered(&answer, true).unwrap();
    assert_eq!((heard.nodes, heard.unresolvable), (names(&["b"]), refused("a")));
}

#[test]
fn whole_nodes_come_back_as_they_were() {
    let objects =
        [r#"{"metadata":{"name":"a"},"spec":{"x": 1}}"#, r#"{"metadata":{"name":"b","labels":null}}"#]
            .map(raw);
    let asked = ask::question(&raw(POD), &ask::Nodes::Objects(&objects));
    let read = question(&asked).unwrap();
    assert!(matches!(read.nodes, Nodes::Objects(_)));
    assert_eq!(read.nodes.names(), names(&["a", "b"]));
    let answer = filtered(&read.nodes, &refused("b"));
    assert!(answer.contains(r#""items":[{"metadata":{"name":"a"},"spec":{"x": 1}}]"#), "{answer}");
    assert_eq!(ask::filtered(&answer, false).unwrap().nodes, names(&["a"]));
}

#[test]
fn a_question_without_a_pod_or_nodes_is_none() {
    for odd in [
        "",
        "null",
        "{}",
        "[]",
        r#"{"Pod":null,"NodeNames":["a"]}"#,
        r#"{"Pod":{},"NodeNames":["a"]}"#,
        r#"{"Pod":{"metadata":{}},"NodeNames":["a"]}"#,
        r#"{"Pod":{"metadata":{"name":"p"}}}"#,
        r#"{"Pod":{"metadata":{"name":"p"}},"NodeNames":null,"Nodes":null}"#,
        r#"{"Pod":{"metadata":{"name":"p"}},"NodeNames":[null]}"#,
        r#"{"Pod":{"metadata":{"name":"p"}},"NodeNames":"a"}"#,
        r#"{"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":[{}]}}"#,
        r#"{"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":[{"metadata":{"name":""}}]}}"#,
        r#"{"Pod":{"metadata":{"name":"p"}},"NodeNames":["a"]"#,
    ] {
        assert!(question(odd).is_err(), "{odd}");
    }
    let empty = question(r#"{"Pod":{"metadata":{"name":"p"}},"NodeNames":[]}"#).unwrap();
    assert!(filtered(&empty.nodes, &BTreeMap::new()).contains(r#""NodeNames":[]"#));
    let none = question(r#"{"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":null}}"#).unwrap();
    assert!(filtered(&none.nodes, &BTreeMap::new()).contains(r#""items":[]"#), "never null");
}

#[test]
fn victims_come_whole_or_by_uid_and_go_back_by_uid() {
    let victims = Victims { pods: vec![Uid::from("v1"), Uid::from("v2")], violations: 1 };
    let candidates = BTreeMap::from([(NodeName::from("a"), victims)]);
    let by_uid = preemption(&ask::preemption(&raw(POD), &candidates, None)).unwrap();
    assert_eq!(by_uid.candidates, candidates);
    let whole = BTreeMap::from(
        ["v1", "v2"]
            .map(|uid| (Uid::from(uid), raw(&json!({"metadata": {"name": uid, "uid": uid}}).to_string()))),
    );
    let whole = preemption(&ask::preemption(&raw(POD), &candidates, Some(&whole))).unwrap();
    assert_eq!(whole.candidates, candidates);
    assert_eq!(ask::preempted(&preempted(&candidates)).unwrap(), candidates);
    let null = r#"{"Pod":{"metadata":{"name":"p"}},"NodeNameToMetaVictims":{"a":null}}"#;
    assert!(preemption(null).unwrap().candidates[&NodeName::from("a")].pods.is_empty());
    assert!(preemption(r#"{"NodeNameToMetaVictims":{}}"#).is_err());
}

#[test]
fn a_binding_names_pod_uid_and_node() {
    let asked = ask::binding(&PodKey::new("ns", "p"), &Uid::from("u"), &NodeName::from("n"));
    let read = binding(&asked).unwrap();
    assert_eq!(
        (read.pod, read.uid, read.node),
        (PodKey::new("ns", "p"), Uid::from("u"), NodeName::from("n"))
    );
    for odd in ["{}", r#"{"PodName":"p","PodNamespace":"ns","PodUID":"","Node":"n"}"#] {
        assert!(binding(odd).is_err(), "{odd}");
    }
    assert_eq!(
        (bound(""), ask::bound(&bound("")), ask::bound(&bound("no"))),
        (r#"{"Error":""}"#.into(), Ok(()), Err("no".into()))
    );
}

#[test]
fn scores_are_a_list_of_hosts() {
    let answer = prioritized(&[(NodeName::from("a"), 10), (NodeName::from("b"), 0)]);
    assert_eq!(answer, r#"[{"Host":"a","Score":10},{"Host":"b","Score":0}]"#);
    assert_eq!(ask::prioritized(&answer).unwrap().values().copied().collect::<Vec<i64>>(), [10, 0]);
    assert!(ask::prioritized("null").unwrap().is_empty());
    for odd in ["", "{}", "[1]", r#"[{"Host":1}]"#, r#"[{"Host":"a","Score":"x"}]"#] {
        assert!(ask::prioritized(odd).is_err(), "{odd}");
    }
}

#[test]
fn answers_are_read_as_go_reads_them() {
    let lower = r#"{"nodenames":["a"],"failednodes":{"b":"no"},"error":""}"#;
    let heard = ask::filtered(lower, true).unwrap();
    assert_eq!((heard.nodes, heard.failed.len()), (names(&["a"]), 1));
    assert!(ask::filtered("{}", true).unwrap().nodes.is_empty(), "nothing said is no node");
    assert!(
        ask::filtered(r#"{"NodeNames":["a"]}"#, false).unwrap().nodes.is_empty(),
        "it was not asked by name"
    );
    assert_eq!(ask::filtered(r#"{"Error":"broken"}"#, true), Err("broken".into()));
    for odd in ["", "[]", "7", r#"{"NodeNames":"a"}"#, r#"{"NodeNames":[1]}"#, r#"{"FailedNodes":{"a":1}}"#] {
        assert!(ask::filtered(odd, true).is_err(), "{odd}");
    }
    let value: Value = serde_json::from_str(&ask::question(&raw("{}"), &ask::Nodes::Objects(&[]))).unwrap();
    assert_eq!(value, json!({"Pod": {}, "Nodes": {"metadata": {}, "items": []}, "NodeNames": null}));
}
