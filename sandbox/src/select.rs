//! Label and field selectors: from queries, and from the field `selector` of objects.

use crate::refusal::{Answer, Refusal};
use crate::resources::Resource;
use crate::value::{list, namespace, text};
use common::model::requirement;
use common::model::{Operator, Requirement, Text};
use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub(crate) struct Selector {
    /// Empty for all namespaces.
    namespace: String,
    labels: Vec<Requirement>,
    fields: Vec<(String, bool, String)>,
}

/// The fields by which a kind can be selected, besides name and namespace.
fn fields(resource: &Resource) -> &'static str {
    match resource.plural {
        "pods" => {
            "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName status.phase status.podIP \
             status.nominatedNodeName"
        }
        "events" => {
            "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid reason type source \
             involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reportingComponent"
        }
        "nodes" => "spec.unschedulable",
        "namespaces" => "status.phase",
        "replicasets" => "status.replicas",
        _ => "",
    }
}

impl Selector {
    pub(crate) fn parse(resource: &Resource, labels: &str, fields: &str) -> Answer<Self> {
        let nonsense = |text: &str| Refusal::bad_request(format!("unable to parse the selector {text:?}"));
        let mut selector =
            Self { labels: requirement::parse(labels).map_err(|_| nonsense(labels))?, ..Self::default() };
        for part in fields.split(',').filter(|part| !part.is_empty()) {
            let (field, is_equal, value) = field_requirement(part).ok_or_else(|| nonsense(part))?;
            let field = field.replacen("regarding.", "involvedObject.", 1);
            let known = self::fields(resource).split(' ').chain(["metadata.name", "metadata.namespace"]);
            if !known.into_iter().any(|known| known == field) {
                return Err(Refusal::bad_request(format!("field label not supported: {field}")));
            }
            selector.fields.push((field, is_equal, value.to_owned()));
        }
        Ok(selector)
    }

    /// From a `LabelSelector`; `None` if it is missing, which selects nothing.
    pub(crate) fn of_labels(selector: &Value) -> Option<Self> {
        let one = |key: &str, operator, values: Vec<&Value>| Requirement {
            key: key.into(),
            operator,
            values: values.into_iter().filter_map(Value::as_str).map(Text::from).collect(),
        };
        let pairs = selector.as_object()?.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
        let pairs = pairs.map(|(key, value)| one(key, Operator::In, vec![value]));
        let expressions = list(selector, "/matchExpressions").iter().map(|expression| {
            let operator = Operator::from_name(text(expression, "/operator"));
            one(text(expression, "/key"), operator, list(expression, "/values").iter().collect())
        });
        Some(Self { labels: pairs.chain(expressions).collect(), ..Self::default() })
    }

    /// Limits the selector to one namespace; empty: all namespaces.
    pub(crate) fn within(self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), ..self }
    }

    /// Whether there is neither a label nor a field requirement.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        (self.namespace.is_empty() || self.namespace == namespace(object))
            && self.matches_labels(&object["metadata"]["labels"])
            && self
                .fields
                .iter()
                .all(|(field, is_equal, value)| (field_of(object, field) == *value) == *is_equal)
    }

    pub(crate) fn matches_labels(&self, labels: &Value) -> bool {
        let value = |requirement: &Requirement| labels.get(&*requirement.key).and_then(Value::as_str);
        self.labels.iter().all(|requirement| requirement.allows(value(requirement)))
    }
}

fn field_of(object: &Value, field: &str) -> String {
    match object.pointer(&format!("/{}", field.replace('.', "/"))) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(source)) => {
            source.get("component").and_then(Value::as_str).unwrap_or("").to_owned()
        }
        None | Some(Value::Null) if field == "spec.unschedulable" => "false".into(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

fn field_requirement(part: &str) -> Option<(&str, bool, &str)> {
    let (field, is_equal, value) = match part.split_once("!=") {
        Some((field, value)) => (field, false, value),
        None => part
            .split_once("==")
            .or_else(|| part.split_once('='))
            .map(|(field, value)| (field, true, value))?,
    };
    Some((field.trim(), is_equal, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::Selector;
    use crate::resources::find;
    use serde_json::json;

    #[test]
    fn labels_and_fields_select() {
        let pod = json!({
            "metadata": { "name": "p", "labels": { "app": "web", "tier": "front" } },
            "spec": { "nodeName": "n1" }, "status": { "phase": "Running" },
        });
        let pods = find("", "pods").unwrap();
        let table = [
            ("app=web", "", true),
            ("app==web,tier", "", true),
            ("app!=web", "", false),
            ("other!=web,!other", "", true),
            ("app in (web, db),tier notin (back)", "", true),
            ("app in (db)", "", false),
            ("", "spec.nodeName=n1,status.phase!=Failed,status.phase!=Succeeded", true),
            ("", "spec.nodeName=", false),
            ("", "metadata.name=q", false),
        ];
        for (labels, fields, expected) in table {
            let selector = Selector::parse(pods, labels, fields).unwrap();
            assert_eq!(selector.matches(&pod), expected, "{labels} {fields}");
        }
        for (labels, fields) in [("a b", ""), ("=b", ""), ("a in b", ""), ("", "spec.colour=red"), ("", "x")]
        {
            assert!(Selector::parse(pods, labels, fields).is_err(), "{labels} {fields}");
        }
    }
}
