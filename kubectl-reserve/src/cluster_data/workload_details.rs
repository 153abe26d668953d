//! Decodes what no decision depends on from workloads: why a ReplicaSet cannot create pods, how a Deployment rolls out.

use super::diagnostics::{FailedCreate, SurgeOnlyRollout};
use common::model::Workload;
use k8s_openapi::api::apps::v1::{DeploymentStrategy, ReplicaSet};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde::Deserialize;

#[derive(Deserialize)]
struct DeploymentWire {
    spec: DeploymentSpec,
}

#[derive(Deserialize)]
struct DeploymentSpec {
    replicas: Option<u32>,
    strategy: Option<DeploymentStrategy>,
}

/// Why a ReplicaSet cannot create pods, if it has the condition `ReplicaFailure`.
pub(super) fn failed_create(workload: &Workload, json: &str) -> Option<FailedCreate> {
    // Most have no such condition, and a search of the text is cheaper than decoding it.
    if !json.contains("ReplicaFailure") {
        return None;
    }
    let replica_set: ReplicaSet = serde_json::from_str(json).ok()?;
    let mut conditions = replica_set.status?.conditions.into_iter().flatten();
    let failed = conditions.find(|one| {
        one.type_.as_deref() == Some("ReplicaFailure") && one.status.as_deref() == Some("True")
    })?;
    Some(FailedCreate {
        kind: workload.kind,
        namespace: workload.namespace.to_string(),
        name: workload.name.to_string(),
        message: failed.message.unwrap_or_default(),
        at: failed.last_transition_time.map(|time| time.0),
    })
}

/// The rollout of a Deployment whose `maxUnavailable` is 0; `None` for any other.
pub(super) fn surge_only_rollout(json: &str) -> Option<SurgeOnlyRollout> {
    let wire: DeploymentWire = serde_json::from_str(json).ok()?;
    let rolling = wire.spec.strategy?.rolling_update?;
    let replicas = wire.spec.replicas.unwrap_or(1);
    // The controller rounds maxUnavailable down and maxSurge up.
    let max_unavailable = share(&rolling.max_unavailable?, replicas, false)?;
    let max_surge = share(&rolling.max_surge?, replicas, true)?;
    (max_unavailable == 0 && replicas > 0 && max_surge > 0)
        .then_some(SurgeOnlyRollout { replicas, max_surge })
}

/// A number, or a percentage of `whole`, rounded up or down.
fn share(value: &IntOrString, whole: u32, rounds_up: bool) -> Option<u32> {
    let percent: u32 = match value {
        IntOrString::Int(number) => return u32::try_from(*number).ok(),
        IntOrString::String(text) => text.strip_suffix('%')?.parse().ok()?,
    };
    let hundredfold = whole.checked_mul(percent)?;
    Some(if rounds_up { hundredfold.div_ceil(100) } else { hundredfold / 100 })
}

#[cfg(test)]
mod tests {
    use super::{SurgeOnlyRollout, surge_only_rollout};
    use serde_json::json;

    #[test]
    fn percentages_round_as_the_controller_rounds_them() {
        let of = |max_unavailable, max_surge, replicas: u32| {
            let rolling = json!({ "maxUnavailable": max_unavailable, "maxSurge": max_surge });
            surge_only_rollout(
                &json!({ "spec": { "replicas": replicas, "strategy": { "rollingUpdate": rolling } } })
                    .to_string(),
            )
        };
        assert_eq!(of(json!("25%"), json!("25%"), 3), Some(SurgeOnlyRollout { replicas: 3, max_surge: 1 }));
        assert_eq!(of(json!("25%"), json!("25%"), 4), None, "one may be missing");
        assert_eq!(of(json!(0), json!(2), 4), Some(SurgeOnlyRollout { replicas: 4, max_surge: 2 }));
        assert_eq!(of(json!(1), json!(0), 4), None);
        assert_eq!(surge_only_rollout(r#"{"spec":{"strategy":{"type":"Recreate"}}}"#), None);
    }
}
