//! Everything that waits, by cause: pods of one owner that wait for the same are one line.

use super::unmade::Unmade;
use common::model::PodKey;
use common::model::ids::Text;
use std::collections::BTreeMap;

/// One pod and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) key: PodKey,
    /// The topmost owner that was found: its kind and name.
    pub(crate) owner: Option<(String, Text)>,
    /// A word for the cause that stays the same.
    pub(crate) code: String,
    /// In a few words.
    pub(crate) label: String,
    /// With the numbers.
    pub(crate) detail: String,
    pub(crate) is_blocked: bool,
}

/// Pods of one owner that wait for the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) namespace: String,
    pub(crate) owner: Option<(String, Text)>,
    pub(crate) code: String,
    pub(crate) label: String,
    /// That of the first pod.
    pub(crate) detail: String,
    pub(crate) is_blocked: bool,
    /// The pods' names, sorted as people count.
    pub(crate) pods: Vec<String>,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Causes {
    /// The largest first.
    pub(crate) folded: Vec<Folded>,
    pub(crate) unmade: Vec<Unmade>,
}

/// Puts together what waits for the same.
pub(crate) fn fold(causes: Vec<Cause>, unmade: Vec<Unmade>) -> Causes {
    let mut folded: BTreeMap<(Text, Option<(String, Text)>, String, String), Folded> = BTreeMap::new();
    for cause in causes {
        // A pod without an owner is alone with its cause.
        let whose = cause.owner.clone().or_else(|| Some((String::new(), cause.key.name.clone())));
        let key = (cause.key.namespace.clone(), whose, cause.code.clone(), cause.label.clone());
        let entry = folded.entry(key).or_insert_with(|| Folded {
            namespace: cause.key.namespace.to_string(),
            owner: cause.owner.clone(),
            code: cause.code,
            label: cause.label,
            detail: cause.detail,
            is_blocked: cause.is_blocked,
            pods: Vec::new(),
        });
        entry.pods.push(cause.key.name.to_string());
    }
    let mut folded: Vec<Folded> = folded.into_values().collect();
    for one in &mut folded {
        one.pods.sort_by_cached_key(|name| match ordinal(name) {
            Some((stem, at)) => (stem.to_owned(), at),
            None => (name.clone(), 0),
        });
    }
    folded.sort_by_key(|one| std::cmp::Reverse(one.pods.len()));
    Causes { folded, unmade }
}

impl Causes {
    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.folded.is_empty() && self.unmade.is_empty()
    }

    /// Whether at least one pod cannot be placed.
    pub(crate) fn is_blocked(&self) -> bool {
        self.folded.iter().any(|one| one.is_blocked) || !self.unmade.is_empty()
    }

    /// How many pods wait.
    pub(crate) fn pods(&self) -> usize {
        self.folded.iter().map(|one| one.pods.len()).sum()
    }
}

impl Folded {
    /// The pods in one word: `crunch-*`, `pg-{0..4}`, or the name.
    pub(crate) fn names(&self) -> String {
        let [first, .., last] = &self.pods[..] else { return self.pods.concat() };
        if let (Some((stem, from)), Some((_, to))) = (ordinal(first), ordinal(last))
            && self.owner.as_ref().is_some_and(|(kind, _)| kind == "StatefulSet")
        {
            let is_whole = usize::try_from(to - from).is_ok_and(|span| span + 1 == self.pods.len());
            let list = || self.pods.iter().filter_map(|name| ordinal(name)).map(|(_, at)| at.to_string());
            return match is_whole {
                true => format!("{stem}-{{{from}..{to}}}"),
                false => format!("{stem}-{{{}}}", list().collect::<Vec<_>>().join(",")),
            };
        }
        match &self.owner {
            Some((_, name)) if self.pods.iter().all(|pod| pod.starts_with(&format!("{name}-"))) => {
                format!("{name}-*")
            }
            _ => format!("{first} (+{} more)", self.pods.len() - 1),
        }
    }

    /// `Job/crunch`.
    pub(crate) fn whose(&self) -> Option<String> {
        self.owner.as_ref().map(|(kind, name)| format!("{kind}/{name}"))
    }

    /// What `explain` is to be asked for more.
    pub(crate) fn subject(&self) -> String {
        match &self.owner {
            Some((kind, name)) => format!("{}/{name}", kind.to_ascii_lowercase()),
            None => self.pods.first().cloned().unwrap_or_default(),
        }
    }
}

/// The number that ends a name, with what comes before.
fn ordinal(name: &str) -> Option<(&str, u32)> {
    let (stem, number) = name.rsplit_once('-')?;
    number.parse().ok().map(|number| (stem, number))
}
