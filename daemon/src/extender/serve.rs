//! The HTTP server that kube-scheduler calls as its extender: POST `/filter`, `/prioritize`, `/preempt` and `/bind`.
//! Entry point: [`serve`].
//!
//! If the answer is not certain, it is an error and never an empty success: kube-scheduler would take an empty success for "no
//! node", and it ignores an ignorable extender only when that fails.

use super::bodies::Bodies;
use super::replies::Replies;
use super::tls::ExtenderServerTls;
use crate::clock::Clock;
use crate::connections::{self, Limits, Slot};
use crate::extender_logic::{Question, Reply};
use crate::lease::replica::LeaseValidity;
use crate::state::Input;
use bytes::Bytes;
use common::api::extender as wire;
use common::model::chain::chain;
use futures::FutureExt as _;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Body;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// How long a request may take, from its head to the answer; kube-scheduler gives up after five seconds.
const ANSWER_MAX: Duration = Duration::from_millis(4500);

/// How long an authenticated connection may be idle. kube-scheduler closes connections that are idle for 90 seconds; if we closed
/// them first, a request that was just sent could be lost.
const IDLE_MAX: Duration = Duration::from_secs(120);

/// How often the certificate files are read again.
const REFRESH: Duration = Duration::from_secs(10);

/// An error answer: status code and text.
pub(super) type Failure = (StatusCode, String);

pub(crate) struct ExtenderHandler {
    pub(crate) inputs: mpsc::Sender<Input>,
    pub(crate) replies: Replies,
    /// Whether the Lease of this replica is valid; if not, every request fails.
    pub(crate) validity: LeaseValidity,
    pub(crate) clock: Clock,
    pub(crate) bodies: Bodies,
    pub(crate) is_binding: bool,
}

pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<ExtenderServerTls>,
    handler: ExtenderHandler,
    limits: Limits,
) {
    let (tls, handler) = (tls.as_ref(), &Arc::new(handler));
    let refresh = async {
        loop {
            tokio::time::sleep(REFRESH).await;
            tls.iter().for_each(|tls| tls.refresh());
        }
    };
    // Without client certificates all clients have the same loopback address, so it may use all connections.
    let is_mutual = tls.is_some_and(ExtenderServerTls::is_mutual);
    let per_address = if is_mutual { limits.per_address } else { limits.connections };
    let limits = Limits { per_address, ..limits };
    let handle_connection = |stream, slot| connection(stream, slot, tls, handler, limits);
    tokio::select! {
        biased;
        () = refresh => {}
        () = connections::serve("the extender", &listener, limits, handle_connection) => {}
    }
}

async fn connection(
    stream: TcpStream,
    slot: Slot,
    tls: Option<&ExtenderServerTls>,
    handler: &Arc<ExtenderHandler>,
    mut limits: Limits,
) {
    let answer = |request| {
        let handler = Arc::clone(handler);
        async move { handler.answer(request).await }
    };
    let Some(tls) = tls else { return connections::http(stream, limits, answer).await };
    // A failed handshake is the client's problem, so it is only logged at debug level.
    match tokio::time::timeout(limits.handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => {
            // With mutual TLS the handshake fails without a certificate of the right CA, so the client is authenticated.
            if tls.is_mutual() {
                slot.authenticate();
                limits.head = limits.head.max(IDLE_MAX);
            }
            connections::http(stream, limits, answer).await;
        }
        Ok(Err(error)) => tracing::debug!("a client of the extender: {error}"),
        Err(_) => {}
    }
}

