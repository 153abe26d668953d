//! `--what-if`: changes as the user types them are tried in the cluster, and the feasible nodes before and after are compared.
//! `read` parses expressions, `edits` turns them into changes. Entry points: [`parse`], [`what_if`].

mod edits;
mod read;
#[cfg(test)]
mod tests;

use super::input::Input;
use super::judge::{self, NodeResult};
use super::report::Preemption;
use super::trial::Trial;
use super::{preempt, rank};
use common::cluster::Cluster;
use common::model::owner::OwnerKind;
use common::model::taint::TaintEffect;
use common::model::{NodeName, ResourceName, Resources};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) use read::expression;
pub use read::parse;

/// A change, as the user types it.
#[derive(Clone, Debug, PartialEq)]
pub enum WhatIf {
    /// `requests.cpu=1500m`.
    Request(ResourceName, i64),
    /// `uncordon=NODE`.
    Uncordon(NodeName),
    /// `toleration=KEY[=VALUE][:EFFECT]`.
    Tolerate {
        key: String,
        /// The value; `None` for any.
        value: Option<String>,
        /// The effect; `None` for any.
        effect: Option<TaintEffect>,
    },
    /// `untaint=NODE:KEY[=VALUE][:EFFECT]`.
    Untaint(NodeName, String),
    /// `label=NODE:KEY=VALUE`, or `NODE:KEY-`.
    Label(NodeName, String, Option<String>),
    /// `release=NAME` or `NODE/NAME`.
    Release(String),
    /// `scale=TYPE/NAME=REPLICAS`.
    Scale(OwnerKind, String, usize),
    /// `evict=[NAMESPACE/]POD`.
    Evict(Option<String>, String),
    /// `priority=NUMBER`.
    Priority(i32),
    /// `add-node=like:NODE`.
    AddLike(NodeName),
    /// `add-node=cpu=8,memory=32Gi`.
    AddNode(Resources),
}

/// The effect of the changes on the pod.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIfOutcome {
    /// The nodes that fit without the changes.
    pub before: Vec<String>,
    /// The nodes that fit with the changes.
    pub after: Vec<String>,
    /// Of the first node that fits: the first resource that the pod requests, and how much of it is free.
    pub free: Option<(String, String)>,
    /// Why the other nodes still do not fit, with the number of nodes.
    pub still_blocked: Vec<(String, usize)>,
    /// If the pod gets another priority and still fits nowhere: whether preemption makes room for it.
    pub preemption: Option<Preemption>,
}

impl WhatIfOutcome {
    /// Whether the pod fits nowhere with the changes, and preemption does not help either.
    pub fn is_no_fit(&self) -> bool {
        self.after.is_empty() && !matches!(self.preemption, Some(Preemption::Possible { .. }))
    }
}

/// Tries all changes together.
///
/// # Errors
/// If a change is about an object that does not exist, or a filter fails.
pub fn what_if(
    cluster: &mut Cluster,
    input: &Input<'_>,
    changes: &[WhatIf],
) -> Result<WhatIfOutcome, String> {
    let before = judge::run_filters(cluster, input)?;
    let mut trial = Trial::new(cluster, input.pod, input.now);
    for change in changes {
        for edit in edits::edits(&trial.cluster().snapshot(input.now), input, change)? {
            trial.apply(&edit)?;
        }
    }
    let pod = trial.pod.clone();
    let changed = Input { pod: &pod, ..*input };
    let after = judge::run_filters(trial.cluster(), &changed)?;
    let names = |results: &[NodeResult]| -> Vec<String> {
        results.iter().filter(|result| result.fits()).map(|result| result.name.to_string()).collect()
    };
    let first = after.nodes.iter().find(|result| result.fits()).and_then(|result| result.figures.first());
    let mut still_blocked: BTreeMap<String, usize> = BTreeMap::new();
    for result in after.nodes.iter().filter(|result| !result.fits()) {
        *still_blocked.entry(super::group::label(result)).or_default() += 1;
    }
    let mut still_blocked: Vec<(String, usize)> = still_blocked.into_iter().collect();
    still_blocked.sort_by_key(|(_, count)| Reverse(*count));
    let has_priority = changes.iter().any(|change| matches!(change, WhatIf::Priority(_)));
    let order = rank::order(&after.nodes, &|_| 0);
    let preempt = || preempt::find(trial.cluster(), &changed, &after, &order);
    Ok(WhatIfOutcome {
        preemption: has_priority.then(preempt).flatten(),
        before: names(&before.nodes),
        after: names(&after.nodes),
        free: first.map(|one| (one.resource.to_string(), one.show(one.free()))),
        still_blocked,
    })
}
