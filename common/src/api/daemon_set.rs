//! The fields of a DaemonSet that describe the pods that its controller makes. Called by `workload`.

use super::pod;
use super::selector::SelectorWire;
use crate::model::daemon_set::DaemonTemplate;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct SetWire<'a> {
    spec: SpecWire<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    selector: SelectorWire<'a>,
    template: TemplateWire,
    #[serde(default)]
    update_strategy: Value,
}

#[derive(Deserialize)]
struct TemplateWire {
    spec: Value,
}

/// Decodes the template of the DaemonSet in `json`; `None` if only the metadata was sent, or the rest is invalid.
pub(super) fn template(json: &str) -> Option<DaemonTemplate> {
    let SetWire { spec } = serde_json::from_str(json).ok()?;
    let on_host_network = spec.template.spec.get("hostNetwork").and_then(Value::as_bool) == Some(true);
    let pod = pod::template(spec.template.spec)?;
    Some(DaemonTemplate {
        selector: spec.selector.selector().ok()?,
        spec: pod.spec,
        node: pod.node,
        on_host_network,
        surges: spec.update_strategy.pointer("/rollingUpdate/maxSurge").is_some_and(is_positive),
    })
}

/// Whether a number of pods, or a percentage of them, is above zero.
fn is_positive(number: &Value) -> bool {
    match number {
        Value::Number(number) => number.as_i64().is_some_and(|number| number > 0),
        Value::String(share) => share.trim_end_matches('%').parse::<i64>().is_ok_and(|share| share > 0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::template;
    use crate::model::Labels;
    use serde_json::{Value, json};

    fn set(template: &Value, strategy: &Value) -> String {
        json!({ "metadata": { "name": "agent", "uid": "u" }, "spec": {
            "selector": { "matchLabels": { "app": "agent" } },
            "template": { "metadata": { "labels": { "app": "agent" } }, "spec": template },
            "updateStrategy": strategy,
        } })
        .to_string()
    }

    #[test]
    fn a_template_asks_for_its_limits_where_it_requests_nothing() {
        let resources = json!({ "limits": { "cpu": "2", "memory": "1Gi" }, "requests": { "cpu": "1" } });
        let spec = json!({ "hostNetwork": true, "nodeName": "n1",
            "containers": [{ "name": "a", "resources": resources }, { "name": "b" }],
            "initContainers": [{ "name": "i", "resources": { "limits": { "cpu": "3" } } }] });
        let read = template(&set(&spec, &Value::Null)).unwrap();
        let asks = &read.spec.requests.incoming;
        assert_eq!((asks.cpu, asks.memory), (3000, 1 << 30));
        assert!(read.on_host_network && !read.surges);
        assert_eq!(read.node.as_ref().map(|node| node.as_str()), Some("n1"));
        assert!(read.selector.matches(&Labels::new([("app", "agent"), ("more", "x")])));
        assert!(!read.selector.matches(&Labels::new([("app", "web")])));
    }

    #[test]
    fn only_a_number_above_zero_surges() {
        let surges = |surge: Value| {
            let strategy = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": surge } });
            template(&set(&json!({ "containers": [] }), &strategy)).unwrap().surges
        };
        assert!(surges(json!(1)) && surges(json!("25%")));
        assert!(!surges(json!(0)) && !surges(json!("0%")) && !surges(Value::Null));
    }

    #[test]
    fn what_was_not_sent_or_cannot_be_understood_makes_no_pods() {
        assert!(template(r#"{"metadata":{"name":"agent","uid":"u"}}"#).is_none());
        assert!(template(r#"{"metadata":{"name":"agent","uid":"u"},"spec":null}"#).is_none());
        let odd = json!({ "containers": [{ "name": "a", "resources": { "requests": { "cpu": "many" } } }] });
        assert!(template(&set(&odd, &Value::Null)).is_none());
        let without = r#"{"metadata":{"name":"a","uid":"u"},"spec":{"template":{"spec":{"containers":[]}}}}"#;
        assert!(template(without).is_none(), "no selector");
    }
}
