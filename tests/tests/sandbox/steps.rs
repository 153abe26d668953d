//! A request that is made of two API servers, and what of the answer must be the same.

use anyhow::{Context as _, Result};
use http::{Method, Request};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// One request. `{x.uid}` and `{x.rv}` stand for what the object saved as `x` has.
#[derive(Clone)]
pub(crate) struct Step {
    method: Method,
    path: String,
    content_type: &'static str,
    accept: &'static str,
    body: String,
    saved_as: Option<&'static str>,
}

pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON: &str = "application/json-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";

fn step(method: Method, path: &str, content_type: &'static str, body: &Value) -> Step {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    Step { method, path: path.to_owned(), content_type, accept: "application/json", body, saved_as: None }
}

pub(crate) fn get(path: &str) -> Step {
    step(Method::GET, path, "", &Value::Null)
}

pub(crate) fn post(path: &str, body: Value) -> Step {
    step(Method::POST, path, "application/json", &body)
}

pub(crate) fn put(path: &str, body: Value) -> Step {
    step(Method::PUT, path, "application/json", &body)
}

pub(crate) fn patch(path: &str, how: &'static str, body: Value) -> Step {
    step(Method::PATCH, path, how, &body)
}

pub(crate) fn delete(path: &str, body: Value) -> Step {
    step(Method::DELETE, path, "application/json", &body)
}

impl Step {
    /// Remembers the object that is answered.
    pub(crate) fn save(self, name: &'static str) -> Self {
        Self { saved_as: Some(name), ..self }
    }

    /// Asks for another form.
    pub(crate) fn accept(self, accept: &'static str) -> Self {
        Self { accept, ..self }
    }
}

/// An API server, and what was saved of its answers.
pub(crate) struct Side {
    client: kube::Client,
    saved: BTreeMap<String, Value>,
    /// Fields of a spec that are not compared.
    hidden: &'static [&'static str],
}

impl Side {
    pub(crate) fn new(client: kube::Client, hidden: &'static [&'static str]) -> Self {
        Self { client, saved: BTreeMap::new(), hidden }
    }

    /// Makes the request, and says what came of it.
    pub(crate) async fn make(&mut self, step: &Step) -> Result<String> {
        let path = self.filled(&step.path);
        let mut request = Request::builder().method(&step.method).uri(&path).header("accept", step.accept);
        if !step.content_type.is_empty() {
            request = request.header("content-type", step.content_type);
        }
        let request = request.body(Body::from(self.filled(&step.body).into_bytes()))?;
        let answer = tokio::time::timeout(Duration::from_secs(60), self.client.send(request)).await;
        let response = answer.context("no answer")?.with_context(|| path.clone())?;
        let (code, retry) = (response.status().as_u16(), response.headers().contains_key("retry-after"));
        let text = String::from_utf8(response.into_body().collect().await?.to_bytes().to_vec())?;
        let mut said = format!("{} {} -> {code}", step.method, step.path);
        if retry {
            said.push_str(" retry-after");
        }
        if path.contains("watch=") && code == 200 {
            for line in text.lines() {
                let event: Value = serde_json::from_str(line)?;
                said.push_str(&format!("\n  {} {}", event["type"], self.told(&event["object"])));
            }
            return Ok(said);
        }
        let value: Value = serde_json::from_str(&text).with_context(|| text.clone())?;
        if let Some(name) = step.saved_as {
            self.saved.insert(name.to_owned(), value.clone());
        }
        said.push_str(&format!("\n  {}", self.told(&value)));
        Ok(said)
    }

    fn pairs(&self) -> impl Iterator<Item = (String, &str)> {
        self.saved.iter().flat_map(|(name, object)| {
            let field = |field: &str| object["metadata"][field].as_str().unwrap_or("?");
            let next = object["metadata"]["continue"].as_str().unwrap_or("?");
            [
                (format!("{{{name}.uid}}"), field("uid")),
                (format!("{{{name}.rv}}"), field("resourceVersion")),
                (format!("{{{name}.continue}}"), next),
                (format!("{{{name}.name}}"), field("name")),
            ]
        })
    }

    fn filled(&self, text: &str) -> String {
        self.pairs().fold(text.to_owned(), |text, (mark, value)| text.replace(&mark, value))
    }

    /// What our code reads of an answer, with saved ids as their marks.
    fn told(&self, value: &Value) -> String {
        let text = match value["kind"].as_str().unwrap_or("") {
            "Status" => status(value),
            kind if kind.ends_with("List") => list(value),
            "Table" => table(value),
            _ => object(value, self.hidden),
        };
        let marks = self.pairs().filter(|(mark, _)| mark.ends_with("uid}") || mark.ends_with("name}"));
        marks
            .filter(|(_, value)| value.len() > 3)
            .fold(text, |text, (mark, value)| text.replace(value, &mark))
    }
}

