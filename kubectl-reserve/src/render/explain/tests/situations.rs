//! Golden output for single situations, one for each test.

use super::{NOBODY, OWNER, analysis, explain, text, web};
use crate::explain::testing::{Json, TestCluster, at, node, pod, test_cluster, uid};
use crate::explain::{GroupBy, Limit, Options};
use common::model::CatalogKind;
use common::model::owner::OwnerKind;
use serde_json::{Value, json};

const ZONE: &str = "topology.kubernetes.io/zone";

fn with_web(test_cluster: TestCluster) -> TestCluster {
    test_cluster.workload(OwnerKind::Deployment, "default", "web")
}

fn full(name: &str, cpu: &str) -> (Json, Json) {
    (node(name), pod(&format!("{name}-load")).on(name).cpu(cpu).priority(1000))
}

fn full_cluster(nodes: &[(&str, &str)]) -> TestCluster {
    nodes.iter().fold(with_web(test_cluster()), |test_cluster, (name, used)| {
        let (node, load) = full(name, used);
        test_cluster.node(node).pod(load)
    })
}

#[test]
fn cpu_only_and_fragmented() {
    insta::assert_snapshot!(explain(
        &full_cluster(&[("n1", "14"), ("n2", "13"), ("n3", "15500m")]),
        &web("4", "1Gi")
    ));
}

#[test]
fn larger_than_any_node() {
    insta::assert_snapshot!(explain(&full_cluster(&[("n1", "1"), ("n2", "1")]), &web("64", "1Gi")));
}

#[test]
fn taints() {
    let test_cluster = with_web(test_cluster())
        .node(node("n1").taint("dedicated=db:NoSchedule"))
        .node(node("n2").taint("dedicated=db:NoSchedule").taint("gpu=true:NoExecute"))
        .node(node("n3").taint("node.kubernetes.io/not-ready:NoExecute"));
    insta::assert_snapshot!(explain(&test_cluster, &web("1", "1Gi")));
}

#[test]
fn labels_and_affinity() {
    let affinity = json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
        { "matchExpressions": [{ "key": "pool", "operator": "In", "values": ["a", "b"] }, { "key": "spot", "operator": "DoesNotExist" }] },
        { "matchExpressions": [{ "key": ZONE, "operator": "In", "values": ["eu-1a"] }, { "key": "x", "operator": "Exists" }, { "key": "y", "operator": "Exists" }] },
    ] } } });
    let test_cluster = with_web(test_cluster())
        .node(node("n1").label("pool", "c"))
        .node(node("n2").label("pool", "a").label("spot", "yes"))
        .node(node("n3"));
    insta::assert_snapshot!(explain(&test_cluster, &web("1", "1Gi").with("/spec/affinity", affinity)));
}

#[test]
fn pods_too_near_and_kept_apart() {
    let anti = |app: &str| {
        json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
            { "labelSelector": { "matchLabels": { "app": app } }, "topologyKey": "kubernetes.io/hostname" }] } })
    };
    let test_cluster = with_web(test_cluster())
        .node(node("n1"))
        .node(node("n2"))
        .pod(pod("web-0").on("n1").label("app", "web"))
        .pod(
            pod("shy").namespace("default").on("n2").label("app", "shy").with("/spec/affinity", anti("web")),
        );
    let own = web("1", "1Gi").label("app", "web").with("/spec/affinity", anti("web"));
    insta::assert_snapshot!(explain(&test_cluster, &own));
}

#[test]
fn nobody_to_be_near_to() {
    let near = json!({ "podAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
        { "labelSelector": { "matchLabels": { "app": "cache" } }, "topologyKey": ZONE }] } });
    let test_cluster = with_web(test_cluster()).node(node("n1").label(ZONE, "a")).node(node("n2"));
    insta::assert_snapshot!(explain(&test_cluster, &web("1", "1Gi").with("/spec/affinity", near)));
}

#[test]
fn spread_over_zones() {
    let spread = json!([{ "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": { "matchLabels": { "app": "web" } } }]);
    let in_zone = |name: &str, zone: &str| node(name).label(ZONE, zone);
    let test_cluster = with_web(test_cluster())
        .node(in_zone("a1", "eu-1a"))
        .node(in_zone("b1", "eu-1b"))
        .node(in_zone("c1", "eu-1c").cordoned())
        .node(node("nowhere"))
        .pod(pod("web-0").on("a1").label("app", "web"))
        .pod(pod("web-1").on("b1").label("app", "web"));
    let own = web("1", "1Gi").label("app", "web").with("/spec/topologySpreadConstraints", spread);
    insta::assert_snapshot!(explain(&test_cluster, &own));
}

