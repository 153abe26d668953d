//! Decodes a workload. The metadata alone is enough, so that the server need not send the spec and status of every kind.

use super::DecodeError;
use super::daemon_set;
use super::meta::{Meta, NullableList, ObjectWire, Pairs, Str, decode};
use super::selector::{SelectorWire, optional};
use crate::model::{ForeignKind, OwnerKind, Selector, Text, Uid, Workload};
use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};
use std::sync::Arc;

/// The spec of a kind with a number of pods. Its selector is not read of every kind; that of a ReplicationController is a map of
/// labels.
#[derive(Deserialize)]
struct ScaledSpec<S> {
    replicas: Option<i64>,
    selector: Option<S>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct JobSpec {
    parallelism: Option<i64>,
    completions: Option<i64>,
    suspend: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct JobStatus<'a> {
    succeeded: Option<i64>,
    conditions: NullableList<ConditionWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ConditionWire<'a> {
    #[serde(rename = "type")]
    kind: Str<'a>,
    status: Str<'a>,
}

/// What is decoded differently for each kind: metadata, selector, desired pods.
type Parts<'a> = (Meta<'a>, Option<Selector>, Option<u32>);

/// Decodes an owner of a foreign kind from a full object or a PartialObjectMetadata.
pub fn foreign(kind: Arc<ForeignKind>, json: &str) -> Result<Workload, DecodeError> {
    Ok(Workload { foreign: Some(kind), ..workload(OwnerKind::Foreign, json)? })
}

/// Decodes a workload of `kind` from a full object or a PartialObjectMetadata.
pub fn workload(kind: OwnerKind, json: &str) -> Result<Workload, DecodeError> {
    let (metadata, selector, desired_pods) = parts(kind, json)?;
    if metadata.name.is_empty() || metadata.uid.is_empty() {
        let source = serde_json::Error::custom("an object without a name or a uid, such as a list");
        return Err(DecodeError { kind: kind.as_str(), source });
    }
    Ok(Workload {
        kind,
        foreign: None,
        namespace: Text::from(&*metadata.namespace),
        name: Text::from(&*metadata.name),
        uid: Uid::from(&*metadata.uid),
        resource_version: metadata.version(),
        controller: metadata.controller(),
        selector,
        desired_pods,
        is_deleting: metadata.is_deleting(),
        keep: metadata.keep(),
        daemon: (kind == OwnerKind::DaemonSet).then(|| daemon_set::template(json)).flatten().map(Arc::new),
    })
}

fn parts(kind: OwnerKind, json: &str) -> Result<Parts<'_>, DecodeError> {
    let name = kind.as_str();
    Ok(match kind {
        OwnerKind::ReplicationController => {
            let (metadata, desired_pods, selector) = scaled::<Pairs<'_>>(name, json)?;
            (metadata, selector.map(|pairs| from_pairs(&pairs)), desired_pods)
        }
        OwnerKind::ReplicaSet | OwnerKind::StatefulSet => {
            let (metadata, desired_pods, selector) = scaled::<SelectorWire<'_>>(name, json)?;
            (metadata, optional(selector.as_ref()).ok().flatten(), desired_pods)
        }
        OwnerKind::Deployment => {
            let (metadata, desired_pods, _) = scaled::<IgnoredAny>(name, json)?;
            (metadata, None, desired_pods)
        }
        OwnerKind::Job => {
            let wire: ObjectWire<'_, Option<JobSpec>, JobStatus<'_>> = decode(name, json)?;
            (wire.metadata, None, wire.spec.map(|spec| job_desired_pods(&spec, &wire.status)))
        }
        OwnerKind::DaemonSet | OwnerKind::CronJob | OwnerKind::Foreign => {
            (decode::<ObjectWire<'_>>(name, json)?.metadata, None, None)
        }
    })
}

fn scaled<'a, S: Deserialize<'a>>(
    name: &'static str,
    json: &'a str,
) -> Result<(Meta<'a>, Option<u32>, Option<S>), DecodeError> {
    let ObjectWire::<Option<ScaledSpec<S>>> { metadata, spec, .. } = decode(name, json)?;
    let desired_pods = spec.as_ref().map(|spec| replicas(spec.replicas));
    Ok((metadata, desired_pods, spec.and_then(|spec| spec.selector)))
}

/// A missing number is 1, the default of the API server.
fn replicas(number: Option<i64>) -> u32 {
    u32::try_from(number.unwrap_or(1)).unwrap_or(0)
}

/// `parallelism`, but no more pods than still have to succeed; 0 for a Job that is suspended or has ended. A Job without
/// `completions` is done when one pod has succeeded.
fn job_desired_pods(spec: &JobSpec, status: &JobStatus<'_>) -> u32 {
    let is_over = |condition: &ConditionWire<'_>| {
        let is_end =
            matches!(&*condition.kind, "Complete" | "Failed" | "SuccessCriteriaMet" | "FailureTarget");
        is_end && &*condition.status == "True"
    };
    if spec.suspend == Some(true) || status.conditions.0.iter().any(is_over) {
        return 0;
    }
    let succeeded = status.succeeded.unwrap_or(0).max(0);
    let left = match spec.completions {
        Some(completions) => completions.saturating_sub(succeeded),
        None if succeeded > 0 => 0,
        None => i64::MAX,
    };
    replicas(Some(spec.parallelism.unwrap_or(1).min(left)))
}

fn from_pairs(pairs: &Pairs<'_>) -> Selector {
    Selector::from_pairs(pairs.0.iter().map(|(key, value)| (&**key, &**value)))
}

