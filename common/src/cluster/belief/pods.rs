//! All pods by namespace and name. There are many, so the table stores only the pods and no separate keys.

use crate::cluster::belief::intern_table::FixedHasher;
use crate::model::{Pod, PodKey};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(in crate::cluster) struct PodTable {
    table: HashTable<Arc<Pod>>,
    hasher: FixedHasher,
}

impl PodTable {
    pub(in crate::cluster) fn get(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.table.find(self.hasher.hash_one(key), |pod| pod.key == *key)
    }

    /// Stores the pod, and returns the one that was there under its key.
    pub(in crate::cluster) fn insert(&mut self, pod: Arc<Pod>) -> Option<Arc<Pod>> {
        let (hasher, hash) = (&self.hasher, self.hasher.hash_one(&pod.key));
        match self.table.entry(hash, |known| known.key == pod.key, |known| hasher.hash_one(&known.key)) {
            Entry::Occupied(mut known) => Some(std::mem::replace(known.get_mut(), pod)),
            Entry::Vacant(vacant) => {
                vacant.insert(pod);
                None
            }
        }
    }

    pub(in crate::cluster) fn remove(&mut self, key: &PodKey) -> Option<Arc<Pod>> {
        let hash = self.hasher.hash_one(key);
        let found = self.table.find_entry(hash, |pod| pod.key == *key).ok()?;
        Some(found.remove().0)
    }

    /// All pods, in no particular order.
    pub(in crate::cluster) fn iter(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.table.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::PodTable;
    use crate::testing::pod;
    use std::sync::Arc;

    #[test]
    fn a_key_has_one_pod() {
        let mut pods = PodTable::default();
        let (one, other) = (Arc::new(pod("a").build()), Arc::new(pod("a").uid("other").build()));
        assert!(pods.insert(Arc::clone(&one)).is_none());
        assert!(pods.insert(Arc::new(pod("b").build())).is_none());
        assert!(pods.insert(Arc::new(pod("a").namespace("elsewhere").build())).is_none());
        assert_eq!(pods.insert(Arc::clone(&other)), Some(one));
        assert_eq!(pods.iter().count(), 3);
        assert_eq!(pods.get(&other.key), Some(&other));
        assert_eq!(pods.remove(&other.key), Some(Arc::clone(&other)));
        assert_eq!(pods.get(&other.key), None);
        assert_eq!(pods.remove(&other.key), None);
    }
}
