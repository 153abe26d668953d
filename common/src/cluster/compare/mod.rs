//! Compares the belief with lists of nodes and pods that were read apart from the watches, and the books with books that
//! are done anew.
//!
//! The list and the watches are different streams, so that the belief can be older or newer than the list. Each object has
//! a version, and of each kind the belief has seen every version up to [`Cluster::newest`]. Therefore:
//!
//! - nothing is compared before the belief has seen the newest object of the list;
//! - an object is not compared when the belief has a version of it that is newer than the list;
//! - an object that left the belief since [`Cluster::begin_comparison`] is not missed, and none is if its kind was listed again
//!   since then: it may have come and gone between two versions that the belief has seen;
//! - an object that the list does not have counts as a difference only once the belief has seen everything up to the version
//!   of the list itself, because before that its deletion may still be on its way.
//!
//! What then differs is wrong for certain, and does not go away by waiting. The books need no list and no waiting: they follow
//! from the nodes, pods and owners that are believed, what is about to be written, and the time.

mod books;
mod objects;
#[cfg(test)]
mod tests;

use super::{Cluster, Event, Seen};
use crate::model::ids::{NodeName, PodKey, Uid};
use crate::model::{Node, Pod};
use objects::{Object, compare_objects};
use std::collections::BTreeSet;
use std::fmt;

/// All objects of one kind, as the API server listed them.
#[derive(Clone, Debug, PartialEq)]
pub struct List<T> {
    /// The objects.
    pub objects: Vec<T>,
    /// The version of the list itself.
    pub version: u64,
}

/// All nodes and all pods that have not ended, as the API server listed them.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The nodes.
    pub nodes: List<Node>,
    /// The pods.
    pub pods: List<Pod>,
}

/// What a difference is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// A node is believed otherwise than the API server has it.
    Nodes,
    /// A pod is believed otherwise than the API server has it.
    Pods,
    /// The books are others than those that are done anew.
    Books,
}

/// One thing that is believed and is not so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it is about.
    pub kind: DifferenceKind,
    /// What differs, in a sentence, with the name of the node or pod.
    pub what: String,
}

/// What left the belief while it is compared.
#[derive(Debug, Default)]
pub(super) struct Departed {
    /// The nodes and pods that left.
    uids: BTreeSet<Uid>,
    /// Whether all nodes and whether all pods were listed again: others may have come and gone unseen.
    is_listed_again: (bool, bool),
}

/// A comparison that has begun.
#[derive(Debug)]
pub struct Comparison {
    /// What is still to be compared.
    listing: Option<Listing>,
    /// The versions of the two lists.
    listed: (u64, u64),
    /// The versions of nodes and of pods that the belief must have seen before the comparison goes on.
    awaited: (u64, u64),
    /// Nodes that are believed and were not listed.
    nodes: Vec<(NodeName, Uid)>,
    /// Pods that are believed and were not listed.
    pods: Vec<(PodKey, Uid)>,
    differences: Vec<Difference>,
}

impl Cluster {
    /// From now on the belief notes which nodes and pods leave it. A list that is compared has to be asked for after this.
    pub fn begin_comparison(&mut self) {
        self.departed = Some(Departed::default());
    }

    /// The comparison is over, or was given up.
    pub fn end_comparison(&mut self) {
        self.departed = None;
    }

    /// A node or a pod has left the belief.
    pub(super) fn note_departed(&mut self, uid: &Uid) {
        if let Some(departed) = &mut self.departed {
            departed.uids.insert(uid.clone());
        }
    }

    /// All nodes or all pods may have been listed again.
    pub(super) fn note_listed_again(&mut self, event: &Event) {
        let Some(departed) = &mut self.departed else { return };
        match event {
            Event::Nodes(Seen::Relisted(_)) => departed.is_listed_again.0 = true,
            Event::Pods(Seen::Relisted(_)) => departed.is_listed_again.1 = true,
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
            listed: (listing.nodes.version, listing.pods.version),
            awaited: (newest(&listing.nodes), newest(&listing.pods)),
            listing: Some(listing),
            nodes: Vec::new(),
            pods: Vec::new(),
            differences: Vec::new(),
        }
    }

    /// Goes on with the comparison, and returns all differences once they are known. `None` means that the belief has to see
    /// more before; then this is to be called again after the next event. The belief is as of [`Cluster::advance`].
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
        let nodes = std::mem::take(&mut self.nodes);
        self.differences.extend(unlisted(nodes, self.listed.0, |name| cluster.believed_node(name)));
        let pods = std::mem::take(&mut self.pods);
        self.differences.extend(unlisted(pods, self.listed.1, |key| cluster.believed_pod(key)));
        Some(std::mem::take(&mut self.differences))
    }

    fn is_due(&self, cluster: &Cluster) -> bool {
        let seen = cluster.newest();
        seen.0 >= self.awaited.0 && seen.1 >= self.awaited.1
    }

    fn compare(&mut self, listing: &Listing, cluster: &Cluster) {
        let nobody = Departed::default();
        let Departed { uids, is_listed_again } = cluster.departed.as_ref().unwrap_or(&nobody);
        let may_have_left = |uid: &Uid| is_listed_again.0 || uids.contains(uid);
        let believed = cluster.nodes.iter().map(|ledger| &*ledger.node);
        let nodes =
            compare_objects(&listing.nodes, |name| cluster.believed_node(name), believed, may_have_left);
        let may_have_left = |uid: &Uid| is_listed_again.1 || uids.contains(uid);
        let believed = cluster.pods.iter().map(|pod| &**pod);
        let pods = compare_objects(&listing.pods, |key| cluster.believed_pod(key), believed, may_have_left);
        self.differences.extend(nodes.differences.into_iter().chain(pods.differences));
        self.differences.extend(cluster.compare_books());
        (self.nodes, self.pods) = (nodes.unlisted, pods.unlisted);
        let awaited = |is_empty: bool, listed: u64| if is_empty { 0 } else { listed };
        self.awaited =
            (awaited(self.nodes.is_empty(), self.listed.0), awaited(self.pods.is_empty(), self.listed.1));
    }
}

/// The version of the newest object in a list.
fn newest<T: Object>(list: &List<T>) -> u64 {
    list.objects.iter().map(Object::version).max().unwrap_or(0)
}

/// Those of the objects that the belief still has, although it has seen everything up to the list that did not have them.
fn unlisted<'c, T: Object + 'c>(
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
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Nodes, Self::Pods, Self::Books];

    /// The kind in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Pods => "pods",
            Self::Books => "books",
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