#[cfg(test)]
mod tests {
    use super::workload;
    use crate::model::labels::Labels;
    use crate::model::owner::OwnerKind;

    #[test]
    fn the_controller_is_the_reference_that_says_so() {
        let json = r#"{"metadata":{"name":"web-1","namespace":"default","uid":"u1","resourceVersion":"9",
            "ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"x"},
            {"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"u2","controller":true}]}}"#;
        let set = workload(OwnerKind::ReplicaSet, json).unwrap();
        let controller = set.controller.unwrap();
        assert_eq!((controller.kind, &*controller.name), (Some(OwnerKind::Deployment), "web"));
        assert_eq!(set.resource_version, 9);
    }

    #[test]
    fn a_reference_that_controls_nothing_is_no_controller() {
        let json = r#"{"metadata":{"name":"a","uid":"a","ownerReferences":[{"kind":"Job","name":"j","uid":"u"},
            {"kind":"Job","name":"k","uid":"v","controller":false}]}}"#;
        assert!(workload(OwnerKind::Job, json).unwrap().controller.is_none());
        let none = r#"{"metadata":{"name":"a","uid":"a","ownerReferences":null,"labels":null}}"#;
        assert!(workload(OwnerKind::Job, none).unwrap().controller.is_none());
    }

    #[test]
    fn a_list_is_no_workload() {
        let list = r#"{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"5"},"items":[]}"#;
        assert!(workload(OwnerKind::Job, list).is_err());
    }

    #[test]
    fn sets_and_controllers_say_whom_they_select() {
        let pod = Labels::new([("app", "web"), ("track", "stable")]);
        let selects = |kind, selector: &str| {
            let json = format!(
                r#"{{"metadata":{{"name":"a","uid":"a"}},"spec":{{"replicas":1,"selector":{selector}}}}}"#
            );
            workload(kind, &json).unwrap().selector.map(|selector| selector.matches(&pod))
        };
        let plain = r#"{"app":"web"}"#;
        let labels = r#"{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"track","operator":"NotIn","values":["canary"]}]}"#;
        assert_eq!(selects(OwnerKind::ReplicationController, plain), Some(true));
        assert_eq!(selects(OwnerKind::ReplicationController, r#"{"app":"db"}"#), Some(false));
        for kind in [OwnerKind::ReplicaSet, OwnerKind::StatefulSet] {
            assert_eq!(selects(kind, labels), Some(true));
            assert_eq!(selects(kind, "null"), None);
            assert_eq!(
                selects(kind, r#"{"matchExpressions":[{"key":"a","operator":"Near"}]}"#),
                None,
                "as upstream"
            );
        }
        for kind in [OwnerKind::Deployment, OwnerKind::DaemonSet, OwnerKind::Job, OwnerKind::CronJob] {
            assert_eq!(selects(kind, labels), None, "{kind} is read by its metadata");
        }
    }

    #[test]
    fn a_workload_has_a_number_of_desired_pods() {
        let wants = |kind, spec: &str, status: &str| {
            let json = format!(r#"{{"metadata":{{"name":"a","uid":"a"}},"spec":{spec},"status":{status}}}"#);
            workload(kind, &json).unwrap().desired_pods
        };
        use OwnerKind::{
            CronJob, DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet,
        };
        for kind in [Deployment, ReplicaSet, StatefulSet, ReplicationController] {
            assert_eq!(wants(kind, r#"{"replicas":3}"#, "null"), Some(3), "{kind}");
            assert_eq!(wants(kind, "{}", "null"), Some(1), "{kind}");
            assert_eq!(wants(kind, r#"{"replicas":-1}"#, "null"), Some(0), "{kind}");
            assert_eq!(wants(kind, "null", "null"), None, "{kind}");
        }
        for (spec, status, desired_pods) in [
            ("{}", "{}", 1),
            (r#"{"parallelism":3,"completions":5}"#, "{}", 3),
            (r#"{"parallelism":3,"completions":5}"#, r#"{"succeeded":4}"#, 1),
            (r#"{"parallelism":3}"#, r#"{"succeeded":1}"#, 0),
            (r#"{"parallelism":3,"suspend":true}"#, "{}", 0),
            (r#"{"parallelism":3}"#, r#"{"conditions":[{"type":"Failed","status":"True"}]}"#, 0),
            (r#"{"parallelism":3}"#, r#"{"conditions":[{"type":"Failed","status":"False"}]}"#, 3),
        ] {
            assert_eq!(wants(Job, spec, status), Some(desired_pods), "{spec} {status}");
        }
        for kind in [DaemonSet, CronJob] {
            assert_eq!(wants(kind, r#"{"replicas":3,"parallelism":3}"#, "null"), None, "{kind}");
        }
    }

    #[test]
    fn keep_and_deletion_are_read_of_every_kind() {
        let json = r#"{"metadata":{"name":"a","uid":"a","deletionTimestamp":"2026-01-31T12:00:00Z","annotations":{"reserve/keep":"5m"}}}"#;
        for kind in OwnerKind::ALL {
            let decoded = workload(kind, json).unwrap();
            let life = decoded.keep.and_then(|keep| keep.life());
            assert_eq!(
                (life, decoded.is_deleting),
                (Some(std::time::Duration::from_secs(300)), true),
                "{kind}"
            );
        }
    }

    #[test]
    fn metadata_alone_will_do() {
        for kind in OwnerKind::ALL {
            for json in [
                r#"{"metadata":{"name":"a","uid":"a"}}"#,
                r#"{"metadata":{"name":"a","uid":"a"},"spec":null}"#,
            ] {
                assert!(workload(kind, json).unwrap().selector.is_none(), "{kind}");
            }
        }
    }
}
