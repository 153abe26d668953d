//! A fresh look at a pod whose binding is unknown, repeated until there is an answer.

use super::{Effects, Outcome, call};
use crate::state::Binding;
use common::model::{NodeName, PodKey, Uid};
use std::time::Duration;

/// The pause between two looks: short, because room is assumed meanwhile; not nothing, because the server is ailing.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether the pod is bound to `node`. Reads without a resource version, that is, from the newest state.
pub(super) async fn find(effects: &Effects, pod: &PodKey, uid: &Uid, node: &NodeName) -> Binding {
    loop {
        match call(effects.pods(pod).get(&pod.name)).await {
            Outcome::Done(found) if found.metadata.uid != Some(uid.to_string()) => {
                return Binding::Lost;
            }
            Outcome::Done(found) => {
                return match found.spec.and_then(|spec| spec.node_name) {
                    Some(bound) if bound == node.as_str() => Binding::Bound,
                    Some(_) => Binding::Lost,
                    None => Binding::Refused { why: "the API server did not bind the pod".into() },
                };
            }
            Outcome::Refused(status) if status.code == 404 => return Binding::Lost,
            Outcome::Refused(status) => tracing::warn!(%pod, "look at the pod: {}", status.message),
            Outcome::Unknown(why) => tracing::warn!(%pod, "look at the pod: {why}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
