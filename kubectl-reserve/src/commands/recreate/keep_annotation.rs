//! Keeping the room without any right on nodes: `write` puts `reserve/keep` on the pod, the daemon makes the reservation and
//! answers with an event, which `read_answer` reads; `remove` takes the annotation back.

use super::executor::no_answer;
use super::target::TargetPod;
use crate::api::{self as calls, ApiError, JSON, JSON_PATCH, MERGE_PATCH};
use crate::connect::Session;
use crate::flow::keep::has_keep_annotation;
use crate::flow::recreate::Answer;
use crate::reader::{self, Metadata, PodView, escaped, pod_path};
use common::api::names::{ANSWERS, KEEP};
use common::model::{Keep, Pod, Uid};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// The annotation `reserve/keep` that this run writes to the pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeepRequest {
    /// The random id of the request; `None` if this run has written none, or relies on an annotation that the pod has itself.
    by: Option<String>,
    before: Option<String>,
    /// The annotation that this run writes.
    text: String,
    is_taken_back: bool,
}

impl KeepRequest {
    /// Prepares the annotation before it is written. Repeated writes use the same id. After the annotation was removed it gets a
    /// new id from `random`, so that an answer to the first request does not count for the second.
    fn begin(&mut self, before: Option<&str>, life: Duration, random: u64) {
        if self.by.is_some() && !self.is_taken_back {
            return;
        }
        let by = format!("{random:016x}");
        *self = Self {
            text: Keep::annotation_value(life, &by),
            by: Some(by),
            // The annotation of another run is not restored: nobody would remove it any more.
            before: before.filter(|text| !is_of_a_run(text)).map(str::to_owned),
            is_taken_back: false,
        };
    }

    fn is_answered_by(&self, event: &EventWire) -> bool {
        self.by.as_ref() == event.metadata.annotations.get(ANSWERS)
    }

    /// Whether the pod still has this annotation: another run may have replaced it.
    pub(super) fn is_on(&self, pod: &Pod) -> bool {
        let by = pod.keep().and_then(Keep::requester);
        has_keep_annotation(pod) && by.map(|by| &**by) == self.by.as_deref()
    }
}

