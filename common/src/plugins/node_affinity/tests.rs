//! NodeAffinity: a table of cases for each extension point.

use super::{NodeAffinityPlugin, descriptor};
use crate::config::{NodeAffinityArgs, PluginArgs as _, RawArgs};
use crate::framework::{Admission, Filter, Scope, Score};
use crate::model::affinity::{NodeAffinity, NodeSelector, NodeSelectorTerm};
use crate::model::requirement::{Operator, Requirement};
use crate::testing::{
    ClusterBuilder, NodeBuilder, PodBuilder, admission, all_reasons, cluster_builder, node, now, pod,
    raw_and_scores, rejections,
};
use serde_json::{Value, json};

const ENFORCED: &str = "node(s) didn't match scheduler-enforced node affinity";
const MATCHED: &str = "node(s) didn't match Pod's node affinity/selector";
const REQUIRED: &str = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution";

fn labelled(name: &str, labels: Value) -> NodeBuilder {
    node(name).with("/metadata/labels", labels)
}

/// `n1` in zone a with 8 cores, `n2` in zone b with 16, `n3` without labels.
fn test_cluster() -> ClusterBuilder {
    cluster_builder()
        .node(labelled("n1", json!({ "zone": "a", "cores": "8" })))
        .node(labelled("n2", json!({ "zone": "b", "cores": "16" })))
        .node(node("n3"))
}

/// Requirements from words: `zone In a b; cores Gt 9`.
fn asks(text: &str) -> Value {
    let requirement = |text: &str| {
        let mut words = text.split_whitespace();
        let (key, operator) = (words.next().unwrap(), words.next().unwrap());
        json!({ "key": key, "operator": operator, "values": words.collect::<Vec<_>>() })
    };
    text.split(';').filter(|text| !text.trim().is_empty()).map(requirement).collect()
}

fn term(expressions: &str, fields: &str) -> Value {
    json!({ "matchExpressions": asks(expressions), "matchFields": asks(fields) })
}

fn requiring(terms: &[Value]) -> PodBuilder {
    pod("p").with(REQUIRED, json!({ "nodeSelectorTerms": terms }))
}

fn preferring(terms: &[(i32, Value)]) -> PodBuilder {
    let terms: Vec<Value> =
        terms.iter().map(|(weight, term)| json!({ "weight": weight, "preference": term })).collect();
    pod("p").with(PREFERRED, json!(terms))
}

/// Which of the three nodes can have the pod.
fn fits(plugin: &NodeAffinityPlugin, pod: &PodBuilder) -> Vec<usize> {
    let reasons = all_reasons(plugin, test_cluster(), pod).into_iter().enumerate();
    reasons.filter(|(_, reasons)| reasons.is_empty()).map(|(index, _)| index + 1).collect()
}

#[test]
fn a_pod_goes_only_where_it_must() {
    let any = NodeAffinityPlugin::default();
    let selector = |labels: Value| pod("p").with("/spec/nodeSelector", labels);
    let table = [
        ("nothing asked", pod("p"), vec![1, 2, 3]),
        ("an empty selector", selector(json!({})), vec![1, 2, 3]),
        ("a label", selector(json!({ "zone": "a" })), vec![1]),
        ("all labels", selector(json!({ "zone": "a", "cores": "16" })), vec![]),
        ("a label that nobody has", selector(json!({ "rack": "" })), vec![]),
        ("In", requiring(&[term("zone In b c", "")]), vec![2]),
        ("NotIn", requiring(&[term("zone NotIn b", "")]), vec![1, 3]),
        ("Exists", requiring(&[term("zone Exists", "")]), vec![1, 2]),
        ("DoesNotExist", requiring(&[term("zone DoesNotExist", "")]), vec![3]),
        ("Gt", requiring(&[term("cores Gt 8", "")]), vec![2]),
        ("Lt", requiring(&[term("cores Lt 16", "")]), vec![1]),
        ("all of a term", requiring(&[term("zone Exists; cores Gt 8", "")]), vec![2]),
        ("one of the terms", requiring(&[term("zone In a", ""), term("cores Gt 8", "")]), vec![1, 2]),
        ("no terms", requiring(&[]), vec![]),
        ("an empty term", requiring(&[term("", "")]), vec![]),
        ("an empty term beside another", requiring(&[term("", ""), term("zone In a", "")]), vec![1]),
        ("a malformed term", requiring(&[term("zone Resembles a", "")]), vec![]),
        (
            "a malformed term beside another",
            requiring(&[term("zone In", ""), term("zone In a", "")]),
            vec![1],
        ),
        ("a name", requiring(&[term("", "metadata.name In n3")]), vec![3]),
        ("no name", requiring(&[term("", "metadata.name NotIn n3")]), vec![1, 2]),
        ("a name and a label", requiring(&[term("zone Exists", "metadata.name In n3")]), vec![]),
        ("two names at once", requiring(&[term("", "metadata.name In n1 n3")]), vec![]),
        ("another field", requiring(&[term("", "metadata.uid NotIn x")]), vec![1, 2, 3]),
        (
            "both kinds",
            requiring(&[term("zone Exists", "")]).with("/spec/nodeSelector", json!({ "cores": "8" })),
            vec![1],
        ),
    ];
    for (name, pod, expected) in table {
        assert_eq!(fits(&any, &pod), expected, "{name}");
        for rejection in rejections(&any, test_cluster(), &pod) {
            assert_eq!(rejection.reason.to_string(), MATCHED, "{name}");
            assert!(rejection.reason.is_unresolvable(), "{name}");
        }
    }
}

