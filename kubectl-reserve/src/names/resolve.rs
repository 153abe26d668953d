//! What a name means, given the objects of a namespace. Plain functions, without a client.

use super::{ObjectArg, ObjectKind};
use crate::error::Failure;
use crate::reader::PodView;
use crate::render::table::table;
use crate::render::time::between;
use common::cluster::{Owners, WatchEvent};
use common::config::nearest::nearest;
use common::model::{Moment, OwnerKind, Pod, Workload};
use jiff::Timestamp;

/// The number of similar names that an error offers.
const NEAR_MAX: usize = 5;

/// The number of pods that an error lists.
const LISTED_MAX: usize = 10;

/// The pods and workloads of one namespace.
#[derive(Debug, Default)]
pub(crate) struct NamespaceObjects {
    pub(crate) pods: Vec<PodView>,
    pub(crate) workloads: Vec<Workload>,
    /// Kinds of workload that the caller may not read.
    pub(crate) unreadable: Vec<OwnerKind>,
}

/// The object that a name means.
#[derive(Debug, PartialEq)]
pub(crate) enum PodOrWorkload {
    Pod(Box<PodView>),
    /// A workload, with its pods sorted by name.
    Workload(Box<Workload>, Vec<PodView>),
}

/// Why a name does not mean exactly one object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ResolveError {
    /// No object has the name. `near` are similar names.
    NotFound { near: Vec<String> },
    /// Workloads of several kinds have the name; each as `TYPE/NAME`.
    Ambiguous(Vec<String>),
}

/// The pods of a workload, of which one must be chosen.
#[derive(Debug, PartialEq)]
pub(crate) struct PodChoice {
    pub(crate) workload: Box<Workload>,
    pub(crate) pods: Vec<PodView>,
}

/// The object that `asked` means: the pod of exactly that name, else the only workload of that name.
pub(crate) fn resolve(asked: &ObjectArg, mut seen: NamespaceObjects) -> Result<PodOrWorkload, ResolveError> {
    let is_pod = |found: &PodView| *found.pod.key.name == *asked.name;
    if matches!(asked.kind, None | Some(ObjectKind::Pod))
        && let Some(index) = seen.pods.iter().position(is_pod)
    {
        return Ok(PodOrWorkload::Pod(Box::new(seen.pods.swap_remove(index))));
    }
    let is_meant = |workload: &&Workload| {
        *workload.name == *asked.name
            && asked.kind.is_none_or(|kind| kind == ObjectKind::Workload(workload.kind))
    };
    let meant: Vec<&Workload> = seen.workloads.iter().filter(is_meant).collect();
    match meant[..] {
        [] => Err(ResolveError::NotFound { near: near(asked, &seen) }),
        [workload] => {
            let workload = workload.clone();
            let pods = pods_of(&workload, seen);
            Ok(PodOrWorkload::Workload(Box::new(workload), pods))
        }
        _ => {
            let typed = |workload: &&Workload| id(workload);
            Err(ResolveError::Ambiguous(meant.iter().map(typed).collect()))
        }
    }
}

/// The pods that the workload owns, directly or through other workloads, except those that have ended.
fn pods_of(workload: &Workload, seen: NamespaceObjects) -> Vec<PodView> {
    let mut owners = Owners::default();
    for kind in OwnerKind::ALL {
        let live = seen.workloads.iter().filter(|other| other.kind == kind).cloned().collect();
        owners.apply(kind, WatchEvent::Relisted(live), &mut Vec::new());
    }
    let is_its = |pod: &Pod| owners.chain(pod).iter().any(|owner| owner.uid == workload.uid);
    let mut pods = seen.pods;
    pods.retain(|found| !found.pod.is_ended() && is_its(&found.pod));
    pods.sort_by(|one, other| one.pod.key.cmp(&other.pod.key));
    pods
}

