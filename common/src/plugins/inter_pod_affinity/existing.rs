//! What pods on nodes say about a pod that is to come, summed up by domain: kept, and corrected where nodes change.

use super::mentioned::face;
use super::term::Face;
use crate::cluster::{Domains, Edition, Ledger, NodeId, Snapshot};
use crate::model::Pod;
use crate::model::affinity::PodTerm;
use crate::model::ids::Text;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which terms of pods on nodes are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Voice {
    /// Required anti-affinity.
    Repels,
    /// Everything that scores; a required affinity counts this much.
    Likes(i32),
}

/// What is said in one domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// How many terms mean the pod.
    pub(super) terms: i64,
    /// What they weigh.
    pub(super) weight: i64,
}

/// What is said about a pod, for each label that domains are formed by.
pub(super) struct Opinions {
    kept: Arc<Kept>,
    /// The labels by which something is said.
    pub(super) by_key: Vec<Opinion>,
}

/// What is said about a pod by one label.
pub(super) struct Opinion {
    pub(super) key: Text,
    pub(super) domains: Arc<Domains>,
    /// Where it is kept.
    index: Option<usize>,
    /// What is different in one domain if the books of a node are as supposed.
    shift: Option<(u32, Said)>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct About {
    voice: Voice,
    face: Face,
}

#[derive(Debug, Default)]
struct Kept {
    keys: Vec<Sums>,
    /// What each node adds: to which key, in which domain.
    of: Vec<Box<[(usize, u32, Said)]>>,
}

#[derive(Debug)]
struct Sums {
    key: Text,
    /// The numbering of the domains.
    edition: Edition,
    by_domain: Vec<Said>,
    total: Said,
}

impl Opinions {
    /// What pods on nodes say about `pod`; `None` if they say nothing.
    pub(super) fn of(pod: &Pod, world: &Snapshot<'_>, voice: Voice) -> Option<Self> {
        let pod_affinity = world.pod_affinity();
        let speakers = if voice == Voice::Repels { pod_affinity.repelling } else { pod_affinity.all };
        if speakers == 0 {
            return None;
        }
        let about = About { voice, face: face(pod, world) };
        let kept = Kept::of(&about, world);
        let opinion = |(index, sums): (usize, &Sums)| Opinion {
            key: sums.key.clone(),
            domains: world.domains(&sums.key),
            index: Some(index),
            shift: None,
        };
        let mut by_key: Vec<Opinion> = kept.keys.iter().enumerate().map(opinion).collect();
        shift(&mut by_key, &about, world);
        by_key.retain(|one| one.shift.is_some() || one.sums(&kept).is_some_and(|sums| sums.total.terms > 0));
        let opinions = Self { kept, by_key };
        opinions.is_any().then_some(opinions)
    }

    fn is_any(&self) -> bool {
        let total = |one: &Opinion| {
            let kept = one.sums(&self.kept).map_or(0, |sums| sums.total.terms);
            kept + one.shift.map_or(0, |(_, said)| said.terms)
        };
        self.by_key.iter().any(|one| total(one) > 0)
    }

    /// Whether a term that means the pod speaks for the domain of the node.
    pub(super) fn speak_at(&self, id: NodeId) -> bool {
        let speaks = |one: &Opinion| one.domains.of(id).is_some_and(|domain| self.at(one, domain).terms > 0);
        self.by_key.iter().any(speaks)
    }

    /// What is said by one label in one domain.
    pub(super) fn at(&self, opinion: &Opinion, domain: u32) -> Said {
        let sums = opinion.sums(&self.kept);
        let said = sums.and_then(|sums| sums.by_domain.get(domain as usize)).copied().unwrap_or_default();
        match opinion.shift {
            Some((shifted, by)) if shifted == domain => said.plus(by, 1),
            _ => said,
        }
    }
}

impl Opinion {
    fn sums<'k>(&self, kept: &'k Kept) -> Option<&'k Sums> {
        kept.keys.get(self.index?)
    }
}

/// Adds what would be different if the books of a node were as supposed.
fn shift(by_key: &mut Vec<Opinion>, about: &About, world: &Snapshot<'_>) {
    let Some(supposed) = world.supposed() else { return };
    let Some(believed) = world.believed(supposed.id) else { return };
    let mut differences = about.read(supposed);
    for (key, said) in about.read(believed) {
        let difference = differences.entry(key).or_default();
        *difference = difference.plus(said, -1);
    }
    for (key, said) in differences.into_iter().filter(|(_, said)| *said != Said::default()) {
        let index = by_key.iter().position(|one| one.key == *key).unwrap_or_else(|| {
            let domains = world.domains(key);
            by_key.push(Opinion { key: key.clone(), domains, index: None, shift: None });
            by_key.len() - 1
        });
        by_key[index].shift = by_key[index].domains.of(supposed.id).map(|domain| (domain, said));
    }
}

