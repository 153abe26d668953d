//! The JSON of the calls from a scheduler to an extender, and of the results.
//!
//! This module is the extender's side: it decodes arguments and encodes results. [`client`] is the scheduler's side. The names are
//! those of kube-scheduler's package `extender/v1`.
//!
//! JSON fields are named as in Go, with an upper-case initial; a field that is not set is `null`. Nodes are sent by name, if the
//! scheduler's configuration says `nodeCacheCapable`, or as whole objects, which are returned unchanged.

pub mod client;
#[cfg(test)]
mod tests;

use super::DecodeError;
use super::meta::{Meta, NullableList, ObjectWire, Str, decode};
use super::object::malformed;
use super::pod::pod;
use crate::model::excerpt::excerpt;
use crate::model::{NodeName, Pod, PodKey, Uid};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The highest score that an extender can give.
pub const PRIORITY_MAX: i64 = 10;

/// What the arguments of a call are called in errors.
const QUESTION: &str = "a scheduler's question";

/// The arguments of a filter or score call.
pub struct ExtenderArgs<'a> {
    /// The pod that is being scheduled.
    pub pod: Pod,
    /// The nodes, in the order of the arguments.
    pub nodes: ReceivedNodes<'a>,
}

/// The nodes in the arguments of a call.
pub enum ReceivedNodes<'a> {
    Names(Vec<Cow<'a, str>>),
    /// Whole objects, each with its name.
    Objects(Vec<(Cow<'a, str>, &'a RawValue)>),
}

pub struct ExtenderPreemptionArgs {
    pub pod: Pod,
    pub candidates: BTreeMap<NodeName, Victims>,
}

/// The pods that would be preempted on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Victims {
    pub pods: Vec<Uid>,
    /// How many of these pods a PodDisruptionBudget protects (`numPDBViolations`).
    pub violations: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtenderBindingArgs {
    pub pod: PodKey,
    pub uid: Uid,
    pub node: NodeName,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", bound(deserialize = "'de: 'a"))]
struct QuestionWire<'a> {
    #[serde(default, alias = "pod")]
    pod: Option<&'a RawValue>,
    #[serde(default, alias = "nodes")]
    nodes: Option<NodeListWire<'a>>,
    #[serde(default, alias = "nodeNames", alias = "nodenames")]
    node_names: Option<Vec<Str<'a>>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct NodeListWire<'a> {
    #[serde(default)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", bound(deserialize = "'de: 'a"))]
struct PreemptionWire<'a> {
    #[serde(default)]
    pod: Option<&'a RawValue>,
    #[serde(default)]
    node_name_to_victims: Option<BTreeMap<Str<'a>, Option<VictimsWire<NamedOrNull<'a>>>>>,
    #[serde(default)]
    node_name_to_meta_victims: Option<BTreeMap<Str<'a>, Option<VictimsWire<MetaPodWire<'a>>>>>,
}

/// The victims on one node, each as a whole pod or only by its UID.
#[derive(Deserialize)]
#[serde(bound(deserialize = "P: Deserialize<'de> + Default"))]
struct VictimsWire<P> {
    #[serde(rename = "Pods", default)]
    pods: NullableList<P>,
    #[serde(rename = "NumPDBViolations", default)]
    violations: i64,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"))]
struct NamedOrNull<'a> {
    #[serde(default)]
    metadata: Meta<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"))]
struct MetaPodWire<'a> {
    #[serde(rename = "UID", default)]
    uid: Str<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", bound(deserialize = "'de: 'a"))]
struct BindingWire<'a> {
    pod_name: Str<'a>,
    pod_namespace: Str<'a>,
    #[serde(rename = "PodUID")]
    pod_uid: Str<'a>,
    node: Str<'a>,
}

/// Decodes the arguments of a filter or score call.
pub fn args(json: &str) -> Result<ExtenderArgs<'_>, DecodeError> {
    let wire: QuestionWire<'_> = decode(QUESTION, json)?;
    let pod = whole_pod(wire.pod)?;
    let nodes = match (wire.node_names, wire.nodes) {
        (Some(names), _) => ReceivedNodes::Names(names.into_iter().map(|name| name.0).collect()),
        (None, Some(list)) => {
            let items = list.items.unwrap_or_default().into_iter();
            ReceivedNodes::Objects(items.map(named).collect::<Result<_, _>>()?)
        }
        (None, None) => return Err(malformed(QUESTION, "neither NodeNames nor Nodes")),
    };
    Ok(ExtenderArgs { pod, nodes })
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
    let node: ObjectWire<'_> = decode("Node", json.get())?;
    match node.metadata.name.is_empty() {
        true => Err(malformed(QUESTION, format!("a node without a name: {}", excerpt(json.get(), 80)))),
        false => Ok((node.metadata.name.0, json)),
    }
}

