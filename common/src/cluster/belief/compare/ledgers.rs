//! Computes all ledgers and indexes anew from the belief, and compares them with the stored ones, which were updated event by
//! event.

use super::{Difference, DifferenceKind};
use crate::cluster::Cluster;
use crate::cluster::ledger::Entry;
use crate::cluster::reservations::active_pods::ActivePodCounts;
use crate::cluster::reservations::index::ReservationIndex;
use crate::cluster::reservations::pods_by_controller::is_reservation_candidate;
use crate::cluster::{Ledger, NodeId, PodAffinityCounts};
use crate::model::{NodeName, Pod, PodKey, Uid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

type ByNode<'c> = BTreeMap<&'c NodeName, Vec<&'c Arc<Pod>>>;

impl Cluster {
    /// The errors in ledgers and indexes, as of the last [`Cluster::advance`].
    pub(super) fn compare_ledgers(&self) -> Vec<Difference> {
        let mut counted = self.counted_by_node();
        let mut differences = Vec::new();
        for stored in self.nodes.iter() {
            let pods = counted.remove(&stored.node.name).unwrap_or_default();
            let computed = self.compute_ledger(stored, &pods);
            let texts = ledger_differences(stored, &computed);
            differences
                .extend(texts.into_iter().map(|text| wrong(format!("node {}: {text}", stored.node.name))));
        }
        // The rest are pods on unknown nodes.
        let on_unknown_nodes =
            self.pods_on_unknown_nodes.iter().map(|(node, pods)| (node, uids(pods.iter())));
        if !on_unknown_nodes.eq(counted.into_iter().map(|(node, pods)| (node, uids(pods.into_iter())))) {
            differences.push(wrong("the pods on nodes that are not known are others".to_owned()));
        }
        differences.extend(self.compare_indexes());
        differences
    }

    fn counted_by_node(&self) -> ByNode<'_> {
        let mut counted = ByNode::new();
        let bound = self.pods.iter().filter(|pod| pod.is_counted());
        for pod in bound.chain(self.assumed.values()) {
            if let Some(node) = &pod.node {
                counted.entry(node).or_default().push(pod);
            }
        }
        counted
    }

    fn compute_ledger(&self, stored: &Ledger, pods: &[&Arc<Pod>]) -> Ledger {
        let mut computed = Ledger::new(stored.id, Arc::clone(&stored.node));
        pods.iter().for_each(|pod| computed.add(Arc::clone(pod)));
        // The order of the pods decides between pods that are otherwise equal.
        computed.arrange(&stored.pods.iter().map(|pod| pod.uid.clone()).collect::<Vec<_>>());
        (computed.local_reservations, computed.local_extensions) =
            (stored.local_reservations.clone(), stored.local_extensions.clone());
        computed.recompute_entries(&self.owners, self.now);
        computed
    }

    /// The errors in the indexes, which are stored beside the ledgers so that a lookup need not read all of them.
    fn compare_indexes(&self) -> Vec<Difference> {
        let (mut active_pods, mut candidates) = (ActivePodCounts::default(), BTreeSet::new());
        let mut nominated: BTreeMap<&NodeName, Vec<&Arc<Pod>>> = BTreeMap::new();
        for pod in self.pods.iter() {
            active_pods.add(pod);
            if is_reservation_candidate(pod) {
                candidates.insert(&pod.key);
            }
            if let Some(node) = pod.nominated_node.as_deref().filter(|_| self.is_nominated(pod)) {
                nominated.entry(node).or_default().push(pod);
            }
        }
        let (mut reservation_index, mut pod_affinity) =
            (ReservationIndex::default(), PodAffinityCounts::default());
        let mut reserved: BTreeSet<NodeId> = BTreeSet::new();
        for ledger in self.nodes.iter() {
            reservation_index.replace(ledger.id, &[], &ledger.entries);
            pod_affinity = pod_affinity.with(ledger.pod_affinity);
            if !ledger.entries.is_empty() {
                reserved.insert(ledger.id);
            }
        }
        let nominated = nominated.into_iter().map(|(node, pods)| (node, uids(pods.into_iter())));
        let checks = [
            (self.active_pods.is_same(&active_pods), "the number of pods of each owner that stand"),
            (
                self.reservation_candidates.iter().eq(candidates.iter().copied()),
                "the list of pods that leave or are kept a place for",
            ),
            (self.nominated_by_node().eq(nominated), "the list of nominated pods"),
            (
                self.reservation_index.is_same(&reservation_index),
                "the list of reservations by owner and namespace",
            ),
            (self.pod_affinity == pod_affinity, "the number of pods with affinity terms"),
            (self.reserved == reserved, "the list of nodes with reservations"),
        ];
        let differ = checks.into_iter().filter(|(is_same, _)| !is_same);
        differ.map(|(_, what)| wrong(format!("{what} is not what the pods and nodes say"))).collect()
    }

    /// Whether room is kept for a waiting pod on the node that it is nominated to.
    fn is_nominated(&self, pod: &Pod) -> bool {
        pod.is_waiting() && !self.assumed.contains_key(&pod.key)
    }

    fn nominated_by_node(&self) -> impl Iterator<Item = (&NodeName, Vec<&Uid>)> {
        self.nominated.iter().map(|(node, pods)| (node, uids(pods.iter())))
    }
}

