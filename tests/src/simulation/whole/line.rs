//! The way of one process to the cluster, with everything that can happen on it. A process that dies is a [`Process`]
//! whose line is dead; whether a write that it had sent arrives is decided here.

use super::door::{Door, Subject, status};
use super::weather::{Fate, Fault, LineFate, Way, Weather};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::unfold;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::Frame;
use kube::client::Body;
use sandbox::AnswerBody;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, sleep_until};
use tower::Service;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Answered = Response<UnsyncBoxBody<Bytes, Failure>>;

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

    async fn carry(&self, request: Request<Bytes>) -> Result<Answered, Failure> {
        let subject = Subject::of(&request);
        self.wait(&subject).await;
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
        while let Some(until) = self.weather.frozen(user, "anything") {
            sleep_until(until).await;
        }
        let plural = subject.resource.split('/').next().unwrap_or("");
        while let Some(until) = self.weather.unlisted(user, plural).filter(|_| !subject.is_write) {
            sleep_until(until).await;
        }
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
            Way::Refused(code) => refused(code),
            Way::Through | Way::Unheard | Way::Denied(_) | Way::Half => self.door.answer(request),
        };
        sleep_some(fate.after).await;
        match fate.way {
            Way::Unheard => Err(reset()),
            Way::Denied(code) => Ok(whole(refused(code))),
            Way::Half => half(response).await,
            _ if subject.is_watch && response.status().is_success() => Ok(self.watched(response, &subject)),
            _ => Ok(whole(response)),
        }
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

    /// The lines of a watch, as they come through.
    fn watched(&self, response: Response<AnswerBody>, subject: &Subject) -> Answered {
        let (head, body) = response.into_parts();
        let turns = self.weather.listen();
        let begun = *turns.borrow();
        let watched = Watched {
            line: self.clone(),
            plural: subject.resource.clone(),
            body,
            turns,
            begun,
            held: VecDeque::new(),
            is_over: false,
        };
        let lines =
            unfold(watched, |mut watched| async move { watched.next().await.map(|line| (line, watched)) });
        let frames = futures::StreamExt::map(lines, |line| line.map(Frame::data));
        Response::from_parts(head, StreamBody::new(frames).boxed_unsync())
    }
}

/// A watch under way.
struct Watched {
    line: Line,
    plural: String,
    body: AnswerBody,
    turns: watch::Receiver<u64>,
    begun: u64,
    held: VecDeque<Bytes>,
    is_over: bool,
}

impl Watched {
    async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        loop {
            let (weather, user) = (&self.line.weather, &self.line.door.who().user);
            if self.is_over {
                return None;
            }
            if weather.is_cut(user, &self.plural, self.begun) {
                self.is_over = true;
                return Some(Ok(too_old()));
            }
            if let Some(until) = weather.frozen(user, &self.plural) {
                tokio::select! { biased; _ = self.turns.changed() => {}, () = sleep_until(until) => {} }
                continue;
            }
            if let Some(line) = self.held.pop_front() {
                return Some(self.deliver(line).await);
            }
            tokio::select! {
                biased;
                _ = self.turns.changed() => {}
                frame = self.body.frame() => match frame {
                    None => return None,
                    Some(Err(never)) => match never {},
                    Some(Ok(frame)) => self.held.extend(frame.into_data()),
                },
            }
        }
    }

    async fn deliver(&mut self, line: Bytes) -> Result<Bytes, Failure> {
        match self.line.weather.line() {
            LineFate::Through => {}
            LineFate::Late(by) => sleep(by).await,
            LineFate::Twice => {
                let both = [line.as_ref(), line.as_ref()].concat();
                return Ok(both.into());
            }
            LineFate::Half => {
                self.is_over = true;
                return Ok(line.slice(..line.len() / 2));
            }
        }
        Ok(line)
    }
}

async fn sleep_some(length: Duration) {
    if !length.is_zero() {
        sleep(length).await;
    }
}

fn too_old() -> Bytes {
    let status = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}"#;
    Bytes::from(format!("{status}\n"))
}

fn refused(code: StatusCode) -> Response<AnswerBody> {
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
