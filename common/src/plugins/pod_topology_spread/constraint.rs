//! Which constraints a pod is spread by: its own, or else those that hold for all.

use super::selector::default_selector;
use crate::cluster::{PodContext, Snapshot};
use crate::config::{PodTopologySpreadArgs, SpreadConstraint as DefaultConstraint};
use crate::model::Pod;
use crate::model::ids::Text;
use crate::model::labels::Labels;
use crate::model::selector::Selector;
use crate::model::spread::SpreadConstraint;

/// The label by which each node is a domain of its own.
pub(super) const HOSTNAME: &str = "kubernetes.io/hostname";

/// The label of zones.
const ZONE: &str = "topology.kubernetes.io/zone";

/// What happens to a pod that a constraint does not suit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It is kept off the node.
    Refuse,
    /// The node scores low.
    Discourage,
}

/// A constraint as it holds for one pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Constraint {
    pub(super) max_skew: i32,
    pub(super) key: Text,
    /// Which pods are counted; `None` matches none.
    pub(super) selector: Option<Selector>,
    pub(super) min_domains: i32,
    pub(super) honours_affinity: bool,
    pub(super) honours_taints: bool,
}

/// The constraints for pods that have none themselves.
pub(super) struct Defaults {
    pub(super) constraints: Vec<SpreadConstraint>,
    /// Whether they are the scheduler's own, which let a node lack a label.
    pub(super) are_system: bool,
}

impl Defaults {
    pub(super) fn new(args: &PodTopologySpreadArgs) -> Self {
        match args {
            PodTopologySpreadArgs::System => {
                Self { constraints: vec![system(HOSTNAME, 3), system(ZONE, 5)], are_system: true }
            }
            PodTopologySpreadArgs::List(list) => {
                Self { constraints: list.iter().map(read).collect(), are_system: false }
            }
        }
    }

    /// The constraints of the pod that have this effect.
    pub(super) fn constraints(
        &self,
        pod_context: &PodContext<'_>,
        world: &Snapshot<'_>,
        action: Action,
    ) -> Vec<Constraint> {
        let pod = pod_context.pod;
        if !pod.spec.spread.is_empty() {
            let own = pod.spec.spread.iter().filter(|constraint| has(constraint, action));
            return own.map(|constraint| resolved(constraint, own_selector(constraint, pod))).collect();
        }
        let mut defaults = self.constraints.iter().filter(|constraint| has(constraint, action)).peekable();
        if defaults.peek().is_none() {
            return Vec::new();
        }
        let selector = default_selector(pod, world);
        let spread = defaults.filter(|_| !selector.is_empty());
        spread.map(|constraint| resolved(constraint, Some(selector.clone()))).collect()
    }

    /// Whether nodes without all the labels are left out of the scoring.
    pub(super) fn requires_all(&self, pod: &Pod) -> bool {
        !pod.spec.spread.is_empty() || !self.are_system
    }
}

fn has(constraint: &SpreadConstraint, action: Action) -> bool {
    constraint.do_not_schedule == (action == Action::Refuse)
}

fn resolved(constraint: &SpreadConstraint, selector: Option<Selector>) -> Constraint {
    Constraint {
        max_skew: constraint.max_skew,
        key: constraint.topology_key.clone(),
        selector,
        min_domains: constraint.min_domains.unwrap_or(1),
        honours_affinity: constraint.honours_affinity,
        honours_taints: constraint.honours_taints,
    }
}

/// The selector of a pod's own constraint, with the labels that counted pods must share with it. One that is missing
/// stays so: it matches nothing.
fn own_selector(constraint: &SpreadConstraint, pod: &Pod) -> Option<Selector> {
    let selector = constraint.selector.as_ref()?;
    let shared = |labels: &Labels| {
        let keys = constraint.match_label_keys.iter();
        keys.filter_map(|key| Some((key.clone(), Text::from(labels.get(key)?)))).collect::<Vec<_>>()
    };
    let shared = shared(&pod.labels);
    Some(shared.iter().fold(selector.clone(), |selector, (key, value)| selector.and_label(key, value)))
}

fn system(key: &str, max_skew: i32) -> SpreadConstraint {
    SpreadConstraint {
        max_skew,
        topology_key: key.into(),
        do_not_schedule: false,
        selector: None,
        match_label_keys: Box::default(),
        min_domains: None,
        honours_affinity: true,
        honours_taints: false,
    }
}

/// A constraint of the configuration. Its `matchLabelKeys` have no effect: the selector that follows from the pod's
/// owner takes the place of what they say.
fn read(constraint: &DefaultConstraint) -> SpreadConstraint {
    let honours = |policy: &Option<String>| policy.as_ref().map(|policy| policy == "Honor");
    SpreadConstraint {
        do_not_schedule: constraint.do_not_schedule,
        min_domains: constraint.min_domains,
        honours_affinity: honours(&constraint.node_affinity_policy).unwrap_or(true),
        honours_taints: honours(&constraint.node_taints_policy).unwrap_or(false),
        ..system(&constraint.topology_key, constraint.max_skew)
    }
}
