//! What a binding comes to, for every answer that an API server or the way to it can give.

use super::Effects;
use crate::state::{Binding, Effect, Input};
use crate::testing::{Answer, scripted};
use common::model::PodKey;
use serde_json::json;

const UID: &str = "11111111-0000-4000-8000-000000000001";
const OTHER: &str = "22222222-0000-4000-8000-000000000002";

/// The outcome of a binding, or of a look at the pod, given these answers, and how many calls it took.
async fn outcome(effect: Effect, answers: impl IntoIterator<Item = Answer>) -> (Binding, usize) {
    let (client, asked) = scripted(answers);
    let Some(Input::Binding { outcome, .. }) =
        Effects::new(client, "test".into()).run(effect, jiff::Timestamp::UNIX_EPOCH).await
    else {
        panic!("a binding always has an answer")
    };
    let calls = asked.lock().unwrap().len();
    (outcome, calls)
}

fn bind() -> Effect {
    let pod = PodKey::new("default", "web-1");
    Effect::Bind { pod, uid: UID.into(), node: "n1".into(), seat: None }
}

fn find() -> Effect {
    let pod = PodKey::new("default", "web-1");
    Effect::Find { pod, uid: UID.into(), node: "n1".into() }
}

fn status(code: u16) -> Answer {
    let json = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
                       "reason": "Some", "message": "because" });
    (code, json.to_string())
}

fn pod(uid: &str, node: Option<&str>) -> Answer {
    let json = json!({ "metadata": { "name": "web-1", "uid": uid }, "spec": { "nodeName": node, "containers": [] } });
    (200, json.to_string())
}

#[tokio::test(start_paused = true)]
async fn only_a_success_is_one_and_only_a_refusal_is_one() {
    let created =
        json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
    assert_eq!(outcome(bind(), [(201, created.to_string())]).await, (Binding::Bound, 1));
    for code in [400, 403, 422] {
        let refused = Binding::Refused { why: "because".into() };
        assert_eq!(outcome(bind(), [status(code)]).await, (refused, 1), "{code}");
    }
    assert_eq!(outcome(bind(), [status(404)]).await, (Binding::Lost, 1));
}

#[tokio::test(start_paused = true)]
async fn whatever_may_have_happened_is_unknown_and_not_tried_twice() {
    for code in [408, 409, 429, 500, 503, 504] {
        assert_eq!(outcome(bind(), [status(code)]).await, (Binding::Unknown, 1), "{code}");
    }
    let proxy = (200, "<html>".to_owned());
    assert_eq!(outcome(bind(), [proxy]).await, (Binding::Unknown, 1), "an answer that is none");
    assert_eq!(outcome(bind(), []).await, (Binding::Unknown, 1), "no answer");
}

#[tokio::test(start_paused = true)]
async fn a_look_at_the_pod_decides() {
    assert_eq!(outcome(find(), [pod(UID, Some("n1"))]).await.0, Binding::Bound);
    assert_eq!(outcome(find(), [pod(UID, Some("n2"))]).await.0, Binding::Lost, "somebody else bound it");
    assert_eq!(outcome(find(), [pod(OTHER, Some("n1"))]).await.0, Binding::Lost, "another pod of that name");
    assert_eq!(outcome(find(), [status(404)]).await.0, Binding::Lost);
    assert!(matches!(outcome(find(), [pod(UID, None)]).await.0, Binding::Refused { .. }));
}

#[tokio::test(start_paused = true)]
async fn it_looks_until_there_is_an_answer() {
    let answers = [status(500), status(403), (200, "<html>".into()), status(429), pod(UID, Some("n1"))];
    assert_eq!(outcome(find(), answers).await, (Binding::Bound, 5));
}
