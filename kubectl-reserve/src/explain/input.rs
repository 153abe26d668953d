//! The input of an explanation: the pod, the schedulers' plugins, and options.

use super::report::AutoscalerEvent;
use common::framework::Registry;
use common::model::Pod;
use common::plugins::{default_registry, without_reservations};
use jiff::Timestamp;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Everything besides the cluster that an explanation is made from.
pub struct Input<'a> {
    pub pod: &'a Pod,
    /// The same pod as JSON of the API server: commands need the names of containers, which [`Pod`] does not have.
    pub source: Option<&'a Value>,
    /// The current time of the API server.
    pub now: Timestamp,
    /// The plugins that decide, with and without reservations.
    pub rules: &'a Rules,
    /// How much the report contains.
    pub options: Options,
    /// The `--context` of the caller; printed commands repeat it.
    pub context: Option<&'a str>,
    /// The snapshot that is asked instead of the cluster; printed commands repeat it.
    pub snapshot: Option<&'a Path>,
    /// The files of `-f`, if the pod is from a manifest: then it does not exist, and printed commands repeat them.
    pub manifests: &'a [PathBuf],
    /// When the pod's scheduler last tried, according to its events.
    pub last_try: Option<Timestamp>,
    /// Events of autoscalers about the pod.
    pub autoscaler: &'a [AutoscalerEvent],
    /// The priority classes of the cluster, as name and value.
    pub priority_classes: &'a [(String, i32)],
}

/// How much the report contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many of the nearest misses are shown.
    pub nodes: Limit,
    /// How many fixes are shown.
    pub fixes: Limit,
    pub group_by: GroupBy,
    /// Whether preemption is tried, too.
    pub preemption: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most this many.
    Most(usize),
    /// All of them.
    All,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// By blocker; by pool in large clusters.
    #[default]
    Auto,
    Reason,
    /// By the node pool that a label names.
    Pool,
    Zone,
}

/// The plugins that decide about pods, with and without reservations.
pub struct Rules {
    enforcing: Plugins,
    others: Plugins,
    enforces: Box<dyn Fn(&str) -> bool>,
    /// Whether it is known which schedulers enforce reservations.
    are_known: bool,
}

struct Plugins {
    all: Registry,
    /// The same without PostFilter plugins (preemption).
    placing: Registry,
}

impl Rules {
    /// The plugins of the default profile; `enforces` says whether the scheduler with a given name enforces reservations.
    pub fn new(enforces: impl Fn(&str) -> bool + 'static) -> Self {
        let plugins = |all: Registry| {
            let mut placing = all.copy();
            placing.post_filters.clear();
            Plugins { all, placing }
        };
        Self {
            enforcing: plugins(default_registry()),
            others: plugins(without_reservations()),
            enforces: Box::new(enforces),
            are_known: true,
        }
    }

    /// The same, but `are_known` says whether it is known at all which schedulers enforce reservations.
    pub fn known(self, are_known: bool) -> Self {
        Self { are_known, ..self }
    }

    /// Whether it is known that the pod's scheduler enforces reservations, or that it does not.
    pub fn are_known_for(&self, pod: &Pod) -> bool {
        self.are_known || self.are_enforced(pod)
    }

    /// Whether the pod's scheduler enforces reservations.
    pub fn are_enforced(&self, pod: &Pod) -> bool {
        (self.enforces)(&pod.spec.scheduler_name)
    }

    /// The plugins that decide about the pod.
    pub fn of(&self, pod: &Pod) -> &Registry {
        &self.plugins(pod).all
    }

    /// The plugins that decide about the pod, without PostFilter plugins.
    pub fn placing(&self, pod: &Pod) -> &Registry {
        &self.plugins(pod).placing
    }

    fn plugins(&self, pod: &Pod) -> &Plugins {
        if self.are_enforced(pod) { &self.enforcing } else { &self.others }
    }
}

impl Default for Options {
    fn default() -> Self {
        let five = Limit::Most(5);
        Self { nodes: five, fixes: five, group_by: GroupBy::Auto, preemption: true }
    }
}

impl Limit {
    /// How many of `count` items that is.
    pub fn of(self, count: usize) -> usize {
        match self {
            Self::Most(most) => most.min(count),
            Self::All => count,
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            "none" => Ok(Self::Most(0)),
            number => number.parse().map(Self::Most).map_err(|_| "a number, all or none".to_owned()),
        }
    }
}

impl FromStr for GroupBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "reason" => Ok(Self::Reason),
            "pool" => Ok(Self::Pool),
            "zone" => Ok(Self::Zone),
            _ => Err("reason, pool or zone".to_owned()),
        }
    }
}
