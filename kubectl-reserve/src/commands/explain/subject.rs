//! What is explained: all pending pods, pods and workloads by name, or the pods of a manifest. `find` reads the cluster,
//! `find_in_snapshot` a snapshot.

use crate::api::{self as calls, JSON};
use crate::cli::Explain;
use crate::cluster_data::ClusterData;
use crate::connect::Session;
use crate::error::Failure;
use crate::manifest;
use crate::names::{self, NamespaceObjects, PodOrWorkload};
use crate::reader::{PodView, pod_path};
use crate::selector;
use common::model::{PodKey, Workload};
use serde_json::Value;
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct Subject {
    /// Which pending pods are explained, if no pods, workloads or manifests are named.
    pub(super) pending: Option<PendingSelection>,
    pub(super) pods: Vec<PodKey>,
    pub(super) workloads: Vec<(Workload, Vec<PodKey>)>,
    pub(super) manifests: Vec<Value>,
    /// The JSON of pods that were read by name: lists do not contain pods that have ended.
    pub(super) sources: Vec<String>,
}

pub(super) struct PendingSelection {
    /// `None` for all.
    pub(super) namespace: Option<String>,
    pub(super) only: Option<BTreeSet<PodKey>>,
}

impl Subject {
    pub(super) fn selects(&self, key: &PodKey) -> bool {
        self.pending.as_ref().is_some_and(|selection| selection.has(key))
    }

    /// The names of the pods that are explained in full.
    pub(super) fn names(&self) -> BTreeSet<String> {
        // The only pod of a workload is explained like a named pod.
        let only = self.workloads.iter().filter(|(_, pods)| pods.len() == 1).flat_map(|(_, pods)| pods);
        self.pods.iter().chain(only).map(|key| key.name.to_string()).collect()
    }
}

impl PendingSelection {
    pub(super) fn has(&self, key: &PodKey) -> bool {
        self.namespace.as_ref().is_none_or(|namespace| *key.namespace == **namespace)
            && self.only.as_ref().is_none_or(|only| only.contains(key))
    }
}

/// Finds in the cluster what the arguments name.
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
        return Ok(pending(within, only));
    }
    refuse_names_with_all_namespaces(args)?;
    let mut subject = Subject::default();
    for asked in names::parse_args(&args.names)? {
        let target = names::find(session, namespace, &asked).await?;
        if let PodOrWorkload::Pod(found) = &target {
            // If the pod is gone meanwhile, it is explained without its JSON.
            if let Ok(answer) = calls::get(session, &pod_path(&found.key), JSON).await {
                subject.sources.push(answer.text);
            }
        }
        add(&mut subject, target);
    }
    Ok(subject)
}

/// Finds in a snapshot what the arguments name.
pub(super) fn find_in_snapshot(args: &Explain, data: &ClusterData) -> Result<Subject, Failure> {
    if !args.filenames.is_empty() {
        return manifests(args);
    }
    if args.names.is_empty() {
        let only = match &args.selector {
            Some(typed) => {
                let selector = selector::parse(typed)?;
                let pods = data.cluster.pods().filter(|pod| selector.matches(&pod.labels));
                Some(pods.map(|pod| pod.key.clone()).collect())
            }
            None => None,
        };
        return Ok(pending((!args.all_namespaces).then_some(&*data.namespace), only));
    }
    refuse_names_with_all_namespaces(args)?;
    let mut subject = Subject::default();
    for asked in names::parse_args(&args.names)? {
        let target = names::resolve(&asked, namespace_objects(data));
        add(&mut subject, target.map_err(|why| why.into_failure(&asked, &data.namespace))?);
    }
    Ok(subject)
}

/// The names in the arguments, of pods or workloads.
pub(super) fn names(args: &Explain) -> Result<BTreeSet<String>, Failure> {
    Ok(names::parse_args(&args.names)?.into_iter().map(|asked| asked.name).collect())
}

fn refuse_names_with_all_namespaces(args: &Explain) -> Result<(), Failure> {
    match args.all_namespaces {
        true => Err(Failure::usage("a resource cannot be retrieved by name across all namespaces")),
        false => Ok(()),
    }
}

fn pending(namespace: Option<&str>, only: Option<BTreeSet<PodKey>>) -> Subject {
    let namespace = namespace.map(str::to_owned);
    Subject { pending: Some(PendingSelection { namespace, only }), ..Subject::default() }
}

fn manifests(args: &Explain) -> Result<Subject, Failure> {
    let manifests = manifest::read(&args.filenames, args.recursive)?;
    Ok(Subject { manifests, ..Subject::default() })
}

fn add(subject: &mut Subject, target: PodOrWorkload) {
    match target {
        PodOrWorkload::Pod(found) => subject.pods.push(found.pod.key.clone()),
        PodOrWorkload::Workload(workload, pods) => {
            let keys = pods.into_iter().map(|found| found.pod.key).collect();
            subject.workloads.push((*workload, keys));
        }
    }
}

/// The pods and workloads of the snapshot's namespace.
fn namespace_objects(data: &ClusterData) -> NamespaceObjects {
    let is_here = |namespace: &str| namespace == data.namespace;
    let pods = data.cluster.pods().filter(|pod| is_here(&pod.key.namespace));
    let workloads = data.cluster.owners().iter().filter(|workload| is_here(&workload.namespace));
    NamespaceObjects {
        pods: pods.map(|pod| PodView::from((**pod).clone())).collect(),
        workloads: workloads.cloned().collect(),
        unreadable: Vec::new(),
    }
}
