//! Names as they are typed: `NAME`, `TYPE/NAME…` or `TYPE NAME…`, and what they mean in a namespace.

mod find;
mod resolve;
#[cfg(test)]
mod tests;

pub(crate) use find::{escaped, find, labelled};
pub(crate) use resolve::{Choice, PodSeen, Seen, Target, id, resolve};

use crate::connect::is_name;
use crate::error::Failure;
use common::config::nearest::nearest;
use common::model::owner::OwnerKind;
use std::fmt;

/// A kind that can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Pod,
    Workload(OwnerKind),
}

/// One name as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The kind, if it was typed too.
    pub(crate) kind: Option<Kind>,
    pub(crate) name: String,
}

/// The words that kubectl takes for a kind.
const KINDS: [(&[&str], Kind); 8] = [
    (&["po", "pod", "pods"], Kind::Pod),
    (&["deploy", "deployment", "deployments"], Kind::Workload(OwnerKind::Deployment)),
    (&["sts", "statefulset", "statefulsets"], Kind::Workload(OwnerKind::StatefulSet)),
    (&["ds", "daemonset", "daemonsets"], Kind::Workload(OwnerKind::DaemonSet)),
    (&["rs", "replicaset", "replicasets"], Kind::Workload(OwnerKind::ReplicaSet)),
    (&["job", "jobs"], Kind::Workload(OwnerKind::Job)),
    (&["cj", "cronjob", "cronjobs"], Kind::Workload(OwnerKind::CronJob)),
    (
        &["rc", "replicationcontroller", "replicationcontrollers"],
        Kind::Workload(OwnerKind::ReplicationController),
    ),
];

impl Kind {
    /// The kind that a word means, with or without its API group: `deploy`, `Deployments`, `deployments.apps`.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let (word, group) = word.split_once('.').map_or((&*word, None), |(word, group)| (word, Some(group)));
        let (_, kind) = KINDS.iter().find(|(words, _)| words.contains(&word))?;
        // As kubectl: `deployments.apps` and `deployments.v1.apps`.
        let is_of = |group: &str| group.rsplit('.').next() == Some(kind.group());
        (group.is_none_or(is_of)).then_some(*kind)
    }

    fn group(self) -> &'static str {
        match self {
            Self::Pod => "",
            Self::Workload(kind) => kind.group(),
        }
    }

    /// The plural, with its API group, as kubectl's errors name it: `deployments.apps`.
    pub(crate) fn resource(self) -> String {
        match self {
            Self::Pod => "pods".into(),
            Self::Workload(kind) if kind.group().is_empty() => kind.plural().into(),
            Self::Workload(kind) => format!("{}.{}", kind.plural(), kind.group()),
        }
    }

    /// The word to type before the slash.
    pub(crate) fn word(self) -> String {
        match self {
            Self::Pod => "pod".into(),
            Self::Workload(kind) => kind.as_str().to_ascii_lowercase(),
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{}/{}", kind.word(), self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The names in what was typed. They become parts of URLs, so they are checked.
pub(crate) fn asked(words: &[String]) -> Result<Vec<Asked>, Failure> {
    let is_plain = |word: &String| !word.contains('/');
    match words {
        // As kubectl: of several words without a slash the first is a type.
        [kind, names @ ..] if !names.is_empty() && words.iter().all(is_plain) && is_kind(kind) => {
            let kind = Kind::from_word(kind);
            names.iter().map(|name| checked(kind, name)).collect()
        }
        _ => words.iter().map(|word| one(word)).collect(),
    }
}

fn is_kind(word: &str) -> bool {
    Kind::from_word(word).is_some()
}

fn one(word: &str) -> Result<Asked, Failure> {
    let Some((kind, name)) = word.split_once('/') else { return checked(None, word) };
    match Kind::from_word(kind) {
        Some(kind) => checked(Some(kind), name),
        None => Err(unknown_kind(kind)),
    }
}

fn checked(kind: Option<Kind>, name: &str) -> Result<Asked, Failure> {
    if is_name(name) {
        Ok(Asked { kind, name: name.into() })
    } else {
        Err(Failure::usage(format!("{name:?} is not the name of a pod or a workload")))
    }
}

fn unknown_kind(word: &str) -> Failure {
    let known = KINDS.iter().flat_map(|(words, _)| words.iter().copied());
    let failure =
        Failure::usage(format!("the type {word:?} is not that of a pod or of a workload with pods"));
    match nearest(word, known) {
        Some(near) => failure.hint(format!("did you mean {near}/…?")),
        None => failure.hint(
            "pod, deployment, statefulset, daemonset, replicaset, job, cronjob and replicationcontroller are",
        ),
    }
}
