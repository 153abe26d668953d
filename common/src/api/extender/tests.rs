//! Both sides of the calls to an extender: what one side encodes the other decodes, and invalid JSON is an error.

use super::client;
use super::{
    ReceivedNodes, Victims, args, binding_args, binding_result, filter_result, preemption_args,
    preemption_result, priority_list,
};
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
    let sent = client::args(&raw(POD), &client::SentNodes::Names(&names(&["a", "b"])));
    let read = args(&sent).unwrap();
    assert_eq!((&*read.pod.key.name, read.nodes.names()), ("p", names(&["a", "b"])));
    let answer = filter_result(&read.nodes, &refused("a"));
    let expected = r#"{"Nodes":null,"NodeNames":["b"],"FailedNodes":{},"FailedAndUnresolvableNodes":{"a":"Insufficient cpu"},"Error":""}"#;
    assert_eq!(answer, expected);
    let result = client::filter_result(&answer, true).unwrap();
    assert_eq!((result.nodes, result.unresolvable), (names(&["b"]), refused("a")));
}

#[test]
fn whole_nodes_come_back_as_they_were() {
    let objects =
        [r#"{"metadata":{"name":"a"},"spec":{"x": 1}}"#, r#"{"metadata":{"name":"b","labels":null}}"#]
            .map(raw);
    let sent = client::args(&raw(POD), &client::SentNodes::Objects(&objects));
    let read = args(&sent).unwrap();
    assert!(matches!(read.nodes, ReceivedNodes::Objects(_)));
    assert_eq!(read.nodes.names(), names(&["a", "b"]));
    let answer = filter_result(&read.nodes, &refused("b"));
    assert!(answer.contains(r#""items":[{"metadata":{"name":"a"},"spec":{"x": 1}}]"#), "{answer}");
    assert_eq!(client::filter_result(&answer, false).unwrap().nodes, names(&["a"]));
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
        assert!(args(odd).is_err(), "{odd}");
    }
    let empty = args(r#"{"Pod":{"metadata":{"name":"p"}},"NodeNames":[]}"#).unwrap();
    assert!(filter_result(&empty.nodes, &BTreeMap::new()).contains(r#""NodeNames":[]"#));
    let none = args(r#"{"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":null}}"#).unwrap();
    assert!(filter_result(&none.nodes, &BTreeMap::new()).contains(r#""items":[]"#), "never null");
}

#[test]
fn victims_come_whole_or_by_uid_and_go_back_by_uid() {
    let victims = Victims { pods: vec![Uid::from("v1"), Uid::from("v2")], violations: 1 };
    let candidates = BTreeMap::from([(NodeName::from("a"), victims)]);
    let by_uid = preemption_args(&client::preemption_args(&raw(POD), &candidates, None)).unwrap();
    assert_eq!(by_uid.candidates, candidates);
    let whole = BTreeMap::from(
        ["v1", "v2"]
            .map(|uid| (Uid::from(uid), raw(&json!({"metadata": {"name": uid, "uid": uid}}).to_string()))),
    );
    let whole = preemption_args(&client::preemption_args(&raw(POD), &candidates, Some(&whole))).unwrap();
    assert_eq!(whole.candidates, candidates);
    assert_eq!(client::preemption_result(&preemption_result(&candidates)).unwrap(), candidates);
    let null = r#"{"Pod":{"metadata":{"name":"p"}},"NodeNameToMetaVictims":{"a":null}}"#;
    assert!(preemption_args(null).unwrap().candidates[&NodeName::from("a")].pods.is_empty());
    assert!(preemption_args(r#"{"NodeNameToMetaVictims":{}}"#).is_err());
}

#[test]
fn a_binding_names_pod_uid_and_node() {
    let sent = client::binding_args(&PodKey::new("ns", "p"), &Uid::from("u"), &NodeName::from("n"));
    let read = binding_args(&sent).unwrap();
    assert_eq!(
        (read.pod, read.uid, read.node),
        (PodKey::new("ns", "p"), Uid::from("u"), NodeName::from("n"))
    );
    for odd in ["{}", r#"{"PodName":"p","PodNamespace":"ns","PodUID":"","Node":"n"}"#] {
        assert!(binding_args(odd).is_err(), "{odd}");
    }
    assert_eq!(
        (
            binding_result(""),
            client::binding_result(&binding_result("")),
            client::binding_result(&binding_result("no"))
        ),
        (r#"{"Error":""}"#.into(), Ok(()), Err("no".into()))
    );
}

#[test]
fn scores_are_a_list_of_hosts() {
    let answer = priority_list(&[(NodeName::from("a"), 10), (NodeName::from("b"), 0)]);
    assert_eq!(answer, r#"[{"Host":"a","Score":10},{"Host":"b","Score":0}]"#);
    assert_eq!(client::priority_list(&answer).unwrap().values().copied().collect::<Vec<i64>>(), [10, 0]);
    assert!(client::priority_list("null").unwrap().is_empty());
    for odd in ["", "{}", "[1]", r#"[{"Host":1}]"#, r#"[{"Host":"a","Score":"x"}]"#] {
        assert!(client::priority_list(odd).is_err(), "{odd}");
    }
}

#[test]
fn answers_are_read_as_go_reads_them() {
    let lower = r#"{"nodenames":["a"],"failednodes":{"b":"no"},"error":""}"#;
    let result = client::filter_result(lower, true).unwrap();
    assert_eq!((result.nodes, result.failed.len()), (names(&["a"]), 1));
    assert!(client::filter_result("{}", true).unwrap().nodes.is_empty(), "nothing said is no node");
    assert!(
        client::filter_result(r#"{"NodeNames":["a"]}"#, false).unwrap().nodes.is_empty(),
        "it was not asked by name"
    );
    assert_eq!(client::filter_result(r#"{"Error":"broken"}"#, true), Err("broken".into()));
    for odd in ["", "[]", "7", r#"{"NodeNames":"a"}"#, r#"{"NodeNames":[1]}"#, r#"{"FailedNodes":{"a":1}}"#] {
        assert!(client::filter_result(odd, true).is_err(), "{odd}");
    }
    let value: Value =
        serde_json::from_str(&client::args(&raw("{}"), &client::SentNodes::Objects(&[]))).unwrap();
    assert_eq!(value, json!({"Pod": {}, "Nodes": {"metadata": {}, "items": []}, "NodeNames": null}));
}
