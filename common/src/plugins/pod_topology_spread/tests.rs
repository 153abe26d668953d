//! PodTopologySpread: a table for each rule, and random clusters against the rules written down simply.

mod cases;
mod naive;

use super::PodTopologySpread;
use super::constraint::Defaults;
use crate::cluster::{Ledger, NodeId, Snapshot};
use crate::config::{PodTopologySpreadArgs, SpreadConstraint};
use crate::framework::Score;
use crate::model::Pod;
use crate::testing::{PodBuilder, Tape, TestCluster, maybe, some_pod, verdicts};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::{Value, json};

fn plugin(args: &PodTopologySpreadArgs) -> PodTopologySpread {
    PodTopologySpread { defaults: Defaults::new(args) }
}

fn selector(tape: &mut Tape<'_>) -> Value {
    tape.of(&[
        Value::Null,
        json!({}),
        json!({ "matchLabels": { "app": "a" } }),
        json!({ "matchLabels": { "app": "a" } }),
        json!({ "matchExpressions": [{ "key": "tier", "operator": "NotIn", "values": ["x"] }] }),
        json!({ "matchExpressions": [{ "key": "app", "operator": "Exists" }] }),
    ])
}

fn constraint(tape: &mut Tape<'_>) -> Value {
    json!({
        "maxSkew": 1 + tape.below(3),
        "topologyKey": tape.of(&["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack"]),
        "whenUnsatisfiable": tape.of(&["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": selector(tape),
        "matchLabelKeys": maybe(tape, |tape| json!([tape.of(&["app", "tier", "none"])])),
        "minDomains": maybe(tape, |tape| json!(1 + tape.below(4))),
        "nodeAffinityPolicy": maybe(tape, |tape| json!(tape.of(&["Honor", "Ignore"]))),
        "nodeTaintsPolicy": maybe(tape, |tape| json!(tape.of(&["Honor", "Ignore"]))),
    })
}

fn default(tape: &mut Tape<'_>) -> SpreadConstraint {
    let policies = [None, Some("Honor".to_owned()), Some("Ignore".to_owned())];
    SpreadConstraint {
        max_skew: tape.of(&[1, 2]),
        topology_key: tape.of(&["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack"]).to_owned(),
        do_not_schedule: tape.one_in(2),
        min_domains: tape.of(&[None, Some(3)]),
        node_affinity_policy: tape.of(&policies),
        node_taints_policy: tape.of(&policies),
        match_label_keys: tape.of(&[vec![], vec!["serial".to_owned()]]),
    }
}

fn asking(test_cluster: &TestCluster, tape: &mut Tape<'_>) -> Pod {
    let sets = test_cluster.sets.clone();
    let finish = |pod: PodBuilder, tape: &mut Tape<'_>| {
        let constraints: Vec<Value> = (0..tape.below(4)).map(|_| constraint(tape)).collect();
        let pod = pod.with("/spec/topologySpreadConstraints", json!(constraints));
        let pod = if tape.one_in(3) { pod.with("/spec/nodeSelector", json!({ "rack": "x" })) } else { pod };
        let pod = if tape.one_in(3) { pod.tolerates("dirty") } else { pod };
        let kind = tape.below(2 * sets.len());
        if kind < sets.len() { pod.owned_by(&sets[kind]) } else { pod }
    };
    some_pod("asking", tape, finish).build()
}

/// Compares what the plugin says about the pod with what the rules say.
fn compare(plugin: &PodTopologySpread, pod: &Pod, world: &Snapshot<'_>, tape: &mut Tape<'_>) {
    let list = (!plugin.defaults.are_system).then_some(&plugin.defaults.constraints[..]);
    let pod_context = world.pod_context(pod);
    let expected = naive::verdicts(pod, world, list, None);
    assert_eq!(verdicts(plugin, &pod_context, world), expected);
    let feasible: Vec<&Ledger> = world.nodes().filter(|_| !tape.one_in(4)).collect();
    let ids: Vec<NodeId> = feasible.iter().map(|ledger| ledger.id).collect();
    let scorer = Score::prepare(plugin, &pod_context, world, &ids).unwrap();
    let found = scorer.map(|scorer| {
        let raw: Vec<i64> = scorer.score.all(&ids);
        let mut scores = raw.clone();
        scorer.normalise.apply(&ids, &mut scores);
        (raw, scores)
    });
    assert_eq!(found, naive::scores(pod, world, list, &feasible));
    let Some(ledger) = TestCluster::supposed(world, tape, |pod, _| pod) else { return };
    let expected = naive::verdicts(pod, world, list, Some(&ledger));
    assert_eq!(verdicts(plugin, &pod_context, &world.suppose(ledger)), expected, "supposed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_kept_says_what_the_rules_say(choices in vec(any::<u16>(), 100..1000)) {
        let (mut test_cluster, mut tape) = (TestCluster::new(), Tape::new(&choices));
        let list = |tape: &mut Tape<'_>| (0..1 + tape.below(2)).map(|_| default(tape)).collect();
        let is_system = tape.one_in(2);
        let args = if is_system { PodTopologySpreadArgs::System } else { PodTopologySpreadArgs::List(list(&mut tape)) };
        let plugin = plugin(&args);
        let pods: Vec<Pod> = (0..3).map(|_| asking(&test_cluster, &mut tape)).collect();
        while !tape.is_over() {
            for _ in 0..=tape.below(4) {
                test_cluster.step(&mut tape, |pod, _| pod);
            }
            let world = test_cluster.snapshot();
            compare(&plugin, &pods[tape.below(3)], &world, &mut tape);
        }
    }
}
