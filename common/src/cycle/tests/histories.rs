//! What is known of classes of pods stays true while everything changes: at every moment the index gives the answer that
//! asking every plugin about every node gives.

use super::toys::{Crowd, EVEN};
use crate::cluster::{Assumed, Cluster, Event, Seen};
use crate::cycle::{Decision, schedule, schedule_by_scan};
use crate::framework::Registry;
use crate::model::PodKey;
use crate::model::owner::Workload;
use crate::plugins::{default_registry, without_reservations};
use crate::testing::{NodeBuilder, PodBuilder, at, deployment, node, plain, pod, reservation, world};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use serde_json::json;

/// What can happen. Numbers are taken modulo whatever there is.
#[derive(Clone, Debug)]
enum Step {
    /// Somebody's pod of some size comes to a node, or waits.
    Comes {
        node: Option<usize>,
        owner: usize,
        cpu: u32,
        priority: i32,
        nominated: Option<usize>,
    },
    /// A pod leaves.
    Leaves(usize),
    /// One of the waiting pods is decided on and assumed where it goes.
    Placed(usize),
    /// An assumption turns out to be wrong.
    TakenBack(usize),
    /// A node is as it was made, but for this.
    Changes {
        node: usize,
        how: Look,
    },
    /// A node leaves.
    Vanishes(usize),
    TimePasses(i64),
}

