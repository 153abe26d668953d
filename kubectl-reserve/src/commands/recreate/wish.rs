//! Keeping the room without any right on nodes: the pod wishes it (`reserve/keep`), and the daemon says when it is so.

use super::owners::pod_path;
use super::target::Target;
use crate::api::{self as calls, ApiError, JSON, MERGE_PATCH};
use crate::connect::Session;
use crate::flow::keep::is_wished;
use crate::flow::recreate::{Answer, Why};
use crate::names::escaped;
use common::api::names::KEEP;
use common::model::Pod;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// A wish of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wish {
    /// The last version of the pod of which it is known that it did not wish it; none if the pod wishes it by itself.
    pub(super) after: Option<u64>,
}

impl Wish {
    /// One that is about to be written, or again. A pod that wishes it already is left as it is.
    pub(super) fn begun(self, pod: &Pod) -> Self {
        Self { after: self.after.or_else(|| (!is_wished(pod)).then_some(pod.resource_version)) }
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct EventWire {
    reason: String,
    message: String,
    involved_object: InvolvedWire,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct InvolvedWire {
    resource_version: String,
}

#[derive(Deserialize)]
struct PodWire {
    metadata: MetadataWire,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetadataWire {
    resource_version: String,
}

/// Lets the pod wish that its room be kept for so long. A pod that does already is left as it is.
pub(super) async fn make(session: &Session, target: &Target, life: Duration) -> Answer {
    if !is_wished(&target.pod)
        && let Err(error) = annotate(session, target, json!(format!("{}s", life.as_secs()))).await
    {
        return failed(target, error);
    }
    Answer::Reserved { version: 0, until: None }
}

/// Takes a wish of ours back: the daemon then releases what it reserved.
pub(super) async fn unmake(session: &Session, target: &Target, wish: &mut Wish) -> Answer {
    if wish.after.is_none() {
        return Answer::Released;
    }
    match annotate(session, target, Value::Null).await {
        Ok(version) => {
            wish.after = version.or(wish.after);
            Answer::Released
        }
        // Gone, or another one by now: its wish went with it.
        Err(error) if error.is_of_another() => Answer::Released,
        Err(error) => failed(target, error),
    }
}

/// Writes the wish, and returns the version of the pod that has it.
async fn annotate(session: &Session, target: &Target, value: Value) -> Result<Option<u64>, ApiError> {
    let uid = target.pod.uid.to_string();
    let patch = json!({ "metadata": { "uid": uid, "annotations": { KEEP: value } } });
    let path = pod_path(&target.pod.key);
    let answer = calls::write(session, Method::PATCH, &path, MERGE_PATCH, patch.to_string()).await?;
    let pod: Option<PodWire> = serde_json::from_str(&answer.text).ok();
    Ok(pod.and_then(|pod| pod.metadata.resource_version.parse().ok()))
}

fn failed(target: &Target, error: ApiError) -> Answer {
    match error {
        ApiError::Broken(why) => Answer::Lost(why),
        ApiError::Refused(refused) if refused.code == 403 => Answer::Failed(Why::Forbidden {
            message: refused.message,
            needs: format!("patch pods in namespace {}", target.pod.key.namespace),
        }),
        ApiError::Refused(refused) => Answer::Failed(Why::Failed(refused.message)),
    }
}

/// Whether the daemon has said that the room is reserved, or that it will not be.
pub(super) async fn heard(session: &Session, target: &Target, wish: Wish) -> Answer {
    let key = &target.pod.key;
    let fields = escaped(&format!("involvedObject.uid={}", target.pod.uid));
    let mut answer = Answer::NotSeen(vec!["the daemon".into()]);
    let each = |json: &str| {
        let event: EventWire = serde_json::from_str(json).unwrap_or_default();
        match &*event.reason {
            "Reserved" if is_news(&event, wish) => answer = Answer::Seen { replicas: 0 },
            "NotReserved" if is_news(&event, wish) && !matches!(answer, Answer::Seen { .. }) => {
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
        Err(ApiError::Refused(refused)) => Answer::Failed(Why::Forbidden {
            message: refused.message,
            needs: format!("list events in namespace {}", key.namespace),
        }),
    }
}

/// Whether the event is about the pod as it was with this wish, and not about an earlier one that was taken back.
fn is_news(event: &EventWire, wish: Wish) -> bool {
    let about = event.involved_object.resource_version.parse::<u64>();
    wish.after.is_none_or(|after| about.is_ok_and(|about| about > after))
}

#[cfg(test)]
mod tests {
    use super::{EventWire, Wish, is_news};
    use serde_json::{Value, json};

    #[test]
    fn a_wish_without_an_answer_is_ours_to_take_back_and_that_of_others_is_not() {
        let begun = |annotations: Value| {
            let json = json!({ "metadata": { "name": "p", "namespace": "default", "uid": "p",
                "resourceVersion": "7", "annotations": annotations }, "spec": { "containers": [] } });
            Wish::default().begun(&common::api::pod::pod(&json.to_string()).unwrap()).after
        };
        assert_eq!(begun(json!({})), Some(7));
        assert_eq!(begun(json!({ "reserve/keep": "true" })), None);
    }

    #[test]
    fn what_was_said_about_an_earlier_wish_is_no_answer_to_this_one() {
        let said = |version: &str| -> EventWire {
            let event = json!({ "reason": "Reserved", "involvedObject": { "resourceVersion": version } });
            serde_json::from_value(event).unwrap()
        };
        let again = Wish { after: Some(11) };
        assert!(!is_news(&said("10"), again), "the first wish was taken back with version 11");
        assert!(!is_news(&said(""), again));
        assert!(is_news(&said("12"), again));
        assert!(is_news(&said("10"), Wish::default()), "a pod that wishes it by itself was told once");
    }
}
