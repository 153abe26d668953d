//! The API server for one user: applies the fence, passes requests to the sandbox, and records writes as an audit log does.

use super::record::{Record, text};
use super::tenants::{CloneSetAccess, clone_set_response};
use crate::control_plane::Write;
use crate::history::SendInfo;
use crate::simulation::fence::only_adds;
use crate::simulation::newer_version::with_newer_field;
use bytes::Bytes;
use futures::FutureExt as _;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use jiff::Timestamp;
use sandbox::{AnswerBody, Api};
use serde_json::{Value, json};
use std::time::Duration;
use tower::Service as _;

/// The namespace of the daemon's Leases.
pub(super) const NAMESPACE: &str = "kube-reserve";

/// The client of a request.
#[derive(Clone, Debug)]
pub(super) struct ClientIdentity {
    /// The user, as in the audit log.
    pub(super) user: String,
    /// The User-Agent.
    pub(super) agent: &'static str,
    /// The pod that the fence compares with the leader; `None`: the fence does not apply to this user.
    pub(super) fenced: Option<String>,
    /// How far the fence is behind: it judges by the Lease as it was so long ago.
    pub(super) lag: Duration,
    /// Whether its records have a field that others do not know.
    pub(super) is_newer: bool,
    /// What this client gets when it reads the CloneSet.
    pub(super) clone_set: CloneSetAccess,
}

impl ClientIdentity {
    /// A user to whom the fence does not apply.
    pub(super) fn unfenced(user: &str, agent: &'static str) -> Self {
        Self {
            user: user.to_owned(),
            agent,
            fenced: None,
            lag: Duration::ZERO,
            is_newer: false,
            clone_set: CloneSetAccess::Unserved,
        }
    }
}

/// The API server for one user. It has no faults, and answers at once.
#[derive(Clone)]
pub(super) struct UserApi {
    api: Api,
    record: Record,
    identity: ClientIdentity,
}

/// The parsed path and method of a request.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// `pods`, `pods/binding`, `nodes`; empty for paths without a resource.
    pub(super) resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) is_write: bool,
    pub(super) is_watch: bool,
    is_dry: bool,
    verb: &'static str,
}

impl UserApi {
    pub(super) fn new(api: Api, record: Record, identity: ClientIdentity) -> Self {
        Self { api, record, identity }
    }

    pub(super) fn record(&self) -> &Record {
        &self.record
    }

    pub(super) fn identity(&self) -> &ClientIdentity {
        &self.identity
    }

    pub(super) fn answer(&self, mut request: Request<Bytes>) -> Response<AnswerBody> {
        let subject = Subject::of(&request);
        if self.identity.is_newer && (subject.verb, &*subject.resource) == ("patch", "nodes") {
            let patch: Value = serde_json::from_slice(request.body()).unwrap_or_default();
            *request.body_mut() = with_newer_field(&patch).to_string().into();
        }
        if self.record.is_closed() {
            return status(StatusCode::SERVICE_UNAVAILABLE, "the simulation is over", None);
        }
        if !subject.is_write {
            return clone_set_response(self.identity.clone_set, request.uri().path())
                .unwrap_or_else(|| self.pass(request));
        }
        let (at, body) = (self.record.now(), request.body().clone());
        let sent = request.extensions().get::<SendInfo>().copied();
        let response = match self.fenced(&subject, &body) {
            Some(holder) => {
                let why = format!("the Lease is held by {holder}, not by this pod");
                status(StatusCode::FORBIDDEN, &why, None)
            }
            None => self.pass(request),
        };
        self.audit(&subject, (at, sent), &body, response)
    }

