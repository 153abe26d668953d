//! What can be worked out from the belief and is worth keeping: it is kept until nodes change, and then brought up to
//! date where they did.
//!
//! Nothing here is knowledge: dropped, it is worked out again.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// So many things are always kept.
const LEN_MIN: usize = 128;

/// More are kept as long as all of them have at most this many values, one for each node.
const VALUES_MAX: usize = 8 << 20;

/// However few nodes there are: somebody's pods may all differ.
const LEN_MAX: usize = 2048;

/// Things that were worked out, each under a key of its own type.
#[derive(Default)]
pub(super) struct Memo {
    kept: RefCell<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: BTreeMap<(TypeId, u64), Vec<Entry>>,
    len: usize,
    /// Counts uses.
    clock: u64,
}

struct Entry {
    key: Box<dyn Any + Send>,
    value: Arc<dyn Any + Send + Sync>,
    /// The version of the nodes that it was worked out from.
    seen: u64,
    used: u64,
}

impl Memo {
    /// What is kept under `key`, after `refresh` brought it up to date from the version that it is told. A new thing
    /// begins as the default, at version 0.
    pub(super) fn get<K, V>(
        &self,
        key: K,
        version: u64,
        places: usize,
        refresh: impl FnOnce(&mut V, u64),
    ) -> Arc<V>
    where
        K: Hash + Eq + Send + 'static,
        V: Default + Send + Sync + 'static,
    {
        let at = address(&key);
        let known = self.kept.borrow_mut().take(at, &key);
        let (mut value, seen) = known.and_then(|entry| entry.value::<V>()).unwrap_or_default();
        if seen < version {
            match Arc::get_mut(&mut value) {
                Some(value) => refresh(value, seen),
                // Somebody still reads the old one.
                None => {
                    let mut new = V::default();
                    refresh(&mut new, 0);
                    value = Arc::new(new);
                }
            }
        }
        let entry = Entry { key: Box::new(key), value: Arc::clone(&value) as _, seen: version, used: 0 };
        let len_max = (VALUES_MAX / places.max(1)).clamp(LEN_MIN, LEN_MAX);
        self.kept.borrow_mut().put(at, entry, len_max);
        value
    }
}

impl Entry {
    fn value<V: Send + Sync + 'static>(self) -> Option<(Arc<V>, u64)> {
        let seen = self.seen;
        self.value.downcast().ok().map(|value| (value, seen))
    }
}

impl Kept {
    fn take<K: Eq + 'static>(&mut self, at: (TypeId, u64), key: &K) -> Option<Entry> {
        let entries = self.entries.get_mut(&at)?;
        let index = entries.iter().position(|entry| entry.key.downcast_ref() == Some(key))?;
        self.len -= 1;
        Some(entries.swap_remove(index))
    }

    fn put(&mut self, at: (TypeId, u64), mut entry: Entry, len_max: usize) {
        self.clock += 1;
        entry.used = self.clock;
        while self.len >= len_max {
            self.drop_oldest();
        }
        self.entries.entry(at).or_default().push(entry);
        self.len += 1;
    }

    fn drop_oldest(&mut self) {
        let used = |entries: &Vec<Entry>| entries.iter().map(|entry| entry.used).min();
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

/// Where things of this key are kept. Two keys may have the same address.
fn address<K: Hash + 'static>(key: &K) -> (TypeId, u64) {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    (TypeId::of::<K>(), hasher.finish())
}

impl std::fmt::Debug for Memo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memo of {}", self.kept.borrow().len)
    }
}

#[cfg(test)]
mod tests {
    use super::{LEN_MAX, LEN_MIN, Memo};

    fn keep(memo: &Memo, key: &'static str, version: u64) -> Vec<u64> {
        let log = memo.get(key, version, usize::MAX, |log: &mut Vec<u64>, seen| log.push(seen));
        (*log).clone()
    }

    #[test]
    fn a_thing_is_brought_up_to_date_from_where_it_was() {
        let memo = Memo::default();
        assert_eq!(keep(&memo, "a", 5), [0]);
        assert_eq!(keep(&memo, "a", 5), [0], "nothing changed");
        assert_eq!(keep(&memo, "a", 7), [0, 5]);
        assert_eq!(keep(&memo, "b", 7), [0], "another key");
    }

    #[test]
    fn a_thing_that_is_being_read_is_not_changed() {
        let memo = Memo::default();
        let read = memo.get(1_u8, 5, 1, |log: &mut Vec<u64>, seen| log.push(seen));
        let new = memo.get(1_u8, 6, 1, |log: &mut Vec<u64>, seen| log.push(seen));
        assert_eq!((&*read, &*new), (&vec![0], &vec![0]), "worked out anew");
    }

    #[test]
    fn keys_of_two_types_are_two_keys() {
        let memo = Memo::default();
        memo.get(1_u8, 1, 1, |value: &mut u64, _| *value = 8);
        assert_eq!(*memo.get(1_u16, 1, 1, |value: &mut u64, _| *value = 16), 16);
        assert_eq!(*memo.get(1_u8, 1, 1, |value: &mut u64, _| *value = 9), 8);
    }

    #[test]
    fn there_is_an_end_however_few_nodes_there_are() {
        let memo = Memo::default();
        for key in 0..2 * LEN_MAX {
            memo.get(key, 1, 1, |count: &mut u64, _| *count += 1);
        }
        assert_eq!(memo.kept.borrow().len, LEN_MAX);
    }

    #[test]
    fn the_least_used_goes_when_there_are_too_many() {
        let memo = Memo::default();
        let keep = |key: usize| *memo.get(key, 1, usize::MAX, |count: &mut u64, _| *count += 1);
        keep(0);
        for key in 1..2 * LEN_MIN {
            keep(key);
            keep(0);
        }
        assert_eq!(memo.kept.borrow().len, LEN_MIN);
        let fresh = *memo.get(0_usize, 2, usize::MAX, |count: &mut u64, seen| *count += 10 * seen);
        assert_eq!(fresh, 11, "it was kept, and seen at version 1");
    }
}
