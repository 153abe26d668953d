//! One pod, one snapshot, one decision, with its reasons.
//!
//! Knows nothing of: any particular plugin, the queue, the API server. Its callers have no opinion of their own: the
//! daemon's scheduler and `kubectl reserve explain`.

mod admission;
mod clear;
mod decision;
mod index;
mod inspect;
mod message;
mod pick;
mod round;
mod scores;
#[cfg(test)]
mod tests;

pub use clear::{Clearance, bound, clear, denied, not_bound};
pub use decision::{Awaited, Decision, NoFit, Refusal};
pub use inspect::Inspection;
pub use message::message;
pub use round::nominated;
pub use scores::{PluginScores, scores};

use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{
    Attempt, NodeTrace, PostFiltered, Reason, Registry, Rejection, Rejections, Reserved, ReservedNode,
    Status, Trace,
};
use crate::model::ExtensionPoint;
use crate::model::Pod;
use crate::model::pod::Feature;
use admission::{Admitted, admit, outcome};
use round::Round;
use smallvec::smallvec;
use std::collections::BTreeSet;

/// How many of a node's reasons are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Those of the first plugin that rejects: what a scheduler reports.
    First,
    /// Those of every plugin: what `explain` shows. Nodes that were left out are looked at too.
    All,
}

/// How the best node is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// With what is known of the pod's class.
    Indexed,
    /// By asking every plugin about every node.
    Scan,
}

/// Decides where `pod` goes.
pub fn schedule(pod: &Pod, world: &Snapshot<'_>, registry: &Registry) -> Decision {
    decide(pod, world, registry, Search::Indexed).unwrap_or_else(Decision::Failed)
}

/// The same, by asking every plugin about every node: slow, and simple enough to be the measure of [`schedule`].
pub fn schedule_by_scan(pod: &Pod, world: &Snapshot<'_>, registry: &Registry) -> Decision {
    decide(pod, world, registry, Search::Scan).unwrap_or_else(Decision::Failed)
}

fn decide(pod: &Pod, world: &Snapshot<'_>, registry: &Registry, search: Search) -> Result<Decision, String> {
    if let Some(refusal) = refusal(pod, world, registry) {
        return Ok(Decision::Refused(refusal));
    }
    let pod_context = world.pod_context(pod);
    let begun = registry.begin();
    let round = Round::new(&pod_context, world, registry);
    let admitted = admit(&pod_context, world, registry);
    registry.passed(ExtensionPoint::PreFilter, outcome(&admitted), begun);
    let admitted = admitted?;
    let decision = match &admitted.reserved_node {
        Some(reserved_node) => go_to_reserved_node(&round, reserved_node, registry)?,
        None => None,
    };
    if let Some(decision) = decision {
        return Ok(decision);
    }
    let found = find(&round, registry, &admitted.nodes, search);
    let decision = found.and_then(|found| match found.and_then(|id| world.ledger(id)) {
        Some(ledger) => Ok(Found::Node(ledger)),
        None => trace(&round, &admitted.nodes, Depth::First).map(Found::Nothing),
    });
    let status = if decision.is_ok() { Status::Success } else { Status::Error };
    registry.took(ExtensionPoint::Filter, status, round.looking());
    match decision? {
        Found::Node(ledger) => Ok(place(&round, ledger, registry)),
        Found::Nothing(trace) => no_fit(&round, registry, trace),
    }
}

/// What came of looking at nodes.
enum Found<'w> {
    /// The best node.
    Node(&'w Ledger),
    /// What every node said.
    Nothing(Trace),
}

/// The best of the nodes that come into question.
fn find(
    round: &Round<'_>,
    registry: &Registry,
    admitted: &Admitted,
    search: Search,
) -> Result<Option<NodeId>, String> {
    let (pod, world) = (round.pod_context.pod, round.world);
    match admitted {
        Admitted::Refused(_) => Ok(None),
        _ if fits_nominated_node(round)? => {
            Ok(pod.nominated.as_deref().and_then(|nominated_node| world.find(nominated_node)))
        }
        Admitted::Only(names, _) => {
            pick::among(round, registry, names.iter().filter_map(|name| world.find(name)))
        }
        Admitted::All if search == Search::Scan => pick::by_scan(round, registry),
        Admitted::All => pick::best(round, registry),
    }
}

