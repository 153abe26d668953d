//! Finds a node for one pod in one snapshot, and says why if there is none. Entry points: [`schedule`] decides;
//! [`decide_binding`] runs Permit, PreBind and Bind for the chosen node, [`Preparation`] what comes before the binding; [`Inspection`] and [`diagnose`] explain.
//!
//! Order in [`schedule`]: PreEnqueue, PreFilter (`admission`), the reserved node, Filter (`filter_set`, `index`), Score (`pick`,
//! `scores`), Reserve; PostFilter if no node fits.
//!
//! Must not know: any particular plugin, the queue, the API server. The daemon's scheduler and `kubectl reserve explain` both
//! call these functions, so that they decide the same.

mod admission;
mod binding;
mod decision;
mod diagnose;
mod filter_set;
mod index;
mod inspect;
mod message;
mod pick;
mod plugins_by_scope;
mod preemption;
mod preparation;
mod scores;
#[cfg(test)]
mod tests;

pub use binding::{BindingDecision, decide_binding, denied_by_permit, run_post_bind, run_unreserve};
pub use decision::{Decision, NoFit, NodeWait, Refusal};
pub use diagnose::diagnose;
pub use filter_set::nominated;
pub use inspect::Inspection;
pub use message::message;
pub use preemption::{preemption_candidates, revise_preemption};
pub use preparation::Preparation;
pub use scores::{PluginScores, scores};

use crate::cluster::{Ledger, NodeId, Snapshot};
use crate::framework::{
    Attempt, CycleError, Diagnosis, PostFilterResult, Registry, Rejection, ReservedNode, Status,
};
use crate::model::{Claims, ExtensionPoint, Feature, Pod};
use admission::{EligibleNodes, merged_status, run_pre_filters};
use diagnose::{diagnose_nodes, diagnose_nominated_node};
use filter_set::FilterSet;

/// How many rejections of a node are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The rejections of the first plugin that rejects, as a scheduler reports them.
    First,
    /// The rejections of every plugin, as `explain` shows them. Nodes that PreFilter excluded are filtered too.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchMethod {
    /// With the kept answers for the pod's class.
    Indexed,
    /// By running every plugin on every node.
    Scan,
}

/// Finds a node for `pod`.
pub fn schedule(pod: &Pod, world: &Snapshot<'_>, registry: &Registry) -> Decision {
    decide(pod, world, registry, SearchMethod::Indexed).unwrap_or_else(Decision::Failed)
}

/// Finds a node for `pod` by running every plugin on every node: slow, and simple enough to check [`schedule`] against.
pub fn schedule_by_scan(pod: &Pod, world: &Snapshot<'_>, registry: &Registry) -> Decision {
    decide(pod, world, registry, SearchMethod::Scan).unwrap_or_else(Decision::Failed)
}

fn decide(
    pod: &Pod,
    world: &Snapshot<'_>,
    registry: &Registry,
    search: SearchMethod,
) -> Result<Decision, CycleError> {
    if let Some(refusal) = refusal(pod, world, registry) {
        return Ok(Decision::Refused(refusal));
    }
    let context = world.context(pod);
    let start = registry.start_timer();
    let filter_set = FilterSet::new(&context, world, registry);
    let admission = run_pre_filters(&context, world, registry);
    registry.record_extension_point(ExtensionPoint::PreFilter, merged_status(&admission), start);
    let admission = admission?;
    let decision = match &admission.reserved_node {
        Some(reserved_node) => decide_reserved_node(&filter_set, reserved_node, registry)?,
        None => None,
    };
    if let Some(decision) = decision {
        return Ok(decision);
    }
    let best = find_best_node(&filter_set, registry, &admission.nodes, search);
    let result = best.and_then(|best| match best.and_then(|id| world.ledger(id)) {
        Some(ledger) => Ok(SearchResult::Node(ledger)),
        None => diagnose_nodes(&filter_set, &admission.nodes, Depth::First).map(SearchResult::NoNode),
    });
    let status = if result.is_ok() { Status::Success } else { Status::Error };
    registry.record_duration(ExtensionPoint::Filter, status, filter_set.filter_time());
    match result? {
        SearchResult::Node(ledger) => Ok(place(&filter_set, ledger, registry)),
        SearchResult::NoNode(diagnosis) => no_fit(&filter_set, registry, diagnosis),
    }
}

enum SearchResult<'w> {
    Node(&'w Ledger),
    NoNode(Diagnosis),
}

/// The best of the eligible nodes; `None` if none fits.
fn find_best_node(
    filter_set: &FilterSet<'_>,
    registry: &Registry,
    eligible: &EligibleNodes,
    search: SearchMethod,
) -> Result<Option<NodeId>, CycleError> {
    let (pod, world) = (filter_set.context.pod, filter_set.world);
    match eligible {
        EligibleNodes::NoNode(_) => Ok(None),
        _ if fits_nominated_node(filter_set)? => {
            Ok(pod.nominated_node.as_deref().and_then(|nominated_node| world.find(nominated_node)))
        }
        EligibleNodes::Only(names, _) => {
            pick::best_among(filter_set, registry, names.iter().filter_map(|name| world.find(name)))
        }
        EligibleNodes::All if search == SearchMethod::Scan => pick::by_scan(filter_set, registry),
        EligibleNodes::All => pick::best(filter_set, registry),
    }
}

