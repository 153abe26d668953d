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
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Events are written by another clock than ours, to the second.
const MARGIN: SignedDuration = SignedDuration::from_secs(2);

/// A wish of ours.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wish {
    /// Since when; none if the pod has wished it for longer.
    pub(super) since: Option<Timestamp>,
}

impl Wish {
    /// One that is about to be written. A pod that wishes it already is left as it is.
    pub(super) fn begun(pod: &Pod, now: Timestamp) -> Self {
        Self { since: (!is_wished(pod)).then_some(now) }
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct EventWire {
    reason: String,
    message: String,
    event_time: Option<String>,
    last_timestamp: Option<String>,
}

/// Lets the pod wish that its room be kept for so long. A pod that does already is left as it is.
pub(super) async fn make(session: &Session, target: &Target, life: Duration) -> Result<Wish, Answer> {
    if is_wished(&target.pod) {
        return Ok(Wish::default());
    }
    let answer = annotate(session, target, json!(format!("{}s", life.as_secs()))).await;
    answer.map(|at| Wish { since: at.or(Some(target.now)) }).map_err(|error| failed(target, error))
}

/// Takes a wish of ours back: the daemon then releases what it reserved.
pub(super) async fn unmake(session: &Session, target: &Target, wish: Wish) -> Answer {
    if wish.since.is_none() {
        return Answer::Released;
    }
    match annotate(session, target, Value::Null).await {
        Ok(_) => Answer::Released,
        // Gone, or another one by now: its wish went with it.
        Err(error) if error.is_of_another() => Answer::Released,
        Err(error) => failed(target, error),
    }
}

async fn annotate(session: &Session, target: &Target, value: Value) -> Result<Option<Timestamp>, ApiError> {
    let uid = target.pod.uid.to_string();
    let patch = json!({ "metadata": { "uid": uid, "annotations": { KEEP: value } } });
    let path = pod_path(&target.pod.key);
    let answer = calls::write(session, Method::PATCH, &path, MERGE_PATCH, patch.to_string()).await?;
    Ok(answer.at)
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

/// Whether the event was written about this wish.
fn is_news(event: &EventWire, wish: Wish) -> bool {
    let Some(since) = wish.since else { return true };
    let at = event.event_time.as_ref().or(event.last_timestamp.as_ref());
    let at = at.and_then(|text| text.parse::<Timestamp>().ok());
    at.is_some_and(|at| at.checked_add(MARGIN).is_ok_and(|at| at >= since))
}

#[cfg(test)]
mod tests {
    use super::Wish;
    use jiff::Timestamp;
    use serde_json::{Value, json};

    #[test]
    fn a_wish_without_an_answer_is_ours_to_take_back_and_that_of_others_is_not() {
        let begun = |annotations: Value| {
            let json = json!({ "metadata": { "name": "p", "namespace": "default", "uid": "p",
                "resourceVersion": "1", "annotations": annotations }, "spec": { "containers": [] } });
            Wish::begun(&common::api::pod::pod(&json.to_string()).unwrap(), Timestamp::UNIX_EPOCH).since
        };
        assert_eq!(begun(json!({})), Some(Timestamp::UNIX_EPOCH));
        assert_eq!(begun(json!({ "reserve/keep": "true" })), None);
    }
}
