//! Tests of the belief, and of the ledgers that follow from it.

mod automatic;
mod catalog;
mod daemon_sets;
mod domain_counts;
mod eligibility;
mod events;
mod expected_states;
mod foreign_owners;
mod limits;
mod pending_writes;
mod random_histories;
mod seat_assignment;
mod states;
mod test_cluster;
mod workload_changes;

use super::ReservationState;
use crate::model::owner::{OwnerKind, Workload};
use crate::testing::{
    ClusterBuilder, NodeBuilder, PodBuilder, ReservationBuilder, cluster_builder, deployment, node, pod,
    replica_set, workload,
};
use jiff::Timestamp;
use std::borrow::Borrow;

/// A node without pods.
const NO_PODS: [PodBuilder; 0] = [];

/// The Deployment that most tests are about.
fn web() -> Workload {
    deployment("web")
}

/// The ReplicaSet of the Deployment.
fn web_set() -> Workload {
    replica_set("web-7c9d").of(&web())
}

fn database() -> Workload {
    workload(OwnerKind::StatefulSet, "db")
}

/// A replica of the Deployment on the node `n1`, asking for one cpu.
fn replica(name: &str) -> PodBuilder {
    pod(name).cpu("1").on("n1").owned_by(&web_set())
}

/// A bare pod on the node `n1` that no reservation is for, asking for one cpu.
fn stranger(name: &str) -> PodBuilder {
    pod(name).cpu("1").on("n1")
}

/// A cluster with the workloads of these tests, and the node `n1` with these reservations.
fn test_cluster(reservations: &[ReservationBuilder]) -> ClusterBuilder {
    let reserved = |node: NodeBuilder, one: &ReservationBuilder| node.reserves(one.build());
    let node = reservations.iter().fold(node("n1"), reserved);
    cluster_builder().workload(&web()).workload(&web_set()).workload(&database()).node(node)
}

/// The entries of `n1`, one line for each reservation: seat, state, the cpu that is held, the pod that took it.
fn entries(
    now: Timestamp,
    reservations: &[ReservationBuilder],
    pods: impl IntoIterator<Item = impl Borrow<PodBuilder>>,
) -> Vec<String> {
    let test_cluster = pods
        .into_iter()
        .fold(test_cluster(reservations), |test_cluster, pod| test_cluster.pod(pod.borrow().build()));
    let mut cluster = test_cluster.cluster();
    let snapshot = cluster.snapshot(now);
    let line = |entry: &super::ledger::Entry| {
        let seat = entry.reservation.id.seat.as_ref().map_or("plain", |seat| seat.as_str());
        assert_eq!(
            entry.held.is_zero(),
            !matches!(entry.state, ReservationState::Held | ReservationState::Short)
        );
        match (entry.state, &entry.taken_by) {
            (ReservationState::Taken, Some(pod)) => format!("{seat} Taken by {}", pod.key.name),
            (state @ (ReservationState::Held | ReservationState::Short), None) => {
                format!("{seat} {} {}m", state.as_str(), entry.held.cpu)
            }
            (state, None) => format!("{seat} {}", state.as_str()),
            (state, Some(pod)) => panic!("{state:?} by {pod:?}"),
        }
    };
    snapshot.nodes().next().unwrap().entries.iter().map(line).collect()
}
