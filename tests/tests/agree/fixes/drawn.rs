//! A cluster in which one pod waits, drawn by chance: plain values that follow from the seed alone.

use serde_json::{Value, json};

/// A cluster.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) nodes: Vec<DrawnNode>,
    pub(super) fillers: Vec<Filler>,
    /// Whether each node has a pod of a DaemonSet.
    pub(super) has_daemon_set: bool,
    /// How many of the pods of `crowd: a` may go at once, if that is limited.
    pub(super) budget: Option<u32>,
    pub(super) waiting_pod: WaitingPod,
    /// Whether all fixes are asked for, not only the best.
    pub(super) wants_all: bool,
}

/// A node.
#[derive(Debug)]
pub(super) struct DrawnNode {
    pub(super) cpu: u32,
    pub(super) memory: u32,
    pub(super) slots: u32,
    pub(super) disk: &'static str,
    pub(super) zone: &'static str,
    pub(super) is_cordoned: bool,
    pub(super) taints: Vec<(&'static str, &'static str, &'static str)>,
    /// What is reserved in CPUs, and how.
    pub(super) reserved: Option<(u32, Reserved)>,
}

/// How something is reserved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reserved {
    /// In the plain form, for nobody who is there.
    Plain,
    /// In the plain form, for the workload `w0`.
    PlainForOwner,
    /// By `kubectl reserve add`, for the workload `w0`.
    Recorded,
}

/// A workload that fills a node.
#[derive(Debug)]
pub(super) struct Filler {
    pub(super) is_stateful: bool,
    pub(super) replicas: u32,
    /// In tenths of a CPU.
    pub(super) cpu: u32,
    /// In Gi.
    pub(super) memory: u32,
    pub(super) crowd: &'static str,
    pub(super) has_port: bool,
    pub(super) is_important: bool,
    /// The node that it is on.
    pub(super) on: usize,
    /// How long its pods take to end.
    pub(super) grace: u64,
}

/// The pod that waits.
#[derive(Debug)]
pub(super) struct WaitingPod {
    pub(super) kind: WorkloadKind,
    pub(super) cpu: u32,
    pub(super) memory: u32,
    pub(super) class: Option<&'static str>,
    /// Fields of its spec.
    pub(super) fields: Vec<(&'static str, Value)>,
    pub(super) wants_ssd: bool,
    pub(super) containers: usize,
    pub(super) has_port: bool,
}

/// Who makes the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkloadKind {
    Deployment,
    StatefulSet,
    Job,
    Bare,
}

struct Chance(fastrand::Rng);

impl Chance {
    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.usize(0..choices.len())].clone()
    }

    fn one_in(&mut self, many: u32) -> bool {
        self.0.u32(0..many) == 0
    }
}

impl Drawn {
    pub(super) fn new(seed: u64) -> Self {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let nodes: Vec<DrawnNode> = (0..chance.0.usize(2..5)).map(|_| node(&mut chance)).collect();
        let mut fillers = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            fill(&mut chance, at, node, &mut fillers);
        }
        let waiting_pod = waiting_pod(&mut chance, &nodes, &fillers);
        Self {
            has_daemon_set: chance.one_in(5),
            budget: chance.one_in(4).then(|| chance.0.u32(0..3)),
            wants_all: chance.one_in(5),
            nodes,
            fillers,
            waiting_pod,
        }
    }
}

fn node(chance: &mut Chance) -> DrawnNode {
    let mut taints = Vec::new();
    if chance.one_in(5) {
        taints.push(("dedicated", "db", "NoSchedule"));
    }
    if chance.one_in(8) {
        taints.push(("maintenance", "", "NoSchedule"));
    }
    let how = chance.of(&[Reserved::Plain, Reserved::PlainForOwner, Reserved::Recorded]);
    let cpu = chance.of(&[2, 4, 8]);
    DrawnNode {
        cpu,
        memory: chance.of(&[4, 8, 16]),
        slots: chance.of(&[3, 4, 20, 20, 20]),
        disk: chance.of(&["ssd", "hdd"]),
        zone: chance.of(&["a", "b"]),
        is_cordoned: chance.one_in(5),
        taints,
        reserved: chance.one_in(3).then(|| (chance.0.u32(1..=cpu / 2), how)),
    }
}