    /// Sends a request without a client, as actors do. Returns the code and the object of the answer.
    pub(super) fn ask(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let kind = match method {
            Method::PATCH if body.is_array() => "application/json-patch+json",
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let request = Request::builder().method(method).uri(path).header("content-type", kind).body(body);
        let Ok(request) = request else { return (0, Value::Null) };
        let response = self.answer(request);
        let code = response.status().as_u16();
        let body = response.into_body().collect().now_or_never().and_then(Result::ok);
        let bytes = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        (code, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    fn pass(&self, request: Request<Bytes>) -> Response<AnswerBody> {
        let answered = self.api.clone().call(request.map(Full::from)).now_or_never();
        match answered {
            Some(Ok(response)) => response,
            // The sandbox always answers at once.
            _ => status(StatusCode::INTERNAL_SERVER_ERROR, "the sandbox did not answer", None),
        }
    }

    /// The leader, if the fence refuses the request because this pod does not lead.
    fn fenced(&self, subject: &Subject, body: &Bytes) -> Option<String> {
        let pod = self.identity.fenced.as_ref()?;
        let is_guarded = match (subject.verb, subject.resource.as_str()) {
            ("patch", "nodes") => !serde_json::from_slice(body).is_ok_and(|patch| only_adds(&patch)),
            ("create", "pods/binding") | ("update", "nodes") | ("delete", "pods") => true,
            _ => false,
        };
        let holder = self.record.holder(self.identity.lag).filter(|_| is_guarded)?;
        let holder = holder.split('_').next().unwrap_or("").to_owned();
        (holder != *pod).then_some(holder)
    }

    fn audit(
        &self,
        subject: &Subject,
        (at, set_out): (Timestamp, Option<SendInfo>),
        sent: &Bytes,
        response: Response<AnswerBody>,
    ) -> Response<AnswerBody> {
        let (head, body) = response.into_parts();
        let collected = body.collect().now_or_never().and_then(Result::ok);
        let bytes = collected.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let name = if subject.name.is_empty() { text(&answer, "/metadata/name") } else { &subject.name };
        let version = text(&answer, "/metadata/resourceVersion");
        if !matches!(&*subject.resource, "leases" | "events") || !head.status.is_success() {
            let (user, code) = (&self.identity.user, head.status.as_u16());
            let dry = if subject.is_dry { " dry" } else { "" };
            self.record
                .note(format_args!("{user} {}s {} {name}: {code}{dry}", subject.verb, subject.resource));
        }
        let write = Write {
            at,
            answered: self.record.now(),
            user: self.identity.user.clone(),
            user_agent: self.identity.agent.to_owned(),
            verb: subject.verb.to_owned(),
            resource: subject.resource.clone(),
            namespace: subject.namespace.clone(),
            name: name.to_owned(),
            code: head.status.as_u16(),
            dry_run: subject.is_dry,
            request_object: serde_json::from_slice(sent).ok(),
            resource_version_after: (!version.is_empty()).then(|| version.to_owned()),
            response_object: Some(answer),
            audit_id: String::new(),
        };
        self.record.add_write(write, set_out);
        self.record.catch_up();
        Response::from_parts(head, Full::from(bytes).boxed_unsync())
    }
}

impl Subject {
    /// Parses the path of a request: `/api/v1/…` or `/apis/<group>/<version>/…`.
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let (path, query) = (request.uri().path(), request.uri().query().unwrap_or(""));
        let mut parts = path.trim_matches('/').split('/');
        let skipped = if parts.next() == Some("api") { 1 } else { 2 };
        let mut parts: Vec<&str> = parts.skip(skipped).collect();
        let mut namespace = String::new();
        if parts.len() > 2 && parts[0] == "namespaces" {
            namespace = parts[1].to_owned();
            parts.drain(..2);
        }
        let plural = parts.first().copied().unwrap_or("");
        let (name, part) = (parts.get(1).copied().unwrap_or(""), parts.get(2).copied().unwrap_or(""));
        let resource = if part.is_empty() { plural.to_owned() } else { format!("{plural}/{part}") };
        let is_talk = plural.ends_with("reviews");
        let verb = match *request.method() {
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE => "delete",
            _ => "get",
        };
        Self {
            is_write: verb != "get" && !is_talk,
            is_watch: query.contains("watch=1") || query.contains("watch=true"),
            is_dry: query.contains("dryRun=All"),
            resource,
            namespace,
            name: name.to_owned(),
            verb,
        }
    }

    /// Whether the request changes a node or a pod, and is not a dry run.
    pub(super) fn is_step(&self) -> bool {
        let is_about = matches!(self.resource.split('/').next(), Some("nodes" | "pods"));
        self.is_write && !self.is_dry && is_about
    }
}

/// An error response.
pub(super) fn status(code: StatusCode, message: &str, retry_after: Option<u32>) -> Response<AnswerBody> {
    let reason = match code {
        StatusCode::UNPROCESSABLE_ENTITY => "Invalid".to_owned(),
        _ => code.canonical_reason().unwrap_or("").replace(' ', ""),
    };
    let mut status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason,
                             "message": message, "code": code.as_u16() });
    if let Some(seconds) = retry_after {
        status["details"] = json!({ "retryAfterSeconds": seconds });
    }
    let mut response = Response::new(Full::from(status.to_string()).boxed_unsync());
    *response.status_mut() = code;
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    if let Some(seconds) = retry_after {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    response
}
