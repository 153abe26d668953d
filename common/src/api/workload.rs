//! A workload: most from its metadata alone, so that the server need not send specs and statuses.

use super::DecodeError;
use super::meta::{Meta, Pairs, decode};
use super::selector::{SelectorWire, optional};
use crate::model::ids::{Text, Uid};
use crate::model::owner::{OwnerKind, Workload};
use crate::model::selector::Selector;
use serde::Deserialize;
use serde::de::Error as _;

#[derive(Deserialize)]
struct WorkloadWire<'a, S> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(default = "none")]
    spec: Option<S>,
}

/// Nothing of the spec is read.
#[derive(Deserialize)]
struct AnySpec {}

#[derive(Deserialize)]
struct SetSpec<'a> {
    #[serde(borrow, default)]
    selector: Option<SelectorWire<'a>>,
}

/// The spec of a ReplicationController, which is older than selectors.
#[derive(Deserialize)]
struct ControllerSpec<'a> {
    #[serde(borrow, default)]
    selector: Option<Pairs<'a>>,
}

/// Decodes a workload of `kind` from a full object or a PartialObjectMetadata.
pub fn workload(kind: OwnerKind, json: &str) -> Result<Workload, DecodeError> {
    let (metadata, selector) = match kind {
        OwnerKind::ReplicationController => {
            let WorkloadWire { metadata, spec } =
                decode::<WorkloadWire<'_, ControllerSpec<'_>>>(kind.as_str(), json)?;
            (metadata, spec.and_then(|spec| spec.selector).map(|pairs| from_pairs(&pairs)))
        }
        kind if kind.has_selector() => {
            let WorkloadWire { metadata, spec } =
                decode::<WorkloadWire<'_, SetSpec<'_>>>(kind.as_str(), json)?;
            (metadata, optional(spec.and_then(|spec| spec.selector).as_ref()).ok().flatten())
        }
        _ => (decode::<WorkloadWire<'_, AnySpec>>(kind.as_str(), json)?.metadata, None),
    };
    if metadata.name.is_empty() || metadata.uid.is_empty() {
        let source = serde_json::Error::custom("an object without a name or a uid, such as a list");
        return Err(DecodeError { kind: kind.as_str(), source });
    }
    Ok(Workload {
        kind,
        namespace: Text::from(&*metadata.namespace),
        name: Text::from(&*metadata.name),
        uid: Uid::from(&*metadata.uid),
        resource_version: metadata.version(),
        controller: metadata.controller(),
        selector,
    })
}

fn none<S>() -> Option<S> {
    None
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
