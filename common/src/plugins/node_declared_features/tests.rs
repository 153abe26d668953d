//! NodeDeclaredFeatures: a table of cases.

use super::NodeDeclaredFeatures;
use crate::testing::{NodeBuilder, PodBuilder, cluster_builder, node, pod, rejections};
use serde_json::json;

const RESTARTS: &str = "RestartAllContainersOnContainerExits";
const USERS: &str = "UserNamespacesHostNetworkSupport";
const MOUNTS: &str = "VolumeBindMountOptions";

fn declaring(features: &[&str]) -> NodeBuilder {
    node("n1").with("/status/declaredFeatures", json!(features))
}

fn with_users(pod: PodBuilder) -> PodBuilder {
    pod.with("/spec/hostNetwork", json!(true)).with("/spec/hostUsers", json!(false))
}

fn with_mounts(pod: PodBuilder) -> PodBuilder {
    let mount = json!([{ "name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"] }]);
    pod.with("/spec/containers/0/volumeMounts", mount)
}

#[test]
fn all_that_a_pod_needs_must_be_declared() {
    let restarts = json!([{ "action": "RestartAllContainers" }]);
    let restarting = pod("p").with("/spec/containers/0/restartPolicyRules", restarts);
    let table = [
        ("nothing needed", pod("p"), declaring(&[]), true),
        ("nothing needed, much declared", pod("p"), declaring(&[USERS, RESTARTS]), true),
        ("nothing declared", with_users(pod("p")), node("n1"), false),
        ("declared", with_users(pod("p")), declaring(&[USERS]), true),
        ("declared, out of order", with_users(pod("p")), declaring(&[MOUNTS, USERS, RESTARTS]), true),
        ("something else declared", with_users(pod("p")), declaring(&[RESTARTS]), false),
        ("one of two", with_mounts(with_users(pod("p"))), declaring(&[USERS]), false),
        ("both", with_mounts(with_users(pod("p"))), declaring(&[MOUNTS, USERS]), true),
        ("restarts", restarting.clone(), declaring(&[RESTARTS]), true),
        ("no restarts", restarting, declaring(&["restartAllContainersOnContainerExits"]), false),
        ("host network alone", pod("p").with("/spec/hostNetwork", json!(true)), declaring(&[]), true),
    ];
    for (name, pod, node, fits) in table {
        let rejected = rejections(&NodeDeclaredFeatures, cluster_builder().node(node), &pod);
        assert_eq!(rejected.is_empty(), fits, "{name}");
        for rejection in rejected {
            let words = "node(s) didn't match Pod's required features";
            assert_eq!(rejection.reason.to_string(), words, "{name}");
            assert!(rejection.reason.is_unresolvable(), "{name}");
        }
    }
}
