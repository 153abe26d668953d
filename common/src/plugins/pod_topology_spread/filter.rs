//! Keeps pods off nodes where they would make the spread too uneven.

use super::constraint::Constraint;
use super::question::Spread;
use super::{PodTopologySpread, keys};
use crate::cluster::{Counts, NodeId, Snapshot};
use crate::framework::{Cure, NodeFilter, Phrase, Plugin, Verdict};
use crate::model::Pod;
use crate::model::selector::selects;

/// A constraint, ready to be asked about nodes.
pub(super) struct Rule {
    pub(super) counts: Counts,
    /// A domain may have at most so many pods before this one.
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
    let rules: Vec<Rule> =
        constraints.iter().map(|one| rule(one, pod, world.counts(&Spread::new(pod, one, &keys)))).collect();
    Some(Box::new(move |id| judge(plugin, &rules, id)))
}

pub(super) fn rule(constraint: &Constraint, pod: &Pod, counts: Counts) -> Rule {
    let own = i64::from(selects(constraint.selector.as_ref(), &pod.labels));
    let len = i64::try_from(counts.len()).unwrap_or(i64::MAX);
    // Without any domain upstream takes the lowest count to be the largest number it knows.
    let lowest = counts.lowest().unwrap_or(i64::from(i32::MAX));
    let lowest = if len < i64::from(constraint.min_domains) { 0 } else { lowest };
    Rule { counts, most: i64::from(constraint.max_skew) + lowest - own }
}

fn judge(plugin: &PodTopologySpread, rules: &[Rule], id: NodeId) -> Verdict {
    for rule in rules {
        let Some(domain) = rule.counts.domain(id) else {
            let words = "node(s) didn't match pod topology spread constraints (missing required label)";
            return Verdict::Says(Phrase {
                plugin: plugin.name(),
                words,
                unresolvable: true,
                cure: Cure::Node,
            });
        };
        if rule.counts.at(domain) > rule.most {
            let words = "node(s) didn't match pod topology spread constraints";
            return Verdict::Says(Phrase {
                plugin: plugin.name(),
                words,
                unresolvable: false,
                cure: Cure::Pods,
            });
        }
    }
    Verdict::Fits
}
