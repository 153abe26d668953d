//! The state of the daemon and of what is reserved, as a value: worked out from what was read, for people and machines.

mod document;
#[cfg(test)]
pub(crate) mod tests;
mod text;

use crate::error::Failure;
use crate::print::Shown;
use crate::world::events::EventNote;
use crate::world::{Resource, World};
use common::api::names;
use common::cluster::ledger::Ledger;
use common::cluster::{Enforcement, enforcement};
use common::model::{Replica, ResourceName};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;

/// Events older than this are history.
const RECENT: SignedDuration = SignedDuration::from_hours(1);

/// The most events that are shown.
const EVENTS_MAX: usize = 10;

/// What `status` shows.
#[derive(Debug, Default)]
pub(crate) struct Status {
    /// The version of this command.
    pub(crate) client: String,
    pub(crate) now: Timestamp,
    pub(crate) replicas: Vec<ReplicaLine>,
    pub(crate) schedulers: Vec<SchedulerLine>,
    /// How many reservations, by state; malformed ones are `Invalid`.
    pub(crate) states: BTreeMap<&'static str, usize>,
    /// How many of them were made by hand in the plain form.
    pub(crate) manual: usize,
    /// How many nodes have any.
    pub(crate) nodes: usize,
    pub(crate) short: Vec<ShortNode>,
    /// What the daemon warned of, the newest first.
    pub(crate) events: Vec<EventNote>,
    /// What could not be read, as the rules that would allow it.
    pub(crate) missing: Vec<String>,
}

/// A replica of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplicaLine {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) is_live: bool,
    pub(crate) is_leader: bool,
    pub(crate) version: String,
    pub(crate) schedulers: Vec<String>,
    pub(crate) extends: Vec<String>,
    pub(crate) seen_nodes: u64,
    pub(crate) seen_pods: u64,
    /// Whether nodes were read in a newer version than it has seen.
    pub(crate) is_behind: bool,
    pub(crate) renewed: Option<Timestamp>,
    /// Whether it may not write reservations.
    pub(crate) is_restricted: bool,
}

/// A scheduler that pods name, or that the daemon is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchedulerLine {
    pub(crate) name: String,
    pub(crate) pods: usize,
    pub(crate) pending: usize,
    pub(crate) enforcement: Enforcement,
}

/// A node that has promised more than it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShortNode {
    pub(crate) name: String,
    /// What of: allocatable, used by pods, reserved.
    pub(crate) resources: Vec<(ResourceName, i64, i64, i64)>,
}

impl Status {
    /// What follows from what was read. `leader` is the replica that the Lease of the election names.
    pub(crate) fn of(world: &mut World, leader: Option<&str>) -> Self {
        let now = world.now;
        let mut status = Self { client: env!("CARGO_PKG_VERSION").into(), now, ..Self::default() };
        let newest = world.cluster.newest().0;
        let replicas: Vec<&Replica> = world.cluster.replicas().iter().collect();
        let line = |replica: &&Replica| replica_line(replica, leader, newest, now);
        status.replicas = replicas.iter().map(line).collect();
        status
            .replicas
            .sort_by(|one, other| (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name)));
        status.schedulers = schedulers(world);
        status.events = events(&world.notes.events, now);
        status.missing = missing(&world.unreadable);
        let snapshot = world.cluster.snapshot(now);
        for ledger in snapshot.nodes() {
            status.count(ledger);
        }
        status
    }

    fn count(&mut self, ledger: &Ledger) {
        for entry in &ledger.entries {
            *self.states.entry(entry.state.as_str()).or_default() += 1;
            self.manual += usize::from(entry.reservation.is_manual());
        }
        let invalid = ledger.node.reservations.iter().filter(|parsed| parsed.invalid().is_some()).count();
        if invalid > 0 {
            *self.states.entry("Invalid").or_default() += invalid;
        }
        self.nodes += usize::from(!ledger.entries.is_empty() || invalid > 0);
        let resources = short(ledger);
        if !resources.is_empty() {
            self.short.push(ShortNode { name: ledger.node.name.to_string(), resources });
        }
    }

    /// Those whose word is good.
    pub(crate) fn live(&self) -> impl Iterator<Item = &ReplicaLine> {
        self.replicas.iter().filter(|replica| replica.is_live)
    }

    /// Whether the caller may read a kind, by its plural.
    pub(crate) fn can_see(&self, plural: &str) -> bool {
        !self.missing.iter().any(|rule| rule.split(' ').nth(1) == Some(plural))
    }

    /// All reservations.
    pub(crate) fn total(&self) -> usize {
        self.states.values().sum()
    }
}

