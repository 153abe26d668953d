//! What kube-scheduler and an extender say to each other, both ways.
//!
//! The fields have the names of Go, capitals included; what is not set is `null`. Nodes come by name, from whoever knows
//! that we know them (`nodeCacheCapable`), or as whole objects, which go back as they came.
//!
//! Here is the side of the extender; [`ask`] is that of the scheduler.

pub mod ask;
#[cfg(test)]
mod tests;

use super::DecodeError;
use super::meta::{List, Meta, Str, decode};
use super::object::malformed;
use super::pod::pod;
use crate::model::ids::{NodeName, PodKey, Uid};
use crate::model::{Pod, excerpt::excerpt};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The highest score that an extender can give.
pub const PRIORITY_MAX: i64 = 10;

/// What a question is called that cannot be read.
const QUESTION: &str = "a scheduler's question";

/// Which of these nodes can have the pod, or how good are they?
pub struct Question<'a> {
    /// The pod, whose node is not chosen yet.
    pub pod: Pod,
    /// The nodes, in the order of the question.
    pub nodes: Nodes<'a>,
}

/// Nodes in a question.
pub enum Nodes<'a> {
    /// By name.
    Names(Vec<Cow<'a, str>>),
    /// Whole objects, with their names.
    Objects(Vec<(Cow<'a, str>, &'a RawValue)>),
}

/// Whose pods would have to go for a pod?
pub struct Preemption {
    /// The pod that they would have to go for.
    pub pod: Pod,
    /// The nodes with their victims.
    pub candidates: BTreeMap<NodeName, Victims>,
}

/// The pods that would have to go from one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Victims {
    /// Which pods.
    pub pods: Vec<Uid>,
    /// How many of them a disruption budget protects.
    pub violations: i64,
}

/// Bind a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingQuestion {
    /// The pod.
    pub pod: PodKey,
    /// Which pod of that name.
    pub uid: Uid,
    /// Where to.
    pub node: NodeName,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct QuestionWire<'a> {
    #[serde(borrow, default, alias = "pod")]
    pod: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "nodes")]
    nodes: Option<NodeListWire<'a>>,
    #[serde(borrow, default, alias = "nodeNames", alias = "nodenames")]
    node_names: Option<Vec<Str<'a>>>,
}

#[derive(Deserialize)]
struct NodeListWire<'a> {
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct NamedWire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PreemptionWire<'a> {
    #[serde(borrow, default)]
    pod: Option<&'a RawValue>,
    #[serde(borrow, default)]
    node_name_to_victims: Option<BTreeMap<Cow<'a, str>, Option<VictimsWire<'a>>>>,
    #[serde(borrow, default)]
    node_name_to_meta_victims: Option<BTreeMap<Cow<'a, str>, Option<MetaVictimsWire<'a>>>>,
}

#[derive(Deserialize, Default)]
struct VictimsWire<'a> {
    #[serde(borrow, rename = "Pods", default)]
    pods: List<NamedOrNull<'a>>,
    #[serde(rename = "NumPDBViolations", default)]
    violations: i64,
}

#[derive(Deserialize, Default)]
struct NamedOrNull<'a> {
    #[serde(borrow, default)]
    metadata: Meta<'a>,
}

#[derive(Deserialize, Default)]
struct MetaVictimsWire<'a> {
    #[serde(borrow, rename = "Pods", default)]
    pods: List<MetaPodWire<'a>>,
    #[serde(rename = "NumPDBViolations", default)]
    violations: i64,
}

#[derive(Deserialize, Default)]
struct MetaPodWire<'a> {
    #[serde(borrow, rename = "UID", default)]
    uid: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BindingWire<'a> {
    #[serde(borrow)]
    pod_name: Cow<'a, str>,
    #[serde(borrow)]
    pod_namespace: Cow<'a, str>,
    #[serde(borrow, rename = "PodUID")]
    pod_uid: Cow<'a, str>,
    #[serde(borrow)]
    node: Cow<'a, str>,
}

/// Reads the question of a filter or score call.
pub fn question(json: &str) -> Result<Question<'_>, DecodeError> {
    let wire: QuestionWire<'_> = decode(QUESTION, json)?;
    let pod = whole_pod(wire.pod)?;
    let nodes = match (wire.node_names, wire.nodes) {
        (Some(names), _) => Nodes::Names(names.into_iter().map(|name| name.0).collect()),
        (None, Some(list)) => {
            let items = list.items.unwrap_or_default().into_iter();
            Nodes::Objects(items.map(named).collect::<Result<_, _>>()?)
        }
        (None, None) => return Err(malformed(QUESTION, "neither NodeNames nor Nodes")),
    };
    Ok(Question { pod, nodes })
}

fn whole_pod(json: Option<&RawValue>) -> Result<Pod, DecodeError> {
    let json = json.ok_or_else(|| malformed(QUESTION, "no Pod"))?;
    let pod = pod(json.get())?;
    match pod.key.name.is_empty() {
        true => Err(malformed(QUESTION, "a Pod without a name")),
        false => Ok(pod),
    }
}

