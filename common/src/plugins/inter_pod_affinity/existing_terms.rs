//! The affinity terms of existing pods that match an incoming pod, summed up by domain. Kept, and corrected for nodes that change.
//! Entry point: [`ExistingTerms::of`].

use super::label_keys::pod_attributes;
use super::term::PodAttributes;
use crate::cluster::{DomainNumbering, Domains, Ledger, NodeId, Snapshot};
use crate::model::{Pod, PodAffinityTerm, Text};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TermKind {
    /// Required anti-affinity terms, for the filter.
    RequiredAntiAffinity,
    /// All terms that score: preferred ones, and required affinity with this weight.
    Scored(i32),
}

/// The matching terms in one domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TermSum {
    pub(super) terms: i64,
    pub(super) weight: i64,
}

/// The terms of existing pods that match one pod, for each topology key.
pub(super) struct ExistingTerms {
    sums: Arc<TermSums>,
    pub(super) by_key: Vec<TermsByKey>,
}

pub(super) struct TermsByKey {
    pub(super) key: Text,
    pub(super) domains: Arc<Domains>,
    /// The index of the key in [`TermSums`]; `None` if only the supposed ledger has such terms.
    index: Option<usize>,
    /// The difference that the supposed ledger makes, and the domain of its node.
    shift: Option<(u32, TermSum)>,
}

/// The key under which the sums are kept.
#[derive(Clone, PartialEq, Eq, Hash)]
struct TermQuery {
    kind: TermKind,
    attributes: PodAttributes,
}

#[derive(Debug, Default)]
struct TermSums {
    keys: Vec<KeySums>,
    /// What each node adds: the index of the key, the domain, the terms.
    by_node: Vec<Box<[(usize, u32, TermSum)]>>,
}

#[derive(Debug)]
struct KeySums {
    key: Text,
    /// The numbering of domains that `by_domain` was computed with.
    numbering: DomainNumbering,
    by_domain: Vec<TermSum>,
    total: TermSum,
}

impl ExistingTerms {
    /// The terms of existing pods that match `pod`; `None` if there are none.
    pub(super) fn of(pod: &Pod, world: &Snapshot<'_>, kind: TermKind) -> Option<Self> {
        let pod_affinity = world.pod_affinity();
        let pods_with_terms =
            if kind == TermKind::RequiredAntiAffinity { pod_affinity.repelling } else { pod_affinity.all };
        if pods_with_terms == 0 {
            return None;
        }
        let query = TermQuery { kind, attributes: pod_attributes(pod, world) };
        let sums = TermSums::of(&query, world);
        let by_key = |(index, sums): (usize, &KeySums)| TermsByKey {
            key: sums.key.clone(),
            domains: world.domains(&sums.key),
            index: Some(index),
            shift: None,
        };
        let mut by_key: Vec<TermsByKey> = sums.keys.iter().enumerate().map(by_key).collect();
        shift(&mut by_key, &query, world);
        by_key.retain(|one| one.shift.is_some() || one.sums(&sums).is_some_and(|sums| sums.total.terms > 0));
        let existing = Self { sums, by_key };
        existing.has_terms().then_some(existing)
    }

    fn has_terms(&self) -> bool {
        let total = |one: &TermsByKey| {
            let believed = one.sums(&self.sums).map_or(0, |sums| sums.total.terms);
            believed + one.shift.map_or(0, |(_, difference)| difference.terms)
        };
        self.by_key.iter().any(|one| total(one) > 0)
    }

    /// Whether a matching term applies to the domain of the node.
    pub(super) fn apply_to(&self, id: NodeId) -> bool {
        let applies =
            |one: &TermsByKey| one.domains.of(id).is_some_and(|domain| self.at(one, domain).terms > 0);
        self.by_key.iter().any(applies)
    }

    pub(super) fn at(&self, terms: &TermsByKey, domain: u32) -> TermSum {
        let sums = terms.sums(&self.sums);
        let sum = sums.and_then(|sums| sums.by_domain.get(domain as usize)).copied().unwrap_or_default();
        match terms.shift {
            Some((shifted, difference)) if shifted == domain => sum.plus(difference, 1),
            _ => sum,
        }
    }
}

impl TermsByKey {
    fn sums<'k>(&self, sums: &'k TermSums) -> Option<&'k KeySums> {
        sums.keys.get(self.index?)
    }
}

/// Adds the difference between the supposed ledger, if there is one, and the ledger of the same node in the belief.
fn shift(by_key: &mut Vec<TermsByKey>, query: &TermQuery, world: &Snapshot<'_>) {
    let Some(supposed) = world.supposed() else { return };
    let Some(believed) = world.believed(supposed.id) else { return };
    let mut differences = query.read(supposed);
    for (key, sum) in query.read(believed) {
        let difference = differences.entry(key).or_default();
        *difference = difference.plus(sum, -1);
    }
    for (key, difference) in
        differences.into_iter().filter(|(_, difference)| *difference != TermSum::default())
    {
        let index = by_key.iter().position(|one| one.key == *key).unwrap_or_else(|| {
            let domains = world.domains(key);
            by_key.push(TermsByKey { key: key.clone(), domains, index: None, shift: None });
            by_key.len() - 1
        });
        by_key[index].shift = by_key[index].domains.of(supposed.id).map(|domain| (domain, difference));
    }
}

