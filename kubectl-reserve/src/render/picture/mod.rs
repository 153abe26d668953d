//! The picture of a cluster, for `-o html`, `-o markdown` and pages: its nodes as tiles, and layers, each of which says something about
//! every node, like why a pod does not fit there. Everything in it was decided elsewhere (`explain`, `fit`, `reservations`).
//!
//! `tiles` makes the nodes, `layers` the layers, `document` the JSON that `kubectl-reserve/web/picture.js` draws. `html` and `markdown`
//! are reports to share. What gets in is copied field by field, so that secrets, variables, arguments and annotations stay out.

mod document;
mod html;
mod layers;
mod markdown;
#[cfg(test)]
mod tests;
mod tiles;

pub(crate) use layers::{of_fit, of_nodes, of_report, of_reservations};
pub(crate) use tiles::{of_rows, of_snapshot};

use crate::capacity::Room;
use common::model::Resources;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::Path;

/// A report to share.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) title: String,
    pub(crate) source: PictureSource,
    /// When the cluster was read, by its own time.
    pub(crate) read_at: Timestamp,
    pub(crate) tiles: Vec<NodeTile>,
    pub(crate) layers: Vec<Layer>,
}

/// Where the cluster was read from.
#[derive(Clone, Debug)]
pub(crate) struct PictureSource {
    name: String,
    is_snapshot: bool,
    made_at: Timestamp,
}

/// A node.
#[derive(Clone, Debug)]
pub(crate) struct NodeTile {
    name: String,
    status: String,
    pool: String,
    zone: String,
    room: Room,
    reservations: Vec<TileReservation>,
}

/// A reservation on a node, in words.
#[derive(Clone, Debug)]
struct TileReservation {
    name: String,
    owner: String,
    amount: String,
    state: String,
    expires: String,
}

/// What is said about every node, for example about one pod.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    /// What one pod requests.
    asks: Resources,
    /// The entries of the legend; those with most nodes first.
    categories: Vec<Category>,
    /// By the name of the node.
    marks: BTreeMap<String, Mark>,
    remedies: Vec<Remedy>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Category {
    label: String,
    meaning: Meaning,
}

/// How a category is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Fits,
    Blocked,
    Plain,
}

/// What a layer says about one node.
#[derive(Clone, Debug)]
struct Mark {
    category: usize,
    /// How near the pod comes to fitting: 1 is the nearest, 0 fits.
    rank: usize,
    words: String,
}

/// A fix, with its commands.
#[derive(Clone, Debug)]
struct Remedy {
    words: String,
    commands: Vec<String>,
}

impl PictureSource {
    /// An API server, with the context if one was named.
    pub(crate) fn server(server: &str, context: Option<&str>, made_at: Timestamp) -> Self {
        let name = context.map_or_else(|| server.to_owned(), |context| format!("{context} ({server})"));
        Self { name, is_snapshot: false, made_at }
    }

    /// A saved snapshot; of its path only the last part is shown.
    pub(crate) fn snapshot(path: &Path, made_at: Timestamp) -> Self {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self { name, is_snapshot: true, made_at }
    }
}

impl Meaning {
    fn as_str(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Blocked => "blocked",
            Self::Plain => "plain",
        }
    }
}

impl Layer {
    /// Puts the node into the category with this label, which is added if it is new.
    fn mark(&mut self, node: &str, label: &str, meaning: Meaning, rank: usize, words: String) {
        let known = self.categories.iter().position(|category| category.label == label);
        let category = known.unwrap_or_else(|| {
            self.categories.push(Category { label: label.to_owned(), meaning });
            self.categories.len() - 1
        });
        self.marks.insert(node.to_owned(), Mark { category, rank, words });
    }

    /// The number of nodes of each category.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.categories.len()];
        for mark in self.marks.values() {
            counts.get_mut(mark.category).into_iter().for_each(|count| *count += 1);
        }
        counts
    }

    /// The names of the nodes of a category, the nearest first.
    fn nearest(&self, category: usize) -> Vec<&str> {
        let mut marks: Vec<_> = self.marks.iter().filter(|(_, mark)| mark.category == category).collect();
        marks.sort_by_key(|(name, mark)| (mark.rank, *name));
        marks.into_iter().map(|(name, _)| name.as_str()).collect()
    }
}
