//! Makes a pod from the flags of `fit`, without a manifest.

use crate::error::Failure;
use common::model::quantity::Quantity;
use serde_json::{Map, Value, json};

/// The name of a pod that was made from flags.
pub(crate) const FROM_FLAGS: &str = "Pod/fit";

#[derive(Debug, Default)]
pub(crate) struct PodFlags<'a> {
    pub(crate) cpu: Option<&'a str>,
    pub(crate) memory: Option<&'a str>,
    pub(crate) resources: &'a [String],
    pub(crate) priority_class: Option<&'a str>,
    pub(crate) node_selector: &'a [String],
    pub(crate) tolerations: &'a [String],
    pub(crate) scheduler: Option<&'a str>,
}

pub(crate) fn pod_manifest(flags: &PodFlags<'_>) -> Result<Value, Failure> {
    let mut requests = Map::new();
    let named = [("cpu", flags.cpu), ("memory", flags.memory)];
    let named = named.into_iter().filter_map(|(name, amount)| Some((name, amount?)));
    let others =
        flags.resources.iter().map(|text| pair("--resource", text)).collect::<Result<Vec<_>, _>>()?;
    for (name, amount) in named.chain(others) {
        Quantity::parse(amount).map_err(|error| Failure::usage(format!("{name} {amount:?}: {error}")))?;
        requests.insert(name.into(), amount.into());
    }
    let selector = flags.node_selector.iter().map(|text| pair("--node-selector", text));
    let selector: Map<String, Value> =
        selector.map(|pair| pair.map(|(key, value)| (key.into(), value.into()))).collect::<Result<_, _>>()?;
    let tolerations: Vec<Value> = flags.tolerations.iter().map(|text| toleration(text)).collect();
    Ok(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "fit" },
        "spec": {
            "schedulerName": flags.scheduler, "priorityClassName": flags.priority_class,
            "nodeSelector": selector, "tolerations": tolerations,
            "containers": [{ "name": "fit", "resources": { "requests": requests } }],
        },
    }))
}

fn pair<'t>(flag: &str, text: &'t str) -> Result<(&'t str, &'t str), Failure> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    pair.ok_or_else(|| Failure::usage(format!("{flag} {text:?}: expected KEY=VALUE")))
}

/// Parses `KEY` or `KEY=VALUE`, each optionally with `:EFFECT`.
fn toleration(text: &str) -> Value {
    let (pair, effect) = text.rsplit_once(':').map_or((text, None), |(pair, effect)| (pair, Some(effect)));
    match pair.split_once('=') {
        Some((key, value)) => json!({ "key": key, "operator": "Equal", "value": value, "effect": effect }),
        None => json!({ "key": pair, "operator": "Exists", "effect": effect }),
    }
}