impl Shown for Status {
    fn table(&self, is_wide: bool, has_headers: bool) -> String {
        text::text(self, is_wide, has_headers)
    }

    fn names(&self) -> Vec<String> {
        let name = |replica: &ReplicaLine| {
            format!("lease.coordination.k8s.io/{}{}", names::REPLICA_PREFIX, replica.name)
        };
        self.replicas.iter().map(name).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        document::document(self)
    }
}

fn replica_line(replica: &Replica, leader: Option<&str>, newest: u64, now: Timestamp) -> ReplicaLine {
    let texts =
        |list: &[common::model::ids::Text]| list.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let is_live = replica.is_live(now);
    // Without an election whoever serves leads.
    let is_leader = match leader {
        Some(leader) => *replica.name == *leader,
        None => !replica.schedulers.is_empty(),
    };
    ReplicaLine {
        namespace: replica.meta.namespace.to_string(),
        name: replica.name.to_string(),
        is_live,
        is_leader: is_live && is_leader,
        version: replica.version.to_string(),
        schedulers: texts(&replica.schedulers),
        extends: texts(&replica.extends),
        seen_nodes: replica.seen_nodes,
        seen_pods: replica.seen_pods,
        is_behind: is_live && replica.seen_nodes < newest,
        renewed: replica.renewed,
        is_restricted: replica.is_restricted,
    }
}

fn schedulers(world: &World) -> Vec<SchedulerLine> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for pod in world.cluster.pods() {
        let (pods, pending) = counts.entry(pod.spec.scheduler_name.to_string()).or_default();
        *pods += 1;
        *pending += usize::from(pod.node.is_none());
    }
    let replicas = world.cluster.replicas();
    for replica in replicas.iter().filter(|replica| replica.is_live(world.now)) {
        for name in replica.schedulers.iter().chain(replica.extends.iter()) {
            counts.entry(name.to_string()).or_default();
        }
    }
    let line = |(name, (pods, pending)): (String, (usize, usize))| {
        let enforcement = enforcement(replicas.iter(), &name, world.now);
        SchedulerLine { name, pods, pending, enforcement }
    };
    counts.into_iter().map(line).collect()
}

/// What a node has promised more of than it has: allocatable, used, reserved.
fn short(ledger: &Ledger) -> Vec<(ResourceName, i64, i64, i64)> {
    let allocatable = &ledger.node.allocatable;
    let mut reserved = common::model::Resources::default();
    ledger.entries.iter().for_each(|entry| reserved.add_assign(&entry.held));
    let numbers = |resource: ResourceName| {
        let (has, used, kept) =
            (allocatable.get(&resource), ledger.used.get(&resource), reserved.get(&resource));
        (kept > 0 && used.saturating_add(kept) > has).then_some((resource, has, used, kept))
    };
    reserved.iter().map(|(resource, _)| resource).filter_map(numbers).collect()
}

fn events(all: &[EventNote], now: Timestamp) -> Vec<EventNote> {
    let is_recent = |event: &&EventNote| {
        event.component == names::AUTOMATIC && event.at.is_some_and(|at| now.duration_since(at) < RECENT)
    };
    // What went well is not worth a line here.
    let is_warning = |event: &&EventNote| {
        !matches!(&*event.reason, "Reserved" | "Released" | "ReservationReleased" | "LeaderElection")
    };
    let mut events: Vec<EventNote> = all.iter().filter(is_recent).filter(is_warning).cloned().collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.at));
    events.truncate(EVENTS_MAX);
    events
}

fn missing(unreadable: &[Resource]) -> Vec<String> {
    let place = |resource: &Resource| match resource {
        Resource::Replicas => "the daemon's namespace",
        _ => "cluster scope",
    };
    unreadable.iter().map(|resource| format!("list {} ({})", resource.name(), place(resource))).collect()
}
