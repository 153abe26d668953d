//! Labels in one piece of memory: there are as many sets of them as there are pods.

/// A set of labels, sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels {
    /// Key, NUL, value, NUL, and so on. The API server lets no NUL into a label.
    packed: Box<str>,
}

impl Labels {
    /// Packs `labels`. One with a NUL in it, which no API server can have sent, is left out.
    pub fn new<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut sorted: Vec<(&str, &str)> = labels.into_iter().collect();
        sorted.retain(|(key, value)| !key.contains('\0') && !value.contains('\0'));
        sorted.sort_unstable();
        let mut packed =
            String::with_capacity(sorted.iter().map(|(key, value)| key.len() + value.len() + 2).sum());
        for part in sorted.iter().flat_map(|(key, value)| [key, value]) {
            packed.push_str(part);
            packed.push('\0');
        }
        Self { packed: packed.into_boxed_str() }
    }

    /// The labels, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut parts = self.packed.split_terminator('\0');
        std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
    }

    /// The value of the label called `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::Labels;

    #[test]
    fn what_goes_in_comes_out_sorted() {
        let labels = Labels::new([("zone", "a"), ("app", "web"), ("empty", "")]);
        assert_eq!(labels.iter().collect::<Vec<_>>(), [("app", "web"), ("empty", ""), ("zone", "a")]);
        assert_eq!(labels.get("zone"), Some("a"));
        assert_eq!(labels.get("empty"), Some(""));
        assert_eq!(labels.get("web"), None, "a value is no key");
        assert_eq!(Labels::default().iter().count(), 0);
    }

    #[test]
    fn a_nul_cannot_make_two_labels_of_one() {
        let labels = Labels::new([("a\0b", "c"), ("d", "e\0f"), ("g", "h")]);
        assert_eq!(labels.iter().collect::<Vec<_>>(), [("g", "h")]);
    }
}
