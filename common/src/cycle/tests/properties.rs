//! What holds for every pod in every cluster: one mind, no overcommitment by us, and no harm from poison.

use crate::cluster::{Assumed, Cluster, NodeId, State};
use crate::cycle::{Decision, Depth, judge, schedule};
use crate::model::owner::Workload;
use crate::model::pod::SYSTEM_CRITICAL_PRIORITY;
use crate::model::{Pod, ResourceName, Resources};
use crate::plugins::{default_registry, without_reservations};
use crate::testing::{
    NodeBuilder, PodBuilder, World, at, deployment, node, now, plain, pod, reservation, world,
};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

const NODES: usize = 3;

fn owners() -> [Workload; 2] {
    [deployment("web"), deployment("shop")]
}

/// Whose pod, how large, how important.
type Drawn = (Option<usize>, i64, i32);

fn drawn() -> impl Strategy<Value = Drawn> {
    let priority = prop_oneof![4 => Just(0), 1 => -1..3_i32, 1 => Just(SYSTEM_CRITICAL_PRIORITY)];
    (prop::option::of(0..2_usize), 0..2500_i64, priority)
}

fn build(name: &str, (owner, cpu, priority): Drawn) -> PodBuilder {
    let pod = pod(name).cpu(&format!("{cpu}m")).priority(priority);
    owner.into_iter().fold(pod, |pod, owner| pod.owned_by(&owners()[owner]))
}

/// On which node, whose, how much, plain or not, made before or after the pods came, already over or not.
type Kept = (usize, usize, i64, bool, bool, bool);

fn kept() -> impl Strategy<Value = Kept> {
    (0..NODES, 0..2_usize, 1..2500_i64, any::<bool>(), any::<bool>(), prop::bool::weighted(0.2))
}

fn test_cluster() -> impl Strategy<Value = World> {
    let pods = prop::collection::vec((0..NODES, drawn()), 0..6);
    (prop::collection::vec(1..5_u32, NODES), pods, prop::collection::vec(kept(), 0..6)).prop_map(
        |(sizes, pods, kept)| {
            let sized =
                |(index, cpus): (usize, &u32)| node(&format!("n{index}")).cpu(&cpus.to_string()).pods(4);
            let mut nodes: Vec<NodeBuilder> = sizes.iter().enumerate().map(sized).collect();
            for (index, (on, owner, cpu, manual, late, over)) in kept.into_iter().enumerate() {
                let (owner, cpu) = (&owners()[owner], format!("{cpu}m"));
                let recorded =
                    reservation(owner).seat(&format!("s{index}")).created(at(if late { -1 } else { -60 }));
                let one =
                    if manual { plain(&owner.uid) } else { recorded.expires(at(if over { 0 } else { 60 })) };
                nodes[on] = nodes[on].clone().reserves(one.cpu(&cpu));
            }
            let world = owners().iter().fold(world(), |world, owner| world.workload(owner));
            let world = nodes.into_iter().fold(world, World::node);
            pods.into_iter().enumerate().fold(world, |world, (index, (on, drawn))| {
                let pod = build(&format!("p{index}"), drawn).on(&format!("n{on}"));
                world.pod(pod.scheduled_at(at(-30)))
            })
        },
    )
}

/// Whether `used` and what is held for others than `pod` fit the node, in what `pod` asks for.
fn fits(cluster: &mut Cluster, pod: &Pod, on: &str) -> bool {
    let snapshot = cluster.snapshot(now());
    let pod_context = snapshot.pod_context(pod);
    let ledger = snapshot.nodes().find(|ledger| ledger.node.name.as_str() == on).unwrap();
    let mut promised: Resources = ledger.used.clone();
    for entry in &ledger.entries {
        if !pod_context.may_use(&entry.reservation) && !pod_context.outranks(&entry.reservation, ledger) {
            promised.add_assign(&entry.held);
        }
    }
    let within = |(resource, _): (ResourceName, i64)| {
        promised.get(&resource) <= ledger.node.allocatable.get(&resource)
    };
    pod.spec.requests.incoming.iter().all(within)
}

proptest! {
    /// The scheduler places a pod exactly where `explain` and the extender would say that it fits.
    #[test]
    fn there_is_one_mind(test_cluster in test_cluster(), drawn in drawn()) {
        let (mut cluster, pod) = (test_cluster.cluster(), build("new", drawn).build());
        let snapshot = cluster.snapshot(now());
        for registry in [default_registry(), without_reservations()] {
            let first = judge(&snapshot.pod_context(&pod), &snapshot, &registry, Depth::First).unwrap();
            let all = judge(&snapshot.pod_context(&pod), &snapshot, &registry, Depth::All).unwrap();
            let feasible: Vec<NodeId> = all.feasible().collect();
            assert_eq!(first.feasible().collect::<Vec<_>>(), feasible);
            match schedule(&pod, &snapshot, &registry) {
                Decision::Place { node, .. } => {
                    assert!(feasible.contains(&snapshot.find(&node).unwrap()));
                }
                Decision::NoFit(no_fit) => {
                    assert_eq!(no_fit.trace, first);
                    assert!(feasible.is_empty());
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// I1 and I5: once placed, the node still has room for all that is kept for others, and the seat is taken by it.
    #[test]
    fn we_never_overcommit(test_cluster in test_cluster(), drawn in drawn()) {
        let pod = build("new", drawn).build();
        let mut cluster = test_cluster.pod(pod.clone()).cluster();
        let decision = schedule(&pod, &cluster.snapshot(now()), &default_registry());
        if let Decision::Place { node, seat, .. } = decision {
            let assumed = Assumed { uid: pod.uid.clone(), node: node.clone(), seat: seat.clone(), since: now() };
            cluster.assume(&pod.key, assumed);
            assert!(fits(&mut cluster, &pod, node.as_str()));
            let snapshot = cluster.snapshot(now());
            let ledger = snapshot.nodes().find(|ledger| ledger.node.name == node).unwrap();
            if let Some(seat) = seat {
                let entry = ledger.entries.iter().find(|entry| entry.reservation.id == seat).unwrap();
                assert_eq!((entry.state, entry.taken_by.as_ref().map(|pod| &pod.uid)), (State::Taken, Some(&pod.uid)));
            }
        }
    }

    /// I13: no reservation stands in the way of a system-critical pod.
    #[test]
    fn critical_pods_pass(test_cluster in test_cluster(), (owner, cpu, _) in drawn()) {
        let (mut cluster, pod) = (test_cluster.cluster(), build("new", (owner, cpu, SYSTEM_CRITICAL_PRIORITY)).build());
        let snapshot = cluster.snapshot(now());
        let feasible = |registry| {
            judge(&snapshot.pod_context(&pod), &snapshot, &registry, Depth::First).unwrap().feasible().collect::<Vec<_>>()
        };
        assert_eq!(feasible(default_registry()), feasible(without_reservations()));
    }
}