/// Whether a value of `reserve/keep` was written by a run of the command.
pub(super) fn is_of_a_run(value: &str) -> bool {
    Keep::read(value).is_some_and(|keep| keep.requester().is_some())
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct EventWire {
    metadata: Metadata,
    reason: String,
    message: String,
}

/// Writes `reserve/keep` to the pod, with this life.
pub(super) async fn write(
    session: &Session,
    target: &TargetPod,
    keep_request: &mut KeepRequest,
    life: Duration,
) -> Answer {
    keep_request.begin(target.pod.keep_text.as_deref(), life, fastrand::u64(..));
    let patch = json!({ "metadata": { "uid": target.pod.uid.to_string(), "annotations": { KEEP: keep_request.text } } });
    match patch_pod(session, target, MERGE_PATCH, &patch).await {
        Ok(()) => Answer::Reserved { version: 0, until: None },
        // The caller may not patch the pod, but the pod has `reserve/keep` itself.
        Err(ApiError::Refused(refused))
            if refused.code == 403 && KeepRequest::default().is_on(&target.pod) =>
        {
            *keep_request = KeepRequest::default();
            Answer::Reserved { version: 0, until: None }
        }
        Err(error) => failed(target, error),
    }
}

/// Removes the annotation of this run, and leaves that of anybody else. The daemon then releases the reservation.
pub(super) async fn remove(session: &Session, target: &TargetPod, keep_request: &mut KeepRequest) -> Answer {
    if keep_request.by.is_none() {
        return Answer::Released;
    }
    keep_request.is_taken_back = true;
    match patch_pod(session, target, JSON_PATCH, &removal_patch(&target.pod.uid, keep_request)).await {
        Ok(()) => Answer::Released,
        Err(ApiError::Refused(refused)) if matches!(refused.code, 403 | 404 | 409 | 422) => {
            match is_ours(session, target, keep_request).await {
                Ok(false) => Answer::Released,
                Ok(true) if refused.code == 403 => failed(target, ApiError::Refused(refused)),
                Ok(true) => Answer::Lost(refused.message),
                Err(error) => failed(target, error),
            }
        }
        Err(error) => failed(target, error),
    }
}

/// Whether the pod still has the annotation of this run; false if the pod is gone.
async fn is_ours(
    session: &Session,
    target: &TargetPod,
    keep_request: &KeepRequest,
) -> Result<bool, ApiError> {
    let pod = reader::pod(session, &target.pod.key).await?;
    let is_ours = |pod: &PodView| pod.keep_text.as_ref() == Some(&keep_request.text);
    Ok(pod.is_some_and(|pod| pod.uid == target.pod.uid && is_ours(&pod)))
}

/// The patch that restores the annotation as it was before, on the condition that it is as this run wrote it.
fn removal_patch(uid: &Uid, keep_request: &KeepRequest) -> Value {
    let path = format!("/metadata/annotations/{}", KEEP.replace('/', "~1"));
    let change = match &keep_request.before {
        Some(before) => json!({ "op": "replace", "path": path, "value": before }),
        None => json!({ "op": "remove", "path": path }),
    };
    let is_that = json!({ "op": "test", "path": "/metadata/uid", "value": uid.to_string() });
    json!([is_that, { "op": "test", "path": path, "value": keep_request.text }, change])
}

async fn patch_pod(session: &Session, target: &TargetPod, kind: &str, patch: &Value) -> Result<(), ApiError> {
    let path = pod_path(&target.pod.key);
    calls::write(session, Method::PATCH, &path, kind, patch.to_string()).await.map(drop)
}

fn failed(target: &TargetPod, error: ApiError) -> Answer {
    no_answer(error, "", &format!("patch pods in namespace {}", target.pod.key.namespace))
}

/// Reads the daemon's answer from the pod's events: reserved, refused, or none yet.
pub(super) async fn read_answer(session: &Session, target: &TargetPod, keep_request: &KeepRequest) -> Answer {
    let key = &target.pod.key;
    let fields = escaped(&format!("involvedObject.uid={}", target.pod.uid));
    let mut answer = Answer::NotSeen(vec!["the daemon".into()]);
    let each = |json: &str| {
        let event: EventWire = serde_json::from_str(json).unwrap_or_default();
        match &*event.reason {
            "Reserved" if keep_request.is_answered_by(&event) => answer = Answer::Seen { replicas: 0 },
            "NotReserved"
                if keep_request.is_answered_by(&event) && !matches!(answer, Answer::Seen { .. }) =>
            {
                answer = Answer::Denied(event.message);
            }
            _ => {}
        }
        Ok(())
    };
    let path = format!("/api/v1/namespaces/{}/events", key.namespace);
    match calls::list(session, &path, &format!("fieldSelector={fields}"), JSON, each).await {
        Ok(_) => answer,
        Err(error) => no_answer(error, "", &format!("list events in namespace {}", key.namespace)),
    }
}

#[cfg(test)]
mod tests {
    use super::{EventWire, KeepRequest, removal_patch};
    use serde_json::{Value, json};
    use std::time::Duration;

    fn keep_request(before: Option<&str>) -> KeepRequest {
        let mut keep_request = KeepRequest::default();
        keep_request.begin(before, Duration::from_secs(90), 1);
        keep_request
    }

    #[test]
    fn what_was_there_before_is_put_back_and_only_where_ours_is() {
        let ours = "90s#0000000000000001";
        let path = "/metadata/annotations/reserve~1keep";
        let steps = |before: Option<&str>| removal_patch(&"u".into(), &keep_request(before));
        let uid = json!({ "op": "test", "path": "/metadata/uid", "value": "u" });
        let test = json!({ "op": "test", "path": path, "value": ours });
        let removed = json!({ "op": "remove", "path": path });
        assert_eq!(steps(None), json!([uid, test, removed]));
        let before = json!({ "op": "replace", "path": path, "value": "true" });
        assert_eq!(steps(Some("true")), json!([uid, test, before]));
        assert_eq!(steps(Some("600s#a1")), json!([uid, test, removed]), "who takes that back?");
    }

    #[test]
    fn what_was_said_to_another_wish_is_no_answer_to_this_one() {
        let said = |annotations: Value| -> EventWire {
            let event = json!({ "reason": "Reserved", "metadata": { "annotations": annotations } });
            serde_json::from_value(event).unwrap()
        };
        let to = |whom: &str| said(json!({ "reserve/answers": whom }));
        let mut keep_request = keep_request(None);
        assert!(keep_request.is_answered_by(&to("0000000000000001")));
        assert!(!keep_request.is_answered_by(&said(json!({}))));
        // If the write had no answer it is repeated with the same id.
        keep_request.begin(None, Duration::from_secs(90), 2);
        assert!(keep_request.is_answered_by(&to("0000000000000001")));
        keep_request.is_taken_back = true;
        keep_request.begin(None, Duration::from_secs(90), 3);
        assert!(!keep_request.is_answered_by(&to("0000000000000001")), "that was said to the first");
        assert!(keep_request.is_answered_by(&to("0000000000000003")));
        assert!(
            KeepRequest::default().is_answered_by(&said(json!({}))),
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
        let ours = keep_request(None);
        assert!(ours.is_on(&pod("90s#0000000000000001")));
        assert!(!ours.is_on(&pod("90s#0000000000000002")), "that of another run");
        assert!(!ours.is_on(&pod("true")), "the pod's own");
        assert!(KeepRequest::default().is_on(&pod("true")));
        assert!(!KeepRequest::default().is_on(&pod("90s#0000000000000002")));
    }
}