/// What is decided about a pod for which a node is kept: it goes there if it can, and else waits. `None` if it could not
/// have the node even after the pod that it replaces has left: then it is placed like any other.
fn go_to_reserved_node(
    round: &Round<'_>,
    reserved_node: &ReservedNode,
    registry: &Registry,
) -> Result<Option<Decision>, String> {
    let Some(ledger) = round.world.find(&reserved_node.node).and_then(|id| round.world.ledger(id)) else {
        return Ok(None);
    };
    let rejections = round.ask(ledger.id)?;
    if rejections.is_empty() {
        return Ok(Some(place(round, ledger, registry)));
    }
    if !reserved_node.is_required {
        let mut after = ledger.clone();
        reserved_node.after.iter().for_each(|uid| drop(after.remove(uid)));
        if !round.refit(after)?.is_empty() {
            return Ok(None);
        }
    }
    let awaited = Awaited { node: reserved_node.node.clone(), rejections, until: reserved_node.until };
    Ok(Some(Decision::Awaits(Box::new(awaited))))
}

/// Whether the node that the pod was nominated to can have it: others were preempted there for it, so that no other is
/// looked at.
fn fits_nominated_node(round: &Round<'_>) -> Result<bool, String> {
    match round
        .pod_context
        .pod
        .nominated
        .as_deref()
        .and_then(|nominated_node| round.world.find(nominated_node))
    {
        Some(nominated_node) => Ok(round.ask(nominated_node)?.is_empty()),
        None => Ok(false),
    }
}

fn place(round: &Round<'_>, ledger: &Ledger, registry: &Registry) -> Decision {
    let begun = registry.begin();
    let reserved = reserve(round, ledger, registry);
    registry.passed(ExtensionPoint::Reserve, Status::of(&reserved), begun);
    match reserved {
        Ok(Reserved { seat, volumes }) => Decision::Place { node: ledger.node.name.clone(), seat, volumes },
        Err(rejection) => {
            clear::take_back(round.pod_context, ledger, registry);
            Decision::NoFit(Box::new(clear::rejected(ledger, rejection)))
        }
    }
}

fn reserve(round: &Round<'_>, ledger: &Ledger, registry: &Registry) -> Result<Reserved, Rejection> {
    let mut reserved = Reserved::default();
    for plugin in &registry.reserves {
        let begun = registry.begin();
        let more = plugin.reserve(round.pod_context, ledger, round.world);
        registry.asked(plugin.name(), ExtensionPoint::Reserve, Status::of(&more), begun);
        reserved = reserved.and(more?);
    }
    Ok(reserved)
}

fn no_fit(round: &Round<'_>, registry: &Registry, mut trace: Trace) -> Result<Decision, String> {
    look_home(round, &mut trace)?;
    let refit = |ledger: Ledger| round.refit(ledger);
    let attempt =
        Attempt { pod_context: round.pod_context, world: round.world, trace: &trace, refit: &refit };
    // Without nodes there is nobody to ask for help.
    let help =
        if trace.nodes.is_empty() { PostFiltered::default() } else { look_for_help(&attempt, registry) };
    Ok(Decision::NoFit(Box::new(NoFit { trace, help })))
}

fn look_for_help(attempt: &Attempt<'_>, registry: &Registry) -> PostFiltered {
    let status = |help: &PostFiltered| match help.nominated {
        Some(_) => Status::Success,
        None => Status::Unschedulable,
    };
    let (mut help, all) = (PostFiltered::default(), registry.begin());
    for plugin in &registry.post_filters {
        let begun = registry.begin();
        let more = plugin.post_filter(attempt);
        registry.asked(plugin.name(), ExtensionPoint::PostFilter, status(&more), begun);
        help = help.and(more);
        if help.nominated.is_some() {
            break;
        }
    }
    registry.passed(ExtensionPoint::PostFilter, status(&help), all);
    help
}

