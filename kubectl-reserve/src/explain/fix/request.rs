//! Asking for less: the largest amounts that fit a node now, and the command that sets them.

use super::tell::kubectl_in;
use crate::explain::input::Input;
use crate::explain::judge::View;
use crate::explain::report::{OwnerName, Right};
use common::api;
use common::cluster::Snapshot;
use common::model::owner::OwnerKind;
use common::model::quantity::Quantity;
use common::model::{ResourceName, Resources};
use serde_json::{Value, json};

/// The kind of a fix that asks for less.
pub(super) const KIND: &str = "LowerRequest";

const MEBI: i64 = 1 << 20;

/// The commands, what is rolled, and the rights that it takes.
pub(super) struct Lowered {
    pub(super) commands: Vec<Vec<String>>,
    pub(super) rolls: OwnerName,
    pub(super) needs: Vec<Right>,
}

/// The largest amount of everything that the node lacks with which the pod would fit; nothing if there is none.
pub(super) fn that_fits(view: &View) -> Vec<(ResourceName, i64)> {
    let whole = |resource: &ResourceName, free: i64| match resource {
        // Whole mebibytes read better than bytes.
        ResourceName::Memory | ResourceName::EphemeralStorage if free >= MEBI => free - free % MEBI,
        _ => free,
    };
    let amounts: Vec<(ResourceName, i64)> =
        view.lacking().map(|one| (one.resource.clone(), whole(&one.resource, one.free()))).collect();
    let can_lower = |(resource, amount): &(ResourceName, i64)| *resource != ResourceName::Pods && *amount > 0;
    if amounts.iter().all(can_lower) { amounts } else { Vec::new() }
}

/// How the pod's workload is told to ask for `amounts`. Nothing if it cannot be told: it has none, or one whose pods stay as they
/// are made.
pub(super) fn command(
    input: &Input<'_>,
    snapshot: &Snapshot<'_>,
    amounts: &[(ResourceName, i64)],
) -> Option<Lowered> {
    let pod_context = snapshot.pod_context(input.pod);
    let top = pod_context.top()?;
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
        set.iter().map(|(resource, amount)| format!("{resource}={}", resource.format(*amount))).collect();
    words.push(format!("--requests={}", list.join(",")));
    let mut commands = vec![kubectl_in(input, &rolls.namespace, &words)];
    let mut needs = vec![Right {
        verb: "patch",
        group: "apps",
        resource: top.kind.plural().to_owned(),
        namespace: Some(rolls.namespace.clone()),
    }];
    if top.kind == OwnerKind::StatefulSet {
        // It waits for a pod that never gets ready before it makes the next one.
        let delete = ["delete".to_owned(), "pod".to_owned(), input.pod.key.name.to_string()];
        commands.push(kubectl_in(input, &input.pod.key.namespace, &delete));
        needs.push(Right {
            verb: "delete",
            group: "",
            resource: "pods".to_owned(),
            namespace: Some(rolls.namespace.clone()),
        });
    }
    Some(Lowered { commands, rolls, needs })
}

/// The container that asks for the most of the first, and what it has to ask for so that the pod as a whole asks for `amounts`. It is
/// tried on the pod itself, since init containers, overhead and requests of the pod as a whole count too.
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
