//! Keeping the room without any right on nodes: the pod wishes it (`reserve/keep`), and the daemon says when it is so.

use super::owners::pod_path;
use super::target::Target;
use crate::api::{self as calls, ApiError, JSON, JSON_PATCH, MERGE_PATCH};
use crate::connect::Session;
use crate::flow::keep::is_wished;
use crate::flow::recreate::{Answer, Why};
use crate::names::escaped;
use common::api::names::{ANSWERS, KEEP};
use common::model::keep::Keep;
use common::model::{Pod, Uid};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// A wish of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wish {
    /// Under which name we wish it; none if we do not, or the pod does so by itself and we may not alter that.
    by: Option<String>,
    /// What the annotation was before; none if there was none.
    before: Option<String>,
    /// What it is with ours.
    text: String,
    /// Whether it was taken back, or may have been.
    is_taken_back: bool,
}

impl Wish {
    /// One that is about to be written, or again: `chance` tells it from all others. Once taken back it is another one, so that
    /// what was said to the first is no answer to the second.
    fn begin(&mut self, target: &Value, life: Duration, chance: u64) {
        if self.by.is_some() && !self.is_taken_back {
            return;
        }
        let by = format!("{chance:016x}");
        *self = Self {
            text: Keep::wished_by(life, &by),
            by: Some(by),
            // That of another run is its own to take back; put back by us, it would stay for ever.
            before: wished(target).filter(|text| !is_of_a_run(text)).map(str::to_owned),
            is_taken_back: false,
        };
    }

    /// Whether this is what was said to it.
    fn is_answered_by(&self, event: &EventWire) -> bool {
        self.by.as_ref() == event.metadata.annotations.get(ANSWERS)
    }

    /// Whether it is what the pod says: another run may have put its own in its place.
    pub(super) fn is_said_by(&self, pod: &Pod) -> bool {
        let by = pod.keep().and_then(Keep::by);
        is_wished(pod) && by.map(|by| &**by) == self.by.as_deref()
    }
}