#[test]
fn names_are_known_before_any_node_is_looked_at() {
    let only = |names: &[&str]| Admission::Only(names.iter().copied().map(Into::into).collect());
    let table = [
        ("nothing asked", pod("p"), Some(Admission::All)),
        ("no terms", requiring(&[]), Some(Admission::All)),
        ("labels", requiring(&[term("zone In a", "")]), Some(Admission::All)),
        ("a name", requiring(&[term("", "metadata.name In n1")]), Some(only(&["n1"]))),
        ("a name that is not there", requiring(&[term("", "metadata.name In x")]), Some(only(&["x"]))),
        (
            "names or names",
            requiring(&[term("", "metadata.name In n1"), term("zone In a", "metadata.name In n2 n3")]),
            Some(only(&["n1", "n2", "n3"])),
        ),
        (
            "names and names",
            requiring(&[term("", "metadata.name In n1 n2; metadata.name In n2 n3")]),
            Some(only(&["n2"])),
        ),
        (
            "one term without a name",
            requiring(&[term("", "metadata.name In n1"), term("zone In a", "")]),
            Some(Admission::All),
        ),
        ("not a name", requiring(&[term("", "metadata.name NotIn n1")]), Some(Admission::All)),
        ("another field", requiring(&[term("", "metadata.uid In n1")]), Some(Admission::All)),
        ("conflict", requiring(&[term("", "metadata.name In n1; metadata.name In n2")]), None),
        ("no values", requiring(&[term("", "metadata.name In")]), None),
        (
            "a conflict beside a name",
            requiring(&[
                term("", "metadata.name In n1; metadata.name In n2"),
                term("", "metadata.name In n3"),
            ]),
            Some(only(&["n3"])),
        ),
    ];
    for (name, pod, expected) in table {
        let found = admission(&NodeAffinityPlugin::default(), test_cluster(), &pod);
        match (found, expected) {
            (Admission::Rejects(reasons), None) => {
                assert_eq!(reasons.len(), 1, "{name}");
                assert_eq!(reasons[0].reason.to_string(), "pod affinity terms conflict", "{name}");
                assert!(reasons[0].reason.is_unresolvable(), "{name}");
            }
            (found, expected) => assert_eq!(Some(found), expected, "{name}"),
        }
    }
}

/// The plugin with an affinity of the configuration.
fn configured(required: Option<&[&str]>, preferred: &[(i32, &str)]) -> NodeAffinityPlugin {
    let requirement = |value: &Value| Requirement {
        key: value["key"].as_str().unwrap().into(),
        operator: Operator::from_name(value["operator"].as_str().unwrap()),
        values: value["values"].as_array().unwrap().iter().map(|v| v.as_str().unwrap().into()).collect(),
    };
    let term = |text: &&str| {
        let expressions: Vec<_> = asks(text).as_array().unwrap().iter().map(requirement).collect();
        NodeSelectorTerm::new(expressions, [])
    };
    let required = required.map(|terms| NodeSelector { terms: terms.iter().map(term).collect() });
    let preferred = preferred.iter().map(|(weight, text)| (*weight, term(text))).collect();
    NodeAffinityPlugin { added: NodeAffinity { required, preferred } }
}

