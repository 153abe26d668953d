//! One copy of what many objects have in common: a template, a set of labels, an owner.

use crate::model::labels::Label;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// The size below which nothing is ever cleared out.
const LEN_MIN: usize = 1024;

/// Hashes alike in every run.
pub(super) type FixedHasher = foldhash::fast::FixedState;

/// A value that clones share.
pub(super) trait Handle: Clone + Hash + Eq {
    /// How many clones there are.
    fn holders(&self) -> usize;
}

/// A pool of shared values.
pub(super) struct Pool<T> {
    shared: HashTable<T>,
    hasher: FixedHasher,
    /// At this size those that nobody else has any more are dropped.
    full: usize,
}

impl<T: Handle> Pool<T> {
    /// The value that equals `value`, which may be `value` itself.
    pub(super) fn share(&mut self, value: T) -> T {
        let hash = self.hasher.hash_one(&value);
        if let Some(known) = self.shared.find(hash, |known| *known == value) {
            return known.clone();
        }
        if self.shared.len() >= self.full {
            self.shared.retain(|known| known.holders() > 1);
            self.full = (self.shared.len() * 2).max(LEN_MIN);
        }
        let hasher = &self.hasher;
        self.shared.insert_unique(hash, value.clone(), |known| hasher.hash_one(known));
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

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { shared: HashTable::new(), hasher: FixedHasher::default(), full: LEN_MIN }
    }
}

impl<T> std::fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool of {}", self.shared.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{LEN_MIN, Pool};
    use std::sync::Arc;

    #[test]
    fn equal_values_become_one() {
        let mut pool = Pool::default();
        let one = pool.share(Arc::new("a".to_owned()));
        let same = pool.share(Arc::new("a".to_owned()));
        let other = pool.share(Arc::new("b".to_owned()));
        assert!(Arc::ptr_eq(&one, &same) && !Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn what_nobody_has_any_more_is_dropped() {
        let mut pool = Pool::default();
        let kept = pool.share(Arc::new(0));
        for number in 1..10 * LEN_MIN {
            pool.share(Arc::new(number));
        }
        assert!(pool.shared.len() <= 2 * LEN_MIN, "{pool:?}");
        assert!(Arc::ptr_eq(&kept, &pool.share(Arc::new(0))));
    }
}
