//! What a node lacks for a pod, counting pods only.

use super::NAME;
use crate::cluster::Ledger;
use crate::config::NodeResourcesFitArgs;
use crate::framework::{Numbers, Reason, Rejection, Rejections};
use crate::model::resources::is_extended_name;
use crate::model::{ResourceName, Resources};
use smallvec::smallvec;
use std::collections::BTreeSet;

/// Extended resources that are for somebody else to look after.
#[derive(Clone, Debug)]
pub(super) struct Ignored {
    names: BTreeSet<Box<str>>,
    /// What stands before the slash.
    groups: BTreeSet<Box<str>>,
}

impl Ignored {
    pub(super) fn new(args: &NodeResourcesFitArgs) -> Self {
        let set = |texts: &[String]| texts.iter().map(|text| text.as_str().into()).collect();
        Self { names: set(&args.ignored_resources), groups: set(&args.ignored_resource_groups) }
    }

    /// Resources of Kubernetes' own are always looked after here, whatever the configuration says.
    fn contains(&self, resource: &ResourceName) -> bool {
        let ResourceName::Scalar(name) = resource else { return false };
        let group = name.split('/').next().unwrap_or_default();
        (self.names.contains(name) || self.groups.contains(group)) && is_extended_name(name)
    }
}

/// What the pod wants free on its node, in the order in which it is reported: its slot, then the rest.
pub(super) fn wanted(asks: &Resources, ignored: &Ignored) -> Vec<(ResourceName, i64)> {
    let slot = [(ResourceName::Pods, asks.pods)];
    let rest = asks.iter().filter(|(resource, _)| *resource != ResourceName::Pods);
    let wanted = slot.into_iter().chain(rest).filter(|(_, amount)| *amount > 0);
    wanted.filter(|(resource, _)| !ignored.contains(resource)).collect()
}

/// Everything of which the node has too little.
pub(super) fn rejections(wanted: &[(ResourceName, i64)], ledger: &Ledger) -> Rejections {
    if let Some(problem) = &ledger.node.problem {
        let reason = Reason::Unreadable(problem.clone());
        return smallvec![Rejection::new(NAME, reason)];
    }
    let short = |(resource, asks): &(ResourceName, i64)| {
        let numbers = numbers(resource, *asks, ledger);
        (numbers.short() > 0).then(|| reject(resource.clone(), numbers))
    };
    wanted.iter().filter_map(short).collect()
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
        resource => Reason::Insufficient { resource, numbers, kept: Box::default() },
    };
    Rejection::new(NAME, reason)
}
