//! Extenders of the configuration in a preemption.

use super::extenders::{extender, with_extenders};
use super::{apply, decoded, learn, now, told, waiting};
use crate::state::{Effect, ExtenderAnswer, Input, Nomination, PreemptionCandidate, State};
use common::api::extender::Victims;
use common::cluster::{Event, WatchEvent};
use common::config::Extender;
use common::model::{NodeName, PodKey, Uid};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn preempting_extender(managed: &[&str]) -> Extender {
    let none = String::new;
    Extender {
        preempt_verb: "preempt".into(),
        filter_verb: none(),
        prioritize_verb: none(),
        ..extender(managed)
    }
}

fn bound(name: &str, cpu: &str, node: &str) -> Value {
    let mut json = waiting(name, cpu);
    json["spec"]["nodeName"] = json!(node);
    json
}

fn high() -> Value {
    let mut json = waiting("high", "4");
    json["spec"]["priority"] = json!(10);
    json
}

fn uids(names: &[&str]) -> Vec<Uid> {
    names.iter().map(|name| format!("uid-{name}").into()).collect()
}

/// n1 has one pod of 4 CPUs, n2 one of 2 and one of 4. A pod of 4 CPUs with a higher priority is to be scheduled.
fn full(extenders: &[Extender]) -> (State, Vec<Effect>) {
    let mut state = with_extenders(extenders);
    for (name, cpu, node) in [("a", "4", "n1"), ("b", "2", "n2"), ("c", "4", "n2")] {
        apply(&mut state, decoded(&bound(name, cpu, node)), 0);
    }
    let effects = apply(&mut state, decoded(&high()), 0);
    (state, effects)
}

fn choose(state: &mut State, left: Result<&[(&str, &[&str])], &str>) -> Vec<Effect> {
    let victims = |(node, names): &(&str, &[&str])| {
        (NodeName::from(*node), Victims { pods: uids(names), violations: 0 })
    };
    let answer = left.map(|left| left.iter().map(victims).collect::<BTreeMap<_, _>>());
    let (pod, uid) = (PodKey::new("default", "high"), "uid-high".into());
    state.handle(Input::ExtenderVictims { pod, uid, answer: answer.map_err(str::to_owned) }, now(1))
}

fn victims(effects: &[Effect]) -> Vec<&str> {
    let victim = |effect: &'_ Effect| match effect {
        Effect::Evict(eviction) => Some(eviction.victim_uid.clone()),
        _ => None,
    };
    let uids: Vec<Uid> = effects.iter().filter_map(victim).collect();
    let known = ["a", "b", "c"].into_iter();
    known.filter(|name| uids.contains(&format!("uid-{name}").into())).collect()
}

fn nomination(effects: &[Effect]) -> Option<&Nomination> {
    effects.iter().find_map(|effect| match effect {
        Effect::Condition { nomination, .. } => Some(nomination),
        _ => None,
    })
}

#[test]
fn they_are_asked_about_every_candidate_and_nobody_else_is_decided_on() {
    let (mut state, effects) = full(&[preempting_extender(&[])]);
    let [Effect::AskExtendersAboutVictims { pod, candidates, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(&*pod.name, "high");
    let candidate = |node: &str, victims: &[&str], pods: &[&str]| PreemptionCandidate {
        node: node.into(),
        victims: Victims { pods: uids(victims), violations: 0 },
        pods: uids(pods).into_iter().collect(),
    };
    let expected = [candidate("n1", &["a"], &["a"]), candidate("n2", &["c"], &["b", "c"])];
    assert_eq!(candidates[..], expected, "the best first");
    assert_eq!(apply(&mut state, decoded(&waiting("other", "1")), 0), []);
    let effects = choose(&mut state, Ok(&[("n1", &["a"]), ("n2", &["c"])]));
    assert_eq!(victims(&effects), ["a"]);
    let words = "preemption: found a potential placement for pod on node n1, preempting 1 victims";
    assert!(told(&effects)[0].ends_with(words), "{effects:?}");
    assert_eq!(told(&effects).len(), 2, "then it is the other one's turn: {effects:?}");
}

#[test]
fn others_may_have_to_go_where_extenders_were_not_asked_about_the_node() {
    // n1 can have it, and so is asked about; n2 is full.
    let mut state = with_extenders(&[extender(&[])]);
    apply(&mut state, decoded(&bound("b", "4", "n2")), 0);
    assert!(
        matches!(&apply(&mut state, decoded(&high()), 0)[..], [Effect::AskExtenders { nodes, .. }] if nodes.len() == 1)
    );
    let failed = [(NodeName::from("n1"), "not for everybody".to_owned())].into();
    let answer = Ok(ExtenderAnswer { failed, ..ExtenderAnswer::default() });
    let (pod, uid) = (PodKey::new("default", "high"), "uid-high".into());
    let effects = state.handle(Input::ExtenderAnswer { pod, uid, answer }, now(1));
    assert_eq!(victims(&effects), ["b"], "{effects:?}");
}

#[test]
fn they_may_drop_nodes_and_name_others() {
    let (mut state, _) = full(&[preempting_extender(&[])]);
    let effects = choose(&mut state, Ok(&[("n2", &["b", "c"])]));
    assert_eq!(victims(&effects), ["b"], "all but the last one at once");
    let words = "0/2 nodes are available: 2 Insufficient cpu. preemption: found a potential placement for pod on node n2, \
                 preempting 2 victims";
    assert_eq!(told(&effects), [words]);
    assert_eq!(nomination(&effects), Some(&Nomination::Change(Some("n2".into()))));
}

#[test]
fn when_they_leave_none_or_fail_nobody_has_to_go() {
    for (answer, words) in [
        (Ok(&[][..]), "preemption: no candidate node for preemption"),
        (Err("failed preempt with extender"), "preemption: failed preempt with extender"),
    ] {
        let (mut state, _) = full(&[preempting_extender(&[])]);
        let effects = choose(&mut state, answer);
        assert_eq!(victims(&effects), [""; 0]);
        assert_eq!(told(&effects), [format!("0/2 nodes are available: 2 Insufficient cpu. {words}")]);
        assert_eq!(nomination(&effects), Some(&Nomination::Keep), "as upstream");
    }
}

#[test]
fn who_left_meanwhile_does_not_have_to_go() {
    let (mut state, _) = full(&[preempting_extender(&[])]);
    state.handle(learn(Event::Pods(WatchEvent::Deleted(decoded(&bound("c", "4", "n2"))))), now(0));
    let effects = choose(&mut state, Ok(&[("n2", &["c"])]));
    assert_eq!(victims(&effects), [""; 0]);
    assert!(told(&effects)[0].ends_with("preemption: no candidate node for preemption"), "{effects:?}");
    let is_bound = |effect: &Effect| matches!(effect, Effect::Bind { node, .. } if node.as_str() == "n2");
    assert!(effects.iter().any(is_bound), "there is room now: {effects:?}");
}

#[test]
fn a_pod_that_is_gone_or_concerns_none_of_them_is_not_waited_for() {
    let (mut state, _) = full(&[preempting_extender(&[])]);
    state.handle(learn(Event::Pods(WatchEvent::Deleted(decoded(&high())))), now(0));
    assert_eq!(choose(&mut state, Ok(&[("n1", &["a"])])), []);
    let (_, effects) = full(&[preempting_extender(&["example.com/gpu"])]);
    assert_eq!(victims(&effects), ["a"], "decided at once");
}
