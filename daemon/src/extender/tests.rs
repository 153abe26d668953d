//! The server alone: every request gets an answer, and no error looks like "no node".
#![expect(clippy::disallowed_methods, reason = "a test sees its own tasks")]

mod asking;
mod crowd;
mod mutual;
mod victims;

use super::bodies::Bodies;
use super::replies::Replies;
use super::serve::ExtenderHandler;
use crate::clock::Clock;
use crate::extender_logic::{Question, Reply};
use crate::lease::replica::LeaseValidity;
use crate::state::Input;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc;

const FILTER: &str = r#"{"Pod":{"metadata":{"name":"p","namespace":"d","uid":"u"}},"NodeNames":["a","b"]}"#;

/// A handler, and the questions that it sends to the loop.
fn handler(validity: LeaseValidity) -> (ExtenderHandler, mpsc::Receiver<Input>) {
    let (inputs, questions) = mpsc::channel(8);
    let handler = ExtenderHandler {
        inputs,
        replies: Replies::default(),
        validity,
        clock: Clock::start(),
        bodies: Bodies::default(),
        is_binding: true,
    };
    (handler, questions)
}

/// Answers every question as an ExtenderLogic without reservations would, but refuses node `b`.
async fn answers(mut questions: mpsc::Receiver<Input>, replies: Replies) {
    while let Some(Input::Question { id, question }) = questions.recv().await {
        let reply = match *question {
            Question::Filter { nodes, .. } => {
                let b = nodes.into_iter().filter(|node| node.as_str() == "b");
                Reply::Filtered(b.map(|node| (node, "Insufficient cpu".to_owned())).collect())
            }
            Question::Prioritize { nodes, .. } => {
                Reply::Prioritized(nodes.into_iter().map(|node| (node, 0)).collect())
            }
            Question::Preempt { candidates, .. } => Reply::Preempted(candidates),
            Question::Bind(_) => Reply::Bound(Err("no".to_owned())),
        };
        replies.answer(id, reply);
    }
}

async fn send(handler: &ExtenderHandler, method: Method, path: &str, body: &str) -> (StatusCode, String) {
    let body = Full::new(Bytes::from(body.to_owned()));
    let request = Request::builder().method(method).uri(path).body(body).unwrap();
    let response = handler.answer(request).await;
    let code = response.status();
    let text = response.into_body().collect().await.unwrap().to_bytes();
    (code, String::from_utf8(text.to_vec()).unwrap())
}

#[tokio::test]
async fn each_verb_is_answered_in_go_s_words() {
    let (handler, questions) = handler(LeaseValidity::for_ever());
    tokio::spawn(answers(questions, handler.replies.clone()));
    let pod = r#""Pod":{"metadata":{"name":"p","namespace":"d","uid":"u"}}"#;
    let cases = [
        (
            "/filter",
            FILTER.to_owned(),
            json!({"Nodes": null, "NodeNames": ["a"], "FailedNodes": {}, "FailedAndUnresolvableNodes": {"b": "Insufficient cpu"}, "Error": ""}),
        ),
        (
            "/filter",
            format!(r#"{{{pod},"Nodes":{{"items":[{{"metadata":{{"name":"a"}}}}]}}}}"#),
            json!({"Nodes": {"metadata": {}, "items": [{"metadata": {"name": "a"}}]}, "NodeNames": null, "FailedNodes": {}, "FailedAndUnresolvableNodes": {}, "Error": ""}),
        ),
        ("/prioritize", FILTER.to_owned(), json!([{"Host": "a", "Score": 0}, {"Host": "b", "Score": 0}])),
        (
            "/preempt",
            format!(
                r#"{{{pod},"NodeNameToMetaVictims":{{"a":{{"Pods":[{{"UID":"v"}}],"NumPDBViolations":2}}}}}}"#
            ),
            json!({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "v"}], "NumPDBViolations": 2}}}),
        ),
        (
            "/bind",
            r#"{"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"a"}"#.to_owned(),
            json!({"Error": "no"}),
        ),
    ];
    for (path, body, expected) in cases {
        let (code, text) = send(&handler, Method::POST, path, &body).await;
        assert_eq!(
            (code, serde_json::from_str::<Value>(&text).unwrap()),
            (StatusCode::OK, expected),
            "{path}"
        );
    }
}

#[tokio::test]
async fn whatever_is_odd_is_an_error_and_never_an_empty_success() {
    let (handler, questions) = handler(LeaseValidity::for_ever());
    tokio::spawn(answers(questions, handler.replies.clone()));
    let deep = format!(r#"{{"Pod":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    let bodies = [
        "",
        "{}",
        "null",
        "[]",
        "7",
        "\"\"",
        "{\"Pod\":null}",
        r#"{"Pod":{}}"#,
        r#"{"NodeNames":["a"]}"#,
        "\0",
        "{",
        r#"{"Pod":{"metadata":{"name":"p"}},"NodeNames":null}"#,
        r#"{"Pod":{"metadata":{"name":7}},"NodeNames":[]}"#,
        r#"{"Pod":{"metadata":{"name":"p"},"spec":7},"NodeNames":["a"]}"#,
        &deep,
    ];
    for verb in ["/filter", "/prioritize", "/preempt", "/bind"] {
        for body in bodies {
            let (code, text) = send(&handler, Method::POST, verb, body).await;
            assert!(code.is_client_error(), "{verb} {body:.60}: {code} {text:.200}");
            assert!(text.len() < 1000, "{} bytes back", text.len());
        }
        assert_eq!(send(&handler, Method::GET, verb, "").await.0, StatusCode::METHOD_NOT_ALLOWED);
    }
    for path in ["/", "/filter/", "//filter", "/metrics", "/FILTER", "/filter%2e"] {
        assert_eq!(send(&handler, Method::POST, path, FILTER).await.0, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_nobody_counts_on_or_that_cannot_say_fails() {
    let (lapsed, _questions) = handler(LeaseValidity::default());
    assert_eq!(send(&lapsed, Method::POST, "/filter", FILTER).await.0, StatusCode::SERVICE_UNAVAILABLE);
    let (stopping, questions) = handler(LeaseValidity::for_ever());
    drop(questions);
    assert_eq!(send(&stopping, Method::POST, "/filter", FILTER).await.0, StatusCode::SERVICE_UNAVAILABLE);
    let (busy, _questions) = handler(LeaseValidity::for_ever());
    let started = tokio::time::Instant::now();
    assert_eq!(send(&busy, Method::POST, "/filter", FILTER).await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert!(started.elapsed() < Duration::from_secs(5), "before kube-scheduler gives up");
    let (unready, mut questions) = handler(LeaseValidity::for_ever());
    let replies = unready.replies.clone();
    tokio::spawn(async move {
        if let Some(Input::Question { id, .. }) = questions.recv().await {
            replies.answer(id, Reply::Unavailable("not everything has been listed yet"));
        }
    });
    let (code, text) = send(&unready, Method::POST, "/filter", FILTER).await;
    assert_eq!(
        (code, text.as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, "not everything has been listed yet")
    );
}

#[tokio::test]
async fn an_answer_to_another_question_is_a_fault() {
    let (handler, mut questions) = handler(LeaseValidity::for_ever());
    let replies = handler.replies.clone();
    tokio::spawn(async move {
        if let Some(Input::Question { id, .. }) = questions.recv().await {
            replies.answer(id + 1, Reply::Bound(Ok(())));
            replies.answer(id, Reply::Bound(Ok(())));
        }
    });
    let (code, _) = send(&handler, Method::POST, "/filter", FILTER).await;
    assert_eq!(code, StatusCode::INTERNAL_SERVER_ERROR);
}
