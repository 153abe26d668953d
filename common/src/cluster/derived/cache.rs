//! A cache of values that are computed from ledgers. When nodes change, a value is updated for the changed nodes only. Entry point:
//! [`DerivedCache::get`]. A value that was dropped is computed again, so nothing is lost.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// This many values are always kept.
const LEN_MIN: usize = 128;

/// More are kept as long as they have at most this many elements in total, one for each node.
const VALUES_MAX: usize = 8 << 20;

/// The maximum even with few nodes: the pods of a cluster may all differ.
const LEN_MAX: usize = 2048;

/// Cached values, each under a key of its own type.
#[derive(Default)]
pub(in crate::cluster) struct DerivedCache {
    entries: RefCell<CacheEntries>,
}

#[derive(Default)]
struct CacheEntries {
    entries: BTreeMap<(TypeId, u64), Vec<CacheEntry>>,
    len: usize,
    /// The number of uses so far.
    clock: u64,
}

struct CacheEntry {
    key: Box<dyn Any + Send>,
    value: Arc<dyn Any + Send + Sync>,
    /// The version of the nodes that the value was computed from.
    version: u64,
    used: u64,
}

impl DerivedCache {
    /// The value under `key`, after `refresh` updated it from the version that is its second argument. A new value starts as the
    /// default, at version 0.
    pub(in crate::cluster) fn get<K, V>(
        &self,
        key: K,
        version: u64,
        id_count: usize,
        refresh: impl FnOnce(&mut V, u64),
    ) -> Arc<V>
    where
        K: Hash + Eq + Send + 'static,
        V: Default + Send + Sync + 'static,
    {
        let at = bucket(&key);
        let known = self.entries.borrow_mut().take(at, &key);
        let (mut value, seen) = known.and_then(|entry| entry.value::<V>()).unwrap_or_default();
        if seen < version {
            match Arc::get_mut(&mut value) {
                Some(value) => refresh(value, seen),
                // The old value is still in use, so it cannot be changed.
                None => {
                    let mut new = V::default();
                    refresh(&mut new, 0);
                    value = Arc::new(new);
                }
            }
        }
        let entry = CacheEntry { key: Box::new(key), value: Arc::clone(&value) as _, version, used: 0 };
        let len_max = (VALUES_MAX / id_count.max(1)).clamp(LEN_MIN, LEN_MAX);
        self.entries.borrow_mut().put(at, entry, len_max);
        value
    }
}

impl CacheEntry {
    fn value<V: Send + Sync + 'static>(self) -> Option<(Arc<V>, u64)> {
        let version = self.version;
        self.value.downcast().ok().map(|value| (value, version))
    }
}

impl CacheEntries {
    fn take<K: Eq + 'static>(&mut self, at: (TypeId, u64), key: &K) -> Option<CacheEntry> {
        let entries = self.entries.get_mut(&at)?;
        let index = entries.iter().position(|entry| entry.key.downcast_ref() == Some(key))?;
        self.len -= 1;
        Some(entries.swap_remove(index))
    }

    fn put(&mut self, at: (TypeId, u64), mut entry: CacheEntry, len_max: usize) {
        self.clock += 1;
        entry.used = self.clock;
        while self.len >= len_max {
            self.drop_oldest();
        }
        self.entries.entry(at).or_default().push(entry);
        self.len += 1;
    }

    fn drop_oldest(&mut self) {
        let used = |entries: &Vec<CacheEntry>| entries.iter().map(|entry| entry.used).min();
        let oldest = self.entries.iter().filter_map(|(at, entries)| Some((used(entries)?, *at))).min();
        self.entries.retain(|_, entries| !entries.is_empty());
        if let Some((used, at)) = oldest
            && let Some(entries) = self.entries.get_mut(&at)
        {
            entries.retain(|entry| entry.used != used);
            self.len -= 1;
        }
    }
}

/// The bucket of a key. Two keys may have the same one.
fn bucket<K: Hash + 'static>(key: &K) -> (TypeId, u64) {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    (TypeId::of::<K>(), hasher.finish())
}

impl std::fmt::Debug for DerivedCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DerivedCache of {}", self.entries.borrow().len)
    }
}

#[cfg(test)]
mod tests {
    use super::{DerivedCache, LEN_MAX, LEN_MIN};

    fn cached(cache: &DerivedCache, key: &'static str, version: u64) -> Vec<u64> {
        let log = cache.get(key, version, usize::MAX, |log: &mut Vec<u64>, seen| log.push(seen));
        (*log).clone()
    }

    #[test]
    fn a_thing_is_brought_up_to_date_from_where_it_was() {
        let cache = DerivedCache::default();
        assert_eq!(cached(&cache, "a", 5), [0]);
        assert_eq!(cached(&cache, "a", 5), [0], "nothing changed");
        assert_eq!(cached(&cache, "a", 7), [0, 5]);
        assert_eq!(cached(&cache, "b", 7), [0], "another key");
    }

    #[test]
    fn a_thing_that_is_being_read_is_not_changed() {
        let cache = DerivedCache::default();
        let read = cache.get(1_u8, 5, 1, |log: &mut Vec<u64>, seen| log.push(seen));
        let new = cache.get(1_u8, 6, 1, |log: &mut Vec<u64>, seen| log.push(seen));
        assert_eq!((&*read, &*new), (&vec![0], &vec![0]), "worked out anew");
    }

    #[test]
    fn keys_of_two_types_are_two_keys() {
        let cache = DerivedCache::default();
        cache.get(1_u8, 1, 1, |value: &mut u64, _| *value = 8);
        assert_eq!(*cache.get(1_u16, 1, 1, |value: &mut u64, _| *value = 16), 16);
        assert_eq!(*cache.get(1_u8, 1, 1, |value: &mut u64, _| *value = 9), 8);
    }

    #[test]
    fn there_is_an_end_however_few_nodes_there_are() {
        let cache = DerivedCache::default();
        for key in 0..2 * LEN_MAX {
            cache.get(key, 1, 1, |count: &mut u64, _| *count += 1);
        }
        assert_eq!(cache.entries.borrow().len, LEN_MAX);
    }

    #[test]
    fn the_least_used_goes_when_there_are_too_many() {
        let cache = DerivedCache::default();
        let get = |key: usize| *cache.get(key, 1, usize::MAX, |count: &mut u64, _| *count += 1);
        get(0);
        for key in 1..2 * LEN_MIN {
            get(key);
            get(0);
        }
        assert_eq!(cache.entries.borrow().len, LEN_MIN);
        let fresh = *cache.get(0_usize, 2, usize::MAX, |count: &mut u64, seen| *count += 10 * seen);
        assert_eq!(fresh, 11, "it was kept, and seen at version 1");
    }
}
