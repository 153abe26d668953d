//! A client for tests whose API server gives prepared answers, also such as a healthy API server never gives.

use http::{Request, Response, StatusCode};
use kube::client::Body;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

/// The status code and the body of one answer.
pub(crate) type ScriptedAnswer = (u16, String);

/// The URIs of all requests, in order.
pub(crate) type RequestLog = Arc<Mutex<Vec<http::Uri>>>;

/// A client whose server gives `answers` one after the other. Later requests are never answered.
pub(crate) fn scripted_client(
    answers: impl IntoIterator<Item = ScriptedAnswer>,
) -> (kube::Client, RequestLog) {
    let answers = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<ScriptedAnswer>>()));
    let requests = RequestLog::default();
    let log = Arc::clone(&requests);
    let service = tower::service_fn(move |request: Request<Body>| {
        log.lock().unwrap().push(request.uri().clone());
        let answer = answers.lock().unwrap().pop_front();
        async move {
            let Some((code, text)) = answer else { std::future::pending().await };
            let response = Response::builder().status(StatusCode::from_u16(code).unwrap());
            Ok::<_, Infallible>(response.body(Body::from(text.into_bytes())).unwrap())
        }
    });
    (kube::Client::new(service, "default"), requests)
}
