//! One more node: as large as the pod and the DaemonSets that would come along need it, and otherwise like those there are.

use crate::explain::input::Input;
use crate::explain::judge::View;
use crate::explain::report::{Cost, Fix};
use crate::explain::trial::{Edit, Trial};
use common::cluster::{Cluster, Ledger, Snapshot};
use common::model::{Labels, Node, NodeName, Pod, ResourceName, Resources};
use std::sync::Arc;

/// The label that a new node has a value of its own for.
pub(in crate::explain) const HOSTNAME: &str = "kubernetes.io/hostname";

/// The name that a node has that is not there yet.
pub(in crate::explain) const NEW: &str = "new-node";

/// A node that would do.
pub(super) fn node(cluster: &mut Cluster, input: &Input<'_>, near: &[&View]) -> Option<Fix> {
    let model: &View = near.iter().find(|view| view.is_right_kind()).or_else(|| near.first())?;
    let needs = size(&cluster.snapshot(input.now), input, model)?;
    let node = like(&cluster.snapshot(input.now), &model.name, NEW, Some(needs.clone()))?;
    let mut trial = Trial::new(cluster, input.pod, input.now);
    trial.apply(&Edit::AddNode(Box::new(node.clone()))).ok()?;
    let daemons = daemons(&trial.cluster().snapshot(input.now), &model.name);
    let has_daemons = !daemons.is_empty();
    for pod in daemons {
        trial.host(&pod, &node.name);
    }
    if trial.can_have(input.rules, &node.name) != Ok(true) {
        return None;
    }
    let hosted = if has_daemons { " (DaemonSets included)" } else { "" };
    let amounts: Vec<String> = needs
        .iter()
        .filter(|(resource, _)| *resource != ResourceName::Pods)
        .map(|(resource, amount)| format!("{resource} >= {}", resource.format(amount)))
        .collect();
    Some(Fix {
        id: String::new(),
        kind: "AddNode",
        target: "node".to_owned(),
        lands_on: None,
        what: format!("add a node like {} with {} allocatable{hosted}", model.name, amounts.join(", ")),
        disturbs: Vec::new(),
        cost: Cost::Hardware,
        commands: Vec::new(),
        needs: Vec::new(),
        allowed: None,
        edits: vec![Edit::AddNode(Box::new(node))],
    })
}

/// What a node must have: what the pod asks for, and the DaemonSets of a node like `model`.
fn size(snapshot: &Snapshot<'_>, input: &Input<'_>, model: &View) -> Option<Resources> {
    let mut needs = input.pod.spec.requests.incoming.clone();
    for pod in daemons(snapshot, &model.name) {
        needs.add_assign(pod.spec.requests.counted());
    }
    let slots = snapshot.ledger(model.id)?.node.allocatable.pods;
    needs.pods = needs.pods.max(slots);
    Some(needs)
}

/// The pods of DaemonSets on the node.
fn daemons(snapshot: &Snapshot<'_>, node: &NodeName) -> Vec<Arc<Pod>> {
    let ledger: Option<&Ledger> = snapshot.find(node).and_then(|id| snapshot.ledger(id));
    let pods = ledger.into_iter().flat_map(|ledger| &ledger.pods);
    pods.filter(|pod| snapshot.pod_context(pod).is_of_daemon_set()).cloned().collect()
}

/// An empty node like the one called `model`, with another name and, if given, other amounts.
pub(in crate::explain) fn like(
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
            .filter(|taint| !crate::explain::kind::is_condition(taint))
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
