//! Counts by domain: what nodes add up to that have the same value for a label. Summed up once, and corrected where
//! nodes change.

use super::domains::{Domains, Edition};
use super::ledger::Ledger;
use super::nodes::NodeId;
use super::snapshot::Snapshot;
use crate::model::ids::Text;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

/// Something to be counted in each domain of a label. What differs between two questions of one type is in the fields,
/// by which they are told apart.
pub trait PerDomain: Hash + Eq + Clone + Send + 'static {
    /// The label.
    fn key(&self) -> &Text;

    /// What a node adds to its domain; `None` if it has no part in it, so that there need not be such a domain.
    fn read(&self, ledger: &Ledger) -> Option<u32>;

    /// By how much a node would add more if its books were otherwise.
    fn difference(&self, believed: &Ledger, supposed: &Ledger) -> i64 {
        let count = |ledger: &Ledger| self.read(ledger).map_or(0, i64::from);
        count(supposed) - count(believed)
    }
}

/// The counts of all domains.
#[derive(Clone, Debug)]
pub struct Counts {
    domains: Arc<Domains>,
    tally: Arc<Tally>,
    /// What is different in one domain if the books of a node are as supposed.
    shift: Option<(u32, i64)>,
}

#[derive(Debug, Default)]
struct Tally {
    /// What each node adds to which domain.
    of: Vec<Option<(Option<u32>, u32)>>,
    sums: Vec<Sum>,
    /// The sum of the nodes that lack the label.
    unlabelled: i64,
    /// How many domains there are of each count.
    levels: BTreeMap<i64, u32>,
    /// How many domains there are.
    len: usize,
    total: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: i64,
    nodes: u32,
}

impl Counts {
    /// The number of the domain of `node`; `None` if it lacks the label.
    pub fn domain(&self, node: NodeId) -> Option<u32> {
        self.domains.of(node)
    }

    /// All values of the label.
    pub fn domains(&self) -> &Domains {
        &self.domains
    }

    /// The count of a domain; 0 where there is none.
    pub fn at(&self, domain: u32) -> i64 {
        let count = self.tally.sums.get(domain as usize).map_or(0, |sum| sum.count);
        match self.shift {
            Some((shifted, by)) if shifted == domain => count + by,
            _ => count,
        }
    }

    /// Every domain that counts, with its count, in the order of the label's values.
    pub fn by_domain(&self) -> Vec<(Text, i64)> {
        let is_there = |domain: u32| self.tally.sums.get(domain as usize).is_some_and(|sum| sum.nodes > 0);
        let there = self.domains.values().filter(|(_, domain)| is_there(*domain));
        there.map(|(value, domain)| (value.clone(), self.at(domain))).collect()
    }

    /// The sum of the nodes that lack the label.
    pub fn unlabelled(&self) -> i64 {
        self.tally.unlabelled
    }

    /// How many domains there are.
    pub fn len(&self) -> usize {
        self.tally.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sum of all domains.
    pub fn total(&self) -> i64 {
        self.tally.total + self.shift.map_or(0, |(_, by)| by)
    }

    /// The lowest count of any domain.
    pub fn lowest(&self) -> Option<i64> {
        let levels = &self.tally.levels;
        let Some((domain, by)) = self.shift else { return levels.keys().next().copied() };
        let before = self.tally.sums.get(domain as usize).map_or(0, |sum| sum.count);
        let is_others = |(level, domains): &(&i64, &u32)| **level != before || **domains > 1;
        let others = levels.iter().find(is_others).map(|(level, _)| *level);
        Some(others.map_or(before + by, |others| others.min(before + by)))
    }
}

impl Tally {
    fn refresh(
        &mut self,
        domains: &Domains,
        places: usize,
        changed: &mut dyn Iterator<Item = NodeId>,
        read: impl Fn(NodeId) -> Option<u32>,
    ) {
        self.of.resize(places, None);
        self.sums.resize(domains.len(), Sum::default());
        for id in changed {
            let share = read(id).map(|count| (domains.of(id), count));
            let Some(place) = self.of.get_mut(id.index()) else { continue };
            let before = std::mem::replace(place, share);
            if before != share {
                self.add(before, -1);
                self.add(share, 1);
            }
        }
    }

    /// Adds what a node adds, or takes it away.
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
        self.level(before, false);
        self.level(now, true);
    }

    /// Notes that there is a domain with this sum, or no longer is.
    fn level(&mut self, sum: Sum, is_there: bool) {
        if sum.nodes == 0 {
            return;
        }
        let domains = self.levels.entry(sum.count).or_default();
        if is_there {
            *domains += 1;
            self.len += 1;
            return;
        }
        *domains = domains.saturating_sub(1);
        if *domains == 0 {
            self.levels.remove(&sum.count);
        }
        self.len = self.len.saturating_sub(1);
    }
}

impl Snapshot<'_> {
    /// What is counted in each domain.
    pub fn counts<Q: PerDomain>(&self, question: &Q) -> Counts {
        let domains = self.domains(question.key());
        let of = TallyOf { question: question.clone(), edition: domains.edition().clone() };
        let tally = self.derive(of, |tally: &mut Tally, changed| {
            let read = |id: NodeId| self.believed(id).and_then(|ledger| question.read(ledger));
            tally.refresh(&domains, self.places(), changed, read);
        });
        let shift = self.supposed().and_then(|supposed| {
            let domain = domains.of(supposed.id)?;
            Some((domain, question.difference(self.believed(supposed.id)?, supposed)))
        });
        Counts { domains, tally, shift: shift.filter(|(_, by)| *by != 0) }
    }
}

#[derive(PartialEq, Eq, Hash)]
struct TallyOf<Q> {
    question: Q,
    /// The numbering of the domains.
    edition: Edition,
}
