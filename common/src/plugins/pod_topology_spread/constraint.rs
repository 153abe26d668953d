//! The spread constraints of a pod: its own, or else the default ones.

use super::selector::default_selector;
use crate::cluster::{PodContext, Snapshot};
use crate::config::{PodTopologySpreadArgs, SpreadConstraint as ConfiguredConstraint};
use crate::model::{Labels, Pod, Selector, Text, TopologySpreadConstraint};

/// The topology key for which each node is a domain of its own.
pub(super) const HOSTNAME: &str = "kubernetes.io/hostname";

/// The topology key of zones.
const ZONE: &str = "topology.kubernetes.io/zone";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenUnsatisfiable {
    DoNotSchedule,
    /// The node gets a low score.
    ScheduleAnyway,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Constraint {
    pub(super) max_skew: i32,
    pub(super) key: Text,
    /// Selects the pods that are counted; `None` matches no pod.
    pub(super) selector: Option<Selector>,
    pub(super) min_domains: i32,
    pub(super) honours_affinity: bool,
    pub(super) honours_taints: bool,
}

/// The constraints for pods without constraints of their own.
pub(super) struct DefaultConstraints {
    pub(super) constraints: Vec<TopologySpreadConstraint>,
    /// true: these are the built-in defaults, which also score nodes that lack a topology key.
    pub(super) are_system: bool,
}

impl DefaultConstraints {
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

    pub(super) fn constraints(
        &self,
        context: &PodContext<'_>,
        world: &Snapshot<'_>,
        when: WhenUnsatisfiable,
    ) -> Vec<Constraint> {
        let pod = context.pod;
        if !pod.spec.spread.is_empty() {
            let own = pod.spec.spread.iter().filter(|constraint| has(constraint, when));
            return own.map(|constraint| resolved(constraint, own_selector(constraint, pod))).collect();
        }
        let mut defaults = self.constraints.iter().filter(|constraint| has(constraint, when)).peekable();
        if defaults.peek().is_none() {
            return Vec::new();
        }
        let selector = default_selector(pod, world);
        let spread = defaults.filter(|_| !selector.is_empty());
        spread.map(|constraint| resolved(constraint, Some(selector.clone()))).collect()
    }

    /// Whether nodes that lack a topology key are excluded from scoring.
    pub(super) fn requires_all(&self, pod: &Pod) -> bool {
        !pod.spec.spread.is_empty() || !self.are_system
    }
}

fn has(constraint: &TopologySpreadConstraint, when: WhenUnsatisfiable) -> bool {
    constraint.do_not_schedule == (when == WhenUnsatisfiable::DoNotSchedule)
}

fn resolved(constraint: &TopologySpreadConstraint, selector: Option<Selector>) -> Constraint {
    Constraint {
        max_skew: constraint.max_skew,
        key: constraint.topology_key.clone(),
        selector,
        min_domains: constraint.min_domains.unwrap_or(1),
        honours_affinity: constraint.honours_affinity,
        honours_taints: constraint.honours_taints,
    }
}

/// The selector of a pod's own constraint, with the labels of `matchLabelKeys` added. A missing selector stays missing, and matches
/// no pod.
fn own_selector(constraint: &TopologySpreadConstraint, pod: &Pod) -> Option<Selector> {
    let selector = constraint.selector.as_ref()?;
    let shared = |labels: &Labels| {
        let keys = constraint.match_label_keys.iter();
        keys.filter_map(|key| Some((key.clone(), Text::from(labels.get(key)?)))).collect::<Vec<_>>()
    };
    let shared = shared(&pod.labels);
    Some(shared.iter().fold(selector.clone(), |selector, (key, value)| selector.and_label(key, value)))
}

fn system(key: &str, max_skew: i32) -> TopologySpreadConstraint {
    TopologySpreadConstraint {
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

/// A constraint of the configuration. Its `matchLabelKeys` have no effect: the selector comes from the pod's services and
/// controller.
fn read(constraint: &ConfiguredConstraint) -> TopologySpreadConstraint {
    let honours = |policy: &Option<String>| policy.as_ref().map(|policy| policy == "Honor");
    TopologySpreadConstraint {
        do_not_schedule: constraint.do_not_schedule,
        min_domains: constraint.min_domains,
        honours_affinity: honours(&constraint.node_affinity_policy).unwrap_or(true),
        honours_taints: honours(&constraint.node_taints_policy).unwrap_or(false),
        ..system(&constraint.topology_key, constraint.max_skew)
    }
}
