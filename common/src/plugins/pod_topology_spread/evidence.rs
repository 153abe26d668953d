//! Details for `explain`: how many pods each domain has, and how many it may have.

use super::constraint::{DefaultConstraints, WhenUnsatisfiable};
use super::filter::rule;
use super::keys;
use super::matching_pods::SpreadPodsPerDomain;
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::PodTopologySpreadArgs;
use crate::model::ids::Text;

/// A constraint of the pod, and whether one node meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadStatus {
    /// Whether the node meets the constraint.
    pub is_met: bool,
    /// The topology key.
    pub key: Text,
    /// `maxSkew`: by how many pods the domains may differ.
    pub max_skew: i32,
    /// The domain of the node; `None` if it lacks the topology key.
    pub domain: Option<Text>,
    /// The number of matching pods in each domain.
    pub counts: Vec<(Text, i64)>,
    /// The most pods that a domain may have before this pod is added.
    pub most: i64,
}

/// The constraints of the pod with `DoNotSchedule`, each with its status on the node at `id`.
pub fn spread_status(pod_context: &PodContext<'_>, world: &Snapshot<'_>, id: NodeId) -> Vec<SpreadStatus> {
    let defaults = DefaultConstraints::new(&PodTopologySpreadArgs::System);
    let constraints = defaults.constraints(pod_context, world, WhenUnsatisfiable::DoNotSchedule);
    let keys = keys(&constraints);
    let mut found = Vec::new();
    for constraint in &constraints {
        let counts = world.counts(&SpreadPodsPerDomain::new(pod_context.pod, constraint, &keys));
        let rule = rule(constraint, pod_context.pod, counts);
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
