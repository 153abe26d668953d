//! Promises that hold for every cluster: counts sum up, numbers are consistent, and every fix that is told, carried out on the
//! objects themselves and read anew, makes the pod fit on the node that it names.

use super::testing::{Json, TestCluster, input, node, now, pod, rules, test_cluster, uid};
use super::{Answer, Edit, Fix, Judged, Limit, Options, analyse};
use common::cluster::{Cluster, Event, Seen};
use common::cycle::Inspection;
use common::model::owner::OwnerKind;
use common::model::{NodeName, OtherKind};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Choices, made beforehand.
struct Tape<'t>(std::slice::Iter<'t, u16>);

impl Tape<'_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % limit
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == many - 1
    }
}

fn some_town(tape: &mut Tape<'_>) -> TestCluster {
    let mut test_cluster = test_cluster()
        .workload(OwnerKind::Deployment, "default", "web")
        .workload(OwnerKind::ReplicaSet, "batch", "crunch")
        .workload(OwnerKind::StatefulSet, "batch", "pg")
        .workload(OwnerKind::DaemonSet, "kube-system", "agent");
    for at in 0..2 + tape.below(5) {
        test_cluster = test_cluster.node(some_node(tape, at));
    }
    let nodes = test_cluster.nodes.len();
    for at in 0..tape.below(14) {
        test_cluster = test_cluster.pod(some_pod(tape, at, nodes));
    }
    if tape.one_in(3) {
        let budget = json!({ "metadata": { "name": "b", "namespace": "batch", "uid": uid("b") },
            "spec": { "selector": { "matchLabels": { "app": "a" } } },
            "status": { "disruptionsAllowed": tape.below(3) } });
        test_cluster = test_cluster.other(OtherKind::PodDisruptionBudget, budget);
    }
    test_cluster
}

fn some_node(tape: &mut Tape<'_>, at: usize) -> Json {
    let mut node = node(&format!("n{at}")).cpu(tape.of(&["2", "4", "8"])).memory(tape.of(&["4Gi", "8Gi"]));
    node = node.label("disk", tape.of(&["ssd", "hdd"])).label("zone", tape.of(&["a", "b"]));
    if tape.one_in(4) {
        node = node.cordoned();
    }
    if tape.one_in(4) {
        node = node.taint("dedicated=db:NoSchedule");
    }
    if tape.one_in(8) {
        node = node.taint("other:NoExecute");
    }
    if tape.one_in(4) {
        let owner = tape.of(&[uid("Deployment/gone"), uid("ReplicaSet/crunch")]);
        node = node.annotation(&format!("reserve.cpu/{owner}"), tape.of(&["1", "3"]));
    }
    node
}

fn some_pod(tape: &mut Tape<'_>, at: usize, nodes: usize) -> Json {
    let (kind, name, namespace) = tape.of(&[
        (OwnerKind::ReplicaSet, "crunch", "batch"),
        (OwnerKind::StatefulSet, "pg", "batch"),
        (OwnerKind::DaemonSet, "agent", "kube-system"),
    ]);
    let on = format!("n{}", tape.below(nodes));
    let mut pod = pod(&format!("{name}-{at}")).namespace(namespace).of(kind, name).on(&on);
    pod = pod.cpu(tape.of(&["500m", "1", "2", "3"])).memory(tape.of(&["256Mi", "2Gi"]));
    pod = pod.label("app", tape.of(&["a", "b"])).priority(tape.of(&[0, 0, 0, 10]));
    if tape.one_in(5) {
        pod = pod.with("/spec/containers/0/ports", json!([{ "containerPort": 80, "hostPort": 8080 }]));
    }
    pod
}

fn some_pod_context(tape: &mut Tape<'_>) -> Json {
    let mut own = pod("web-1").of(OwnerKind::Deployment, "web").label("app", "web");
    own = own.cpu(tape.of(&["1", "2", "3", "5", "9"])).memory(tape.of(&["512Mi", "3Gi", "7Gi"]));
    own = own.scheduler(tape.of(&["reserve-scheduler", "default-scheduler"]));
    if tape.one_in(3) {
        own = own.with("/spec/nodeSelector", json!({ "disk": "ssd" }));
    }
    if tape.one_in(4) {
        own = own.with("/spec/containers/0/ports", json!([{ "containerPort": 80, "hostPort": 8080 }]));
    }
    if tape.one_in(4) {
        let term = json!({ "labelSelector": { "matchLabels": { "app": tape.of(&["a", "b"]) } }, "topologyKey": "zone" });
        let kind = tape.of(&["podAffinity", "podAntiAffinity"]);
        own = own.with(
            "/spec/affinity",
            json!({ kind: { "requiredDuringSchedulingIgnoredDuringExecution": [term] } }),
        );
    }
    own
}

