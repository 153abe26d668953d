//! Label and field selectors: from queries, and from the field `selector` of objects.

use crate::refusal::{Answer, Refusal};
use crate::resources::Resource;
use crate::value::{list, namespace, text};
use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub(crate) struct Selector {
    /// Empty for all namespaces.
    namespace: String,
    labels: Vec<Requirement>,
    fields: Vec<(String, bool, String)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
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
            Self { labels: label_requirements(labels).ok_or_else(|| nonsense(labels))?, ..Self::default() };
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
            key: key.to_owned(),
            operator,
            values: values.into_iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        };
        let pairs = selector.as_object()?.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
        let pairs = pairs.map(|(key, value)| one(key, Operator::In, vec![value]));
        let expressions = list(selector, "/matchExpressions").iter().map(|expression| {
            let operator = match text(expression, "/operator") {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                _ => Operator::DoesNotExist,
            };
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
        self.labels.iter().all(|requirement| {
            let found = labels.get(&requirement.key).and_then(Value::as_str);
            let is_one = found.is_some_and(|found| requirement.values.iter().any(|value| value == found));
            match requirement.operator {
                Operator::In => is_one,
                Operator::NotIn => !is_one,
                Operator::Exists => found.is_some(),
                Operator::DoesNotExist => found.is_none(),
            }
        })
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

/// Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k`; `None` if it is malformed.
fn label_requirements(text: &str) -> Option<Vec<Requirement>> {
    let mut depth = 0;
    let parts = text.split(|letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).map(label_requirement).collect()
}

fn label_requirement(part: &str) -> Option<Requirement> {
    let set = |set: &str| {
        let inner = set.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some(inner.split(',').map(|value| value.trim().to_owned()).collect())
    };
    let one = |value: &str| Some(vec![value.trim().to_owned()]);
    let (key, operator, values) = if let Some(key) = part.strip_prefix('!') {
        (key, Operator::DoesNotExist, Some(Vec::new()))
    } else if let Some((key, values)) = part.split_once(" notin ") {
        (key, Operator::NotIn, set(values))
    } else if let Some((key, values)) = part.split_once(" in ") {
        (key, Operator::In, set(values))
    } else if let Some((key, value)) = part.split_once("!=") {
        (key, Operator::NotIn, one(value))
    } else if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        (key, Operator::In, one(value))
    } else {
        (part, Operator::Exists, Some(Vec::new()))
    };
    let key = key.trim().to_owned();
    let is_key =
        !key.is_empty() && !key.contains(|letter: char| letter.is_whitespace() || "()=!,".contains(letter));
    Some(Requirement { key, operator, values: values? }).filter(|_| is_key)
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