/// Workloads that take most of a node.
fn fill(chance: &mut Chance, at: usize, node: &DrawnNode, fillers: &mut Vec<Filler>) {
    // A DaemonSet may have the rest.
    let (mut cpu, mut memory, mut slots) = (node.cpu * 10 - 1, node.memory, node.slots.min(6) - 1);
    let mut has_port = false;
    while slots > 0 && cpu >= 5 && memory >= 1 && !chance.one_in(5) {
        let asks = (chance.of(&[5, 10, 15, 20, 30]).min(cpu), chance.of(&[1, 1, 2, 3]).min(memory));
        let most = (cpu / asks.0).min(memory / asks.1).min(slots).min(3);
        let replicas = chance.0.u32(1..=most);
        (cpu, memory, slots) = (cpu - replicas * asks.0, memory - replicas * asks.1, slots - replicas);
        fillers.push(Filler {
            is_stateful: chance.one_in(3),
            replicas,
            cpu: asks.0,
            memory: asks.1,
            crowd: chance.of(&["a", "b"]),
            has_port: replicas == 1 && !has_port && chance.one_in(5),
            is_important: chance.one_in(5),
            on: at,
            grace: chance.of(&[0, 0, 1, 3]),
        });
        has_port |= fillers.last().is_some_and(|filler| filler.has_port);
    }
}

/// Somewhat more than a node has left, mostly.
fn near_miss(chance: &mut Chance, nodes: &[DrawnNode], fillers: &[Filler]) -> u32 {
    let at = chance.0.usize(0..nodes.len());
    let used: u32 = fillers.iter().filter(|one| one.on == at).map(|one| one.replicas * one.cpu).sum();
    let free = nodes[at].cpu * 10 - used;
    if chance.one_in(4) { chance.of(&[10, 20, 50, 90]) } else { (free + chance.of(&[2, 5, 10])).max(10) }
}

fn waiting_pod(chance: &mut Chance, nodes: &[DrawnNode], fillers: &[Filler]) -> WaitingPod {
    let kinds =
        [WorkloadKind::Deployment, WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::Job];
    let kind = if chance.one_in(6) { WorkloadKind::Bare } else { chance.of(&kinds) };
    let mut fields = Vec::new();
    if chance.one_in(5) {
        fields.push(("affinity", affinity(chance)));
    }
    if chance.one_in(8) {
        let selector = json!({ "matchLabels": { "crowd": chance.of(&["a", "b"]) } });
        let spread = json!([{ "maxSkew": 1, "topologyKey": chance.of(&["zone", "kubernetes.io/hostname"]),
                              "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector }]);
        fields.push(("topologySpreadConstraints", spread));
    }
    if chance.one_in(5) {
        fields.push(("tolerations", json!([{ "key": "maintenance", "operator": "Exists" }])));
    }
    WaitingPod {
        kind,
        cpu: near_miss(chance, nodes, fillers),
        memory: chance.of(&[1, 1, 1, 2, 5]),
        class: chance.of(&[None, None, Some("fixes-patient")]),
        fields,
        wants_ssd: chance.one_in(4),
        containers: chance.of(&[1, 1, 2]),
        has_port: chance.one_in(5),
    }
}

fn affinity(chance: &mut Chance) -> Value {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let crowd = json!({ "matchLabels": { "crowd": chance.of(&["a", "b"]) } });
    let term =
        json!({ "labelSelector": crowd, "topologyKey": chance.of(&["zone", "kubernetes.io/hostname"]) });
    let expression = chance.of(&[
        json!({ "key": "disk", "operator": "In", "values": ["ssd", "nvme"] }),
        json!({ "key": "disk", "operator": "NotIn", "values": ["hdd"] }),
        json!({ "key": "fast", "operator": "Exists" }),
        json!({ "key": "disk", "operator": "DoesNotExist" }),
    ]);
    chance.of(&[
        json!({ "podAntiAffinity": { required: [term] } }),
        json!({ "podAffinity": { required: [term] } }),
        json!({ "nodeAffinity": { required: { "nodeSelectorTerms": [{ "matchExpressions": [expression] }] } } }),
    ])
}
