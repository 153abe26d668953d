//! The cluster as the caller may see it: everything listed once, into the same belief that the daemon keeps. It comes
//! from the API server, or from a file that was saved before.

mod details;
pub(crate) mod events;
mod file;
mod intake;
mod live;
pub(crate) mod notes;
mod progress;
mod redact;
mod resource;
mod rolling;
#[cfg(test)]
mod tests;

pub(crate) use file::{Saver, load};
pub(crate) use intake::Intake;
pub(crate) use live::{events, read};
pub(crate) use resource::Resource;

use crate::error::{Exit, Failure};
use crate::ui::printer;
use common::cluster::{Cluster, Enforcement, enforcement};
use common::model::owner::OwnerKind;
use jiff::Timestamp;
use notes::Notes;

/// What was read, and when.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    /// What else was read, that no decision follows from: events, conditions.
    pub(crate) notes: Notes,
    /// The API server's time when the reading ended.
    pub(crate) now: Timestamp,
    /// The namespace that was meant when it was read.
    pub(crate) namespace: String,
    /// What the caller may not read.
    pub(crate) unreadable: Vec<Resource>,
    /// Whether some workloads could not be read, so that an owner may exist although it was not found.
    pub(crate) is_partial: bool,
    /// Who writes down whatever is read.
    saver: Option<Saver>,
}

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What decisions need.
    Decisions,
    /// And what helps to explain them: whole workloads, priority classes, who failed to make pods.
    Reasons,
}

impl World {
    /// How the scheduler called `name` comes to enforce reservations, by what the daemon's replicas say.
    pub(crate) fn enforcement(&self, name: &str) -> Enforcement {
        enforcement(self.cluster.replicas().iter(), name, self.now)
    }

    /// Learns of an event.
    fn event(&mut self, json: &str) -> Result<(), Failure> {
        if let Some(saver) = &mut self.saver {
            saver.object(Resource::Events, json).map_err(Failure::new)?;
        }
        self.notes.event(json);
        Ok(())
    }

    /// Writes the file that whatever was read goes to, if one was asked for.
    pub(crate) fn save(&mut self) -> Result<(), Failure> {
        let (now, namespace) = (self.now, &self.namespace);
        self.saver.take().map_or(Ok(()), |saver| saver.finish(now, namespace))
    }

    /// The rules that are missing to see nodes and pods, without which nothing can be said about room.
    pub(crate) fn needs(&self) -> Vec<String> {
        let basic =
            [Resource::Nodes, Resource::Pods].into_iter().filter(|basic| self.unreadable.contains(basic));
        basic.map(|basic| format!("get,list {} (cluster scope)", basic.name())).collect()
    }

    /// The world, unless nodes or pods cannot be read: then there is no answer.
    pub(crate) fn whole(self) -> Result<Self, Failure> {
        let needs = self.needs();
        if needs.is_empty() {
            return Ok(self);
        }
        let basic = needs.iter().filter_map(|need| need.split(' ').nth(1)).collect::<Vec<_>>().join(" and ");
        Err(Failure::new(format!("you may not list {basic} of the whole cluster"))
            .hint(format!("needs: {}", needs.join("; ")))
            .exit(Exit::Forbidden))
    }

    /// Says what answers lack because something could not be read.
    pub(crate) fn warn(&self) {
        let mut missing = Vec::new();
        for resource in &self.unreadable {
            match resource {
                Resource::Workloads(kind) => printer::warn(&strangers(*kind)),
                Resource::Others(_) => missing.push(resource.name()),
                Resource::Replicas => {
                    printer::warn(
                        "cannot list leases where the daemon is, so no scheduler counts as one that enforces reservations",
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

fn strangers(kind: OwnerKind) -> String {
    format!("cannot list {}, so pods that belong to them count as strangers", kind.plural())
}
