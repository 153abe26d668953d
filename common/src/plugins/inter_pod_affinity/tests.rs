//! InterPodAffinity: a table for each rule, and random clusters against the rules written down simply.

mod cases;
mod naive;

use super::InterPodAffinity;
use crate::cluster::{Ledger, NodeId, Snapshot};
use crate::config::InterPodAffinityArgs;
use crate::framework::Score;
use crate::model::Pod;
use crate::testing::{PodBuilder, Tape, TestCluster, maybe, some_pod, verdicts};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::{Value, json};

fn plugin(hard_pod_affinity_weight: i32, ignore_preferred_terms_of_existing_pods: bool) -> InterPodAffinity {
    let args = InterPodAffinityArgs { hard_pod_affinity_weight, ignore_preferred_terms_of_existing_pods };
    InterPodAffinity { args }
}

fn term(tape: &mut Tape<'_>) -> Value {
    let selectors = [
        Value::Null,
        json!({}),
        json!({ "matchLabels": { "app": "a" } }),
        json!({ "matchLabels": { "app": "b" } }),
        json!({ "matchLabels": { "app": "a", "tier": "x" } }),
        json!({ "matchExpressions": [{ "key": "tier", "operator": "NotIn", "values": ["x"] }] }),
    ];
    let spaces = [
        json!({}),
        json!({ "matchLabels": { "team": "a" } }),
        json!({ "matchExpressions": [{ "key": "team", "operator": "DoesNotExist" }] }),
    ];
    json!({
        "labelSelector": tape.of(&selectors),
        "topologyKey": tape.of(&["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack", "none"]),
        "namespaces": maybe(tape, |tape| tape.of(&[json!([]), json!(["default"]), json!(["other", "unknown"])])),
        "namespaceSelector": maybe(tape, |tape| tape.of(&spaces)),
    })
}

/// A pod with some terms, one time in so many.
fn minding(pod: PodBuilder, tape: &mut Tape<'_>, many: usize) -> PodBuilder {
    let mut pod = pod;
    for kind in ["podAffinity", "podAntiAffinity"] {
        if tape.one_in(many) {
            let required: Vec<Value> = (0..tape.below(3)).map(|_| term(tape)).collect();
            let weighted =
                |tape: &mut Tape<'_>| json!({ "weight": 1 + tape.below(9), "podAffinityTerm": term(tape) });
            let preferred: Vec<Value> = (0..tape.below(3)).map(|_| weighted(tape)).collect();
            let terms = json!({
                "requiredDuringSchedulingIgnoredDuringExecution": required,
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            });
            pod = pod.with(&format!("/spec/affinity/{kind}"), terms);
        }
    }
    pod
}

/// Compares what the plugin says about the pod with what the rules say.
fn compare(plugin: &InterPodAffinity, pod: &Pod, world: &Snapshot<'_>, tape: &mut Tape<'_>) {
    let pod_context = world.pod_context(pod);
    assert_eq!(verdicts(plugin, &pod_context, world), naive::verdicts(pod, world));
    let feasible: Vec<&Ledger> = world.nodes().filter(|_| !tape.one_in(4)).collect();
    let ids: Vec<NodeId> = feasible.iter().map(|ledger| ledger.id).collect();
    let scorer = Score::prepare(plugin, &pod_context, world, &ids).unwrap();
    let found = scorer.map(|scorer| scorer.score.all(&ids));
    assert_eq!(found, naive::scores(pod, world, &feasible, &plugin.args));
    let Some(ledger) = TestCluster::supposed(world, tape, |pod, tape| minding(pod, tape, 2)) else { return };
    let supposed = world.suppose(ledger);
    assert_eq!(verdicts(plugin, &pod_context, &supposed), naive::verdicts(pod, &supposed), "supposed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_kept_says_what_the_rules_say(choices in vec(any::<u16>(), 100..1000)) {
        let (mut test_cluster, mut tape) = (TestCluster::new(), Tape::new(&choices));
        let plugin = plugin(tape.of(&[0, 1, 5]), tape.one_in(4));
        let asking = |tape: &mut Tape<'_>| some_pod("asking", tape, |pod, tape| minding(pod, tape, 2)).build();
        let pods: Vec<Pod> = (0..3).map(|_| asking(&mut tape)).collect();
        // In some clusters hardly anybody minds.
        let many = tape.of(&[2, 3, 20]);
        while !tape.is_over() {
            for _ in 0..=tape.below(4) {
                test_cluster.step(&mut tape, |pod, tape| minding(pod, tape, many));
            }
            let world = test_cluster.snapshot();
            compare(&plugin, &pods[tape.below(3)], &world, &mut tape);
        }
    }
}
