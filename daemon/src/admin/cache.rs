//! A cache of review results for some seconds, so that not every scrape needs a review.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The most entries. A client with more different requests gets no benefit from a cache.
const LEN_MAX: usize = 1024;

/// Values by key, each with its expiry by the daemon's clock.
#[derive(Debug)]
pub(super) struct Cache<K, V> {
    entries: Mutex<BTreeMap<K, (Duration, V)>>,
}

impl<K: Ord, V: Clone> Cache<K, V> {
    pub(super) fn new() -> Self {
        Self { entries: Mutex::default() }
    }

    pub(super) fn get(&self, key: &K, now: Duration) -> Option<V> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.get(key).filter(|(until, _)| now < *until).map(|(_, value)| value.clone())
    }

    pub(super) fn put(&self, key: K, value: V, until: Duration, now: Duration) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= LEN_MAX {
            entries.retain(|_, (until, _)| now < *until);
        }
        if entries.len() >= LEN_MAX {
            entries.clear();
        }
        entries.insert(key, (until, value));
    }
}
