//! Decoding storage objects: as the API server sends them, and invalid ones.

use super::{attachment, capacity, claim, class, driver, node, volume};
use crate::model::labels::Labels;
use crate::model::quantity::Quantity;
use crate::model::storage::{
    AccessMode, BindingMode, ClaimPhase, CsiDriver, CsiNode, CsiStorageCapacity, InTreePlugin,
    PersistentVolume, PersistentVolumeClaim, PersistentVolumeSource, StorageClass, VolumeAttachment,
    VolumeMode, VolumePhase,
};
use crate::testing::{self, uid};
use serde_json::{Value, json};

fn named(rest: &str) -> String {
    format!(r#"{{"metadata":{{"name":"x","uid":"u"}}{rest}}}"#)
}

#[test]
fn a_claim_says_what_it_wants() {
    let built = testing::claim("data").class("fast").size("5Gi").modes(&["ReadWriteOncePod", "ReadOnlyMany"]);
    let built =
        built.set("/spec/volumeMode", json!("Block")).set("/spec/volumeAttributesClassName", json!("gold"));
    let decoded: PersistentVolumeClaim = built.selector([("disk", "ssd")]).build();
    assert_eq!((decoded.class.as_deref(), decoded.attributes_class.as_deref()), (Some("fast"), Some("gold")));
    assert_eq!(decoded.requested, Some(Quantity::from_bytes(5 << 30)));
    assert!(decoded.access_modes.contains(AccessMode::ReadWriteOncePod));
    assert_eq!((decoded.volume_mode, decoded.phase), (VolumeMode::Block, ClaimPhase::Pending));
    assert!(decoded.selector.unwrap().matches(&Labels::new([("disk", "ssd")])));
    assert_eq!((decoded.volume_name, decoded.selected_node, decoded.controller), (None, None, None));
}

#[test]
fn a_claim_is_bound_when_both_the_volume_and_the_annotation_say_so() {
    let bound: PersistentVolumeClaim = testing::claim("data").bound_to("pv1").build();
    assert!(bound.is_bound() && bound.phase == ClaimPhase::Bound);
    let only = |pointer: &str, value: &str| {
        testing::claim("data").set(pointer, json!(value)).build::<PersistentVolumeClaim>().is_bound()
    };
    assert!(!only("/spec/volumeName", "pv1"));
    assert!(!only("/metadata/annotations/pv.kubernetes.io~1bind-completed", "yes"));
    let emptied = testing::claim("data").bound_to("").build::<PersistentVolumeClaim>();
    assert!(!emptied.is_bound(), "an empty name is none");
}

#[test]
fn the_beta_annotation_names_the_class_even_if_it_is_empty() {
    const BETA: &str = "volume.beta.kubernetes.io/storage-class";
    let class = |built: testing::CatalogObjectBuilder| built.build::<PersistentVolumeClaim>().class;
    assert_eq!(class(testing::claim("a").class("new").annotation(BETA, "old")).as_deref(), Some("old"));
    assert_eq!(class(testing::claim("a").class("new").annotation(BETA, "")), None);
    assert_eq!(class(testing::claim("a").class("")), None);
    assert_eq!(class(testing::claim("a")), None);
    let old: PersistentVolume = testing::volume("pv").class("new").annotation(BETA, "old").build();
    assert_eq!(old.class.as_deref(), Some("old"));
}

#[test]
fn a_claim_names_its_pod_and_its_node() {
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid("p").to_string(), "controller": true });
    let built = testing::claim("data").terminating().set("/metadata/ownerReferences", json!([pod]));
    let built =
        built.annotation("volume.kubernetes.io/selected-node", "n1").set("/status/phase", json!("Lost"));
    let decoded: PersistentVolumeClaim = built.build();
    assert_eq!((decoded.controller, decoded.meta.is_deleting), (Some(uid("p")), true));
    assert_eq!((decoded.selected_node, decoded.phase), (Some("n1".into()), ClaimPhase::Lost));
}