impl About {
    /// What the pods of a node say, by the label that each term names and the node has.
    fn read<'l>(&self, ledger: &'l Ledger) -> BTreeMap<&'l Text, Said> {
        let mut said = BTreeMap::new();
        let pod_affinity = ledger.pod_affinity;
        if pod_affinity.all == 0 || (self.voice == Voice::Repels && pod_affinity.repelling == 0) {
            return said;
        }
        for pod in &ledger.pods {
            let Some(affinity) = pod.spec.affinity.as_deref() else { continue };
            let mut hear = |term: &'l PodTerm, weight: i64| {
                if ledger.node.labels.has(&term.topology_key) && self.face.is_meant(pod, term) {
                    let sum: &mut Said = said.entry(&term.topology_key).or_default();
                    *sum = sum.plus(Said { terms: 1, weight }, 1);
                }
            };
            match self.voice {
                Voice::Repels => affinity.anti.required.iter().for_each(|term| hear(term, 0)),
                Voice::Likes(hard) => {
                    let required = affinity.pod.required.iter().filter(|_| hard > 0);
                    required.for_each(|term| hear(term, i64::from(hard)));
                    affinity.pod.preferred.iter().for_each(|(weight, term)| hear(term, i64::from(*weight)));
                    affinity.anti.preferred.iter().for_each(|(weight, term)| hear(term, -i64::from(*weight)));
                }
            }
        }
        said
    }
}

impl Kept {
    fn of(about: &About, world: &Snapshot<'_>) -> Arc<Self> {
        let kept =
            world.derive(about.clone(), |kept: &mut Self, changed| kept.refresh(about, world, changed));
        if kept.is_of_now(world) {
            return kept;
        }
        // The domains were dropped and numbered again since it was brought up to date.
        let mut anew = Self::default();
        anew.refresh(about, world, &mut (0..world.places()).map(NodeId::new));
        Arc::new(anew)
    }

    /// Whether the numbers of its domains are still those that the domains have.
    fn is_of_now(&self, world: &Snapshot<'_>) -> bool {
        self.keys.iter().all(|sums| sums.edition == *world.domains(&sums.key).edition())
    }

    fn refresh(&mut self, about: &About, world: &Snapshot<'_>, changed: &mut dyn Iterator<Item = NodeId>) {
        let is_new = !self.is_of_now(world);
        let mut all = (0..world.places()).map(NodeId::new);
        let changed: &mut dyn Iterator<Item = NodeId> = if is_new { &mut all } else { changed };
        if is_new {
            *self = Self::default();
        }
        let mut domains: Vec<Arc<Domains>> = self.keys.iter().map(|sums| world.domains(&sums.key)).collect();
        self.of.resize(world.places(), Box::default());
        for id in changed {
            let said = world.believed(id).map(|ledger| about.read(ledger)).unwrap_or_default();
            let shares = said.into_iter().filter_map(|(key, said)| {
                let index = self.index(key, &mut domains, world);
                Some((index, domains.get(index)?.of(id)?, said))
            });
            let shares: Box<[(usize, u32, Said)]> = shares.collect();
            self.put(id, shares);
        }
    }

    /// Where sums by `key` are kept.
    fn index(&mut self, key: &Text, domains: &mut Vec<Arc<Domains>>, world: &Snapshot<'_>) -> usize {
        if let Some(index) = self.keys.iter().position(|sums| sums.key == *key) {
            return index;
        }
        let of_key = world.domains(key);
        let edition = of_key.edition().clone();
        self.keys.push(Sums { key: key.clone(), edition, by_domain: Vec::new(), total: Said::default() });
        domains.push(of_key);
        self.keys.len() - 1
    }

    /// Puts what a node adds in place of what it added.
    fn put(&mut self, id: NodeId, shares: Box<[(usize, u32, Said)]>) {
        let Some(place) = self.of.get_mut(id.index()) else { return };
        let before = std::mem::take(place);
        for (share, sign) in
            before.iter().map(|share| (share, -1)).chain(shares.iter().map(|share| (share, 1)))
        {
            let (index, domain, said) = share;
            let Some(sums) = self.keys.get_mut(*index) else { continue };
            let domain = *domain as usize;
            if domain >= sums.by_domain.len() {
                sums.by_domain.resize(domain + 1, Said::default());
            }
            sums.by_domain[domain] = sums.by_domain[domain].plus(*said, sign);
            sums.total = sums.total.plus(*said, sign);
        }
        if let Some(place) = self.of.get_mut(id.index()) {
            *place = shares;
        }
    }
}

impl Said {
    fn plus(self, other: Self, sign: i64) -> Self {
        Self { terms: self.terms + sign * other.terms, weight: self.weight + sign * other.weight }
    }
}
