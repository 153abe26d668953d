//! The filter: which resources a node lacks for a pod. Only pods count here; reservations are checked by the plugin Reservation.

use super::NAME;
use crate::cluster::Ledger;
use crate::config::NodeResourcesFitArgs;
use crate::framework::{Numbers, Reason, Rejection, Rejections};
use crate::model::resources::is_extended_name;
use crate::model::{ResourceName, Resources};
use smallvec::smallvec;
use std::collections::BTreeSet;

/// The extended resources that the configuration excludes from this filter.
#[derive(Clone, Debug)]
pub(super) struct IgnoredResources {
    names: BTreeSet<Box<str>>,
    /// The part of the name before the slash.
    groups: BTreeSet<Box<str>>,
}

impl IgnoredResources {
    pub(super) fn new(args: &NodeResourcesFitArgs) -> Self {
        let set = |texts: &[String]| texts.iter().map(|text| text.as_str().into()).collect();
        Self { names: set(&args.ignored_resources), groups: set(&args.ignored_resource_groups) }
    }

    /// Whether the resource is ignored. Resources of Kubernetes itself are never ignored, whatever the configuration says.
    fn contains(&self, resource: &ResourceName) -> bool {
        let ResourceName::Scalar(name) = resource else { return false };
        let group = name.split('/').next().unwrap_or_default();
        (self.names.contains(name) || self.groups.contains(group)) && is_extended_name(name)
    }
}

/// What the pod requests, in the order of the report: the pod slot, then the rest.
pub(super) fn requested(asks: &Resources, ignored: &IgnoredResources) -> Vec<(ResourceName, i64)> {
    let slot = [(ResourceName::Pods, asks.pods)];
    let rest = asks.iter().filter(|(resource, _)| *resource != ResourceName::Pods);
    let requested = slot.into_iter().chain(rest).filter(|(_, amount)| *amount > 0);
    requested.filter(|(resource, _)| !ignored.contains(resource)).collect()
}

/// One rejection for each resource of which the node has too little.
pub(super) fn rejections(requested: &[(ResourceName, i64)], ledger: &Ledger) -> Rejections {
    if let Some(problem) = &ledger.node.problem {
        let reason = Reason::Unreadable(problem.clone());
        return smallvec![Rejection::new(NAME, reason)];
    }
    let short = |(resource, asks): &(ResourceName, i64)| {
        let numbers = numbers(resource, *asks, ledger);
        (numbers.short() > 0).then(|| reject(resource.clone(), numbers))
    };
    requested.iter().filter_map(short).collect()
}

fn numbers(resource: &ResourceName, asks: i64, ledger: &Ledger) -> Numbers {
    Numbers {
        asks,
        allocatable: ledger.node.allocatable.get(resource),
        used: ledger.used.get(resource),
        reserved: 0,
    }
}

fn reject(resource: ResourceName, numbers: Numbers) -> Rejection {
    let reason = match resource {
        ResourceName::Pods => Reason::TooManyPods(numbers),
        resource => Reason::Insufficient { resource, numbers, blocked_by: Box::default() },
    };
    Rejection::new(NAME, reason)
}
