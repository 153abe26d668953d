//! The objects, one revision counter and one log of changes. Knows nothing of what objects mean.

use crate::resources::Resource;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::sync::watch;

/// Changes that are remembered. Whoever is further behind has to list again.
const LOG_MAX: usize = 10_000;

/// Where an object is. In the order in which lists come: by `namespace/name` as one text, as etcd does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The plural; events are one for both groups, and no other two groups share one.
    plural: &'static str,
    path: String,
}

impl Key {
    pub(crate) fn new(resource: &Resource, namespace: &str, name: &str) -> Self {
        let path = if resource.is_namespaced { format!("{namespace}/{name}") } else { name.to_owned() };
        Self { plural: resource.plural, path }
    }

    /// `namespace/name`, or the name.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }

    pub(crate) fn namespace(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(namespace, _)| namespace)
    }
}

/// Something that happened to one object.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    key: Key,
    /// As it was; `None` if it is new.
    pub(crate) before: Option<Arc<Value>>,
    /// As it is, or was when it was removed.
    pub(crate) object: Arc<Value>,
    pub(crate) is_removed: bool,
}

/// All objects.
#[derive(Debug, Default)]
pub(crate) struct Store {
    objects: BTreeMap<Key, Arc<Value>>,
    revision: u64,
    log: VecDeque<Change>,
    /// Changes up to this revision are forgotten.
    forgotten: u64,
    /// Hear the revision of the last change of a kind.
    listeners: BTreeMap<&'static str, watch::Sender<u64>>,
    /// Hears the revision of every change.
    all: watch::Sender<u64>,
}

impl Store {
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// All objects of a kind, in order.
    pub(crate) fn all(&self, resource: &Resource) -> impl Iterator<Item = &Arc<Value>> + use<'_> {
        self.entries(resource).map(|(_, object)| object)
    }

    fn entries(&self, resource: &Resource) -> impl Iterator<Item = (&Key, &Arc<Value>)> + use<'_> {
        let plural = resource.plural;
        let first = Key { plural, path: String::new() };
        self.objects.range(first..).take_while(move |(key, _)| key.plural == plural)
    }

    /// All objects of a kind as they were at a revision; `None` if that is forgotten, or not yet.
    pub(crate) fn at(&self, resource: &Resource, revision: u64) -> Option<BTreeMap<Key, Arc<Value>>> {
        if revision < self.forgotten || revision > self.revision {
            return None;
        }
        let mut then: BTreeMap<Key, Arc<Value>> =
            self.entries(resource).map(|(key, object)| (key.clone(), Arc::clone(object))).collect();
        let later = self.log.iter().rev().take_while(|change| change.revision > revision);
        for change in later.filter(|change| change.key.plural == resource.plural) {
            match &change.before {
                Some(before) => then.insert(change.key.clone(), Arc::clone(before)),
                None => then.remove(&change.key),
            };
        }
        Some(then)
    }

    /// Writes an object, which gets the next revision as its version.
    pub(crate) fn put(&mut self, key: Key, object: Value) -> Arc<Value> {
        let object = self.versioned(object);
        let before = self.objects.insert(key.clone(), Arc::clone(&object));
        self.record(Change {
            revision: self.revision,
            key,
            before,
            object: Arc::clone(&object),
            is_removed: false,
        });
        object
    }

    /// Removes an object. Its last state has the revision of its removal.
    pub(crate) fn remove(&mut self, key: &Key) -> Option<Arc<Value>> {
        let before = self.objects.remove(key)?;
        let object = self.versioned(Value::clone(&before));
        let (revision, key, last) = (self.revision, key.clone(), Arc::clone(&object));
        self.record(Change { revision, key, before: Some(before), object, is_removed: true });
        Some(last)
    }

    fn versioned(&mut self, mut object: Value) -> Arc<Value> {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = self.revision.to_string().into();
        Arc::new(object)
    }

    fn record(&mut self, change: Change) {
        let plural = change.key.plural;
        self.log.push_back(change);
        if self.log.len() > LOG_MAX {
            self.forgotten = self.log.pop_front().map_or(0, |change| change.revision);
        }
        if let Some(listener) = self.listeners.get(plural) {
            listener.send_replace(self.revision);
        }
        self.all.send_replace(self.revision);
    }

    /// The changes of a kind after a revision; `None` if some of them are forgotten.
    pub(crate) fn since(&self, resource: &Resource, revision: u64) -> Option<Vec<Change>> {
        if revision < self.forgotten {
            return None;
        }
        let from = self.log.partition_point(|change| change.revision <= revision);
        let later = self.log.range(from..).filter(|change| change.key.plural == resource.plural);
        Some(later.cloned().collect())
    }

    /// Forgets all changes: whoever watches from before has to list again.
    pub(crate) fn forget(&mut self) {
        self.log.clear();
        self.forgotten = self.revision;
    }

    /// Hears of changes of a kind.
    pub(crate) fn listen(&mut self, resource: &Resource) -> watch::Receiver<u64> {
        self.listeners.entry(resource.plural).or_default().subscribe()
    }

    /// Hears of all changes.
    pub(crate) fn listen_to_all(&self) -> watch::Receiver<u64> {
        self.all.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Store};
    use crate::resources::{Resource, find};
    use serde_json::json;

    fn pods() -> &'static Resource {
        find("", "pods").unwrap()
    }

    fn store() -> Store {
        let mut store = Store::default();
        for (namespace, name) in [("a", "x"), ("a-b", "x"), ("a", "y")] {
            store.put(Key::new(pods(), namespace, name), json!({ "metadata": { "name": name } }));
        }
        store
    }

    #[test]
    fn lists_come_in_the_order_of_etcds_keys() {
        let paths: Vec<String> = store().entries(pods()).map(|(key, _)| key.path().to_owned()).collect();
        assert_eq!(paths, ["a-b/x", "a/x", "a/y"], "'-' comes before '/'");
    }

    #[test]
    fn the_past_can_be_seen_until_it_is_forgotten() {
        let mut store = store();
        store.remove(&Key::new(pods(), "a", "x"));
        store.put(Key::new(pods(), "a", "z"), json!({ "metadata": {} }));
        let count = |store: &Store, revision| store.at(pods(), revision).map(|then| then.len());
        let counts: Vec<_> = (0..=6).map(|revision| count(&store, revision)).collect();
        assert_eq!(counts, [Some(0), Some(1), Some(2), Some(3), Some(2), Some(3), None]);
        store.forget();
        assert_eq!((count(&store, 4), count(&store, 5)), (None, Some(3)));
        assert!(store.since(pods(), 4).is_none() && store.since(pods(), 5).is_some());
    }
}
