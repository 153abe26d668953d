//! Waits until the daemon's new replicas run, with the messages of `kubectl rollout status`, and shows why a pod does not start.

use crate::api::ApiError;
use crate::connect::Session;
use crate::error::{Exit, Failure};
use crate::objects;
use crate::reader::{existing, readable};
use crate::render::printable;
use crate::ui::Ui;
use crate::ui::progress::ProgressFallback;
use crate::ui::signal::StopRequests;
use common::api::names;
use serde_json::Value;
use std::time::Duration;

/// The pause between two reads.
const POLL: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rollout {
    Done,
    Waiting(String),
    Stuck(String),
}

/// Waits until the Deployment has rolled out.
pub(super) async fn wait(
    session: &Session,
    ui: &Ui,
    namespace: &str,
    limit: Duration,
) -> Result<(), Failure> {
    let mut stops = StopRequests::listen()?;
    let watch = follow(session, ui, namespace);
    tokio::select! {
        biased;
        outcome = tokio::time::timeout(limit, watch) => outcome.map_err(|_| too_late(namespace, limit))?,
        _ = stops.next() => Err(Failure::new("interrupted: everything was applied, and the rollout goes on by itself")
            .hint(format!("see how far it is: kubectl -n {namespace} rollout status deployment/{}", names::AUTOMATIC))
            .exit(Exit::Interrupted)),
    }
}

