//! An API server that follows a script, for answers that a healthy one never gives.

use http::{Request, Response, StatusCode};
use kube::client::Body;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

/// The status and the text of an answer.
pub(crate) type Answer = (u16, String);

/// The addresses that were asked, in order.
pub(crate) type Asked = Arc<Mutex<Vec<http::Uri>>>;

/// A client whose server gives these answers one after the other, and then never another one.
pub(crate) fn scripted(answers: impl IntoIterator<Item = Answer>) -> (kube::Client, Asked) {
    let answers = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<Answer>>()));
    let asked = Asked::default();
    let log = Arc::clone(&asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        log.lock().unwrap().push(request.uri().clone());
        let answer = answers.lock().unwrap().pop_front();
        async move {
            let Some((code, text)) = answer else { std::future::pending().await };
            let response = Response::builder().status(StatusCode::from_u16(code).unwrap());
            Ok::<_, Infallible>(response.body(Body::from(text.into_bytes())).unwrap())
        }
    });
    (kube::Client::new(service, "default"), asked)
}
