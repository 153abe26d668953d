//! How things look on the wire, written by hand from the design: reservations of every form, and noise beside them.

use super::town::{Form, GPU, Mind, Promise, RESOURCES, Town, Whom};
use crate::model::ReservationId;
use crate::model::owner::Workload;
use crate::model::reservation::Seat;
use crate::testing::{PodBuilder, at};
use serde_json::{Value, json};

pub(super) const NOISES: usize = 10;

pub(super) fn quantity(resource: &str, amount: i64) -> String {
    if resource == "cpu" { format!("{amount}m") } else { amount.to_string() }
}

impl Town {
    /// The id as the scheduler names it.
    pub(super) fn reservation_id(&self, promise: &Promise) -> ReservationId {
        let seat = promise.id.split_once('.').map(|(_, seat)| Seat::parse(seat).unwrap());
        ReservationId { owner: self.uid_of(promise.whom).into(), seat }
    }
}

/// The annotations of a reservation.
pub(super) fn annotations(town: &Town, promise: &Promise) -> Vec<(String, String)> {
    let id = &promise.id;
    let keys = RESOURCES[..3].iter().zip(promise.amount).filter(|(_, amount)| *amount > 0);
    let mut all: Vec<(String, String)> = keys
        .map(|(resource, amount)| (format!("reserve.{resource}/{id}"), quantity(resource, amount)))
        .collect();
    let info = match promise.form {
        Form::Plain => return all,
        Form::Recorded => record(town, promise),
        Form::Newer => {
            let expires =
                promise.expires.map_or_else(|| json!(["later"]), |expires| json!(at(expires).to_string()));
            json!({ "v": 2, "expires": expires, "holder": [1, 2], "ports": [{ "port": 80, "protocol": "TCP" }] })
        }
    };
    all.push((format!("reserve.info/{id}"), info.to_string()));
    all
}

fn record(town: &Town, promise: &Promise) -> Value {
    let (kind, namespace, name) = match promise.whom {
        Whom::Workload(place) => {
            (town.workloads[place].kind.as_str(), "default", town.workloads[place].name.to_string())
        }
        Whom::Pod(guest) => ("Pod", town.guests[guest].kin.namespace(), town.guests[guest].name.clone()),
    };
    let port =
        |(protocol, ip, port): &(&str, &str, u16)| json!({ "port": port, "protocol": protocol, "ip": ip });
    let mut info = json!({
        "v": 1, "priority": promise.priority, "request": "r", "placement": "prefer",
        "owner": { "kind": kind, "namespace": namespace, "name": name, "uid": town.uid_of(promise.whom) },
        "created": at(promise.created).to_string(), "expires": at(promise.expires.unwrap()).to_string(),
        "ports": promise.ports.iter().map(port).collect::<Value>(),
    });
    if promise.amount[GPU] > 0 {
        info["resources"] = json!({ RESOURCES[GPU]: promise.amount[GPU].to_string() });
    }
    if let Some(replaced) = promise.replaces.map(|guest| &town.guests[guest]) {
        info["replaces"] = json!({ "name": replaced.name, "uid": replaced.uid });
    }
    info
}

/// Annotations that are malformed or somebody else's, and ask for a lot.
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

/// The pod with what it wants of its neighbours.
pub(super) fn minding(pod: PodBuilder, mind: Mind) -> PodBuilder {
    let same = json!({ "matchLabels": { "app": "town" } });
    let term = json!({ "topologyKey": "zone", "labelSelector": same });
    let spread = |when: &str| json!({ "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when, "labelSelector": same });
    match mind {
        Mind::Not => pod,
        Mind::Softly => pod.spread(spread("ScheduleAnyway")).affinity(json!({ "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 10, "podAffinityTerm": term }] } })),
        Mind::Strictly => pod.spread(spread("DoNotSchedule")).affinity(json!({ "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [term] } })),
    }
}
