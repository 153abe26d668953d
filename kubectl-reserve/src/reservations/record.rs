//! Checks whether a reservation can be written to a node at all, and says what makes its record too long.

use common::api::reservation::{EncodeError, INFO_LEN_MAX, encode};
use common::model::{Reservation, ResourceName};

/// The bytes of JSON for a host port and for a resource, besides their own text.
const PORT_LEN: usize = 36;
const RESOURCE_LEN: usize = 10;

/// Why a reservation cannot be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnwritableRecord {
    pub(crate) problem: String,
    pub(crate) advice: &'static str,
}

/// Checks that `reservation` can be written to a node, before a pod is deleted that relies on it.
pub(crate) fn check(reservation: &Reservation) -> Result<(), UnwritableRecord> {
    match encode(reservation) {
        Ok(_) => Ok(()),
        Err(EncodeError::TooLong(bytes)) => {
            let (longest, advice) = longest(reservation);
            let problem = format!(
                "its record would have {bytes} bytes, and at most {INFO_LEN_MAX} fit; most of them are for {longest}"
            );
            Err(UnwritableRecord { problem, advice })
        }
        Err(error) => {
            Err(UnwritableRecord { problem: error.to_string(), advice: "kubectl reserve add --help" })
        }
    }
}

/// The part that takes most of the record, and what to do about it.
fn longest(reservation: &Reservation) -> (String, &'static str) {
    let ports = &reservation.ports;
    let extended = |name: &ResourceName| matches!(name, ResourceName::Scalar(_));
    let resources: Vec<ResourceName> =
        reservation.amount.iter().map(|(name, _)| name).filter(extended).collect();
    let record = reservation.record();
    let reason = record.map_or(0, |record| record.reason.len());
    let names = record.map_or(0, |record| {
        let replaced = record.replaces.as_ref().map_or(0, |pod| pod.name.len());
        record.owner.namespace.len() + record.owner.name.len() + replaced
    });
    let parts = [
        (
            ports.iter().map(|port| PORT_LEN + port.ip.len()).sum(),
            format!("its {} host ports", ports.len()),
            "give the pod fewer host ports",
        ),
        (
            resources.iter().map(|name| RESOURCE_LEN + name.as_str().len()).sum(),
            format!("its {} extended resources", resources.len()),
            "reserve fewer resources",
        ),
        (reason, format!("the reason, which has {reason} bytes"), "give a shorter --reason"),
        (names, format!("the names of pod and owner, which have {names} bytes"), "give them shorter names"),
    ];
    let longest: Option<(usize, String, &'static str)> = parts.into_iter().max_by_key(|(bytes, ..)| *bytes);
    longest.map(|(_, what, advice)| (what, advice)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::check;
    use common::api::reservation::INFO_LEN_MAX;
    use common::cluster::{ReservationTerms, replacement_reservation};
    use common::model::Reservation;
    use common::model::owner::Owner;
    use common::model::reservation::Placement;
    use serde_json::{Value, json};
    use std::time::Duration;

    const OWNER: &str = "11111111-0000-4000-8000-000000000001";

    fn reservation(ports: &[Value], requests: &Value, reason: &str) -> Reservation {
        let container = json!({ "name": "c", "ports": ports, "resources": { "requests": requests } });
        let json = json!({
            "metadata": { "name": "web-1", "namespace": "shop", "uid": "22222222-0000-4000-8000-000000000002",
                          "resourceVersion": "7" },
            "spec": { "nodeName": "node-1", "containers": [container] },
        });
        let pod = common::api::pod::pod(&json.to_string()).unwrap();
        let owner = Owner {
            kind: "Deployment".into(),
            namespace: "shop".into(),
            name: "web".into(),
            uid: OWNER.into(),
        };
        let now: jiff::Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
        let terms = ReservationTerms {
            now,
            expires: now + Duration::from_secs(600),
            life: Some(Duration::from_secs(600)),
            request: "cli-1".into(),
            by: "admin".into(),
            reason: reason.into(),
            placement: Placement::Wait,
        };
        replacement_reservation(&pod, owner, terms).unwrap()
    }

    fn ports(count: u32) -> Vec<Value> {
        (0..count).map(|number| json!({ "containerPort": 80, "hostPort": 20_000 + number })).collect()
    }

    #[test]
    fn a_record_that_is_too_long_says_why() {
        let cpu = json!({ "cpu": "1" });
        assert_eq!(check(&reservation(&ports(3), &cpu, "")), Ok(()));
        let many = check(&reservation(&ports(400), &cpu, "")).unwrap_err();
        assert!(many.problem.contains(&format!("at most {INFO_LEN_MAX} fit")), "{many:?}");
        assert!(many.problem.ends_with("most of them are for its 400 host ports"), "{many:?}");
        assert_eq!(many.advice, "give the pod fewer host ports");
        let scalars: serde_json::Map<String, Value> =
            (0..300).map(|number| (format!("example.com/device-{number}"), json!("1"))).collect();
        let many = check(&reservation(&[], &scalars.into(), "")).unwrap_err();
        assert!(many.problem.ends_with("its 300 extended resources"), "{many:?}");
        let long = check(&reservation(&[], &cpu, &"x".repeat(INFO_LEN_MAX))).unwrap_err();
        assert!(long.problem.contains("the reason, which has"), "{long:?}");
    }
}