impl ExtenderHandler {
    /// Answers one request, even if handling it panics or takes too long.
    pub(crate) async fn answer<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let answer = AssertUnwindSafe(tokio::time::timeout(ANSWER_MAX, self.handle(request)));
        let (code, text) = match answer.catch_unwind().await {
            Ok(Ok(Ok(text))) => (StatusCode::OK, text),
            Ok(Ok(Err(failure))) => failure,
            Ok(Err(_)) => (StatusCode::SERVICE_UNAVAILABLE, "no answer in time".to_owned()),
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "a fault in the extender".to_owned()),
        };
        if code != StatusCode::OK {
            tracing::debug!("the extender answers {code}: {text}");
        }
        let kind = if code == StatusCode::OK { "application/json" } else { "text/plain" };
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = code;
        response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
        response
    }

    async fn handle<B>(&self, request: Request<B>) -> Result<String, Failure>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let verb = match request.uri().path() {
            "/filter" => Verb::Filter,
            "/prioritize" => Verb::Prioritize,
            "/preempt" => Verb::Preempt,
            "/bind" => Verb::Bind,
            _ => {
                return Err((
                    StatusCode::NOT_FOUND,
                    "filter, prioritize, preempt and bind are served".into(),
                ));
            }
        };
        if request.method() != Method::POST {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "questions are posted".into()));
        }
        if matches!(verb, Verb::Bind) && !self.is_binding {
            let why = "bind is not served without certificates of clients, unless the daemon is started with --extender-bind";
            return Err((StatusCode::FORBIDDEN, why.into()));
        }
        if !self.validity.is_valid(self.clock.now()) {
            let why = "the Lease of this replica has lapsed: nobody waits for what it sees";
            return Err((StatusCode::SERVICE_UNAVAILABLE, why.into()));
        }
        // The bytes count until the answer is complete, because the question is in memory until then.
        let body = self.bodies.read(request.into_body()).await?;
        let text =
            std::str::from_utf8(&body.bytes).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        match verb {
            Verb::Filter | Verb::Prioritize => self.about_nodes(verb, text).await,
            Verb::Preempt => {
                let asked = wire::preemption_args(text).map_err(|error| bad(&error))?;
                let question = Question::Preempt { pod: Arc::new(asked.pod), candidates: asked.candidates };
                match self.ask(question).await? {
                    Reply::Preempted(candidates) => Ok(wire::preemption_result(&candidates)),
                    other => Err(unfit(&other)),
                }
            }
            Verb::Bind => {
                match self.ask(Question::Bind(wire::binding_args(text).map_err(|error| bad(&error))?)).await?
                {
                    Reply::Bound(outcome) => Ok(wire::binding_result(outcome.err().as_deref().unwrap_or(""))),
                    other => Err(unfit(&other)),
                }
            }
        }
    }

    async fn about_nodes(&self, verb: Verb, text: &str) -> Result<String, Failure> {
        let wire::ExtenderArgs { pod, nodes } = wire::args(text).map_err(|error| bad(&error))?;
        let (pod, names) = (Arc::new(pod), nodes.names());
        let question = match verb {
            Verb::Prioritize => Question::Prioritize { pod, nodes: names },
            _ => Question::Filter { pod, nodes: names },
        };
        match self.ask(question).await? {
            Reply::Filtered(refused) => Ok(wire::filter_result(&nodes, &refused)),
            Reply::Prioritized(scores) => Ok(wire::priority_list(&scores)),
            other => Err(unfit(&other)),
        }
    }

    async fn ask(&self, question: Question) -> Result<Reply, Failure> {
        let unavailable = |why: &str| (StatusCode::SERVICE_UNAVAILABLE, why.to_owned());
        let mut pending = self.replies.open();
        let input = Input::Question { id: pending.id, question: Box::new(question) };
        self.inputs.send(input).await.map_err(|_| unavailable("the daemon stops"))?;
        match pending.wait().await {
            Some(Reply::Unavailable(why)) => Err(unavailable(why)),
            Some(reply) => Ok(reply),
            None => Err(unavailable("the daemon stops")),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Filter,
    Prioritize,
    Preempt,
    Bind,
}

fn bad(error: &common::api::DecodeError) -> Failure {
    (StatusCode::BAD_REQUEST, chain(error))
}

/// A reply to another kind of question. It cannot happen, and must not look like a success.
fn unfit(_reply: &Reply) -> Failure {
    (StatusCode::INTERNAL_SERVER_ERROR, "a fault in the extender".to_owned())
}
