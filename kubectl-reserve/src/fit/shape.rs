//! A pod from flags alone.

use crate::error::Failure;
use common::model::quantity::Quantity;
use serde_json::{Map, Value, json};

/// What a pod from flags alone is called where everything has a name.
pub(crate) const FROM_FLAGS: &str = "Pod/fit";

/// What the flags say about a pod.
#[derive(Debug, Default)]
pub(crate) struct Shape<'a> {
    pub(crate) cpu: Option<&'a str>,
    pub(crate) memory: Option<&'a str>,
    pub(crate) resources: &'a [String],
    pub(crate) priority_class: Option<&'a str>,
    pub(crate) node_selector: &'a [String],
    pub(crate) tolerations: &'a [String],
    pub(crate) scheduler: Option<&'a str>,
}

/// The manifest of such a pod.
pub(crate) fn pod(shape: &Shape<'_>) -> Result<Value, Failure> {
    let mut requests = Map::new();
    let named = [("cpu", shape.cpu), ("memory", shape.memory)];
    let named = named.into_iter().filter_map(|(name, amount)| Some((name, amount?)));
    let others =
        shape.resources.iter().map(|text| pair("--resource", text)).collect::<Result<Vec<_>, _>>()?;
    for (name, amount) in named.chain(others) {
        Quantity::parse(amount).map_err(|error| Failure::usage(format!("{name} {amount:?}: {error}")))?;
        requests.insert(name.into(), amount.into());
    }
    let selector = shape.node_selector.iter().map(|text| pair("--node-selector", text));
    let selector: Map<String, Value> =
        selector.map(|pair| pair.map(|(key, value)| (key.into(), value.into()))).collect::<Result<_, _>>()?;
    let tolerations: Vec<Value> = shape.tolerations.iter().map(|text| toleration(text)).collect();
    Ok(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "fit" },
        "spec": {
            "schedulerName": shape.scheduler, "priorityClassName": shape.priority_class,
            "nodeSelector": selector, "tolerations": tolerations,
            "containers": [{ "name": "fit", "resources": { "requests": requests } }],
        },
    }))
}

fn pair<'t>(flag: &str, text: &'t str) -> Result<(&'t str, &'t str), Failure> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    pair.ok_or_else(|| Failure::usage(format!("{flag} {text:?}: expected KEY=VALUE")))
}

/// `KEY`, `KEY=VALUE`, each perhaps with `:EFFECT`.
fn toleration(text: &str) -> Value {
    let (pair, effect) = text.rsplit_once(':').map_or((text, None), |(pair, effect)| (pair, Some(effect)));
    match pair.split_once('=') {
        Some((key, value)) => json!({ "key": key, "operator": "Equal", "value": value, "effect": effect }),
        None => json!({ "key": pair, "operator": "Exists", "effect": effect }),
    }
}
