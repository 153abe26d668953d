//! What an explanation starts from, and how much of it is wanted.

use super::report::Autoscaler;
use common::framework::Registry;
use common::model::Pod;
use common::plugins::{default_registry, without_reservations};
use jiff::Timestamp;
use serde_json::Value;
use std::str::FromStr;

/// Everything besides the cluster that an explanation is made from.
pub struct Input<'a> {
    /// The pod.
    pub pod: &'a Pod,
    /// The same as the API server has it: it knows the names of containers, which commands need.
    pub source: Option<&'a Value>,
    /// The API server's time.
    pub now: Timestamp,
    /// Who enforces reservations, and what the others decide by.
    pub rules: &'a Rules,
    /// How much is wanted.
    pub options: Options,
    /// The `--context` that the caller named; commands that are printed repeat it.
    pub context: Option<&'a str>,
    /// When the pod's scheduler last tried, as far as its events say.
    pub last_try: Option<Timestamp>,
    /// What autoscalers said about the pod.
    pub autoscaler: &'a [Autoscaler],
    /// The priority classes that there are, as name and value.
    pub priority_classes: &'a [(String, i32)],
}

/// How much is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many of the nearest misses.
    pub nodes: Limit,
    /// How many fixes.
    pub fixes: Limit,
    /// By what nodes are put together.
    pub group_by: GroupBy,
    /// Whether to look for pods that would have to go.
    pub preemption: bool,
}

/// How many of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most so many.
    Most(usize),
    /// All of them.
    All,
}

/// By what nodes are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// By what stands in the way; by pool where there are very many nodes.
    #[default]
    Auto,
    /// By what stands in the way.
    Reason,
    /// By the pool that nodes say they are of.
    Pool,
    /// By zone.
    Zone,
}

/// The plugins that pods are judged by.
pub struct Rules {
    enforcing: Plugins,
    others: Plugins,
    enforces: Box<dyn Fn(&str) -> bool>,
}

struct Plugins {
    all: Registry,
    /// The same without those that look for help when there is no place.
    placing: Registry,
}

impl Rules {
    /// The default profile; `enforces` says of a scheduler, by its name, whether it enforces reservations.
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
        }
    }

    /// Whether the pod's scheduler enforces reservations.
    pub fn are_enforced(&self, pod: &Pod) -> bool {
        (self.enforces)(&pod.spec.scheduler_name)
    }

    /// The plugins that decide about the pod.
    pub fn of(&self, pod: &Pod) -> &Registry {
        &self.plugins(pod).all
    }

    /// The same without those that look for help.
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
    /// How many of `count` that is.
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
