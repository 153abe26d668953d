//! What a node lacks for a pod, counting pods only.

use super::NAME;
use crate::cluster::Ledger;
use crate::framework::{Numbers, Reason, Rejection};
use crate::model::{ResourceName, Resources};

/// Everything of which the node has too little.
pub(super) fn rejections(asks: &Resources, ledger: &Ledger) -> Vec<Rejection> {
    if let Some(problem) = &ledger.node.problem {
        let reason = Reason::Unreadable(problem.clone());
        return vec![Rejection::new(NAME, reason)];
    }
    let short = |resource: &ResourceName, asks: i64| {
        let numbers = numbers(resource, asks, ledger);
        (numbers.short() > 0).then_some(numbers)
    };
    asks.iter()
        .filter(|(_, amount)| *amount > 0)
        .filter_map(|(resource, amount)| short(&resource, amount).map(|numbers| reject(resource, numbers)))
        .collect()
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
