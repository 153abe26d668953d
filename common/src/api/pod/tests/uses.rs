//! Which plugins a pod calls for: each feature from its JSON, and JSON that looks like one and is none.

use crate::model::pod::Feature;
use crate::testing::pod;
use serde_json::{Value, json};

fn features(pointer: &str, value: Value) -> Vec<Feature> {
    pod("p").with(pointer, value).build().features.iter().collect()
}

#[test]
fn each_feature_is_found() {
    let term = json!([{ "topologyKey": "kubernetes.io/hostname", "labelSelector": {} }]);
    let table = [
        ("/spec/schedulingGates", json!([{ "name": "g" }]), vec![Feature::SchedulingGates]),
        ("/spec/nodeSelector", json!({ "disk": "ssd" }), vec![Feature::NodeAffinity]),
        (
            "/spec/affinity/nodeAffinity",
            json!({ "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [] } }),
            vec![Feature::NodeAffinity],
        ),
        (
            "/spec/containers/0/ports",
            json!([{ "containerPort": 80, "hostPort": 80 }]),
            vec![Feature::NodePorts],
        ),
        (
            "/spec/initContainers",
            json!([{ "name": "i", "restartPolicy": "Always", "ports": [{ "hostPort": 1 }] }]),
            vec![Feature::NodePorts],
        ),
        (
            "/spec/volumes",
            json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "c" } }]),
            vec![Feature::Volumes],
        ),
        ("/spec/topologySpreadConstraints", json!([{ "maxSkew": 1 }]), vec![Feature::PodTopologySpread]),
        (
            "/spec/affinity/podAffinity",
            json!({ "requiredDuringSchedulingIgnoredDuringExecution": term }),
            vec![Feature::InterPodAffinity],
        ),
        (
            "/spec/affinity/podAntiAffinity",
            json!({ "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 1 }] }),
            vec![Feature::InterPodAffinity],
        ),
        (
            "/spec/affinity/podAntiAffinity",
            json!({ "requiredDuringSchedulingIgnoredDuringExecution": term }),
            vec![Feature::InterPodAffinity, Feature::RequiredAntiAffinity],
        ),
        ("/spec/resourceClaims", json!([{ "name": "gpu" }]), vec![Feature::DynamicResources]),
        ("/spec/schedulingGroup", json!({ "podGroupName": "g" }), vec![Feature::Gang]),
    ];
    for (pointer, value, expected) in table {
        assert_eq!(features(pointer, value.clone()), expected, "{pointer}: {value}");
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