/// Names that the user may have meant: names with a common beginning first, then similarly spelt ones.
fn near(asked: &ObjectArg, seen: &NamespaceObjects) -> Vec<String> {
    let pods = seen.pods.iter().map(|found| (ObjectKind::Pod, &*found.pod.key.name));
    let workloads =
        seen.workloads.iter().map(|workload| (ObjectKind::Workload(workload.kind), &*workload.name));
    let known: Vec<(ObjectKind, &str)> = workloads.chain(pods).collect();
    let shown = |(kind, name): &(ObjectKind, &str)| match kind {
        ObjectKind::Pod => (*name).to_owned(),
        ObjectKind::Workload(_) => format!("{}/{name}", kind.word()),
    };
    let begins = |name: &str| name.starts_with(&*asked.name) || asked.name.starts_with(&format!("{name}-"));
    let mut near: Vec<String> = known.iter().filter(|(_, name)| begins(name)).map(shown).collect();
    if let Some(alike) = nearest(&asked.name, known.iter().map(|(_, name)| *name)) {
        near.extend(known.iter().filter(|(_, name)| *name == alike).map(shown));
    }
    let mut said = std::collections::BTreeSet::new();
    near.retain(|name| said.insert(name.clone()));
    near.truncate(NEAR_MAX);
    near
}

/// `TYPE/NAME`, as it is typed.
pub(crate) fn id(workload: &Workload) -> String {
    format!("{}/{}", ObjectKind::Workload(workload.kind).word(), workload.name)
}

impl PodOrWorkload {
    /// The pod itself, or the only pod of the workload. Otherwise a choice, which is empty for a workload without pods.
    pub(crate) fn one_pod(self) -> Result<PodView, PodChoice> {
        match self {
            Self::Pod(found) => Ok(*found),
            Self::Workload(workload, mut pods) => match (pods.len(), pods.pop()) {
                (1, Some(pod)) => Ok(pod),
                (_, last) => {
                    pods.extend(last);
                    Err(PodChoice { workload, pods })
                }
            },
        }
    }
}

impl PodChoice {
    /// A table with one line for each pod, the header first: name, node, age, state.
    pub(crate) fn lines(&self, now: Timestamp) -> Vec<String> {
        let row = |found: &PodView| {
            let pod = &found.pod;
            let age = pod.created.map_or_else(|| "<unknown>".into(), |at: Moment| between(at.time(), now));
            let node = pod.node.as_ref().map_or("<none>", |node| node.as_str());
            let ready = if pod.deleting {
                "Terminating"
            } else if found.is_ready {
                "Ready"
            } else {
                "NotReady"
            };
            vec![pod.key.name.to_string(), node.to_owned(), age, ready.to_owned()]
        };
        let rows: Vec<Vec<String>> = self.pods.iter().map(row).collect();
        table(Some(&["POD", "NODE", "AGE", "STATE"]), &rows).lines().map(str::to_owned).collect()
    }

    /// The error when the user cannot be asked: the pods, and the command for all of them.
    pub(crate) fn into_failure(self, now: Timestamp) -> Failure {
        let workload = &self.workload;
        let (id, namespace) = (id(workload), &workload.namespace);
        if self.pods.is_empty() {
            return Failure::new(format!("{id} in namespace {namespace} has no pods"))
                .hint(format!("kubectl reserve explain {id} -n {namespace} says why"));
        }
        let count = self.pods.len();
        let mut text = format!("{id} has {count} pods; name one of them");
        for line in self.lines(now).iter().take(LISTED_MAX + 1) {
            text += &format!("\n  {line}");
        }
        if count > LISTED_MAX {
            text += &format!("\n  (+{} more)", count - LISTED_MAX);
        }
        Failure::usage(text)
            .hint(format!("for all of them, one at a time: kubectl reserve restart {id} -n {namespace}"))
    }
}

impl ResolveError {
    /// The error, in the words of kubectl.
    pub(crate) fn into_failure(self, asked: &ObjectArg, namespace: &str) -> Failure {
        match self {
            Self::NotFound { near } => {
                let resource = asked.kind.unwrap_or(ObjectKind::Pod).resource();
                let failure = Failure::new(format!(
                    "Error from server (NotFound): {resource} \"{}\" not found",
                    asked.name
                ));
                if near.is_empty() {
                    failure.hint(format!(
                        "kubectl get pods -n {namespace} lists the pods there; -n NAMESPACE looks elsewhere"
                    ))
                } else {
                    failure.hint(format!("in namespace {namespace} there is {}", near.join(", ")))
                }
            }
            Self::Ambiguous(candidates) => {
                Failure::usage(format!("{:?} is the name of several workloads", asked.name))
                    .hint(format!("name the one that you mean: {}", candidates.join(", ")))
            }
        }
    }
}