async fn follow(session: &Session, ui: &Ui, namespace: &str) -> Result<(), Failure> {
    let mut said = format!("Waiting for deployment {:?} rollout to finish", names::AUTOMATIC);
    let progress = ui.spinner(&said, ProgressFallback::Lines);
    loop {
        let (rollout, held_up) = look(session, namespace).await.map_err(|error| {
            error.into_failure("look at the rollout", "get deployments.apps and list pods")
        })?;
        let waiting = match rollout {
            Rollout::Done => return Ok(()),
            Rollout::Stuck(why) => return Err(stuck(&why, namespace)),
            Rollout::Waiting(waiting) => waiting,
        };
        let now = held_up.map_or(waiting.clone(), |why| format!("{waiting}: {why}"));
        if now != said {
            said.clone_from(&now);
            progress.message(&now);
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The state of the daemon's rollout, and why one of its pods does not run.
async fn look(session: &Session, namespace: &str) -> Result<(Rollout, Option<String>), ApiError> {
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{}", names::AUTOMATIC);
    let rollout = rollout(&objects::get(session, &path).await?);
    let label = format!("labelSelector={}%3D{}", names::APP_LABEL.replace('/', "%2F"), names::APP);
    let pods = objects::list(session, &format!("/api/v1/namespaces/{namespace}/pods"), &label).await;
    // A caller who may not list pods has to do without this.
    Ok((rollout, readable(pods)?.unwrap_or_default().iter().find_map(held_up)))
}

/// Why no replica of the daemon in `namespace` is ready; `None` if there is no Deployment of it.
pub(crate) async fn why_not_ready(session: &Session, namespace: &str) -> Result<Option<String>, ApiError> {
    let found = existing(look(session, namespace).await)?;
    Ok(found.map(|(rollout, held_up)| match (held_up, rollout) {
        (Some(why), _) | (None, Rollout::Stuck(why)) => why,
        (None, Rollout::Waiting(what)) => {
            what.rsplit(": ").next().unwrap_or_default().trim_end_matches('.').to_owned()
        }
        (None, Rollout::Done) => {
            format!("none renews its Lease; see kubectl -n {namespace} logs deployment/{}", names::AUTOMATIC)
        }
    }))
}

fn rollout(deployment: &Value) -> Rollout {
    let number = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
    let name = deployment.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    if number("/status/observedGeneration") < number("/metadata/generation") {
        return Rollout::Waiting("Waiting for deployment spec update to be observed...".into());
    }
    let conditions = deployment.pointer("/status/conditions").and_then(Value::as_array);
    let is_over = |condition: &Value| condition["reason"] == "ProgressDeadlineExceeded";
    if conditions.into_iter().flatten().any(is_over) {
        return Rollout::Stuck(format!("deployment {name:?} exceeded its progress deadline"));
    }
    let (wanted, all) = (number("/spec/replicas"), number("/status/replicas"));
    let (updated, available) = (number("/status/updatedReplicas"), number("/status/availableReplicas"));
    let what = if updated < wanted {
        format!("{updated} out of {wanted} new replicas have been updated...")
    } else if all > updated {
        format!("{} old replicas are pending termination...", all - updated)
    } else if available < updated {
        format!("{available} of {updated} updated replicas are available...")
    } else {
        return Rollout::Done;
    };
    Rollout::Waiting(format!("Waiting for deployment {name:?} rollout to finish: {what}"))
}

/// Why a pod does not run, if its status says so.
fn held_up(pod: &Value) -> Option<String> {
    let name = pod.pointer("/metadata/name").and_then(Value::as_str)?;
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |pointer: &str| pod.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let mut waiting = list("/status/containerStatuses").filter_map(|status| status.pointer("/state/waiting"));
    let reason = waiting
        .find(|waiting| !matches!(text(waiting, "reason").as_str(), "ContainerCreating" | "PodInitializing"));
    let mut conditions = list("/status/conditions");
    let unplaced = conditions.find(|one| one["type"] == "PodScheduled" && one["status"] == "False");
    let (reason, message) = reason.or(unplaced).map(|one| (text(one, "reason"), text(one, "message")))?;
    Some(printable(format!("pod {name} {reason}: {message}").trim_end_matches([':', ' '])))
}

fn stuck(why: &str, namespace: &str) -> Failure {
    Failure::new(why).hint(format!("kubectl -n {namespace} describe pods says why")).exit(Exit::TimedOut)
}

fn too_late(namespace: &str, limit: Duration) -> Failure {
    let seconds = limit.as_secs();
    Failure::new(format!(
        "timed out after {seconds}s: everything was applied, but the new replicas do not run yet"
    ))
    .hint(format!("kubectl -n {namespace} describe pods says why; install again goes on from here"))
    .exit(Exit::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::{Rollout, held_up, rollout};
    use serde_json::json;

    #[test]
    fn a_rollout_is_told_in_kubectls_words() {
        let cases = [
            (json!({ "observedGeneration": 1 }), "Waiting for deployment spec update to be observed..."),
            (
                json!({ "observedGeneration": 2, "replicas": 3, "updatedReplicas": 1 }),
                r#"Waiting for deployment "d" rollout to finish: 1 out of 2 new replicas have been updated..."#,
            ),
            (
                json!({ "observedGeneration": 2, "replicas": 3, "updatedReplicas": 2 }),
                r#"Waiting for deployment "d" rollout to finish: 1 old replicas are pending termination..."#,
            ),
            (
                json!({ "observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 1 }),
                r#"Waiting for deployment "d" rollout to finish: 1 of 2 updated replicas are available..."#,
            ),
        ];
        let deployment = |status| json!({ "metadata": { "name": "d", "generation": 2 }, "spec": { "replicas": 2 }, "status": status });
        for (status, words) in cases {
            assert_eq!(rollout(&deployment(status)), Rollout::Waiting(words.into()));
        }
        let done =
            json!({ "observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2 });
        assert_eq!(rollout(&deployment(done)), Rollout::Done);
        let stuck =
            json!({ "observedGeneration": 2, "conditions": [{ "reason": "ProgressDeadlineExceeded" }] });
        assert!(matches!(rollout(&deployment(stuck)), Rollout::Stuck(_)));
    }

    #[test]
    fn a_pod_says_what_holds_it_up() {
        let pod = |status| json!({ "metadata": { "name": "p" }, "status": status });
        let waiting = |reason: &str| json!({ "containerStatuses": [{ "state": { "waiting": { "reason": reason, "message": "no\u{1b}" } } }] });
        assert_eq!(held_up(&pod(waiting("ImagePullBackOff"))).unwrap(), r"pod p ImagePullBackOff: no\u{1b}");
        assert_eq!(held_up(&pod(waiting("ContainerCreating"))), None);
        let unplaced = json!({ "conditions": [{ "type": "PodScheduled", "status": "False", "reason": "Unschedulable" }] });
        assert_eq!(held_up(&pod(unplaced)).unwrap(), "pod p Unschedulable");
        assert_eq!(held_up(&pod(json!({}))), None);
    }
}
