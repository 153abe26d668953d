//! Which images there are in the cluster: on how many nodes, and how large. Kept, and changed where nodes change.
//!
//! Nodes may report different sizes for one name. Upstream keeps the size that it heard first; here it is the size that
//! the first node in node order reports, so that it follows from the nodes alone. The two differ when nodes did not
//! come in node order, or when the one that was heard first has left or reports another size since.

use crate::cluster::{NodeId, Snapshot};
use crate::model::ids::Text;
use crate::model::node::Image;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How far an image has spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spread {
    /// How many nodes have it.
    pub(super) nodes: u32,
    /// How large it is.
    pub(super) size: i64,
}

/// The images of all nodes.
#[derive(Debug, Default)]
pub(super) struct Table {
    known: BTreeMap<Text, Known>,
    /// What each place brought in.
    brought: Vec<Option<Brought>>,
}

/// What a node brought in.
#[derive(Debug, PartialEq)]
struct Brought {
    order: u64,
    images: Box<[Arc<Image>]>,
}

/// What is known of a name.
#[derive(Debug, Default)]
struct Known {
    nodes: u32,
    /// The sizes that nodes report, and how many report each; nearly always one.
    sizes: Vec<(i64, u32)>,
    /// The first node in node order and the size that it reports; `None` if that is to be looked for.
    first: Option<(u64, i64)>,
}

/// Under which the table is kept.
#[derive(PartialEq, Eq, Hash)]
struct ImagesOfNodes;

/// The images of all nodes as we believe them to be. No supposition is about images.
pub(super) fn table(world: &Snapshot<'_>) -> Arc<Table> {
    world.derive(ImagesOfNodes, |table: &mut Table, changed| {
        table.brought.resize_with(world.places(), || None);
        let mut touched = BTreeSet::new();
        for id in changed {
            let now = world
                .believed(id)
                .map(|ledger| Brought { order: world.order(id), images: ledger.node.images.clone() });
            table.replace(id, now, &mut touched);
        }
        table.find_first(touched);
    })
}

impl Table {
    /// How far the image called `name` has spread; `None` if no node has it.
    pub(super) fn get(&self, name: &str) -> Option<Spread> {
        let known = self.known.get(name)?;
        let size = match (&known.sizes[..], known.first) {
            ([(size, _)], _) => *size,
            (_, first) => first?.1,
        };
        Some(Spread { nodes: known.nodes, size })
    }

    fn replace(&mut self, id: NodeId, now: Option<Brought>, touched: &mut BTreeSet<Text>) {
        let Some(place) = self.brought.get_mut(id.index()) else { return };
        // Mostly a pod came or left.
        if *place == now {
            return;
        }
        let before = std::mem::replace(place, now);
        let after = place.as_ref();
        let (old, new) = (sizes(before.as_ref()), sizes(after));
        let is_at = |brought: Option<&Brought>| brought.map_or(0, |brought| brought.order);
        let (old_order, new_order) = (is_at(before.as_ref()), is_at(after));
        let is_same = |name: &Text| old_order == new_order && old.get(name) == new.get(name);
        for (name, size) in old.iter().filter(|(name, _)| !is_same(name)) {
            if let Some(known) = self.known.get_mut(*name) {
                known.remove(old_order, *size);
                touched.insert(Text::clone(name));
            }
        }
        for (name, size) in new.iter().filter(|(name, _)| !is_same(name)) {
            self.known.entry(Text::clone(name)).or_default().add(new_order, *size);
            touched.insert(Text::clone(name));
        }
    }

    /// Forgets names that nobody has any more, and finds the first node of those where it matters and is not known.
    fn find_first(&mut self, mut touched: BTreeSet<Text>) {
        touched.retain(|name| match self.known.get(name) {
            Some(known) if known.nodes > 0 => known.first.is_none() && known.sizes.len() > 1,
            _ => {
                self.known.remove(name);
                false
            }
        });
        if touched.is_empty() {
            return;
        }
        for brought in self.brought.iter().flatten() {
            for (name, size) in sizes(Some(brought)) {
                if touched.contains(name)
                    && let Some(known) = self.known.get_mut(name)
                    && known.first.is_none_or(|(order, _)| brought.order < order)
                {
                    known.first = Some((brought.order, size));
                }
            }
        }
    }
}

impl Known {
    fn add(&mut self, order: u64, size: i64) {
        self.first = match self.first {
            _ if self.nodes == 0 => Some((order, size)),
            Some((first, _)) if order < first => Some((order, size)),
            known => known,
        };
        self.nodes += 1;
        match self.sizes.iter_mut().find(|(known, _)| *known == size) {
            Some((_, count)) => *count += 1,
            None => self.sizes.push((size, 1)),
        }
    }

    fn remove(&mut self, order: u64, size: i64) {
        self.first = self.first.filter(|(first, _)| *first != order);
        self.nodes = self.nodes.saturating_sub(1);
        self.sizes.retain_mut(|(known, count)| {
            *count -= u32::from(*known == size);
            *count > 0
        });
    }
}

/// The size of each name. A name that a node reports twice counts once, with the size that comes first.
fn sizes(brought: Option<&Brought>) -> BTreeMap<&Text, i64> {
    let mut sizes = BTreeMap::new();
    for image in brought.iter().flat_map(|brought| &brought.images) {
        for name in &image.names {
            sizes.entry(name).or_insert(image.size);
        }
    }
    sizes
}
