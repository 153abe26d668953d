//! The output of `status`: the daemon's replicas, schedulers and reservations. [`StatusReport::of`] makes the value; `text` and
//! `document` print it.

mod document;
#[cfg(test)]
pub(crate) mod tests;
mod text;

use crate::cluster_data::events::EventSummary;
use crate::cluster_data::{ClusterData, Resource};
use crate::error::Failure;
use crate::print::Printable;
use common::api::names;
use common::cluster::ledger::Ledger;
use common::cluster::{Enforcement, enforcement};
use common::model::{Replica, ResourceName};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;

/// Events older than this are not shown.
const RECENT: SignedDuration = SignedDuration::from_hours(1);

/// The maximum number of events that are shown.
const EVENTS_MAX: usize = 10;

#[derive(Debug, Default)]
pub(crate) struct StatusReport {
    /// The version of this command.
    pub(crate) client: String,
    pub(crate) now: Timestamp,
    pub(crate) replicas: Vec<ReplicaLine>,
    /// Whether the daemon is installed; only read if no replica is live.
    pub(crate) installation: Installation,
    pub(crate) schedulers: Vec<SchedulerLine>,
    /// The number of reservations by state; malformed ones count as `Invalid`.
    pub(crate) states: BTreeMap<&'static str, usize>,
    /// How many reservations were made by hand in the plain form.
    pub(crate) manual: usize,
    /// How many nodes have reservations.
    pub(crate) nodes: usize,
    pub(crate) short: Vec<ShortNode>,
    /// Warnings of the daemon, the newest first.
    pub(crate) events: Vec<EventSummary>,
    /// The RBAC rules that the caller lacks, for what could not be listed.
    pub(crate) missing: Vec<String>,
}

/// What is there of a daemon without live replicas.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Installation {
    /// A replica is live, or the caller may not read Deployments.
    #[default]
    Unknown,
    /// There is no Deployment of it.
    Missing,
    /// There is one, and none of its replicas is ready.
    NotReady { namespace: String, why: String },
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
    /// Whether the API server has a newer version of some node than the replica has seen.
    pub(crate) is_behind: bool,
    pub(crate) renewed: Option<Timestamp>,
    /// Whether it may not write reservations.
    pub(crate) is_restricted: bool,
}

/// A scheduler that pods name, or that the daemon serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchedulerLine {
    pub(crate) name: String,
    pub(crate) pods: usize,
    pub(crate) pending: usize,
    pub(crate) enforcement: Enforcement,
}

/// A node on which more is used and reserved than is allocatable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShortNode {
    pub(crate) name: String,
    /// The resources that are short: allocatable, used by pods, reserved.
    pub(crate) resources: Vec<(ResourceName, i64, i64, i64)>,
}

impl StatusReport {
    /// The status according to `data`. `leader` is the holder of the leader election's Lease.
    pub(crate) fn of(data: &mut ClusterData, leader: Option<&str>) -> Self {
        let now = data.now;
        let mut status = Self { client: env!("CARGO_PKG_VERSION").into(), now, ..Self::default() };
        let newest = data.cluster.newest_versions().0;
        let replicas: Vec<&Replica> = data.cluster.replicas().iter().collect();
        let line = |replica: &&Replica| replica_line(replica, leader, newest, now);
        status.replicas = replicas.iter().map(line).collect();
        status
            .replicas
            .sort_by(|one, other| (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name)));
        status.schedulers = schedulers(data);
        status.events = events(&data.diagnostics.events, now);
        status.missing = missing(&data.unreadable);
        let snapshot = data.cluster.snapshot(now);
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

    /// The replicas whose Lease has not lapsed.
    pub(crate) fn live(&self) -> impl Iterator<Item = &ReplicaLine> {
        self.replicas.iter().filter(|replica| replica.is_live)
    }

    /// Whether the caller may list a kind, by its plural.
    pub(crate) fn can_see(&self, plural: &str) -> bool {
        !self.missing.iter().any(|rule| rule.split(' ').nth(1) == Some(plural))
    }

    /// The number of all reservations.
    pub(crate) fn total(&self) -> usize {
        self.states.values().sum()
    }
}

impl Printable for StatusReport {
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
    // Without leader election the replica that serves schedulers is the leader.
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
        renewed: replica.renew_time,
        is_restricted: replica.is_restricted,
    }
}

fn schedulers(data: &ClusterData) -> Vec<SchedulerLine> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for pod in data.cluster.pods() {
        let (pods, pending) = counts.entry(pod.spec.scheduler_name.to_string()).or_default();
        *pods += 1;
        *pending += usize::from(pod.node.is_none());
    }
    let replicas = data.cluster.replicas();
    for replica in replicas.iter().filter(|replica| replica.is_live(data.now)) {
        for name in replica.schedulers.iter().chain(replica.extends.iter()) {
            counts.entry(name.to_string()).or_default();
        }
    }
    let line = |(name, (pods, pending)): (String, (usize, usize))| {
        let enforcement = enforcement(replicas.iter(), &name, data.now);
        SchedulerLine { name, pods, pending, enforcement }
    };
    counts.into_iter().map(line).collect()
}

/// The resources of which more is used and reserved than is allocatable: allocatable, used, reserved.
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

fn events(all: &[EventSummary], now: Timestamp) -> Vec<EventSummary> {
    let is_recent = |event: &&EventSummary| {
        event.component == names::AUTOMATIC && event.at.is_some_and(|at| now.duration_since(at) < RECENT)
    };
    // Events about normal operation are not shown.
    let is_warning = |event: &&EventSummary| {
        !matches!(&*event.reason, "Reserved" | "Released" | "ReservationReleased" | "LeaderElection")
    };
    let mut events: Vec<EventSummary> = all.iter().filter(is_recent).filter(is_warning).cloned().collect();
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
