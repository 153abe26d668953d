//! Decides from a DaemonSet's JSON whether its controller would have made a pod for a node ([`makes`]).

use common::api::pod::template;
use common::model::taint::{Taint, TaintEffect};
use common::model::{Labels, Node, Pod};
use serde_json::Value;

/// The tolerations that the controller adds to every pod; with `hostNetwork` there is one more.
const ADDED: [(&str, &str); 6] = [
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
];

/// Whether the controller would have made `pod` for `node`. `beside` are the other pods of the DaemonSet on the node, with those
/// that are being deleted.
pub(super) fn makes(set: &Value, pod: &Pod, node: &Node, beside: &[&Pod]) -> bool {
    let (spec, made) = (&set["spec"], &set["spec"]["template"]["spec"]);
    let is_selected = matches_labels(&spec["selector"]["matchLabels"], &pod.labels)
        && all(&spec["selector"]["matchExpressions"], |one| matches(one, |key| pod.labels.get(key)));
    let repels = |taint: &&Taint| matches!(taint.effect, TaintEffect::NoSchedule | TaintEffect::NoExecute);
    set["metadata"]["deletionTimestamp"].is_null()
        && is_selected
        && is_tied(pod, node)
        && matches_labels(&made["nodeSelector"], &node.labels)
        && is_required(&made["affinity"]["nodeAffinity"], node)
        && node.taints.iter().filter(repels).all(|taint| is_tolerated(made, taint))
        && asks_no_more(pod, made)
        && is_alone(spec, pod, beside)
}

fn is_tied(pod: &Pod, node: &Node) -> bool {
    let affinity = pod.spec.affinity.as_ref().and_then(|affinity| affinity.node.as_ref());
    let Some(required) = affinity.and_then(|affinity| affinity.required.as_ref()) else { return false };
    let names_node = |term: &common::model::affinity::NodeSelectorTerm| {
        term.fields().iter().any(|field| {
            let values: Vec<&str> = field.values.iter().map(|value| &**value).collect();
            (&*field.key, field.operator.as_str(), values)
                == ("metadata.name", "In", vec![node.name.as_str()])
        })
    };
    !required.terms.is_empty() && required.terms.iter().all(names_node)
}

fn is_required(affinity: &Value, node: &Node) -> bool {
    let terms = &affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    let Some(terms) = terms.as_array() else { return true };
    terms.iter().any(|term| {
        all(&term["matchExpressions"], |one| matches(one, |key| node.labels.get(key)))
            && all(&term["matchFields"], |one| matches(one, |_| Some(node.name.as_str())))
    })
}

fn is_tolerated(made: &Value, taint: &Taint) -> bool {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let own = made["tolerations"].as_array().into_iter().flatten().any(|one| {
        let (key, effect) = (text(&one["key"]), text(&one["effect"]));
        (key.is_empty() || *key == *taint.key)
            && (effect.is_empty() || effect == taint.effect.as_str())
            && (one["operator"] == "Exists" || text(&one["value"]) == *taint.value)
    });
    let Some(name) = taint.key.strip_prefix("node.kubernetes.io/") else { return own };
    let is_down = (name, taint.effect) == ("network-unavailable", TaintEffect::NoSchedule);
    own || ADDED.contains(&(name, taint.effect.as_str())) || (is_down && made["hostNetwork"] == true)
}

fn asks_no_more(pod: &Pod, made: &Value) -> bool {
    let Some(template) = template(made.clone()) else { return false };
    let asks = pod.spec.requests.counted();
    asks.iter().all(|(resource, amount)| amount <= template.spec.requests.counted().get(&resource))
}

fn is_alone(spec: &Value, pod: &Pod, beside: &[&Pod]) -> bool {
    let surge = &spec["updateStrategy"]["rollingUpdate"]["maxSurge"];
    let may_surge = !surge.is_null() && *surge != 0 && *surge != "0%";
    let revision = |of: &Pod| of.labels.get("controller-revision-hash").map(str::to_owned);
    beside.is_empty() || (may_surge && beside.len() == 1 && revision(beside[0]) != revision(pod))
}

fn all(list: &Value, is_met: impl Fn(&Value) -> bool) -> bool {
    list.as_array().into_iter().flatten().all(is_met)
}

fn matches_labels(wanted: &Value, labels: &Labels) -> bool {
    let mut pairs = wanted.as_object().into_iter().flatten();
    pairs.all(|(key, value)| labels.get(key) == value.as_str())
}

fn matches<'l>(one: &Value, of: impl Fn(&str) -> Option<&'l str>) -> bool {
    let found = of(one["key"].as_str().unwrap_or_default());
    let is_listed = || {
        let mut values = one["values"].as_array().into_iter().flatten();
        values.any(|value| value.as_str() == found)
    };
    match one["operator"].as_str().unwrap_or_default() {
        "In" => found.is_some() && is_listed(),
        "NotIn" => !is_listed(),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::makes;
    use common::api::{node::node, pod::pod};
    use common::model::{Node, Pod};
    use serde_json::{Value, json};

    fn set(template: &Value) -> Value {
        json!({"metadata": {"name": "agent"}, "spec": {"selector": {"matchLabels": {"app": "agent"}},
               "template": {"spec": template}}})
    }

    fn template(cpu: &str) -> Value {
        json!({"containers": [{"name": "c", "resources": {"limits": {"cpu": cpu}}}]})
    }

    fn on(taint: &str) -> Node {
        let taints = json!([{"key": taint, "effect": "NoSchedule"}]);
        let taints = if taint.is_empty() { Value::Null } else { taints };
        let json = json!({"metadata": {"name": "n1", "labels": {"disk": "ssd"}}, "spec": {"taints": taints}});
        node(&json.to_string()).unwrap()
    }

    fn tied(to: &str) -> Pod {
        let fields = json!([{"key": "metadata.name", "operator": "In", "values": [to]}]);
        let required = json!({"nodeSelectorTerms": [{"matchFields": fields}]});
        let json = json!({"metadata": {"name": "p", "uid": "u", "labels": {"app": "agent"}}, "spec": {
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}});
        pod(&json.to_string()).unwrap()
    }

    #[test]
    fn only_what_the_controller_would_make_counts() {
        let one = template("1");
        assert!(makes(&set(&one), &tied("n1"), &on(""), &[]));
        assert!(makes(&set(&one), &tied("n1"), &on("node.kubernetes.io/unschedulable"), &[]));
        assert!(!makes(&set(&one), &tied("n1"), &on("dedicated"), &[]), "tolerated by nobody");
        assert!(!makes(&set(&one), &tied("n2"), &on(""), &[]), "for another node");
        assert!(!makes(&set(&template("500m")), &tied("n1"), &on(""), &[]), "asks for more");
        assert!(!makes(&set(&one), &tied("n1"), &on(""), &[&tied("n1")]), "the second");
        let mut nowhere = one;
        nowhere["nodeSelector"] = json!({"disk": "none"});
        assert!(!makes(&set(&nowhere), &tied("n1"), &on(""), &[]), "runs nowhere");
    }
}
