//! Properties of every decision: `schedule` and `diagnose` agree, we never overcommit, and system-critical pods are not blocked.

use crate::cluster::{Assumption, Cluster, NodeId, ReservationState};
use crate::cycle::{Decision, Depth, diagnose, schedule};
use crate::model::owner::Workload;
use crate::model::pod::SYSTEM_CRITICAL_PRIORITY;
use crate::model::{Pod, ResourceName, Resources};
use crate::plugins::{default_registry, without_reservations};
use crate::testing::{
    ClusterBuilder, NodeBuilder, PodBuilder, at, cluster_builder, deployment, node, now, plain, pod,
    reservation,
};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

const NODES: usize = 3;

fn owners() -> [Workload; 2] {
    [deployment("web"), deployment("shop")]
}

/// A random pod: owner, cpu, priority.
type RandomPod = (Option<usize>, i64, i32);

fn random_pod() -> impl Strategy<Value = RandomPod> {
    let priority = prop_oneof![4 => Just(0), 1 => -1..3_i32, 1 => Just(SYSTEM_CRITICAL_PRIORITY)];
    (prop::option::of(0..2_usize), 0..2500_i64, priority)
}

fn build(name: &str, (owner, cpu, priority): RandomPod) -> PodBuilder {
    let pod = pod(name).cpu(&format!("{cpu}m")).priority(priority);
    owner.into_iter().fold(pod, |pod, owner| pod.owned_by(&owners()[owner]))
}

/// A random reservation: node, owner, cpu, plain form or not, created after the pods or before, expired or not.
type RandomReservation = (usize, usize, i64, bool, bool, bool);

fn random_reservation() -> impl Strategy<Value = RandomReservation> {
    (0..NODES, 0..2_usize, 1..2500_i64, any::<bool>(), any::<bool>(), prop::bool::weighted(0.2))
}

fn test_cluster() -> impl Strategy<Value = ClusterBuilder> {
    let pods = prop::collection::vec((0..NODES, random_pod()), 0..6);
    (prop::collection::vec(1..5_u32, NODES), pods, prop::collection::vec(random_reservation(), 0..6))
        .prop_map(|(sizes, pods, kept)| {
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
            let world = owners().iter().fold(cluster_builder(), |world, owner| world.workload(owner));
            let world = nodes.into_iter().fold(world, ClusterBuilder::node);
            pods.into_iter().enumerate().fold(world, |world, (index, (on, random_pod))| {
                let pod = build(&format!("p{index}"), random_pod).on(&format!("n{on}"));
                world.pod(pod.scheduled_at(at(-30)))
            })
        })
}

/// Whether what pods use and what is held for other pods fits the node, in the resources that `pod` requests.
fn fits(cluster: &mut Cluster, pod: &Pod, on: &str) -> bool {
    let snapshot = cluster.snapshot(now());
    let context = snapshot.context(pod);
    let ledger = snapshot.nodes().find(|ledger| ledger.node.name.as_str() == on).unwrap();
    let mut committed: Resources = ledger.used.clone();
    for entry in &ledger.entries {
        if !context.may_use(&entry.reservation) && !context.outranks(&entry.reservation, ledger) {
            committed.add_assign(&entry.held);
        }
    }
    let within = |(resource, _): (ResourceName, i64)| {
        committed.get(&resource) <= ledger.node.allocatable.get(&resource)
    };
    pod.spec.requests.incoming.iter().all(within)
}

proptest! {
    /// The scheduler places a pod only where `explain` and the extender say that it fits.
    #[test]
    fn there_is_one_mind(test_cluster in test_cluster(), random_pod in random_pod()) {
        let (mut cluster, pod) = (test_cluster.cluster(), build("new", random_pod).build());
        let snapshot = cluster.snapshot(now());
        for registry in [default_registry(), without_reservations()] {
            let first = diagnose(&snapshot.context(&pod), &snapshot, &registry, Depth::First).unwrap();
            let all = diagnose(&snapshot.context(&pod), &snapshot, &registry, Depth::All).unwrap();
            let feasible: Vec<NodeId> = all.feasible().collect();
            assert_eq!(first.feasible().collect::<Vec<_>>(), feasible);
            match schedule(&pod, &snapshot, &registry) {
                Decision::Place { node, .. } => {
                    assert!(feasible.contains(&snapshot.find(&node).unwrap()));
                }
                Decision::NoFit(no_fit) => {
                    assert_eq!(no_fit.diagnosis, first);
                    assert!(feasible.is_empty());
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// I1 and I5: with the pod placed, the node still has room for all that is kept for others, and the pod has taken its seat.
    #[test]
    fn we_never_overcommit(test_cluster in test_cluster(), random_pod in random_pod()) {
        let pod = build("new", random_pod).build();
        let mut cluster = test_cluster.pod(pod.clone()).cluster();
        let decision = schedule(&pod, &cluster.snapshot(now()), &default_registry());
        if let Decision::Place { node, claims } = decision {
            let assumed = Assumption { uid: pod.uid.clone(), node: node.clone(), claims: claims.clone(), since: now() };
            cluster.assume(&pod.key, assumed);
            assert!(fits(&mut cluster, &pod, node.as_str()));
            let snapshot = cluster.snapshot(now());
            let ledger = snapshot.nodes().find(|ledger| ledger.node.name == node).unwrap();
            if let Some(seat) = claims.seat().cloned() {
                let entry = ledger.entries.iter().find(|entry| entry.reservation.id == seat).unwrap();
                assert_eq!((entry.state, entry.taken_by.as_ref().map(|pod| &pod.uid)), (ReservationState::Taken, Some(&pod.uid)));
            }
        }
    }

    /// I13: no reservation rejects a system-critical pod.
    #[test]
    fn critical_pods_pass(test_cluster in test_cluster(), (owner, cpu, _) in random_pod()) {
        let (mut cluster, pod) = (test_cluster.cluster(), build("new", (owner, cpu, SYSTEM_CRITICAL_PRIORITY)).build());
        let snapshot = cluster.snapshot(now());
        let feasible = |registry| {
            diagnose(&snapshot.context(&pod), &snapshot, &registry, Depth::First).unwrap().feasible().collect::<Vec<_>>()
        };
        assert_eq!(feasible(default_registry()), feasible(without_reservations()));
    }
}
