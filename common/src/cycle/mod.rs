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

use crate::cluster::{Asker, Ledger, NodeId, Snapshot};
use crate::framework::{
    Attempt, Home, NodeTrace, PostFiltered, Reason, Registry, Rejection, Rejections, Reserved, Station,
    Status, Trace,
};
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
    let asker = world.asker(pod);
    let begun = registry.begin();
    let round = Round::new(&asker, world, registry);
    let admitted = admit(&asker, world, registry);
    registry.passed(Station::PreFilter, outcome(&admitted), begun);
    let admitted = admitted?;
    let decision = match &admitted.home {
        Some(home) => go_home(&round, home, registry)?,
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
    registry.took(Station::Filter, status, round.looking());
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
    let (pod, world) = (round.asker.pod, round.world);
    match admitted {
        Admitted::Refused(_) => Ok(None),
        _ if is_nominated_home(round)? => Ok(pod.nominated.as_deref().and_then(|home| world.find(home))),
        Admitted::Only(names, _) => {
            pick::among(round, registry, names.iter().filter_map(|name| world.find(name)))
        }
        Admitted::All if search == Search::Scan => pick::by_scan(round, registry),
        Admitted::All => pick::best(round, registry),
    }
}

/// What is decided about a pod for which a node is kept: it goes there if it can, and else waits. `None` if it could not
/// have the node even after the pod that it replaces has left: then it is placed like any other.
fn go_home(round: &Round<'_>, home: &Home, registry: &Registry) -> Result<Option<Decision>, String> {
    let Some(ledger) = round.world.find(&home.node).and_then(|id| round.world.ledger(id)) else {
        return Ok(None);
    };
    let rejections = round.ask(ledger.id)?;
    if rejections.is_empty() {
        return Ok(Some(place(round, ledger, registry)));
    }
    if !home.is_required {
        let mut after = ledger.clone();
        home.after.iter().for_each(|uid| drop(after.remove(uid)));
        if !round.refit(after)?.is_empty() {
            return Ok(None);
        }
    }
    let awaited = Awaited { node: home.node.clone(), rejections, until: home.until };
    Ok(Some(Decision::Awaits(Box::new(awaited))))
}

/// Whether the node that the pod was nominated to can have it: others were preempted there for it, so that no other is
/// looked at.
fn is_nominated_home(round: &Round<'_>) -> Result<bool, String> {
    match round.asker.pod.nominated.as_deref().and_then(|home| round.world.find(home)) {
        Some(home) => Ok(round.ask(home)?.is_empty()),
        None => Ok(false),
    }
}

fn place(round: &Round<'_>, ledger: &Ledger, registry: &Registry) -> Decision {
    let begun = registry.begin();
    let reserved = reserve(round, ledger, registry);
    registry.passed(Station::Reserve, Status::of(&reserved), begun);
    match reserved {
        Ok(Reserved { seat, volumes }) => Decision::Place { node: ledger.node.name.clone(), seat, volumes },
        Err(rejection) => {
            clear::take_back(round.asker, ledger, registry);
            Decision::NoFit(Box::new(clear::rejected(ledger, rejection)))
        }
    }
}

fn reserve(round: &Round<'_>, ledger: &Ledger, registry: &Registry) -> Result<Reserved, Rejection> {
    let mut reserved = Reserved::default();
    for plugin in &registry.reserves {
        let begun = registry.begin();
        let more = plugin.reserve(round.asker, ledger, round.world);
        registry.asked(plugin.name(), Station::Reserve, Status::of(&more), begun);
        reserved = reserved.and(more?);
    }
    Ok(reserved)
}

fn no_fit(round: &Round<'_>, registry: &Registry, mut trace: Trace) -> Result<Decision, String> {
    look_home(round, &mut trace)?;
    let refit = |ledger: Ledger| round.refit(ledger);
    let attempt = Attempt { asker: round.asker, world: round.world, trace: &trace, refit: &refit };
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
        registry.asked(plugin.name(), Station::PostFilter, status(&more), begun);
        help = help.and(more);
        if help.nominated.is_some() {
            break;
        }
    }
    registry.passed(Station::PostFilter, status(&help), all);
    help
}

/// The node that the pod was nominated to was looked at although it may have been left out: what it said counts. And as
/// upstream has it, the plugin that rejected it there is then among those that left out the others.
fn look_home(round: &Round<'_>, trace: &mut Trace) -> Result<(), String> {
    let home = round.asker.pod.nominated.as_deref().filter(|_| !trace.left_out_by.is_empty());
    let home = home.and_then(|home| round.world.find(home));
    let Some(home) = trace.nodes.iter_mut().find(|node| Some(node.id) == home) else { return Ok(()) };
    home.rejections = round.ask(home.id)?;
    let by: BTreeSet<&'static str> =
        trace.left_out_by.iter().copied().chain(home.rejections.first().map(|one| one.plugin)).collect();
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
    asker: &Asker<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    depth: Depth,
) -> Result<Trace, String> {
    trace(&Round::new(asker, world, registry), &admit(asker, world, registry)?.nodes, depth)
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
    registry.passed(Station::PreEnqueue, status, begun);
    if !gated.is_empty() {
        return Some(Refusal::Gated(gated));
    }
    let features: Vec<Feature> = pod.spec.features.iter().filter(|feature| feature.is_unserved()).collect();
    (!features.is_empty()).then(|| Refusal::Unserved { features, nodes: world.len() })
}
