//! `--what-if`: changes as people type them, tried in the belief, and what becomes of the pod.

mod edits;
mod read;
#[cfg(test)]
mod tests;

use super::input::Input;
use super::judge::{self, View};
use super::trial::Trial;
use common::cluster::Cluster;
use common::model::owner::OwnerKind;
use common::model::taint::Effect;
use common::model::{NodeName, ResourceName, Resources};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) use read::expression;
pub use read::parse;

/// What is to be changed, as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub enum WhatIf {
    /// `requests.cpu=1500m`.
    Request(ResourceName, i64),
    /// `uncordon=NODE`.
    Uncordon(NodeName),
    /// `toleration=KEY[=VALUE][:EFFECT]`.
    Tolerate {
        /// The key.
        key: String,
        /// The value; `None` for any.
        value: Option<String>,
        /// The effect; `None` for any.
        effect: Option<Effect>,
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

/// What became of the pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The nodes that could have it before.
    pub before: Vec<String>,
    /// Those that could have it after.
    pub after: Vec<String>,
    /// What the first of these has free of the first thing that the pod asks for.
    pub free: Option<(String, String)>,
    /// Why the others still cannot, with how many.
    pub still: Vec<(String, usize)>,
}

/// Tries all changes together.
///
/// # Errors
/// When one of them is about something that is not there, or a filter cannot say.
pub fn what_if(cluster: &mut Cluster, input: &Input<'_>, changes: &[WhatIf]) -> Result<Outcome, String> {
    let before = judge::look(cluster, input)?;
    let mut trial = Trial::new(cluster, input.pod, input.now);
    for change in changes {
        for edit in edits::edits(&trial.cluster().snapshot(input.now), input, change)? {
            trial.apply(&edit)?;
        }
    }
    let pod = trial.pod.clone();
    let changed = Input { pod: &pod, ..*input };
    let after = judge::look(trial.cluster(), &changed)?;
    let names = |views: &[View]| -> Vec<String> {
        views.iter().filter(|view| view.fits()).map(|view| view.name.to_string()).collect()
    };
    let first = after.views.iter().find(|view| view.fits()).and_then(|view| view.figures.first());
    let mut still: BTreeMap<String, usize> = BTreeMap::new();
    for view in after.views.iter().filter(|view| !view.fits()) {
        *still.entry(super::group::label(view)).or_default() += 1;
    }
    let mut still: Vec<(String, usize)> = still.into_iter().collect();
    still.sort_by_key(|(_, count)| Reverse(*count));
    Ok(Outcome {
        before: names(&before.views),
        after: names(&after.views),
        free: first.map(|one| (one.resource.to_string(), one.show(one.free()))),
        still,
    })
}
