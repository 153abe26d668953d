//! The way of one process to the cluster, with everything that can happen on it. A process that dies is a [`Process`]
//! whose line is dead; whether a write that it had sent arrives is decided here.

use super::door::{Door, Subject, status};
use super::watched::watched;
use super::weather::{Fate, Fault, Way, Weather};
use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use kube::client::Body;
use sandbox::AnswerBody;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until};
use tower::Service;

/// Why there is none.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;
/// An answer as a client gets it.
pub(super) type Answered = Response<UnsyncBoxBody<Bytes, Failure>>;

/// How long what is planned to be stale stays so: longer than anybody waits for an acknowledgement.
pub(super) const STALE: Duration = Duration::from_secs(20);
/// How long nobody can list after an event was skipped.
const SKIPPED: Duration = Duration::from_secs(5);

/// A process that can die at any time.
#[derive(Clone, Default)]
pub(super) struct Process {
    is_dead: Arc<AtomicBool>,
    died: Arc<Notify>,
}

impl Process {
    /// Ends it.
    pub(super) fn kill(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.died.notify_one();
    }

    /// Done when it has died.
    pub(super) async fn died(&self) {
        self.died.notified().await;
    }

    fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }
}

/// The way of one process to the cluster.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) door: Door,
    pub(super) weather: Weather,
    pub(super) process: Process,
    /// The users whose watches a plan may disturb.
    pub(super) daemons: Arc<[String]>,
}

impl Service<Request<Body>> for Line {
    type Response = Answered;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Answered, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let line = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            line.carry(Request::from_parts(head, body)).await
        })
    }
}

/// The head of a list.
#[derive(Deserialize)]
struct List {
    metadata: ListMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
    #[serde(default)]
    r#continue: String,
}

/// A request on its way. If whoever waits for its answer goes away, it may arrive all the same.
struct Sent<'l> {
    line: &'l Line,
    request: Option<Request<Bytes>>,
    lands: bool,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take().filter(|_| self.lands) {
            self.line.door.answer(request);
        }
    }
}

impl Line {
    /// A client on it.
    pub(super) fn client(self) -> kube::Client {
        kube::Client::new(self, "default")
    }

    async fn carry(&self, mut request: Request<Bytes>) -> Result<Answered, Failure> {
        let subject = Subject::of(&request);
        if subject.is_write && self.is_of_daemon() {
            let sent = self.door.record().sends(&self.door.who().user);
            request.extensions_mut().insert(sent);
        }
        self.wait(&subject).await;
        let request = self.aged(request, &subject);
        let fate = self.weather.fate(&subject);
        let mut sent = Sent { line: self, request: Some(request), lands: fate.lands };
        sleep_some(fate.before).await;
        let Some(request) = sent.request.take() else { return Err(reset()) };
        if subject.is_step()
            && let Some(fault) = self.weather.step()
        {
            return self.planned(fault, request, &subject).await;
        }
        self.through(fate, request, subject).await
    }

    /// Waits while nothing goes through.
    async fn wait(&self, subject: &Subject) {
        if self.process.is_dead() {
            std::future::pending::<()>().await;
        }
        let user = &self.door.who().user;
        // Only a line that nothing comes through at all keeps requests back.
        while let Some((until, _)) = self.weather.frozen(user, "anything") {
            sleep_until(until).await;
        }
        let plural = subject.resource.split('/').next().unwrap_or("");
        while let Some(until) = self.weather.unlisted(user, plural).filter(|_| !subject.is_write) {
            sleep_until(until).await;
        }
    }

    /// A list that may come from a cache comes from the one that the watches come from, which may know of nothing new.
    fn aged(&self, mut request: Request<Bytes>, subject: &Subject) -> Request<Bytes> {
        let query = request.uri().query().unwrap_or("");
        let may_be_old = !subject.is_watch && query.split('&').any(|part| part == "resourceVersion=0");
        let frozen = self.weather.frozen(&self.door.who().user, &subject.resource).filter(|_| may_be_old);
        if let Some((_, since)) = frozen {
            let then = self.door.record().revision_at(since);
            let old = format!("resourceVersion={then}&resourceVersionMatch=Exact");
            let query = query.replace("resourceVersion=0", &old);
            let address = format!("{}?{query}", request.uri().path());
            *request.uri_mut() = address.parse().unwrap_or_else(|_| request.uri().clone());
        }
        request
    }

