//! Scores nodes the lower the more pods of the kind are in their domains already.

use super::constraint::{Constraint, HOSTNAME};
use super::keys;
use super::question::{Kin, Spread};
use crate::cluster::{Column, Counts, Domains, NodeId, Snapshot};
use crate::framework::{Normalise, SCORE_MAX, Scorer};
use crate::model::Pod;
use std::sync::Arc;

/// The score of a node that is not to be scored.
const INVALID: i64 = -1;

/// A constraint, ready to be asked about nodes.
struct Rule {
    what: What,
    /// The domain of the empty value, which as upstream is also that of nodes without the label.
    empty: Option<u32>,
    /// What is added where the label is there.
    skew: f64,
    /// What each pod counts.
    weight: f64,
}

/// What is counted.
enum What {
    /// The pods of the node itself.
    Host(Arc<Domains>, Column<u32>),
    /// The pods of its domain.
    Domain(Counts),
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
            What::Domain(world.counts(&Spread::new(pod, constraint, &keys)))
        };
        let skew = f64::from(constraint.max_skew.wrapping_sub(1));
        let mut rule = Rule { what, empty: None, skew, weight: 0.0 };
        rule.empty = rule.domains().number("");
        rule
    };
    let mut rules = Rules { rules: constraints.iter().map(rule).collect(), requires_all };
    rules.weigh(feasible);
    let rules = Arc::new(rules);
    let same = Arc::clone(&rules);
    Some(Scorer {
        score: Box::new(move |id| same.score(id)),
        normalise: Normalise::With(Box::new(move |nodes, scores| rules.normalise(nodes, scores))),
    })
}

impl Rules {
    /// The more domains the feasible nodes are in, the more each pod counts.
    fn weigh(&mut self, feasible: &[NodeId]) {
        let seen = self.rules.iter().map(|rule| vec![false; rule.len()]);
        let mut seen: Vec<Vec<bool>> = seen.collect();
        let mut scored = 0_usize;
        for id in feasible.iter().filter(|id| !self.ignores(**id)) {
            scored += 1;
            for (rule, seen) in self.rules.iter().zip(&mut seen) {
                if let Some(seen) = rule.slot(*id).and_then(|slot| seen.get_mut(slot)) {
                    *seen = true;
                }
            }
        }
        for (rule, seen) in self.rules.iter_mut().zip(seen) {
            let size = match rule.what {
                What::Host(..) => scored,
                What::Domain(_) => seen.into_iter().filter(|seen| *seen).count(),
            };
            rule.weight = weight(size);
        }
    }

    /// Whether the node is left out for want of a label.
    fn ignores(&self, id: NodeId) -> bool {
        self.requires_all && self.rules.iter().any(|rule| rule.domain(id).is_none())
    }

    #[expect(clippy::float_arithmetic, reason = "upstream's formula")]
    #[expect(clippy::cast_possible_truncation, reason = "upstream's conversion")]
    fn score(&self, id: NodeId) -> i64 {
        let mut score = 0.0;
        for rule in &self.rules {
            match rule.domain(id) {
                Some(domain) => score += rule.score(id, domain),
                None if self.requires_all => return 0,
                None => {}
            }
        }
        score.round() as i64
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
        for score in scores {
            *score = match *score {
                // As upstream, also a node whose score happens to be this.
                INVALID => 0,
                _ if highest == 0 => SCORE_MAX,
                own => SCORE_MAX.wrapping_mul(highest.wrapping_add(lowest).wrapping_sub(own)) / highest,
            };
        }
    }
}

impl Rule {
    fn domains(&self) -> &Domains {
        match &self.what {
            What::Host(domains, _) => domains,
            What::Domain(counts) => counts.domains(),
        }
    }

    /// How many slots the domains of nodes can have: one for each, and one for nodes without the label.
    fn len(&self) -> usize {
        match &self.what {
            What::Host(..) => 0,
            What::Domain(counts) => counts.domains().len() + 1,
        }
    }

    /// The slot of the node's domain.
    fn slot(&self, id: NodeId) -> Option<usize> {
        let What::Domain(counts) = &self.what else { return None };
        let domain = counts.domain(id).or(self.empty);
        Some(domain.map_or(counts.domains().len(), |domain| domain as usize))
    }

    fn domain(&self, id: NodeId) -> Option<u32> {
        self.domains().of(id)
    }

    #[expect(clippy::float_arithmetic, reason = "upstream's formula")]
    #[expect(clippy::cast_precision_loss, reason = "counts of pods are small")]
    fn score(&self, id: NodeId, domain: u32) -> f64 {
        let count = match &self.what {
            What::Host(_, column) => column.get(id).copied().map_or(0, i64::from),
            What::Domain(counts) if self.empty == Some(domain) => counts.at(domain) + counts.unlabelled(),
            What::Domain(counts) => counts.at(domain),
        };
        count as f64 * self.weight + self.skew
    }
}

#[expect(clippy::float_arithmetic, reason = "upstream's formula")]
#[expect(clippy::cast_precision_loss, reason = "numbers of domains are small")]
fn weight(size: usize) -> f64 {
    ((size + 2) as f64).ln()
}
