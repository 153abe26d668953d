//! Compares the objects of one kind in the belief with a list of them. Entry point: [`compare_objects`].

use super::{Difference, DifferenceKind, ListedObjects};
use crate::model::{Node, NodeName, Pod, PodKey, Uid};
use std::collections::BTreeSet;
use std::fmt::Display;

pub(super) trait Comparable {
    type Key: Ord + Clone + Display;

    fn key(&self) -> &Self::Key;

    fn uid(&self) -> &Uid;

    fn version(&self) -> u64;

    /// Whether both have the same content, apart from decisions that the API server does not have yet.
    fn is_same(&self, listed: &Self) -> bool;

    fn difference(key: &Self::Key, text: &str) -> Difference;
}

pub(super) struct ObjectDifferences<K> {
    /// Certain errors.
    pub(super) differences: Vec<Difference>,
    pub(super) unlisted: Vec<(K, Uid)>,
}

/// Compares a list with the objects of the belief: `by_key` finds one of them, and `believed` are all of them. `may_have_left` says
/// whether an object may have been removed from the belief since the list was requested.
pub(super) fn compare_objects<'c, T: Comparable + 'c>(
    list: &ListedObjects<T>,
    by_key: impl Fn(&T::Key) -> Option<&'c T>,
    believed: impl Iterator<Item = &'c T>,
    may_have_left: impl Fn(&Uid) -> bool,
) -> ObjectDifferences<T::Key> {
    let wrong = list.objects.iter().filter_map(|listed| {
        let text = match by_key(listed.key()) {
            None if may_have_left(listed.uid()) => return None,
            None => "the API server has it, and the belief does not".to_owned(),
            Some(object) => object_difference(object, listed, list.version)?,
        };
        Some(T::difference(listed.key(), &text))
    });
    let differences = wrong.collect();
    let keys: BTreeSet<&T::Key> = list.objects.iter().map(Comparable::key).collect();
    let unlisted = believed.filter(|object| object.version() <= list.version && !keys.contains(object.key()));
    let unlisted = unlisted.map(|object| (object.key().clone(), object.uid().clone())).collect();
    ObjectDifferences { differences, unlisted }
}

/// How an object of the belief differs from the listed one with the same key.
fn object_difference<T: Comparable>(believed: &T, listed: &T, list_version: u64) -> Option<String> {
    if believed.version() > list_version {
        // The object changed after the list.
        return None;
    }
    if believed.uid() != listed.uid() {
        return Some("the belief has another object of that name".to_owned());
    }
    if believed.version() != listed.version() {
        let (ours, theirs) = (believed.version(), listed.version());
        return Some(format!("the belief has version {ours}, and the API server has version {theirs}"));
    }
    (!believed.is_same(listed)).then(|| "the belief has this version with another content".to_owned())
}

impl Comparable for Node {
    type Key = NodeName;

    fn key(&self) -> &NodeName {
        &self.name
    }

    fn uid(&self) -> &Uid {
        &self.uid
    }

    fn version(&self) -> u64 {
        self.resource_version
    }

    fn is_same(&self, listed: &Self) -> bool {
        self == listed
    }

    fn difference(name: &NodeName, text: &str) -> Difference {
        Difference { kind: DifferenceKind::Nodes, description: format!("node {name}: {text}") }
    }
}

impl Comparable for Pod {
    type Key = PodKey;

    fn key(&self) -> &PodKey {
        &self.key
    }

    fn uid(&self) -> &Uid {
        &self.uid
    }

    fn version(&self) -> u64 {
        self.resource_version
    }

    fn is_same(&self, listed: &Self) -> bool {
        // The belief has a nomination from the moment of the decision on.
        self == listed || Pod { nominated_node: listed.nominated_node.clone(), ..self.clone() } == *listed
    }

    fn difference(key: &PodKey, text: &str) -> Difference {
        Difference { kind: DifferenceKind::Pods, description: format!("pod {key}: {text}") }
    }
}
