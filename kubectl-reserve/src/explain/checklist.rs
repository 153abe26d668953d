//! `--node`: every filter's word about one node, with the evidence, passed or failed.

use super::evidence;
use super::input::Input;
use super::judge::{self, Teller};
use super::report::{Blocker, Figure, Keeper};
use super::words;
use common::cluster::{Cluster, Ledger};
use common::framework::Filter;
use common::model::{NodeName, Pod, ResourceName};
use common::plugins::pod_topology_spread::spreading;
use std::cmp::Reverse;
use std::sync::Arc;

/// So many of the largest users are named.
const USERS: usize = 3;

/// What every filter says about one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Checklist {
    /// The node.
    pub node: String,
    /// Every filter in the order in which they are asked.
    pub checks: Vec<Check>,
    /// What the node has of everything that the pod asks for.
    pub figures: Vec<Figure>,
    /// The pods that use the most of what is lacking.
    pub users: Vec<Users>,
    /// For whom it keeps room that is lacking.
    pub keeps: Vec<Keeper>,
    /// Why the pod was rejected before any node was looked at.
    pub refused: Vec<String>,
}

/// One filter's word.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The filter.
    pub filter: &'static str,
    /// What it has against the node; nothing if that is nothing.
    pub blockers: Vec<Blocker>,
    /// What speaks for the node, if there is something to tell.
    pub evidence: Option<String>,
}

/// Who uses the most of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Users {
    /// Of what.
    pub resource: ResourceName,
    /// The pods with how much each has, the largest first.
    pub pods: Vec<(String, i64)>,
}

impl Checklist {
    /// Whether the pod fits there.
    pub fn fits(&self) -> bool {
        self.refused.is_empty() && self.checks.iter().all(|check| check.blockers.is_empty())
    }
}

/// What every filter says about the node called `name`.
///
/// # Errors
/// When there is no such node, or a filter cannot say.
pub fn checklist(cluster: &mut Cluster, input: &Input<'_>, name: &str) -> Result<Checklist, String> {
    let sight = judge::look(cluster, input)?;
    let snapshot = cluster.snapshot(input.now);
    let pod_context = snapshot.pod_context(input.pod);
    let wanted = NodeName::from(name);
    let found = sight.views.into_iter().find(|view| view.name == wanted);
    let view = found.ok_or_else(|| format!("nodes {name:?} not found"))?;
    let ledger = snapshot.ledger(view.id).ok_or_else(|| format!("nodes {name:?} not found"))?;
    let tell = Teller { pod_context: &pod_context, world: &snapshot };
    let miss = tell.miss(&view, 0);
    let check = |filter: &Arc<dyn Filter>| {
        let filter = filter.name();
        let own = miss.blockers.iter().filter(|blocker| blocker.filter == filter);
        let blockers: Vec<Blocker> = own.cloned().collect();
        let evidence = if blockers.is_empty() { passed(filter, &tell, ledger, &view.figures) } else { None };
        Check { filter, blockers, evidence }
    };
    let lacking = view.lacking().map(|one| users(ledger, &one.resource));
    let refused = sight.refused.iter().map(|one| one.reason.to_string()).collect::<Vec<_>>();
    Ok(Checklist {
        node: name.to_owned(),
        checks: input.rules.of(input.pod).filters.iter().map(check).collect(),
        users: lacking.collect(),
        keeps: miss.keeps.clone(),
        figures: view.figures.clone(),
        refused,
    })
}

/// What speaks for the node.
fn passed(filter: &str, tell: &Teller<'_>, ledger: &Ledger, figures: &[Figure]) -> Option<String> {
    let pod = tell.pod_context.pod;
    match filter {
        "TaintToleration" => {
            let taints = ledger.node.taints.iter().filter(|taint| taint.effect.repels()).count();
            (taints > 0).then(|| format!("tolerates {taints} of {taints}"))
        }
        "NodeAffinity" => {
            let wanted = pod.spec.node_selector.iter().flat_map(common::model::Labels::iter);
            let all: Vec<String> = wanted.map(|(key, value)| format!("{key}={value}")).collect();
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
        "PodTopologySpread" => {
            let all: Vec<String> = spreading(tell.pod_context, tell.world, ledger.id)
                .iter()
                .map(|one| format!("{} {}", words::short_key(&one.key), evidence::counts(one)))
                .collect();
            (!all.is_empty()).then(|| all.join("; "))
        }
        _ => None,
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