pub fn preemption_args(json: &str) -> Result<ExtenderPreemptionArgs, DecodeError> {
    let wire: PreemptionWire<'_> = decode(QUESTION, json)?;
    let pod = whole_pod(wire.pod)?;
    if wire.node_name_to_victims.is_none() && wire.node_name_to_meta_victims.is_none() {
        return Err(malformed(QUESTION, "neither NodeNameToMetaVictims nor NodeNameToVictims"));
    }
    let whole = victims(wire.node_name_to_victims, |pod| Uid::from(&*pod.metadata.uid));
    let meta = victims(wire.node_name_to_meta_victims, |pod| Uid::from(&*pod.uid));
    Ok(ExtenderPreemptionArgs { pod, candidates: whole.chain(meta).collect() })
}

fn victims<P>(
    by_node: Option<BTreeMap<Str<'_>, Option<VictimsWire<P>>>>,
    uid: fn(&P) -> Uid,
) -> impl Iterator<Item = (NodeName, Victims)> {
    by_node.unwrap_or_default().into_iter().map(move |(node, victims)| {
        let (pods, violations) = victims.map_or_else(Default::default, |all| (all.pods.0, all.violations));
        (NodeName::from(&*node), Victims { pods: pods.iter().map(uid).collect(), violations })
    })
}

pub fn binding_args(json: &str) -> Result<ExtenderBindingArgs, DecodeError> {
    let wire: BindingWire<'_> = decode(QUESTION, json)?;
    if [&wire.pod_name, &wire.pod_namespace, &wire.pod_uid, &wire.node].iter().any(|text| text.is_empty()) {
        return Err(malformed(QUESTION, "a binding without a pod, its UID or a node"));
    }
    Ok(ExtenderBindingArgs {
        pod: PodKey::new(&*wire.pod_namespace, &*wire.pod_name),
        uid: Uid::from(&*wire.pod_uid),
        node: NodeName::from(&*wire.node),
    })
}

impl ReceivedNodes<'_> {
    /// The names, in the order of the arguments.
    pub fn names(&self) -> Vec<NodeName> {
        match self {
            Self::Names(names) => names.iter().map(|name| NodeName::from(&**name)).collect(),
            Self::Objects(objects) => objects.iter().map(|(name, _)| NodeName::from(&**name)).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct FilterResultWire<'a> {
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

/// Encodes the result of a filter call: all nodes except `refused`, which are reported as unresolvable by preemption.
pub fn filter_result(nodes: &ReceivedNodes<'_>, refused: &BTreeMap<NodeName, String>) -> String {
    let passes = |name: &str| !refused.contains_key(&NodeName::from(name));
    let (names, objects) = match nodes {
        ReceivedNodes::Names(names) => {
            (Some(names.iter().map(|name| &**name).filter(|name| passes(name)).collect()), None)
        }
        ReceivedNodes::Objects(objects) => {
            let items = objects.iter().filter(|(name, _)| passes(name)).map(|(_, json)| *json).collect();
            (None, Some(NodeListOut { metadata: Empty {}, items }))
        }
    };
    to_json(&FilterResultWire {
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

/// Encodes the result of a score call.
pub fn priority_list(scores: &[(NodeName, i64)]) -> String {
    let list = scores.iter().map(|(node, score)| HostPriority { host: node.as_str(), score: *score });
    to_json(&list.collect::<Vec<_>>())
}

/// Encodes the result of a preemption call: the candidates that are left.
pub fn preemption_result(candidates: &BTreeMap<NodeName, Victims>) -> String {
    let meta = |victims: &Victims| {
        let pods = victims.pods.iter().map(|uid| serde_json::json!({ "UID": uid.to_string() }));
        serde_json::json!({ "Pods": pods.collect::<Vec<_>>(), "NumPDBViolations": victims.violations })
    };
    let nodes: BTreeMap<&str, serde_json::Value> =
        candidates.iter().map(|(node, victims)| (node.as_str(), meta(victims))).collect();
    serde_json::json!({ "NodeNameToMetaVictims": nodes }).to_string()
}

/// Encodes the result of a binding call. An empty `error` means that the pod is bound.
pub fn binding_result(error: &str) -> String {
    serde_json::json!({ "Error": error }).to_string()
}

/// These values can always be written as JSON. If not, the result is empty, which a scheduler rejects.
fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
