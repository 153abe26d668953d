//! Labels. Equal labels can share their memory: there are as many sets of labels as pods, but few different labels.

use super::ids::Text;
use std::fmt;
use std::sync::Arc;

/// A set of labels, sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels {
    all: Box<[Label]>,
}

/// A key and its value in one allocation, which clones share.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// Key, NUL, value. The API server lets no NUL into a label, and nothing sorts before it.
    packed: Text,
}

impl Labels {
    /// The set of `labels`. If a key is repeated, the last value counts, as in Go. A label with a NUL, which no API server can have
    /// sent, is left out.
    pub fn new<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut sorted: Vec<Label> =
            labels.into_iter().filter_map(|(key, value)| Label::new(key, value)).collect();
        sorted.sort_by(|one, other| one.key().cmp(other.key()));
        sorted.dedup_by(|later, kept| {
            let same = later.key() == kept.key();
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        Self { all: sorted.into() }
    }

    /// The labels, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all.iter().map(Label::parts)
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.all.binary_search_by(|label| label.key().cmp(key)).ok()?;
        self.all.get(found).map(Label::value)
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Replaces each label by the equal label that `share` returns, so that equal labels take memory once.
    pub fn map_shared(&mut self, mut share: impl FnMut(Label) -> Label) {
        for label in &mut self.all {
            *label = share(label.clone());
        }
    }
}

impl Label {
    /// The label `key=value`; `None` if there is a NUL in it.
    pub fn new(key: &str, value: &str) -> Option<Self> {
        let is_clean = !key.contains('\0') && !value.contains('\0');
        is_clean.then(|| Self { packed: [key, "\0", value].concat().into() })
    }

    /// How many clones share its memory.
    pub fn holders(&self) -> usize {
        Arc::strong_count(&self.packed)
    }

    pub fn key(&self) -> &str {
        self.parts().0
    }

    pub fn value(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (&str, &str) {
        self.packed.split_once('\0').unwrap_or((&self.packed, ""))
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, value) = self.parts();
        write!(f, "{key}={value}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Label, Labels};
    use std::collections::BTreeSet;

    #[test]
    fn what_goes_in_comes_out_sorted() {
        let labels = Labels::new([("zone", "a"), ("app", "web"), ("empty", ""), ("app-1", "x")]);
        let all = [("app", "web"), ("app-1", "x"), ("empty", ""), ("zone", "a")];
        assert_eq!(labels.iter().collect::<Vec<_>>(), all);
        assert_eq!(labels.get("zone"), Some("a"));
        assert_eq!(labels.get("empty"), Some(""));
        assert_eq!(labels.get("web"), None, "a value is no key");
        assert!(labels.has("app") && !labels.has("ap") && !labels.is_empty());
        assert!(Labels::default().is_empty());
    }

    #[test]
    fn a_nul_cannot_make_two_labels_of_one() {
        let labels = Labels::new([("a\0b", "c"), ("d", "e\0f"), ("g", "h")]);
        assert_eq!(labels.iter().collect::<Vec<_>>(), [("g", "h")]);
    }

    #[test]
    fn of_a_repeated_key_the_last_value_stays() {
        let labels = Labels::new([("a", "3"), ("b", "1"), ("a", "2"), ("a", "1")]);
        assert_eq!(labels.iter().collect::<Vec<_>>(), [("a", "1"), ("b", "1")]);
    }

    #[test]
    fn equal_labels_can_be_made_one() {
        let mut known: BTreeSet<Label> = BTreeSet::new();
        let mut share = |label: Label| {
            known.get(&label).cloned().unwrap_or_else(|| {
                known.insert(label.clone());
                label
            })
        };
        let mut sets = [("a", "1"), ("a", "1")].map(|label| Labels::new([label, ("b", "2")]));
        let before = sets.clone();
        sets.iter_mut().for_each(|labels| labels.map_shared(&mut share));
        assert_eq!(sets, before);
        assert_eq!(sets[0].get("a").unwrap().as_ptr(), sets[1].get("a").unwrap().as_ptr());
    }
}
