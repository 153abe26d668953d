//! The outcome of each write, for each answer or failure of an API server or of the network.

use super::Effects;
use crate::state::{BindingOutcome, Effect, Eviction, EvictionOutcome, Input};
use crate::testing::{ScriptedAnswer, scripted_client};
use common::api::volume_writes::{node_for_claim, volume_for_claim};
use common::model::storage::ClaimRef;
use common::model::{ObjectWrite, PodKey};
use serde_json::json;

const EPOCH: jiff::Timestamp = jiff::Timestamp::UNIX_EPOCH;
const UID: &str = "11111111-0000-4000-8000-000000000001";
const OTHER: &str = "22222222-0000-4000-8000-000000000002";

/// The outcome of a binding, or of reading the pod, with these answers, and the number of calls.
async fn outcome(
    effect: Effect,
    answers: impl IntoIterator<Item = ScriptedAnswer>,
) -> (BindingOutcome, usize) {
    let (client, asked) = scripted_client(answers);
    let Some(Input::Binding { outcome, .. }) = Effects::new(client, "test".into()).run(effect, EPOCH).await
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

fn status(code: u16) -> ScriptedAnswer {
    let json = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
                       "reason": "Some", "message": "because" });
    (code, json.to_string())
}

/// The answer of an API server to a patch that would change an immutable field.
fn immutable(field: &str) -> ScriptedAnswer {
    let cause = json!({ "reason": "FieldValueInvalid", "message": "Invalid value: field is immutable", "field": field });
    let json = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 422,
                       "reason": "Invalid", "message": "because", "details": { "name": "low", "causes": [cause] } });
    (422, json.to_string())
}

fn pod(uid: &str, node: Option<&str>) -> ScriptedAnswer {
    let json = json!({ "metadata": { "name": "web-1", "uid": uid }, "spec": { "nodeName": node, "containers": [] } });
    (200, json.to_string())
}

#[tokio::test(start_paused = true)]
async fn only_a_success_is_one_and_only_a_refusal_is_one() {
    let created =
        json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
    assert_eq!(outcome(bind(), [(201, created.to_string())]).await, (BindingOutcome::Bound, 1));
    for code in [400, 403, 422] {
        let refused = BindingOutcome::Refused { why: "because".into() };
        assert_eq!(outcome(bind(), [status(code)]).await, (refused, 1), "{code}");
    }
    assert_eq!(outcome(bind(), [status(404)]).await, (BindingOutcome::Lost, 1));
}

#[tokio::test(start_paused = true)]
async fn whatever_may_have_happened_is_unknown_and_not_tried_twice() {
    for code in [408, 409, 429, 500, 503, 504] {
        assert_eq!(outcome(bind(), [status(code)]).await, (BindingOutcome::Unknown, 1), "{code}");
    }
    let proxy = (200, "<html>".to_owned());
    assert_eq!(outcome(bind(), [proxy]).await, (BindingOutcome::Unknown, 1), "an answer that is none");
    assert_eq!(outcome(bind(), []).await, (BindingOutcome::Unknown, 1), "no answer");
}

#[tokio::test(start_paused = true)]
async fn a_look_at_the_pod_decides() {
    assert_eq!(outcome(find(), [pod(UID, Some("n1"))]).await.0, BindingOutcome::Bound);
    assert_eq!(
        outcome(find(), [pod(UID, Some("n2"))]).await.0,
        BindingOutcome::Lost,
        "somebody else bound it"
    );
    assert_eq!(
        outcome(find(), [pod(OTHER, Some("n1"))]).await.0,
        BindingOutcome::Lost,
        "another pod of that name"
    );
    assert_eq!(outcome(find(), [status(404)]).await.0, BindingOutcome::Lost);
    assert!(matches!(outcome(find(), [pod(UID, None)]).await.0, BindingOutcome::Refused { .. }));
}

#[tokio::test(start_paused = true)]
async fn it_looks_until_there_is_an_answer() {
    let answers = [status(500), status(403), (200, "<html>".into()), status(429), pod(UID, Some("n1"))];
    assert_eq!(outcome(find(), answers).await, (BindingOutcome::Bound, 5));
}

fn eviction() -> Box<Eviction> {
    Box::new(Eviction {
        victim: PodKey::new("default", "low"),
        victim_uid: UID.into(),
        generation: 1,
        since: EPOCH,
        preemptor: PodKey::new("default", "high"),
        preemptor_uid: OTHER.into(),
        scheduler_name: "s".into(),
        node: "n1".into(),
    })
}

async fn evicted(answers: impl IntoIterator<Item = ScriptedAnswer>) -> (EvictionOutcome, Vec<String>) {
    let (client, asked) = scripted_client(answers);
    let answer = Effects::new(client, "test".into()).run(Effect::Evict(eviction()), EPOCH).await;
    let Some(Input::Evicted { outcome, .. }) = answer else { panic!("{answer:?}") };
    let asked = asked.lock().unwrap().iter().map(|uri| uri.path().to_owned()).collect();
    (outcome, asked)
}

