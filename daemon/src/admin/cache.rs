//! Answers of the cluster that are remembered for some seconds, so that a scrape does not cost a review each time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Answers that are remembered at once. Whoever asks in so many ways is not helped by a memory.
const LEN_MAX: usize = 1024;

/// Answers by question, each until some moment of the daemon's clock.
#[derive(Debug)]
pub(super) struct Cache<K, V> {
    known: Mutex<BTreeMap<K, (Duration, V)>>,
}

impl<K: Ord, V: Clone> Cache<K, V> {
    pub(super) fn new() -> Self {
        Self { known: Mutex::default() }
    }

    pub(super) fn get(&self, key: &K, now: Duration) -> Option<V> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).filter(|(until, _)| now < *until).map(|(_, value)| value.clone())
    }

    pub(super) fn put(&self, key: K, value: V, until: Duration, now: Duration) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= LEN_MAX {
            known.retain(|_, (until, _)| now < *until);
        }
        if known.len() >= LEN_MAX {
            known.clear();
        }
        known.insert(key, (until, value));
    }
}