/// The node that the pod was nominated to was looked at although it may have been left out: what it said counts. And as
/// upstream has it, the plugin that rejected it there is then among those that left out the others.
fn look_home(round: &Round<'_>, trace: &mut Trace) -> Result<(), String> {
    let nominated_node = round.pod_context.pod.nominated.as_deref().filter(|_| !trace.left_out_by.is_empty());
    let nominated_node = nominated_node.and_then(|nominated_node| round.world.find(nominated_node));
    let Some(nominated_node) = trace.nodes.iter_mut().find(|node| Some(node.id) == nominated_node) else {
        return Ok(());
    };
    nominated_node.rejections = round.ask(nominated_node.id)?;
    let by: BTreeSet<&'static str> = trace
        .left_out_by
        .iter()
        .copied()
        .chain(nominated_node.rejections.first().map(|one| one.plugin))
        .collect();
    for rejection in trace.nodes.iter_mut().flat_map(|node| &mut node.rejections) {
        if let Reason::LeftOut(plugins) = &mut rejection.reason {
            *plugins = by.iter().copied().collect();
        }
    }
    Ok(())
}

/// What every node says about the pod.
///
/// # Errors
/// When a plugin cannot say.
pub fn judge(
    pod_context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    depth: Depth,
) -> Result<Trace, String> {
    trace(&Round::new(pod_context, world, registry), &admit(pod_context, world, registry)?.nodes, depth)
}

fn trace(round: &Round<'_>, admitted: &Admitted, depth: Depth) -> Result<Trace, String> {
    let ask = |ledger: &Ledger| -> Result<Rejections, String> {
        match (admitted, depth) {
            (Admitted::Refused(reasons), _) => Ok(reasons.iter().cloned().collect()),
            (_, Depth::All) => round.ask_all(ledger.id),
            (Admitted::Only(names, by), Depth::First) if !names.contains(&ledger.node.name) => {
                let by = by.iter().copied().collect();
                Ok(smallvec![Rejection::new("", Reason::LeftOut(by))])
            }
            (_, Depth::First) => round.ask(ledger.id),
        }
    };
    let (mut nodes, begun) = (Vec::with_capacity(round.world.len()), round.begin());
    for ledger in round.world.nodes() {
        let rejections = ask(ledger)?;
        nodes.push(NodeTrace { id: ledger.id, rejections });
    }
    round.looked(begun);
    Ok(match admitted {
        Admitted::All => Trace { nodes, ..Trace::default() },
        Admitted::Only(_, by) => Trace { nodes, left_out_by: by.clone(), ..Trace::default() },
        Admitted::Refused(refused) => Trace { nodes, refused: refused.clone(), ..Trace::default() },
    })
}

/// Why `pod` is not to be placed at all, before any node is looked at.
pub fn refusal(pod: &Pod, world: &Snapshot<'_>, registry: &Registry) -> Option<Refusal> {
    if let Some(problem) = &pod.problem {
        return Some(Refusal::Unreadable(problem.clone()));
    }
    let begun = registry.begin();
    let gated: Vec<Rejection> = registry.pre_enqueues.iter().filter_map(|plugin| plugin.check(pod)).collect();
    let status = gated.first().map_or(Status::Success, Status::of_rejection);
    registry.passed(ExtensionPoint::PreEnqueue, status, begun);
    if !gated.is_empty() {
        return Some(Refusal::Gated(gated));
    }
    let features: Vec<Feature> = pod.spec.features.iter().filter(|feature| feature.is_unserved()).collect();
    (!features.is_empty()).then(|| Refusal::Unserved { features, nodes: world.len() })
}
