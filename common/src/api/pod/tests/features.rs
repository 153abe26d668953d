//! Which features a pod uses: each feature from its JSON, and JSON that looks like a feature and is none.

use crate::model::pod::Feature;
use crate::testing::pod;
use serde_json::{Value, json};

fn features(pointer: &str, value: Value) -> Vec<Feature> {
    pod("p").with(pointer, value).build().spec.features.iter().collect()
}

#[test]
fn each_feature_is_found() {
    let sidecar = json!([{ "name": "i", "restartPolicy": "Always", "ports": [{ "hostPort": 1 }] }]);
    let claim = json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "c" } }]);
    let table = [
        ("/spec/schedulingGates", json!([{ "name": "g" }]), Feature::SchedulingGates),
        ("/spec/nodeSelector", json!({ "disk": "ssd" }), Feature::NodeAffinity),
        ("/spec/containers/0/ports", json!([{ "hostPort": 80 }]), Feature::NodePorts),
        ("/spec/initContainers", sidecar, Feature::NodePorts),
        ("/spec/volumes", claim, Feature::Volumes),
        ("/spec/topologySpreadConstraints", json!([{ "maxSkew": 1 }]), Feature::PodTopologySpread),
        ("/spec/resourceClaims", json!([{ "name": "gpu" }]), Feature::DynamicResources),
        ("/spec/schedulingGroup", json!({ "podGroupName": "g" }), Feature::Gang),
    ];
    for (pointer, value, expected) in table {
        assert_eq!(features(pointer, value.clone()), [expected], "{pointer}: {value}");
    }
}

#[test]
fn affinities_are_told_apart() {
    let required =
        || json!({ "requiredDuringSchedulingIgnoredDuringExecution": [{ "topologyKey": "zone" }] });
    let nodes = || json!({ "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [] } });
    let preferred = || json!({ "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 1 }] });
    let between = Feature::InterPodAffinity;
    let table = [
        ("nodeAffinity", nodes(), vec![Feature::NodeAffinity]),
        ("nodeAffinity", preferred(), vec![Feature::NodeAffinity]),
        ("podAffinity", required(), vec![between]),
        ("podAffinity", preferred(), vec![between]),
        ("podAntiAffinity", preferred(), vec![between]),
        ("podAntiAffinity", required(), vec![between, Feature::RequiredAntiAffinity]),
    ];
    for (kind, value, expected) in table {
        assert_eq!(features(&format!("/spec/affinity/{kind}"), value.clone()), expected, "{kind}: {value}");
    }
}

#[test]
fn what_is_there_but_says_nothing_is_not_used() {
    let table = [
        ("/spec/schedulingGates", json!([])),
        ("/spec/nodeSelector", json!({})),
        ("/spec/affinity", json!({})),
        ("/spec/affinity/nodeAffinity", json!({})),
        ("/spec/affinity/podAffinity", json!({})),
        ("/spec/affinity/podAntiAffinity", json!({})),
        ("/spec/affinity/podAntiAffinity", json!({ "requiredDuringSchedulingIgnoredDuringExecution": [] })),
        ("/spec/containers/0/ports", json!([{ "containerPort": 80 }, { "hostPort": 0 }])),
        ("/spec/volumes", json!([])),
        ("/spec/topologySpreadConstraints", json!([])),
        ("/spec/resourceClaims", json!(null)),
    ];
    for (pointer, value) in table {
        assert_eq!(features(pointer, value.clone()), [], "{pointer}: {value}");
    }
}

#[test]
fn volumes_that_every_node_can_mount_need_no_plugin() {
    for source in ["configMap", "downwardAPI", "emptyDir", "hostPath", "image", "nfs", "projected", "secret"]
    {
        assert_eq!(features("/spec/volumes", json!([{ "name": "v", source: {} }])), [], "{source}");
    }
    for source in [
        "persistentVolumeClaim",
        "ephemeral",
        "csi",
        "gcePersistentDisk",
        "awsElasticBlockStore",
        "iscsi",
        "rbd",
        "of-tomorrow",
    ] {
        let volumes = json!([{ "name": "a", "emptyDir": {} }, { "name": "v", source: {} }]);
        assert_eq!(features("/spec/volumes", volumes), [Feature::Volumes], "{source}");
    }
}