#[test]
fn nothing_and_null_are_the_same_to_a_claim() {
    let null = r#","spec":{"volumeName":null,"storageClassName":null,"accessModes":null,"volumeMode":null,"selector":null,
        "resources":{"requests":null},"volumeAttributesClassName":null},"status":{"phase":null}"#;
    let bare = claim(&named("")).unwrap();
    assert_eq!(claim(&named(null)).unwrap(), bare);
    assert_eq!(claim(&named(r#","spec":{"resources":null},"status":null"#)).unwrap(), bare);
    assert_eq!((bare.requested, bare.volume_mode), (None, VolumeMode::Filesystem));
}

#[test]
fn what_cannot_be_understood_is_an_error_that_says_where() {
    let error = |spec: &str| claim(&named(&format!(r#","spec":{spec}"#))).unwrap_err().source.to_string();
    assert!(
        error(r#"{"resources":{"requests":{"storage":"much"}}}"#).contains("spec.resources.requests.storage")
    );
    let odd = r#"{"selector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}"#;
    assert!(error(odd).contains("spec.selector"), "{}", error(odd));
    assert!(volume(&named(r#","spec":{"capacity":{"storage":"1 Gi"}}"#)).is_err());
    assert!(capacity(&named(r#","capacity":"x""#)).is_err());
    assert!(
        node(&named(r#","spec":{"drivers":[{"name":"d","allocatable":{"count":3000000000}}]}"#)).is_err()
    );
    assert!(driver(&named(r#","spec":{"storageCapacity":"yes"}"#)).is_err());
    for list in [r#"{"metadata":{"resourceVersion":"5"},"items":[]}"#, "[]", ""] {
        assert!(claim(list).is_err() && volume(list).is_err() && class(list).is_err(), "{list}");
        assert!(node(list).is_err() && driver(list).is_err() && capacity(list).is_err(), "{list}");
        assert!(attachment(list).is_err(), "{list}");
    }
}

#[test]
fn a_volume_names_its_claim_and_its_nodes() {
    let built = testing::volume("pv1").class("fast").size("9Gi").label("topology.kubernetes.io/zone", "a");
    let built = built.claimed_by("data").csi("csi.example.com", "v-1").on_nodes("zone", "a");
    let built = built.annotation("pv.kubernetes.io/bound-by-controller", "yes");
    let decoded: PersistentVolume = built.build();
    assert_eq!((decoded.class.as_deref(), decoded.capacity), (Some("fast"), Quantity::from_bytes(9 << 30)));
    assert_eq!(decoded.labels.get("topology.kubernetes.io/zone"), Some("a"));
    assert_eq!(
        decoded.source,
        PersistentVolumeSource::Csi { driver: "csi.example.com".into(), handle: "v-1".into() }
    );
    assert!(decoded.is_bound_by_controller && decoded.phase == VolumePhase::Bound);
    let reaches = |zone: &str| decoded.nodes.as_ref().unwrap().matches(&Labels::new([("zone", zone)]), "");
    assert!(reaches("a") && !reaches("b"));
    let reference = decoded.claim.as_ref().unwrap();
    assert!(reference.refers_to(&testing::claim("data").build()));
    assert!(
        !reference.refers_to(&testing::claim("data").uid("another").build()),
        "another claim of that name"
    );
    assert!(!reference.refers_to(&testing::claim("data").namespace("elsewhere").build()));
    let kept: PersistentVolume = testing::volume("pv")
        .set("/spec/claimRef", json!({ "namespace": "default", "name": "data", "uid": "" }))
        .build();
    assert!(kept.claim.unwrap().refers_to(&testing::claim("data").uid("whoever").build()));
}

#[test]
fn nothing_and_null_are_the_same_to_a_volume() {
    let null = r#","spec":{"capacity":{"storage":null},"accessModes":null,"claimRef":null,"nodeAffinity":{"required":null},
        "csi":null,"awsElasticBlockStore":null,"storageClassName":null},"status":null"#;
    let bare = volume(&named("")).unwrap();
    assert_eq!(volume(&named(null)).unwrap(), bare);
    assert_eq!(
        (bare.capacity, bare.nodes, bare.source),
        (Quantity::ZERO, None, PersistentVolumeSource::Other)
    );
}

#[test]
fn volumes_of_in_tree_plugins_are_known_by_their_ids() {
    let backing = |field: &str, value: Value| {
        testing::volume("pv").set(&format!("/spec/{field}"), value).build::<PersistentVolume>().source
    };
    let of_kind = |plugin, kind: Option<&str>| PersistentVolumeSource::InTree {
        plugin,
        id: "v".into(),
        kind: kind.map(Into::into),
    };
    let of = |plugin| of_kind(plugin, None);
    let disk = json!({ "volumeID": "v", "fsType": "ext4" });
    assert_eq!(backing("awsElasticBlockStore", disk.clone()), of(InTreePlugin::AwsEbs));
    assert_eq!(backing("cinder", disk.clone()), of(InTreePlugin::Cinder));
    assert_eq!(backing("portworxVolume", disk), of(InTreePlugin::Portworx));
    let gce = json!({ "pdName": "v", "partition": 1 });
    assert_eq!(backing("gcePersistentDisk", gce), of(InTreePlugin::GcePd));
    let azure = |kind: Value| json!({ "diskName": "n", "diskURI": "v", "kind": kind });
    assert_eq!(
        backing("azureDisk", azure(json!("managed"))),
        of_kind(InTreePlugin::AzureDisk, Some("managed"))
    );
    assert_eq!(backing("azureDisk", azure(Value::Null)), of(InTreePlugin::AzureDisk));
    assert_eq!(
        backing("azureDisk", azure(json!("Shared"))),
        of_kind(InTreePlugin::AzureDisk, Some("Shared"))
    );
    assert_eq!(backing("hostPath", json!({ "path": "/" })), PersistentVolumeSource::Other);
    assert!(
        InTreePlugin::ALL.into_iter().all(|plugin| InTreePlugin::from_name(plugin.name()) == Some(plugin))
    );
    assert_eq!(InTreePlugin::from_name(InTreePlugin::AwsEbs.driver()), None, "a driver is no in-tree plugin");
}

#[test]
fn a_class_says_who_makes_volumes_when_and_where() {
    let values = |key: &str, values: &[&str]| json!({ "key": key, "values": values });
    let terms = json!([
        { "matchLabelExpressions": [values("zone", &["a", "b"]), values("disk", &["ssd"])] },
        { "matchLabelExpressions": [values("zone", &["c"])] },
        { "matchLabelExpressions": null },
    ]);
    let fast: StorageClass = testing::storage_class("fast").set("/allowedTopologies", terms).build();
    assert_eq!(fast.binding_mode, Some(BindingMode::WaitForFirstConsumer));
    assert!(fast.has_provisioner());
    let allows = |labels: &[(&str, &str)]| fast.allows(&Labels::new(labels.iter().copied()));
    assert!(allows(&[("zone", "b"), ("disk", "ssd")]) && allows(&[("zone", "c")]));
    assert!(!allows(&[("zone", "b")]) && !allows(&[("zone", "d"), ("disk", "ssd")]) && !allows(&[]));
    let bare =
        class(&named(r#","provisioner":"kubernetes.io/no-provisioner","allowedTopologies":[]"#)).unwrap();
    assert!(!bare.has_provisioner() && bare.allows(&Labels::default()));
    assert_eq!((bare.binding_mode, class(&named("")).unwrap().has_provisioner()), (None, false));
    let nowhere = class(&named(r#","allowedTopologies":[{}]"#)).unwrap();
    assert!(!nowhere.allows(&Labels::default()), "an empty term allows nothing");
}

#[test]
fn drivers_say_what_they_can() {
    let built = testing::csi_node("n1").driver("d", 3).driver("e", 0);
    let drivers: CsiNode =
        built.annotation("storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/aws-ebs,,x").build();
    assert_eq!(drivers.driver("d").unwrap().limit, Some(3));
    assert!(drivers.driver("f").is_none());
    assert_eq!(
        drivers.migrated_plugins.iter().map(|plugin| &**plugin).collect::<Vec<_>>(),
        ["kubernetes.io/aws-ebs", "x"]
    );
    let unlimited = node(&named(
        r#","spec":{"drivers":[{"name":"d","allocatable":{"count":null}},{"name":"e","allocatable":null}]}"#,
    ));
    assert!(unlimited.unwrap().drivers.iter().all(|driver| driver.limit.is_none()));
    assert!(node(&named(r#","spec":{"drivers":null}"#)).unwrap().drivers.is_empty());
    let careful: CsiDriver = testing::csi_driver("d")
        .set("/spec", json!({ "storageCapacity": true, "preventPodSchedulingIfMissing": true }))
        .build();
    assert!(careful.tracks_capacity && careful.is_required);
    let careless = driver(&named(r#","spec":{"storageCapacity":null}"#)).unwrap();
    assert!(!careless.tracks_capacity && !careless.is_required);
}

#[test]
fn what_is_left_is_limited_by_the_largest_volume() {
    let left: CsiStorageCapacity = testing::csi_capacity("c", "fast").size("10Gi").build();
    assert_eq!((&*left.class, left.limit()), ("fast", Some(Quantity::from_bytes(10 << 30))));
    assert!(left.nodes.unwrap().matches(&Labels::default()), "an empty selector means all nodes");
    let small = testing::csi_capacity("c", "fast")
        .set("/maximumVolumeSize", json!("1Gi"))
        .build::<CsiStorageCapacity>();
    assert_eq!(small.limit(), Some(Quantity::from_bytes(1 << 30)));
    let unknown =
        capacity(&named(r#","storageClassName":"fast","capacity":null,"nodeTopology":null"#)).unwrap();
    assert_eq!((unknown.limit(), unknown.nodes), (None, None));
}

#[test]
fn an_attachment_names_its_volume_and_its_node() {
    let attached: VolumeAttachment = testing::attachment("a", "pv1", "n1").build();
    assert_eq!(
        (attached.volume.as_deref(), attached.node.as_str(), &*attached.attacher),
        (Some("pv1"), "n1", "csi.example.com")
    );
    let inline =
        r#","spec":{"attacher":"d","nodeName":"n1","source":{"inlineVolumeSpec":{"accessModes":null}}}"#;
    assert_eq!(attachment(&named(inline)).unwrap().volume, None);
}
