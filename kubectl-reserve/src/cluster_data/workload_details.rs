//! Decodes what no decision depends on from workloads: why a ReplicaSet cannot create pods, how a Deployment rolls out.

use super::diagnostics::{FailedCreate, SurgeOnlyRollout};
use common::model::owner::Workload;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct ReplicaSetWire {
    status: ReplicaSetStatus,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ReplicaSetStatus {
    conditions: Option<Vec<ConditionWire>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ConditionWire {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    message: String,
    last_transition_time: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DeploymentWire {
    spec: DeploymentSpec,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DeploymentSpec {
    replicas: Option<u32>,
    strategy: Strategy,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Strategy {
    rolling_update: Option<RollingUpdate>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RollingUpdate {
    max_unavailable: serde_json::Value,
    max_surge: serde_json::Value,
}

/// Why a ReplicaSet cannot create pods, if it has the condition `ReplicaFailure`.
pub(super) fn failed_create(workload: &Workload, json: &str) -> Option<FailedCreate> {
    // Most have no such condition, and a search of the text is cheaper than decoding it.
    if !json.contains("ReplicaFailure") {
        return None;
    }
    let wire: ReplicaSetWire = serde_json::from_str(json).ok()?;
    let mut conditions = wire.status.conditions.into_iter().flatten();
    let failed = conditions.find(|one| one.kind == "ReplicaFailure" && one.status == "True")?;
    Some(FailedCreate {
        kind: workload.kind,
        namespace: workload.namespace.to_string(),
        name: workload.name.to_string(),
        message: failed.message,
        at: failed.last_transition_time.and_then(|at| at.parse().ok()),
    })
}

/// The rollout of a Deployment whose `maxUnavailable` is 0; `None` for any other.
pub(super) fn surge_only_rollout(json: &str) -> Option<SurgeOnlyRollout> {
    let wire: DeploymentWire = serde_json::from_str(json).ok()?;
    let rolling = wire.spec.strategy.rolling_update?;
    let replicas = wire.spec.replicas.unwrap_or(1);
    // The controller rounds maxUnavailable down and maxSurge up.
    let max_unavailable = share(&rolling.max_unavailable, replicas, false)?;
    let max_surge = share(&rolling.max_surge, replicas, true)?;
    (max_unavailable == 0 && replicas > 0 && max_surge > 0)
        .then_some(SurgeOnlyRollout { replicas, max_surge })
}

/// A number, or a percentage of `whole`, rounded up or down.
fn share(value: &serde_json::Value, whole: u32, rounds_up: bool) -> Option<u32> {
    if let Some(number) = value.as_u64() {
        return u32::try_from(number).ok();
    }
    let percent: u32 = value.as_str()?.strip_suffix('%')?.parse().ok()?;
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
