//! The objects of one kind by namespace and name. An object is never replaced by an older version of itself, and the same name with
//! another UID is another object.

use crate::cluster::belief::event::WatchEvent;
use crate::model::ids::{Text, Uid};
use crate::model::object::Object;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Store<T> {
    objects: BTreeMap<Text, BTreeMap<Text, T>>,
    groups: BTreeMap<Text, BTreeSet<(Text, Text)>>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self { objects: BTreeMap::new(), groups: BTreeMap::new() }
    }
}

impl<T: Object + PartialEq> Store<T> {
    /// The object called `name` in `namespace`, which is empty for a kind that has none.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&T> {
        self.objects.get(namespace)?.get(name)
    }

    /// The object called `name`, of a kind that has no namespaces.
    pub fn named(&self, name: &str) -> Option<&T> {
        self.get("", name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.objects.values().flat_map(BTreeMap::values)
    }

    pub fn within(&self, namespace: &str) -> impl Iterator<Item = &T> {
        self.objects.get(namespace).into_iter().flat_map(BTreeMap::values)
    }

    /// The objects of one group (see [`Object::group`]), by namespace and name.
    pub fn grouped(&self, group: &str) -> impl Iterator<Item = &T> {
        let keys = self.groups.get(group).into_iter().flatten();
        keys.filter_map(|(namespace, name)| self.get(namespace, name))
    }

    pub fn len(&self) -> usize {
        self.objects.values().map(BTreeMap::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Applies an event, and returns whether anything changed besides resource versions.
    pub fn apply(&mut self, event: WatchEvent<T>) -> bool {
        match event {
            WatchEvent::Applied(object) => self.applied(object),
            WatchEvent::Deleted(object) => {
                let meta = object.meta();
                self.deleted(&meta.namespace, &meta.name, &meta.uid)
            }
            WatchEvent::Relisted(live) => self.relisted(live),
        }
    }

    fn applied(&mut self, mut object: T) -> bool {
        let (namespace, name) = (object.meta().namespace.clone(), object.meta().name.clone());
        if let Some(known) = self.get(&namespace, &name).map(Object::meta)
            && known.uid == object.meta().uid
        {
            let (old, new) = (known.resource_version, object.meta().resource_version);
            if old > new {
                return false;
            }
            object.meta_mut().resource_version = old;
            let is_same = self.get(&namespace, &name) == Some(&object);
            object.meta_mut().resource_version = new;
            if is_same {
                self.objects.entry(namespace).or_default().insert(name, object);
                return false;
            }
        }
        self.remove(&namespace, &name);
        if let Some(group) = object.group() {
            self.groups.entry(group.into()).or_default().insert((namespace.clone(), name.clone()));
        }
        self.objects.entry(namespace).or_default().insert(name, object);
        true
    }

    fn deleted(&mut self, namespace: &str, name: &str, uid: &Uid) -> bool {
        self.get(namespace, name).is_some_and(|known| known.meta().uid == *uid)
            && self.remove(namespace, name)
    }

    fn relisted(&mut self, live: Vec<T>) -> bool {
        let keys: BTreeSet<(&str, &str)> =
            live.iter().map(|object| (&*object.meta().namespace, &*object.meta().name)).collect();
        let known = self.iter().map(|object| (object.meta().namespace.clone(), object.meta().name.clone()));
        let vanished: Vec<(Text, Text)> =
            known.filter(|(namespace, name)| !keys.contains(&(&**namespace, &**name))).collect();
        let mut differs = !vanished.is_empty();
        for (namespace, name) in &vanished {
            self.remove(namespace, name);
        }
        for object in live {
            differs |= self.applied(object);
        }
        differs
    }

    fn remove(&mut self, namespace: &str, name: &str) -> bool {
        let Some(neighbours) = self.objects.get_mut(namespace) else { return false };
        let Some(removed) = neighbours.remove(name) else { return false };
        if neighbours.is_empty() {
            self.objects.remove(namespace);
        }
        if let Some(group) = removed.group()
            && let Some(keys) = self.groups.get_mut(group)
        {
            keys.remove(&(removed.meta().namespace.clone(), removed.meta().name.clone()));
            if keys.is_empty() {
                self.groups.remove(group);
            }
        }
        true
    }
}
