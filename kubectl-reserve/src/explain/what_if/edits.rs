//! Turns an expression of `--what-if` into changes of the cluster. Entry point: [`edits`].

use super::WhatIf;
use crate::explain::fix::add_node::{self, NEW};
use crate::explain::input::Input;
use crate::explain::judge;
use crate::explain::trial::{Edit, taints_named};
use common::cluster::Snapshot;
use common::model::{
    Labels, Node, NodeName, OwnerKind, PodKey, ReservationId, Resources, Taint, TaintEffect,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The changes that one expression stands for.
pub(super) fn edits(
    snapshot: &Snapshot<'_>,
    input: &Input<'_>,
    change: &WhatIf,
) -> Result<Vec<Edit>, String> {
    let find = |name: &NodeName| {
        let ledger = snapshot.find(name).and_then(|id| snapshot.ledger(id));
        ledger.ok_or_else(|| format!("there is no node {name}"))
    };
    Ok(match change {
        WhatIf::Request(resource, amount) => vec![Edit::Request(vec![(resource.clone(), *amount)])],
        WhatIf::Uncordon(node) => vec![Edit::Uncordon(find(node)?.node.name.clone())],
        WhatIf::Tolerate { key, value, effect } => tolerations(key, value.as_deref(), *effect),
        WhatIf::Untaint(node, text) => {
            let found = taints_named(&find(node)?.node, text);
            if found.is_empty() {
                return Err(format!("node {node} has no taint {text}"));
            }
            found.into_iter().map(|taint| Edit::Untaint(node.clone(), taint.clone())).collect()
        }
        WhatIf::Label(node, key, value) => {
            vec![Edit::Label(find(node)?.node.name.clone(), vec![(key.clone(), value.clone())])]
        }
        WhatIf::Release(name) => {
            let (node, id) = reservation(snapshot, name)?;
            vec![Edit::Release(node, id)]
        }
        WhatIf::Scale(kind, name, replicas) => scale_down(snapshot, input, *kind, name, *replicas)?,
        WhatIf::Evict(namespace, name) => {
            let namespace = namespace.as_deref().unwrap_or(&input.pod.key.namespace);
            vec![Edit::RemovePod(PodKey::new(namespace, name.as_str()))]
        }
        WhatIf::Priority(priority) => vec![Edit::Priority(*priority)],
        WhatIf::AddLike(model) => {
            find(model)?;
            let node = add_node::node_like(snapshot, model, NEW, None);
            node.map(|node| Edit::AddNode(Box::new(node))).into_iter().collect()
        }
        WhatIf::AddNode(has) => vec![Edit::AddNode(Box::new(minimal_node(has)))],
    })
}

fn tolerations(key: &str, value: Option<&str>, effect: Option<TaintEffect>) -> Vec<Edit> {
    let effects =
        effect.map_or_else(|| vec![TaintEffect::NoSchedule, TaintEffect::NoExecute], |effect| vec![effect]);
    let taint = |effect| Taint { key: key.into(), value: value.unwrap_or_default().into(), effect };
    effects.into_iter().map(|effect| Edit::Tolerate(taint(effect))).collect()
}

/// A node with nothing but a name and allocatable amounts.
fn minimal_node(has: &Resources) -> Node {
    Node {
        name: NEW.into(),
        uid: NEW.into(),
        resource_version: 0,
        labels: Labels::new([(add_node::HOSTNAME, NEW)]),
        taints: Box::default(),
        unschedulable: false,
        is_ready: true,
        allocatable: has.clone(),
        images: Box::default(),
        features: Box::default(),
        reservations: Box::default(),
        annotations: common::model::node::AnnotationSize::default(),
        problem: None,
    }
}

/// The only reservation called `name`, or `NODE/NAME`.
fn reservation(snapshot: &Snapshot<'_>, name: &str) -> Result<(NodeName, ReservationId), String> {
    let (node, wanted) = name.split_once('/').map_or((None, name), |(node, name)| (Some(node), name));
    let mut found = Vec::new();
    for ledger in
        snapshot.reserved().filter(|ledger| node.is_none_or(|node| ledger.node.name.as_str() == node))
    {
        let own = ledger.entries.iter().map(|entry| &entry.reservation.id);
        let named = own.filter(|id| judge::reservation_name(id) == wanted || id.to_string() == wanted);
        found.extend(named.map(|id| (ledger.node.name.clone(), id.clone())));
    }
    match &found[..] {
        [only] => Ok(only.clone()),
        [] => Err(format!("there is no reservation {name}")),
        several => {
            let all: Vec<String> = several.iter().map(|(node, _)| format!("{node}/{wanted}")).collect();
            Err(format!("{name} is the name of several reservations: {}", all.join(", ")))
        }
    }
}

/// The pods that are removed when a workload is scaled down: Pending ones first, then the highest ordinals of a StatefulSet, or, of
/// other workloads, pods that share a node with the most others, the newest first.
fn scale_down(
    snapshot: &Snapshot<'_>,
    input: &Input<'_>,
    kind: OwnerKind,
    name: &str,
    replicas: usize,
) -> Result<Vec<Edit>, String> {
    let namespace = input.pod.key.namespace.clone();
    let top = snapshot.owners().named(kind, &namespace, &name.into());
    let top = top.ok_or_else(|| format!("there is no {kind} {name} in {namespace}"))?;
    let is_own = |pod: &common::model::Pod| snapshot.context(pod).is_owned_by(&top.uid);
    let bound = snapshot.nodes().flat_map(|ledger| &ledger.pods).filter(|pod| pod.key.namespace == namespace);
    let mut pods: Vec<_> = bound.filter(|pod| is_own(pod)).collect();
    let waiting: Vec<_> = snapshot.waiting_in(&namespace).filter(|pod| is_own(pod)).collect();
    let mut shared: BTreeMap<&NodeName, usize> = BTreeMap::new();
    pods.iter().filter_map(|pod| pod.node.as_ref()).for_each(|node| *shared.entry(node).or_default() += 1);
    let number =
        |pod: &common::model::Pod| pod.key.name.rsplit('-').next().and_then(|text| text.parse::<u64>().ok());
    pods.sort_by_key(|pod| {
        let beside = pod.node.as_ref().and_then(|node| shared.get(node)).copied();
        let by_number = Reverse(number(pod).filter(|_| kind == OwnerKind::StatefulSet));
        (by_number, Reverse(beside), Reverse(pod.created), pod.key.clone())
    });
    let all = pods.len() + waiting.len();
    let going = all.saturating_sub(replicas);
    let order = waiting.into_iter().chain(pods).filter(|pod| pod.uid != input.pod.uid);
    Ok(order.take(going).map(|pod| Edit::RemovePod(pod.key.clone())).collect())
}
