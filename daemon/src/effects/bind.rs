//! Binds a pod: one write of pods/binding with the node and the seat.

use super::{Effects, Outcome, call};
use crate::state::BindingOutcome;
use common::api::names::SEAT_STAMP;
use common::model::{NodeName, PodKey, ReservationId, Uid};
use k8s_openapi::api::core::v1 as core;
use kube::api::PostParams;
use kube::core::{ObjectMeta, Status};

/// Binds the pod. A 409 means that the pod is already bound, is being deleted, is gated, or has another UID. Only a GET of the
/// pod can tell which, because an earlier try of ours may have succeeded without an answer.
pub(super) async fn bind(
    effects: &Effects,
    pod: &PodKey,
    uid: &Uid,
    node: &NodeName,
    seat: Option<&ReservationId>,
) -> BindingOutcome {
    let binding = binding(pod, uid, node, seat);
    let params = PostParams::default();
    let pods = effects.pods(pod);
    match call(pods.create_subresource::<_, Status>("binding", &pod.name, &params, &binding)).await {
        Outcome::Done(_) => {
            tracing::info!(%pod, %node, seat = seat.map(tracing::field::display), "bound");
            BindingOutcome::Bound
        }
        Outcome::Refused(status) if status.code == 404 => BindingOutcome::Lost,
        Outcome::Refused(status) if status.code != 409 => {
            tracing::warn!(%pod, %node, "bind: {}", status.message);
            BindingOutcome::Refused { why: status.message }
        }
        Outcome::Refused(_) => BindingOutcome::Unknown,
        Outcome::Unknown(why) => {
            tracing::warn!(%pod, %node, "bind: {why}");
            BindingOutcome::Unknown
        }
    }
}

fn binding(pod: &PodKey, uid: &Uid, node: &NodeName, seat: Option<&ReservationId>) -> core::Binding {
    core::Binding {
        metadata: ObjectMeta {
            name: Some(pod.name.to_string()),
            namespace: Some(pod.namespace.to_string()),
            uid: Some(uid.to_string()),
            annotations: seat.map(|seat| [(SEAT_STAMP.to_owned(), seat.to_string())].into()),
            ..ObjectMeta::default()
        },
        target: core::ObjectReference {
            api_version: Some("v1".into()),
            kind: Some("Node".into()),
            name: Some(node.to_string()),
            ..core::ObjectReference::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{PodKey, binding};

    /// The API server refuses a binding with another UID than that of the pod which has the name now.
    #[test]
    fn a_binding_says_which_pod_it_means() {
        let pod = PodKey::new("default", "web-1");
        let sent = binding(&pod, &"the old one".into(), &"n1".into(), None);
        assert_eq!(sent.metadata.uid.as_deref(), Some("the old one"));
    }
}
