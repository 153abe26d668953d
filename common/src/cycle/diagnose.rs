//! Runs the filters on every node and collects why each refuses the pod. Entry points: [`diagnose`] for callers, `diagnose_nodes`
//! and `diagnose_nominated_node` for a cycle that found no node.

use super::Depth;
use super::admission::{EligibleNodes, run_pre_filters};
use super::filter_set::FilterSet;
use crate::cluster::{Ledger, PodContext, Snapshot};
use crate::framework::{CycleError, Diagnosis, NodeDiagnosis, Reason, Registry, Rejection, Rejections};
use smallvec::smallvec;
use std::collections::BTreeSet;

/// Sets the rejections of the node that the pod was nominated to: this node was filtered although PreFilter may have excluded it.
/// As in kube-scheduler, the plugin that rejected it there is then listed among those that excluded the other nodes.
pub(super) fn diagnose_nominated_node(
    filter_set: &FilterSet<'_>,
    diagnosis: &mut Diagnosis,
) -> Result<(), CycleError> {
    let nominated_node =
        filter_set.context.pod.nominated_node.as_deref().filter(|_| !diagnosis.excluded_by.is_empty());
    let nominated_node = nominated_node.and_then(|nominated_node| filter_set.world.find(nominated_node));
    let Some(nominated_node) = diagnosis.nodes.iter_mut().find(|node| Some(node.id) == nominated_node) else {
        return Ok(());
    };
    nominated_node.rejections = filter_set.first_rejections(nominated_node.id)?;
    let by: BTreeSet<&'static str> = diagnosis
        .excluded_by
        .iter()
        .copied()
        .chain(nominated_node.rejections.first().map(|one| one.plugin))
        .collect();
    for rejection in diagnosis.nodes.iter_mut().flat_map(|node| &mut node.rejections) {
        if let Reason::ExcludedByPreFilter(plugins) = &mut rejection.reason {
            *plugins = by.iter().copied().collect();
        }
    }
    Ok(())
}

/// Runs PreFilter and the filters for the pod on every node.
pub fn diagnose(
    context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    depth: Depth,
) -> Result<Diagnosis, CycleError> {
    let filter_set = FilterSet::new(context, world, registry);
    diagnose_nodes(&filter_set, &run_pre_filters(context, world, registry)?.nodes, depth)
}

pub(super) fn diagnose_nodes(
    filter_set: &FilterSet<'_>,
    eligible: &EligibleNodes,
    depth: Depth,
) -> Result<Diagnosis, CycleError> {
    let rejections = |ledger: &Ledger| -> Result<Rejections, CycleError> {
        match (eligible, depth) {
            (EligibleNodes::NoNode(reasons), _) => Ok(reasons.iter().cloned().collect()),
            (_, Depth::All) => filter_set.all_rejections(ledger.id),
            (EligibleNodes::Only(names, by), Depth::First) if !names.contains(&ledger.node.name) => {
                let by = by.iter().copied().collect();
                Ok(smallvec![Rejection::new("", Reason::ExcludedByPreFilter(by))])
            }
            (_, Depth::First) => filter_set.first_rejections(ledger.id),
        }
    };
    let (mut nodes, start) = (Vec::with_capacity(filter_set.world.len()), filter_set.start_timer());
    for ledger in filter_set.world.nodes() {
        nodes.push(NodeDiagnosis { id: ledger.id, rejections: rejections(ledger)? });
    }
    filter_set.add_filter_time(start);
    Ok(match eligible {
        EligibleNodes::All => Diagnosis { nodes, ..Diagnosis::default() },
        EligibleNodes::Only(_, by) => Diagnosis { nodes, excluded_by: by.clone(), ..Diagnosis::default() },
        EligibleNodes::NoNode(reasons) => {
            Diagnosis { nodes, pre_filter_rejections: reasons.clone(), ..Diagnosis::default() }
        }
    })
}
