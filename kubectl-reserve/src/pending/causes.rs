//! Groups Pending pods by cause: pods of one owner with the same cause are one group. Entry point: [`group_causes`].

use super::blocked_workloads::BlockedWorkload;
use common::model::PodKey;
use common::model::ids::Text;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodCause {
    pub(crate) key: PodKey,
    /// The topmost owner that was found: its kind and name.
    pub(crate) owner: Option<(String, Text)>,
    /// The cause as a stable word for programs.
    pub(crate) code: String,
    /// The cause in a few words.
    pub(crate) label: String,
    /// The cause with its numbers.
    pub(crate) detail: String,
    pub(crate) is_blocked: bool,
}

/// Pods of one owner with the same cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CauseGroup {
    pub(crate) namespace: String,
    pub(crate) owner: Option<(String, Text)>,
    pub(crate) code: String,
    pub(crate) label: String,
    /// The detail of the first pod.
    pub(crate) detail: String,
    pub(crate) is_blocked: bool,
    /// The pods' names, sorted by ordinal: `pg-9` before `pg-10`.
    pub(crate) pods: Vec<String>,
}

/// Everything that is Pending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Causes {
    /// The largest group first.
    pub(crate) groups: Vec<CauseGroup>,
    pub(crate) blocked_workloads: Vec<BlockedWorkload>,
}

/// What the pods of a group have in common: namespace, owner, code and label.
type CauseKey = (Text, Option<(String, Text)>, String, String);

pub(crate) fn group_causes(causes: Vec<PodCause>, blocked_workloads: Vec<BlockedWorkload>) -> Causes {
    let mut groups: BTreeMap<CauseKey, CauseGroup> = BTreeMap::new();
    for cause in causes {
        // A pod without an owner is a group of its own.
        let owner = cause.owner.clone().or_else(|| Some((String::new(), cause.key.name.clone())));
        let key = (cause.key.namespace.clone(), owner, cause.code.clone(), cause.label.clone());
        let entry = groups.entry(key).or_insert_with(|| CauseGroup {
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
    let mut groups: Vec<CauseGroup> = groups.into_values().collect();
    for one in &mut groups {
        one.pods.sort_by_cached_key(|name| match ordinal(name) {
            Some((stem, at)) => (stem.to_owned(), at),
            None => (name.clone(), 0),
        });
    }
    groups.sort_by_key(|one| std::cmp::Reverse(one.pods.len()));
    Causes { groups, blocked_workloads }
}

impl Causes {
    /// Whether nothing is Pending.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.blocked_workloads.is_empty()
    }

    /// Whether at least one pod cannot be placed.
    pub(crate) fn is_blocked(&self) -> bool {
        self.groups.iter().any(|one| one.is_blocked) || !self.blocked_workloads.is_empty()
    }

    /// How many different causes there are: pods of several owners may have the same.
    pub(crate) fn count(&self) -> usize {
        self.groups.iter().map(|one| (&one.code, &one.label)).collect::<BTreeSet<_>>().len()
    }

    /// How many pods are Pending.
    pub(crate) fn pods(&self) -> usize {
        self.groups.iter().map(|one| one.pods.len()).sum()
    }
}

impl CauseGroup {
    /// The names of the pods, abbreviated: `crunch-*`, `pg-{0..4}`, or the only name.
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

    /// The owner as `Job/crunch`.
    pub(crate) fn owner_text(&self) -> Option<String> {
        self.owner.as_ref().map(|(kind, name)| format!("{kind}/{name}"))
    }

    /// The argument of `kubectl reserve explain` for more about the group.
    pub(crate) fn subject(&self) -> String {
        match &self.owner {
            Some((kind, name)) => format!("{}/{name}", kind.to_ascii_lowercase()),
            None => self.pods.first().cloned().unwrap_or_default(),
        }
    }
}

/// A name without the number at its end, and that number.
fn ordinal(name: &str) -> Option<(&str, u32)> {
    let (stem, number) = name.rsplit_once('-')?;
    number.parse().ok().map(|number| (stem, number))
}
