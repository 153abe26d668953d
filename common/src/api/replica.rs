//! Decodes and encodes the Lease of a replica of the daemon. Entry points: [`trusted_replica`] and [`lease`].
//!
//! ```text
//! metadata: {name: reserve-<replica>, labels: {app.kubernetes.io/name: kubectl-reserve}, annotations: {
//!   reserve/seen-nodes: "4711", reserve/seen-pods: "4802", reserve/schedulers: "reserve-scheduler",
//!   reserve/extends: "default-scheduler", reserve/version: "0.1.0", reserve/restricted: "false"}}
//! spec: {holderIdentity: <replica>, leaseDurationSeconds: 15, renewTime: …}
//! ```
//!
//! An invalid number is read as 0, so that a replica with an invalid Lease counts as having seen nothing.
//!
//! The built-in role `edit` may write Leases. So a Lease counts as the Lease of a replica only if it is in a namespace of the
//! daemon: tenants can write Leases in other namespaces.

use super::meta::{Meta, ObjectWire, Str, decode, time};
use super::object::malformed;
use super::{DecodeError, names};
use crate::model::{Replica, Text};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const KIND: &str = "Lease";

/// The longest `leaseDurationSeconds`: with a longer one, writers would wait for a replica that is long gone.
const SECONDS_MAX: i64 = 60;

/// The most scheduler names that are read from one list.
const NAMES_MAX: usize = 64;
/// The longest scheduler name that a pod can have and we can serve.
const NAME_LEN_MAX: usize = 63;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    lease_duration_seconds: Option<i64>,
    renew_time: Option<Str<'a>>,
}

type LeaseWire<'a> = ObjectWire<'a, SpecWire<'a>>;

/// The namespaces in which a Lease can be the Lease of a replica. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonNamespaces(Vec<Text>);

impl Default for DaemonNamespaces {
    /// The default namespace of an installation, and the namespace of a daemon that runs as a static pod.
    fn default() -> Self {
        Self(vec![names::NAMESPACE.into(), names::SYSTEM_NAMESPACE.into()])
    }
}

impl DaemonNamespaces {
    pub fn only(namespace: &str) -> Self {
        Self(vec![namespace.into()])
    }

    #[must_use]
    pub fn and(mut self, namespace: &str) -> Self {
        if !self.includes(namespace) {
            self.0.push(namespace.into());
        }
        self
    }

    pub fn includes(&self, namespace: &str) -> bool {
        self.0.iter().any(|own| **own == *namespace)
    }

    /// All namespaces. The daemon is most likely in the first.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|namespace| &**namespace)
    }

    /// All namespaces as text: `kube-reserve, kube-system`.
    pub fn words(&self) -> String {
        self.0.join(", ")
    }
}

/// Decodes the Lease of a replica, and refuses a Lease that a tenant could have written: it must be in a namespace of the daemon,
/// and have the label and the name that a replica gives it. A Lease that was never renewed is never live.
///
/// The daemon and the command trust a Lease from the API server only after this check.
pub fn trusted_replica(json: &str, namespaces: &DaemonNamespaces) -> Result<Replica, DecodeError> {
    let wire = decode::<LeaseWire<'_>>(KIND, json)?;
    let Meta { name, namespace, labels, .. } = &wire.metadata;
    let (name, namespace) = (&**name, &**namespace);
    if !namespaces.includes(namespace) {
        let problem = format!("{name} is in {namespace}, and the daemon is in {}", namespaces.words());
        return Err(malformed(KIND, problem));
    }
    let mut labels = labels.iter().flat_map(|labels| &labels.0);
    if !labels.any(|(key, value)| key == names::APP_LABEL && value == names::APP) {
        return Err(malformed(KIND, format!("{name} has no label {}={}", names::APP_LABEL, names::APP)));
    }
    read(wire)
}

/// Decodes the Lease of a replica without this check, for Leases that were checked before.
pub fn replica(json: &str) -> Result<Replica, DecodeError> {
    read(decode(KIND, json)?)
}

