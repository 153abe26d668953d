//! Compares the belief with lists of nodes and pods that were read apart from the watches, and the ledgers with ledgers that are
//! computed anew. Order of calls: [`Cluster::begin_comparison`], list, [`Comparison::new`], [`Comparison::step`] until it returns
//! the differences, [`Cluster::end_comparison`].
//!
//! The list and the watches are different streams, so the belief can be older or newer than the list. Each object has a version,
//! and of each kind the belief has seen every version up to [`Cluster::newest_versions`]. Therefore:
//!
//! - nothing is compared before the belief has seen the newest object of the list;
//! - an object is not compared when the belief has a version of it that is newer than the list;
//! - a listed object that the belief does not have is no difference if it was removed since [`Cluster::begin_comparison`], or if
//!   its kind was listed again since then: it may have been added and removed between two versions that the belief has seen;
//! - an object that the list does not have is a difference only once the belief has seen everything up to the version of the list
//!   itself, because before that the deletion event may still come.
//!
//! So every reported difference is certainly an error. The ledgers need no list and no waiting: they follow from the nodes, pods
//! and owners of the belief, the pending writes, and the time.

mod ledgers;
mod objects;
#[cfg(test)]
mod tests;

use crate::cluster::{Cluster, Event, WatchEvent};
use crate::model::{Node, NodeName, Pod, PodKey, Uid};
use objects::{Comparable, compare_objects};
use std::collections::BTreeSet;
use std::fmt;

/// All objects of one kind, as the API server listed them.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedObjects<T> {
    pub objects: Vec<T>,
    pub version: u64,
}

/// All nodes and all pods that have not ended, as the API server listed them.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    pub nodes: ListedObjects<Node>,
    pub pods: ListedObjects<Pod>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// The belief has a node otherwise than the API server.
    Nodes,
    /// The belief has a pod otherwise than the API server.
    Pods,
    /// A ledger or an index differs from the one that is computed anew.
    Ledgers,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub kind: DifferenceKind,
    /// What differs, in a sentence, with the name of the node or pod.
    pub description: String,
}

#[derive(Debug, Default)]
pub(in crate::cluster) struct Removals {
    uids: BTreeSet<Uid>,
    /// Whether all nodes, and whether all pods, were listed again: then objects may have been added and removed unseen.
    is_listed_again: (bool, bool),
}

#[derive(Debug)]
pub struct Comparison {
    /// The lists, until they are compared.
    listing: Option<Listing>,
    list_versions: (u64, u64),
    /// The versions of nodes and of pods that the belief must have seen before the comparison goes on.
    awaited: (u64, u64),
    unlisted_nodes: Vec<(NodeName, Uid)>,
    unlisted_pods: Vec<(PodKey, Uid)>,
    differences: Vec<Difference>,
}

impl Cluster {
    /// From now on the belief notes which nodes and pods are removed. The list of the comparison has to be requested after this.
    pub fn begin_comparison(&mut self) {
        self.removals = Some(Removals::default());
    }

    pub fn end_comparison(&mut self) {
        self.removals = None;
    }

    /// Notes that a node or a pod was removed from the belief.
    pub(in crate::cluster) fn note_removed(&mut self, uid: &Uid) {
        if let Some(removals) = &mut self.removals {
            removals.uids.insert(uid.clone());
        }
    }

    pub(in crate::cluster) fn note_listed_again(&mut self, event: &Event) {
        let Some(removals) = &mut self.removals else { return };
        match event {
            Event::Nodes(WatchEvent::Relisted(_)) => removals.is_listed_again.0 = true,
            Event::Pods(WatchEvent::Relisted(_)) => removals.is_listed_again.1 = true,
            _ => {}
        }
    }

    fn believed_node(&self, name: &NodeName) -> Option<&Node> {
        self.nodes.id(name).and_then(|id| self.nodes.get(id)).map(|ledger| &*ledger.node)
    }