#[tokio::test(start_paused = true)]
async fn a_victim_is_told_and_then_deleted() {
    let (told, deleted) =
        ("/api/v1/namespaces/default/pods/low/status", "/api/v1/namespaces/default/pods/low");
    let done = || pod(UID, Some("n1"));
    assert_eq!(evicted([done(), done()]).await, (EvictionOutcome::Begun, vec![told.into(), deleted.into()]));
    for gone in [404, 409] {
        assert_eq!(evicted([status(gone)]).await, (EvictionOutcome::Gone, vec![told.into()]), "{gone}");
        assert_eq!(evicted([done(), status(gone)]).await.0, EvictionOutcome::Gone, "{gone}");
    }
    assert_eq!(
        evicted([immutable("metadata.uid")]).await,
        (EvictionOutcome::Gone, vec![told.into()]),
        "another one"
    );
    assert!(
        matches!(evicted([immutable("spec")]).await.0, EvictionOutcome::Failed { .. }),
        "a 422 about something else"
    );
    for failed in [403, 422, 500] {
        assert!(matches!(evicted([status(failed)]).await.0, EvictionOutcome::Failed { .. }), "{failed}");
        assert!(
            matches!(evicted([done(), status(failed)]).await.0, EvictionOutcome::Failed { .. }),
            "{failed}"
        );
    }
    assert!(matches!(evicted([done()]).await.0, EvictionOutcome::Failed { .. }), "no answer");
}

fn versioned(version: &str) -> ScriptedAnswer {
    (200, json!({ "metadata": { "name": "x", "resourceVersion": version }, "spec": {} }).to_string())
}

async fn bound_volumes(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Result<Vec<u64>, String> {
    let claim = ClaimRef { namespace: "default".into(), name: "c".into(), uid: Some(OTHER.into()) };
    let writes = vec![volume_for_claim("v", 3, &claim, 4, true), node_for_claim(&claim, 4, &"n1".into())];
    let (client, asked) = scripted_client(answers);
    let effect =
        Effect::WriteObjects { pod: PodKey::new("default", "web-1"), uid: UID.into(), id: 7, writes };
    let answer = Effects::new(client, "test".into()).run(effect, EPOCH).await;
    let Some(Input::ObjectsWritten { outcome, id: 7, .. }) = answer else { panic!("{answer:?}") };
    let paths = ["/api/v1/persistentvolumes/v", "/api/v1/namespaces/default/persistentvolumeclaims/c"];
    let asked: Vec<String> = asked.lock().unwrap().iter().map(|uri| uri.path().to_owned()).collect();
    assert_eq!(asked, paths[..asked.len()]);
    outcome
}

#[tokio::test(start_paused = true)]
async fn volumes_are_written_one_after_the_other() {
    assert_eq!(bound_volumes([versioned("5"), versioned("6")]).await, Ok(vec![5, 6]));
    assert_eq!(bound_volumes([status(409)]).await, Err("because".into()), "another version is there by now");
    assert_eq!(bound_volumes([versioned("5"), status(404)]).await, Err("because".into()));
    assert!(bound_volumes([]).await.is_err(), "no answer");
}

#[tokio::test(start_paused = true)]
async fn a_status_is_written_by_its_subresource() {
    let claim = ClaimRef { namespace: "default".into(), name: "c".into(), uid: Some(OTHER.into()) };
    let write = ObjectWrite { is_status: true, ..node_for_claim(&claim, 4, &"n1".into()) };
    let (client, asked) = scripted_client([versioned("5")]);
    let (pod, uid, writes) = (PodKey::new("default", "web-1"), UID.into(), vec![write]);
    Effects::new(client, "test".into()).run(Effect::WriteObjects { pod, uid, id: 7, writes }, EPOCH).await;
    let path = "/api/v1/namespaces/default/persistentvolumeclaims/c/status";
    assert_eq!(asked.lock().unwrap()[0].path(), path);
}

#[tokio::test(start_paused = true)]
async fn a_nomination_comes_back_with_the_version_that_says_so() {
    let nominate = || Effect::Nominate { pod: PodKey::new("default", "web-1"), uid: UID.into(), node: None };
    let table = [(versioned("5"), Some(5)), (status(404), None), (status(500), None)];
    for (answer, version) in table {
        let (client, _) = scripted_client([answer]);
        let answer = Effects::new(client, "test".into()).run(nominate(), EPOCH).await;
        assert_eq!(answer, Some(Input::Nominated { uid: UID.into(), version }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_told_again_when_nobody_knows_whether_it_was() {
    let told = async |answers: Vec<ScriptedAnswer>| {
        let (client, asked) = scripted_client(answers);
        let effect = Effect::Condition {
            pod: PodKey::new("default", "web-1"),
            uid: UID.into(),
            generation: 1,
            reason: "Unschedulable",
            message: "no place".into(),
            since: None,
            nomination: crate::state::Nomination::Keep,
        };
        Effects::new(client, "test".into()).run(effect, EPOCH).await;
        asked.lock().unwrap().len()
    };
    assert_eq!(told(vec![versioned("5")]).await, 1);
    assert_eq!(told(vec![status(503), status(429), versioned("5")]).await, 3);
    assert_eq!(told(vec![status(403)]).await, 1, "for certain");
    assert_eq!(told(vec![status(500); 9]).await, 4, "and then at its next try");
}
