//! NodePorts: a table of cases.

use super::NodePorts;
use crate::framework::{Filter, Reason};
use crate::testing::{PodBuilder, cluster_builder, node, now, pod, rejections};
use serde_json::{Value, json};

/// A port from `protocol|address|port`.
fn port(text: &str) -> Value {
    let parts: Vec<&str> = text.split('|').collect();
    let number: i64 = parts[2].parse().unwrap();
    json!({ "protocol": parts[0], "hostIP": parts[1], "hostPort": number, "containerPort": 80 })
}

fn wants(pod: PodBuilder, ports: &[&str]) -> PodBuilder {
    let ports: Vec<Value> = ports.iter().map(|text| port(text)).collect();
    pod.with("/spec/containers/0/ports", json!(ports))
}

#[test]
fn a_port_is_had_once() {
    let table: [(&[&str], &[&str], usize); 13] = [
        (&["TCP||80"], &[], 0),
        (&["TCP||80"], &["TCP||80"], 1),
        (&["TCP||80"], &["TCP||81"], 0),
        (&["TCP||80"], &["UDP||80"], 0),
        (&["||80"], &["TCP|0.0.0.0|80"], 1),
        (&["TCP|10.0.0.1|80"], &["TCP|10.0.0.2|80"], 0),
        (&["TCP|10.0.0.1|80"], &["TCP||80"], 1),
        (&["TCP||80"], &["TCP|10.0.0.1|80"], 1),
        (&["TCP|::|80"], &["TCP|10.0.0.1|80"], 0),
        (&["TCP||80", "TCP||81", "TCP||82"], &["TCP||81", "TCP||82"], 2),
        (&["TCP||0"], &["TCP||0"], 0),
        (&["TCP||-1"], &["TCP||-1"], 0),
        (&["TCP||65535"], &["TCP||65535"], 1),
    ];
    for (wanted, there, taken) in table {
        let test_cluster = cluster_builder().node(node("n1")).pod(wants(pod("a").on("n1"), there));
        let rejected = rejections(&NodePorts, test_cluster, &wants(pod("p"), wanted));
        let ports = rejected.iter().map(|rejection| match &rejection.reason {
            Reason::Ports { ports, blocked_by } if blocked_by.is_empty() => ports.len(),
            other => panic!("{other:?}"),
        });
        assert_eq!(ports.sum::<usize>(), taken, "{wanted:?} {there:?}");
        for rejection in rejected {
            let words = "node(s) didn't have free ports for the requested pod ports";
            assert_eq!(rejection.reason.to_string(), words);
            assert!(!rejection.reason.is_unresolvable(), "the pod that has it may be preempted");
        }
    }
}

#[test]
fn only_pods_that_run_on_the_node_have_ports() {
    let asks = wants(pod("p"), &["TCP||80"]);
    let rejected = |there: PodBuilder| {
        let there = wants(there, &["TCP||80"]);
        rejections(&NodePorts, cluster_builder().node(node("n1")).node(node("n2")).pod(there), &asks).len()
    };
    assert_eq!(rejected(pod("a").on("n1")), 1);
    assert_eq!(rejected(pod("a").on("n1").terminating()), 1);
    assert_eq!(rejected(pod("a").on("n2")), 0);
    assert_eq!(rejected(pod("a").on("n1").phase("Succeeded")), 0);
    assert_eq!(rejected(pod("a")), 0);
}

#[test]
fn sidecars_have_ports_and_other_init_containers_do_not() {
    let init = |policy: &str| {
        let container = json!([{ "name": "i", "restartPolicy": policy, "ports": [port("TCP||80")] }]);
        pod("a").on("n1").with("/spec/initContainers", container)
    };
    let asks = wants(pod("p"), &["TCP||80"]);
    let rejected = |there| rejections(&NodePorts, cluster_builder().node(node("n1")).pod(there), &asks).len();
    assert_eq!((rejected(init("Always")), rejected(init(""))), (1, 0));
}

#[test]
fn who_wants_no_port_is_not_asked_about() {
    let mut cluster = cluster_builder().node(node("n1")).cluster();
    let snapshot = cluster.snapshot(now());
    let prepared = |pod: PodBuilder| {
        let pod = pod.build();
        let context = snapshot.context(&pod);
        NodePorts.prepare(&context, &snapshot).is_some()
    };
    assert!(!prepared(pod("p")) && !prepared(wants(pod("p"), &["TCP||0"])));
    assert!(prepared(wants(pod("p"), &["TCP||1"])));
}
