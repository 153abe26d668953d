//! Converts an old Policy file into a `KubeSchedulerConfiguration`: predicates and priorities become plugins of a profile. Entry
//! point: [`replacement`].

use serde_json::{Map, Value, json};

use super::duration;
use super::plugin_catalog::{PluginCatalog, RESERVATION};
use super::show::{REDACTED, put, with, yaml};
use super::version::{API_VERSION, KIND};
use crate::model::ExtensionPoint;
use crate::model::excerpt::excerpt;

const PREDICATES: [(&str, &[&str]); 15] = [
    ("PodFitsHostPorts", &["NodePorts"]),
    ("PodFitsPorts", &["NodePorts"]),
    ("PodFitsResources", &["NodeResourcesFit"]),
    ("HostName", &["NodeName"]),
    ("MatchNodeSelector", &["NodeAffinity"]),
    ("GeneralPredicates", &["NodeName", "NodeAffinity", "NodePorts", "NodeResourcesFit"]),
    ("NoVolumeZoneConflict", &["VolumeZone"]),
    ("NoDiskConflict", &["VolumeRestrictions"]),
    ("MaxCSIVolumeCountPred", &["NodeVolumeLimits"]),
    ("CheckVolumeBinding", &["VolumeBinding"]),
    ("MatchInterPodAffinity", &["InterPodAffinity"]),
    ("EvenPodsSpread", &["PodTopologySpread"]),
    ("PodToleratesNodeTaints", &["TaintToleration"]),
    ("CheckNodeUnschedulable", &["NodeUnschedulable"]),
    ("CheckNodeCondition", &["NodeUnschedulable"]),
];

/// The plugins of predicates that always ran.
const ALWAYS: [&str; 2] = ["NodeUnschedulable", "TaintToleration"];

const PRIORITIES: [(&str, &str); 10] = [
    ("LeastRequestedPriority", "NodeResourcesFit"),
    ("MostRequestedPriority", "NodeResourcesFit"),
    ("RequestedToCapacityRatioPriority", "NodeResourcesFit"),
    ("BalancedResourceAllocation", "NodeResourcesBalancedAllocation"),
    ("SelectorSpreadPriority", "PodTopologySpread"),
    ("EvenPodsSpreadPriority", "PodTopologySpread"),
    ("InterPodAffinityPriority", "InterPodAffinity"),
    ("NodeAffinityPriority", "NodeAffinity"),
    ("TaintTolerationPriority", "TaintToleration"),
    ("ImageLocalityPriority", "ImageLocality"),
];

/// The fields of an extender that kept their names.
const EXTENDER: [&str; 10] = [
    "urlPrefix",
    "filterVerb",
    "preemptVerb",
    "prioritizeVerb",
    "bindVerb",
    "weight",
    "nodeCacheCapable",
    "ignorable",
    "managedResources",
    "tlsConfig",
];

/// The maximum number of items of a list that is shown; no list of a real policy is as long.
const ITEMS_MAX: usize = 50;
const TEXT_LEN_MAX: usize = 200;
const DEPTH_MAX: usize = 4;

/// The policy as a file that loads, and a list of the names without a replacement.
pub(super) fn replacement(policy: &Value, catalog: PluginCatalog<'_>) -> String {
    let mut unknown = Vec::new();
    let mut plugins = Map::new();
    if let Some(predicates) = policy.get("predicates").and_then(Value::as_array) {
        filters(predicates, &mut plugins, &mut unknown, catalog);
    }
    let mut strategy = None;
    if let Some(priorities) = policy.get("priorities").and_then(Value::as_array) {
        strategy = scores(priorities, &mut plugins, &mut unknown, catalog);
    }
    let plugins = Some(plugins).filter(|plugins| !plugins.is_empty());
    let profile = json!({"plugins": plugins, "pluginConfig": plugin_config(policy, strategy)});
    let profile = Some(with(json!({}), profile)).filter(|profile| *profile != json!({}));
    let extenders = policy.get("extenders").and_then(Value::as_array);
    let extenders =
        extenders.map(|extenders| extenders.iter().take(ITEMS_MAX).map(extender).collect::<Vec<_>>());
    let mut file =
        with(json!({"apiVersion": API_VERSION, "kind": KIND}), json!({"profiles": profile.as_slice()}));
    // An empty list stays one.
    extenders.into_iter().for_each(|extenders| put(&mut file, "extenders", json!(extenders)));
    let mut text = format!("The same as {API_VERSION}:\n\n{}", yaml(&file));
    if !unknown.is_empty() {
        text.push_str(&format!("\nWithout a counterpart: {}.\n", unknown.join(", ")));
    }
    text
}

/// Enables only the plugins of the policy's predicates, and those that always ran.
fn filters(
    predicates: &[Value],
    plugins: &mut Map<String, Value>,
    unknown: &mut Vec<String>,
    catalog: PluginCatalog<'_>,
) {
    let mut names: Vec<&str> = ALWAYS.to_vec();
    for name in predicates.iter().take(ITEMS_MAX).map(name_of) {
        match PREDICATES.iter().find(|(old, _)| *old == name) {
            Some((_, new)) => names.extend(new.iter().filter(|new| !names.contains(new)).collect::<Vec<_>>()),
            None => unknown.push(excerpt(name, TEXT_LEN_MAX)),
        }
    }
    for point in [ExtensionPoint::PreFilter, ExtensionPoint::Filter] {
        insert(plugins, point, names.iter().map(|name| (*name, None)), catalog);
    }
}

