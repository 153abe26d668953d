//! The writes that bind a claim: a PersistentVolume gets the name of its claim, or a claim gets the node for which its volume is
//! provisioned. The cluster's controllers do the rest.

use super::names::{BOUND_BY_CONTROLLER, SELECTED_NODE};
use crate::model::storage::ClaimRef;
use crate::model::{CatalogKind, NodeName, ObjectWrite};
use serde_json::json;

/// Sets the `claimRef` of this version of a volume. `is_ours`: this program chose the volume, and not the person who created it.
pub fn volume_for_claim(
    name: &str,
    version: u64,
    claim: &ClaimRef,
    claim_version: u64,
    is_ours: bool,
) -> ObjectWrite {
    let mut patch = json!({
        "metadata": { "resourceVersion": version.to_string() },
        "spec": { "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": &*claim.namespace,
            "name": &*claim.name,
            "uid": claim.uid.as_ref().map(ToString::to_string),
            "resourceVersion": claim_version.to_string(),
        } },
    });
    if is_ours {
        patch["metadata"]["annotations"] = json!({ BOUND_BY_CONTROLLER: "yes" });
    }
    let (kind, name) = (CatalogKind::PersistentVolume, name.into());
    ObjectWrite { kind, namespace: None, name, is_status: false, patch: patch.to_string() }
}

/// Sets the annotation `selected-node` of this version of a claim, for its provisioner.
pub fn node_for_claim(claim: &ClaimRef, version: u64, node: &NodeName) -> ObjectWrite {
    let annotations = json!({ SELECTED_NODE: node.as_str() });
    let uid = claim.uid.as_ref().map(ToString::to_string);
    let patch = json!({ "metadata": {
        "uid": uid, "resourceVersion": version.to_string(), "annotations": annotations } });
    let (kind, namespace) = (CatalogKind::PersistentVolumeClaim, Some(claim.namespace.clone()));
    ObjectWrite { kind, namespace, name: claim.name.clone(), is_status: false, patch: patch.to_string() }
}

#[cfg(test)]
mod tests {
    use super::{node_for_claim, volume_for_claim};
    use crate::model::storage::ClaimRef;

    #[test]
    fn a_write_fails_if_its_object_has_changed() {
        let claim = ClaimRef { namespace: "ns".into(), name: "c".into(), uid: Some("u".into()) };
        let claim_ref = r#""spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","name":"c","namespace":"ns","resourceVersion":"4","uid":"u"}}"#;
        let theirs = volume_for_claim("v", 3, &claim, 4, false);
        assert_eq!(theirs.patch, format!(r#"{{"metadata":{{"resourceVersion":"3"}},{claim_ref}}}"#));
        let ours = volume_for_claim("v", 3, &claim, 4, true);
        let by = r#""annotations":{"pv.kubernetes.io/bound-by-controller":"yes"},"#;
        assert_eq!(ours.patch, format!(r#"{{"metadata":{{{by}"resourceVersion":"3"}},{claim_ref}}}"#));
        assert_eq!(
            node_for_claim(&claim, 4, &"n1".into()).patch,
            r#"{"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"n1"},"resourceVersion":"4","uid":"u"}}"#
        );
    }
}
