//! A second, simple implementation of PodTopologySpread, for comparison: every answer reads every pod.

use crate::cluster::{Ledger, Snapshot};
use crate::model::owner::OwnerKind;
use crate::model::selector::{Selector, selects};
use crate::model::spread::TopologySpreadConstraint;
use crate::model::{Node, Pod};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

/// The constraints of the configuration, if it has some.
pub(super) type ConfiguredConstraints<'l> = Option<&'l [TopologySpreadConstraint]>;

type Rule = (TopologySpreadConstraint, Option<Selector>);

/// The pod's own constraints, or those of the configuration, or the system's.
fn rules(pod: &Pod, world: &Snapshot<'_>, list: ConfiguredConstraints<'_>, hard: bool) -> Vec<Rule> {
    let of = |all: &[TopologySpreadConstraint]| -> Vec<TopologySpreadConstraint> {
        all.iter().filter(|one| one.do_not_schedule == hard).cloned().collect()
    };
    if pod.spec.spread.is_empty() {
        let selector = default_selector(pod, world);
        let default = |(key, max_skew): (&str, i32)| TopologySpreadConstraint {
            max_skew,
            topology_key: key.into(),
            do_not_schedule: false,
            selector: None,
            match_label_keys: Box::default(),
            min_domains: None,
            honours_affinity: true,
            honours_taints: false,
        };
        let defaults = of(list.unwrap_or(&[(HOST, 3), (ZONE, 5)].map(default)));
        let defaults = defaults.into_iter().filter(|_| !selector.is_empty());
        return defaults.map(|one| (one, Some(selector.clone()))).collect();
    }
    let resolve = |one: TopologySpreadConstraint| {
        let mut selector = one.selector.clone();
        for key in &one.match_label_keys {
            if let (Some(known), Some(value)) = (&selector, pod.labels.get(key)) {
                selector = Some(known.and_label(key, value));
            }
        }
        (one, selector)
    };
    of(&pod.spec.spread).into_iter().map(resolve).collect()
}

fn default_selector(pod: &Pod, world: &Snapshot<'_>) -> Selector {
    let mut set = BTreeMap::new();
    for service in world.catalog().services.iter() {
        let labels: Vec<_> = service.selector.iter().collect();
        let is_match = labels.iter().all(|(key, value)| pod.labels.get(key) == Some(*value));
        if service.meta.namespace == pod.key.namespace && is_match {
            set.extend(labels);
        }
    }
    let by_set =
        |set: &BTreeMap<&str, &str>| Selector::from_pairs(set.iter().map(|(key, value)| (*key, *value)));
    let Some(claim) = pod.controller.as_deref() else { return by_set(&set) };
    let owners = world.owners();
    let owner = claim.kind.and_then(|kind| owners.named(kind, &pod.key.namespace, &claim.name));
    let Some((kind, theirs)) = owner.and_then(|owner| Some((owner.kind, owner.selector.as_ref()?))) else {
        return by_set(&set);
    };
    if kind != OwnerKind::ReplicationController {
        return by_set(&set).and(theirs);
    }
    for requirement in theirs.requirements() {
        set.insert(&requirement.key, &requirement.values[0]);
    }
    by_set(&set)
}

fn included(rule: &Rule, pod: &Pod, node: &Node) -> bool {
    let spec = &pod.spec;
    let wanted = spec.node_selector.iter().flat_map(|labels| labels.iter());
    let mut wanted = wanted.map(|(key, value)| node.labels.get(key) == Some(value));
    let tolerated = |taint| spec.tolerations.iter().any(|toleration| toleration.tolerates(taint));
    let mut taints = node.taints.iter().filter(|taint| taint.effect.repels());
    (!rule.0.honours_affinity || wanted.all(|is_so| is_so))
        && (!rule.0.honours_taints || taints.all(tolerated))
}

fn has_all(rules: &[Rule], node: &Node) -> bool {
    rules.iter().all(|(one, _)| node.labels.has(&one.topology_key))
}

fn count(rule: &Rule, pod: &Pod, pods: &[Arc<Pod>]) -> i64 {
    let Some(selector) = rule.1.as_ref().filter(|selector| !selector.is_empty()) else { return 0 };
    let counts = |other: &&Arc<Pod>| {
        !other.deleting && other.key.namespace == pod.key.namespace && selector.matches(&other.labels)
    };
    pods.iter().filter(counts).count() as i64
}