/// Whether that is the wish of a run of the command.
pub(super) fn is_of_a_run(wish: &str) -> bool {
    Keep::read(wish).is_some_and(|keep| keep.by().is_some())
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct EventWire {
    metadata: MetadataWire,
    reason: String,
    message: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct MetadataWire {
    annotations: BTreeMap<String, String>,
}

/// Lets the pod wish that its room be kept for so long.
pub(super) async fn make(session: &Session, target: &Target, wish: &mut Wish, life: Duration) -> Answer {
    wish.begin(&target.json, life, fastrand::u64(..));
    let patch =
        json!({ "metadata": { "uid": target.pod.uid.to_string(), "annotations": { KEEP: wish.text } } });
    match patched(session, target, MERGE_PATCH, &patch).await {
        Ok(()) => Answer::Reserved { version: 0, until: None },
        // Where the pod wishes it by itself, that is as good.
        Err(ApiError::Refused(refused)) if refused.code == 403 && Wish::default().is_said_by(&target.pod) => {
            *wish = Wish::default();
            Answer::Reserved { version: 0, until: None }
        }
        Err(error) => failed(target, error),
    }
}

/// Takes a wish of ours back, and leaves that of anybody else: what is not wished any more the daemon releases.
pub(super) async fn unmake(session: &Session, target: &Target, wish: &mut Wish) -> Answer {
    if wish.by.is_none() {
        return Answer::Released;
    }
    wish.is_taken_back = true;
    match patched(session, target, JSON_PATCH, &taken_back(&target.pod.uid, wish)).await {
        Ok(()) => Answer::Released,
        Err(ApiError::Refused(refused)) if matches!(refused.code, 403 | 404 | 409 | 422) => {
            match is_ours(session, target, wish).await {
                Ok(false) => Answer::Released,
                Ok(true) if refused.code == 403 => failed(target, ApiError::Refused(refused)),
                Ok(true) => Answer::Lost(refused.message),
                Err(error) => failed(target, error),
            }
        }
        Err(error) => failed(target, error),
    }
}

/// Whether the pod still says what we wrote. With one that is gone its wish went, too.
async fn is_ours(session: &Session, target: &Target, wish: &Wish) -> Result<bool, ApiError> {
    match calls::get(session, &pod_path(&target.pod.key), JSON).await {
        Ok(answer) => {
            let json: Value =
                serde_json::from_str(&answer.text).map_err(|error| ApiError::Broken(error.to_string()))?;
            let uid = json.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
            Ok(uid == target.pod.uid.to_string() && wished(&json) == Some(&wish.text))
        }
        Err(error) if error.code() == Some(404) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What the annotation of the pod says.
fn wished(pod: &Value) -> Option<&str> {
    pod.pointer("/metadata/annotations")?.get(KEEP)?.as_str()
}

/// What the annotation was before, if it is as we wrote it.
fn taken_back(uid: &Uid, wish: &Wish) -> Value {
    let path = format!("/metadata/annotations/{}", KEEP.replace('/', "~1"));
    let change = match &wish.before {
        Some(before) => json!({ "op": "replace", "path": path, "value": before }),
        None => json!({ "op": "remove", "path": path }),
    };
    let is_that = json!({ "op": "test", "path": "/metadata/uid", "value": uid.to_string() });
    json!([is_that, { "op": "test", "path": path, "value": wish.text }, change])
}

async fn patched(session: &Session, target: &Target, kind: &str, patch: &Value) -> Result<(), ApiError> {
    let path = pod_path(&target.pod.key);
    calls::write(session, Method::PATCH, &path, kind, patch.to_string()).await.map(drop)
}

fn failed(target: &Target, error: ApiError) -> Answer {
    match error {
        ApiError::Broken(why) => Answer::Lost(why),
        ApiError::Refused(refused) if refused.code == 403 => Answer::Failed(Why::Forbidden {
            message: refused.message,
            needs: format!("patch pods in namespace {}", target.pod.key.namespace),
        }),
        ApiError::Refused(refused) if refused.code == 429 || refused.code >= 500 => {
            Answer::Lost(refused.message)
        }
        ApiError::Refused(refused) => Answer::Failed(Why::Failed(refused.message)),
    }
}

/// Whether the daemon has said that the room is reserved, or that it will not be.
pub(super) async fn heard(session: &Session, target: &Target, wish: &Wish) -> Answer {
    let key = &target.pod.key;
    let fields = escaped(&format!("involvedObject.uid={}", target.pod.uid));
    let mut answer = Answer::NotSeen(vec!["the daemon".into()]);
    let each = |json: &str| {
        let event: EventWire = serde_json::from_str(json).unwrap_or_default();
        match &*event.reason {
            "Reserved" if wish.is_answered_by(&event) => answer = Answer::Seen { replicas: 0 },
            "NotReserved" if wish.is_answered_by(&event) && !matches!(answer, Answer::Seen { .. }) => {
                answer = Answer::Denied(event.message);
            }
            _ => {}
        }
        Ok(())
    };
    let path = format!("/api/v1/namespaces/{}/events", key.namespace);
    match calls::list(session, &path, &format!("fieldSelector={fields}"), JSON, each).await {
        Ok(_) => answer,
        Err(ApiError::Broken(why)) => Answer::Lost(why),
        Err(ApiError::Refused(refused)) if refused.code == 403 => Answer::Failed(Why::Forbidden {
            message: refused.message,
            needs: format!("list events in namespace {}", key.namespace),
        }),
        Err(error) => failed(target, error),
    }
}

#[cfg(test)]
mod tests {
    use super::{EventWire, Wish, taken_back};
    use serde_json::{Value, json};
    use std::time::Duration;

    fn pod(annotations: &Value) -> Value {
        json!({ "metadata": { "name": "p", "annotations": annotations } })
    }

    fn wish(annotations: &Value) -> Wish {
        let mut wish = Wish::default();
        wish.begin(&pod(annotations), Duration::from_secs(90), 1);
        wish
    }

    #[test]
    fn what_was_there_before_is_put_back_and_only_where_ours_is() {
        let ours = "90s#0000000000000001";
        let path = "/metadata/annotations/reserve~1keep";
        let steps = |annotations: Value| taken_back(&"u".into(), &wish(&annotations));
        let uid = json!({ "op": "test", "path": "/metadata/uid", "value": "u" });
        let test = json!({ "op": "test", "path": path, "value": ours });
        let removed = json!({ "op": "remove", "path": path });
        assert_eq!(steps(json!({})), json!([uid, test, removed]));
        let before = json!({ "op": "replace", "path": path, "value": "true" });
        assert_eq!(steps(json!({ "reserve/keep": "true" })), json!([uid, test, before]));
        let of_another_run = json!({ "reserve/keep": "600s#a1" });
        assert_eq!(steps(of_another_run), json!([uid, test, removed]), "who takes that back?");
    }

    #[test]
    fn what_was_said_to_another_wish_is_no_answer_to_this_one() {
        let said = |annotations: Value| -> EventWire {
            let event = json!({ "reason": "Reserved", "metadata": { "annotations": annotations } });
            serde_json::from_value(event).unwrap()
        };
        let to = |whom: &str| said(json!({ "reserve/answers": whom }));
        let mut wish = wish(&json!({}));
        assert!(wish.is_answered_by(&to("0000000000000001")));
        assert!(!wish.is_answered_by(&said(json!({}))));
        // Without an answer it is written again, and is the same.
        wish.begin(&pod(&json!({})), Duration::from_secs(90), 2);
        assert!(wish.is_answered_by(&to("0000000000000001")));
        wish.is_taken_back = true;
        wish.begin(&pod(&json!({})), Duration::from_secs(90), 3);
        assert!(!wish.is_answered_by(&to("0000000000000001")), "that was said to the first");
        assert!(wish.is_answered_by(&to("0000000000000003")));
        assert!(
            Wish::default().is_answered_by(&said(json!({}))),
            "a pod that wishes it by itself was told once"
        );
    }

    #[test]
    fn what_another_run_wishes_is_not_counted_on() {
        let pod = |keep: &str| {
            let json = json!({ "metadata": { "name": "p", "namespace": "default", "uid": "p",
                "resourceVersion": "7", "annotations": { "reserve/keep": keep } }, "spec": { "containers": [] } });
            common::api::pod::pod(&json.to_string()).unwrap()
        };
        let ours = wish(&json!({}));
        assert!(ours.is_said_by(&pod("90s#0000000000000001")));
        assert!(!ours.is_said_by(&pod("90s#0000000000000002")), "that of another run");
        assert!(!ours.is_said_by(&pod("true")), "the pod's own");
        assert!(Wish::default().is_said_by(&pod("true")));
        assert!(!Wish::default().is_said_by(&pod("90s#0000000000000002")));
    }
}
