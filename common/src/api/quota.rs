//! Decodes a ResourceQuota.

use super::DecodeError;
use super::meta::{ObjectWire, Str, decode};
use crate::model::resources::is_scalar_name;
use crate::model::{Quantity, ResourceName, ResourceQuota, Resources};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

const KIND: &str = "ResourceQuota";

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    hard: Option<BTreeMap<Str<'a>, Str<'a>>>,
    scopes: Option<Vec<IgnoredAny>>,
    scope_selector: Option<IgnoredAny>,
}

pub fn quota(json: &str) -> Result<ResourceQuota, DecodeError> {
    let ObjectWire::<SpecWire<'_>> { metadata, spec, .. } = decode(KIND, json)?;
    let is_scoped = spec.scopes.is_some_and(|scopes| !scopes.is_empty()) || spec.scope_selector.is_some();
    let hard = spec.hard.filter(|_| !is_scoped).unwrap_or_default();
    let limits = hard.iter().filter_map(|(key, text)| Some((resource(key)?, text)));
    let amount = |name: &ResourceName, text: &str| {
        let mut amount = Resources::default();
        amount.add_quantity(name.as_str(), Quantity::parse(text).ok()?);
        Some(amount.get(name))
    };
    let hard = limits.filter_map(|(name, text)| Some((amount(&name, &text.0)?, name)));
    let hard = hard.map(|(amount, name)| (name, amount)).collect();
    Ok(ResourceQuota { meta: metadata.object(KIND)?, hard })
}

/// The resource whose requests a key of `spec.hard` limits. `None` if the key limits something else, such as limits or the number
/// of Services.
fn resource(key: &str) -> Option<ResourceName> {
    match key {
        "pods" | "count/pods" => Some(ResourceName::Pods),
        "cpu" | "memory" | "ephemeral-storage" => Some(ResourceName::from(key)),
        _ => {
            let name =
                key.strip_prefix("requests.").or_else(|| key.starts_with("hugepages-").then_some(key))?;
            let is_known = matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_scalar_name(name);
            is_known.then(|| ResourceName::from(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::quota;
    use crate::model::resources::ResourceName;

    fn hard(spec: &str) -> Vec<(String, i64)> {
        let json = format!(r#"{{"metadata":{{"name":"q","namespace":"a"}},"spec":{spec}}}"#);
        quota(&json).unwrap().hard.iter().map(|(name, amount)| (name.to_string(), *amount)).collect()
    }

    #[test]
    fn requests_and_pods_are_read_and_limits_and_other_objects_are_not() {
        let all = r#"{"hard":{"cpu":"2","requests.memory":"1Gi","count/pods":"7","requests.nvidia.com/gpu":"3",
            "limits.cpu":"9","services":"4","requests.storage":"1Ti","hugepages-2Mi":"4Mi"}}"#;
        let expected = [
            ("pods", 7),
            ("cpu", 2000),
            ("hugepages-2Mi", 4 << 20),
            ("memory", 1 << 30),
            ("nvidia.com/gpu", 3),
        ];
        assert_eq!(hard(all), expected.map(|(name, amount)| (name.to_owned(), amount)));
    }

    #[test]
    fn one_for_some_pods_only_or_without_a_word_limits_nothing() {
        for spec in [
            r#"{"hard":{"cpu":"2"},"scopes":["BestEffort"]}"#,
            r#"{"hard":{"cpu":"2"},"scopeSelector":{"matchExpressions":[]}}"#,
            r#"{"hard":null}"#,
            "null",
            r#"{"hard":{"cpu":"many"}}"#,
        ] {
            assert_eq!(hard(spec), [], "{spec}");
        }
        assert_eq!(hard(r#"{"hard":{"pods":"0"},"scopes":[]}"#), [(ResourceName::Pods.to_string(), 0)]);
        assert!(quota("{}").is_err());
    }
}
