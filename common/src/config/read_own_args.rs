//! Reads and shows the arguments of our own plugins.

use std::collections::BTreeMap;

use serde_json::json;

use super::args::PluginArgs;
use super::file_value::{FileMap, FileValue};
use super::findings::{Findings, quoted};
use super::show::with;
use super::{
    BuildImageLocalityArgs, LabelGateArgs, LabelPattern, NodeLabelArgs, NodePreferenceArgs, PodLimitArgs,
    RandomScoreArgs, RawArgs,
};
use crate::model::label_syntax::{is_key, is_value};

/// Of a pod's environment, the decoder keeps only variables with this word in their name, in upper or lower case.
const IMAGE_WORD: &str = "IMAGE";

impl PluginArgs for NodeLabelArgs {
    const FIELDS: &'static [&'static str] = &["requiredLabels"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        let mut required_labels = BTreeMap::new();
        for (key, node) in object.entries("requiredLabels", found) {
            check_label(&node.path, key, None, found);
            if let Some(value) = node.text(found) {
                if !is_value(&value) {
                    found.error(&node.path, format!("{} is not the value of a label", quoted(&value)));
                }
                required_labels.insert(key.to_owned(), value);
            }
        }
        NodeLabelArgs { required_labels }
    }

    fn to_value(&self) -> RawArgs {
        json!({"requiredLabels": self.required_labels})
    }
}

impl PluginArgs for PodLimitArgs {
    const FIELDS: &'static [&'static str] = &["maxPods", "namespaces"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        let max_pods = object.get("maxPods").and_then(|node| number(&node, 0, i64::MAX, found));
        let namespaces = object.entries("namespaces", found).into_iter();
        let namespaces = namespaces
            .filter_map(|(name, node)| Some((name.to_owned(), number(&node, 0, i64::MAX, found)?)))
            .collect();
        PodLimitArgs { max_pods, namespaces }
    }

    fn to_value(&self) -> RawArgs {
        with(json!({"namespaces": self.namespaces}), json!({"maxPods": self.max_pods}))
    }
}

impl PluginArgs for NodePreferenceArgs {
    const FIELDS: &'static [&'static str] = &["nodes", "labels"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
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

    fn to_value(&self) -> RawArgs {
        let labels = self.labels.iter();
        let labels: BTreeMap<String, i64> =
            labels.map(|(pattern, score)| (pattern.to_string(), *score)).collect();
        json!({"nodes": self.nodes, "labels": labels})
    }
}

impl PluginArgs for LabelGateArgs {
    const FIELDS: &'static [&'static str] = &["podLabel", "nodeLabel"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        let mut gate = |key: &str| {
            let text = object.text(key, found).filter(|text| !text.is_empty())?;
            Some(pattern(&object.child(key), &text, found))
        };
        LabelGateArgs { pod_label: gate("podLabel"), node_label: gate("nodeLabel") }
    }

    fn to_value(&self) -> RawArgs {
        let text = |pattern: &Option<LabelPattern>| pattern.as_ref().map(ToString::to_string);
        with(json!({}), json!({"podLabel": text(&self.pod_label), "nodeLabel": text(&self.node_label)}))
    }
}

impl PluginArgs for BuildImageLocalityArgs {
    const FIELDS: &'static [&'static str] = &["env"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        let Some(env) = object.text("env", found) else { return BuildImageLocalityArgs::default() };
        if !env.is_empty() && !env.to_ascii_uppercase().contains(IMAGE_WORD) {
            let what =
                format!("{} has no {IMAGE_WORD} in it; other variables of pods are not kept", quoted(&env));
            found.error(&object.child("env"), what);
        }
        BuildImageLocalityArgs { env }
    }

    fn to_value(&self) -> RawArgs {
        json!({"env": self.env})
    }
}

impl PluginArgs for RandomScoreArgs {
    const FIELDS: &'static [&'static str] = &["seed"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        Self { seed: object.int64("seed", found).unwrap_or(0) }
    }

    fn to_value(&self) -> RawArgs {
        json!({"seed": self.seed})
    }
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
    if !is_key(key) {
        found.error(path, format!("{} is not the name of a label", quoted(key)));
    }
    if let Some(value) = value.filter(|value| !is_value(value)) {
        found.error(path, format!("{} is not the value of a label", quoted(value)));
    }
}
