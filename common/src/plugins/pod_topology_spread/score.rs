//! The score: the more matching pods a node's domains have, the lower.

use super::constraint::{Constraint, HOSTNAME};
use super::keys;
use super::matching_pods::{SpreadPodsPerDomain, SpreadPodsPerNode};
use crate::cluster::{Column, DomainCounts, Domains, NodeId, Snapshot};
use crate::framework::{NodeScore, Normalise, SCORE_MAX, Scorer};
use crate::model::Pod;
use std::sync::Arc;

/// The score of a node that is not to be scored.
const INVALID: i64 = -1;

/// Scores up to this are normalised with a table, once for each score instead of once for each node.
const TABLE_MAX: i64 = 1023;

struct Rule {
    source: CountSource,
    /// `maxSkew - 1`, which is added for nodes that have the topology key.
    skew: f64,
    /// The factor of the number of pods.
    weight: f64,
}

enum CountSource {
    /// The matching pods of the node itself, for the topology key hostname.
    Host(Arc<Domains>, Column<u32>),
    /// The matching pods of the node's domain; and the score of each domain, which `weigh` fills in.
    Domain(DomainCounts, Vec<f64>),
}

struct Rules {
    rules: Vec<Rule>,
    /// Whether nodes that lack a topology key are excluded.
    requires_all: bool,
}

pub(super) fn prepare<'c>(
    pod: &Pod,
    world: &Snapshot<'_>,
    constraints: &[Constraint],
    requires_all: bool,
    feasible: &[NodeId],
) -> Option<Scorer<'c>> {
    if constraints.is_empty() {
        return None;
    }
    let keys = if requires_all { keys(constraints) } else { Box::default() };
    let rule = |constraint: &Constraint| {
        let source = if *constraint.key == *HOSTNAME {
            CountSource::Host(
                world.domains(&constraint.key),
                world.column(&SpreadPodsPerNode::new(pod, constraint)),
            )
        } else {
            CountSource::Domain(world.counts(&SpreadPodsPerDomain::new(pod, constraint, &keys)), Vec::new())
        };
        Rule { source, skew: f64::from(constraint.max_skew.wrapping_sub(1)), weight: 0.0 }
    };
    let mut rules = Rules { rules: constraints.iter().map(rule).collect(), requires_all };
    rules.weigh(feasible);
    Some(Scorer {
        score: NodeScore::All(rules.scores(feasible)),
        normalise: Normalise::Custom(Box::new(move |nodes, scores| rules.normalise(nodes, scores))),
    })
}

impl Rules {
    /// Sets the weights: the more domains the feasible nodes have, the more each pod counts.
    fn weigh(&mut self, feasible: &[NodeId]) {
        let scored: Vec<NodeId> = match self.requires_all {
            true => feasible.iter().copied().filter(|id| !self.ignores(*id)).collect(),
            false => Vec::new(),
        };
        let scored = if self.requires_all { &scored } else { feasible };
        self.rules.iter_mut().for_each(|rule| rule.weigh(scored));
    }

    /// Whether the node is excluded because it lacks a topology key.
    fn ignores(&self, id: NodeId) -> bool {
        self.requires_all && self.rules.iter().any(|rule| rule.domain(id).is_none())
    }

    /// The scores of the feasible nodes, computed rule by rule: a simple loop for each is fast.
    fn scores(&self, feasible: &[NodeId]) -> Vec<i64> {
        let mut sums = vec![0.0; feasible.len()];
        for rule in &self.rules {
            rule.add(feasible, &mut sums);
        }
        if !self.requires_all {
            return sums.into_iter().map(rounded).collect();
        }
        let score = |(id, sum): (&NodeId, f64)| if self.ignores(*id) { 0 } else { rounded(sum) };
        feasible.iter().zip(sums).map(score).collect()
    }

