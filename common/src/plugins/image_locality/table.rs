//! The images of all nodes: on how many nodes each is, and how large. Kept, and updated for nodes that change. Entry point:
//! [`table`].
//!
//! Nodes may report different sizes for one name. kube-scheduler keeps the size that it read first. Here the first node in node
//! order decides, so that the size depends on the current nodes only. The two differ when nodes were not read in node order, or
//! when the node that was read first was removed or has reported another size since.

use crate::cluster::{NodeId, Snapshot};
use crate::model::{Image, Text};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The size of an image and its number of nodes, as kube-scheduler's `ImageStateSummary`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ImageSummary {
    pub(super) nodes: u32,
    /// The size in bytes.
    pub(super) size: i64,
}

#[derive(Debug, Default)]
pub(super) struct ImageTable {
    by_name: BTreeMap<Text, ImageState>,
    by_node: Vec<Option<NodeImages>>,
}

#[derive(Debug, PartialEq)]
struct NodeImages {
    order: u64,
    images: Box<[Arc<Image>]>,
}

/// All that nodes report of one image name.
#[derive(Debug, Default)]
struct ImageState {
    nodes: u32,
    /// The different sizes, and how many nodes report each; nearly always one.
    sizes: Vec<(i64, u32)>,
    /// The order of the first node and the size that it reports; `None` if this has to be searched again.
    first: Option<(u64, i64)>,
}

#[derive(PartialEq, Eq, Hash)]
struct ImageTableKey;

/// The images of all nodes. A supposed ledger is ignored: suppositions never change images.
pub(super) fn table(world: &Snapshot<'_>) -> Arc<ImageTable> {
    world.derive(ImageTableKey, |table: &mut ImageTable, changed| {
        table.by_node.resize_with(world.id_count(), || None);
        let mut touched = BTreeSet::new();
        for id in changed {
            let now = world
                .believed(id)
                .map(|ledger| NodeImages { order: world.order(id), images: ledger.node.images.clone() });
            table.replace(id, now, &mut touched);
        }
        table.find_first(touched);
    })
}

impl ImageTable {
    /// The summary of the image called `name`; `None` if no node has it.
    pub(super) fn get(&self, name: &str) -> Option<ImageSummary> {
        let state = self.by_name.get(name)?;
        let size = match (&state.sizes[..], state.first) {
            ([(size, _)], _) => *size,
            (_, first) => first?.1,
        };
        Some(ImageSummary { nodes: state.nodes, size })
    }

    fn replace(&mut self, id: NodeId, now: Option<NodeImages>, touched: &mut BTreeSet<Text>) {
        let Some(entry) = self.by_node.get_mut(id.index()) else { return };
        // Usually only the pods of the node changed.
        if *entry == now {
            return;
        }
        let before = std::mem::replace(entry, now);
        let after = entry.as_ref();
        let (old, new) = (sizes(before.as_ref()), sizes(after));
        let order = |images: Option<&NodeImages>| images.map_or(0, |images| images.order);
        let (old_order, new_order) = (order(before.as_ref()), order(after));
        let is_same = |name: &Text| old_order == new_order && old.get(name) == new.get(name);
        for (name, size) in old.iter().filter(|(name, _)| !is_same(name)) {
            if let Some(state) = self.by_name.get_mut(*name) {
                state.remove(old_order, *size);
                touched.insert(Text::clone(name));
            }
        }
        for (name, size) in new.iter().filter(|(name, _)| !is_same(name)) {
            self.by_name.entry(Text::clone(name)).or_default().add(new_order, *size);
            touched.insert(Text::clone(name));
        }
    }

    /// Removes names that no node has any more, and searches the first node of names with several sizes.
    fn find_first(&mut self, mut touched: BTreeSet<Text>) {
        touched.retain(|name| match self.by_name.get(name) {
            Some(state) if state.nodes > 0 => state.first.is_none() && state.sizes.len() > 1,
            _ => {
                self.by_name.remove(name);
                false
            }
        });
        if touched.is_empty() {
            return;
        }
        for node in self.by_node.iter().flatten() {
            for (name, size) in sizes(Some(node)) {
                if touched.contains(name)
                    && let Some(state) = self.by_name.get_mut(name)
                    && state.first.is_none_or(|(order, _)| node.order < order)
                {
                    state.first = Some((node.order, size));
                }
            }
        }
    }
}

impl ImageState {
    fn add(&mut self, order: u64, size: i64) {
        self.first = match self.first {
            _ if self.nodes == 0 => Some((order, size)),
            Some((first, _)) if order < first => Some((order, size)),
            first => first,
        };
        self.nodes += 1;
        match self.sizes.iter_mut().find(|(other, _)| *other == size) {
            Some((_, count)) => *count += 1,
            None => self.sizes.push((size, 1)),
        }
    }

    fn remove(&mut self, order: u64, size: i64) {
        self.first = self.first.filter(|(first, _)| *first != order);
        self.nodes = self.nodes.saturating_sub(1);
        self.sizes.retain_mut(|(other, count)| {
            *count -= u32::from(*other == size);
            *count > 0
        });
    }
}

/// The size of each image name of a node. A name that the node reports twice has the first of its sizes.
fn sizes(node: Option<&NodeImages>) -> BTreeMap<&Text, i64> {
    let mut sizes = BTreeMap::new();
    for image in node.iter().flat_map(|node| &node.images) {
        for name in &image.names {
            sizes.entry(name).or_insert(image.size);
        }
    }
    sizes
}
