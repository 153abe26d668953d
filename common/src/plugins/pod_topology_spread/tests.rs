//! PodTopologySpread: a table for each rule, and random clusters that are compared with a simple implementation (`naive`).

mod cases;
mod naive;

use super::PodTopologySpread;
use super::constraint::DefaultConstraints;
use crate::cluster::{Ledger, NodeId, Snapshot};
use crate::config::{PodTopologySpreadArgs, SpreadConstraint};
use crate::framework::Score;
use crate::model::Pod;
use crate::testing::{PodBuilder, RandomChoices, TestCluster, maybe, some_pod, verdicts};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::{Value, json};

fn plugin(args: &PodTopologySpreadArgs) -> PodTopologySpread {
    PodTopologySpread { defaults: DefaultConstraints::new(args) }
}

fn selector(random: &mut RandomChoices<'_>) -> Value {
    random.of(&[
        Value::Null,
        json!({}),
        json!({ "matchLabels": { "app": "a" } }),
        json!({ "matchLabels": { "app": "a" } }),
        json!({ "matchExpressions": [{ "key": "tier", "operator": "NotIn", "values": ["x"] }] }),
        json!({ "matchExpressions": [{ "key": "app", "operator": "Exists" }] }),
    ])
}

fn constraint(random: &mut RandomChoices<'_>) -> Value {
    json!({
        "maxSkew": 1 + random.below(3),
        "topologyKey": random.of(&["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack"]),
        "whenUnsatisfiable": random.of(&["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": selector(random),
        "matchLabelKeys": maybe(random, |random| json!([random.of(&["app", "tier", "none"])])),
        "minDomains": maybe(random, |random| json!(1 + random.below(4))),
        "nodeAffinityPolicy": maybe(random, |random| json!(random.of(&["Honor", "Ignore"]))),
        "nodeTaintsPolicy": maybe(random, |random| json!(random.of(&["Honor", "Ignore"]))),
    })
}

fn default(random: &mut RandomChoices<'_>) -> SpreadConstraint {
    let policies = [None, Some("Honor".to_owned()), Some("Ignore".to_owned())];
    SpreadConstraint {
        max_skew: random.of(&[1, 2]),
        topology_key: random
            .of(&["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack"])
            .to_owned(),
        do_not_schedule: random.one_in(2),
        min_domains: random.of(&[None, Some(3)]),
        node_affinity_policy: random.of(&policies),
        node_taints_policy: random.of(&policies),
        match_label_keys: random.of(&[vec![], vec!["serial".to_owned()]]),
    }
}

fn asking(test_cluster: &TestCluster, random: &mut RandomChoices<'_>) -> Pod {
    let sets = test_cluster.sets.clone();
    let finish = |pod: PodBuilder, random: &mut RandomChoices<'_>| {
        let constraints: Vec<Value> = (0..random.below(4)).map(|_| constraint(random)).collect();
        let pod = pod.with("/spec/topologySpreadConstraints", json!(constraints));
        let pod = if random.one_in(3) { pod.with("/spec/nodeSelector", json!({ "rack": "x" })) } else { pod };
        let pod = if random.one_in(3) { pod.tolerates("dirty") } else { pod };
        let kind = random.below(2 * sets.len());
        if kind < sets.len() { pod.owned_by(&sets[kind]) } else { pod }
    };
    some_pod("asking", random, finish).build()
}

/// Compares the answers of the plugin for the pod with those of `naive`.
fn compare(plugin: &PodTopologySpread, pod: &Pod, world: &Snapshot<'_>, random: &mut RandomChoices<'_>) {
    let list = (!plugin.defaults.are_system).then_some(&plugin.defaults.constraints[..]);
    let context = world.context(pod);
    let expected = naive::verdicts(pod, world, list, None);
    assert_eq!(verdicts(plugin, &context, world), expected);
    let feasible: Vec<&Ledger> = world.nodes().filter(|_| !random.one_in(4)).collect();
    let ids: Vec<NodeId> = feasible.iter().map(|ledger| ledger.id).collect();
    let scorer = Score::prepare(plugin, &context, world, &ids).unwrap();
    let found = scorer.map(|scorer| {
        let raw: Vec<i64> = scorer.score.all(&ids);
        let mut scores = raw.clone();
        scorer.normalise.apply(&ids, &mut scores);
        (raw, scores)
    });
    assert_eq!(found, naive::scores(pod, world, list, &feasible));
    let Some(ledger) = TestCluster::supposed(world, random, |pod, _| pod) else { return };
    let expected = naive::verdicts(pod, world, list, Some(&ledger));
    assert_eq!(verdicts(plugin, &context, &world.suppose(ledger)), expected, "supposed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_kept_says_what_the_rules_say(choices in vec(any::<u16>(), 100..1000)) {
        let (mut test_cluster, mut random) = (TestCluster::new(), RandomChoices::new(&choices));
        let list = |random: &mut RandomChoices<'_>| (0..1 + random.below(2)).map(|_| default(random)).collect();
        let is_system = random.one_in(2);
        let args = if is_system { PodTopologySpreadArgs::System } else { PodTopologySpreadArgs::List(list(&mut random)) };
        let plugin = plugin(&args);
        let pods: Vec<Pod> = (0..3).map(|_| asking(&test_cluster, &mut random)).collect();
        while !random.is_over() {
            for _ in 0..=random.below(4) {
                test_cluster.step(&mut random, |pod, _| pod);
            }
            let world = test_cluster.snapshot();
            compare(&plugin, &pods[random.below(3)], &world, &mut random);
        }
    }
}
