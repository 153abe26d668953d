//! The scheduler's side of the calls to an extender: encodes arguments and decodes results.
//!
//! Results are decoded as Go does: the case of a field name does not matter, and a missing field has its zero value.

use super::Victims;
use crate::model::ids::{NodeName, Uid};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The nodes in the arguments of a call.
pub enum SentNodes<'a> {
    /// By name, for an extender with `nodeCacheCapable`.
    Names(&'a [NodeName]),
    Objects(&'a [Box<RawValue>]),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtenderFilterResult {
    pub nodes: Vec<NodeName>,
    /// Nodes that do not pass, with the reasons. Preemption may help.
    pub failed: BTreeMap<NodeName, String>,
    /// Nodes that do not pass and for which preemption does not help, with the reasons. They take precedence over `failed`.
    pub unresolvable: BTreeMap<NodeName, String>,
}

/// Encodes the arguments of a filter or score call. `pod` is the JSON of the pod.
pub fn args(pod: &RawValue, nodes: &SentNodes<'_>) -> String {
    let (names, objects) = match nodes {
        SentNodes::Names(names) => {
            (json!(names.iter().map(NodeName::as_str).collect::<Vec<_>>()).to_string(), "null".to_owned())
        }
        SentNodes::Objects(objects) => {
            let items: Vec<&str> = objects.iter().map(|node| node.get()).collect();
            ("null".to_owned(), format!(r#"{{"metadata":{{}},"items":[{}]}}"#, items.join(",")))
        }
    };
    format!(r#"{{"Pod":{},"Nodes":{objects},"NodeNames":{names}}}"#, pod.get())
}

/// Encodes the arguments of a preemption call. `whole` has the JSON of the victims by UID, for an extender without
/// `nodeCacheCapable`.
pub fn preemption_args(
    pod: &RawValue,
    candidates: &BTreeMap<NodeName, Victims>,
    whole: Option<&BTreeMap<Uid, Box<RawValue>>>,
) -> String {
    let victims = |victims: &Victims| {
        let pods: Vec<String> = match whole {
            Some(whole) => {
                victims.pods.iter().filter_map(|uid| Some(whole.get(uid)?.get().to_owned())).collect()
            }
            None => victims.pods.iter().map(|uid| json!({ "UID": uid.to_string() }).to_string()).collect(),
        };
        format!(r#"{{"Pods":[{}],"NumPDBViolations":{}}}"#, pods.join(","), victims.violations)
    };
    let nodes: Vec<String> =
        candidates.iter().map(|(node, all)| format!("{}:{}", json!(node.as_str()), victims(all))).collect();
    let (whole, meta) = match whole {
        Some(_) => (format!("{{{}}}", nodes.join(",")), "null".to_owned()),
        None => ("null".to_owned(), format!("{{{}}}", nodes.join(","))),
    };
    format!(r#"{{"Pod":{},"NodeNameToVictims":{whole},"NodeNameToMetaVictims":{meta}}}"#, pod.get())
}

pub fn binding_args(pod: &crate::model::PodKey, uid: &Uid, node: &NodeName) -> String {
    json!({ "PodName": &*pod.name, "PodNamespace": &*pod.namespace, "PodUID": uid.to_string(), "Node": node.as_str() })
        .to_string()
}

/// Decodes the result of a filter call. `is_by_name` says whether the nodes were sent by name.
///
/// # Errors
/// What is wrong with the result, or the error of the extender itself.
pub fn filter_result(text: &str, is_by_name: bool) -> Result<ExtenderFilterResult, String> {
    let answer = object(text)?;
    if let Some(error) = field(&answer, "Error").and_then(Value::as_str).filter(|error| !error.is_empty()) {
        return Err(error.to_owned());
    }
    let names = field(&answer, "NodeNames").filter(|names| is_by_name && !names.is_null());
    let nodes = match (names, field(&answer, "Nodes").and_then(Value::as_object)) {
        (Some(names), _) => names.as_array().ok_or("NodeNames is no list")?.iter().map(name).collect(),
        (None, Some(list)) => {
            let items = field(list, "items").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            items.iter().map(|node| name(&node["metadata"]["name"])).collect()
        }
        (None, None) => Ok(Vec::new()),
    };
    Ok(ExtenderFilterResult {
        nodes: nodes?,
        failed: reasons(&answer, "FailedNodes")?,
        unresolvable: reasons(&answer, "FailedAndUnresolvableNodes")?,
    })
}

pub fn priority_list(text: &str) -> Result<BTreeMap<NodeName, i64>, String> {
    let answer: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let list = match &answer {
        Value::Null => return Ok(BTreeMap::new()),
        Value::Array(list) => list,
        _ => return Err("a list of scores was expected".to_owned()),
    };
    let mut scores = BTreeMap::new();
    for entry in list {
        let entry = entry.as_object().ok_or("a score is no object")?;
        let score =
            field(entry, "Score").map_or(Ok(0), |score| score.as_i64().ok_or("a score is no number"))?;
        // As in kube-scheduler, scores of the same node are added.
        let sum = scores.entry(name(field(entry, "Host").unwrap_or(&Value::Null))?).or_insert(0_i64);
        *sum = sum.saturating_add(score);
    }
    Ok(scores)
}

/// Decodes the result of a preemption call.
pub fn preemption_result(text: &str) -> Result<BTreeMap<NodeName, Victims>, String> {
    let answer = object(text)?;
    let mut candidates = BTreeMap::new();
    for (node, victims) in
        field(&answer, "NodeNameToMetaVictims").and_then(Value::as_object).into_iter().flatten()
    {
        let Some(victims) = victims.as_object() else { continue };
        let pods = field(victims, "Pods").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let uid = |pod: &Value| {
            Uid::from(pod.as_object().and_then(|pod| field(pod, "UID")?.as_str()).unwrap_or(""))
        };
        let violations = field(victims, "NumPDBViolations").and_then(Value::as_i64).unwrap_or(0);
        let victims = Victims { pods: pods.iter().map(uid).collect(), violations };
        candidates.insert(NodeName::from(node.as_str()), victims);
    }
    Ok(candidates)
}

/// Decodes the result of a binding call.
///
/// # Errors
/// What is wrong with the result, or the error of the extender itself.
pub fn binding_result(text: &str) -> Result<(), String> {
    match field(&object(text)?, "Error").and_then(Value::as_str).unwrap_or("") {
        "" => Ok(()),
        error => Err(error.to_owned()),
    }
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text).map_err(|error| error.to_string())? {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Map::new()),
        _ => Err("an object was expected".to_owned()),
    }
}

fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object
        .get(name)
        .or_else(|| object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
}

fn name(value: &Value) -> Result<NodeName, String> {
    value.as_str().map(NodeName::from).ok_or_else(|| "a node has no name".to_owned())
}

fn reasons(answer: &Map<String, Value>, key: &str) -> Result<BTreeMap<NodeName, String>, String> {
    let Some(Value::Object(map)) = field(answer, key) else { return Ok(BTreeMap::new()) };
    let reason = |(node, why): (&String, &Value)| {
        let why = why.as_str().ok_or_else(|| format!("{key} has a reason that is no text"))?;
        Ok((NodeName::from(node.as_str()), why.to_owned()))
    };
    map.iter().map(reason).collect()
}
