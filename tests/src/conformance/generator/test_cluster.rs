//! One cluster: what is decided about it before its objects are written.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::mix::Mix;
use super::nodes::{self, GeneratedNode};
use super::rng::Rng;
use super::volumes::Storage;
use super::{PODS_EACH, pods, volumes, workloads};

/// Pods on nodes are no more than this, so that a line stays small.
const PODS_MOST: u64 = 160;

/// A cluster in the making.
pub(super) struct TestCluster {
    pub(super) mix: Mix,
    pub(super) nodes: Vec<GeneratedNode>,
    pub(super) storage: Storage,
    /// It is full, mostly of pods that others could displace.
    pub(super) crowded: bool,
    /// Nodes on which a pod is ending because another displaced it.
    pub(super) cleared: Vec<String>,
    /// The pod to be placed that will not have started when those after it are.
    pub(super) unstarted: u64,
    /// The ports of the hosts that pods on them have.
    pub(super) ports: BTreeSet<String>,
    /// Node, priority and start of pods on nodes.
    started: BTreeSet<(String, i64, u64)>,
    /// The pods that are there.
    pods: Vec<Value>,
}

impl TestCluster {
    /// Decides on the nodes and the storage of the cluster with this number.
    pub(super) fn new(rng: &mut Rng, mix: &Mix, number: u64) -> Self {
        // Spread over the clusters, so that any run of them has its share.
        let crowded = number * 37 % 100 < mix.crowded;
        let mix = if crowded { mix.crowd() } else { mix.clone() };
        let count = match rng.below(10) {
            0 => rng.between(1, 5),
            1..=7 => rng.between(6, 20),
            _ if crowded => rng.between(12, 25),
            _ => rng.between(21, 60),
        };
        let zones = *rng.pick(&[1, 2, 3, 3, 4]);
        let nodes =
            (0..count).map(|number| nodes::generated_node(rng, &mix, number, zones)).collect::<Vec<_>>();
        let storage = if mix.volumes > 0 { volumes::storage(rng, &nodes) } else { Storage::default() };
        Self {
            mix,
            nodes,
            storage,
            crowded,
            cleared: Vec::new(),
            unstarted: rng.below(PODS_EACH),
            ports: BTreeSet::new(),
            started: BTreeSet::new(),
            pods: Vec::new(),
        }
    }

    /// Fills the nodes.
    pub(super) fn settle(&mut self, rng: &mut Rng) {
        let each = if self.crowded { rng.between(5, 7) } else { rng.between(0, 4) };
        let crowd = (each * self.nodes.len() as u64).min(PODS_MOST);
        self.pods = (0..crowd).map(|number| pods::existing(self, rng, number)).collect();
    }

    /// The minute in which a pod with such a priority started on a node. On other nodes it is often the same; on this one
    /// never, because upstream has no rule for which of two such pods has to go first.
    pub(super) fn start(&mut self, rng: &mut Rng, node: &str, priority: i64) -> u64 {
        let mut minute = rng.below(6);
        while !self.started.insert((node.to_owned(), priority, minute)) {
            minute += 1;
        }
        minute
    }

    /// All objects, by kind, as the case format names them.
    pub(super) fn objects(&self, rng: &mut Rng) -> Value {
        let nodes: Vec<Value> =
            self.nodes.iter().map(|generated_node| generated_node.object.clone()).collect();
        let mut objects = json!({ "nodes": nodes, "pods": self.pods });
        let storage = self.storage.objects(rng, &self.nodes);
        for (kind, list) in workloads::objects(rng).into_iter().chain(storage) {
            objects[kind] = json!(list);
        }
        objects
    }
}
