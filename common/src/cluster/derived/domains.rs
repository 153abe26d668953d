//! The values that nodes have for a label, which are the domains of a topology, as small numbers. Entry point:
//! [`Snapshot::domains`].

use crate::cluster::{NodeId, Snapshot};
use crate::model::{ByAddress, Text};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Values that no node has any more are dropped when there are more numbers than twice the ids plus this.
const SPARE: usize = 1024;

/// Stands for a node without the label.
const NONE: u32 = u32::MAX;

/// The values that nodes have for one label, each as a small number.
#[derive(Debug, Default)]
pub struct Domains {
    numbers: BTreeMap<Text, u32>,
    /// [`NONE`] where the label is missing.
    of: Vec<u32>,
    numbering: DomainNumbering,
}

/// The identity of a numbering: numbers of different numberings must not be compared.
pub type DomainNumbering = ByAddress<u8>;

impl Domains {
    /// The number of the value that `node` has for the label; `None` if it lacks the label.
    pub fn of(&self, node: NodeId) -> Option<u32> {
        self.of.get(node.index()).copied().filter(|number| *number != NONE)
    }

    /// The number of `value`, if some node has or had it.
    pub fn number(&self, value: &str) -> Option<u32> {
        self.numbers.get(value).copied()
    }

    /// The values that some node has or had, each with its number.
    pub fn values(&self) -> impl Iterator<Item = (&Text, u32)> {
        self.numbers.iter().map(|(value, number)| (value, *number))
    }

    /// One more than the largest number.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether no node ever had the label.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub fn numbering(&self) -> &DomainNumbering {
        &self.numbering
    }

    fn set(&mut self, node: NodeId, value: Option<&str>) {
        let number = value.map(|value| match self.numbers.get(value) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
                self.numbers.insert(value.into(), number);
                number
            }
        });
        if let Some(known) = self.of.get_mut(node.index()) {
            *known = number.unwrap_or(NONE);
        }
    }
}

impl Snapshot<'_> {
    pub fn domains(&self, key: &Text) -> Arc<Domains> {
        self.derive(DomainsKey(key.clone()), |domains: &mut Domains, changed| {
            let mut all = (0..self.id_count()).map(NodeId::new);
            let is_bloated = domains.len() > 2 * self.id_count() + SPARE;
            let changed: &mut dyn Iterator<Item = NodeId> = if is_bloated { &mut all } else { changed };
            if is_bloated {
                *domains = Domains::default();
            }
            domains.of.resize(self.id_count(), NONE);
            for id in changed {
                domains.set(id, self.believed(id).and_then(|ledger| ledger.node.labels.get(key)));
            }
        })
    }
}

#[derive(PartialEq, Eq, Hash)]
struct DomainsKey(Text);
