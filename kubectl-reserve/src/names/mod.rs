//! Pods and workloads as arguments: `NAME`, `TYPE/NAME…` or `TYPE NAME…`. `parse_args` reads them, `find` looks them up in the
//! cluster, `resolve` decides what a name means, given the objects of a namespace.

mod find;
mod resolve;
#[cfg(test)]
mod tests;

pub(crate) use find::{find, labelled};
pub(crate) use resolve::{NamespaceObjects, PodChoice, PodOrWorkload, id, resolve};

use crate::connect::is_name;
use crate::error::Failure;
use common::config::nearest::nearest;
use common::model::owner::OwnerKind;
use std::fmt;

/// A kind of object that an argument can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ObjectKind {
    Pod,
    Workload(OwnerKind),
}

/// One argument that names a pod or a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectArg {
    pub(crate) kind: Option<ObjectKind>,
    pub(crate) name: String,
}

/// The words for each kind, as in kubectl.
const KINDS: [(&[&str], ObjectKind); 8] = [
    (&["po", "pod", "pods"], ObjectKind::Pod),
    (&["deploy", "deployment", "deployments"], ObjectKind::Workload(OwnerKind::Deployment)),
    (&["sts", "statefulset", "statefulsets"], ObjectKind::Workload(OwnerKind::StatefulSet)),
    (&["ds", "daemonset", "daemonsets"], ObjectKind::Workload(OwnerKind::DaemonSet)),
    (&["rs", "replicaset", "replicasets"], ObjectKind::Workload(OwnerKind::ReplicaSet)),
    (&["job", "jobs"], ObjectKind::Workload(OwnerKind::Job)),
    (&["cj", "cronjob", "cronjobs"], ObjectKind::Workload(OwnerKind::CronJob)),
    (
        &["rc", "replicationcontroller", "replicationcontrollers"],
        ObjectKind::Workload(OwnerKind::ReplicationController),
    ),
];

impl ObjectKind {
    /// The kind for a word, with or without its API group: `deploy`, `Deployments`, `deployments.apps`.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let (word, group) = word.split_once('.').map_or((&*word, None), |(word, group)| (word, Some(group)));
        let (_, kind) = KINDS.iter().find(|(words, _)| words.contains(&word))?;
        // As kubectl: `deployments.apps` or `deployments.v1.apps`.
        let is_of = |group: &str| group.rsplit('.').next() == Some(kind.group());
        (group.is_none_or(is_of)).then_some(*kind)
    }

    fn group(self) -> &'static str {
        match self {
            Self::Pod => "",
            Self::Workload(kind) => kind.group(),
        }
    }

    /// The plural with the API group, as in the errors of kubectl: `deployments.apps`.
    pub(crate) fn resource(self) -> String {
        match self {
            Self::Pod => "pods".into(),
            Self::Workload(kind) if kind.group().is_empty() => kind.plural().into(),
            Self::Workload(kind) => format!("{}.{}", kind.plural(), kind.group()),
        }
    }

    /// The word before the slash.
    pub(crate) fn word(self) -> String {
        match self {
            Self::Pod => "pod".into(),
            Self::Workload(kind) => kind.as_str().to_ascii_lowercase(),
        }
    }
}

impl fmt::Display for ObjectArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{}/{}", kind.word(), self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Parses the arguments of a command. Names become parts of URLs, so they are checked.
pub(crate) fn parse_args(words: &[String]) -> Result<Vec<ObjectArg>, Failure> {
    let is_plain = |word: &String| !word.contains('/');
    match words {
        // As kubectl: the first of several words without a slash is a type.
        [kind, names @ ..] if !names.is_empty() && words.iter().all(is_plain) && is_kind(kind) => {
            let kind = ObjectKind::from_word(kind);
            names.iter().map(|name| checked(kind, name)).collect()
        }
        _ => words.iter().map(|word| parse_arg(word)).collect(),
    }
}

fn is_kind(word: &str) -> bool {
    ObjectKind::from_word(word).is_some()
}

fn parse_arg(word: &str) -> Result<ObjectArg, Failure> {
    let Some((kind, name)) = word.split_once('/') else { return checked(None, word) };
    match ObjectKind::from_word(kind) {
        Some(kind) => checked(Some(kind), name),
        None => Err(unknown_kind(kind)),
    }
}

fn checked(kind: Option<ObjectKind>, name: &str) -> Result<ObjectArg, Failure> {
    if is_name(name) {
        Ok(ObjectArg { kind, name: name.into() })
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
