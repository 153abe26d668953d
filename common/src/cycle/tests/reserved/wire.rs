//! Annotations and pod fields as JSON, written by hand from the design: reservations of every form, and noise beside them. It must
//! not use the encoder under test.

use super::test_cluster::{
    Form, GPU, NeighbourPreference, RESOURCES, ReservationOwner, TestCluster, TestReservation,
};
use crate::model::ReservationId;
use crate::model::owner::Workload;
use crate::model::reservation::Seat;
use crate::testing::{PodBuilder, at};
use serde_json::{Value, json};

pub(super) const NOISES: usize = 10;

pub(super) fn quantity(resource: &str, amount: i64) -> String {
    if resource == "cpu" { format!("{amount}m") } else { amount.to_string() }
}

impl TestCluster {
    /// The id of the reservation, as the scheduler returns it.
    pub(super) fn reservation_id(&self, test_reservation: &TestReservation) -> ReservationId {
        let seat = test_reservation.id.split_once('.').map(|(_, seat)| Seat::parse(seat).unwrap());
        ReservationId { owner: self.uid_of(test_reservation.reservation_owner).into(), seat }
    }
}

/// The annotations of a reservation.
pub(super) fn annotations(
    test_cluster: &TestCluster,
    test_reservation: &TestReservation,
) -> Vec<(String, String)> {
    let id = &test_reservation.id;
    let keys = RESOURCES[..3].iter().zip(test_reservation.amount).filter(|(_, amount)| *amount > 0);
    let mut all: Vec<(String, String)> = keys
        .map(|(resource, amount)| (format!("reserve.{resource}/{id}"), quantity(resource, amount)))
        .collect();
    let info = match test_reservation.form {
        Form::Plain => return all,
        Form::Recorded => record(test_cluster, test_reservation),
        Form::Newer => {
            let expires = test_reservation
                .expires
                .map_or_else(|| json!(["later"]), |expires| json!(at(expires).to_string()));
            json!({ "v": 2, "expires": expires, "holder": [1, 2], "ports": [{ "port": 80, "protocol": "TCP" }] })
        }
    };
    all.push((format!("reserve.info/{id}"), info.to_string()));
    all
}

fn record(test_cluster: &TestCluster, test_reservation: &TestReservation) -> Value {
    let (kind, namespace, name) = match test_reservation.reservation_owner {
        ReservationOwner::Workload(index) => (
            test_cluster.workloads[index].kind.as_str(),
            "default",
            test_cluster.workloads[index].name.to_string(),
        ),
        ReservationOwner::Pod(test_pod) => (
            "Pod",
            test_cluster.test_pods[test_pod].pod_owner.namespace(),
            test_cluster.test_pods[test_pod].name.clone(),
        ),
    };
    let port =
        |(protocol, ip, port): &(&str, &str, u16)| json!({ "port": port, "protocol": protocol, "ip": ip });
    let mut info = json!({
        "v": 1, "priority": test_reservation.priority, "request": "r", "placement": "prefer",
        "owner": { "kind": kind, "namespace": namespace, "name": name, "uid": test_cluster.uid_of(test_reservation.reservation_owner) },
        "created": at(test_reservation.created).to_string(), "expires": at(test_reservation.expires.unwrap()).to_string(),
        "ports": test_reservation.ports.iter().map(port).collect::<Value>(),
    });
    if test_reservation.amount[GPU] > 0 {
        info["resources"] = json!({ RESOURCES[GPU]: test_reservation.amount[GPU].to_string() });
    }
    if let Some(replaced) = test_reservation.replaces.map(|test_pod| &test_cluster.test_pods[test_pod]) {
        info["replaces"] = json!({ "name": replaced.name, "uid": replaced.uid });
    }
    info
}

/// Annotations that are malformed or foreign, with large amounts. They must have no effect.
pub(super) fn noise(kind: usize, workloads: &[Workload]) -> Vec<(String, String)> {
    let (web, db) = (workloads[0].uid.to_string(), workloads[5].uid.to_string());
    let record = |v: u64, uid: &str, expires: &str| {
        let owner = json!({ "kind": "Deployment", "namespace": "default", "name": "web", "uid": uid });
        let (created, expires) = (at(0).to_string(), expires.to_owned());
        json!({ "v": v, "owner": owner, "created": created, "expires": expires, "request": "r", "placement": "wait" })
            .to_string()
    };
    let later = at(9999).to_string();
    let all = match kind {
        0 => vec![(format!("reserve.cpu/{web}.lost"), "64".into())],
        1 => vec![(format!("reserve.gpu/{web}"), "64".into())],
        2 => vec![("reserve.cpu/nobody".into(), "64".into())],
        3 => vec![(format!("reserve.info/{web}"), record(1, &web, &later))],
        4 => vec![
            (format!("reserve.cpu/{web}.minus"), "-64".into()),
            (format!("reserve.memory/{web}.minus"), "64Gi".into()),
            (format!("reserve.info/{web}.minus"), record(1, &web, &later)),
        ],
        5 => vec![
            (format!("reserve.cpu/{db}.torn"), "64".into()),
            (format!("reserve.info/{db}.torn"), "{\"v\":1,".into()),
        ],
        6 => vec![
            ("reserve.example.com/cpu".into(), "64".into()),
            (format!("example.com/reserve.cpu.{web}"), "64".into()),
        ],
        7 => vec![(format!("reserve.info/{web}.zero"), record(0, &web, &later))],
        8 => vec![
            (format!("reserve.cpu/{web}.other"), "64".into()),
            (format!("reserve.info/{web}.other"), record(1, &db, &later)),
        ],
        _ => vec![
            (format!("reserve.cpu/{web}.when"), "64".into()),
            (format!("reserve.info/{web}.when"), record(1, &web, "tomorrow")),
        ],
    };
    all.into_iter().collect()
}

/// Adds affinity and spread constraints to the pod.
pub(super) fn with_neighbours(pod: PodBuilder, neighbours: NeighbourPreference) -> PodBuilder {
    let same = json!({ "matchLabels": { "app": "test_cluster" } });
    let term = json!({ "topologyKey": "zone", "labelSelector": same });
    let spread = |when: &str| json!({ "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when, "labelSelector": same });
    match neighbours {
        NeighbourPreference::None => pod,
        NeighbourPreference::Preferred => pod.spread(spread("ScheduleAnyway")).affinity(json!({ "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 10, "podAffinityTerm": term }] } })),
        NeighbourPreference::Required => pod.spread(spread("DoNotSchedule")).affinity(json!({ "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [term] } })),
    }
}