/// Enables only the plugins of the policy's priorities. Returns the strategy of NodeResourcesFit, if a priority needs one.
fn scores(
    priorities: &[Value],
    plugins: &mut Map<String, Value>,
    unknown: &mut Vec<String>,
    catalog: PluginCatalog<'_>,
) -> Option<&'static str> {
    let mut names: Vec<(&str, Option<i64>)> = Vec::new();
    let mut strategy = None;
    for priority in priorities.iter().take(ITEMS_MAX) {
        let name = name_of(priority);
        let Some((_, new)) = PRIORITIES.iter().find(|(old, _)| *old == name) else {
            unknown.push(excerpt(name, TEXT_LEN_MAX));
            continue;
        };
        if names.iter().any(|(before, _)| before == new) {
            continue;
        }
        if name == "MostRequestedPriority" {
            strategy = Some("MostAllocated");
        }
        let weight = priority.get("weight").and_then(Value::as_i64);
        names.push((*new, weight.filter(|weight| (1..=i64::from(i32::MAX)).contains(weight))));
    }
    insert(plugins, ExtensionPoint::PreScore, names.iter().map(|(name, _)| (*name, None)), catalog);
    insert(plugins, ExtensionPoint::Score, names.iter().copied(), catalog);
    strategy
}

/// Enables only these plugins at `point`, as far as they have that extension point, and Reservation.
fn insert<'a>(
    plugins: &mut Map<String, Value>,
    point: ExtensionPoint,
    names: impl Iterator<Item = (&'a str, Option<i64>)>,
    catalog: PluginCatalog<'_>,
) {
    let enabled = names.filter(|(name, _)| catalog.has(name, point));
    let enabled = enabled.map(|(name, weight)| with(json!({"name": name}), json!({"weight": weight})));
    // The policy cannot know our plugin, so it is always added: reservations must be enforced.
    let ours = catalog.find(RESERVATION).filter(|plugin| plugin.points.contains(&point));
    let ours = ours.map(|plugin| {
        let weight = plugin.default_weight.filter(|_| point == ExtensionPoint::Score);
        with(json!({"name": RESERVATION}), json!({"weight": weight}))
    });
    let enabled: Vec<Value> = enabled.chain(ours).collect();
    plugins.insert(point.field().to_owned(), json!({"disabled": [{"name": "*"}], "enabled": enabled}));
}

fn plugin_config(policy: &Value, strategy: Option<&str>) -> Vec<Value> {
    let hard = policy.get("hardPodAffinitySymmetricWeight").and_then(Value::as_i64);
    let hard = hard.filter(|weight| (0..=100).contains(weight));
    let affinity =
        hard.map(|weight| json!({"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": weight}}));
    let fit =
        strategy.map(|kind| json!({"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": kind}}}));
    affinity.into_iter().chain(fit).collect()
}

fn extender(old: &Value) -> Value {
    let mut new = Map::new();
    for key in EXTENDER {
        if let Some(value) = old.get(key) {
            new.insert(key.to_owned(), shortened(key, value, 0));
        }
    }
    for key in ["enableHttps", "enableHTTPS"] {
        if let Some(flag) = old.get(key).and_then(Value::as_bool) {
            new.insert("enableHTTPS".to_owned(), json!(flag));
        }
    }
    // A policy has nanoseconds; a configuration has a text.
    if let Some(nanoseconds) = old.get("httpTimeout").and_then(Value::as_i64) {
        let timeout = duration::print(jiff::SignedDuration::from_nanos(nanoseconds));
        new.insert("httpTimeout".to_owned(), json!(timeout));
    }
    Value::Object(new)
}

/// A value of the policy without secrets; long texts and lists are cut.
fn shortened(key: &str, value: &Value, depth: usize) -> Value {
    match value {
        Value::String(_) if ["certData", "keyData", "caData"].contains(&key) => json!(REDACTED),
        Value::String(text) => json!(excerpt(text, TEXT_LEN_MAX)),
        Value::Array(items) if depth < DEPTH_MAX => {
            items.iter().take(ITEMS_MAX).map(|item| shortened(key, item, depth + 1)).collect()
        }
        Value::Object(fields) if depth < DEPTH_MAX => {
            let fields = fields.iter().take(ITEMS_MAX);
            let short =
                fields.map(|(key, value)| (excerpt(key, TEXT_LEN_MAX), shortened(key, value, depth + 1)));
            Value::Object(short.collect())
        }
        Value::Array(_) | Value::Object(_) => Value::Null,
        other => other.clone(),
    }
}

fn name_of(entry: &Value) -> &str {
    entry.get("name").and_then(Value::as_str).unwrap_or_default()
}
