//! The test's own record of a cluster with several nodes and several owners, and the API objects that follow from it.

use super::pod_owner::{PodOwner, WORKLOADS, workloads};
use super::wire;
use crate::cluster::{Assumption, Cluster};
use crate::model::owner::Workload;
use crate::model::{Node, Pod};
use crate::testing::{at, cluster_builder, node, pod, uid};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An amount of each of [`RESOURCES`], in its smallest unit.
pub(super) type Amounts = [i64; 5];
pub(super) const RESOURCES: [&str; 5] = ["cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu"];
pub(super) const PODS: usize = 3;
pub(super) const GPU: usize = 4;

/// Protocol, address, number.
pub(super) type Port = (&'static str, &'static str, u16);

/// The record of a pod.
#[derive(Clone, Debug)]
pub(super) struct TestPod {
    pub(super) pod_owner: PodOwner,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) asks: Amounts,
    pub(super) ports: Vec<Port>,
    pub(super) priority: i32,
    pub(super) tolerates: bool,
    pub(super) zone: Option<usize>,
    /// The node that a pod of the DaemonSet is tied to by node affinity.
    pub(super) tied: Option<usize>,
    pub(super) neighbours: NeighbourPreference,
    /// The stamp that the pod was created with.
    pub(super) forged: Option<String>,
    /// The stamp that the pod was bound with.
    pub(super) seat: Option<String>,
    pub(super) since: Option<i64>,
    pub(super) location: PodLocation,
    pub(super) deleting: bool,
}

/// Where a pod is; the number is the index of the node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PodLocation {
    Waiting,
    Assumed(usize),
    Bound(usize),
    Ended(usize),
    Gone,
}

/// Whether a pod has affinity and spread constraints towards other pods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NeighbourPreference {
    None,
    Preferred,
    Required,
}

/// The record of a node.
#[derive(Clone, Debug)]
pub(super) struct TestNode {
    pub(super) name: String,
    pub(super) there: bool,
    pub(super) has: Amounts,
    pub(super) cordoned: bool,
    pub(super) tainted: bool,
    pub(super) zone: usize,
    /// The malformed and foreign annotations of the node, by number.
    pub(super) noise: BTreeSet<usize>,
}

/// The owner of a reservation, by index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ReservationOwner {
    Workload(usize),
    /// A pod without a controller.
    Pod(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    Recorded,
    Plain,
    Newer,
}

/// The record of a reservation.
#[derive(Clone, Debug)]
pub(super) struct TestReservation {
    pub(super) test_node: usize,
    pub(super) reservation_owner: ReservationOwner,
    pub(super) form: Form,
    pub(super) id: String,
    /// The index of the replaced pod.
    pub(super) replaces: Option<usize>,
    pub(super) amount: Amounts,
    pub(super) ports: Vec<Port>,
    pub(super) priority: i32,
    pub(super) created: i64,
    pub(super) expires: Option<i64>,
    pub(super) removed: bool,
}

pub(super) struct TestCluster {
    pub(super) now: i64,
    pub(super) version: u64,
    pub(super) workloads: [Workload; WORKLOADS],
    /// Whether each workload was read.
    pub(super) read: [bool; WORKLOADS],
    pub(super) test_nodes: Vec<TestNode>,
    pub(super) test_pods: Vec<TestPod>,
    pub(super) test_reservations: Vec<TestReservation>,
    pub(super) cluster: Cluster,
    /// The cases that were reached so far (`coverage`).
    pub(super) covered: BTreeSet<&'static str>,
}

/// What is left out when a cluster is built anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Omission {
    Nothing,
    Noise,
    Reservations,
}

impl TestPod {
    /// The stamp that counts: of an assumed pod only that of the decision, of others also the one that the pod was created with.
    pub(super) fn stamp(&self) -> Option<&String> {
        let own = self.seat.as_ref();
        if matches!(self.location, PodLocation::Assumed(_)) { own } else { own.or(self.forged.as_ref()) }
    }

    pub(super) fn is_on(&self, test_node: usize) -> bool {
        self.location == PodLocation::Assumed(test_node) || self.location == PodLocation::Bound(test_node)
    }
}

impl TestCluster {
    pub(super) fn new(test_nodes: Vec<TestNode>, read: [bool; WORKLOADS]) -> Self {
        let mut test_cluster = Self {
            now: 0,
            version: 1,
            workloads: workloads(),
            read,
            test_nodes,
            test_pods: Vec::new(),
            test_reservations: Vec::new(),
            cluster: Cluster::default(),
            covered: BTreeSet::new(),
        };
        test_cluster.cluster = test_cluster.anew(Omission::Nothing);
        test_cluster
    }

