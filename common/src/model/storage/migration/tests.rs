//! Volumes of in-tree plugins after migration: tables of cases.

use super::{BETA_REGION, BETA_ZONE, REGION, ZONE};
use crate::model::labels::Labels;
use crate::model::storage::PersistentVolume;
use crate::testing::volume;
use serde_json::json;

const GKE: &str = "topology.gke.io/zone";

#[test]
fn drivers_have_names_of_their_own_for_volumes() {
    let volumes = [
        (json!({ "awsElasticBlockStore": { "volumeID": "vol-1" } }), "vol-1"),
        (json!({ "awsElasticBlockStore": { "volumeID": "aws://us-east-1a/vol-1" } }), "vol-1"),
        (json!({ "awsElasticBlockStore": { "volumeID": "aws:///vol-1" } }), "vol-1"),
        (json!({ "awsElasticBlockStore": { "volumeID": "anything" } }), "anything"),
        (
            json!({ "awsElasticBlockStore": { "volumeID": "aws://zone/disk" } }),
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://zone/disk)",
        ),
        (json!({ "gcePersistentDisk": { "pdName": "d" } }), "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        (json!({ "azureDisk": { "diskURI": "/u" } }), "/u"),
        (json!({ "azureDisk": { "diskURI": "/u", "kind": "managed" } }), "/u"),
        (
            json!({ "azureDisk": { "diskURI": "/u", "kind": "Shared" } }),
            "kind(Shared) is not supported in csi migration",
        ),
        (json!({ "cinder": { "volumeID": "c" } }), "c"),
        (json!({ "portworxVolume": { "volumeID": "p" } }), "p"),
        (json!({ "nfs": { "server": "s" } }), ""),
    ];
    for (source, expected) in volumes {
        let made: PersistentVolume = volume("pv").set("/spec", source.clone()).build();
        let found = made.handle().map_or_else(|problem| problem, |handle| handle.into_owned());
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn disks_of_gce_are_named_after_their_place() {
    let table = [
        (ZONE, "us-east1-a", "projects/UNSPECIFIED/zones/us-east1-a/disks/d"),
        (BETA_ZONE, "z", "projects/UNSPECIFIED/zones/z/disks/d"),
        (ZONE, "us-east1-a__us-east1-b", "projects/UNSPECIFIED/regions/us-east1/disks/d"),
        (
            ZONE,
            "a__us-east1-b",
            "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: a",
        ),
        (
            ZONE,
            "us-west1-a__us-east1-b",
            "failed to get region from zones: multiple or no regions gotten from zones, got: map[us-east1:{} us-west1:{}]",
        ),
    ];
    for (key, zones, expected) in table {
        let disk = volume("pv").set("/spec/gcePersistentDisk", json!({ "pdName": "d" })).label(key, zones);
        let made: PersistentVolume = disk.build();
        let found = made.handle().map_or_else(|problem| problem, |handle| handle.into_owned());
        assert_eq!(found, expected);
    }
}

#[test]
fn drivers_have_labels_of_their_own_for_zones() {
    let gce = || volume("pv").set("/spec/gcePersistentDisk", json!({ "pdName": "d" }));
    let reaches = |made: &PersistentVolume, labels: &[(&str, &str)]| {
        let nodes = made.migrated_nodes();
        nodes.is_none_or(|nodes| nodes.matches(&Labels::new(labels.iter().copied()), ""))
    };
    let by_affinity: PersistentVolume = gce().on_nodes(ZONE, "a").build();
    assert!(reaches(&by_affinity, &[(GKE, "a")]) && !reaches(&by_affinity, &[(ZONE, "a")]));
    let by_old: PersistentVolume = gce().on_nodes(BETA_ZONE, "a").build();
    assert!(reaches(&by_old, &[(GKE, "a")]) && !reaches(&by_old, &[(GKE, "b"), (BETA_ZONE, "a")]));
    let by_label: PersistentVolume = gce().label(ZONE, "a__ b").build();
    assert!(reaches(&by_label, &[(GKE, "b")]) && !reaches(&by_label, &[(GKE, "c")]));
    let by_both: PersistentVolume = gce().on_nodes("disk", "ssd").label(BETA_ZONE, "a").build();
    assert!(reaches(&by_both, &[(GKE, "a"), ("disk", "ssd")]) && !reaches(&by_both, &[("disk", "ssd")]));
    let region: PersistentVolume = gce().on_nodes(BETA_REGION, "r").label(BETA_ZONE, "a").build();
    assert!(
        reaches(&region, &[(GKE, "a"), (REGION, "r")])
            && !reaches(&region, &[(GKE, "a"), (BETA_REGION, "r")])
    );
    let nowhere: PersistentVolume = gce().build();
    assert!(nowhere.migrated_nodes().is_none() && reaches(&nowhere, &[]));
    let azure = volume("pv").set("/spec/azureDisk", json!({ "diskURI": "/u" }));
    let unchanged: PersistentVolume = azure.on_nodes(ZONE, "a").build();
    assert!(reaches(&unchanged, &[(ZONE, "a")]));
}