fn status(value: &Value) -> String {
    let mut shown = json!({});
    // Whoever sends nonsense is told so in other words.
    let fields: &[&str] = if value["code"] == 400 {
        &["status", "reason", "code"]
    } else {
        &["status", "reason", "message", "code"]
    };
    for field in fields {
        shown[*field] = value[*field].clone();
    }
    for field in ["name", "kind", "group", "causes", "retryAfterSeconds"] {
        shown["details"][field] = value["details"][field].clone();
    }
    // Go's difference between two objects is left out, and so are versions.
    let cut = |text: &mut Value| {
        if let Some(words) = text.as_str() {
            let words = words.split("\n@@").next().unwrap_or("");
            let words = words.split("in record (").enumerate().map(|(at, part)| match part.split_once(')') {
                Some((version, rest)) if at > 0 && version.parse::<u64>().is_ok() => {
                    format!("(version){rest}")
                }
                _ => part.to_owned(),
            });
            *text = words.collect::<Vec<_>>().join("in record (").into();
        }
    };
    cut(&mut shown["message"]);
    for cause in shown["details"]["causes"].as_array_mut().into_iter().flatten() {
        cut(&mut cause["message"]);
    }
    without_nulls(shown).to_string()
}

fn list(value: &Value) -> String {
    let names: Vec<&str> = value["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["metadata"]["name"].as_str())
        .collect();
    let (left, has_more) =
        (&value["metadata"]["remainingItemCount"], value["metadata"]["continue"].is_string());
    format!("{} {} {names:?} {left} {has_more}", value["apiVersion"], value["kind"])
}

fn table(value: &Value) -> String {
    let columns: Vec<String> = value["columnDefinitions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| format!("{} {}", one["name"], one["priority"]))
        .collect();
    let rows: Vec<String> =
        value["rows"].as_array().into_iter().flatten().map(|row| row["cells"].to_string()).collect();
    format!("Table {columns:?} {rows:?}")
}

/// The fields of objects that are compared: those that our programs read.
const META: &str =
    "name generateName namespace labels annotations generation deletionGracePeriodSeconds finalizers";
const SPEC: &str = "nodeName schedulerName priority priorityClassName preemptionPolicy replicas unschedulable taints selector \
    terminationGracePeriodSeconds schedulingGates strategy holderIdentity leaseDurationSeconds minAvailable nodeSelector";
const STATUS: &str = "phase nominatedNodeName replicas disruptionsAllowed disruptedPods allocatable desiredHealthy \
    currentHealthy observedGeneration allowed userInfo";
const OTHER: &str =
    "note message reason type value regarding involvedObject reportingController reportingComponent";

fn object(value: &Value, hidden: &[&str]) -> String {
    let mut shown = json!({ "kind": value["kind"], "apiVersion": value["apiVersion"] });
    let has = |part: &str, field: &str| value[part].get(field).is_some();
    for field in META.split_whitespace() {
        shown["metadata"][field] = value["metadata"][field].clone();
    }
    shown["metadata"]["has"] = json!([
        has("metadata", "uid"),
        has("metadata", "creationTimestamp"),
        has("metadata", "deletionTimestamp")
    ]);
    if let Some(annotations) = shown["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|key, _| !key.contains("kubernetes.io"));
    }
    for field in SPEC.split_whitespace().filter(|field| !hidden.contains(field)) {
        shown["spec"][field] = value["spec"][field].clone();
    }
    let containers = value["spec"]["containers"].as_array().cloned().unwrap_or_default();
    shown["spec"]["requests"] = containers.iter().map(|one| one["resources"]["requests"].clone()).collect();
    for field in STATUS.split_whitespace() {
        shown["status"][field] = value["status"][field].clone();
    }
    if let Some(gone) = shown["status"]["disruptedPods"].as_object_mut() {
        gone.values_mut().for_each(|time| *time = "(time)".into());
    }
    let conditions = value["status"]["conditions"].as_array().cloned().unwrap_or_default();
    shown["status"]["conditions"] = conditions
        .iter()
        .map(|one| {
            json!([one["type"], one["status"], one["reason"], one["message"], one["observedGeneration"]])
        })
        .collect();
    for field in OTHER.split_whitespace() {
        shown[field] = value[field].clone();
    }
    without_nulls(shown).to_string()
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let map = map.into_iter().map(|(key, value)| (key, without_nulls(value)));
            Value::Object(
                map.filter(|(_, value)| !value.is_null() && *value != json!({}) && *value != json!([]))
                    .collect(),
            )
        }
        other => other,
    }
}
