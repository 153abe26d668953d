//! What the command knows about the cluster: every kind listed once, into the same `Cluster` that the daemon keeps. The data comes
//! from the API server (`live`: [`read`]) or from a file that was saved before (`file`: [`load`]).
//!
//! `builder` takes the objects one at a time; `redact` reduces what goes into a file. What no decision depends on (events, pod
//! conditions, failed creates, priority classes) is in `diagnostics`. Nothing here explains or prints results.

mod builder;
pub(crate) mod diagnostics;
pub(crate) mod events;
mod file;
mod live;
mod progress;
mod redact;
mod resource;
#[cfg(test)]
mod tests;
mod workload_details;

pub(crate) use builder::ClusterDataBuilder;
pub(crate) use file::{Saver, load};
pub(crate) use live::{events, read};
pub(crate) use resource::Resource;

use crate::error::{Exit, Failure, forbidden};
use crate::ui::printer;
use common::cluster::{Cluster, Enforcement, enforcement};
use common::model::owner::OwnerKind;
use diagnostics::Diagnostics;
use jiff::Timestamp;

pub(crate) struct ClusterData {
    pub(crate) cluster: Cluster,
    /// What was read besides and no decision depends on: events, conditions.
    pub(crate) diagnostics: Diagnostics,
    /// The API server's time at the end of the lists.
    pub(crate) now: Timestamp,
    /// The caller's namespace at the time of the lists.
    pub(crate) namespace: String,
    /// The kinds that the caller may not list.
    pub(crate) unreadable: Vec<Resource>,
    /// Whether some kind of workload could not be listed, so that an owner may exist although it was not found.
    pub(crate) is_partial: bool,
    /// Whether the pods of the caller's namespace were listed, although those of the whole cluster may be missing.
    has_own_pods: bool,
    /// Writes everything that is read to a file, for `--save-snapshot`.
    saver: Option<Saver>,
}

/// How much is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What scheduling decisions depend on.
    Decisions,
    /// Also what explains decisions: whole workloads, priority classes, `FailedCreate` events.
    Reasons,
}

impl ClusterData {
    /// How the scheduler called `name` enforces reservations, according to the Leases of the daemon's replicas.
    pub(crate) fn enforcement(&self, name: &str) -> Enforcement {
        enforcement(self.cluster.replicas().iter(), name, self.now)
    }

    fn event(&mut self, json: &str) -> Result<(), Failure> {
        if let Some(saver) = &mut self.saver {
            saver.object(Resource::Events, json).map_err(Failure::new)?;
        }
        self.diagnostics.event(json);
        Ok(())
    }

    /// Finishes the file of `--save-snapshot`, if that flag is set.
    pub(crate) fn save(&mut self) -> Result<(), Failure> {
        let (now, namespace) = (self.now, &self.namespace);
        self.saver.take().map_or(Ok(()), |saver| saver.finish(now, namespace))
    }

    /// The RBAC rules that the caller lacks to list nodes and pods; without both nothing can be said about free room.
    pub(crate) fn missing_rights(&self) -> Vec<String> {
        let basic =
            [Resource::Nodes, Resource::Pods].into_iter().filter(|basic| self.unreadable.contains(basic));
        basic.map(|basic| format!("get,list {} (cluster scope)", basic.name())).collect()
    }

    /// Fails if the pods of `namespace`, or of all namespaces, could not be listed: that is not the same as no pods.
    pub(crate) fn require_pods(&self, namespace: Option<&str>) -> Result<(), Failure> {
        let is_own = namespace == Some(&*self.namespace) && self.has_own_pods;
        if is_own || !self.unreadable.contains(&Resource::Pods) {
            return Ok(());
        }
        let place = namespace.map_or_else(|| "cluster scope".into(), |own| format!("namespace {own}"));
        Err(forbidden("list pods", &format!("list pods ({place})")))
    }

    /// The data itself; an error if nodes or pods cannot be listed.
    pub(crate) fn require_nodes_and_pods(self) -> Result<Self, Failure> {
        let needs = self.missing_rights();
        if needs.is_empty() {
            return Ok(self);
        }
        let basic = needs.iter().filter_map(|need| need.split(' ').nth(1)).collect::<Vec<_>>().join(" and ");
        Err(Failure::new(format!("you may not list {basic} of the whole cluster"))
            .hint(format!("needs: {}", needs.join("; ")))
            .exit(Exit::Forbidden))
    }

    /// Prints a warning for each kind that could not be listed, and what is wrong in answers because of it.
    pub(crate) fn warn_about_unreadable(&self) {
        let mut missing = Vec::new();
        for resource in &self.unreadable {
            match resource {
                Resource::Workloads(kind) => printer::warn(&unreadable_owner_warning(*kind)),
                Resource::Others(_) => missing.push(resource.name()),
                Resource::Replicas => {
                    printer::warn(
                        "cannot list leases where the daemon is, so it is unknown which schedulers enforce reservations",
                    );
                }
                Resource::Nodes | Resource::Pods | Resource::Events | Resource::PriorityClasses => {}
            }
        }
        if !missing.is_empty() {
            printer::warn(&format!("cannot list {}, so it looks as if there were none", missing.join(", ")));
        }
    }
}

fn unreadable_owner_warning(kind: OwnerKind) -> String {
    format!("cannot list {}, so pods that belong to them count as strangers", kind.plural())
}
