//! The document of `status`: kind `Status` of `kubectl-reserve/v1alpha1`.

use super::{Installation, ReplicaLine, SchedulerLine, ShortNode, StatusReport};
use crate::error::Failure;
use crate::render::json::API_VERSION;
use common::cluster::Enforcement;
use serde_json::{Map, Value, json};

#[expect(clippy::unnecessary_wraps, reason = "as every document")]
pub(super) fn document(status: &StatusReport) -> Result<Value, Failure> {
    let event = |event: &crate::cluster_data::events::EventSummary| {
        json!({
            "reason": event.reason, "message": event.message, "at": event.at.map(|at| at.to_string()),
            "about": { "kind": event.kind, "namespace": event.namespace, "name": event.name },
        })
    };
    Ok(json!({
        "apiVersion": API_VERSION,
        "kind": "Status",
        "metadata": { "generatedAt": status.now.to_string() },
        "clientVersion": status.client,
        "installation": installation(&status.installation),
        "replicas": status.replicas.iter().map(replica).collect::<Vec<_>>(),
        "schedulers": status.schedulers.iter().map(scheduler).collect::<Vec<_>>(),
        "reservations": {
            "total": status.total(), "manual": status.manual, "nodes": status.nodes, "states": status.states,
        },
        "shortNodes": status.short.iter().map(short).collect::<Vec<_>>(),
        "events": status.events.iter().map(event).collect::<Vec<_>>(),
        "missing": status.missing,
    }))
}

fn installation(installation: &Installation) -> Value {
    match installation {
        Installation::Unknown => Value::Null,
        Installation::Missing => json!({ "state": "Missing" }),
        Installation::NotReady { namespace, why } => {
            json!({ "state": "NotReady", "namespace": namespace, "reason": why })
        }
    }
}

fn replica(replica: &ReplicaLine) -> Value {
    json!({
        "metadata": { "name": replica.name, "namespace": replica.namespace },
        "live": replica.is_live,
        "leader": replica.is_leader,
        "version": replica.version,
        "schedulers": replica.schedulers,
        "extends": replica.extends,
        // A string, since some JSON readers lose digits of large numbers.
        "seenNodes": replica.seen_nodes.to_string(),
        "seenPods": replica.seen_pods.to_string(),
        "behind": replica.is_behind,
        "restricted": replica.is_restricted,
        "renewed": replica.renewed.map(|at| at.to_string()),
    })
}

fn scheduler(line: &SchedulerLine) -> Value {
    let enforcement = match line.enforcement {
        Enforcement::Scheduler => "Scheduler",
        Enforcement::Extender => "Extender",
        Enforcement::Nobody => "None",
    };
    json!({
        "metadata": { "name": line.name },
        "pods": line.pods, "pending": line.pending, "enforces": line.enforcement != Enforcement::Nobody, "enforcement": enforcement,
    })
}

fn short(node: &ShortNode) -> Value {
    let mut resources = Map::new();
    for (resource, has, used, kept) in &node.resources {
        let short = used.saturating_add(*kept).saturating_sub(*has);
        let amount = |amount: i64| resource.format(amount);
        let numbers = json!({
            "allocatable": amount(*has), "used": amount(*used), "reserved": amount(*kept), "short": amount(short),
        });
        resources.insert(resource.to_string(), numbers);
    }
    json!({ "metadata": { "name": node.name }, "resources": resources })
}
