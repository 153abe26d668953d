//! The fix that adds a node: like an existing one, and large enough for the pod and for the DaemonSets' pods. Entry point:
//! [`find`].

use crate::amount::shown;
use crate::explain::input::Input;
use crate::explain::judge::NodeResult;
use crate::explain::report::{Cost, Fix};
use crate::explain::trial::{Edit, Trial};
use common::cluster::{Cluster, Ledger, Snapshot};
use common::framework::RefusalCode;
use common::model::{Labels, Node, NodeName, Pod, ResourceName, Resources};
use std::sync::Arc;

/// The label with the node's own name.
pub(in crate::explain) const HOSTNAME: &str = "kubernetes.io/hostname";

/// The name of a node that does not exist yet.
pub(in crate::explain) const NEW: &str = "new-node";

/// A fix that adds a node on which the pod fits.
pub(super) fn find(cluster: &mut Cluster, input: &Input<'_>, near: &[&NodeResult]) -> Option<Fix> {
    let model: &NodeResult = near.iter().find(|result| result.is_right_kind()).or_else(|| near.first())?;
    let needs = size(&cluster.snapshot(input.now), input, model)?;
    let node = node_like(&cluster.snapshot(input.now), &model.name, NEW, Some(needs.clone()))?;
    let mut trial = Trial::new(cluster, input.pod, input.now);
    trial.apply(&Edit::AddNode(Box::new(node.clone()))).ok()?;
    let daemons = daemons(&trial.cluster().snapshot(input.now), &model.name);
    let has_daemons = !daemons.is_empty();
    for pod in daemons {
        trial.add_copy(&pod, &node.name);
    }
    if trial.fits_on(input.rules, &node.name) != Ok(true) {
        return None;
    }
    let hosted = if has_daemons { " (DaemonSets included)" } else { "" };
    let amounts: Vec<String> = needs
        .iter()
        .filter(|(resource, _)| *resource != ResourceName::Pods)
        .map(|(resource, amount)| format!("{resource} >= {}", shown(&resource, amount)))
        .collect();
    Some(Fix {
        id: String::new(),
        kind: "AddNode",
        target: "node".to_owned(),
        lands_on: None,
        description: format!(
            "add a node like {} with {} allocatable{hosted}",
            model.name,
            amounts.join(", ")
        ),
        disturbs: Vec::new(),
        cost: Cost::Hardware,
        commands: Vec::new(),
        needs: Vec::new(),
        allowed: None,
        edits: vec![Edit::AddNode(Box::new(node))],
    })
}

/// What the new node must have allocatable: the pod's requests, and those of the DaemonSets' pods on `model`.
fn size(snapshot: &Snapshot<'_>, input: &Input<'_>, model: &NodeResult) -> Option<Resources> {
    let mut needs = input.pod.spec.requests.incoming.clone();
    for pod in daemons(snapshot, &model.name) {
        needs.add_assign(pod.spec.requests.counted());
    }
    for bytes in [&mut needs.memory, &mut needs.ephemeral_storage] {
        *bytes = whole_mebibytes(*bytes);
    }
    let slots = snapshot.ledger(model.id)?.node.allocatable.pods;
    needs.pods = needs.pods.max(slots);
    Some(needs)
}

/// Rounded up, because people read the amount in mebibytes.
fn whole_mebibytes(bytes: i64) -> i64 {
    const MEBI: i64 = 1 << 20;
    bytes.saturating_add(MEBI - 1) / MEBI * MEBI
}

fn daemons(snapshot: &Snapshot<'_>, node: &NodeName) -> Vec<Arc<Pod>> {
    let ledger: Option<&Ledger> = snapshot.find(node).and_then(|id| snapshot.ledger(id));
    let pods = ledger.into_iter().flat_map(|ledger| &ledger.pods);
    pods.filter(|pod| snapshot.context(pod).is_of_daemon_set()).cloned().collect()
}

/// An empty node like `model`, with another name and, if given, other allocatable amounts.
pub(in crate::explain) fn node_like(
    snapshot: &Snapshot<'_>,
    model: &NodeName,
    name: &str,
    allocatable: Option<Resources>,
) -> Option<Node> {
    let node = &snapshot.ledger(snapshot.find(model)?)?.node;
    let labels = node.labels.iter().map(|(key, value)| (key, if key == HOSTNAME { name } else { value }));
    Some(Node {
        name: name.into(),
        uid: name.into(),
        labels: Labels::new(labels),
        taints: node
            .taints
            .iter()
            .filter(|taint| RefusalCode::of_taint(taint) == RefusalCode::Taint)
            .cloned()
            .collect(),
        unschedulable: false,
        is_ready: true,
        allocatable: allocatable.unwrap_or_else(|| node.allocatable.clone()),
        reservations: Box::default(),
        problem: None,
        ..(**node).clone()
    })
}
