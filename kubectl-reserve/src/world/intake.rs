//! Objects as JSON, one at a time and in any order, into the belief. What is not kept is gone with the page it came in.

use super::notes::Notes;
use super::{Resource, Saver, World};
use common::api;
use common::cluster::{Cluster, Event, Seen};
use common::model::chain::chain;
use common::model::owner::{OwnerKind, Workload};
use common::model::{Other, OtherKind};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// What has come so far.
#[derive(Default)]
pub(crate) struct Intake {
    cluster: Cluster,
    notes: Notes,
    workloads: BTreeMap<OwnerKind, Vec<Workload>>,
    others: BTreeMap<OtherKind, Vec<Other>>,
    unreadable: BTreeSet<Resource>,
    /// How many nodes and pods.
    pub(super) counts: (usize, usize),
    /// Who writes down whatever comes.
    pub(super) saver: Option<Saver>,
}

impl Intake {
    /// One that also writes down whatever comes.
    pub(crate) fn saving(saver: Option<Saver>) -> Self {
        Self { saver, ..Self::default() }
    }

    /// Keeps the JSON of pods with these names: somebody asks for them.
    pub(crate) fn detail(&mut self, names: impl Iterator<Item = String>) {
        self.notes.detailed.extend(names);
    }

    /// Learns of one object.
    pub(crate) fn take(&mut self, resource: Resource, json: &str) -> Result<(), String> {
        if let Some(saver) = &mut self.saver {
            saver.object(resource, json)?;
        }
        match resource {
            Resource::Pods => {
                let pod = api::pod::pod(json).map_err(|error| chain(&error))?;
                self.notes.pod(&pod, json);
                self.cluster.apply(Event::Pods(Seen::Applied(pod)));
                self.counts.1 += 1;
            }
            Resource::Nodes => {
                let node = api::node::node(json).map_err(|error| chain(&error))?;
                self.cluster.apply(Event::Nodes(Seen::Applied(node)));
                self.counts.0 += 1;
            }
            Resource::Workloads(kind) => {
                let workload = api::workload::workload(kind, json).map_err(|error| chain(&error))?;
                self.notes.workload(&workload, json);
                self.workloads.entry(kind).or_default().push(workload);
            }
            Resource::Others(kind) => {
                let other = api::other::other(kind, json).map_err(|error| chain(&error))?;
                self.others.entry(kind).or_default().push(other);
            }
            Resource::Replicas => {
                // Whether it is to be believed was judged by whoever read it: in a file are only those that were.
                if let Ok(replica) = api::replica::replica(json) {
                    self.cluster.apply(Event::Replicas(Seen::Applied(replica)));
                }
            }
            Resource::Events => self.notes.event(json),
            Resource::PriorityClasses => self.notes.priority_class(json),
        }
        Ok(())
    }

    /// Learns that the caller may not read a kind.
    pub(crate) fn cannot_read(&mut self, resource: Resource) -> Result<(), String> {
        if let Some(saver) = &mut self.saver {
            saver.unreadable(resource)?;
        }
        self.unreadable.insert(resource);
        Ok(())
    }

    /// The caller asked for this namespace.
    pub(crate) fn into_world(mut self, now: Timestamp, namespace: &str) -> World {
        for kind in OwnerKind::ALL {
            let live = self.workloads.remove(&kind).unwrap_or_default();
            self.cluster.apply(Event::Workloads(kind, Seen::Relisted(live)));
            if self.unreadable.contains(&Resource::Workloads(kind)) {
                self.cluster.apply(Event::Unreadable(kind));
            }
        }
        for kind in OtherKind::ALL {
            let live = self.others.remove(&kind).unwrap_or_default();
            self.cluster.apply(Event::Others(kind, Seen::Relisted(live)));
            if self.unreadable.contains(&Resource::Others(kind)) {
                self.cluster.apply(Event::OthersUnreadable(kind));
            }
        }
        let is_partial = self.unreadable.iter().any(|resource| matches!(resource, Resource::Workloads(_)));
        World {
            cluster: self.cluster,
            notes: self.notes,
            now,
            namespace: namespace.into(),
            unreadable: self.unreadable.into_iter().collect(),
            is_partial,
            saver: self.saver,
        }
    }
}
