//! What is to be explained: everything that waits, pods and workloads by name, or what stands in a manifest.

use crate::api::{self as calls, JSON};
use crate::cli::Explain;
use crate::connect::Session;
use crate::error::Failure;
use crate::manifest;
use crate::names::{self, PodSeen, Seen, Target};
use crate::selector;
use crate::world::World;
use common::model::PodKey;
use common::model::owner::Workload;
use serde_json::Value;
use std::collections::BTreeSet;

/// What is to be explained.
#[derive(Default)]
pub(super) struct Subject {
    /// Everything that waits: in one namespace, or in all; perhaps only these.
    pub(super) everything: Option<Everything>,
    pub(super) pods: Vec<PodKey>,
    pub(super) workloads: Vec<(Workload, Vec<PodKey>)>,
    /// Documents of manifests.
    pub(super) manifests: Vec<Value>,
    /// The JSON of pods that were read by name: one that has ended is in no list.
    pub(super) sources: Vec<String>,
}

/// Which waiting pods are asked for.
pub(super) struct Everything {
    /// `None` for all.
    pub(super) namespace: Option<String>,
    pub(super) only: Option<BTreeSet<PodKey>>,
}

impl Subject {
    /// Whether a pod is among everything that is asked for.
    pub(super) fn is_asked(&self, key: &PodKey) -> bool {
        self.everything.as_ref().is_some_and(|everything| everything.has(key))
    }

    /// The names of the pods that are asked for.
    pub(super) fn names(&self) -> BTreeSet<String> {
        // The only pod of a workload is explained as if it had been named.
        let only = self.workloads.iter().filter(|(_, pods)| pods.len() == 1).flat_map(|(_, pods)| pods);
        self.pods.iter().chain(only).map(|key| key.name.to_string()).collect()
    }
}

impl Everything {
    pub(super) fn has(&self, key: &PodKey) -> bool {
        self.namespace.as_ref().is_none_or(|namespace| *key.namespace == **namespace)
            && self.only.as_ref().is_none_or(|only| only.contains(key))
    }
}

/// Finds what was asked for in the cluster.
pub(super) async fn find(args: &Explain, session: &Session) -> Result<Subject, Failure> {
    if !args.filenames.is_empty() {
        return manifests(args);
    }
    let namespace = &session.namespace;
    if args.names.is_empty() {
        let within = (!args.all_namespaces).then_some(&**namespace);
        let only = match &args.selector {
            Some(selector) => {
                let pods = names::labelled(session, within, selector).await?;
                Some(pods.into_iter().map(|found| found.pod.key).collect())
            }
            None => None,
        };
        return Ok(everything(within, only));
    }
    no_names_everywhere(args)?;
    let mut subject = Subject::default();
    for asked in names::asked(&args.names)? {
        let target = names::find(session, namespace, &asked).await?;
        if let Target::Pod(found) = &target {
            let key = &found.pod.key;
            let path = format!("/api/v1/namespaces/{}/pods/{}", key.namespace, key.name);
            // Gone meanwhile: then what is known has to do.
            if let Ok(answer) = calls::get(session, &path, JSON).await {
                subject.sources.push(answer.text);
            }
        }
        add(&mut subject, target);
    }
    Ok(subject)
}

/// Finds it in a snapshot.
pub(super) fn recall(args: &Explain, world: &World) -> Result<Subject, Failure> {
    if !args.filenames.is_empty() {
        return manifests(args);
    }
    if args.names.is_empty() {
        let only = match &args.selector {
            Some(typed) => {
                let selector = selector::parse(typed)?;
                let pods = world.cluster.pods().filter(|pod| selector.matches(&pod.labels));
                Some(pods.map(|pod| pod.key.clone()).collect())
            }
            None => None,
        };
        return Ok(everything((!args.all_namespaces).then_some(&*world.namespace), only));
    }
    no_names_everywhere(args)?;
    let mut subject = Subject::default();
    for asked in names::asked(&args.names)? {
        let target = names::resolve(&asked, seen(world));
        add(&mut subject, target.map_err(|why| why.into_failure(&asked, &world.namespace))?);
    }
    Ok(subject)
}

/// The names that were typed, whatever they mean.
pub(super) fn names(args: &Explain) -> Result<BTreeSet<String>, Failure> {
    Ok(names::asked(&args.names)?.into_iter().map(|asked| asked.name).collect())
}

fn no_names_everywhere(args: &Explain) -> Result<(), Failure> {
    match args.all_namespaces {
        true => Err(Failure::usage("a resource cannot be retrieved by name across all namespaces")),
        false => Ok(()),
    }
}

fn everything(namespace: Option<&str>, only: Option<BTreeSet<PodKey>>) -> Subject {
    let namespace = namespace.map(str::to_owned);
    Subject { everything: Some(Everything { namespace, only }), ..Subject::default() }
}

fn manifests(args: &Explain) -> Result<Subject, Failure> {
    let manifests = manifest::read(&args.filenames, args.recursive)?;
    Ok(Subject { manifests, ..Subject::default() })
}

fn add(subject: &mut Subject, target: Target) {
    match target {
        Target::Pod(found) => subject.pods.push(found.pod.key.clone()),
        Target::Workload(workload, pods) => {
            let keys = pods.into_iter().map(|found| found.pod.key).collect();
            subject.workloads.push((*workload, keys));
        }
    }
}

/// The world's namespace, as names are looked up in it.
fn seen(world: &World) -> Seen {
    let is_here = |namespace: &str| namespace == world.namespace;
    let pods = world.cluster.pods().filter(|pod| is_here(&pod.key.namespace));
    let workloads = world.cluster.owners().iter().filter(|workload| is_here(&workload.namespace));
    Seen {
        pods: pods.map(|pod| PodSeen { pod: (**pod).clone(), is_ready: false }).collect(),
        workloads: workloads.cloned().collect(),
        unreadable: Vec::new(),
    }
}
