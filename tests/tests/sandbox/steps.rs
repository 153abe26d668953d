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
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) content_type: String,
    pub(crate) accept: String,
    pub(crate) body: String,
    /// What the object that is answered is remembered as.
    pub(crate) saved_as: Option<String>,
}

pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON: &str = "application/json-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";

fn step(method: Method, path: &str, content_type: &str, body: &Value) -> Step {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let (path, content_type) = (path.to_owned(), content_type.to_owned());
    Step { method, path, content_type, accept: "application/json".to_owned(), body, saved_as: None }
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

pub(crate) fn patch(path: &str, how: &str, body: Value) -> Step {
    step(Method::PATCH, path, how, &body)
}

pub(crate) fn delete(path: &str, body: Value) -> Step {
    step(Method::DELETE, path, "application/json", &body)
}

impl Step {
    pub(crate) fn is_watch(&self) -> bool {
        self.path.contains("watch=")
    }

    /// Remembers the object that is answered.
    pub(crate) fn save(self, name: &str) -> Self {
        Self { saved_as: Some(name.to_owned()), ..self }
    }

    /// Asks for another form.
    pub(crate) fn accept(self, accept: &str) -> Self {
        Self { accept: accept.to_owned(), ..self }
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
        let (said, text) = self.ask(step).await?;
        if step.is_watch() {
            return self.watched(said, &text);
        }
        let value: Value = serde_json::from_str(&text).with_context(|| text.clone())?;
        if let Some(name) = &step.saved_as {
            self.saved.insert(name.clone(), value.clone());
        }
        Ok(format!("{said}\n  {}", self.told(&value)))
    }

    /// Watches, maybe beside others, and says what was seen, in its order.
    pub(crate) async fn watch(&self, step: &Step) -> Result<String> {
        let (said, text) = self.ask(step).await?;
        self.watched(said, &text)
    }

    /// The request with its answer's code, and the answer.
    async fn ask(&self, step: &Step) -> Result<(String, String)> {
        let path = self.filled(&step.path);
        let mut request = Request::builder().method(&step.method).uri(&path);
        for (name, value) in [("accept", &step.accept), ("content-type", &step.content_type)] {
            if !value.is_empty() {
                request = request.header(name, value);
            }
        }
        let request = request.body(Body::from(self.filled(&step.body).into_bytes()))?;
        let answer = tokio::time::timeout(Duration::from_secs(60), self.client.send(request)).await;
        let response = answer.context("no answer")?.with_context(|| path.clone())?;
        let (code, retry) = (response.status().as_u16(), response.headers().contains_key("retry-after"));
        let text = String::from_utf8(response.into_body().collect().await?.to_bytes().to_vec())?;
        let retry = if retry { " retry-after" } else { "" };
        Ok((format!("{} {} -> {code}{retry}", step.method, step.path), text))
    }

    fn watched(&self, mut said: String, lines: &str) -> Result<String> {
        for line in lines.lines() {
            let event: Value = serde_json::from_str(line)?;
            // A watch that is refused is answered like anything else.
            let (kind, object) = if event["type"].is_string() {
                (&event["type"], &event["object"])
            } else {
                (&Value::Null, &event)
            };
            said.push_str(&format!("\n  {kind} {}", self.told(object)));
        }
        Ok(said)
    }

    fn pairs(&self) -> impl Iterator<Item = (String, &str)> {
        self.saved.iter().flat_map(|(name, object)| {
            let field = |field: &str| object["metadata"][field].as_str().unwrap_or("?");
            let next = object["metadata"]["continue"].as_str().unwrap_or("?");
            // Any other has the same name everywhere.
            let made = if object["metadata"]["generateName"].is_string() { field("name") } else { "?" };
            [
                (format!("{{{name}.uid}}"), field("uid")),
                (format!("{{{name}.rv}}"), field("resourceVersion")),
                (format!("{{{name}.continue}}"), next),
                (format!("{{{name}.name}}"), made),
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
            kind if kind.ends_with("List") => list(value, self.hidden),
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

/// What a real API server makes for itself. The sandbox knows these classes without objects.
const OWN: [&str; 3] = ["kubernetes", "system-cluster-critical", "system-node-critical"];

fn list(value: &Value, hidden: &[&str]) -> String {
    let items = value["items"].as_array().into_iter().flatten();
    let items = items.filter(|one| !OWN.iter().any(|name| one["metadata"]["name"] == *name));
    let items: Vec<String> = items.map(|one| format!("\n    {}", object(one, hidden))).collect();
    let (left, has_more) =
        (&value["metadata"]["remainingItemCount"], value["metadata"]["continue"].is_string());
    format!("{} {} {left} {has_more}{}", value["apiVersion"], value["kind"], items.concat())
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
const META: &str = "name generateName namespace labels annotations generation deletionGracePeriodSeconds finalizers ownerReferences";
const SPEC: &str = "nodeName schedulerName priority priorityClassName preemptionPolicy replicas unschedulable taints selector \
    terminationGracePeriodSeconds schedulingGates strategy holderIdentity leaseDurationSeconds \
    acquireTime renewTime leaseTransitions minAvailable nodeSelector tolerations affinity topologySpreadConstraints volumes";
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
        let versions = annotations.iter_mut().filter(|(key, _)| key.starts_with("reserve/seen-"));
        versions.for_each(|(_, version)| *version = "(version)".into());
    }
    for field in SPEC.split_whitespace().filter(|field| !hidden.contains(field)) {
        shown["spec"][field] = value["spec"][field].clone();
    }
    let containers = value["spec"]["containers"].as_array().cloned().unwrap_or_default();
    shown["spec"]["requests"] = containers.iter().map(|one| one["resources"]["requests"].clone()).collect();
    if value["spec"]["template"].is_object() {
        shown["spec"]["template"] = object(&value["spec"]["template"], hidden).into();
    }
    for field in STATUS.split_whitespace() {
        shown["status"][field] = value["status"][field].clone();
    }
    if let Some(gone) = shown["status"]["disruptedPods"].as_object_mut() {
        gone.values_mut().for_each(|time| *time = "(time)".into());
    }
    // Everybody in the sandbox is the same user, made at no time.
    if shown["kind"] == "SelfSubjectReview" {
        shown["metadata"] = Value::Null;
        shown["status"]["userInfo"] = value["status"]["userInfo"]["groups"].clone();
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
