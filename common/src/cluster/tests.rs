//! What the cluster believes, and the books that follow from it.

mod accounts;
mod automatic;
mod catalog;
mod daemon_sets;
mod eligibility;
mod events;
mod families;
mod foreign;
mod histories;
mod history;
mod limits;
mod pending_writes;
mod seats;
mod states;
mod tally;

use super::State;
use crate::model::owner::{OwnerKind, Workload};
use crate::testing::{
    NodeBuilder, PodBuilder, ReservationBuilder, World, deployment, node, pod, replica_set, workload, world,
};
use jiff::Timestamp;
use std::borrow::Borrow;

/// A node without pods.
const NOBODY: [PodBuilder; 0] = [];

/// The Deployment that most tests are about.
fn web() -> Workload {
    deployment("web")
}

/// Its ReplicaSet.
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

/// Somebody else's pod on the node `n1`, asking for one cpu.
fn stranger(name: &str) -> PodBuilder {
    pod(name).cpu("1").on("n1")
}

/// A world with the workloads of these tests, and the node `n1` with these reservations.
fn test_cluster(reservations: &[ReservationBuilder]) -> World {
    let reserved = |node: NodeBuilder, one: &ReservationBuilder| node.reserves(one.build());
    let node = reservations.iter().fold(node("n1"), reserved);
    world().workload(&web()).workload(&web_set()).workload(&database()).node(node)
}

/// The books of `n1`, one line for each reservation: seat, state, the cpu that is held, who took it.
fn books(
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
        assert_eq!(entry.held.is_zero(), !matches!(entry.state, State::Held | State::Short));
        match (entry.state, &entry.taken_by) {
            (State::Taken, Some(pod)) => format!("{seat} Taken by {}", pod.key.name),
            (state @ (State::Held | State::Short), None) => {
                format!("{seat} {} {}m", state.as_str(), entry.held.cpu)
            }
            (state, None) => format!("{seat} {}", state.as_str()),
            (state, Some(pod)) => panic!("{state:?} by {pod:?}"),
        }
    };
    snapshot.nodes().next().unwrap().entries.iter().map(line).collect()
}