    /// A fresh cluster that is built from the current record.
    pub(super) fn anew(&self, without: Omission) -> Cluster {
        let read = self.workloads.iter().zip(self.read).filter(|(_, read)| *read);
        let mut start = read.fold(cluster_builder(), |world, (workload, _)| world.workload(workload));
        for test_node in (0..self.test_nodes.len()).filter(|test_node| self.test_nodes[*test_node].there) {
            start = start.node(self.node(test_node, without));
        }
        for test_pod in (0..self.test_pods.len())
            .filter(|test_pod| self.test_pods[*test_pod].location != PodLocation::Gone)
        {
            start = start.pod(self.pod(test_pod));
        }
        let mut cluster = start.cluster();
        for (index, test_pod) in self.test_pods.iter().enumerate() {
            if let PodLocation::Assumed(test_node) = test_pod.location {
                let pod = self.pod(index);
                let test_reservation = self
                    .test_reservations
                    .iter()
                    .find(|test_reservation| Some(&test_reservation.id) == test_pod.seat.as_ref());
                let seat = test_reservation.map(|test_reservation| self.reservation_id(test_reservation));
                let (node, since) =
                    (self.test_nodes[test_node].name.as_str().into(), at(test_pod.since.unwrap()));
                cluster.assume(&pod.key, Assumption { uid: pod.uid, node, claims: seat.into(), since });
            }
        }
        cluster
    }

    pub(super) fn node(&self, test_node: usize, without: Omission) -> Node {
        let it = &self.test_nodes[test_node];
        let mut node = node(&it.name).version(self.version).label("zone", &format!("z{}", it.zone));
        for (resource, amount) in RESOURCES.iter().zip(it.has) {
            node = node.has(resource, &wire::quantity(resource, amount));
        }
        node = if it.cordoned { node.cordoned() } else { node };
        node = if it.tainted { node.taint("dirty:NoSchedule") } else { node };
        let kept = self
            .test_reservations
            .iter()
            .filter(|test_reservation| test_reservation.test_node == test_node && !test_reservation.removed);
        let kept = kept.filter(|_| without != Omission::Reservations);
        let noise = it.noise.iter().filter(|_| without == Omission::Nothing);
        let noise = noise.flat_map(|kind| wire::noise(*kind, &self.workloads));
        let written =
            kept.flat_map(|test_reservation| wire::annotations(self, test_reservation)).chain(noise);
        written.fold(node, |node, (key, value)| node.annotation(&key, &value)).build()
    }

    pub(super) fn pod(&self, index: usize) -> Pod {
        let test_pod = &self.test_pods[index];
        let mut pod = test_pod
            .pod_owner
            .add_to(pod(&test_pod.name), &self.workloads)
            .namespace(test_pod.pod_owner.namespace());
        pod =
            pod.with("/metadata/uid", json!(test_pod.uid)).version(self.version).priority(test_pod.priority);
        pod = pod.labels([("app", "test_cluster")]);
        for (resource, amount) in
            RESOURCES.iter().zip(test_pod.asks).filter(|(resource, _)| **resource != "pods")
        {
            pod = if amount > 0 { pod.asks(resource, &wire::quantity(resource, amount)) } else { pod };
        }
        let port =
            |(protocol, ip, port): &Port| json!({ "protocol": protocol, "hostIP": ip, "hostPort": port });
        pod = pod.with("/spec/containers/0/ports", test_pod.ports.iter().map(port).collect::<Value>());
        pod = if test_pod.tolerates { pod.tolerates("dirty") } else { pod };
        if let Some(zone) = test_pod.zone {
            pod = pod.with("/spec/nodeSelector", json!({ "zone": format!("z{zone}") }));
        }
        pod = wire::with_neighbours(pod, test_pod.neighbours);
        if let Some(test_node) = test_pod.tied.filter(|_| test_pod.pod_owner == PodOwner::Agent) {
            pod = pod.tied_to(&self.test_nodes[test_node].name);
        }
        if let PodLocation::Bound(test_node) | PodLocation::Ended(test_node) = test_pod.location {
            pod = pod.on(&self.test_nodes[test_node].name);
            pod = test_pod.since.iter().fold(pod, |pod, since| pod.scheduled_at(at(*since)));
        }
        let stamp = if matches!(test_pod.location, PodLocation::Assumed(_)) {
            test_pod.forged.as_ref()
        } else {
            test_pod.stamp()
        };
        pod = stamp.iter().fold(pod, |pod, stamp| pod.stamp(stamp));
        pod = if test_pod.deleting { pod.terminating() } else { pod };
        if matches!(test_pod.location, PodLocation::Ended(_)) {
            pod.phase("Failed").build()
        } else {
            pod.build()
        }
    }

    pub(super) fn uid_of(&self, reservation_owner: ReservationOwner) -> String {
        match reservation_owner {
            ReservationOwner::Workload(index) => self.workloads[index].uid.to_string(),
            ReservationOwner::Pod(test_pod) => self.test_pods[test_pod].uid.clone(),
        }
    }

    pub(super) fn fresh_uid(&self) -> String {
        uid(&format!("test_pod {}", self.test_pods.len())).to_string()
    }
}