    fn normalise(&self, nodes: &[NodeId], scores: &mut [i64]) {
        let (mut lowest, mut highest) = (i64::MAX, 0);
        for (id, score) in nodes.iter().zip(scores.iter_mut()) {
            if self.ignores(*id) {
                *score = INVALID;
            } else {
                lowest = lowest.min(*score);
                highest = highest.max(*score);
            }
        }
        let share = |score: i64| match score {
            // As in kube-scheduler, also a node whose raw score happens to be -1.
            INVALID => 0,
            _ if highest == 0 => SCORE_MAX,
            own => SCORE_MAX.wrapping_mul(highest.wrapping_add(lowest).wrapping_sub(own)) / highest,
        };
        // Many nodes share few different scores, and a table lookup is cheaper than a division.
        let table: Vec<i64> = (INVALID..=highest.min(TABLE_MAX)).map(share).collect();
        for score in scores {
            let tabulated = usize::try_from(score.wrapping_sub(INVALID)).ok().and_then(|at| table.get(at));
            *score = tabulated.copied().unwrap_or_else(|| share(*score));
        }
    }
}

impl Rule {
    fn domain(&self, id: NodeId) -> Option<u32> {
        match &self.source {
            CountSource::Host(domains, _) => domains.of(id),
            CountSource::Domain(counts, _) => counts.domain(id),
        }
    }

    fn weigh(&mut self, scored: &[NodeId]) {
        match &mut self.source {
            CountSource::Host(..) => self.weight = weight(scored.len()),
            CountSource::Domain(counts, scores) => {
                self.weight = weight(size(counts, scored));
                // As in kube-scheduler, nodes without the label are in the domain of the empty value.
                let empty = counts.domains().number("");
                let all = (0_u32..).take(counts.domains().len());
                let count = |domain: u32| match empty {
                    Some(empty) if empty == domain => counts.at(domain) + counts.unlabelled(),
                    _ => counts.at(domain),
                };
                *scores = all.map(|domain| score(count(domain), self.weight, self.skew)).collect();
            }
        }
    }

    /// Adds the score of this rule to the sum of each node that has the topology key.
    #[expect(clippy::float_arithmetic, reason = "upstream's formula")]
    fn add(&self, nodes: &[NodeId], sums: &mut [f64]) {
        match &self.source {
            CountSource::Host(domains, column) => {
                for (id, sum) in nodes.iter().zip(sums).filter(|(id, _)| domains.of(**id).is_some()) {
                    *sum += score(column.get(*id).copied().map_or(0, i64::from), self.weight, self.skew);
                }
            }
            CountSource::Domain(counts, scores) => {
                for (id, sum) in nodes.iter().zip(sums) {
                    let score = counts.domain(*id).and_then(|domain| scores.get(domain as usize));
                    *sum += score.copied().unwrap_or_default();
                }
            }
        }
    }
}

/// Rounds half away from zero, as Go's `math.Round`. `f64::round` for each node would cost more than everything else here.
#[expect(clippy::float_arithmetic, reason = "upstream's formula")]
#[expect(clippy::cast_possible_truncation, reason = "upstream's conversion")]
#[expect(clippy::cast_precision_loss, reason = "back to what it was without its fraction")]
fn rounded(sum: f64) -> i64 {
    let whole = sum as i64;
    match sum - whole as f64 {
        rest if rest >= 0.5 => whole + 1,
        rest if rest <= -0.5 => whole - 1,
        _ => whole,
    }
}

/// The number of domains of these nodes. As in kube-scheduler, a missing label counts as an empty one.
fn size(counts: &DomainCounts, nodes: &[NodeId]) -> usize {
    let domains = counts.domains();
    let unlabelled = domains.number("").map_or(domains.len(), |empty| empty as usize);
    let mut is_used = vec![false; domains.len() + 1];
    for id in nodes {
        let domain = domains.of(*id).map_or(unlabelled, |domain| domain as usize);
        if let Some(is_used) = is_used.get_mut(domain) {
            *is_used = true;
        }
    }
    is_used.into_iter().filter(|is_used| *is_used).count()
}

#[expect(clippy::float_arithmetic, reason = "upstream's formula")]
#[expect(clippy::cast_precision_loss, reason = "counts of pods are small")]
fn score(count: i64, weight: f64, skew: f64) -> f64 {
    count as f64 * weight + skew
}

#[expect(clippy::cast_precision_loss, reason = "numbers of domains are small")]
fn weight(size: usize) -> f64 {
    ((size + 2) as f64).ln()
}
