//! The JSON of a picture: kind `ClusterPicture`. Texts that many nodes have in common are written once: a number in their place is an
//! index into `texts`. Within a version fields are only added.

use super::{Layer, NodeTile, Picture};
use crate::amount::is_bytes;
use crate::capacity::Room;
use crate::render::json::API_VERSION;
use crate::render::printable;
use crate::render::time::between;
use common::model::ResourceName;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// So many nodes have words of their own, in all layers together; of others the category is said.
const WORDS_MAX: usize = 12_000;

/// Texts, each once.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    at: BTreeMap<String, usize>,
}

impl Texts {
    fn index(&mut self, text: &str) -> usize {
        if let Some(at) = self.at.get(text) {
            return *at;
        }
        self.all.push(printable(text));
        self.at.insert(text.to_owned(), self.all.len() - 1);
        self.all.len() - 1
    }
}

impl Picture {
    /// The document.
    pub(crate) fn document(&self) -> Value {
        let (resources, mut texts) = (self.resources(), Texts::default());
        let nodes: Vec<Value> = self.tiles.iter().map(|tile| node(tile, &resources, &mut texts)).collect();
        let words_max = WORDS_MAX / self.layers.len().max(1);
        let layers = self.layers.iter().map(|one| layer(one, &self.tiles, &resources, words_max, &mut texts));
        let layers: Vec<Value> = layers.collect();
        let unit = |resource: &ResourceName| match resource {
            ResourceName::Cpu => "milli",
            resource if is_bytes(resource) => "bytes",
            _ => "",
        };
        let source = &self.source;
        json!({
            "apiVersion": API_VERSION,
            "kind": "ClusterPicture",
            "metadata": {
                "title": printable(&self.title),
                "cluster": printable(&source.name),
                "isSnapshot": source.is_snapshot,
                "readAt": self.read_at.to_string(),
                "generatedAt": source.made_at.to_string(),
                "age": between(self.read_at, source.made_at),
                "version": env!("CARGO_PKG_VERSION"),
            },
            "resources": resources.iter().map(|one| json!({ "name": one.as_str(), "unit": unit(one) })).collect::<Vec<_>>(),
            "nodes": nodes,
            "layers": layers,
            "texts": texts.all,
        })
    }

    /// The resources that are shown: cpu, memory and pods, and what else somebody asks for or has.
    pub(super) fn resources(&self) -> Vec<ResourceName> {
        let common = [ResourceName::Cpu, ResourceName::Memory, ResourceName::Pods];
        let rooms = self.tiles.iter().flat_map(|tile| [&tile.room.requested, &tile.room.reserved]);
        let asks = self.layers.iter().map(|layer| &layer.asks);
        let others: BTreeSet<String> = rooms
            .chain(asks)
            .flat_map(|amounts| amounts.iter().filter(|(_, amount)| *amount != 0))
            .filter(|(resource, _)| !common.contains(resource))
            .map(|(resource, _)| resource.to_string())
            .collect();
        common.into_iter().chain(others.iter().map(|name| ResourceName::from(name.as_str()))).collect()
    }
}

/// Allocatable, requested, reserved, free, of each resource.
fn amounts(room: &Room, resources: &[ResourceName]) -> Vec<[i64; 4]> {
    resources.iter().map(|resource| room.get(resource)).collect()
}

fn node(tile: &NodeTile, resources: &[ResourceName], texts: &mut Texts) -> Value {
    let reservations: Vec<Value> = tile
        .reservations
        .iter()
        .map(|one| {
            let [owner, amount, state, expires] =
                [&one.owner, &one.amount, &one.state, &one.expires].map(|text| texts.index(text));
            json!([printable(&one.name), owner, amount, state, expires])
        })
        .collect();
    let [status, pool, zone] = [&tile.status, &tile.pool, &tile.zone].map(|text| texts.index(text));
    json!({
        "name": tile.name, "status": status, "pool": pool, "zone": zone,
        "amounts": amounts(&tile.room, resources), "reservations": reservations,
    })
}

fn layer(
    layer: &Layer,
    tiles: &[NodeTile],
    resources: &[ResourceName],
    words_max: usize,
    texts: &mut Texts,
) -> Value {
    let category =
        |one: &super::Category| json!({ "label": printable(&one.label), "meaning": one.meaning.as_str() });
    let mut mark = |tile: &NodeTile| match layer.marks.get(&tile.name) {
        Some(mark) => {
            let words = if mark.rank <= words_max { mark.words.as_str() } else { "" };
            json!([mark.category, mark.rank, texts.index(words)])
        }
        None => Value::Null,
    };
    let marks: Vec<Value> = tiles.iter().map(&mut mark).collect();
    let remedies =
        layer.remedies.iter().map(|one| json!({ "words": printable(&one.words), "commands": one.commands }));
    json!({
        "title": printable(&layer.title),
        "lines": layer.lines.iter().map(|line| printable(line)).collect::<Vec<_>>(),
        "asks": resources.iter().map(|resource| layer.asks.get(resource)).collect::<Vec<_>>(),
        "categories": layer.categories.iter().map(category).collect::<Vec<_>>(),
        "marks": marks,
        "fixes": remedies.collect::<Vec<_>>(),
    })
}