#[test]
fn ports_and_slots() {
    let port = json!([{ "containerPort": 80, "hostPort": 8080 }]);
    let test_cluster = with_web(test_cluster())
        .workload(OwnerKind::ReplicaSet, "default", "edge")
        .node(node("n1"))
        .node(node("n2").amount("pods", "1"))
        .pod(
            pod("edge-1")
                .on("n1")
                .of(OwnerKind::ReplicaSet, "edge")
                .with("/spec/containers/0/ports", port.clone()),
        )
        .pod(pod("edge-2").on("n2").priority(1000));
    insta::assert_snapshot!(explain(&test_cluster, &web("1", "1Gi").with("/spec/containers/0/ports", port)));
}

fn volume(name: &str, zone: &str) -> Value {
    json!({ "metadata": { "name": name, "uid": uid(name) },
        "spec": { "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
            "claimRef": { "namespace": "default", "name": "data", "uid": uid("data") },
            "csi": { "driver": "disk.example.com", "volumeHandle": name },
            "nodeAffinity": { "required": { "nodeSelectorTerms": [
                { "matchExpressions": [{ "key": ZONE, "operator": "In", "values": [zone] }] }] } } },
        "status": { "phase": "Bound" } })
}

fn claim(volume: Option<&str>) -> Value {
    json!({ "metadata": { "name": "data", "namespace": "default", "uid": uid("data"),
            "annotations": { "pv.kubernetes.io/bind-completed": "yes" } },
        "spec": { "accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "volumeName": volume,
            "resources": { "requests": { "storage": "1Gi" } } },
        "status": { "phase": "Bound" } })
}

fn with_data(pod: Json) -> Json {
    pod.with("/spec/volumes", json!([{ "name": "data", "persistentVolumeClaim": { "claimName": "data" } }]))
}

#[test]
fn a_volume_in_another_zone() {
    let test_cluster = with_web(test_cluster())
        .node(node("n1").label(ZONE, "eu-1a"))
        .other(CatalogKind::PersistentVolumeClaim, claim(Some("pvc-31")))
        .other(CatalogKind::PersistentVolume, volume("pvc-31", "eu-1b"));
    insta::assert_snapshot!(explain(&test_cluster, &with_data(web("1", "1Gi"))));
}

#[test]
fn a_claim_that_is_not_there() {
    insta::assert_snapshot!(explain(&with_web(test_cluster()).node(node("n1")), &with_data(web("1", "1Gi"))));
}

/// A reservation with a record.
fn kept(owner: &str, seat: &str, cpu: &str, more: &Value) -> Vec<(String, String)> {
    let mut info = json!({ "v": 1, "owner": { "kind": "Deployment", "namespace": "default", "name": "testngx", "uid": owner },
        "priority": 0, "created": at(-48), "expires": at(552), "request": "r", "by": "kubectl-reserve", "reason": "",
        "placement": "prefer" });
    for (key, value) in more.as_object().unwrap() {
        info[key] = value.clone();
    }
    vec![
        (format!("reserve.cpu/{owner}.{seat}"), cpu.to_owned()),
        (format!("reserve.info/{owner}.{seat}"), info.to_string()),
    ]
}

fn keeping(node: Json, annotations: &[(String, String)]) -> Json {
    annotations.iter().fold(node, |node, (key, value)| node.annotation(key, value))
}

#[test]
fn room_that_is_kept_for_others() {
    let n1 = keeping(node("n1").cpu("6"), &kept(OWNER, "7f3a0c", "5", &json!({})));
    let n2 = node("n2").cpu("6").annotation(&format!("reserve.cpu/{NOBODY}"), "5500m");
    insta::assert_snapshot!(explain(&with_web(test_cluster()).node(n1).node(n2), &web("2", "1Gi")));
}

#[test]
fn the_same_where_nobody_enforces() {
    let n1 = keeping(node("n1").cpu("6"), &kept(OWNER, "7f3a0c", "5", &json!({})));
    let test_cluster = with_web(test_cluster()).node(n1).pod(pod("load").on("n1").cpu("5").priority(1000));
    insta::assert_snapshot!(explain(&test_cluster, &web("2", "1Gi").scheduler("default-scheduler")));
}

#[test]
fn waiting_for_its_own_node() {
    let own = uid("Deployment/web");
    let replaces = json!({ "owner": { "kind": "Deployment", "namespace": "default", "name": "web", "uid": &own },
        "replaces": { "name": "web-old", "uid": uid("web-old") }, "placement": "wait" });
    let n1 = keeping(node("n1").cpu("2"), &kept(&own, "7f3a0c", "2", &replaces));
    let old = pod("web-old").on("n1").cpu("2").of(OwnerKind::Deployment, "web");
    let old = old
        .with("/metadata/deletionTimestamp", json!(at(20)))
        .with("/metadata/deletionGracePeriodSeconds", json!(30));
    let test_cluster = with_web(test_cluster()).node(n1).node(node("n2")).pod(old);
    insta::assert_snapshot!(explain(&test_cluster, &web("2", "1Gi")));
}

