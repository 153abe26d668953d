//! The connection of one process to the API server, with all faults on it. For the client it is a tower [`Service`]. A process that
//! dies is a [`Process`] whose connection no longer answers; whether a write that it had sent arrives is decided here.

use super::fault_injector::{FaultInjector, FaultKind, RequestOutcome, Transit};
use super::user_api::{Subject, UserApi, status};
use super::watch_stream::watch_response;
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

/// The error of a request without an answer.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;
/// A response as the client gets it.
pub(super) type ClientResponse = Response<UnsyncBoxBody<Bytes, Failure>>;

/// How long watches are stale in plans: longer than the command waits for an acknowledgement.
pub(super) const STALE: Duration = Duration::from_secs(20);
/// How long daemons cannot list after an event was skipped.
const SKIPPED: Duration = Duration::from_secs(5);

/// A process that can die at any time.
#[derive(Clone, Default)]
pub(super) struct Process {
    is_dead: Arc<AtomicBool>,
    died: Arc<Notify>,
}

impl Process {
    pub(super) fn kill(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.died.notify_one();
    }

    /// Waits until the process has died.
    pub(super) async fn died(&self) {
        self.died.notified().await;
    }

    fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }
}

/// The connection of one process to the API server.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) api: UserApi,
    pub(super) faults: FaultInjector,
    pub(super) process: Process,
    /// The users of the daemons, whose watches a planned fault may disturb.
    pub(super) daemons: Arc<[String]>,
}

impl Service<Request<Body>> for Connection {
    type Response = ClientResponse;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<ClientResponse, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let connection = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            connection.send(Request::from_parts(head, body)).await
        })
    }
}

/// The metadata of a list.
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

/// A request that has not arrived yet. If the caller drops the future, the request may arrive all the same.
struct PendingRequest<'l> {
    connection: &'l Connection,
    request: Option<Request<Bytes>>,
    lands: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take().filter(|_| self.lands) {
            self.connection.api.answer(request);
        }
    }
}

impl Connection {
    /// A client on this connection.
    pub(super) fn client(self) -> kube::Client {
        kube::Client::new(self, "default")
    }

    async fn send(&self, mut request: Request<Bytes>) -> Result<ClientResponse, Failure> {
        let subject = Subject::of(&request);
        if subject.is_write && self.is_of_daemon() {
            let sent = self.api.record().start_send(&self.api.identity().user);
            request.extensions_mut().insert(sent);
        }
        self.wait(&subject).await;
        let request = self.with_cached_version(request, &subject);
        let transit = self.faults.transit(&subject);
        let mut pending = PendingRequest { connection: self, request: Some(request), lands: transit.lands };
        sleep_some(transit.before).await;
        let Some(request) = pending.request.take() else { return Err(reset_error()) };
        if subject.is_step()
            && let Some(fault) = self.faults.step()
        {
            return self.apply_planned_fault(fault, request, &subject).await;
        }
        self.deliver(transit, request, subject).await
    }

    /// Waits while the process is dead or frozen, or cannot list the kind.
    async fn wait(&self, subject: &Subject) {
        if self.process.is_dead() {
            std::future::pending::<()>().await;
        }
        let user = &self.api.identity().user;
        // Only a freeze of everything holds back requests.
        while let Some((until, _)) = self.faults.frozen(user, "anything") {
            sleep_until(until).await;
        }
        let plural = subject.resource.split('/').next().unwrap_or("");
        while let Some(until) = self.faults.unlisted(user, plural).filter(|_| !subject.is_write) {
            sleep_until(until).await;
        }
    }

    /// A list with `resourceVersion=0` comes from the cache that feeds the watches: while these are frozen, it is as old as they
    /// are.
    fn with_cached_version(&self, mut request: Request<Bytes>, subject: &Subject) -> Request<Bytes> {
        let query = request.uri().query().unwrap_or("");
        let may_be_old = !subject.is_watch && query.split('&').any(|part| part == "resourceVersion=0");
        let frozen = self.faults.frozen(&self.api.identity().user, &subject.resource).filter(|_| may_be_old);
        if let Some((_, since)) = frozen {
            let then = self.api.record().revision_at(since);
            let old = format!("resourceVersion={then}&resourceVersionMatch=Exact");
            let query = query.replace("resourceVersion=0", &old);
            let address = format!("{}?{query}", request.uri().path());
            *request.uri_mut() = address.parse().unwrap_or_else(|_| request.uri().clone());
        }
        request
    }