impl TermQuery {
    /// The matching terms of the pods of a node, by topology key. Terms whose topology key the node lacks are skipped.
    fn read<'l>(&self, ledger: &'l Ledger) -> BTreeMap<&'l Text, TermSum> {
        let mut sums = BTreeMap::new();
        let pod_affinity = ledger.pod_affinity;
        if pod_affinity.all == 0
            || (self.kind == TermKind::RequiredAntiAffinity && pod_affinity.repelling == 0)
        {
            return sums;
        }
        for pod in &ledger.pods {
            let Some(affinity) = pod.spec.affinity.as_deref() else { continue };
            let mut add = |term: &'l PodAffinityTerm, weight: i64| {
                if ledger.node.labels.has(&term.topology_key) && self.attributes.is_matched_by(pod, term) {
                    let sum: &mut TermSum = sums.entry(&term.topology_key).or_default();
                    *sum = sum.plus(TermSum { terms: 1, weight }, 1);
                }
            };
            match self.kind {
                TermKind::RequiredAntiAffinity => affinity.anti.required.iter().for_each(|term| add(term, 0)),
                TermKind::Scored(hard) => {
                    let required = affinity.pod.required.iter().filter(|_| hard > 0);
                    required.for_each(|term| add(term, i64::from(hard)));
                    affinity.pod.preferred.iter().for_each(|(weight, term)| add(term, i64::from(*weight)));
                    affinity.anti.preferred.iter().for_each(|(weight, term)| add(term, -i64::from(*weight)));
                }
            }
        }
        sums
    }
}

impl TermSums {
    fn of(query: &TermQuery, world: &Snapshot<'_>) -> Arc<Self> {
        let sums =
            world.derive(query.clone(), |sums: &mut Self, changed| sums.refresh(query, world, changed));
        if sums.has_current_numbering(world) {
            return sums;
        }
        // The domains were numbered anew after the sums were refreshed.
        let mut anew = Self::default();
        anew.refresh(query, world, &mut (0..world.id_count()).map(NodeId::new));
        Arc::new(anew)
    }

    /// Whether the sums use the current numbering of domains.
    fn has_current_numbering(&self, world: &Snapshot<'_>) -> bool {
        self.keys.iter().all(|sums| sums.numbering == *world.domains(&sums.key).numbering())
    }

    fn refresh(
        &mut self,
        query: &TermQuery,
        world: &Snapshot<'_>,
        changed: &mut dyn Iterator<Item = NodeId>,
    ) {
        let is_new = !self.has_current_numbering(world);
        let mut all = (0..world.id_count()).map(NodeId::new);
        let changed: &mut dyn Iterator<Item = NodeId> = if is_new { &mut all } else { changed };
        if is_new {
            *self = Self::default();
        }
        let mut domains: Vec<Arc<Domains>> = self.keys.iter().map(|sums| world.domains(&sums.key)).collect();
        self.by_node.resize(world.id_count(), Box::default());
        for id in changed {
            let sums = world.believed(id).map(|ledger| query.read(ledger)).unwrap_or_default();
            let shares = sums.into_iter().filter_map(|(key, sum)| {
                let index = self.index(key, &mut domains, world);
                Some((index, domains.get(index)?.of(id)?, sum))
            });
            let shares: Box<[(usize, u32, TermSum)]> = shares.collect();
            self.replace(id, shares);
        }
    }

    /// The index of `key` in `keys`; it is added if it is new.
    fn index(&mut self, key: &Text, domains: &mut Vec<Arc<Domains>>, world: &Snapshot<'_>) -> usize {
        if let Some(index) = self.keys.iter().position(|sums| sums.key == *key) {
            return index;
        }
        let of_key = world.domains(key);
        let numbering = of_key.numbering().clone();
        self.keys.push(KeySums {
            key: key.clone(),
            numbering,
            by_domain: Vec::new(),
            total: TermSum::default(),
        });
        domains.push(of_key);
        self.keys.len() - 1
    }

    fn replace(&mut self, id: NodeId, shares: Box<[(usize, u32, TermSum)]>) {
        let Some(entry) = self.by_node.get_mut(id.index()) else { return };
        let before = std::mem::take(entry);
        for (share, sign) in
            before.iter().map(|share| (share, -1)).chain(shares.iter().map(|share| (share, 1)))
        {
            let (index, domain, sum) = share;
            let Some(sums) = self.keys.get_mut(*index) else { continue };
            let domain = *domain as usize;
            if domain >= sums.by_domain.len() {
                sums.by_domain.resize(domain + 1, TermSum::default());
            }
            sums.by_domain[domain] = sums.by_domain[domain].plus(*sum, sign);
            sums.total = sums.total.plus(*sum, sign);
        }
        if let Some(entry) = self.by_node.get_mut(id.index()) {
            *entry = shares;
        }
    }
}

impl TermSum {
    fn plus(self, other: Self, sign: i64) -> Self {
        Self { terms: self.terms + sign * other.terms, weight: self.weight + sign * other.weight }
    }
}
