//! The numbers behind an answer: how many pods each domain has, and how many it may have.

use super::constraint::{Action, Defaults};
use super::filter::rule;
use super::keys;
use super::question::Spread;
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::PodTopologySpreadArgs;
use crate::model::ids::Text;

/// A constraint of the pod, and how a node stands to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spreading {
    /// Whether the node meets it.
    pub is_met: bool,
    /// The node label whose values are the domains.
    pub key: Text,
    /// By how many pods the domains may differ.
    pub max_skew: i32,
    /// The node's own domain; `None` if it lacks the label.
    pub domain: Option<Text>,
    /// How many pods that count each domain has.
    pub counts: Vec<(Text, i64)>,
    /// A domain may have at most so many before this one.
    pub most: i64,
}

/// The constraints of the pod itself that can keep it off nodes, as the node at `id` stands to them.
pub fn spreading(pod_context: &PodContext<'_>, world: &Snapshot<'_>, id: NodeId) -> Vec<Spreading> {
    let defaults = Defaults::new(&PodTopologySpreadArgs::System);
    let constraints = defaults.constraints(pod_context, world, Action::Refuse);
    let keys = keys(&constraints);
    let mut found = Vec::new();
    for constraint in &constraints {
        let counts = world.counts(&Spread::new(pod_context.pod, constraint, &keys));
        let rule = rule(constraint, pod_context.pod, counts);
        let own = rule.counts.domain(id);
        let is_met = own.is_some_and(|domain| rule.counts.at(domain) <= rule.most);
        let values = rule.counts.domains().values();
        let domain = values.filter(|(_, number)| Some(*number) == own).map(|(value, _)| value.clone()).next();
        found.push(Spreading {
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
