//! InterPodAffinity: a table for each rule, and random clusters that are compared with a simple implementation (`naive`).

mod cases;
mod naive;

use super::InterPodAffinity;
use crate::cluster::{Ledger, NodeId, Snapshot};
use crate::config::InterPodAffinityArgs;
use crate::framework::Score;
use crate::model::Pod;
use crate::testing::{PodBuilder, RandomChoices, TestCluster, maybe, some_pod, verdicts};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::{Value, json};

fn plugin(hard_pod_affinity_weight: i32, ignore_preferred_terms_of_existing_pods: bool) -> InterPodAffinity {
    let args = InterPodAffinityArgs { hard_pod_affinity_weight, ignore_preferred_terms_of_existing_pods };
    InterPodAffinity { args }
}

fn term(random: &mut RandomChoices<'_>) -> Value {
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
        "labelSelector": random.of(&selectors),
        "topologyKey": random.of(&["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack", "none"]),
        "namespaces": maybe(random, |random| random.of(&[json!([]), json!(["default"]), json!(["other", "unknown"])])),
        "namespaceSelector": maybe(random, |random| random.of(&spaces)),
    })
}

/// Adds random terms to one pod in `many`.
fn with_random_terms(pod: PodBuilder, random: &mut RandomChoices<'_>, many: usize) -> PodBuilder {
    let mut pod = pod;
    for kind in ["podAffinity", "podAntiAffinity"] {
        if random.one_in(many) {
            let required: Vec<Value> = (0..random.below(3)).map(|_| term(random)).collect();
            let weighted = |random: &mut RandomChoices<'_>| json!({ "weight": 1 + random.below(9), "podAffinityTerm": term(random) });
            let preferred: Vec<Value> = (0..random.below(3)).map(|_| weighted(random)).collect();
            let terms = json!({
                "requiredDuringSchedulingIgnoredDuringExecution": required,
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            });
            pod = pod.with(&format!("/spec/affinity/{kind}"), terms);
        }
    }
    pod
}

/// Compares the answers of the plugin for the pod with those of `naive`.
fn compare(plugin: &InterPodAffinity, pod: &Pod, world: &Snapshot<'_>, random: &mut RandomChoices<'_>) {
    let context = world.context(pod);
    assert_eq!(verdicts(plugin, &context, world), naive::verdicts(pod, world));
    let feasible: Vec<&Ledger> = world.nodes().filter(|_| !random.one_in(4)).collect();
    let ids: Vec<NodeId> = feasible.iter().map(|ledger| ledger.id).collect();
    let scorer = Score::prepare(plugin, &context, world, &ids).unwrap();
    let found = scorer.map(|scorer| scorer.score.all(&ids));
    assert_eq!(found, naive::scores(pod, world, &feasible, &plugin.args));
    let Some(ledger) = TestCluster::supposed(world, random, |pod, random| with_random_terms(pod, random, 2))
    else {
        return;
    };
    let supposed = world.suppose(ledger);
    assert_eq!(verdicts(plugin, &context, &supposed), naive::verdicts(pod, &supposed), "supposed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_kept_says_what_the_rules_say(choices in vec(any::<u16>(), 100..1000)) {
        let (mut test_cluster, mut random) = (TestCluster::new(), RandomChoices::new(&choices));
        let plugin = plugin(random.of(&[0, 1, 5]), random.one_in(4));
        let asking = |random: &mut RandomChoices<'_>| some_pod("asking", random, |pod, random| with_random_terms(pod, random, 2)).build();
        let pods: Vec<Pod> = (0..3).map(|_| asking(&mut random)).collect();
        // In some clusters few pods have terms.
        let many = random.of(&[2, 3, 20]);
        while !random.is_over() {
            for _ in 0..=random.below(4) {
                test_cluster.step(&mut random, |pod, random| with_random_terms(pod, random, many));
            }
            let world = test_cluster.snapshot();
            compare(&plugin, &pods[random.below(3)], &world, &mut random);
        }
    }
}
