//! One cluster: what is decided about it before its objects are written.

use serde_json::{Value, json};

use super::mix::Mix;
use super::nodes::{self, Plot};
use super::rng::Rng;
use super::volumes::Storage;
use super::{pods, volumes, workloads};

/// Pods on nodes are no more than this, so that a line stays small.
const PODS_MOST: u64 = 160;

/// A cluster in the making.
pub(super) struct Town {
    pub(super) mix: Mix,
    pub(super) nodes: Vec<Plot>,
    pub(super) storage: Storage,
}

impl Town {
    /// Decides on the nodes and the storage.
    pub(super) fn new(rng: &mut Rng, mix: &Mix) -> Self {
        let count = match rng.below(10) {
            0..=2 => rng.between(1, 5),
            3..=7 => rng.between(6, 20),
            _ => rng.between(21, 60),
        };
        let mut mix = mix.clone();
        if !rng.chance(mix.volumes * 2) {
            mix.volumes = 0;
        }
        let zones = rng.between(1, 4);
        let nodes = (0..count).map(|number| nodes::plot(rng, &mix, number, zones)).collect::<Vec<_>>();
        let storage = if mix.volumes > 0 { volumes::storage(rng, &nodes) } else { Storage::default() };
        Self { mix, nodes, storage }
    }

    /// All objects, by kind, as the case format names them.
    pub(super) fn objects(&mut self, rng: &mut Rng) -> Value {
        let nodes: Vec<Value> = self.nodes.iter().map(|plot| plot.object.clone()).collect();
        let crowd = rng.between(0, 5) * self.nodes.len() as u64;
        let pods: Vec<Value> =
            (0..crowd.min(PODS_MOST)).map(|number| pods::existing(self, rng, number)).collect();
        let mut objects = json!({ "nodes": nodes, "pods": pods });
        let storage = self.storage.objects(rng, &self.nodes);
        for (kind, list) in workloads::objects(rng).into_iter().chain(storage) {
            objects[kind] = json!(list);
        }
        objects
    }
}
