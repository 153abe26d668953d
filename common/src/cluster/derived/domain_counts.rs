//! Counts by topology domain: the sum over all nodes with the same value of a label. The sums are computed once, and corrected for
//! nodes that change. Entry point: [`Snapshot::counts`].

use crate::cluster::{DomainNumbering, Domains, Ledger, NodeId, Snapshot};
use crate::model::ids::Text;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

/// Something to be counted in each domain of a label. The fields of the type tell two questions of one type apart: they are the key
/// of the cache.
pub trait PerDomain: Hash + Eq + Clone + Send + 'static {
    fn key(&self) -> &Text;

    /// The count that a node adds to its domain; `None` if the node does not count, so that a domain of such nodes only does not
    /// exist.
    fn read(&self, ledger: &Ledger) -> Option<u32>;

    /// How much more a node adds with the supposed ledger than with the believed one.
    fn difference(&self, believed: &Ledger, supposed: &Ledger) -> i64 {
        let count = |ledger: &Ledger| self.read(ledger).map_or(0, i64::from);
        count(supposed) - count(believed)
    }
}

#[derive(Clone, Debug)]
pub struct DomainCounts {
    domains: Arc<Domains>,
    domain_sums: Arc<DomainSums>,
    /// The domain of the node with the supposed ledger, and what its count differs by.
    shift: Option<(u32, i64)>,
}

#[derive(Debug, Default)]
struct DomainSums {
    /// For each node its domain and what it adds.
    of: Vec<Option<(Option<u32>, u32)>>,
    sums: Vec<DomainSum>,
    /// The sum of the nodes that lack the label.
    unlabelled: i64,
    domains_by_count: BTreeMap<i64, u32>,
    len: usize,
    total: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct DomainSum {
    count: i64,
    nodes: u32,
}

impl DomainCounts {
    pub fn domain(&self, node: NodeId) -> Option<u32> {
        self.domains.of(node)
    }

    pub fn domains(&self) -> &Domains {
        &self.domains
    }

    /// The count of a domain; 0 if it does not exist.
    pub fn at(&self, domain: u32) -> i64 {
        let count = self.domain_sums.sums.get(domain as usize).map_or(0, |sum| sum.count);
        match self.shift {
            Some((shifted, by)) if shifted == domain => count + by,
            _ => count,
        }
    }

    /// Every existing domain with its count, in the order of the label's values.
    pub fn by_domain(&self) -> Vec<(Text, i64)> {
        let is_there =
            |domain: u32| self.domain_sums.sums.get(domain as usize).is_some_and(|sum| sum.nodes > 0);
        let there = self.domains.values().filter(|(_, domain)| is_there(*domain));
        there.map(|(value, domain)| (value.clone(), self.at(domain))).collect()
    }

    /// The sum of the nodes that lack the label.
    pub fn unlabelled(&self) -> i64 {
        self.domain_sums.unlabelled
    }

    pub fn len(&self) -> usize {
        self.domain_sums.len
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn total(&self) -> i64 {
        self.domain_sums.total + self.shift.map_or(0, |(_, by)| by)
    }

    pub fn lowest(&self) -> Option<i64> {
        let domains_by_count = &self.domain_sums.domains_by_count;
        let Some((domain, by)) = self.shift else { return domains_by_count.keys().next().copied() };
        let before = self.domain_sums.sums.get(domain as usize).map_or(0, |sum| sum.count);
        let is_others = |(level, domains): &(&i64, &u32)| **level != before || **domains > 1;
        let others = domains_by_count.iter().find(is_others).map(|(level, _)| *level);
        Some(others.map_or(before + by, |others| others.min(before + by)))
    }
}

impl DomainSums {
    fn refresh(
        &mut self,
        domains: &Domains,
        id_count: usize,
        changed: &mut dyn Iterator<Item = NodeId>,
        read: impl Fn(NodeId) -> Option<u32>,
    ) {
        self.of.resize(id_count, None);
        self.sums.resize(domains.len(), DomainSum::default());
        for id in changed {
            let share = read(id).map(|count| (domains.of(id), count));
            let Some(known) = self.of.get_mut(id.index()) else { continue };
            let before = std::mem::replace(known, share);
            if before != share {
                self.add(before, -1);
                self.add(share, 1);
            }
        }
    }

    /// Adds the share of a node, or subtracts it if `sign` is -1.
    fn add(&mut self, share: Option<(Option<u32>, u32)>, sign: i64) {
        let Some((domain, count)) = share else { return };
        let count = i64::from(count) * sign;
        let Some(domain) = domain else {
            self.unlabelled += count;
            return;
        };
        let Some(sum) = self.sums.get_mut(domain as usize) else { return };
        let before = *sum;
        sum.count += count;
        sum.nodes = if sign < 0 { sum.nodes.saturating_sub(1) } else { sum.nodes + 1 };
        let now = *sum;
        self.total += count;
        self.count_domain(before, false);
        self.count_domain(now, true);
    }

    /// Adds a domain with this sum to `domains_by_count`, or removes one.
    fn count_domain(&mut self, sum: DomainSum, is_there: bool) {
        if sum.nodes == 0 {
            return;
        }
        let domains = self.domains_by_count.entry(sum.count).or_default();
        if is_there {
            *domains += 1;
            self.len += 1;
            return;
        }
        *domains = domains.saturating_sub(1);
        if *domains == 0 {
            self.domains_by_count.remove(&sum.count);
        }
        self.len = self.len.saturating_sub(1);
    }
}

impl Snapshot<'_> {
    pub fn counts<Q: PerDomain>(&self, question: &Q) -> DomainCounts {
        let domains = self.domains(question.key());
        let key = DomainSumsKey { question: question.clone(), numbering: domains.numbering().clone() };
        let domain_sums = self.derive(key, |domain_sums: &mut DomainSums, changed| {
            let read = |id: NodeId| self.believed(id).and_then(|ledger| question.read(ledger));
            domain_sums.refresh(&domains, self.id_count(), changed, read);
        });
        let shift = self.supposed().and_then(|supposed| {
            let domain = domains.of(supposed.id)?;
            Some((domain, question.difference(self.believed(supposed.id)?, supposed)))
        });
        DomainCounts { domains, domain_sums, shift: shift.filter(|(_, by)| *by != 0) }
    }
}

#[derive(PartialEq, Eq, Hash)]
struct DomainSumsKey<Q> {
    question: Q,
    numbering: DomainNumbering,
}
