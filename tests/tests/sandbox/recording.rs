//! What our programs ask of an API server, written down: ids and versions as the names of the answers that they came in.

use crate::steps::Step;
use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use kube::client::Body;
use sandbox::{AnswerBody, Api};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use tower::Service as _;

/// The values of these keys are versions; of everything else only ids are looked for.
const VERSIONS: [&str; 3] = ["resourceVersion", "reserve/seen-nodes", "reserve/seen-pods"];

/// A request as it was made.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Recorded {
    /// The program that made it.
    by: String,
    method: String,
    path: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    content_type: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    accept: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    body: Value,
    /// What it was answered with then.
    pub(crate) code: u16,
    /// What later requests call its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    save: Option<String>,
}

impl Recorded {
    /// The request that is made of both servers.
    pub(crate) fn step(&self) -> Result<Step> {
        Ok(Step {
            method: self.method.parse()?,
            path: self.path.clone(),
            content_type: self.content_type.clone(),
            accept: self.accept.clone(),
            body: if self.body.is_null() { String::new() } else { self.body.to_string() },
            saved_as: self.save.clone(),
        })
    }
}

/// One line a request.
pub(crate) fn read(text: &str) -> Result<Vec<Recorded>> {
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// All requests so far, by whomever.
#[derive(Clone, Default)]
pub(crate) struct Recording(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    lines: Vec<Recorded>,
    /// Which answer an id or a version was in first.
    ids: BTreeMap<String, String>,
    versions: BTreeMap<String, String>,
    /// How many answers about something were given a name.
    named: BTreeMap<String, usize>,
    /// What was read since something changed.
    read: BTreeSet<String>,
}

type Answered = Result<Response<AnswerBody>, Box<dyn std::error::Error + Send + Sync>>;

impl Recording {
    /// A client of the sandbox whose requests are written down.
    pub(crate) fn client(&self, api: Api, by: &'static str) -> kube::Client {
        let recording = self.clone();
        let service = tower::service_fn(move |request| recording.clone().pass(api.clone(), by, request));
        kube::Client::new(service, "default")
    }

    /// The file's text. Answers that nobody refers to have no names in it.
    pub(crate) fn text(&self) -> Result<String> {
        let mut lines = self.book().lines.clone();
        let all = serde_json::to_string(&lines)?;
        for line in &mut lines {
            line.save = line.save.take().filter(|name| all.contains(&format!("{{{name}.")));
        }
        let lines: Result<Vec<String>, _> = lines.iter().map(serde_json::to_string).collect();
        Ok(lines?.join("\n") + "\n")
    }

    async fn pass(self, api: Api, by: &'static str, request: Request<Body>) -> Answered {
        let (head, body) = request.into_parts();
        let request = Request::from_parts(head, body.collect().await?.to_bytes());
        let answer = self.noted(&api, by, &request).await?;
        // Both are answered with a mere `Status`: what they did to the pod is looked at, and its version then known.
        let path = request.uri().path();
        let pod = path.strip_suffix("/binding").or_else(|| path.strip_suffix("/eviction"));
        if let Some(pod) = pod.filter(|_| answer.status().is_success()) {
            drop(self.noted(&api, "test", &Request::get(pod).body(Bytes::new())?).await?);
        }
        Ok(answer)
    }

    /// The sandbox answers at once, so that the order of the lines is that of what happened.
    async fn noted(&self, api: &Api, by: &str, request: &Request<Bytes>) -> Answered {
        let (head, body) = api.clone().call(request.clone().map(Full::from)).await?.into_parts();
        if request.uri().query().is_some_and(|query| query.contains("watch=")) {
            self.book().note(by, request, head.status.as_u16(), &Value::Null);
            return Ok(Response::from_parts(head, body));
        }
        let bytes = body.collect().await?.to_bytes();
        let answer = serde_json::from_slice(&bytes)?;
        self.book().note(by, request, head.status.as_u16(), &answer);
        Ok(Response::from_parts(head, Full::from(bytes).boxed_unsync()))
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn note(&mut self, by: &str, request: &Request<Bytes>, code: u16, answer: &Value) {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let mut line = Recorded {
            by: by.to_owned(),
            method: request.method().to_string(),
            path: self.marked_path(&request.uri().to_string()),
            content_type: header("content-type").unwrap_or("").to_owned(),
            accept: header("accept").unwrap_or("").to_owned(),
            body: serde_json::from_str(&self.marked(&String::from_utf8_lossy(request.body())))
                .unwrap_or_default(),
            code,
            save: None,
        };
        self.mark_versions(&mut line.body);
        let is_talk = ["reviews", "dryRun="].iter().any(|word| line.path.contains(word));
        if line.method != "GET" && !is_talk && code < 300 {
            self.read.clear();
        }
        // The same answer again says nothing new.
        if line.method != "GET" || self.read.insert(format!("{}{}", line.path, line.accept)) {
            line.save = self.learn(answer);
            self.lines.push(line);
        }
    }

    /// Gives an answer a name, if there is something new in it that can be asked about.
    fn learn(&mut self, answer: &Value) -> Option<String> {
        let text = |field: &str| answer["metadata"][field].as_str().unwrap_or("").to_owned();
        let (id, version) = (text("uid"), text("resourceVersion"));
        if version.is_empty() || self.versions.contains_key(&version) {
            return None;
        }
        let about = format!("{} {}", answer["kind"].as_str().unwrap_or(""), text("name"));
        let number = self.named.entry(about.trim_end().to_owned()).or_default();
        *number += 1;
        let name = format!("{} #{number}", about.trim_end());
        self.versions.insert(version, format!("{{{name}.rv}}"));
        if !id.is_empty() {
            self.ids.entry(id).or_insert(format!("{{{name}.uid}}"));
        }
        Some(name)
    }

    /// The name of a version that some answer had; `0` is none at all.
    fn version(&self, version: &str) -> String {
        let known = self.versions.get(version).map(String::as_str).or((version == "0").then_some("0"));
        known.expect("a version that an answer had").to_owned()
    }

    fn marked(&self, text: &str) -> String {
        self.ids.iter().fold(text.to_owned(), |text, (id, mark)| text.replace(id, mark))
    }

    fn marked_path(&self, path: &str) -> String {
        let path = self.marked(path);
        let Some((before, rest)) = path.split_once("resourceVersion=") else { return path };
        let (version, rest) = rest.split_at(rest.find('&').unwrap_or(rest.len()));
        format!("{before}resourceVersion={}{rest}", self.version(version))
    }

    fn mark_versions(&self, body: &mut Value) {
        // Of a patch it is the path that says what a value is.
        let path = body.get("path").and_then(Value::as_str).unwrap_or("").replace("~1", "/");
        let is_patched = VERSIONS.iter().any(|name| path.ends_with(name));
        match body {
            Value::Array(parts) => parts.iter_mut().for_each(|part| self.mark_versions(part)),
            Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match value {
                Value::String(text) if VERSIONS.contains(&&**key) || (is_patched && key == "value") => {
                    *text = self.version(text);
                }
                _ => self.mark_versions(value),
            }),
            _ => {}
        }
    }
}