fn read(ObjectWire { metadata, spec, .. }: LeaseWire<'_>) -> Result<Replica, DecodeError> {
    let meta = metadata.object(KIND)?;
    let name = meta.name.strip_prefix(names::REPLICA_PREFIX).map(Text::from);
    let name = name.ok_or_else(|| malformed(KIND, format!("{} is no replica's name", meta.name)))?;
    let number = |key| metadata.annotation(key).and_then(|text| text.parse().ok()).unwrap_or(0);
    let names = |key| parse_names(&metadata.annotation(key).unwrap_or_default());
    let seconds = spec.lease_duration_seconds.unwrap_or(0).clamp(0, SECONDS_MAX);
    Ok(Replica {
        name,
        seen_nodes: number(names::SEEN_NODES),
        seen_pods: number(names::SEEN_PODS),
        schedulers: names(names::SCHEDULERS),
        extends: names(names::EXTENDS),
        renew_time: time(spec.renew_time.as_ref()),
        duration: Duration::from_secs(seconds.unsigned_abs()),
        version: metadata.annotation(names::VERSION).unwrap_or_default(),
        is_restricted: metadata.annotation(names::RESTRICTED).is_some_and(|text| &*text == "true"),
        meta,
    })
}

fn parse_names(text: &str) -> Box<[Text]> {
    let names = text.split(',').map(str::trim).filter(|name| (1..=NAME_LEN_MAX).contains(&name.len()));
    let sorted: BTreeSet<Text> = names.take(NAMES_MAX).map(Text::from).collect();
    sorted.into_iter().collect()
}

/// The Lease of `replica`, without a `resourceVersion`: no other program writes this Lease.
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
            "renewTime": replica.renew_time.map(|time| format!("{time:.6}")),
        },
    })
}

pub fn lease_name(replica: &str) -> String {
    format!("{}{replica}", names::REPLICA_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::{DaemonNamespaces, Replica, lease, replica, trusted_replica};
    use crate::model::object::ObjectMeta;
    use jiff::Timestamp;
    use std::time::Duration;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn example() -> Replica {
        Replica {
            meta: ObjectMeta {
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
            renew_time: Some(time("2026-11-16T08:00:00.25Z")),
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
    fn only_a_lease_in_a_namespace_of_the_daemon_is_believed() {
        let usual = DaemonNamespaces::default();
        let with = |pointer: &str, value: serde_json::Value| {
            let mut json = lease(&example());
            *json.pointer_mut(pointer).unwrap() = value;
            json.to_string()
        };
        let in_namespace = |namespace: &str| with("/metadata/namespace", namespace.into());
        assert_eq!(trusted_replica(&in_namespace("kube-reserve"), &usual).unwrap(), example());
        assert!(trusted_replica(&in_namespace("kube-system"), &usual).is_ok());
        for tenant in ["shop", "kube-reserve2", "default", ""] {
            let error = trusted_replica(&in_namespace(tenant), &usual).unwrap_err().source.to_string();
            assert!(error.contains(&format!("is in {tenant}, and the daemon is in")), "{error}");
        }
        let other = DaemonNamespaces::only("ours");
        assert!(trusted_replica(&in_namespace("ours"), &other).is_ok());
        assert!(
            trusted_replica(&in_namespace("kube-reserve"), &other).is_err(),
            "only the one that was named"
        );
        assert!(trusted_replica(&in_namespace("kube-reserve"), &other.and("kube-reserve")).is_ok());
        for (pointer, value) in [
            ("/metadata/labels", serde_json::json!({})),
            ("/metadata/labels", serde_json::json!({ "app.kubernetes.io/name": "other" })),
            ("/metadata/name", "kube-scheduler".into()),
        ] {
            assert!(trusted_replica(&with(pointer, value.clone()), &usual).is_err(), "{pointer} {value}");
        }
        let never = trusted_replica(&with("/spec/renewTime", serde_json::Value::Null), &usual).unwrap();
        assert!(!never.is_live(time("2026-11-16T08:00:00Z")) && !never.is_live(Timestamp::MIN));
    }

    #[test]
    fn a_lease_is_live_for_its_duration() {
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
        assert!(!Replica { renew_time: None, ..example() }.is_live(time("2026-11-16T08:00:00Z")));
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
        assert_eq!(with("null", r#"{"renewTime":"soon"}"#).renew_time, None);
        for odd in ["{}", "[]", r#"{"metadata":{"name":"kube-scheduler"}}"#, r#"{"metadata":{}}"#] {
            assert!(replica(odd).is_err(), "{odd}");
        }
    }
}