/// The decision for a pod that has a reserved node: the pod goes there if it fits, and otherwise waits. `None`: the pod would not
/// fit even without the replaced pod, and is placed like any other pod.
fn decide_reserved_node(
    filter_set: &FilterSet<'_>,
    reserved_node: &ReservedNode,
    registry: &Registry,
) -> Result<Option<Decision>, CycleError> {
    let Some(ledger) = filter_set.world.find(&reserved_node.node).and_then(|id| filter_set.world.ledger(id))
    else {
        return Ok(None);
    };
    let rejections = filter_set.first_rejections(ledger.id)?;
    if rejections.is_empty() {
        return Ok(Some(place(filter_set, ledger, registry)));
    }
    if !reserved_node.is_required {
        let mut without_replaced = ledger.clone();
        reserved_node.after.iter().for_each(|uid| drop(without_replaced.remove(uid)));
        if !filter_set.filter_with(without_replaced)?.is_empty() {
            return Ok(None);
        }
    }
    let wait = NodeWait { node: reserved_node.node.clone(), rejections, until: reserved_node.until };
    Ok(Some(Decision::WaitForNode(Box::new(wait))))
}

/// Whether the pod fits the node that it was nominated to. Pods were preempted there for it, so no other node is considered then.
fn fits_nominated_node(filter_set: &FilterSet<'_>) -> Result<bool, CycleError> {
    match filter_set
        .context
        .pod
        .nominated_node
        .as_deref()
        .and_then(|nominated_node| filter_set.world.find(nominated_node))
    {
        Some(nominated_node) => Ok(filter_set.first_rejections(nominated_node)?.is_empty()),
        None => Ok(false),
    }
}

fn place(filter_set: &FilterSet<'_>, ledger: &Ledger, registry: &Registry) -> Decision {
    let start = registry.start_timer();
    let claims = reserve(filter_set, ledger, registry);
    registry.record_extension_point(ExtensionPoint::Reserve, Status::of(&claims), start);
    match claims {
        Ok(claims) => Decision::Place { node: ledger.node.name.clone(), claims },
        Err(rejection) => {
            binding::unreserve(filter_set.context, ledger, registry);
            Decision::NoFit(Box::new(binding::no_fit_on(ledger, rejection)))
        }
    }
}

fn reserve(filter_set: &FilterSet<'_>, ledger: &Ledger, registry: &Registry) -> Result<Claims, Rejection> {
    let mut claims = Claims::default();
    for plugin in &registry.reserves {
        let start = registry.start_timer();
        let more = plugin.reserve(filter_set.context, ledger, filter_set.world);
        registry.record_plugin(plugin.name(), ExtensionPoint::Reserve, Status::of(&more), start);
        claims.0.extend(more?);
    }
    Ok(claims)
}

fn no_fit(
    filter_set: &FilterSet<'_>,
    registry: &Registry,
    mut diagnosis: Diagnosis,
) -> Result<Decision, CycleError> {
    diagnose_nominated_node(filter_set, &mut diagnosis)?;
    let filter_with = |ledger: Ledger| filter_set.filter_with(ledger);
    let attempt = Attempt {
        context: filter_set.context,
        world: filter_set.world,
        diagnosis: &diagnosis,
        filter_with: &filter_with,
    };
    // In a cluster without nodes PostFilter does not run.
    let post_filter = if diagnosis.nodes.is_empty() {
        PostFilterResult::default()
    } else {
        run_post_filters(&attempt, registry)
    };
    Ok(Decision::NoFit(Box::new(NoFit { diagnosis, post_filter })))
}

fn run_post_filters(attempt: &Attempt<'_>, registry: &Registry) -> PostFilterResult {
    let status = |result: &PostFilterResult| match result.nominated {
        Some(_) => Status::Success,
        None => Status::Unschedulable,
    };
    let (mut result, all) = (PostFilterResult::default(), registry.start_timer());
    for plugin in &registry.post_filters {
        let start = registry.start_timer();
        let more = plugin.post_filter(attempt);
        registry.record_plugin(plugin.name(), ExtensionPoint::PostFilter, status(&more), start);
        result = result.and(more);
        if result.nominated.is_some() {
            break;
        }
    }
    registry.record_extension_point(ExtensionPoint::PostFilter, status(&result), all);
    result
}

/// Why `pod` is not to be placed at all, whatever the nodes; `None`: it may be scheduled.
pub fn refusal(pod: &Pod, world: &Snapshot<'_>, registry: &Registry) -> Option<Refusal> {
    if let Some(problem) = &pod.problem {
        return Some(Refusal::Unreadable(problem.clone()));
    }
    let start = registry.start_timer();
    let gated: Vec<Rejection> = registry.pre_enqueues.iter().filter_map(|plugin| plugin.check(pod)).collect();
    let status = gated.first().map_or(Status::Success, Status::of_rejection);
    registry.record_extension_point(ExtensionPoint::PreEnqueue, status, start);
    if !gated.is_empty() {
        return Some(Refusal::Gated(gated));
    }
    let features: Vec<Feature> =
        pod.spec.features.iter().filter(|feature| feature.is_unsupported()).collect();
    (!features.is_empty()).then(|| Refusal::Unsupported { features, nodes: world.len() })
}
