//! The filter: rejects nodes where the pod would exceed `maxSkew`.

use super::constraint::Constraint;
use super::matching_pods::SpreadPodsPerDomain;
use super::{PodTopologySpread, keys};
use crate::cluster::{DomainCounts, NodeId, Snapshot};
use crate::framework::{BlockerClass, NodeFilter, Plugin, RefusalCode, RefusalKind, StaticReason, Verdict};
use crate::model::Pod;
use crate::model::selector::selects;

const NO_LABEL: StaticReason = RefusalKind::unresolvable(RefusalCode::SpreadLabel, BlockerClass::Spec)
    .with_text("node(s) didn't match pod topology spread constraints (missing required label)");
const SKEWED: StaticReason = RefusalKind::resolvable(RefusalCode::Spread, BlockerClass::Placement)
    .with_text("node(s) didn't match pod topology spread constraints");

/// A constraint with the counts of pods by domain.
pub(super) struct Rule {
    pub(super) counts: DomainCounts,
    /// The most pods that a domain may have before this pod is added.
    pub(super) most: i64,
}

pub(super) fn prepare<'c>(
    plugin: &'c PodTopologySpread,
    pod: &Pod,
    world: &Snapshot<'_>,
    constraints: &[Constraint],
) -> Option<NodeFilter<'c>> {
    if constraints.is_empty() {
        return None;
    }
    let keys = keys(constraints);
    let rules: Vec<Rule> = constraints
        .iter()
        .map(|one| rule(one, pod, world.counts(&SpreadPodsPerDomain::new(pod, one, &keys))))
        .collect();
    Some(Box::new(move |id| verdict(plugin, &rules, id)))
}

pub(super) fn rule(constraint: &Constraint, pod: &Pod, counts: DomainCounts) -> Rule {
    let own = i64::from(selects(constraint.selector.as_ref(), &pod.labels));
    let len = i64::try_from(counts.len()).unwrap_or(i64::MAX);
    // Without any domain kube-scheduler uses the largest number as the lowest count.
    let lowest = counts.lowest().unwrap_or(i64::from(i32::MAX));
    let lowest = if len < i64::from(constraint.min_domains) { 0 } else { lowest };
    Rule { counts, most: i64::from(constraint.max_skew) + lowest - own }
}

fn verdict(plugin: &PodTopologySpread, rules: &[Rule], id: NodeId) -> Verdict {
    for rule in rules {
        let Some(domain) = rule.counts.domain(id) else {
            return Verdict::RejectsStatic { plugin: plugin.name(), reason: &NO_LABEL };
        };
        if rule.counts.at(domain) > rule.most {
            return Verdict::RejectsStatic { plugin: plugin.name(), reason: &SKEWED };
        }
    }
    Verdict::Fits
}