    async fn through(
        &self,
        fate: Fate,
        request: Request<Bytes>,
        subject: Subject,
    ) -> Result<Answered, Failure> {
        if fate.way != Way::Through && subject.is_write {
            let who = &self.door.who().user;
            self.door
                .record()
                .note(format_args!("{who} {} {}: {:?}", subject.resource, subject.name, fate.way));
        }
        let response = match fate.way {
            Way::Lost => {
                sleep_some(fate.after).await;
                return Err(reset());
            }
            Way::Refused(code) => refused(code, &subject),
            Way::Through | Way::Unheard | Way::Denied(_) | Way::Half => self.door.answer(request),
        };
        sleep_some(fate.after).await;
        match fate.way {
            Way::Unheard => Err(reset()),
            Way::Denied(code) => Ok(whole(refused(code, &subject))),
            Way::Half => half(response).await,
            _ if subject.is_watch && response.status().is_success() => Ok(watched(self, response, &subject)),
            _ => Ok(whole(self.listed(response, &subject))),
        }
    }

    /// Whether a daemon is at the other end.
    pub(super) fn is_of_daemon(&self) -> bool {
        self.door.who().fenced.is_some()
    }

    /// Writes down what a daemon learns from a list.
    fn listed(&self, response: Response<AnswerBody>, subject: &Subject) -> Response<AnswerBody> {
        if subject.is_write || !subject.name.is_empty() || !self.is_of_daemon() {
            return response;
        }
        let (head, body) = response.into_parts();
        let collected = body.collect().now_or_never().and_then(Result::ok);
        let bytes = collected.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let list = serde_json::from_slice::<List>(&bytes).ok();
        // What is on the last page is known with all pages before it.
        if let Some(List { metadata }) = list.filter(|list| list.metadata.r#continue.is_empty())
            && let Ok(revision) = metadata.resource_version.parse()
        {
            self.door.record().told(&self.door.who().user, &subject.resource, revision);
        }
        Response::from_parts(head, Full::from(bytes).boxed_unsync())
    }

    /// The step that a plan is about.
    async fn planned(
        &self,
        fault: Fault,
        request: Request<Bytes>,
        subject: &Subject,
    ) -> Result<Answered, Failure> {
        let who = &self.door.who().user;
        self.door
            .record()
            .note(format_args!("plan: {fault:?} as {who} writes {} {}", subject.resource, subject.name));
        let daemons = || self.daemons.iter();
        match fault {
            Fault::StaleNodes => daemons().for_each(|user| self.weather.freeze(user, "nodes", STALE)),
            Fault::StalePods => daemons().for_each(|user| self.weather.freeze(user, "pods", STALE)),
            Fault::Skipped => {
                let plural = if subject.resource.starts_with("nodes") { "nodes" } else { "pods" };
                daemons().for_each(|user| self.weather.cut(user, plural, SKIPPED));
            }
            Fault::CrashBefore => return self.die().await,
            Fault::CrashAfter | Fault::Unheard => {}
        }
        let response = self.door.answer(request);
        match fault {
            Fault::CrashAfter => self.die().await,
            Fault::Unheard => {
                sleep(Duration::from_secs(1)).await;
                Err(reset())
            }
            _ => Ok(whole(response)),
        }
    }

    async fn die(&self) -> Result<Answered, Failure> {
        self.process.kill();
        std::future::pending().await
    }
}

async fn sleep_some(length: Duration) {
    if !length.is_zero() {
        sleep(length).await;
    }
}

/// An answer of a server that has no time, or of a policy that has something against it.
fn refused(code: StatusCode, subject: &Subject) -> Response<AnswerBody> {
    if matches!(code, StatusCode::FORBIDDEN | StatusCode::UNPROCESSABLE_ENTITY) {
        let (plural, name) = (subject.resource.split('/').next().unwrap_or(""), &subject.name);
        let policy = "ValidatingAdmissionPolicy 'quiet' with binding 'quiet' denied request: not now";
        return status(code, &format!("{plural} \"{name}\" is forbidden: {policy}"), None);
    }
    let again = (code == StatusCode::TOO_MANY_REQUESTS).then_some(1);
    status(code, "not now", again)
}

fn reset() -> Failure {
    "connection reset".into()
}

fn whole(response: Response<AnswerBody>) -> Answered {
    response.map(|body| body.map_err(|never| match never {}).boxed_unsync())
}

/// Half of an answer; of a watch nothing.
async fn half(response: Response<AnswerBody>) -> Result<Answered, Failure> {
    let (head, body) = response.into_parts();
    let bytes = match tokio::time::timeout(Duration::from_millis(1), body.collect()).await {
        Ok(collected) => collected?.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let bytes = bytes.slice(..bytes.len() / 2);
    let body = Full::from(bytes).map_err(|never| match never {}).boxed_unsync();
    Ok(Response::from_parts(head, body))
}