#[test]
fn what_the_configuration_adds_is_asked_first() {
    let zoned = configured(Some(&["zone Exists"]), &[]);
    assert_eq!(fits(&zoned, &pod("p")), [1, 2]);
    let reasons = all_reasons(&zoned, test_cluster(), &requiring(&[term("zone In a", "")]));
    assert_eq!(reasons, [vec![], vec![MATCHED.to_owned()], vec![ENFORCED.to_owned()]]);
    assert_eq!(fits(&configured(Some(&["zone In a", "cores Gt 9"]), &[]), &pod("p")), [1, 2]);
    assert_eq!(fits(&configured(Some(&[]), &[]), &pod("p")), [0; 0], "no terms match nothing");
    let rejected = rejections(&configured(Some(&[]), &[]), test_cluster(), &pod("p"));
    assert!(rejected[0].reason.is_unresolvable());
    assert_eq!(admission(&zoned, test_cluster(), &pod("p")), Admission::All);
}

#[test]
fn what_a_pod_likes_is_added_up() {
    let any = NodeAffinityPlugin::default();
    let scored = |plugin: &NodeAffinityPlugin, pod: &PodBuilder| raw_and_scores(plugin, test_cluster(), pod);
    assert_eq!(scored(&any, &pod("p")), None, "it likes nothing in particular");
    assert_eq!(scored(&any, &requiring(&[term("zone In a", "")])), None);
    let table = [
        (vec![(7, term("zone In a", ""))], [7, 0, 0], [100, 0, 0]),
        (vec![(7, term("zone Exists", "")), (3, term("cores Gt 9", ""))], [7, 10, 0], [70, 100, 0]),
        (vec![(1, term("zone Exists", "")), (2, term("", "metadata.name In n3"))], [1, 1, 2], [50, 50, 100]),
        (vec![(5, term("rack Exists", ""))], [0, 0, 0], [0, 0, 0]),
        (vec![(5, term("", ""))], [0, 0, 0], [0, 0, 0]),
        (vec![(0, term("zone Resembles a", "")), (1, term("zone In b", ""))], [0, 1, 0], [0, 100, 0]),
    ];
    for (terms, raw, normalised) in table {
        let expected = Some((raw.to_vec(), normalised.to_vec()));
        assert_eq!(scored(&any, &preferring(&terms)), expected, "{terms:?}");
    }
    let added = configured(None, &[(10, "zone In b")]);
    assert_eq!(scored(&added, &pod("p")), Some((vec![0, 10, 0], vec![0, 100, 0])));
    let both = preferring(&[(5, term("cores Exists", ""))]);
    assert_eq!(scored(&added, &both), Some((vec![5, 15, 0], vec![33, 100, 0])));
}

#[test]
fn a_malformed_wish_is_an_error_but_not_too_early() {
    let mut cluster = test_cluster().cluster();
    let snapshot = cluster.snapshot(now());
    let pod = preferring(&[(1, term("zone Exists", "")), (2, term("zone In", ""))]).build();
    let context = snapshot.context(&pod);
    let plugin = NodeAffinityPlugin::default();
    let why = Score::prepare(&plugin, &context, &snapshot, &[]).err();
    let values = "[1].matchExpressions[0].values: Invalid value: null";
    let expected = format!("{values}: for 'in', 'notin' operators, values set can't be empty");
    assert_eq!(why, Some(expected.into()));
    assert_eq!(Score::scope(&plugin, &context, &snapshot), Scope::Cluster);
    assert_eq!(Filter::scope(&plugin, &context, &snapshot), Scope::Node(0));
}

#[test]
fn arguments_reach_the_plugin() {
    let added = NodeAffinity { required: Some(NodeSelector::default()), preferred: Box::default() };
    let args = NodeAffinityArgs { added_affinity: Some(added) }.to_value();
    let mut cluster = test_cluster().cluster();
    let snapshot = cluster.snapshot(now());
    let pod = pod("p").build();
    let context = snapshot.context(&pod);
    let filters = |args| {
        let made = descriptor().make(args).unwrap();
        made.filter.is_some_and(|plugin| plugin.prepare(&context, &snapshot).is_some())
    };
    assert!(filters(&args) && !filters(&RawArgs::Null));
}