    async fn deliver(
        &self,
        transit: Transit,
        request: Request<Bytes>,
        subject: Subject,
    ) -> Result<ClientResponse, Failure> {
        if transit.outcome != RequestOutcome::Through && subject.is_write {
            let who = &self.api.identity().user;
            self.api
                .record()
                .note(format_args!("{who} {} {}: {:?}", subject.resource, subject.name, transit.outcome));
        }
        let response = match transit.outcome {
            RequestOutcome::Lost => {
                sleep_some(transit.after).await;
                return Err(reset_error());
            }
            RequestOutcome::Refused(code) => refusal(code, &subject),
            RequestOutcome::Through
            | RequestOutcome::Unheard
            | RequestOutcome::Denied(_)
            | RequestOutcome::Half => self.api.answer(request),
        };
        sleep_some(transit.after).await;
        match transit.outcome {
            RequestOutcome::Unheard => Err(reset_error()),
            RequestOutcome::Denied(code) => Ok(whole_response(refusal(code, &subject))),
            RequestOutcome::Half => half_response(response).await,
            _ if subject.is_watch && response.status().is_success() => {
                Ok(watch_response(self, response, &subject))
            }
            _ => Ok(whole_response(self.record_list(response, &subject))),
        }
    }

    /// Whether the client is a daemon.
    pub(super) fn is_of_daemon(&self) -> bool {
        self.api.identity().fenced.is_some()
    }

    /// Records what a daemon learns from a list.
    fn record_list(&self, response: Response<AnswerBody>, subject: &Subject) -> Response<AnswerBody> {
        if subject.is_write || !subject.name.is_empty() || !self.is_of_daemon() {
            return response;
        }
        let (head, body) = response.into_parts();
        let collected = body.collect().now_or_never().and_then(Result::ok);
        let bytes = collected.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let list = serde_json::from_slice::<List>(&bytes).ok();
        // The list is known with its last page.
        if let Some(List { metadata }) = list.filter(|list| list.metadata.r#continue.is_empty())
            && let Ok(revision) = metadata.resource_version.parse()
        {
            self.api.record().add_delivery(&self.api.identity().user, &subject.resource, revision);
        }
        Response::from_parts(head, Full::from(bytes).boxed_unsync())
    }

    /// Carries out the step that has a planned fault.
    async fn apply_planned_fault(
        &self,
        fault: FaultKind,
        request: Request<Bytes>,
        subject: &Subject,
    ) -> Result<ClientResponse, Failure> {
        let who = &self.api.identity().user;
        self.api
            .record()
            .note(format_args!("plan: {fault:?} as {who} writes {} {}", subject.resource, subject.name));
        let daemons = || self.daemons.iter();
        match fault {
            FaultKind::StaleNodes => daemons().for_each(|user| self.faults.freeze(user, "nodes", STALE)),
            FaultKind::StalePods => daemons().for_each(|user| self.faults.freeze(user, "pods", STALE)),
            FaultKind::Skipped => {
                let plural = if subject.resource.starts_with("nodes") { "nodes" } else { "pods" };
                daemons().for_each(|user| self.faults.cut(user, plural, SKIPPED));
            }
            FaultKind::CrashBefore => return self.die().await,
            FaultKind::CrashAfter | FaultKind::Unheard => {}
        }
        let response = self.api.answer(request);
        match fault {
            FaultKind::CrashAfter => self.die().await,
            FaultKind::Unheard => {
                sleep(Duration::from_secs(1)).await;
                Err(reset_error())
            }
            _ => Ok(whole_response(response)),
        }
    }

    async fn die(&self) -> Result<ClientResponse, Failure> {
        self.process.kill();
        std::future::pending().await
    }
}

async fn sleep_some(length: Duration) {
    if !length.is_zero() {
        sleep(length).await;
    }
}

/// The response of an overloaded server, or of a policy that refuses the request.
fn refusal(code: StatusCode, subject: &Subject) -> Response<AnswerBody> {
    if matches!(code, StatusCode::FORBIDDEN | StatusCode::UNPROCESSABLE_ENTITY) {
        let (plural, name) = (subject.resource.split('/').next().unwrap_or(""), &subject.name);
        let policy = "ValidatingAdmissionPolicy 'quiet' with binding 'quiet' denied request: not now";
        return status(code, &format!("{plural} \"{name}\" is forbidden: {policy}"), None);
    }
    let again = (code == StatusCode::TOO_MANY_REQUESTS).then_some(1);
    status(code, "not now", again)
}

fn reset_error() -> Failure {
    "connection reset".into()
}

fn whole_response(response: Response<AnswerBody>) -> ClientResponse {
    response.map(|body| body.map_err(|never| match never {}).boxed_unsync())
}

/// Half of a response; nothing of a watch.
async fn half_response(response: Response<AnswerBody>) -> Result<ClientResponse, Failure> {
    let (head, body) = response.into_parts();
    let bytes = match tokio::time::timeout(Duration::from_millis(1), body.collect()).await {
        Ok(collected) => collected?.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let bytes = bytes.slice(..bytes.len() / 2);
    let body = Full::from(bytes).map_err(|never| match never {}).boxed_unsync();
    Ok(Response::from_parts(head, body))
}
