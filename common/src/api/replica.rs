//! A replica of the daemon as a Lease, both ways.
//!
//! ```text
//! metadata: {name: reserve-<replica>, labels: {app.kubernetes.io/name: kubectl-reserve}, annotations: {
//!   reserve/seen-nodes: "4711", reserve/seen-pods: "4802", reserve/schedulers: "reserve-scheduler",
//!   reserve/extends: "default-scheduler", reserve/version: "0.1.0", reserve/restricted: "false"}}
//! spec: {holderIdentity: <replica>, leaseDurationSeconds: 15, renewTime: …}
//! ```
//!
//! Reading is tolerant: a number that cannot be read is 0, so that a replica which speaks in riddles has seen nothing.

use super::meta::{Meta, Str, decode, time};
use super::object::malformed;
use super::{DecodeError, names};
use crate::model::ids::Text;
use crate::model::replica::Replica;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const KIND: &str = "Lease";

/// A word that were good for longer would make everybody wait for a replica that is long gone.
const SECONDS_MAX: i64 = 60;

/// The most scheduler names that are read of one list, and the longest that a pod can have and we can serve.
const NAMES_MAX: usize = 64;
const NAME_LEN_MAX: usize = 63;

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: Option<Spec<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    lease_duration_seconds: Option<i64>,
    #[serde(borrow)]
    renew_time: Option<Str<'a>>,
}

/// Decodes the Lease of a replica.
pub fn replica(json: &str) -> Result<Replica, DecodeError> {
    let Wire { metadata, spec } = decode(KIND, json)?;
    let spec = spec.unwrap_or_default();
    let meta = metadata.object(KIND)?;
    let name = meta.name.strip_prefix(names::REPLICA_PREFIX).map(Text::from);
    let name = name.ok_or_else(|| malformed(KIND, format!("{} is no replica's name", meta.name)))?;
    let number = |key| metadata.annotation(key).and_then(|text| text.parse().ok()).unwrap_or(0);
    let names = |key| listed(&metadata.annotation(key).unwrap_or_default());
    let seconds = spec.lease_duration_seconds.unwrap_or(0).clamp(0, SECONDS_MAX);
    Ok(Replica {
        name,
        seen_nodes: number(names::SEEN_NODES),
        seen_pods: number(names::SEEN_PODS),
        schedulers: names(names::SCHEDULERS),
        extends: names(names::EXTENDS),
        renewed: time(spec.renew_time.as_ref()),
        duration: Duration::from_secs(seconds.unsigned_abs()),
        version: metadata.annotation(names::VERSION).unwrap_or_default(),
        is_restricted: metadata.annotation(names::RESTRICTED).is_some_and(|text| &*text == "true"),
        meta,
    })
}

fn listed(text: &str) -> Box<[Text]> {
    let names = text.split(',').map(str::trim).filter(|name| (1..=NAME_LEN_MAX).contains(&name.len()));
    let sorted: BTreeSet<Text> = names.take(NAMES_MAX).map(Text::from).collect();
    sorted.into_iter().collect()
}

/// The Lease that says all this, without a version: nobody else writes it.
pub fn lease(replica: &Replica) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": KIND,
        "metadata": {
            "name": lease_name(&replica.name),
            "namespace": &*replica.meta.namespace,
            "labels": { names::APP_LABEL: names::APP },
            "annotations": {
                names::SEEN_NODES: replica.seen_nodes.to_string(),
                names::SEEN_PODS: replica.seen_pods.to_string(),
                names::SCHEDULERS: replica.schedulers.join(","),
                names::EXTENDS: replica.extends.join(","),
                names::VERSION: &*replica.version,
                names::RESTRICTED: replica.is_restricted.to_string(),
            },
        },
        "spec": {
            "holderIdentity": &*replica.name,
            "leaseDurationSeconds": replica.duration.as_secs(),
            "renewTime": replica.renewed.map(|time| format!("{time:.6}")),
        },
    })
}

/// What the Lease of a replica is called.
pub fn lease_name(replica: &str) -> String {
    format!("{}{replica}", names::REPLICA_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::{Replica, lease, replica};
    use crate::model::object::Meta;
    use jiff::Timestamp;
    use std::time::Duration;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn example() -> Replica {
        Replica {
            meta: Meta {
                namespace: "kube-reserve".into(),
                name: "reserve-daemon-0".into(),
                uid: "".into(),
                resource_version: 0,
                is_deleting: false,
            },
            name: "daemon-0".into(),
            seen_nodes: u64::MAX,
            seen_pods: 7,
            schedulers: ["a".into(), "b".into()].into(),
            extends: ["default-scheduler".into()].into(),
            renewed: Some(time("2026-11-16T08:00:00.25Z")),
            duration: Duration::from_secs(15),
            version: "0.1.0".into(),
            is_restricted: true,
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let json = lease(&example());
        assert_eq!(json["spec"]["renewTime"], "2026-11-16T08:00:00.250000Z", "as MicroTime wants it");
        assert_eq!(json["metadata"]["labels"]["app.kubernetes.io/name"], "kubectl-reserve");
        assert_eq!(replica(&json.to_string()).unwrap(), example());
    }

    #[test]
    fn a_word_is_good_for_its_time() {
        let replica = example();
        for (now, is_live) in [
            ("2026-11-16T08:00:00.25Z", true),
            ("2026-11-16T08:00:15Z", true),
            ("2026-11-16T08:00:15.25Z", false),
            ("2026-11-16T07:59:50Z", true),
            ("2026-11-16T07:59:45Z", false),
            ("1970-01-01T00:00:00Z", false),
        ] {
            assert_eq!(replica.is_live(time(now)), is_live, "{now}");
        }
        assert!(!Replica { renewed: None, ..example() }.is_live(time("2026-11-16T08:00:00Z")));
        assert!(!Replica { duration: Duration::MAX, ..example() }.is_live(time("2026-11-16T08:00:00Z")));
    }

    #[test]
    fn what_a_lease_may_say_is_bounded_and_an_odd_one_says_nothing() {
        let with = |annotations: &str, spec: &str| {
            let text =
                format!(r#"{{"metadata":{{"name":"reserve-x","annotations":{annotations}}},"spec":{spec}}}"#);
            replica(&text).unwrap()
        };
        for (seconds, read) in
            [("null", 0), ("-1", 0), ("0", 0), ("15", 15), ("2147483647", 60), ("-2147483648", 0)]
        {
            let lease = with("null", &format!(r#"{{"leaseDurationSeconds":{seconds}}}"#));
            assert_eq!(lease.duration, Duration::from_secs(read), "{seconds}");
        }
        for text in ["", "-1", "1.5", "many", "18446744073709551616"] {
            assert_eq!(
                with(&format!(r#"{{"reserve/seen-nodes":"{text}"}}"#), "null").seen_nodes,
                0,
                "{text}"
            );
        }
        let long = format!(r#"{{"reserve/schedulers":"b, a,,a,{}"}}"#, "x".repeat(64));
        assert_eq!(*with(&long, "{}").schedulers, ["a".into(), "b".into()]);
        let many: Vec<String> = (0..9999).map(|number| number.to_string()).collect();
        let many = format!(r#"{{"reserve/extends":"{}"}}"#, many.join(","));
        assert_eq!(with(&many, "{}").extends.len(), 64);
        assert_eq!(with("null", r#"{"renewTime":"soon"}"#).renewed, None);
        for odd in ["{}", "[]", r#"{"metadata":{"name":"kube-scheduler"}}"#, r#"{"metadata":{}}"#] {
            assert!(replica(odd).is_err(), "{odd}");
        }
    }
}
