//! Decodes a PodDisruptionBudget.

use super::DecodeError;
use super::meta::{ObjectWire, Str, decode};
use super::selector::{SelectorWire, optional};
use crate::model::{DisruptionBudget, Text};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

const KIND: &str = "PodDisruptionBudget";

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    selector: Option<SelectorWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct StatusWire<'a> {
    disruptions_allowed: Option<i32>,
    /// The time of each granted eviction, by the name of the pod; sorted.
    disrupted_pods: Option<BTreeMap<Str<'a>, IgnoredAny>>,
}

pub fn budget(json: &str) -> Result<DisruptionBudget, DecodeError> {
    let ObjectWire::<SpecWire<'_>, StatusWire<'_>> { metadata, spec, status } = decode(KIND, json)?;
    let disrupted = status.disrupted_pods.unwrap_or_default();
    Ok(DisruptionBudget {
        meta: metadata.object(KIND)?,
        selector: optional(spec.selector.as_ref()).ok().flatten(),
        disruptions_allowed: status.disruptions_allowed.unwrap_or(0),
        disrupted_pods: disrupted.into_keys().map(|name| Text::from(name.0)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::budget;
    use crate::model::DisruptionBudget;
    use crate::model::labels::Labels;
    use crate::testing;
    use serde_json::json;

    #[test]
    fn a_budget_says_whom_it_protects_and_how_many_may_go() {
        let built = testing::budget("b").selector([("app", "web")]).allows(2);
        let built =
            built.set("/status/disruptedPods", json!({ "web-2": "2026-01-01T00:00:00Z", "web-1": null }));
        let decoded: DisruptionBudget = built.build();
        assert_eq!((&*decoded.meta.namespace, decoded.disruptions_allowed), ("default", 2));
        assert!(decoded.selector.as_ref().unwrap().matches(&Labels::new([("app", "web")])));
        assert!(
            decoded.has_disrupted("web-1")
                && decoded.has_disrupted("web-2")
                && !decoded.has_disrupted("web-3")
        );
    }

    #[test]
    fn one_that_does_not_say_protects_nobody_and_lets_nobody_go() {
        for rest in [
            "",
            r#","spec":null,"status":null"#,
            r#","spec":{"selector":null},"status":{"disruptedPods":null}"#,
        ] {
            let decoded = budget(&format!(r#"{{"metadata":{{"name":"b"}}{rest}}}"#)).unwrap();
            assert_eq!((decoded.selector, decoded.disruptions_allowed), (None, 0), "{rest}");
        }
        let unknown = r#","spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}"#;
        assert_eq!(budget(&format!(r#"{{"metadata":{{"name":"b"}}{unknown}}}"#)).unwrap().selector, None);
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for status in [
            r#"{"disruptionsAllowed":2147483648}"#,
            r#"{"disruptionsAllowed":"2"}"#,
            r#"{"disruptedPods":["a"]}"#,
        ] {
            assert!(
                budget(&format!(r#"{{"metadata":{{"name":"b"}},"status":{status}}}"#)).is_err(),
                "{status}"
            );
        }
    }
}
