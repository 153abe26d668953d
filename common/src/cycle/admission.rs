//! Which nodes come into question, before any is looked at.

use crate::cluster::{PodContext, Snapshot};
use crate::framework::{Admission, Reason, Registry, Rejection, ReservedNode, Status};
use crate::model::ExtensionPoint;
use crate::model::ids::NodeName;
use std::collections::BTreeSet;

/// Which nodes come into question.
pub(super) enum Admitted {
    All,
    /// Those with these names, say these plugins.
    Only(BTreeSet<NodeName>, Vec<&'static str>),
    /// None.
    Refused(Vec<Rejection>),
}

/// The same, and where the pod would rather wait than go elsewhere.
pub(super) struct Admittance {
    pub(super) nodes: Admitted,
    /// One of those that come into question.
    pub(super) reserved_node: Option<ReservedNode>,
}

/// Asks all plugins that judge a pod before its nodes. What preemption could never help ends it at once; what it could
/// help is told only if nothing worse comes.
pub(super) fn admit(
    pod_context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
) -> Result<Admittance, String> {
    let mut reserved_node = None;
    let nodes = ask(pod_context, world, registry, &mut reserved_node)?;
    let is_allowed = |reserved_node: &ReservedNode| match &nodes {
        Admitted::All => true,
        Admitted::Only(names, _) => reserved_node.is_required || names.contains(&reserved_node.node),
        Admitted::Refused(_) => false,
    };
    Ok(Admittance { reserved_node: reserved_node.filter(is_allowed), nodes })
}

fn ask(
    pod_context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    reserved_node: &mut Option<ReservedNode>,
) -> Result<Admitted, String> {
    let mut allowed: Option<BTreeSet<NodeName>> = None;
    let mut by: BTreeSet<&'static str> = BTreeSet::new();
    let mut refused = Vec::new();
    for plugin in &registry.pre_filters {
        let begun = registry.begin();
        let admission = plugin.pre_filter(pod_context, world);
        registry.asked(plugin.name(), ExtensionPoint::PreFilter, status(&admission), begun);
        match admission {
            Admission::All => {}
            Admission::ReservedNode(kept) => *reserved_node = Some(kept),
            Admission::Only(names) => {
                by.insert(plugin.name());
                let left = match allowed {
                    Some(allowed) => allowed.intersection(&names).cloned().collect(),
                    None => names,
                };
                if left.is_empty() {
                    let reason = Reason::NoneLeft(by.into_iter().collect());
                    return Ok(Admitted::Refused(vec![Rejection::new("", reason)]));
                }
                allowed = Some(left);
            }
            Admission::Rejects(reasons) if reasons.iter().any(|one| one.reason.is_unresolvable()) => {
                return Ok(Admitted::Refused(reasons));
            }
            Admission::Rejects(reasons) if refused.is_empty() => refused = reasons,
            Admission::Rejects(_) => {}
            Admission::Fails(why) => {
                return Err(format!("running PreFilter plugin \"{}\": {why}", plugin.name()));
            }
        }
    }
    Ok(match allowed {
        _ if !refused.is_empty() => Admitted::Refused(refused),
        Some(names) => Admitted::Only(names, by.into_iter().collect()),
        None => Admitted::All,
    })
}

fn status(admission: &Admission) -> Status {
    match admission {
        Admission::All | Admission::ReservedNode(_) | Admission::Only(_) => Status::Success,
        Admission::Rejects(reasons) => refused(reasons),
        Admission::Fails(_) => Status::Error,
    }
}

fn refused(reasons: &[Rejection]) -> Status {
    match reasons.iter().any(|one| one.reason.is_unresolvable()) {
        true => Status::UnschedulableAndUnresolvable,
        false => Status::Unschedulable,
    }
}

/// What came of asking them all.
pub(super) fn outcome(admitted: &Result<Admittance, String>) -> Status {
    match admitted {
        Ok(Admittance { nodes: Admitted::Refused(reasons), .. }) => refused(reasons),
        Ok(_) => Status::Success,
        Err(_) => Status::Error,
    }
}
