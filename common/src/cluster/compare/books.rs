//! Does all books anew from what is believed, and compares them with those that were kept from event to event.

use super::{Difference, DifferenceKind};
use crate::cluster::Cluster;
use crate::cluster::claims::is_leaving;
use crate::cluster::ledger::{Entry, Ledger};
use crate::cluster::nodes::NodeId;
use crate::cluster::pod_affinity_counts::PodAffinityCounts;
use crate::cluster::seats::Seats;
use crate::cluster::standing::Standing;
use crate::model::Pod;
use crate::model::ids::{NodeName, PodKey, Uid};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The pods that take room, by node.
type ByNode<'c> = BTreeMap<&'c NodeName, Vec<&'c Arc<Pod>>>;

impl Cluster {
    /// What is wrong with the books, as of the moment of the last [`Cluster::advance`].
    pub(super) fn compare_books(&self) -> Vec<Difference> {
        let mut counted = self.counted_by_node();
        let mut differences = Vec::new();
        for kept in self.nodes.iter() {
            let pods = counted.remove(&kept.node.name).unwrap_or_default();
            let anew = self.ledger_anew(kept, &pods);
            let what = what_differs(kept, &anew);
            differences
                .extend(what.into_iter().map(|what| wrong(format!("node {}: {what}", kept.node.name))));
        }
        // What is left is on nodes that are not known.
        let homeless = self.homeless.iter().map(|(node, pods)| (node, uids(pods.iter())));
        if !homeless.eq(counted.into_iter().map(|(node, pods)| (node, uids(pods.into_iter())))) {
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

    fn ledger_anew(&self, kept: &Ledger, pods: &[&Arc<Pod>]) -> Ledger {
        let mut anew = Ledger::new(kept.id, Arc::clone(&kept.node));
        pods.iter().for_each(|pod| anew.add(Arc::clone(pod)));
        // Among pods alike the first is looked at first.
        anew.arrange(&kept.pods.iter().map(|pod| pod.uid.clone()).collect::<Vec<_>>());
        (anew.local, anew.extended) = (kept.local.clone(), kept.extended.clone());
        anew.settle(&self.owners, self.now);
        anew
    }

    /// What is wrong with what is kept beside the ledgers, so that nobody has to look at all of them.
    fn compare_indexes(&self) -> Vec<Difference> {
        let (mut standing, mut leaving) = (Standing::default(), BTreeSet::new());
        let mut nominated: BTreeMap<&NodeName, Vec<&Arc<Pod>>> = BTreeMap::new();
        for pod in self.pods.iter() {
            standing.add(pod);
            if is_leaving(pod) {
                leaving.insert(&pod.key);
            }
            if let Some(node) = pod.nominated.as_deref().filter(|_| self.is_nominated(pod)) {
                nominated.entry(node).or_default().push(pod);
            }
        }
        let (mut seats, mut pod_affinity) = (Seats::default(), PodAffinityCounts::default());
        let mut reserved: BTreeSet<NodeId> = BTreeSet::new();
        for ledger in self.nodes.iter() {
            seats.replace(ledger.id, &[], &ledger.entries);
            pod_affinity = pod_affinity.with(ledger.pod_affinity);
            if !ledger.entries.is_empty() {
                reserved.insert(ledger.id);
            }
        }
        let nominated = nominated.into_iter().map(|(node, pods)| (node, uids(pods.into_iter())));
        let checks = [
            (self.standing.says_same(&standing), "the number of pods of each owner that stand"),
            (
                self.leaving.iter().eq(leaving.iter().copied()),
                "the list of pods that leave or are kept a place for",
            ),
            (self.nominated_by_node().eq(nominated), "the list of nominated pods"),
            (self.seats.says_same(&seats), "the list of reservations by owner and namespace"),
            (self.pod_affinity == pod_affinity, "the number of pods with affinity terms"),
            (self.reserved == reserved, "the list of nodes with reservations"),
        ];
        let differ = checks.into_iter().filter(|(is_same, _)| !is_same);
        differ.map(|(_, what)| wrong(format!("{what} is not what the pods and nodes say"))).collect()
    }

    /// Whether room is to be kept for a waiting pod where it is nominated to.
    fn is_nominated(&self, pod: &Pod) -> bool {
        pod.is_waiting() && !self.assumed.contains_key(&pod.key)
    }

    fn nominated_by_node(&self) -> impl Iterator<Item = (&NodeName, Vec<&Uid>)> {
        self.nominated.iter().map(|(node, pods)| (node, uids(pods.iter())))
    }
}

fn wrong(what: String) -> Difference {
    Difference { kind: DifferenceKind::Books, what }
}

/// The UIDs of pods, sorted.
fn uids<'p>(pods: impl Iterator<Item = &'p Arc<Pod>>) -> Vec<&'p Uid> {
    let mut uids: Vec<&Uid> = pods.map(|pod| &pod.uid).collect();
    uids.sort();
    uids
}

/// What is wrong with the books of one node.
fn what_differs(kept: &Ledger, anew: &Ledger) -> Vec<String> {
    let mut what = Vec::new();
    if uids(kept.pods.iter()) != uids(anew.pods.iter()) {
        let (ours, theirs) = (names(&kept.pods), names(&anew.pods));
        let only = |these: &BTreeSet<&PodKey>, those: &BTreeSet<&PodKey>| {
            these.difference(those).take(3).map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let (more, fewer) = (only(&ours, &theirs), only(&theirs, &ours));
        what.push(format!("the books count pods that are not there [{more}] or do not count pods [{fewer}]"));
    }
    if (&kept.used, kept.used_non_zero) != (&anew.used, anew.used_non_zero) {
        what.push(format!(
            "the books have {}m cpu and {} bytes of memory in use, and done anew {}m and {}",
            kept.used.cpu, kept.used.memory, anew.used.cpu, anew.used.memory
        ));
    }
    if (kept.lowest_priority, kept.pod_affinity) != (anew.lowest_priority, anew.pod_affinity) {
        what.push("the books have another lowest priority or number of pods with affinity terms".to_owned());
    }
    let is_same = kept.entries.len() == anew.entries.len()
        && kept.entries.iter().zip(&anew.entries).all(|(one, other)| is_same_entry(one, other));
    if !is_same {
        what.push(format!("the books have the reservations {}, and done anew {}", line(kept), line(anew)));
    }
    what
}

fn names(pods: &[Arc<Pod>]) -> BTreeSet<&PodKey> {
    pods.iter().map(|pod| &pod.key).collect()
}

fn is_same_entry(one: &Entry, other: &Entry) -> bool {
    let taker = |entry: &Entry| entry.taken_by.as_ref().map(|pod| pod.uid.clone());
    (&one.reservation, one.state, &one.held, &one.pool)
        == (&other.reservation, other.state, &other.held, &other.pool)
        && taker(one) == taker(other)
}

/// The reservations of a node with their states, the first few of them.
fn line(ledger: &Ledger) -> String {
    let each = ledger
        .entries
        .iter()
        .take(5)
        .map(|entry| format!("{} {} {}m", entry.reservation.id, entry.state.as_str(), entry.held.cpu));
    format!("[{}]", each.collect::<Vec<_>>().join(", "))
}
