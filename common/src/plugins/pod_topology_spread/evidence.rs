//! Details for `explain`: how many pods each domain has, and how many it may have.

use super::constraint::Constraint;
use super::filter::rule;
use super::keys;
use super::matching_pods::SpreadPodsPerDomain;
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::framework::SpreadStatus;

pub(super) fn spread_status(
    constraints: &[Constraint],
    context: &PodContext<'_>,
    world: &Snapshot<'_>,
    id: NodeId,
) -> Vec<SpreadStatus> {
    let keys = keys(constraints);
    let mut found = Vec::new();
    for constraint in constraints {
        let counts = world.counts(&SpreadPodsPerDomain::new(context.pod, constraint, &keys));
        let rule = rule(constraint, context.pod, counts);
        let own = rule.counts.domain(id);
        let is_met = own.is_some_and(|domain| rule.counts.at(domain) <= rule.most);
        let values = rule.counts.domains().values();
        let domain = values.filter(|(_, number)| Some(*number) == own).map(|(value, _)| value.clone()).next();
        found.push(SpreadStatus {
            is_met,
            key: constraint.key.clone(),
            max_skew: constraint.max_skew,
            domain,
            counts: rule.counts.by_domain(),
            most: rule.most,
        });
    }
    found
}
