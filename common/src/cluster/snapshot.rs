//! What decisions read: every node with its books, as of one moment.

use super::ledger::{Counted, Ledger};
use super::whose::Asker;
use super::{Assumed, Owners};
use crate::model::ids::{NodeName, PodKey};
use crate::model::pod::Feature;
use crate::model::{Node, Pod};
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The cluster as of one moment.
#[derive(Debug)]
pub struct Snapshot<'w> {
    /// Every node with its books, in node order.
    pub nodes: Vec<Ledger<'w>>,
    /// A pod on some node that keeps certain other pods away from it, if there is one.
    pub repelling_pod: Option<&'w PodKey>,
    owners: &'w Owners,
}

impl<'w> Snapshot<'w> {
    /// Does the books of all nodes.
    pub(super) fn new(
        nodes: &'w BTreeMap<NodeName, Node>,
        pods: &'w BTreeMap<PodKey, Pod>,
        assumed: &'w BTreeMap<PodKey, Assumed>,
        owners: &'w Owners,
        now: Timestamp,
    ) -> Self {
        let mut by_node: BTreeMap<&NodeName, Vec<Counted<'w>>> = BTreeMap::new();
        let mut repelling_pod = None;
        for pod in pods.values() {
            let assumption = assumed.get(&pod.key).filter(|assumed| assumed.uid == pod.uid);
            if let Some((node, counted)) = counted(pod, assumption, owners) {
                by_node.entry(node).or_default().push(counted);
                if repelling_pod.is_none() && pod.spec.features.contains(Feature::RequiredAntiAffinity) {
                    repelling_pod = Some(&pod.key);
                }
            }
        }
        let ledger = |node: &'w Node| {
            let pods = by_node.remove(&node.name).unwrap_or_default();
            Ledger::new(node, &pods, now)
        };
        Self { nodes: nodes.values().map(ledger).collect(), repelling_pod, owners }
    }

    /// `pod` with its owners, ready to ask for room.
    pub fn asker<'p>(&self, pod: &'p Pod) -> Asker<'p>
    where
        'w: 'p,
    {
        Asker::new(pod, self.owners)
    }
}

/// Where a pod takes room, if anywhere.
fn counted<'w>(
    pod: &'w Pod,
    assumption: Option<&'w Assumed>,
    owners: &'w Owners,
) -> Option<(&'w NodeName, Counted<'w>)> {
    let asker = Asker::new(pod, owners);
    if let Some(assumed) = assumption {
        let stamp = assumed.seat.as_ref().map(|seat| Cow::Owned(seat.to_string()));
        return Some((&assumed.node, Counted { asker, stamp, since: Some(assumed.since) }));
    }
    let node = pod.node.as_ref().filter(|_| pod.is_counted())?;
    let stamp = pod.stamp.as_deref().map(Cow::Borrowed);
    Some((node, Counted { asker, stamp, since: pod.scheduled_at() }))
}
