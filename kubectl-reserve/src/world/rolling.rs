//! What workloads say besides what decisions read: why they cannot make pods, how they roll.

use super::notes::{FailedCreate, Surge};
use common::model::owner::Workload;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct SetWire {
    status: SetStatus,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SetStatus {
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
    rolling_update: Option<Rolling>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Rolling {
    max_unavailable: serde_json::Value,
    max_surge: serde_json::Value,
}

/// Why a ReplicaSet cannot make pods, if its status says so.
pub(super) fn failure(workload: &Workload, json: &str) -> Option<FailedCreate> {
    // Most have none: the text is cheaper to look at than to read.
    if !json.contains("ReplicaFailure") {
        return None;
    }
    let wire: SetWire = serde_json::from_str(json).ok()?;
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

/// How a Deployment rolls, if it may not go below its number.
pub(super) fn surge(json: &str) -> Option<Surge> {
    let wire: DeploymentWire = serde_json::from_str(json).ok()?;
    let rolling = wire.spec.strategy.rolling_update?;
    let replicas = wire.spec.replicas.unwrap_or(1);
    // As the controller rounds: what may be missing down, what may be too much up.
    let unavailable = share(&rolling.max_unavailable, replicas, false)?;
    let surge = share(&rolling.max_surge, replicas, true)?;
    (unavailable == 0 && replicas > 0 && surge > 0).then_some(Surge { replicas, surge })
}

/// A number, or a percentage of `whole`.
fn share(value: &serde_json::Value, whole: u32, is_up: bool) -> Option<u32> {
    if let Some(number) = value.as_u64() {
        return u32::try_from(number).ok();
    }
    let percent: u32 = value.as_str()?.strip_suffix('%')?.parse().ok()?;
    let hundredfold = whole.checked_mul(percent)?;
    Some(if is_up { hundredfold.div_ceil(100) } else { hundredfold / 100 })
}

#[cfg(test)]
mod tests {
    use super::{Surge, surge};
    use serde_json::json;

    #[test]
    fn percentages_round_as_the_controller_rounds_them() {
        let of = |unavailable, surge_max, replicas: u32| {
            let rolling = json!({ "maxUnavailable": unavailable, "maxSurge": surge_max });
            surge(
                &json!({ "spec": { "replicas": replicas, "strategy": { "rollingUpdate": rolling } } })
                    .to_string(),
            )
        };
        assert_eq!(of(json!("25%"), json!("25%"), 3), Some(Surge { replicas: 3, surge: 1 }));
        assert_eq!(of(json!("25%"), json!("25%"), 4), None, "one may be missing");
        assert_eq!(of(json!(0), json!(2), 4), Some(Surge { replicas: 4, surge: 2 }));
        assert_eq!(of(json!(1), json!(0), 4), None);
        assert_eq!(surge(r#"{"spec":{"strategy":{"type":"Recreate"}}}"#), None);
    }
}
