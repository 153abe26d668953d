//! Volumes: which of them and which fields are kept, and which two conflict on one node.

use crate::model::volume::{PodVolume, Rbd, VolumeSource};
use crate::testing::pod;
use serde_json::{Value, json};

fn volume(source: &str, fields: &Value) -> PodVolume {
    pod("p").volume(json!({ "name": "v", source: fields })).build().spec.volumes[0].clone()
}

#[test]
fn each_source_that_a_plugin_looks_at_is_read() {
    let table = [
        ("persistentVolumeClaim", json!({ "claimName": "c" }), VolumeSource::Claim { name: "c".into() }),
        ("ephemeral", json!({ "volumeClaimTemplate": { "spec": {} } }), VolumeSource::Ephemeral),
        (
            "gcePersistentDisk",
            json!({ "pdName": "d", "readOnly": true }),
            VolumeSource::GceDisk { disk: "d".into(), read_only: true },
        ),
        (
            "awsElasticBlockStore",
            json!({ "volumeID": "vol-1" }),
            VolumeSource::AwsDisk { id: "vol-1".into() },
        ),
        (
            "iscsi",
            json!({ "iqn": "iqn.1", "lun": 3 }),
            VolumeSource::Iscsi { target: "iqn.1".into(), read_only: false },
        ),
        (
            "azureDisk",
            json!({ "diskName": "n", "diskURI": "/u", "kind": "Managed" }),
            VolumeSource::AzureDisk { uri: "/u".into(), kind: Some("Managed".into()) },
        ),
        ("cinder", json!({ "volumeID": "c" }), VolumeSource::Cinder { id: "c".into() }),
        ("portworxVolume", json!({ "volumeID": "w" }), VolumeSource::Portworx { id: "w".into() }),
    ];
    for (name, fields, source) in table {
        assert_eq!(volume(name, &fields), PodVolume { name: "v".into(), source }, "{name}");
    }
}

#[test]
fn an_rbd_has_a_pool_unless_said() {
    let device = |fields| match volume("rbd", &fields).source {
        VolumeSource::Rbd(device) => *device,
        other => panic!("{other:?}"),
    };
    let monitors: Box<[_]> = ["m1", "m2"].map(Into::into).into();
    let plain = Rbd { monitors, pool: "rbd".into(), image: "i".into(), read_only: false };
    assert_eq!(device(json!({ "monitors": ["m1", "m2"], "image": "i" })), plain);
    assert_eq!(&*device(json!({ "pool": "p" })).pool, "p");
}

#[test]
fn others_are_not_kept() {
    let pod = pod("p")
        .volume(json!({ "name": "a", "configMap": { "name": "c" } }))
        .volume(json!({ "name": "b", "csi": { "driver": "d" } }))
        .volume(json!({ "name": "c", "persistentVolumeClaim": null }))
        .volume(json!({ "name": "d", "azureFile": { "readOnly": 7 } }))
        .volume(json!(null));
    let read = pod.build();
    assert_eq!((&*read.spec.volumes, read.problem), (&[][..], None));
}

#[test]
fn the_claim_of_an_ephemeral_volume_is_named_after_the_pod() {
    let ephemeral = volume("ephemeral", &json!({}));
    assert_eq!(ephemeral.claim_name("web-1").as_deref(), Some("web-1-v"));
    let claim = volume("persistentVolumeClaim", &json!({ "claimName": "c" }));
    assert_eq!(claim.claim_name("web-1").as_deref(), Some("c"));
    assert!(ephemeral.is_ephemeral() && !claim.is_ephemeral());
    assert_eq!(volume("cinder", &json!({ "volumeID": "c" })).claim_name("web-1"), None);
}

#[test]
fn disks_conflict_as_in_kube_scheduler() {
    let rbd = |monitors: &[&str], image: &str, read_only: bool| {
        volume("rbd", &json!({ "monitors": monitors, "image": image, "readOnly": read_only }))
    };
    let gce = |name: &str, read_only: bool| {
        volume("gcePersistentDisk", &json!({ "pdName": name, "readOnly": read_only }))
    };
    let aws = |id: &str| volume("awsElasticBlockStore", &json!({ "volumeID": id, "readOnly": true }));
    let iscsi = |iqn: &str, lun: i32, read_only: bool| {
        volume("iscsi", &json!({ "iqn": iqn, "lun": lun, "readOnly": read_only }))
    };
    let table = [
        (gce("a", false), gce("a", true), true),
        (gce("a", true), gce("a", true), false),
        (gce("a", false), gce("b", false), false),
        (aws("a"), aws("a"), true),
        (aws("a"), aws("b"), false),
        (iscsi("a", 0, false), iscsi("a", 1, true), true),
        (iscsi("a", 0, true), iscsi("a", 0, true), false),
        (rbd(&["m1", "m2"], "i", false), rbd(&["m2", "m3"], "i", true), true),
        (rbd(&["m1"], "i", true), rbd(&["m1"], "i", true), false),
        (rbd(&["m1"], "i", false), rbd(&["m2"], "i", false), false),
        (rbd(&["m1"], "i", false), rbd(&["m1"], "j", false), false),
        (aws("a"), gce("a", false), false),
        (volume("ephemeral", &json!({})), volume("ephemeral", &json!({})), false),
    ];
    for (one, other, expected) in table {
        assert_eq!(one.conflicts_with(&other), expected, "{one:?} {other:?}");
        assert_eq!(other.conflicts_with(&one), expected, "{other:?} {one:?}");
    }
}
