//! Fixes that lower the pod's requests: the largest amounts that fit on a node now, and the command that sets them.

use super::describe::kubectl_in;
use crate::amount::exact;
use crate::explain::input::Input;
use crate::explain::judge::NodeResult;
use crate::explain::report::{OwnerName, RequiredRight};
use common::api;
use common::cluster::Snapshot;
use common::model::owner::OwnerKind;
use common::model::quantity::Quantity;
use common::model::{ResourceName, Resources};
use serde_json::{Value, json};

/// The kind of a fix that lowers requests.
pub(super) const KIND: &str = "LowerRequest";

const MEBI: i64 = 1 << 20;

/// How requests are lowered: commands, the workload that is rolled out, and the required rights.
pub(super) struct RequestChange {
    pub(super) commands: Vec<Vec<String>>,
    pub(super) rolls: OwnerName,
    pub(super) needs: Vec<RequiredRight>,
}

/// For each resource that is short, the largest request that fits on the node; empty if there is none.
pub(super) fn largest_fitting(result: &NodeResult) -> Vec<(ResourceName, i64)> {
    let whole = |resource: &ResourceName, free: i64| match resource {
        // Whole mebibytes read better than bytes.
        ResourceName::Memory | ResourceName::EphemeralStorage if free >= MEBI => free - free % MEBI,
        _ => free,
    };
    let amounts: Vec<(ResourceName, i64)> =
        result.lacking().map(|one| (one.resource.clone(), whole(&one.resource, one.free()))).collect();
    let can_lower = |(resource, amount): &(ResourceName, i64)| *resource != ResourceName::Pods && *amount > 0;
    if amounts.iter().all(can_lower) { amounts } else { Vec::new() }
}

/// The commands that set the requests of the pod's workload to `amounts`. `None` if the pod has no workload whose template can be
/// changed.
pub(super) fn command(
    input: &Input<'_>,
    snapshot: &Snapshot<'_>,
    amounts: &[(ResourceName, i64)],
) -> Option<RequestChange> {
    let context = snapshot.context(input.pod);
    let top = context.top()?;
    if !matches!(top.kind, OwnerKind::Deployment | OwnerKind::StatefulSet) {
        return None;
    }
    let rolls = OwnerName::new(&top.owner());
    let mut words = vec!["set".to_owned(), "resources".to_owned(), rolls.reference()];
    let mut set = amounts.to_vec();
    if let Some(source) = input.source {
        let (container, lowered) = container(source, amounts)?;
        words.extend(["-c".to_owned(), container]);
        set = lowered;
    }
    let list: Vec<String> =
        set.iter().map(|(resource, amount)| format!("{resource}={}", exact(resource, *amount))).collect();
    words.push(format!("--requests={}", list.join(",")));
    let mut commands = vec![kubectl_in(input, &rolls.namespace, &words)];
    let mut needs = vec![RequiredRight {
        verb: "patch",
        group: "apps",
        resource: top.kind.plural().to_owned(),
        namespace: Some(rolls.namespace.clone()),
    }];
    if top.kind == OwnerKind::StatefulSet {
        let (command, right) = super::template::delete_pod(input);
        commands.push(command);
        needs.push(right);
    }
    Some(RequestChange { commands, rolls, needs })
}

/// The container with the largest request of the first resource, and the requests that it needs so that the whole pod requests
/// `amounts`. The result is checked on the pod itself, since init containers, overhead and pod-level requests count, too.
fn container(source: &Value, amounts: &[(ResourceName, i64)]) -> Option<(String, Vec<(ResourceName, i64)>)> {
    let containers = source.pointer("/spec/containers")?.as_array()?;
    let (first, _) = amounts.first()?;
    let asks = |container: &Value, resource: &ResourceName| {
        let quantity = container.pointer("/resources/requests")?.get(resource.as_str())?;
        let mut read = Resources::default();
        read.add_quantity(resource.as_str(), Quantity::parse(quantity.as_str()?).ok()?);
        Some(read.get(resource))
    };
    let index = (0..containers.len()).max_by_key(|index| asks(&containers[*index], first).unwrap_or(0))?;
    let name = containers[index].get("name")?.as_str()?.to_owned();
    let total = api::pod::pod(&source.to_string()).ok()?.spec.requests.incoming.clone();
    let mut changed = source.clone();
    let mut lowered = Vec::new();
    for (resource, amount) in amounts {
        let less = total.get(resource) - amount;
        let left = asks(&containers[index], resource)? - less;
        if left <= 0 {
            return None;
        }
        let place = changed.pointer_mut(&format!("/spec/containers/{index}/resources/requests"))?;
        place[resource.as_str()] = json!(resource.format(left));
        lowered.push((resource.clone(), left));
    }
    let again = api::pod::pod(&changed.to_string()).ok()?;
    let is_right =
        amounts.iter().all(|(resource, amount)| again.spec.requests.incoming.get(resource) == *amount);
    is_right.then_some((name, lowered))
}
