//! Compares what is believed about the objects of one kind with a list of them.

use super::{Difference, DifferenceKind, List};
use crate::model::ids::{NodeName, PodKey, Uid};
use crate::model::{Node, Pod};
use std::collections::BTreeSet;
use std::fmt::Display;

/// A node or a pod.
pub(super) trait Object {
    /// What it is found by.
    type Key: Ord + Clone + Display;

    fn key(&self) -> &Self::Key;

    fn uid(&self) -> &Uid;

    fn version(&self) -> u64;

    /// Whether both say the same, apart from what we believe before the API server says it.
    fn says_same(&self, listed: &Self) -> bool;

    /// What differs about the object under `key`.
    fn difference(key: &Self::Key, what: &str) -> Difference;
}

/// What came of comparing one kind.
pub(super) struct Compared<K> {
    /// What is wrong for certain.
    pub(super) differences: Vec<Difference>,
    /// What is believed and was not listed.
    pub(super) unlisted: Vec<(K, Uid)>,
}

/// Compares a list with what is believed of its kind: `by_key` finds one object, and `believed` are all of them.
/// `may_have_left` says whether an object may have left the belief since the list was asked for.
pub(super) fn compare_objects<'c, T: Object + 'c>(
    list: &List<T>,
    by_key: impl Fn(&T::Key) -> Option<&'c T>,
    believed: impl Iterator<Item = &'c T>,
    may_have_left: impl Fn(&Uid) -> bool,
) -> Compared<T::Key> {
    let wrong = list.objects.iter().filter_map(|listed| {
        let what = match by_key(listed.key()) {
            None if may_have_left(listed.uid()) => return None,
            None => "the API server has it, and the belief does not".to_owned(),
            Some(object) => what_differs(object, listed, list.version)?,
        };
        Some(T::difference(listed.key(), &what))
    });
    let differences = wrong.collect();
    let keys: BTreeSet<&T::Key> = list.objects.iter().map(Object::key).collect();
    let unlisted = believed.filter(|object| object.version() <= list.version && !keys.contains(object.key()));
    let unlisted = unlisted.map(|object| (object.key().clone(), object.uid().clone())).collect();
    Compared { differences, unlisted }
}

/// What is wrong about an object that is believed, beside the one that was listed under the same name.
fn what_differs<T: Object>(believed: &T, listed: &T, list_version: u64) -> Option<String> {
    if believed.version() > list_version {
        // It changed after the list.
        return None;
    }
    if believed.uid() != listed.uid() {
        return Some("the belief has another object of that name".to_owned());
    }
    if believed.version() != listed.version() {
        let (ours, theirs) = (believed.version(), listed.version());
        return Some(format!("the belief has version {ours}, and the API server has version {theirs}"));
    }
    (!believed.says_same(listed)).then(|| "the belief has this version with another content".to_owned())
}

impl Object for Node {
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

    fn says_same(&self, listed: &Self) -> bool {
        self == listed
    }

    fn difference(name: &NodeName, what: &str) -> Difference {
        Difference { kind: DifferenceKind::Nodes, what: format!("node {name}: {what}") }
    }
}

impl Object for Pod {
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

    fn says_same(&self, listed: &Self) -> bool {
        // A nomination is believed when it is decided.
        self == listed || Pod { nominated: listed.nominated.clone(), ..self.clone() } == *listed
    }

    fn difference(key: &PodKey, what: &str) -> Difference {
        Difference { kind: DifferenceKind::Pods, what: format!("pod {key}: {what}") }
    }
}