#[derive(Clone, Debug)]
enum Look {
    Plain,
    Cordoned,
    Tainted(&'static str),
    Labelled,
    Sized(u32),
    /// For one of the owners, or anybody's by hand.
    Reserved {
        owner: usize,
        cpu: u32,
        life: i64,
        manual: bool,
    },
}

fn look() -> impl Strategy<Value = Look> {
    let taints = vec!["a:NoSchedule", "b:PreferNoSchedule", "a:NoExecute", "c:PreferNoSchedule"];
    prop_oneof![
        2 => Just(Look::Plain),
        1 => Just(Look::Cordoned),
        2 => prop::sample::select(taints).prop_map(Look::Tainted),
        1 => Just(Look::Labelled),
        2 => (1..9_u32).prop_map(Look::Sized),
        3 => (0..2_usize, 1..4_u32, 1..40_i64, prop::bool::weighted(0.3))
            .prop_map(|(owner, cpu, life, manual)| Look::Reserved { owner, cpu, life, manual }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let who = any::<usize>;
    let comes = (prop::option::weighted(0.7, who()), 0..3_usize, 1..4_u32, -1..3_i32);
    prop_oneof![
        4 => (comes, prop::option::weighted(0.5, who())).prop_map(|((node, owner, cpu, priority), nominated)| {
            Step::Comes { node, owner, cpu, priority, nominated }
        }),
        3 => who().prop_map(Step::Leaves),
        4 => who().prop_map(Step::Placed),
        1 => who().prop_map(Step::TakenBack),
        5 => (who(), look()).prop_map(|(node, how)| Step::Changes { node, how }),
        1 => who().prop_map(Step::Vanishes),
        1 => (1..20_i64).prop_map(Step::TimePasses),
    ]
}

fn owners() -> [Workload; 2] {
    [deployment("web"), deployment("shop")]
}

/// Pods that wait all the time and are decided on at every moment. The first three are of one class but for their owners.
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

struct TestCluster {
    cluster: Cluster,
    nodes: usize,
    /// Names of all pods that ever came, probes aside.
    test_pods: usize,
    version: u64,
    now: i64,
}

impl TestCluster {
    fn new(nodes: usize) -> Self {
        let named = (0..nodes).map(|number| node(&format!("n{number:03}")));
        let test_cluster = owners().iter().fold(world(), |world, owner| world.workload(owner));
        let test_cluster = named.fold(test_cluster, |world, node| world.node(node));
        let cluster = probes().into_iter().fold(test_cluster, |world, pod| world.pod(pod)).cluster();
        Self { cluster, nodes, test_pods: 0, version: 1, now: 0 }
    }

    fn name(&self, number: usize) -> String {
        format!("n{:03}", number % self.nodes)
    }

    fn live(&mut self, step: &Step, registry: &Registry) {
        self.version += 1;
        match step {
            Step::Comes { node, owner, cpu, priority, nominated } => {
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
                self.cluster.apply(Event::Pods(Seen::Applied(test_pod.build())));
            }
            Step::Leaves(who) => {
                if let Some(test_pod) = self.test_pod(*who) {
                    self.cluster.apply(Event::Pods(Seen::Deleted(test_pod)));
                }
            }
            Step::Placed(who) => self.place(*who, registry),
            Step::TakenBack(who) => {
                if let Some(test_pod) = self.test_pod(*who) {
                    self.cluster.forget(&test_pod.key, &test_pod.uid);
                }
            }
            Step::Changes { node, how } => {
                let node = self.dressed(&self.name(*node), how).version(self.version).build();
                self.cluster.apply(Event::Nodes(Seen::Applied(node)));
            }
            Step::Vanishes(number) => {
                let gone = node(&self.name(*number)).version(self.version).build();
                self.cluster.apply(Event::Nodes(Seen::Deleted(gone)));
            }
            Step::TimePasses(seconds) => self.now += seconds,
        }
    }

    fn test_pod(&self, who: usize) -> Option<crate::model::Pod> {
        let name = format!("test_pod-{}", who.checked_rem(self.test_pods)?);
        self.cluster.pod(&PodKey::new("default", name.as_str())).map(|pod| (**pod).clone())
    }

    fn place(&mut self, who: usize, registry: &Registry) {
        let Some(test_pod) = self.test_pod(who).filter(|test_pod| test_pod.is_waiting()) else { return };
        if self.cluster.is_assumed(&test_pod.key) {
            return;
        }
        let decision = schedule(&test_pod, &self.cluster.snapshot(at(self.now)), registry);
        if let Decision::Place { node, seat, .. } = decision {
            let assumed = Assumed { uid: test_pod.uid.clone(), node, seat, since: at(self.now) };
            self.cluster.assume(&test_pod.key, assumed);
        }
    }

    fn dressed(&self, name: &str, how: &Look) -> NodeBuilder {
        match how {
            Look::Plain => node(name),
            Look::Cordoned => node(name).cordoned(),
            Look::Tainted(taint) => node(name).taint(taint),
            Look::Labelled => node(name).label("zone", &self.version.to_string()),
            Look::Sized(cpus) => node(name).cpu(&cpus.to_string()),
            Look::Reserved { owner, cpu, life, manual } => {
                let (owner, cpu) = (&owners()[*owner], cpu.to_string());
                let kept = if *manual { plain(&owner.uid) } else { reservation(owner) };
                let kept =
                    if *manual { kept } else { kept.created(at(self.now)).expires(at(self.now + life)) };
                node(name).reserves(kept.cpu(&cpu))
            }
        }
    }

    /// How many of the probes found a place.
    fn audit(&mut self, registries: &[Registry]) -> usize {
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

/// The product, upstream, and one with plugins that look at the whole cluster.
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
        let (mut test_cluster, registries) = (TestCluster::new(nodes), registries());
        for step in &steps {
            test_cluster.live(step, &registries[0]);
            test_cluster.audit(&registries);
        }
    }
}

/// The same across several blocks of nodes, of which some are always cordoned or gone.
#[test]
fn the_index_is_right_across_blocks() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut test_cluster, registries) = (TestCluster::new(140), registries());
    let mut placed = 0;
    for _ in 0..40 {
        for step in prop::collection::vec(step(), 4).new_tree(&mut runner).unwrap().current() {
            test_cluster.live(&step, &registries[0]);
        }
        placed += test_cluster.audit(&registries);
    }
    assert!(placed > 0, "somebody fits somewhere");
}
