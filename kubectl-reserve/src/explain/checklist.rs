//! `--node`: the result of every filter on one node, passed or failed, with evidence. Entry point: [`checklist`].

use super::evidence;
use super::input::Input;
use super::judge::{self, NodeDescriber};
use super::report::{Blocker, BlockingReservation, Figure};
use super::words;
use common::cluster::{Cluster, Ledger};
use common::framework::{Evidence, Filter, SpreadStatus};
use common::model::{NodeName, Pod, ResourceName};
use std::cmp::Reverse;
use std::sync::Arc;

/// The number of largest users that are named.
const USERS: usize = 3;

/// The results of all filters on one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Checklist {
    /// The node's name.
    pub node: String,
    /// Every filter, in the order in which they run.
    pub checks: Vec<FilterCheck>,
    /// The node's amounts of every resource that the pod requests.
    pub figures: Vec<Figure>,
    /// The pods that use the most of each resource that is short.
    pub users: Vec<Users>,
    /// The reservations that hold resources that are short.
    pub reservations: Vec<BlockingReservation>,
    /// The rejections of PreFilter plugins, which concern all nodes.
    pub refused: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FilterCheck {
    /// The filter's name.
    pub filter: &'static str,
    /// Why it rejects the node; empty if it passes.
    pub blockers: Vec<Blocker>,
    /// Why it passes, if there is something to show.
    pub evidence: Option<String>,
}

/// The pods that use the most of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Users {
    pub resource: ResourceName,
    /// The pods with their requests, the largest first.
    pub pods: Vec<(String, i64)>,
}

impl Checklist {
    /// Whether the pod fits on the node.
    pub fn fits(&self) -> bool {
        self.refused.is_empty() && self.checks.iter().all(|check| check.blockers.is_empty())
    }
}

/// Runs every filter on the node called `name`.
///
/// # Errors
/// If there is no such node, or a filter fails.
pub fn checklist(cluster: &mut Cluster, input: &Input<'_>, name: &str) -> Result<Checklist, String> {
    let filter_results = judge::run_filters(cluster, input)?;
    let snapshot = cluster.snapshot(input.now);
    let context = snapshot.context(input.pod);
    let node_name = NodeName::from(name);
    let found = filter_results.nodes.into_iter().find(|result| result.name == node_name);
    let result = found.ok_or_else(|| format!("nodes {name:?} not found"))?;
    let ledger = snapshot.ledger(result.id).ok_or_else(|| format!("nodes {name:?} not found"))?;
    let registry = input.rules.of(input.pod);
    let describer = NodeDescriber { context: &context, snapshot: &snapshot, registry };
    let miss = describer.miss(&result, 0);
    let check = |filter: &Arc<dyn Filter>| {
        let own = miss.blockers.iter().filter(|blocker| blocker.filter == filter.name());
        let blockers: Vec<Blocker> = own.cloned().collect();
        let evidence = if blockers.is_empty() {
            passing_evidence(&**filter, &describer, ledger, &result.figures)
        } else {
            None
        };
        FilterCheck { filter: filter.name(), blockers, evidence }
    };
    let lacking = result.lacking().map(|one| users(ledger, &one.resource));
    let refused = filter_results.refused.iter().map(|one| one.reason.to_string()).collect::<Vec<_>>();
    Ok(Checklist {
        node: name.to_owned(),
        checks: registry.filters.iter().map(check).collect(),
        users: lacking.collect(),
        reservations: miss.reservations.clone(),
        figures: result.figures.clone(),
        refused,
    })
}

/// Why a filter passes, if there is something to show.
fn passing_evidence(
    filter: &dyn Filter,
    describer: &NodeDescriber<'_>,
    ledger: &Ledger,
    figures: &[Figure],
) -> Option<String> {
    let pod = describer.context.pod;
    match filter.name() {
        "TaintToleration" => {
            let taints = ledger.node.taints.iter().filter(|taint| taint.effect.repels()).count();
            (taints > 0).then(|| format!("tolerates {taints} of {taints}"))
        }
        "NodeAffinity" => {
            let selector = pod.spec.node_selector.iter().flat_map(common::model::Labels::iter);
            let all: Vec<String> = selector.map(|(key, value)| format!("{key}={value}")).collect();
            (!all.is_empty()).then(|| all.join(", "))
        }
        "NodeResourcesFit" => {
            let shown = figures.iter().filter(|one| one.resource != ResourceName::Pods);
            let words = |one: &Figure| {
                format!("{} asks {}, free {}", one.resource, one.show(one.numbers.asks), one.show(one.free()))
            };
            let all: Vec<String> = shown.map(words).collect();
            (!all.is_empty()).then(|| all.join("; "))
        }
        _ => match filter.evidence(None, describer.context, ledger, describer.snapshot)? {
            Evidence::Spread(all) if !all.is_empty() => {
                let words =
                    |one: &SpreadStatus| format!("{} {}", words::short_key(&one.key), evidence::counts(one));
                Some(all.iter().map(words).collect::<Vec<_>>().join("; "))
            }
            _ => None,
        },
    }
}

fn users(ledger: &Ledger, resource: &ResourceName) -> Users {
    let amount = |pod: &Pod| pod.spec.requests.counted().get(resource);
    let mut pods: Vec<(String, i64)> = ledger
        .pods
        .iter()
        .map(|pod| (pod.key.to_string(), amount(pod)))
        .filter(|(_, amount)| *amount > 0)
        .collect();
    pods.sort_by_key(|(name, amount)| (Reverse(*amount), name.clone()));
    pods.truncate(USERS);
    Users { resource: resource.clone(), pods }
}
