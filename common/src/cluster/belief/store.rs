//! The objects of one kind by namespace and name. An object is never replaced by an older version of itself, and the same name with
//! another UID is another object.

use crate::cluster::belief::event::WatchEvent;
use crate::model::ids::Text;
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
        let mut differs = false;
        self.apply_and_report(event, |_, _| differs = true);
        differs
    }

    /// Applies an event, and reports each object that changed besides its resource version: before and after.
    pub fn apply_and_report(&mut self, event: WatchEvent<T>, mut report: impl FnMut(Option<T>, Option<&T>)) {
        match event {
            WatchEvent::Applied(object) => self.applied(object, &mut report),
            WatchEvent::Deleted(object) => {
                let meta = object.meta();
                if self.get(&meta.namespace, &meta.name).is_some_and(|known| known.meta().uid == meta.uid) {
                    report(self.remove(&meta.namespace, &meta.name), None);
                }
            }
            WatchEvent::Relisted(live) => self.relisted(live, &mut report),
        }
    }

    fn applied(&mut self, mut object: T, report: &mut dyn FnMut(Option<T>, Option<&T>)) {
        let (namespace, name) = (object.meta().namespace.clone(), object.meta().name.clone());
        if let Some(known) = self.get(&namespace, &name).map(Object::meta)
            && known.uid == object.meta().uid
        {
            let (old, new) = (known.resource_version, object.meta().resource_version);
            if old > new {
                return;
            }
            object.meta_mut().resource_version = old;
            let is_same = self.get(&namespace, &name) == Some(&object);
            object.meta_mut().resource_version = new;
            if is_same {
                self.objects.entry(namespace).or_default().insert(name, object);
                return;
            }
        }
        let (old, uid) = (self.remove(&namespace, &name), object.meta().uid.clone());
        report(old.filter(|old| old.meta().uid == uid), Some(&object));
        if let Some(group) = object.group() {
            self.groups.entry(group.into()).or_default().insert((namespace.clone(), name.clone()));
        }
        self.objects.entry(namespace).or_default().insert(name, object);
    }

    fn relisted(&mut self, live: Vec<T>, report: &mut dyn FnMut(Option<T>, Option<&T>)) {
        let keys: BTreeSet<(&str, &str)> =
            live.iter().map(|object| (&*object.meta().namespace, &*object.meta().name)).collect();
        let known = self.iter().map(|object| (object.meta().namespace.clone(), object.meta().name.clone()));
        let vanished: Vec<(Text, Text)> =
            known.filter(|(namespace, name)| !keys.contains(&(&**namespace, &**name))).collect();
        for (namespace, name) in &vanished {
            report(self.remove(namespace, name), None);
        }
        live.into_iter().for_each(|object| self.applied(object, report));
    }

    fn remove(&mut self, namespace: &str, name: &str) -> Option<T> {
        let neighbours = self.objects.get_mut(namespace)?;
        let removed = neighbours.remove(name)?;
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
        Some(removed)
    }
}
