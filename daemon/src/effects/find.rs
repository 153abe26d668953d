//! Reads a pod whose binding is unknown, until there is an answer.

use super::{Effects, Outcome, call};
use crate::state::BindingOutcome;
use common::model::{NodeName, PodKey, Uid};
use std::time::Duration;

/// The pause between two reads: short, because room is assumed meanwhile; not zero, because the server has problems.
const PAUSE: Duration = Duration::from_secs(1);

/// Finds out whether the pod is bound to `node`. Reads without a resource version, so from the newest state.
pub(super) async fn find(effects: &Effects, pod: &PodKey, uid: &Uid, node: &NodeName) -> BindingOutcome {
    loop {
        match call(effects.pods(pod).get(&pod.name)).await {
            Outcome::Done(found) if found.metadata.uid != Some(uid.to_string()) => {
                return BindingOutcome::Lost;
            }
            Outcome::Done(found) => {
                return match found.spec.and_then(|spec| spec.node_name) {
                    Some(bound) if bound == node.as_str() => BindingOutcome::Bound,
                    Some(_) => BindingOutcome::Lost,
                    None => BindingOutcome::Refused { why: "the API server did not bind the pod".into() },
                };
            }
            Outcome::Refused(status) if status.code == 404 => return BindingOutcome::Lost,
            Outcome::Refused(status) => tracing::warn!(%pod, "look at the pod: {}", status.message),
            Outcome::Unknown(why) => tracing::warn!(%pod, "look at the pod: {why}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
