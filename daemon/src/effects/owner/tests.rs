//! The result of reading an owner, for each answer of an API server.

use crate::effects::Effects;
use crate::state::{Effect, Input};
use crate::testing::{ScriptedAnswer, scripted_client};
use common::cluster::{Event, OwnerAnswer};
use common::model::owner::{ForeignClaim, ForeignKind};
use serde_json::json;

const UID: &str = "44444444-0000-4000-8000-000000000001";

fn claim() -> Box<ForeignClaim> {
    let kind = ForeignKind { api_version: "apps.kruise.io/v1alpha1".into(), kind: "CloneSet".into() };
    Box::new(ForeignClaim { uid: UID.into(), namespace: "shop".into(), kind, name: "web".into() })
}

fn kinds(namespaced: bool) -> ScriptedAnswer {
    let kind =
        |name: &str| json!({ "name": name, "kind": "CloneSet", "namespaced": namespaced, "verbs": ["get"] });
    let json = json!({ "kind": "APIResourceList", "groupVersion": "apps.kruise.io/v1alpha1",
                       "resources": [kind("clonesets/status"), kind("clonesets")] });
    (200, json.to_string())
}

fn object() -> ScriptedAnswer {
    let json = json!({ "kind": "PartialObjectMetadata", "metadata": { "name": "web", "namespace": "shop", "uid": UID,
        "annotations": { "reserve/keep": "true" } } });
    (200, json.to_string())
}

fn status(code: u16) -> ScriptedAnswer {
    let json = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
                       "reason": "Some", "message": "because" });
    (code, json.to_string())
}

/// The result of a read, and the URIs of its requests.
async fn read(answers: impl IntoIterator<Item = ScriptedAnswer>) -> (OwnerAnswer, Vec<String>) {
    let (client, asked) = scripted_client(answers);
    let effects = Effects::new(client, "test".into());
    let input = effects.run(Effect::ReadOwner(claim()), jiff::Timestamp::UNIX_EPOCH).await;
    let Some(Input::Cluster(event)) = input else { panic!("a read always has an answer") };
    let Event::OwnerRead(of, answer) = *event else { panic!("{event:?}") };
    assert_eq!(of, claim());
    let asked = asked.lock().unwrap().iter().map(ToString::to_string).collect();
    (answer, asked)
}

#[tokio::test(start_paused = true)]
async fn the_metadata_of_the_object_is_read() {
    let (answer, asked) = read([kinds(true), object()]).await;
    let OwnerAnswer::Found(found) = answer else { panic!("{answer:?}") };
    assert_eq!((found.uid.to_string(), found.keep.is_some()), (UID.to_owned(), true));
    let [kinds, object] = ["/apis/apps.kruise.io/v1alpha1", "/namespaces/shop/clonesets/web"];
    assert_eq!(asked, [kinds.to_owned(), format!("{kinds}{object}")]);
}

#[tokio::test(start_paused = true)]
async fn each_answer_means_what_it_says() {
    assert_eq!(read([kinds(true), status(404)]).await.0, OwnerAnswer::Gone);
    assert_eq!(read([kinds(true), status(500)]).await.0, OwnerAnswer::Unknown);
    assert_eq!(read([kinds(true)]).await.0, OwnerAnswer::Unknown, "no answer");
    assert_eq!(read([status(503)]).await.0, OwnerAnswer::Unknown);
    for (answers, why) in [
        (vec![kinds(true), status(403)], "the daemon may not get clonesets.apps.kruise.io"),
        (vec![status(404)], "does not tell which kinds"),
        (vec![(200, json!({ "resources": [] }).to_string())], "has no CloneSet in apps.kruise.io/v1alpha1"),
        (vec![kinds(false)], "a CloneSet is in no namespace"),
    ] {
        let OwnerAnswer::Refused(said) = read(answers).await.0 else { panic!("{why}") };
        assert!(said.contains(why), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_kind_is_called_is_asked_once() {
    let (client, asked) = scripted_client([kinds(true), object(), object()]);
    let effects = Effects::new(client, "test".into());
    for _ in 0..2 {
        effects.run(Effect::ReadOwner(claim()), jiff::Timestamp::UNIX_EPOCH).await;
    }
    assert_eq!(asked.lock().unwrap().len(), 3);
}
