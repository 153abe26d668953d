//! What a name means, given what is there: a plain decision, without asking anybody.

use super::{Asked, Kind};
use crate::error::Failure;
use crate::render::table::table;
use crate::render::time::between;
use common::cluster::{Owners, Seen as News};
use common::config::nearest::nearest;
use common::model::Pod;
use common::model::moment::Moment;
use common::model::owner::{OwnerKind, Workload};
use jiff::Timestamp;

/// Similar names that are offered.
const NEAR_MAX: usize = 5;

/// Pods that an error lists; whoever has more wants the whole workload.
const LISTED_MAX: usize = 10;

/// What was read in one namespace.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) pods: Vec<PodSeen>,
    pub(crate) workloads: Vec<Workload>,
    /// Kinds of workload that the caller may not read.
    pub(crate) unreadable: Vec<OwnerKind>,
}

/// A pod, and what people want to know when they choose one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PodSeen {
    pub(crate) pod: Pod,
    pub(crate) is_ready: bool,
}

/// What a name means.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    Pod(Box<PodSeen>),
    /// A workload, with its pods by name.
    Workload(Box<Workload>, Vec<PodSeen>),
}

/// Why a name means nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unresolved {
    /// Nothing is called that; these names are similar.
    NotFound { near: Vec<String> },
    /// Workloads of several kinds are: `TYPE/NAME`.
    Ambiguous(Vec<String>),
}

/// Several pods where one is needed.
#[derive(Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) workload: Box<Workload>,
    pub(crate) pods: Vec<PodSeen>,
}

/// What `asked` means: the pod of exactly that name, else the one workload.
pub(crate) fn resolve(asked: &Asked, mut seen: Seen) -> Result<Target, Unresolved> {
    let is_pod = |found: &PodSeen| *found.pod.key.name == *asked.name;
    if matches!(asked.kind, None | Some(Kind::Pod))
        && let Some(index) = seen.pods.iter().position(is_pod)
    {
        return Ok(Target::Pod(Box::new(seen.pods.swap_remove(index))));
    }
    let is_meant = |workload: &&Workload| {
        *workload.name == *asked.name && asked.kind.is_none_or(|kind| kind == Kind::Workload(workload.kind))
    };
    let meant: Vec<&Workload> = seen.workloads.iter().filter(is_meant).collect();
    match meant[..] {
        [] => Err(Unresolved::NotFound { near: near(asked, &seen) }),
        [workload] => {
            let workload = workload.clone();
            let pods = pods_of(&workload, seen);
            Ok(Target::Workload(Box::new(workload), pods))
        }
        _ => {
            let typed = |workload: &&Workload| id(workload);
            Err(Unresolved::Ambiguous(meant.iter().map(typed).collect()))
        }
    }
}

/// The pods that really belong to the workload, at any depth, those that ended aside.
fn pods_of(workload: &Workload, seen: Seen) -> Vec<PodSeen> {
    let mut owners = Owners::default();
    for kind in OwnerKind::ALL {
        let live = seen.workloads.iter().filter(|other| other.kind == kind).cloned().collect();
        owners.apply(kind, News::Relisted(live), &mut Vec::new());
    }
    let is_its = |pod: &Pod| owners.chain(pod).iter().any(|owner| owner.uid == workload.uid);
    let mut pods = seen.pods;
    pods.retain(|found| !found.pod.is_ended() && is_its(&found.pod));
    pods.sort_by(|one, other| one.pod.key.cmp(&other.pod.key));
    pods
}

/// Names that somebody may have meant: those that begin alike, then those that are spelt alike.
fn near(asked: &Asked, seen: &Seen) -> Vec<String> {
    let pods = seen.pods.iter().map(|found| (Kind::Pod, &*found.pod.key.name));
    let workloads = seen.workloads.iter().map(|workload| (Kind::Workload(workload.kind), &*workload.name));
    let known: Vec<(Kind, &str)> = workloads.chain(pods).collect();
    let shown = |(kind, name): &(Kind, &str)| match kind {
        Kind::Pod => (*name).to_owned(),
        Kind::Workload(_) => format!("{}/{name}", kind.word()),
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

/// `TYPE/NAME`, as one types it.
pub(crate) fn id(workload: &Workload) -> String {
    format!("{}/{}", Kind::Workload(workload.kind).word(), workload.name)
}

impl Target {
    /// The one pod: itself, or the only one of the workload. Several are a choice, and so are none.
    pub(crate) fn one_pod(self) -> Result<PodSeen, Choice> {
        match self {
            Self::Pod(found) => Ok(*found),
            Self::Workload(workload, mut pods) => match (pods.len(), pods.pop()) {
                (1, Some(pod)) => Ok(pod),
                (_, last) => {
                    pods.extend(last);
                    Err(Choice { workload, pods })
                }
            },
        }
    }
}

impl Choice {
    /// One line for each pod, the header first: pod, node, age, whether it is ready.
    pub(crate) fn lines(&self, now: Timestamp) -> Vec<String> {
        let row = |found: &PodSeen| {
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

    /// For whoever cannot be asked: the pods, and the command for all of them.
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

impl Unresolved {
    /// In kubectl's words.
    pub(crate) fn into_failure(self, asked: &Asked, namespace: &str) -> Failure {
        match self {
            Self::NotFound { near } => {
                let resource = asked.kind.unwrap_or(Kind::Pod).resource();
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
