//! The API as a tower service, for clients in this process and for HTTP. Entry point: [`Api`].

mod discovery;
mod render;
mod request;
mod table;
mod verbs;
mod watch;

use crate::api::State;
use crate::refusal::{Answer, Refusal};
use bytes::Bytes;
use futures::StreamExt;
use futures::future::BoxFuture;
use http::header::{ALLOW, CONTENT_TYPE, DATE, RETRY_AFTER};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Body, Frame};
use jiff::Timestamp;
use render::date;
use request::{Form, Query, Target};
use serde_json::Value;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower::Service;

/// Returns the current time.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

pub type AnswerBody = UnsyncBoxBody<Bytes, Infallible>;

/// The state behind a mutex, and the clock.
#[derive(Clone)]
pub(crate) struct Shared {
    state: Arc<Mutex<State>>,
    clock: Clock,
}

impl Shared {
    pub(crate) fn new(state: State, clock: Clock) -> Self {
        Self { state: Arc::new(Mutex::new(state)), clock }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Locks the state, sets its time to now, and calls `act`.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.now = self.now();
        act(&mut state)
    }
}

/// The API as a tower service. Clones share it.
#[derive(Clone)]
pub struct Api(pub(crate) Shared);

impl<B> Service<Request<B>> for Api
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Debug,
{
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let shared = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let answer = match body.collect().await {
                Ok(body) => answer(&shared, &parts, &body.to_bytes()),
                Err(error) => Err(Refusal::bad_request(format!("read the request: {error:?}"))),
            };
            Ok(answer.unwrap_or_else(|refusal| refused(&shared, &refusal)))
        })
    }
}

type ResponseResult = Answer<Response<AnswerBody>>;

fn answer(shared: &Shared, parts: &Parts, body: &Bytes) -> ResponseResult {
    let path = parts.uri.path();
    if matches!(path, "/healthz" | "/livez" | "/readyz") {
        return Ok(text(shared, "ok"));
    }
    let query = Query::parse(parts.uri.query().unwrap_or(""));
    if parts.method == Method::POST
        && let Some(review) = discovery::review(path, &json(parts, body).unwrap_or_default())
    {
        return Ok(respond(shared, StatusCode::CREATED, &review));
    }
    if parts.method == Method::GET
        && let Some(found) = discovery::answer(path)
    {
        return Ok(respond(shared, StatusCode::OK, &found));
    }
    let target = Target::parse(path).ok_or_else(Refusal::no_such_path)?;
    let form = Form::of(&parts.headers).ok_or_else(|| {
        let message = "only the following media types are accepted: application/json, \
                       application/json;as=Table;v=v1;g=meta.k8s.io, application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
        Refusal::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    })?;
    verbs::serve(&verbs::ObjectRequest { shared, parts, body, target: &target, query: &query, form })
}

/// The body as JSON; null if it is empty.
fn json(parts: &Parts, body: &Bytes) -> Answer<Value> {
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("json");
    match body.is_empty() {
        true => Ok(Value::Null),
        false if !kind.contains("json") => Err(Refusal::not_json()),
        false => serde_json::from_slice(body)
            .map_err(|error| Refusal::bad_request(format!("the object provided is unrecognized: {error}"))),
    }
}

fn respond(shared: &Shared, code: StatusCode, value: &Value) -> Response<AnswerBody> {
    let body = Full::from(value.to_string()).boxed_unsync();
    with_head(shared, code, "application/json", body)
}

fn text(shared: &Shared, text: &'static str) -> Response<AnswerBody> {
    with_head(shared, StatusCode::OK, "text/plain; charset=utf-8", Full::from(text).boxed_unsync())
}

fn stream(shared: &Shared, watch: watch::Watch) -> Response<AnswerBody> {
    let lines = watch.lines().map(|line| Ok(Frame::data(line)));
    with_head(shared, StatusCode::OK, "application/json", StreamBody::new(lines).boxed_unsync())
}

fn refused(shared: &Shared, refusal: &Refusal) -> Response<AnswerBody> {
    let mut response = respond(shared, refusal.code, &refusal.to_json());
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    if refusal.code == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, http::HeaderValue::from_static("GET"));
    }
    response
}

fn with_head(
    shared: &Shared,
    code: StatusCode,
    kind: &'static str,
    body: AnswerBody,
) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(kind));
    if let Ok(date) = date(shared.now()).parse() {
        response.headers_mut().insert(DATE, date);
    }
    response
}