fn named(json: &RawValue) -> Result<(Cow<'_, str>, &RawValue), DecodeError> {
    let node: NamedWire<'_> = decode("Node", json.get())?;
    match node.metadata.name.is_empty() {
        true => Err(malformed(QUESTION, format!("a node without a name: {}", excerpt(json.get(), 80)))),
        false => Ok((node.metadata.name, json)),
    }
}

/// Reads the question of a preemption call.
pub fn preemption(json: &str) -> Result<Preemption, DecodeError> {
    let wire: PreemptionWire<'_> = decode(QUESTION, json)?;
    let pod = whole_pod(wire.pod)?;
    if wire.node_name_to_victims.is_none() && wire.node_name_to_meta_victims.is_none() {
        return Err(malformed(QUESTION, "neither NodeNameToMetaVictims nor NodeNameToVictims"));
    }
    let whole = wire.node_name_to_victims.unwrap_or_default().into_iter().map(|(node, victims)| {
        let victims = victims.unwrap_or_default();
        let pods = victims.pods.0.iter().map(|pod| Uid::from(&pod.metadata.uid)).collect();
        (NodeName::from(&*node), Victims { pods, violations: victims.violations })
    });
    let meta = wire.node_name_to_meta_victims.unwrap_or_default().into_iter().map(|(node, victims)| {
        let victims = victims.unwrap_or_default();
        let pods = victims.pods.0.iter().map(|pod| Uid::from(&pod.uid)).collect();
        (NodeName::from(&*node), Victims { pods, violations: victims.violations })
    });
    Ok(Preemption { pod, candidates: whole.chain(meta).collect() })
}

/// Reads the question of a binding call.
pub fn binding(json: &str) -> Result<BindingQuestion, DecodeError> {
    let wire: BindingWire<'_> = decode(QUESTION, json)?;
    if [&wire.pod_name, &wire.pod_namespace, &wire.pod_uid, &wire.node].iter().any(|text| text.is_empty()) {
        return Err(malformed(QUESTION, "a binding without a pod, its UID or a node"));
    }
    Ok(BindingQuestion {
        pod: PodKey::new(&*wire.pod_namespace, &*wire.pod_name),
        uid: Uid::from(&wire.pod_uid),
        node: NodeName::from(&*wire.node),
    })
}

impl Nodes<'_> {
    /// Their names, in the order of the question.
    pub fn names(&self) -> Vec<NodeName> {
        match self {
            Self::Names(names) => names.iter().map(|name| NodeName::from(&**name)).collect(),
            Self::Objects(objects) => objects.iter().map(|(name, _)| NodeName::from(&**name)).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct FilterResult<'a> {
    nodes: Option<NodeListOut<'a>>,
    node_names: Option<Vec<&'a str>>,
    failed_nodes: BTreeMap<&'a str, &'a str>,
    failed_and_unresolvable_nodes: BTreeMap<&'a str, &'a str>,
    error: &'a str,
}

#[derive(Serialize)]
struct NodeListOut<'a> {
    metadata: Empty,
    items: Vec<&'a RawValue>,
}

#[derive(Serialize)]
struct Empty {}

/// The answer to a filter call: every node but those in `refused`, which no preemption would help.
pub fn filtered(nodes: &Nodes<'_>, refused: &BTreeMap<NodeName, String>) -> String {
    let passes = |name: &str| !refused.contains_key(&NodeName::from(name));
    let (names, objects) = match nodes {
        Nodes::Names(names) => {
            (Some(names.iter().map(|name| &**name).filter(|name| passes(name)).collect()), None)
        }
        Nodes::Objects(objects) => {
            let items = objects.iter().filter(|(name, _)| passes(name)).map(|(_, json)| *json).collect();
            (None, Some(NodeListOut { metadata: Empty {}, items }))
        }
    };
    written(&FilterResult {
        nodes: objects,
        node_names: names,
        failed_nodes: BTreeMap::new(),
        failed_and_unresolvable_nodes: refused.iter().map(|(node, why)| (node.as_str(), &**why)).collect(),
        error: "",
    })
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct HostPriority<'a> {
    host: &'a str,
    score: i64,
}

/// The answer to a score call.
pub fn prioritized(scores: &[(NodeName, i64)]) -> String {
    let list = scores.iter().map(|(node, score)| HostPriority { host: node.as_str(), score: *score });
    written(&list.collect::<Vec<_>>())
}

/// The answer to a preemption call: the candidates that are left.
pub fn preempted(candidates: &BTreeMap<NodeName, Victims>) -> String {
    let meta = |victims: &Victims| {
        let pods = victims.pods.iter().map(|uid| serde_json::json!({ "UID": uid.to_string() }));
        serde_json::json!({ "Pods": pods.collect::<Vec<_>>(), "NumPDBViolations": victims.violations })
    };
    let nodes: BTreeMap<&str, serde_json::Value> =
        candidates.iter().map(|(node, victims)| (node.as_str(), meta(victims))).collect();
    serde_json::json!({ "NodeNameToMetaVictims": nodes }).to_string()
}

/// The answer to a binding call; no error means that the pod is bound.
pub fn bound(error: &str) -> String {
    serde_json::json!({ "Error": error }).to_string()
}

/// Values that were made of text always have a JSON form; an empty answer is one that a scheduler refuses.
fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
