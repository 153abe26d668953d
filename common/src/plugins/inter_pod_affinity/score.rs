//! Scores nodes by what pods like and dislike about each other.

use super::existing::{Opinions, Voice};
use super::term::{Meant, Near};
use crate::cluster::{Domains, NodeId, Snapshot};
use crate::config::InterPodAffinityArgs;
use crate::framework::{NodeScore, Normalise, Scorer};
use crate::model::Pod;
use crate::model::affinity::PodTerm;
use crate::model::ids::Text;
use std::sync::Arc;

/// What each domain of one label scores.
struct Likes {
    key: Text,
    domains: Arc<Domains>,
    scores: Vec<i64>,
}

/// Whether the pod itself prefers to be near other pods or apart from them.
fn preferences(pod: &Pod) -> impl Iterator<Item = (i64, &PodTerm)> {
    let affinity = pod.spec.affinity.as_deref();
    let near = affinity.into_iter().flat_map(|affinity| &affinity.pod.preferred);
    let apart = affinity.into_iter().flat_map(|affinity| &affinity.anti.preferred);
    let likes = near.map(|(weight, term)| (i64::from(*weight), term));
    likes.chain(apart.map(|(weight, term)| (-i64::from(*weight), term)))
}

/// Whether there is nothing to be liked or disliked.
pub(super) fn is_indifferent(pod: &Pod, world: &Snapshot<'_>, args: &InterPodAffinityArgs) -> bool {
    preferences(pod).next().is_none()
        && (args.ignore_preferred_terms_of_existing_pods || others(pod, world, args).is_none())
}

pub(super) fn prepare<'c>(
    pod: &Pod,
    world: &Snapshot<'_>,
    args: &InterPodAffinityArgs,
) -> Option<Scorer<'c>> {
    let mut preferences = preferences(pod).peekable();
    if args.ignore_preferred_terms_of_existing_pods && preferences.peek().is_none() {
        return None;
    }
    let mut all: Vec<Likes> = Vec::new();
    for (weight, term) in preferences {
        let counts = world.counts(&Near::new(term, &[Meant::new(pod, term, world)]));
        // A term that means nobody says nothing, which is not the same as saying 0.
        if counts.total() > 0 {
            likes(&mut all, &term.topology_key, world).add(|domain| counts.at(domain) * weight);
        }
    }
    if let Some(opinions) = others(pod, world, args) {
        for opinion in &opinions.by_key {
            likes(&mut all, &opinion.key, world).add(|domain| opinions.at(opinion, domain).weight);
        }
    }
    if all.is_empty() {
        return None;
    }
    let score = move |id: NodeId| all.iter().map(|likes| likes.score(id)).sum();
    Some(Scorer { score: NodeScore::Each(Box::new(score)), normalise: Normalise::With(Box::new(normalise)) })
}

fn others(pod: &Pod, world: &Snapshot<'_>, args: &InterPodAffinityArgs) -> Option<Opinions> {
    Opinions::of(pod, world, Voice::Likes(args.hard_pod_affinity_weight))
}

/// The scores by `key`.
fn likes<'l>(all: &'l mut Vec<Likes>, key: &Text, world: &Snapshot<'_>) -> &'l mut Likes {
    let index = all.iter().position(|likes| likes.key == *key).unwrap_or_else(|| {
        let domains = world.domains(key);
        let scores = vec![0; domains.len()];
        all.push(Likes { key: key.clone(), domains, scores });
        all.len() - 1
    });
    &mut all[index]
}

impl Likes {
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

/// The lowest becomes 0, the highest 100; all are 0 if they are the same.
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
