//! Scores nodes the lower the more pods of the kind are in their domains already.

use super::constraint::{Constraint, HOSTNAME};
use super::keys;
use super::question::{Kin, Spread};
use crate::cluster::{Column, Counts, Domains, NodeId, Snapshot};
use crate::framework::{NodeScore, Normalise, SCORE_MAX, Scorer};
use crate::model::Pod;
use std::sync::Arc;

/// The score of a node that is not to be scored.
const INVALID: i64 = -1;

/// Scores up to this are normalised once, not once for each node.
const TABLE_MAX: i64 = 1023;

/// A constraint, ready to be asked about nodes.
struct Rule {
    what: What,
    /// What is added where the label is there.
    skew: f64,
    /// What each pod counts.
    weight: f64,
}

/// What is counted.
enum What {
    /// The pods of the node itself.
    Host(Arc<Domains>, Column<u32>),
    /// The pods of its domain; and what each domain scores, once that is known.
    Domain(Counts, Vec<f64>),
}

/// All constraints.
struct Rules {
    rules: Vec<Rule>,
    /// Whether nodes without all the labels are left out.
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
        let what = if *constraint.key == *HOSTNAME {
            What::Host(world.domains(&constraint.key), world.column(&Kin::new(pod, constraint)))
        } else {
            What::Domain(world.counts(&Spread::new(pod, constraint, &keys)), Vec::new())
        };
        Rule { what, skew: f64::from(constraint.max_skew.wrapping_sub(1)), weight: 0.0 }
    };
    let mut rules = Rules { rules: constraints.iter().map(rule).collect(), requires_all };
    rules.weigh(feasible);
    Some(Scorer {
        score: NodeScore::All(rules.scores(feasible)),
        normalise: Normalise::With(Box::new(move |nodes, scores| rules.normalise(nodes, scores))),
    })
}

impl Rules {
    /// The more domains the feasible nodes are in, the more each pod counts.
    fn weigh(&mut self, feasible: &[NodeId]) {
        let scored: Vec<NodeId> = match self.requires_all {
            true => feasible.iter().copied().filter(|id| !self.ignores(*id)).collect(),
            false => Vec::new(),
        };
        let scored = if self.requires_all { &scored } else { feasible };
        self.rules.iter_mut().for_each(|rule| rule.weigh(scored));
    }

    /// Whether the node is left out for want of a label.
    fn ignores(&self, id: NodeId) -> bool {
        self.requires_all && self.rules.iter().any(|rule| rule.domain(id).is_none())
    }

    /// The scores of the feasible nodes. Rule by rule over all of them: each is simple by itself.
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
            // As upstream, also a node whose score happens to be this.
            INVALID => 0,
            _ if highest == 0 => SCORE_MAX,
            own => SCORE_MAX.wrapping_mul(highest.wrapping_add(lowest).wrapping_sub(own)) / highest,
        };
        // Many nodes have few different scores, and a look into a table costs less than a division.
        let table: Vec<i64> = (INVALID..=highest.min(TABLE_MAX)).map(share).collect();
        for score in scores {
            let known = usize::try_from(score.wrapping_sub(INVALID)).ok().and_then(|at| table.get(at));
            *score = known.copied().unwrap_or_else(|| share(*score));
        }
    }
}

impl Rule {
    fn domain(&self, id: NodeId) -> Option<u32> {
        match &self.what {
            What::Host(domains, _) => domains.of(id),
            What::Domain(counts, _) => counts.domain(id),
        }
    }

    fn weigh(&mut self, scored: &[NodeId]) {
        match &mut self.what {
            What::Host(..) => self.weight = weight(scored.len()),
            What::Domain(counts, scores) => {
                self.weight = weight(size(counts, scored));
                // As upstream, nodes without the label are in the domain of the empty value.
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

    /// Adds what it counts to the sum of each node that has its label.
    #[expect(clippy::float_arithmetic, reason = "upstream's formula")]
    fn add(&self, nodes: &[NodeId], sums: &mut [f64]) {
        match &self.what {
            What::Host(domains, column) => {
                for (id, sum) in nodes.iter().zip(sums).filter(|(id, _)| domains.of(**id).is_some()) {
                    *sum += score(column.get(*id).copied().map_or(0, i64::from), self.weight, self.skew);
                }
            }
            What::Domain(counts, scores) => {
                for (id, sum) in nodes.iter().zip(sums) {
                    let score = counts.domain(*id).and_then(|domain| scores.get(domain as usize));
                    *sum += score.copied().unwrap_or_default();
                }
            }
        }
    }
}

/// Half away from zero, as upstream's function; a call of that for each node would cost more than all else here.
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

/// How many domains these nodes are in. As upstream, no label is the same as an empty one.
fn size(counts: &Counts, nodes: &[NodeId]) -> usize {
    let domains = counts.domains();
    let unlabelled = domains.number("").map_or(domains.len(), |empty| empty as usize);
    let mut seen = vec![false; domains.len() + 1];
    for id in nodes {
        let domain = domains.of(*id).map_or(unlabelled, |domain| domain as usize);
        if let Some(seen) = seen.get_mut(domain) {
            *seen = true;
        }
    }
    seen.into_iter().filter(|seen| *seen).count()
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
