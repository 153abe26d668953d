//! Parses the arguments of our own plugins, and prints them as a file has them. Entry points: [`read`] and [`show`].

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::file_value::{FileMap, FileValue};
use super::findings::{Findings, quoted};
use super::names::{is_label_value, is_qualified};
use super::own_args::{
    BuildImageLocalityArgs, LabelGateArgs, LabelPattern, NodeLabelArgs, NodePreferenceArgs, OwnPluginArgs,
    PodLimitArgs, RandomScoreArgs,
};
use super::read_args::checked;
use super::show::put;
use super::version::Version;

/// Our plugins that have arguments, and the fields of the arguments.
const FIELDS: [(&str, &[&str]); 6] = [
    ("NodeLabel", &["requiredLabels"]),
    ("PodLimit", &["maxPods", "namespaces"]),
    ("NodePreference", &["nodes", "labels"]),
    ("LabelGate", &["podLabel", "nodeLabel"]),
    ("RandomScore", &["seed"]),
    ("BuildImageLocality", &["env"]),
];

/// Of a pod's environment, the decoder keeps only variables with this word in their name, in upper or lower case.
const IMAGE_WORD: &str = "IMAGE";

/// Reads the arguments of one plugin into `args`. `false` if the plugin has no arguments.
pub(super) fn read(
    name: &str,
    node: &FileValue<'_>,
    version: Version,
    args: &mut OwnPluginArgs,
    found: &mut Findings,
) -> bool {
    let Some((_, fields)) = FIELDS.iter().find(|(known, _)| *known == name) else { return false };
    let Some(object) = checked(name, node, fields, version, found) else { return true };
    match name {
        "NodeLabel" => args.node_label = node_label(&object, found),
        "PodLimit" => args.pod_limit = pod_limit(&object, found),
        "NodePreference" => args.node_preference = node_preference(&object, found),
        "LabelGate" => args.label_gate = label_gate(&object, found),
        "RandomScore" => {
            args.random_score = RandomScoreArgs { seed: object.int64("seed", found).unwrap_or(0) };
        }
        "BuildImageLocality" => args.build_image_locality = build_image_locality(&object, found),
        _ => return false,
    }
    true
}

/// The arguments of the plugins that run or whose arguments are not the defaults, as a file has them.
pub(super) fn show(args: &OwnPluginArgs, runs: impl Fn(&str) -> bool) -> Vec<(&'static str, Value)> {
    let default = OwnPluginArgs::default();
    let shown = FIELDS.iter().map(|(name, _)| (*name, args_of(args, name), args_of(&default, name)));
    shown
        .filter(|(name, value, default)| value != default || runs(name))
        .map(|(name, value, _)| (name, value))
        .collect()
}

fn args_of(args: &OwnPluginArgs, name: &str) -> Value {
    let mut shown = json!({});
    match name {
        "NodeLabel" => put(&mut shown, "requiredLabels", json!(args.node_label.required_labels)),
        "PodLimit" => {
            if let Some(max) = args.pod_limit.max_pods {
                put(&mut shown, "maxPods", json!(max));
            }
            put(&mut shown, "namespaces", json!(args.pod_limit.namespaces));
        }
        "NodePreference" => {
            let labels = args.node_preference.labels.iter();
            let labels: BTreeMap<String, i64> =
                labels.map(|(pattern, score)| (pattern.to_string(), *score)).collect();
            put(&mut shown, "nodes", json!(args.node_preference.nodes));
            put(&mut shown, "labels", json!(labels));
        }
        "LabelGate" => {
            let gates =
                [("podLabel", &args.label_gate.pod_label), ("nodeLabel", &args.label_gate.node_label)];
            for (key, pattern) in gates {
                pattern.iter().for_each(|pattern| put(&mut shown, key, json!(pattern.to_string())));
            }
        }
        "RandomScore" => put(&mut shown, "seed", json!(args.random_score.seed)),
        "BuildImageLocality" => put(&mut shown, "env", json!(args.build_image_locality.env)),
        _ => {}
    }
    shown
}

fn node_label(object: &FileMap<'_>, found: &mut Findings) -> NodeLabelArgs {
    let mut required_labels = BTreeMap::new();
    for (key, node) in object.entries("requiredLabels", found) {
        check_label(&node.path, key, None, found);
        if let Some(value) = node.text(found) {
            if !is_label_value(&value) {
                found.error(&node.path, format!("{} is not the value of a label", quoted(&value)));
            }
            required_labels.insert(key.to_owned(), value);
        }
    }
    NodeLabelArgs { required_labels }
}

fn pod_limit(object: &FileMap<'_>, found: &mut Findings) -> PodLimitArgs {
    let max_pods = object.get("maxPods").and_then(|node| number(&node, 0, i64::MAX, found));
    let namespaces = object.entries("namespaces", found).into_iter();
    let namespaces = namespaces
        .filter_map(|(name, node)| Some((name.to_owned(), number(&node, 0, i64::MAX, found)?)))
        .collect();
    PodLimitArgs { max_pods, namespaces }
}

fn node_preference(object: &FileMap<'_>, found: &mut Findings) -> NodePreferenceArgs {
    let mut args = NodePreferenceArgs::default();
    for (name, node) in object.entries("nodes", found) {
        args.nodes.extend(number(&node, 0, 100, found).map(|score| (name.to_owned(), score)));
    }
    for (text, node) in object.entries("labels", found) {
        let pattern = pattern(&node.path, text, found);
        args.labels.extend(number(&node, 0, 100, found).map(|score| (pattern, score)));
    }
    args
}

fn label_gate(object: &FileMap<'_>, found: &mut Findings) -> LabelGateArgs {
    let mut gate = |key: &str| {
        let text = object.text(key, found).filter(|text| !text.is_empty())?;
        Some(pattern(&object.child(key), &text, found))
    };
    LabelGateArgs { pod_label: gate("podLabel"), node_label: gate("nodeLabel") }
}

fn build_image_locality(object: &FileMap<'_>, found: &mut Findings) -> BuildImageLocalityArgs {
    let Some(env) = object.text("env", found) else { return BuildImageLocalityArgs::default() };
    if !env.is_empty() && !env.to_ascii_uppercase().contains(IMAGE_WORD) {
        let what =
            format!("{} has no {IMAGE_WORD} in it; other variables of pods are not kept", quoted(&env));
        found.error(&object.child("env"), what);
    }
    BuildImageLocalityArgs { env }
}

fn number(node: &FileValue<'_>, min: i64, max: i64, found: &mut Findings) -> Option<i64> {
    let number = node.integer(i64::MIN, i64::MAX, found)?;
    match number {
        _ if (min..=max).contains(&number) => return Some(number),
        _ if max == i64::MAX => found.error(&node.path, format!("{number} is negative")),
        _ => found.error(&node.path, format!("{number} is not between {min} and {max}")),
    }
    None
}

fn pattern(path: &str, text: &str, found: &mut Findings) -> LabelPattern {
    let pattern = LabelPattern::parse(text);
    check_label(path, &pattern.key, pattern.value.as_deref(), found);
    pattern
}

fn check_label(path: &str, key: &str, value: Option<&str>, found: &mut Findings) {
    if !is_qualified(key) {
        found.error(path, format!("{} is not the name of a label", quoted(key)));
    }
    if let Some(value) = value.filter(|value| !is_label_value(value)) {
        found.error(path, format!("{} is not the value of a label", quoted(value)));
    }
}
