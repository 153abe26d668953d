//! Runs the PreFilter plugins and merges their answers: which nodes are eligible, and whether one is reserved for the pod.
//! Entry point: [`run_pre_filters`]. The filters run afterwards, on the eligible nodes only.

use crate::cluster::{PodContext, Snapshot};
use crate::framework::{Admission, CycleError, Reason, Registry, Rejection, ReservedNode, Status};
use crate::model::{ExtensionPoint, NodeName};
use std::collections::BTreeSet;

pub(super) enum EligibleNodes {
    All,
    /// Only nodes with these names; the plugins that restrict them.
    Only(BTreeSet<NodeName>, Vec<&'static str>),
    NoNode(Vec<Rejection>),
}

pub(super) struct MergedAdmission {
    pub(super) nodes: EligibleNodes,
    /// The node that is reserved for the pod, if it is eligible.
    pub(super) reserved_node: Option<ReservedNode>,
}

/// Runs all PreFilter plugins. A rejection that preemption cannot help ends the run at once, and so does an empty set of eligible
/// nodes. A rejection that preemption could help is returned only if no later plugin ends the run.
pub(super) fn run_pre_filters(
    context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
) -> Result<MergedAdmission, CycleError> {
    let mut reserved_node = None;
    let nodes = merge_admissions(context, world, registry, &mut reserved_node)?;
    let is_allowed = |reserved_node: &ReservedNode| match &nodes {
        EligibleNodes::All => true,
        EligibleNodes::Only(names, _) => reserved_node.is_required || names.contains(&reserved_node.node),
        EligibleNodes::NoNode(_) => false,
    };
    Ok(MergedAdmission { reserved_node: reserved_node.filter(is_allowed), nodes })
}

fn merge_admissions(
    context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    reserved_node: &mut Option<ReservedNode>,
) -> Result<EligibleNodes, CycleError> {
    let mut allowed: Option<BTreeSet<NodeName>> = None;
    let mut by: BTreeSet<&'static str> = BTreeSet::new();
    let mut resolvable = Vec::new();
    for plugin in &registry.pre_filters {
        let start = registry.start_timer();
        let admission = plugin.pre_filter(context, world);
        registry.record_plugin(plugin.name(), ExtensionPoint::PreFilter, status(&admission), start);
        match admission {
            Admission::All => {}
            Admission::ReservedNode(node) => *reserved_node = Some(node),
            Admission::Only(names) => {
                by.insert(plugin.name());
                let remaining = match allowed {
                    Some(allowed) => allowed.intersection(&names).cloned().collect(),
                    None => names,
                };
                if remaining.is_empty() {
                    let reason = Reason::NoNodeAllowed(by.into_iter().collect());
                    return Ok(EligibleNodes::NoNode(vec![Rejection::new("", reason)]));
                }
                allowed = Some(remaining);
            }
            Admission::Rejects(reasons) if reasons.iter().any(|one| one.reason.is_unresolvable()) => {
                return Ok(EligibleNodes::NoNode(reasons));
            }
            Admission::Rejects(reasons) if resolvable.is_empty() => resolvable = reasons,
            Admission::Rejects(_) => {}
            Admission::Fails(source) => {
                return Err(CycleError::PreFilter { plugin: plugin.name(), source });
            }
        }
    }
    Ok(match allowed {
        _ if !resolvable.is_empty() => EligibleNodes::NoNode(resolvable),
        Some(names) => EligibleNodes::Only(names, by.into_iter().collect()),
        None => EligibleNodes::All,
    })
}

fn status(admission: &Admission) -> Status {
    match admission {
        Admission::All | Admission::ReservedNode(_) | Admission::Only(_) => Status::Success,
        Admission::Rejects(reasons) => rejection_status(reasons),
        Admission::Fails(_) => Status::Error,
    }
}

fn rejection_status(reasons: &[Rejection]) -> Status {
    match reasons.iter().any(|one| one.reason.is_unresolvable()) {
        true => Status::UnschedulableAndUnresolvable,
        false => Status::Unschedulable,
    }
}

/// The status of the whole PreFilter extension point.
pub(super) fn merged_status(admission: &Result<MergedAdmission, CycleError>) -> Status {
    match admission {
        Ok(MergedAdmission { nodes: EligibleNodes::NoNode(reasons), .. }) => rejection_status(reasons),
        Ok(_) => Status::Success,
        Err(_) => Status::Error,
    }
}