fn wrong(description: String) -> Difference {
    Difference { kind: DifferenceKind::Ledgers, description }
}

/// The UIDs of pods, sorted.
fn uids<'p>(pods: impl Iterator<Item = &'p Arc<Pod>>) -> Vec<&'p Uid> {
    let mut uids: Vec<&Uid> = pods.map(|pod| &pod.uid).collect();
    uids.sort();
    uids
}

fn ledger_differences(stored: &Ledger, computed: &Ledger) -> Vec<String> {
    let mut differences = Vec::new();
    if uids(stored.pods.iter()) != uids(computed.pods.iter()) {
        let (ours, theirs) = (names(&stored.pods), names(&computed.pods));
        let only = |these: &BTreeSet<&PodKey>, those: &BTreeSet<&PodKey>| {
            these.difference(those).take(3).map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let (more, fewer) = (only(&ours, &theirs), only(&theirs, &ours));
        differences
            .push(format!("the books count pods that are not there [{more}] or do not count pods [{fewer}]"));
    }
    if (&stored.used, stored.used_non_zero) != (&computed.used, computed.used_non_zero) {
        differences.push(format!(
            "the books have {}m cpu and {} bytes of memory in use, and done anew {}m and {}",
            stored.used.cpu, stored.used.memory, computed.used.cpu, computed.used.memory
        ));
    }
    if (stored.lowest_priority, stored.pod_affinity) != (computed.lowest_priority, computed.pod_affinity) {
        differences
            .push("the books have another lowest priority or number of pods with affinity terms".to_owned());
    }
    let is_same = stored.entries.len() == computed.entries.len()
        && stored.entries.iter().zip(&computed.entries).all(|(one, other)| is_same_entry(one, other));
    if !is_same {
        differences.push(format!(
            "the books have the reservations {}, and done anew {}",
            line(stored),
            line(computed)
        ));
    }
    differences
}

fn names(pods: &[Arc<Pod>]) -> BTreeSet<&PodKey> {
    pods.iter().map(|pod| &pod.key).collect()
}

fn is_same_entry(one: &Entry, other: &Entry) -> bool {
    let taker = |entry: &Entry| entry.taken_by.as_ref().map(|pod| pod.uid.clone());
    (&one.reservation, one.state, &one.held, &one.unused)
        == (&other.reservation, other.state, &other.held, &other.unused)
        && taker(one) == taker(other)
}

/// The first five reservations of a node with their states.
fn line(ledger: &Ledger) -> String {
    let each = ledger
        .entries
        .iter()
        .take(5)
        .map(|entry| format!("{} {} {}m", entry.reservation.id, entry.state.as_str(), entry.held.cpu));
    format!("[{}]", each.collect::<Vec<_>>().join(", "))
}