/// Makes the change in the objects themselves.
fn carry_out(test_cluster: &mut TestCluster, own: &mut Json, edit: &Edit) {
    let named = |objects: &mut Vec<Value>, name: &NodeName| -> usize {
        objects.iter().position(|one| one["metadata"]["name"] == name.as_str()).unwrap()
    };
    match edit {
        Edit::Uncordon(name) => {
            let at = named(&mut test_cluster.nodes, name);
            test_cluster.nodes[at]["spec"]["unschedulable"] = json!(false);
            drop_taint(&mut test_cluster.nodes[at], "node.kubernetes.io/unschedulable");
        }
        Edit::Untaint(name, taint) => {
            let at = named(&mut test_cluster.nodes, name);
            drop_taint(&mut test_cluster.nodes[at], &taint.key);
        }
        Edit::Tolerate(taint) => {
            let one = json!({ "key": &*taint.key, "value": &*taint.value, "effect": taint.effect.as_str(),
                "operator": if taint.value.is_empty() { "Exists" } else { "Equal" } });
            match own.0["spec"]["tolerations"].as_array_mut() {
                Some(list) => list.push(one),
                None => own.0["spec"]["tolerations"] = json!([one]),
            }
        }
        Edit::Label(name, labels) => {
            let at = named(&mut test_cluster.nodes, name);
            for (key, value) in labels {
                test_cluster.nodes[at]["metadata"]["labels"][key] = json!(value);
            }
        }
        Edit::Release(name, id) => {
            let at = named(&mut test_cluster.nodes, name);
            let annotations = test_cluster.nodes[at]["metadata"]["annotations"].as_object_mut().unwrap();
            annotations.retain(|key, _| !key.ends_with(&format!("/{id}")));
        }
        Edit::Request(amounts) => {
            for (resource, amount) in amounts {
                *own = own.clone().amount(resource.as_str(), &resource.format(*amount));
            }
        }
        Edit::Leave(key) => test_cluster.pods.retain(|one| one["metadata"]["name"] != *key.name),
        Edit::Priority(_) | Edit::AddNode(_) => {}
    }
}

fn drop_taint(node: &mut Value, key: &str) {
    node["spec"]["taints"].as_array_mut().unwrap().retain(|taint| taint["key"] != key);
}

/// Whether the pod fits on the node where the fix says so, once it was carried out.
fn holds(test_cluster: &TestCluster, own: &Json, fix: &Fix) -> bool {
    let (mut test_cluster, mut own) = (test_cluster.clone(), own.clone());
    fix.edits.iter().for_each(|edit| carry_out(&mut test_cluster, &mut own, edit));
    let mut cluster: Cluster = test_cluster.pod(own.clone()).cluster();
    let mut place = fix.lands_on.clone();
    for edit in &fix.edits {
        if let Edit::AddNode(node) = edit {
            cluster.apply(Event::Nodes(Seen::Applied((**node).clone())));
            place = Some(node.name.to_string());
        }
    }
    let (rules, built) = (rules(), own.build());
    let snapshot = cluster.snapshot(now());
    let pod_context = snapshot.pod_context(&built);
    let inspection = Inspection::new(&pod_context, &snapshot, rules.of(&built)).unwrap();
    let place = NodeName::from(place.unwrap().as_str());
    inspection.can_have(snapshot.find(&place).unwrap()).unwrap()
}

fn check(judged: &Judged, test_cluster: &TestCluster, own: &Json) {
    let counted: usize = judged.groups.iter().map(|group| group.nodes.len()).sum();
    assert_eq!(counted + judged.fits.len(), test_cluster.nodes.len());
    assert_eq!(judged.misses.len(), counted);
    for figure in judged.misses.iter().flat_map(|miss| &miss.figures) {
        let numbers = &figure.numbers;
        assert_eq!(figure.free(), numbers.allocatable - numbers.used - numbers.reserved);
        assert_eq!(figure.short(), (numbers.asks - figure.free()).max(0));
    }
    for miss in &judged.misses {
        let lacks = miss.figures.iter().any(|figure| figure.short() > 0);
        assert_eq!(lacks, miss.blockers.iter().any(|blocker| blocker.figure.is_some()), "{miss:?}");
    }
    for fix in &judged.fixes {
        assert!(holds(test_cluster, own, fix), "{fix:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_report_keeps_its_promises(choices in prop::collection::vec(any::<u16>(), 20..260)) {
        let mut tape = Tape(choices.iter());
        let own = some_pod_context(&mut tape);
        let test_cluster = some_town(&mut tape);
        let (rules, built) = (rules(), own.build());
        let options = Options { nodes: Limit::All, fixes: Limit::All, ..Options::default() };
        let mut cluster = test_cluster.clone().pod(own.clone()).cluster();
        let report = analyse(&mut cluster, &input(&built, &own.0, &rules, options));
        if let Answer::Judged(judged) = &report.answer {
            check(judged, &test_cluster, &own);
        }
        // Whatever was tried was taken back.
        let again = analyse(&mut cluster, &input(&built, &own.0, &rules, options));
        prop_assert_eq!(report, again);
    }
}

/// The generator makes what the promises are about.
#[test]
fn the_generator_makes_pods_that_need_fixes_of_every_kind() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut state = 1_u64;
    for _ in 0..600 {
        let choices: Vec<u16> = (0..240)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as u16
            })
            .collect();
        let mut tape = Tape(choices.iter());
        let (own, test_cluster) = (some_pod_context(&mut tape), some_town(&mut tape));
        let options = Options { fixes: Limit::All, ..Options::default() };
        if let Answer::Judged(judged) = test_cluster.explain(&own, options).answer {
            kinds.extend(judged.fixes.iter().map(|fix| fix.kind));
        }
    }
    let all = [
        "AddNode",
        "Label",
        "LowerRequest",
        "Move",
        "Release",
        "Scale",
        "Several",
        "Tolerate",
        "Uncordon",
        "Untaint",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}
