//! The kept answers for classes of pods stay right while the cluster changes: after every step, the index decides as a scan of all
//! nodes does.

use super::test_plugins::{Crowd, EVEN};
use crate::cluster::{Assumption, Cluster, Event, WatchEvent};
use crate::cycle::{Decision, schedule, schedule_by_scan};
use crate::framework::Registry;
use crate::model::PodKey;
use crate::model::owner::Workload;
use crate::plugins::{default_registry, without_reservations};
use crate::testing::{
    NodeBuilder, PodBuilder, at, cluster_builder, deployment, node, plain, pod, reservation,
};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use serde_json::json;

/// A random change of the cluster. Numbers are taken modulo the number of pods or nodes.
#[derive(Clone, Debug)]
enum Step {
    /// A new pod is bound to a node, or waits.
    AddPod {
        node: Option<usize>,
        owner: usize,
        cpu: u32,
        priority: i32,
        nominated: Option<usize>,
    },
    /// A pod is deleted.
    DeletePod(usize),
    /// A waiting pod is scheduled and assumed on its node.
    Schedule(usize),
    /// An assumed pod is forgotten.
    Forget(usize),
    /// A node gets its initial form, with one change.
    ChangeNode {
        node: usize,
        how: NodeChange,
    },
    /// A node is deleted.
    DeleteNode(usize),
    AdvanceTime(i64),
}

