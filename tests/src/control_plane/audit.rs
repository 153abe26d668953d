//! Every write of a test, read from the API server's audit log.
//!
//! The log is written before a request is answered, and has two lines for each request: received and answered. Reading waits for
//! the answers of all requests received so far, so a write whose answer a client has seen is never missing.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

const POLL: Duration = Duration::from_millis(20);
/// The API server gives a request at most 60 s.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// One write request and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// When the request came in.
    pub at: Timestamp,
    /// When the answer was sent.
    pub answered: Timestamp,
    /// The user, such as `admin` or `system:serviceaccount:kube-system:replicaset-controller`.
    pub user: String,
    /// The program, as its User-Agent header says.
    pub user_agent: String,
    /// `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: String,
    /// The resource, such as `nodes`; with its subresource, such as `pods/binding`.
    pub resource: String,
    /// Namespace of the object; empty for objects without one.
    pub namespace: String,
    /// Name of the object, also if the API server generated it.
    pub name: String,
    /// The HTTP status code of the answer.
    pub code: u16,
    /// Whether it was a dry run, which stores nothing.
    pub dry_run: bool,
    /// The body of the request.
    pub request_object: Option<Value>,
    /// The body of the answer: the object as stored, or the refusal.
    pub response_object: Option<Value>,
    /// The object's version after the write, where it was stored.
    pub resource_version_after: Option<String>,
    /// The API server's own id of the request.
    pub audit_id: String,
}

impl Write {
    /// True if the write was stored.
    pub fn is_stored(&self) -> bool {
        (200..300).contains(&self.code) && !self.dry_run
    }
}

/// Writes, in the order in which they were answered.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    writes: Vec<Write>,
}

impl Audit {
    /// All writes.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// Only those by one user, named as in the audit log.
    #[must_use]
    pub fn by(self, user: &str) -> Self {
        self.keep(|write| write.user == user)
    }

    /// Only those to one resource: `nodes`, `pods/binding`.
    #[must_use]
    pub fn to(self, resource: &str) -> Self {
        self.keep(|write| write.resource == resource)
    }

    /// Only those to objects of one name.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.keep(|write| write.name == name)
    }

    /// Only those with one verb.
    #[must_use]
    pub fn verb(self, verb: &str) -> Self {
        self.keep(|write| write.verb == verb)
    }

    /// Only those that were stored.
    #[must_use]
    pub fn stored(self) -> Self {
        self.keep(Write::is_stored)
    }

    /// Only those received at `time` or later.
    #[must_use]
    pub fn since(self, time: Timestamp) -> Self {
        self.keep(|write| write.at >= time)
    }

    /// Only those for which `wanted` is true.
    #[must_use]
    pub fn keep(mut self, wanted: impl Fn(&Write) -> bool) -> Self {
        self.writes.retain(wanted);
        self
    }

    pub(super) async fn read(path: &Path) -> Result<Self> {
        let started = Instant::now();
        let mut log = Log::read(path)?;
        // Wait only for requests received before this call: in a busy cluster some request is always unanswered.
        let awaited = log.unanswered();
        while log.unanswered().intersection(&awaited).next().is_some() {
            if started.elapsed() > ANSWER_MAX {
                bail!("{}: no answer after {ANSWER_MAX:?} to {awaited:?}", path.display());
            }
            tokio::time::sleep(POLL).await;
            log = Log::read(path)?;
        }
        Self::of(log)
    }

    /// The writes that are answered now, without waiting for others.
    pub(super) fn answered(path: &Path) -> Result<Self> {
        Self::of(Log::read(path)?)
    }

    fn of(log: Log) -> Result<Self> {
        let writes = log.answered.into_iter().map(Event::into_write).collect::<Result<_>>()?;
        Ok(Self { writes })
    }

    /// Removes the requests that were unanswered when the API server was killed: they will never be answered.
    pub(super) fn give_up_unanswered(path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let unanswered = Log::parse(&text)?.unanswered();
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let is_kept = |line: &&str| !unanswered.iter().any(|id| line.contains(id.as_str()));
        let kept: String = whole.split_inclusive('\n').filter(is_kept).collect();
        std::fs::write(path, kept).with_context(|| format!("write {}", path.display()))
    }
}

/// The lines of the log, separated by stage.
#[derive(Default)]
struct Log {
    received: BTreeSet<String>,
    answered: Vec<Event>,
}

impl Log {
    fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("read {}", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut log = Self::default();
        // A last line without its end is still being written; its request counts as not answered yet.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for (index, line) in whole.lines().enumerate() {
            let event: Event = serde_json::from_str(line)
                .with_context(|| format!("line {} is no audit event: {line}", index + 1))?;
            if event.stage == "RequestReceived" {
                log.received.insert(event.audit_id);
            } else {
                log.answered.push(event);
            }
        }
        Ok(log)
    }

    fn unanswered(&self) -> BTreeSet<String> {
        let answered: BTreeSet<&str> = self.answered.iter().map(|event| event.audit_id.as_str()).collect();
        self.received.iter().filter(|id| !answered.contains(id.as_str())).cloned().collect()
    }
}

/// An event of `audit.k8s.io/v1`, as far as we need it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(rename = "auditID")]
    audit_id: String,
    stage: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: String,
    user: EventUser,
    #[serde(default)]
    user_agent: String,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
    request_object: Option<Value>,
    response_object: Option<Value>,
    request_received_timestamp: String,
    stage_timestamp: String,
}

#[derive(Deserialize)]
struct EventUser {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ObjectRef {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

impl Event {
    fn into_write(self) -> Result<Write> {
        let time = |text: &str| text.parse::<Timestamp>().with_context(|| format!("read the time {text}"));
        let object = self.object_ref.unwrap_or_default();
        let stored = |field: &str| -> Option<String> {
            Some(self.response_object.as_ref()?.get("metadata")?.get(field)?.as_str()?.to_owned())
        };
        let slash = if object.subresource.is_empty() { "" } else { "/" };
        Ok(Write {
            at: time(&self.request_received_timestamp)?,
            answered: time(&self.stage_timestamp)?,
            resource: format!("{}{slash}{}", object.resource, object.subresource),
            name: if object.name.is_empty() { stored("name").unwrap_or_default() } else { object.name },
            resource_version_after: stored("resourceVersion"),
            namespace: object.namespace,
            code: self.response_status.map_or(0, |status| status.code),
            dry_run: self.request_uri.contains("dryRun=All"),
            user: self.user.username,
            user_agent: self.user_agent,
            verb: self.verb,
            request_object: self.request_object,
            response_object: self.response_object,
            audit_id: self.audit_id,
        })
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