/// The verdict of the filter on each node, with the pods of one node replaced by those of `supposed`.
pub(super) fn verdicts(
    pod: &Pod,
    world: &Snapshot<'_>,
    list: ConfiguredConstraints<'_>,
    supposed: Option<&Ledger>,
) -> Option<Vec<Option<(String, bool)>>> {
    let rules = rules(pod, world, list, true);
    let mut sums: Vec<BTreeMap<String, i64>> = vec![BTreeMap::new(); rules.len()];
    for ledger in world.nodes().filter(|ledger| has_all(&rules, &ledger.node)) {
        for (rule, sums) in rules.iter().zip(&mut sums).filter(|(rule, _)| included(rule, pod, &ledger.node))
        {
            let value = ledger.node.labels.get(&rule.0.topology_key).unwrap().to_owned();
            let sum = sums.entry(value).or_default();
            *sum += count(rule, pod, &ledger.pods);
            let matching = |pods: &[Arc<Pod>]| {
                let same = pods.iter().filter(|other| other.key.namespace == pod.key.namespace);
                same.filter(|other| selects(rule.1.as_ref(), &other.labels)).count() as i64
            };
            if let Some(supposed) = supposed.filter(|supposed| supposed.id == ledger.id) {
                *sum += matching(&supposed.pods) - matching(&ledger.pods);
            }
        }
    }
    let words = "node(s) didn't match pod topology spread constraints";
    let judge = |node: &Node| {
        for (rule, sums) in rules.iter().zip(&sums) {
            let Some(value) = node.labels.get(&rule.0.topology_key) else {
                return Some((format!("{words} (missing required label)"), true));
            };
            let mut lowest = sums.values().min().copied().unwrap_or(i64::from(i32::MAX));
            if (sums.len() as i64) < i64::from(rule.0.min_domains.unwrap_or(1)) {
                lowest = 0;
            }
            let own = i64::from(selects(rule.1.as_ref(), &pod.labels));
            if sums.get(value).unwrap_or(&0) + own - lowest > i64::from(rule.0.max_skew) {
                return Some((words.to_owned(), false));
            }
        }
        None
    };
    (!rules.is_empty()).then(|| world.nodes().map(|ledger| judge(&ledger.node)).collect())
}

/// The scores of the feasible nodes, raw and normalised.
#[expect(clippy::float_arithmetic, reason = "upstream's formula")]
pub(super) fn scores(
    pod: &Pod,
    world: &Snapshot<'_>,
    list: ConfiguredConstraints<'_>,
    feasible: &[&Ledger],
) -> Option<(Vec<i64>, Vec<i64>)> {
    let rules = rules(pod, world, list, false);
    let requires_all = !pod.spec.spread.is_empty() || list.is_some();
    let is_ignored = |node: &Node| requires_all && !has_all(&rules, node);
    let scored: Vec<&&Ledger> = feasible.iter().filter(|ledger| !is_ignored(&ledger.node)).collect();
    let value = |node: &Node, rule: &Rule| node.labels.get(&rule.0.topology_key).unwrap_or("").to_owned();
    let score = |ledger: &Ledger, rule: &Rule| {
        ledger.node.labels.get(&rule.0.topology_key)?;
        let is_host = &*rule.0.topology_key == HOST;
        let sizes: BTreeSet<String> = scored.iter().map(|ledger| value(&ledger.node, rule)).collect();
        let size = if is_host { scored.len() } else { sizes.len() };
        let mut sum = 0;
        for other in world.nodes() {
            let is_same = value(&other.node, rule) == value(&ledger.node, rule);
            let counts = !is_ignored(&other.node) && included(rule, pod, &other.node);
            if if is_host { other.id == ledger.id } else { is_same && counts } {
                sum += count(rule, pod, &other.pods);
            }
        }
        Some(sum as f64 * ((size + 2) as f64).ln() + f64::from(rule.0.max_skew - 1))
    };
    let raw = |ledger: &&Ledger| match is_ignored(&ledger.node) {
        true => 0,
        false => {
            rules.iter().filter_map(|rule| score(ledger, rule)).fold(0.0, |sum, one| sum + one).round() as i64
        }
    };
    let raws: Vec<i64> = feasible.iter().map(raw).collect();
    let both = || feasible.iter().zip(&raws);
    let valid: Vec<i64> = both().filter(|(one, _)| !is_ignored(&one.node)).map(|(_, raw)| *raw).collect();
    let (lowest, highest) = (valid.iter().min().copied(), valid.iter().max().copied());
    let normalised = both().map(|(ledger, raw)| match (lowest, highest) {
        (Some(lowest), Some(highest)) if !is_ignored(&ledger.node) => {
            if highest == 0 {
                100
            } else {
                100 * (highest + lowest - raw) / highest
            }
        }
        _ => 0,
    });
    let normalised = normalised.collect();
    (!rules.is_empty()).then_some((raws, normalised))
}
