//! Builds [`ClusterData`] from objects as JSON, one at a time and in any order. Only decoded values are kept, not the pages.

use super::diagnostics::Diagnostics;
use super::{ClusterData, Resource, Saver};
use common::api;
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::chain::chain;
use common::model::owner::{OwnerKind, Workload};
use common::model::{CatalogKind, CatalogObject};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// What was added so far.
#[derive(Default)]
pub(crate) struct ClusterDataBuilder {
    cluster: Cluster,
    diagnostics: Diagnostics,
    workloads: BTreeMap<OwnerKind, Vec<Workload>>,
    others: BTreeMap<CatalogKind, Vec<CatalogObject>>,
    unreadable: BTreeSet<Resource>,
    /// Whether the pods of the caller's namespace could be listed although those of the whole cluster could not.
    pub(super) has_own_pods: bool,
    /// How many nodes and pods were added.
    pub(super) counts: (usize, usize),
    /// Writes every object that is added to a file, for `--save-snapshot`.
    pub(super) saver: Option<Saver>,
}

impl ClusterDataBuilder {
    /// A builder that also writes what is added to `saver`.
    pub(crate) fn with_saver(saver: Option<Saver>) -> Self {
        Self { saver, ..Self::default() }
    }

    /// Makes the builder keep the JSON of pods with these names: the user asks about them. Call it before [`Self::add`].
    pub(crate) fn keep_pod_json(&mut self, names: impl Iterator<Item = String>) {
        self.diagnostics.requested_pods.extend(names);
    }

    pub(crate) fn add(&mut self, resource: Resource, json: &str) -> Result<(), String> {
        if let Some(saver) = &mut self.saver {
            saver.object(resource, json)?;
        }
        match resource {
            Resource::Pods => {
                let pod = api::pod::pod(json).map_err(|error| chain(&error))?;
                self.diagnostics.pod(&pod, json);
                self.cluster.apply(Event::Pods(WatchEvent::Applied(pod)));
                self.counts.1 += 1;
            }
            Resource::Nodes => {
                let node = api::node::node(json).map_err(|error| chain(&error))?;
                self.cluster.apply(Event::Nodes(WatchEvent::Applied(node)));
                self.counts.0 += 1;
            }
            Resource::Workloads(kind) => {
                let workload = api::workload::workload(kind, json).map_err(|error| chain(&error))?;
                self.diagnostics.workload(&workload, json);
                self.workloads.entry(kind).or_default().push(workload);
            }
            Resource::Others(kind) => {
                let other = api::catalog_object::catalog_object(kind, json).map_err(|error| chain(&error))?;
                self.others.entry(kind).or_default().push(other);
            }
            Resource::Replicas => {
                // The reader decides which Leases are trusted; a file has only trusted ones.
                if let Ok(replica) = api::replica::replica(json) {
                    self.cluster.apply(Event::Replicas(WatchEvent::Applied(replica)));
                }
            }
            Resource::Events => self.diagnostics.event(json),
            Resource::PriorityClasses => self.diagnostics.priority_class(json),
        }
        Ok(())
    }

    /// Records that the caller may not list this kind.
    pub(crate) fn add_unreadable(&mut self, resource: Resource) -> Result<(), String> {
        if let Some(saver) = &mut self.saver {
            saver.unreadable(resource)?;
        }
        self.unreadable.insert(resource);
        Ok(())
    }

    /// The data as of `now`, read by a caller whose namespace is `namespace`.
    pub(crate) fn build(mut self, now: Timestamp, namespace: &str) -> ClusterData {
        for kind in OwnerKind::ALL {
            let live = self.workloads.remove(&kind).unwrap_or_default();
            self.cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(live)));
            if self.unreadable.contains(&Resource::Workloads(kind)) {
                self.cluster.apply(Event::WorkloadsUnreadable(kind));
            }
        }
        for kind in CatalogKind::ALL {
            let live = self.others.remove(&kind).unwrap_or_default();
            self.cluster.apply(Event::CatalogObjects(kind, WatchEvent::Relisted(live)));
            if self.unreadable.contains(&Resource::Others(kind)) {
                self.cluster.apply(Event::CatalogKindUnreadable(kind));
            }
        }
        let is_partial = self.unreadable.iter().any(|resource| matches!(resource, Resource::Workloads(_)));
        ClusterData {
            cluster: self.cluster,
            diagnostics: self.diagnostics,
            now,
            namespace: namespace.into(),
            unreadable: self.unreadable.into_iter().collect(),
            is_partial,
            // In a file that says nothing about it, pods tell.
            has_own_pods: self.has_own_pods || self.counts.1 > 0,
            saver: self.saver,
        }
    }
}
