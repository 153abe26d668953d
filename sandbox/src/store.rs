//! The objects, one revision counter and one log of changes. Must not know what objects mean.

use crate::resources::Resource;
use crate::value;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::sync::watch;

/// The most changes in the log. A watch that is further behind has to list again.
const LOG_MAX: usize = 10_000;

/// Kind, namespace and name of an object.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) resource: &'static Resource,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Key {
    pub(crate) fn new(resource: &'static Resource, namespace: &str, name: &str) -> Self {
        Self { resource, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    pub(crate) fn of(resource: &'static Resource, object: &Value) -> Self {
        Self::new(resource, value::namespace(object), value::name(object))
    }

    /// The sort key of lists: `namespace/name` as one text, as in etcd. Events of both API groups share one plural on purpose;
    /// no other two kinds do.
    fn path(&self) -> Path {
        let is_global = self.namespace.is_empty();
        let path = if is_global { self.name.clone() } else { format!("{}/{}", self.namespace, self.name) };
        (self.resource.plural, path)
    }
}

type Path = (&'static str, String);

#[derive(Clone, Debug)]
pub struct Change {
    pub revision: u64,
    path: Path,
    /// The object before; `None` if it was created.
    pub before: Option<Arc<Value>>,
    /// The object after; `None` if it was deleted.
    pub after: Option<Arc<Value>>,
}

impl Change {
    /// The plural name of the object's kind, like `pods`.
    pub fn plural(&self) -> &'static str {
        self.path.0
    }
}

/// All objects of the cluster, and the log of their changes.
#[derive(Debug, Default)]
pub(crate) struct Store {
    objects: BTreeMap<Path, Arc<Value>>,
    revision: u64,
    log: VecDeque<Change>,
    /// Changes up to this revision are no longer in the log.
    forgotten: u64,
    /// Receive the revision of the last change of a kind. Each listener has its own channel, because receivers of one channel
    /// would be woken in a random order.
    listeners: BTreeMap<&'static str, Vec<watch::Sender<u64>>>,
    /// Receives the revision of every change.
    all: watch::Sender<u64>,
}

impl Store {
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(&key.path())
    }

    /// All objects of a kind, in order.
    pub(crate) fn all(&self, resource: &Resource) -> impl Iterator<Item = &Arc<Value>> + use<'_> {
        let plural = resource.plural;
        self.objects
            .range((plural, String::new())..)
            .take_while(move |(path, _)| path.0 == plural)
            .map(|(_, one)| one)
    }

    /// All objects of a kind as they were at a revision; `None` if it is too old or in the future.
    pub(crate) fn at(
        &self,
        resource: &'static Resource,
        revision: u64,
    ) -> Option<BTreeMap<String, Arc<Value>>> {
        if revision < self.forgotten || revision > self.revision {
            return None;
        }
        let path = |object: &Arc<Value>| Key::of(resource, object).path().1;
        let mut then: BTreeMap<_, _> =
            self.all(resource).map(|object| (path(object), Arc::clone(object))).collect();
        let later = self.log.iter().rev().take_while(|change| change.revision > revision);
        for change in later.filter(|change| change.path.0 == resource.plural) {
            match &change.before {
                Some(before) => then.insert(change.path.1.clone(), Arc::clone(before)),
                None => then.remove(&change.path.1),
            };
        }
        Some(then)
    }

    /// Writes an object, with the next revision as its `resourceVersion`.
    pub(crate) fn put(&mut self, key: &Key, mut object: Value) -> Arc<Value> {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = self.revision.to_string().into();
        let object = Arc::new(object);
        let before = self.objects.insert(key.path(), Arc::clone(&object));
        self.record(key, before, Some(Arc::clone(&object)));
        object
    }

    pub(crate) fn remove(&mut self, key: &Key) {
        if let Some(before) = self.objects.remove(&key.path()) {
            self.revision += 1;
            self.record(key, Some(before), None);
        }
    }

    fn record(&mut self, key: &Key, before: Option<Arc<Value>>, after: Option<Arc<Value>>) {
        self.log.push_back(Change { revision: self.revision, path: key.path(), before, after });
        if self.log.len() > LOG_MAX {
            self.forgotten = self.log.pop_front().map_or(0, |change| change.revision);
        }
        if let Some(listeners) = self.listeners.get_mut(key.resource.plural) {
            listeners.retain(|listener| listener.send(self.revision).is_ok());
        }
        self.all.send_replace(self.revision);
    }

    pub(crate) fn changes_after(&self, revision: u64) -> Vec<Change> {
        let from = self.log.partition_point(|change| change.revision <= revision);
        self.log.range(from..).cloned().collect()
    }

    /// The changes of a kind after a revision; `None` if some are no longer in the log.
    pub(crate) fn changes_since(&self, resource: &Resource, revision: u64) -> Option<Vec<Change>> {
        let from = self.log.partition_point(|change| change.revision <= revision);
        let later = self.log.range(from..).filter(|change| change.path.0 == resource.plural);
        (revision >= self.forgotten).then(|| later.cloned().collect())
    }

    /// Clears the log: a watch from an older version has to list again.
    pub(crate) fn forget(&mut self) {
        self.log.clear();
        self.forgotten = self.revision;
    }

    pub(crate) fn listen(&mut self, resource: &Resource) -> watch::Receiver<u64> {
        let (listener, changes) = watch::channel(self.revision);
        self.listeners.entry(resource.plural).or_default().push(listener);
        changes
    }

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
            let meta = json!({ "name": name, "namespace": namespace });
            store.put(&Key::new(pods(), namespace, name), json!({ "metadata": meta }));
        }
        store
    }

    #[test]
    fn lists_come_in_the_order_of_etcds_keys() {
        let paths: Vec<String> = store().at(pods(), 3).unwrap().into_keys().collect();
        assert_eq!(paths, ["a-b/x", "a/x", "a/y"], "'-' comes before '/'");
    }

    #[test]
    fn the_past_can_be_seen_until_it_is_forgotten() {
        let mut store = store();
        store.remove(&Key::new(pods(), "a", "x"));
        store.put(&Key::new(pods(), "a", "z"), json!({ "metadata": { "name": "z", "namespace": "a" } }));
        let count = |store: &Store, revision| store.at(pods(), revision).map(|then| then.len());
        let counts: Vec<_> = (0..=6).map(|revision| count(&store, revision)).collect();
        assert_eq!(counts, [Some(0), Some(1), Some(2), Some(3), Some(2), Some(3), None]);
        store.forget();
        assert_eq!((count(&store, 4), count(&store, 5)), (None, Some(3)));
        assert!(store.changes_since(pods(), 4).is_none() && store.changes_since(pods(), 5).is_some());
    }
}