    fn believed_pod(&self, key: &PodKey) -> Option<&Pod> {
        self.pods.get(key).map(|pod| &**pod)
    }
}

impl Comparison {
    /// A comparison with what the API server listed after [`Cluster::begin_comparison`].
    pub fn new(listing: Listing) -> Self {
        Self {
            list_versions: (listing.nodes.version, listing.pods.version),
            awaited: (newest(&listing.nodes), newest(&listing.pods)),
            listing: Some(listing),
            unlisted_nodes: Vec::new(),
            unlisted_pods: Vec::new(),
            differences: Vec::new(),
        }
    }

    /// Continues the comparison, and returns all differences once they are known. `None` means that the belief has to see more
    /// first: call this again after the next event. The ledgers are compared as of the last [`Cluster::advance`].
    pub fn step(&mut self, cluster: &Cluster) -> Option<Vec<Difference>> {
        if !self.is_due(cluster) {
            return None;
        }
        if let Some(listing) = self.listing.take() {
            self.compare(&listing, cluster);
        }
        if !self.is_due(cluster) {
            return None;
        }
        let nodes = std::mem::take(&mut self.unlisted_nodes);
        self.differences.extend(unlisted(nodes, self.list_versions.0, |name| cluster.believed_node(name)));
        let pods = std::mem::take(&mut self.unlisted_pods);
        self.differences.extend(unlisted(pods, self.list_versions.1, |key| cluster.believed_pod(key)));
        Some(std::mem::take(&mut self.differences))
    }

    fn is_due(&self, cluster: &Cluster) -> bool {
        let seen = cluster.newest_versions();
        seen.0 >= self.awaited.0 && seen.1 >= self.awaited.1
    }

    fn compare(&mut self, listing: &Listing, cluster: &Cluster) {
        let none = Removals::default();
        let Removals { uids, is_listed_again } = cluster.removals.as_ref().unwrap_or(&none);
        let may_have_left = |uid: &Uid| is_listed_again.0 || uids.contains(uid);
        let believed = cluster.nodes.iter().map(|ledger| &*ledger.node);
        let nodes =
            compare_objects(&listing.nodes, |name| cluster.believed_node(name), believed, may_have_left);
        let may_have_left = |uid: &Uid| is_listed_again.1 || uids.contains(uid);
        let believed = cluster.pods.iter().map(|pod| &**pod);
        let pods = compare_objects(&listing.pods, |key| cluster.believed_pod(key), believed, may_have_left);
        self.differences.extend(nodes.differences.into_iter().chain(pods.differences));
        self.differences.extend(cluster.compare_ledgers());
        (self.unlisted_nodes, self.unlisted_pods) = (nodes.unlisted, pods.unlisted);
        let awaited = |is_empty: bool, listed: u64| if is_empty { 0 } else { listed };
        self.awaited = (
            awaited(self.unlisted_nodes.is_empty(), self.list_versions.0),
            awaited(self.unlisted_pods.is_empty(), self.list_versions.1),
        );
    }
}

fn newest<T: Comparable>(list: &ListedObjects<T>) -> u64 {
    list.objects.iter().map(Comparable::version).max().unwrap_or(0)
}

/// The suspects that the belief still has, although it has seen everything up to the version of the list without them.
fn unlisted<'c, T: Comparable + 'c>(
    suspects: Vec<(T::Key, Uid)>,
    listed: u64,
    believed: impl Fn(&T::Key) -> Option<&'c T>,
) -> Vec<Difference> {
    let is_still_there = |(key, uid): &(T::Key, Uid)| {
        believed(key).is_some_and(|object| object.uid() == uid && object.version() <= listed)
    };
    let wrong = suspects.into_iter().filter(is_still_there);
    wrong.map(|(key, _)| T::difference(&key, "the belief has it, and the API server does not")).collect()
}

impl DifferenceKind {
    pub const ALL: [Self; 3] = [Self::Nodes, Self::Pods, Self::Ledgers];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Pods => "pods",
            Self::Ledgers => "books",
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description)
    }
}
