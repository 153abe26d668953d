//! Generates one cluster: nodes and storage ([`TestCluster::new`]), then pods on the nodes ([`TestCluster::settle`]), then the JSON
//! of all objects ([`TestCluster::objects`]).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::mix::Mix;
use super::nodes::{self, GeneratedNode};
use super::rng::Rng;
use super::volumes::Storage;
use super::{PODS_EACH, pods, volumes, workloads};

/// The most pods on nodes, so that a line stays small.
const PODS_MOST: u64 = 160;

/// A cluster that is being generated.
pub(super) struct TestCluster {
    pub(super) mix: Mix,
    pub(super) nodes: Vec<GeneratedNode>,
    pub(super) storage: Storage,
    /// Whether the cluster is full, mostly with pods that can be preempted.
    pub(super) crowded: bool,
    /// Nodes with a terminating pod that was preempted.
    pub(super) cleared: Vec<String>,
    /// The number of the pod to schedule that has no start time.
    pub(super) unstarted: u64,
    /// The host ports in use, each with its node and address.
    pub(super) ports: BTreeSet<String>,
    /// Node, priority and start time of the pods on nodes.
    started: BTreeSet<(String, i64, u64)>,
    /// The pods on nodes.
    pods: Vec<Value>,
}

impl TestCluster {
    /// Decides on the nodes and the storage of the cluster with this number.
    pub(super) fn new(rng: &mut Rng, mix: &Mix, number: u64) -> Self {
        // Not random, so that any series of clusters has its share of crowded ones.
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

    /// Puts pods on the nodes.
    pub(super) fn settle(&mut self, rng: &mut Rng) {
        let each = if self.crowded { rng.between(5, 7) } else { rng.between(0, 4) };
        let crowd = (each * self.nodes.len() as u64).min(PODS_MOST);
        self.pods = (0..crowd).map(|number| pods::existing(self, rng, number)).collect();
    }

    /// The minute in which a pod of this priority started on a node. It is unique on the node, because upstream has no rule for the
    /// order of two victims with the same priority and start. Pods on other nodes often have the same minute.
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
