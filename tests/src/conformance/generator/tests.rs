//! Tests of the generator: the same seed gives the same bytes, and every feature occurs.

use super::{Generator, Mix};
use serde_json::Value;

fn text(seed: u64, cases: u64, mix: Mix) -> String {
    let mut text = String::new();
    for batch in Generator::with(seed, cases, mix) {
        let batch = batch.unwrap();
        for line in [&batch.cluster].into_iter().chain(&batch.pods) {
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let of = |seed| text(seed, 100, Mix::default());
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
    let short = text(7, 40, Mix::default());
    assert!(of(7).starts_with(&short), "more cases do not alter the first ones");
}

#[test]
fn the_number_of_cases_is_exact() {
    for cases in [0, 1, 20, 21, 99] {
        let (mut decisions, mut changes) = (0, 0);
        for pod in Generator::new(1, cases).flat_map(|batch| batch.unwrap().pods) {
            *if pod.get("change").is_some() { &mut changes } else { &mut decisions } += 1;
        }
        assert_eq!((decisions, changes), (cases, cases), "and after each a change");
    }
}

#[test]
fn every_kind_and_feature_turns_up() {
    let text = text(1, 2000, Mix::default());
    let wanted = [
        "unschedulable",
        "taints",
        "PreferNoSchedule",
        "nvidia.com/gpu",
        "hugepages-2Mi",
        "initContainers",
        "restartPolicy",
        "overhead",
        "hostPort",
        "hostIP",
        "nodeSelector",
        "matchFields",
        "namespaceSelector",
        "podAntiAffinity",
        "minDomains",
        "nodeTaintsPolicy",
        "matchLabelKeys",
        "nominatedNodeName",
        "priority",
        "preemptionPolicy",
        "schedulingGates",
        "PodResizePending",
        "allocatedResources",
        "deletionTimestamp",
        "disruptionsAllowed",
        "claimName",
        "gcePersistentDisk",
        "nodeTopology",
        "attacher",
        "declaredFeatures",
        "sizeBytes",
        "no-such-node",
        "node-that-left",
        "replicationControllers",
        "storageClasses",
    ];
    for word in wanted {
        assert!(text.contains(&format!("\"{word}\"")) || text.contains(word), "{word}");
    }
    for ours in ["reserve.", "reserve/"] {
        assert!(!text.contains(ours), "reservations are absent: upstream knows none");
    }
}

#[test]
fn what_is_switched_off_does_not_turn_up() {
    let none = Mix { taints: 0, ports: 0, volumes: 0, spread: 0, named: 0, ..Mix::default() };
    // A change that follows a decision has features of its own.
    let text: String =
        text(1, 200, none).lines().filter(|line| !line.contains("\"change\":")).map(str::to_owned).collect();
    assert!(text.contains("\"assume\":"), "decisions are among the lines");
    for word in ["\"taints\"", "hostPort", "claimName", "topologySpreadConstraints"] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn clusters_have_one_to_sixty_nodes_in_the_order_of_their_names() {
    let mut counts = Vec::new();
    for batch in Generator::new(3, 4000) {
        let nodes = batch.unwrap().cluster["cluster"]["nodes"].as_array().unwrap().clone();
        let names: Vec<&Value> = nodes.iter().map(|node| &node["metadata"]["name"]).collect();
        assert!(names.is_sorted_by_key(|name| name.as_str()));
        counts.push(nodes.len());
    }
    let (least, most) = (*counts.iter().min().unwrap(), *counts.iter().max().unwrap());
    assert!(least >= 1 && most <= 60, "{least} to {most}");
    assert!(least < 4 && most > 50, "{least} to {most}");
}