#[derive(Clone, Debug)]
enum NodeChange {
    Plain,
    Cordoned,
    Tainted(&'static str),
    Labelled,
    Sized(u32),
    /// The node has a reservation of an owner; `manual`: in the plain form.
    Reserved {
        owner: usize,
        cpu: u32,
        life: i64,
        manual: bool,
    },
}

fn node_change() -> impl Strategy<Value = NodeChange> {
    let taints = vec!["a:NoSchedule", "b:PreferNoSchedule", "a:NoExecute", "c:PreferNoSchedule"];
    prop_oneof![
        2 => Just(NodeChange::Plain),
        1 => Just(NodeChange::Cordoned),
        2 => prop::sample::select(taints).prop_map(NodeChange::Tainted),
        1 => Just(NodeChange::Labelled),
        2 => (1..9_u32).prop_map(NodeChange::Sized),
        3 => (0..2_usize, 1..4_u32, 1..40_i64, prop::bool::weighted(0.3))
            .prop_map(|(owner, cpu, life, manual)| NodeChange::Reserved { owner, cpu, life, manual }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let number = any::<usize>;
    let new_pod = (prop::option::weighted(0.7, number()), 0..3_usize, 1..4_u32, -1..3_i32);
    prop_oneof![
        4 => (new_pod, prop::option::weighted(0.5, number())).prop_map(|((node, owner, cpu, priority), nominated)| {
            Step::AddPod { node, owner, cpu, priority, nominated }
        }),
        3 => number().prop_map(Step::DeletePod),
        4 => number().prop_map(Step::Schedule),
        1 => number().prop_map(Step::Forget),
        5 => (number(), node_change()).prop_map(|(node, how)| Step::ChangeNode { node, how }),
        1 => number().prop_map(Step::DeleteNode),
        1 => (1..20_i64).prop_map(Step::AdvanceTime),
    ]
}

fn owners() -> [Workload; 2] {
    [deployment("web"), deployment("shop")]
}

/// Pods that wait all the time and are scheduled after every step. The first three differ only in their owners.
fn probes() -> Vec<PodBuilder> {
    let [web, shop] = owners();
    let mut probes = vec![
        pod("probe-0").cpu("1"),
        pod("probe-1").cpu("1").owned_by(&web),
        pod("probe-2").cpu("1").owned_by(&shop),
        pod("probe-3").cpu("3").priority(1).tolerates("a").tolerates("b"),
        pod("probe-4").memory("1Gi").priority(2_000_000_000),
        pod("probe-5").cpu("2").priority(1),
    ];
    probes[5] = probes[5].clone().with("/status/nominatedNodeName", json!("n001"));
    probes
}

struct ProbedCluster {
    cluster: Cluster,
    nodes: usize,
    /// How many pods were added so far, without the probes.
    test_pods: usize,
    version: u64,
    now: i64,
}

impl ProbedCluster {
    fn new(nodes: usize) -> Self {
        let named = (0..nodes).map(|number| node(&format!("n{number:03}")));
        let test_cluster = owners().iter().fold(cluster_builder(), |world, owner| world.workload(owner));
        let test_cluster = named.fold(test_cluster, |world, node| world.node(node));
        let cluster = probes().into_iter().fold(test_cluster, |world, pod| world.pod(pod)).cluster();
        Self { cluster, nodes, test_pods: 0, version: 1, now: 0 }
    }

    fn name(&self, number: usize) -> String {
        format!("n{:03}", number % self.nodes)
    }

    fn apply_step(&mut self, step: &Step, registry: &Registry) {
        self.version += 1;
        match step {
            Step::AddPod { node, owner, cpu, priority, nominated } => {
                let test_pod =
                    pod(&format!("test_pod-{}", self.test_pods)).cpu(&cpu.to_string()).priority(*priority);
                self.test_pods += 1;
                let test_pod =
                    owners().get(*owner).into_iter().fold(test_pod, |pod, owner| pod.owned_by(owner));
                let test_pod = match (node, nominated) {
                    (Some(node), _) => test_pod.on(&self.name(*node)).scheduled_at(at(self.now)),
                    (None, Some(node)) => test_pod.with("/status/nominatedNodeName", json!(self.name(*node))),
                    (None, None) => test_pod,
                };
                self.cluster.apply(Event::Pods(WatchEvent::Applied(test_pod.build())));
            }
            Step::DeletePod(number) => {
                if let Some(test_pod) = self.test_pod(*number) {
                    self.cluster.apply(Event::Pods(WatchEvent::Deleted(test_pod)));
                }
            }
            Step::Schedule(number) => self.place(*number, registry),
            Step::Forget(number) => {
                if let Some(test_pod) = self.test_pod(*number) {
                    self.cluster.forget(&test_pod.key, &test_pod.uid);
                }
            }
            Step::ChangeNode { node, how } => {
                let node = self.changed_node(&self.name(*node), how).version(self.version).build();
                self.cluster.apply(Event::Nodes(WatchEvent::Applied(node)));
            }
            Step::DeleteNode(number) => {
                let gone = node(&self.name(*number)).version(self.version).build();
                self.cluster.apply(Event::Nodes(WatchEvent::Deleted(gone)));
            }
            Step::AdvanceTime(seconds) => self.now += seconds,
        }
    }

    fn test_pod(&self, number: usize) -> Option<crate::model::Pod> {
        let name = format!("test_pod-{}", number.checked_rem(self.test_pods)?);
        self.cluster.pod(&PodKey::new("default", name.as_str())).map(|pod| (**pod).clone())
    }

    fn place(&mut self, number: usize, registry: &Registry) {
        let Some(test_pod) = self.test_pod(number).filter(|test_pod| test_pod.is_waiting()) else { return };
        if self.cluster.is_assumed(&test_pod.key) {
            return;
        }
        let decision = schedule(&test_pod, &self.cluster.snapshot(at(self.now)), registry);
        if let Decision::Place { node, claims } = decision {
            let assumed = Assumption { uid: test_pod.uid.clone(), node, claims, since: at(self.now) };
            self.cluster.assume(&test_pod.key, assumed);
        }
    }

    fn changed_node(&self, name: &str, how: &NodeChange) -> NodeBuilder {
        match how {
            NodeChange::Plain => node(name),
            NodeChange::Cordoned => node(name).cordoned(),
            NodeChange::Tainted(taint) => node(name).taint(taint),
            NodeChange::Labelled => node(name).label("zone", &self.version.to_string()),
            NodeChange::Sized(cpus) => node(name).cpu(&cpus.to_string()),
            NodeChange::Reserved { owner, cpu, life, manual } => {
                let (owner, cpu) = (&owners()[*owner], cpu.to_string());
                let kept = if *manual { plain(&owner.uid) } else { reservation(owner) };
                let kept =
                    if *manual { kept } else { kept.created(at(self.now)).expires(at(self.now + life)) };
                node(name).reserves(kept.cpu(&cpu))
            }
        }
    }

    /// Compares the decisions for all probes. Returns how many were placed.
    fn check_probes(&mut self, registries: &[Registry]) -> usize {
        let now = at(self.now);
        let mut placed = 0;
        for number in 0..probes().len() {
            let key = PodKey::new("default", format!("probe-{number}").as_str());
            let probe = self.cluster.pod(&key).cloned().unwrap();
            let snapshot = self.cluster.snapshot(now);
            for registry in registries {
                let found = schedule(&probe, &snapshot, registry);
                assert_eq!(found, schedule_by_scan(&probe, &snapshot, registry), "{key} at {now}");
                placed += usize::from(matches!(found, Decision::Place { .. }));
            }
        }
        placed
    }
}

/// Our default plugins, those of kube-scheduler, and our default plugins with two more of `Scope::Cluster`.
fn registries() -> [Registry; 3] {
    let wide = default_registry().filter(EVEN).score(Crowd, 2);
    [default_registry(), without_reservations(), wide]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn the_index_is_right_at_every_moment(
        nodes in 2..6_usize,
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let (mut test_cluster, registries) = (ProbedCluster::new(nodes), registries());
        for step in &steps {
            test_cluster.apply_step(step, &registries[0]);
            test_cluster.check_probes(&registries);
        }
    }
}

/// The same check over several blocks of nodes.
#[test]
fn the_index_is_right_across_blocks() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut test_cluster, registries) = (ProbedCluster::new(140), registries());
    let mut placed = 0;
    for _ in 0..40 {
        for step in prop::collection::vec(step(), 4).new_tree(&mut runner).unwrap().current() {
            test_cluster.apply_step(&step, &registries[0]);
        }
        placed += test_cluster.check_probes(&registries);
    }
    assert!(placed > 0, "somebody fits somewhere");
}
