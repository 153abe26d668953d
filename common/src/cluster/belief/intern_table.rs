//! A table of values of one type, each kept once and shared by clones, such as pod specs, sets of labels, controller references.

use crate::model::labels::Label;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// The size below which no value is dropped.
const LEN_MIN: usize = 1024;

/// A hasher with the same hashes in every run.
pub(in crate::cluster) type FixedHasher = foldhash::fast::FixedState;

pub(in crate::cluster) trait Handle: Clone + Hash + Eq {
    fn holders(&self) -> usize;
}

pub(in crate::cluster) struct InternTable<T> {
    values: HashTable<T>,
    hasher: FixedHasher,
    /// At this size, values without other holders are dropped.
    full: usize,
}

impl<T: Handle> InternTable<T> {
    /// Returns the stored value that equals `value`, or stores `value` itself.
    pub(in crate::cluster) fn intern(&mut self, value: T) -> T {
        let hash = self.hasher.hash_one(&value);
        if let Some(known) = self.values.find(hash, |known| *known == value) {
            return known.clone();
        }
        if self.values.len() >= self.full {
            self.values.retain(|known| known.holders() > 1);
            self.full = (self.values.len() * 2).max(LEN_MIN);
        }
        let hasher = &self.hasher;
        self.values.insert_unique(hash, value.clone(), |known| hasher.hash_one(known));
        value
    }
}

impl<T: ?Sized + Hash + Eq> Handle for Arc<T> {
    fn holders(&self) -> usize {
        Arc::strong_count(self)
    }
}

impl Handle for Label {
    fn holders(&self) -> usize {
        self.holders()
    }
}

impl<T> Default for InternTable<T> {
    fn default() -> Self {
        Self { values: HashTable::new(), hasher: FixedHasher::default(), full: LEN_MIN }
    }
}

impl<T> std::fmt::Debug for InternTable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InternTable of {}", self.values.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{InternTable, LEN_MIN};
    use std::sync::Arc;

    #[test]
    fn equal_values_become_one() {
        let mut table = InternTable::default();
        let one = table.intern(Arc::new("a".to_owned()));
        let same = table.intern(Arc::new("a".to_owned()));
        let other = table.intern(Arc::new("b".to_owned()));
        assert!(Arc::ptr_eq(&one, &same) && !Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn what_nobody_has_any_more_is_dropped() {
        let mut table = InternTable::default();
        let kept = table.intern(Arc::new(0));
        for number in 1..10 * LEN_MIN {
            table.intern(Arc::new(number));
        }
        assert!(table.values.len() <= 2 * LEN_MIN, "{table:?}");
        assert!(Arc::ptr_eq(&kept, &table.intern(Arc::new(0))));
    }
}