#[test]
fn preemption_is_possible() {
    let budget = json!({ "metadata": { "name": "b", "namespace": "default", "uid": uid("b") },
        "spec": { "selector": { "matchLabels": { "app": "kept" } } }, "status": { "disruptionsAllowed": 0 } });
    let test_cluster = with_web(test_cluster())
        .node(node("n1").cpu("4"))
        .pod(pod("low-1").on("n1").cpu("2").label("app", "kept"))
        .pod(pod("low-2").on("n1").cpu("2").priority(5))
        .other(CatalogKind::PodDisruptionBudget, budget);
    insta::assert_snapshot!(explain(&test_cluster, &web("3", "1Gi").priority(10)));
}

#[test]
fn a_higher_priority_would_help_and_so_would_moving() {
    let test_cluster = with_web(test_cluster())
        .workload(OwnerKind::ReplicaSet, "batch", "crunch")
        .node(node("n1").cpu("4"))
        .node(node("n2").cpu("2"))
        .pod(pod("crunch-a").namespace("batch").on("n1").cpu("1500m").of(OwnerKind::ReplicaSet, "crunch"))
        .pod(pod("sys").on("n1").cpu("500m").priority(2_000_000_000));
    insta::assert_snapshot!(explain(&test_cluster, &web("3", "1Gi")));
}

#[test]
fn a_wall_of_216_nodes() {
    insta::assert_snapshot!(explain(&wall(), &train()));
}

fn train() -> Json {
    with_data(pod("train-0")).amount("nvidia.com/gpu", "8").cpu("8")
}

fn wall() -> TestCluster {
    let mut test_cluster = test_cluster()
        .other(CatalogKind::PersistentVolumeClaim, claim(Some("pvc-31")))
        .other(CatalogKind::PersistentVolume, volume("pvc-31", "eu-1b"));
    let sizes = [("ui-pool", 24), ("a100-pool", 14), ("proxy", 12)];
    let more: Vec<(String, usize)> =
        (0..11).map(|at| (format!("wg-{at}"), if at < 6 { 13 } else { 12 })).collect();
    let tainted = sizes.iter().map(|(name, count)| ((*name).to_owned(), *count)).chain(more);
    for (pool, count) in tainted {
        for at in 0..count {
            test_cluster = test_cluster.node(
                node(&format!("{pool}-{at}"))
                    .label("pool", &pool)
                    .taint(&format!("workergroup={pool}:NoSchedule")),
            );
        }
    }
    for at in 0..26 {
        let name = format!("gpu-{at:02}");
        test_cluster = test_cluster
            .node(node(&name).label("pool", "gpu-pool").label(ZONE, "eu-1b").amount("nvidia.com/gpu", "8"));
        let used = if at == 17 { "3" } else { "8" };
        test_cluster = test_cluster
            .pod(pod(&format!("job-{at}")).on(&name).amount("nvidia.com/gpu", used).priority(100));
    }
    for at in 0..2 {
        let name = format!("h100-{at}");
        test_cluster = test_cluster
            .node(node(&name).label("pool", "h100-pool").label(ZONE, "eu-1a").amount("nvidia.com/gpu", "8"));
    }
    test_cluster
}

#[test]
fn the_wall_by_reason_and_by_zone() {
    let by = |group_by| {
        let options =
            Options { group_by, fixes: Limit::Most(0), nodes: Limit::Most(1), ..Options::default() };
        let report = wall().explain(&train(), options);
        assert_eq!(
            analysis(&report).groups.iter().map(|group| group.nodes.len()).sum::<usize>(),
            analysis(&report).nodes
        );
        text(&report)
    };
    insta::assert_snapshot!(format!("{}\n{}", by(GroupBy::Reason), by(GroupBy::Zone)));
}

#[test]
fn long_names_of_nodes() {
    let name = |at: usize| format!("ip-10-0-132-{at}.eu-central-1.compute.internal");
    let test_cluster = (1..4).fold(with_web(test_cluster()), |test_cluster, at| {
        test_cluster
            .node(node(&name(at)))
            .pod(pod(&format!("load-{at}")).on(&name(at)).cpu("15").memory("63Gi").priority(9))
    });
    insta::assert_snapshot!(explain(&test_cluster, &web("4", "8Gi")));
}

/// The situation that the project started from.
#[test]
fn the_story() {
    let test_cluster = test_cluster()
        .workload(OwnerKind::Deployment, "default", "testngx")
        .node(node("worker1").cpu("6").memory("8Gi").annotation(&format!("reserve.cpu/{NOBODY}"), "5000m"))
        .pod(pod("agent").on("worker1").cpu("250m").memory("64Mi").priority(2_000_001_000));
    let own = pod("testngx-6797c6dc6-z2tk6").cpu("1").memory("128Mi").of(OwnerKind::Deployment, "testngx");
    let own = own.scheduler("test-scheduler").with("/metadata/creationTimestamp", json!(at(-2))).scheduler_message(
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims \
         found for incoming pod.",
    );
    insta::assert_snapshot!(explain(&test_cluster, &own));
}
