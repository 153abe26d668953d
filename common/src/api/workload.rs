//! A workload from its metadata alone, so that the server need not send specs and statuses.

use super::DecodeError;
use super::meta::{Meta, decode};
use crate::model::ids::{Text, Uid};
use crate::model::owner::{OwnerKind, Workload};
use serde::Deserialize;
use serde::de::Error as _;

#[derive(Deserialize)]
struct WorkloadWire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
}

/// Decodes a workload of `kind` from a full object or a PartialObjectMetadata.
pub fn workload(kind: OwnerKind, json: &str) -> Result<Workload, DecodeError> {
    let WorkloadWire { metadata } = decode(kind.as_str(), json)?;
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
    })
}

#[cfg(test)]
mod tests {
    use super::workload;
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
}
