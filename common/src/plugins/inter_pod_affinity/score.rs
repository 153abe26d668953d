//! The score: preferred terms of the pod, and the terms of existing pods that match it.

use super::existing_terms::{ExistingTerms, TermKind};
use super::term::{TermMatcher, TermPodsPerDomain};
use crate::cluster::{Domains, NodeId, Snapshot};
use crate::config::InterPodAffinityArgs;
use crate::framework::{NodeScore, Normalise, Scorer};
use crate::model::{Pod, PodAffinityTerm, Text};
use std::sync::Arc;

struct DomainScores {
    key: Text,
    domains: Arc<Domains>,
    scores: Vec<i64>,
}

/// The preferred terms of the pod with their weights; anti-affinity has a negative weight.
fn preferred_terms(pod: &Pod) -> impl Iterator<Item = (i64, &PodAffinityTerm)> {
    let affinity = pod.spec.affinity.as_deref();
    let affinity_terms = affinity.into_iter().flat_map(|affinity| &affinity.pod.preferred);
    let anti_affinity_terms = affinity.into_iter().flat_map(|affinity| &affinity.anti.preferred);
    let positive = affinity_terms.map(|(weight, term)| (i64::from(*weight), term));
    positive.chain(anti_affinity_terms.map(|(weight, term)| (-i64::from(*weight), term)))
}

/// Whether no preferred term concerns the pod, so that all nodes score the same.
pub(super) fn has_no_terms(pod: &Pod, world: &Snapshot<'_>, args: &InterPodAffinityArgs) -> bool {
    preferred_terms(pod).next().is_none()
        && (args.ignore_preferred_terms_of_existing_pods || existing_terms(pod, world, args).is_none())
}

pub(super) fn prepare<'c>(
    pod: &Pod,
    world: &Snapshot<'_>,
    args: &InterPodAffinityArgs,
) -> Option<Scorer<'c>> {
    let mut preferred = preferred_terms(pod).peekable();
    if args.ignore_preferred_terms_of_existing_pods && preferred.peek().is_none() {
        return None;
    }
    let mut all: Vec<DomainScores> = Vec::new();
    for (weight, term) in preferred {
        let counts = world.counts(&TermPodsPerDomain::new(term, &[TermMatcher::new(pod, term, world)]));
        // A term that matches no pod adds no topology key: without any key the plugin does not score at all.
        if counts.total() > 0 {
            domain_scores(&mut all, &term.topology_key, world).add(|domain| counts.at(domain) * weight);
        }
    }
    if let Some(existing) = existing_terms(pod, world, args) {
        for terms in &existing.by_key {
            domain_scores(&mut all, &terms.key, world).add(|domain| existing.at(terms, domain).weight);
        }
    }
    if all.is_empty() {
        return None;
    }
    let score = move |id: NodeId| all.iter().map(|scores| scores.score(id)).sum();
    Some(Scorer {
        score: NodeScore::Each(Box::new(score)),
        normalise: Normalise::Custom(Box::new(normalise)),
    })
}

fn existing_terms(pod: &Pod, world: &Snapshot<'_>, args: &InterPodAffinityArgs) -> Option<ExistingTerms> {
    ExistingTerms::of(pod, world, TermKind::Scored(args.hard_pod_affinity_weight))
}

/// The scores of the domains of `key`; they are added if the key is new.
fn domain_scores<'l>(
    all: &'l mut Vec<DomainScores>,
    key: &Text,
    world: &Snapshot<'_>,
) -> &'l mut DomainScores {
    let index = all.iter().position(|scores| scores.key == *key).unwrap_or_else(|| {
        let domains = world.domains(key);
        let scores = vec![0; domains.len()];
        all.push(DomainScores { key: key.clone(), domains, scores });
        all.len() - 1
    });
    &mut all[index]
}

impl DomainScores {
    fn add(&mut self, score: impl Fn(u32) -> i64) {
        for (domain, sum) in (0_u32..).zip(&mut self.scores) {
            *sum += score(domain);
        }
    }

    fn score(&self, id: NodeId) -> i64 {
        let domain = self.domains.of(id);
        domain.and_then(|domain| self.scores.get(domain as usize)).copied().unwrap_or(0)
    }
}

/// The lowest score becomes 0, the highest 100; all become 0 if they are equal.
#[expect(clippy::float_arithmetic, reason = "upstream's formula")]
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "upstream's conversions")]
fn normalise(_nodes: &[NodeId], scores: &mut [i64]) {
    let lowest = scores.iter().copied().min().unwrap_or(0);
    let highest = scores.iter().copied().max().unwrap_or(0);
    let range = highest - lowest;
    for score in scores {
        *score = if range > 0 { (100.0 * ((*score - lowest) as f64 / range as f64)) as i64 } else { 0 };
    }
}
