//! What the flow does with each answer that it can get.

use super::{
    Answer, FakeCluster, KeepMethod, Leftover, NodeMatch, Observation, ProgressEvent, Recheck, Recreation,
    RecreationOutcome, Refusal, Request, SECOND, SiblingPod, Step, StopReason, WaitFor, blocked, drive, end,
    run, run_with, terms,
};
use crate::flow::recreate::{ACKNOWLEDGED_MAX, Terms};
use std::time::Duration;

/// The number of each request when nothing goes wrong.
const REHEARSE: usize = 0;
const RESERVE: usize = 1;
const ACKNOWLEDGED: usize = 2;
const RECHECK: usize = 3;
const EVICT: usize = 4;

fn why(outcome: &RecreationOutcome) -> &StopReason {
    match outcome {
        RecreationOutcome::Stopped { why, .. } => why,
        RecreationOutcome::Done(_) => panic!("it went well: {outcome:?}"),
    }
}

#[test]
fn a_pod_comes_back_in_its_place() {
    let mut cluster = FakeCluster::new(terms());
    let run = run(&mut cluster);
    let bound = ProgressEvent::Bound {
        pod: "web-new".into(),
        node: "node-2".into(),
        node_match: NodeMatch::SameNode,
    };
    let events = [
        ProgressEvent::Reserved { until: Some(end()) },
        ProgressEvent::Acknowledged { replicas: 2 },
        ProgressEvent::Evicted,
        ProgressEvent::Gone,
        bound,
        ProgressEvent::Ready,
        ProgressEvent::Released,
    ];
    assert_eq!(run.events, events);
    let RecreationOutcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!(
        (done.pod.as_deref(), done.node_match, done.leftover),
        (Some("web-new"), Some(NodeMatch::SameNode), Leftover::Nothing)
    );
    let order =
        [Request::DryRunEvict, Request::Reserve, Request::Acknowledged { version: 7 }, Request::Recheck];
    assert_eq!(cluster.requests[..4], order);
    assert_eq!(cluster.requests[4], Request::Evict);
}

#[test]
fn what_is_waited_for_is_the_end() {
    let kept = Leftover::Reservation { until: Some(end()) };
    for (wait_for, last, leftover) in [
        (WaitFor::Evicted, ProgressEvent::Evicted, kept),
        (WaitFor::Deleted, ProgressEvent::Gone, kept),
        (
            WaitFor::Bound,
            ProgressEvent::Bound {
                pod: "web-new".into(),
                node: "node-2".into(),
                node_match: NodeMatch::SameNode,
            },
            Leftover::Taken,
        ),
        (WaitFor::Ready, ProgressEvent::Released, Leftover::Nothing),
    ] {
        let run = run(&mut FakeCluster::new(Terms { wait_for, ..terms() }));
        assert_eq!(run.events.last(), Some(&last));
        let RecreationOutcome::Done(done) = run.outcome else { panic!("{wait_for:?}") };
        assert_eq!(done.leftover, leftover, "{wait_for:?}");
    }
}

#[test]
fn a_blocked_budget_is_tried_every_five_seconds_and_never_keeps_room() {
    let mut cluster = FakeCluster::new(Terms { timeout: 60 * SECOND, ..terms() });
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    let run = drive(flow, next, |_, request, _| {
        assert_eq!(request, Request::DryRunEvict);
        cluster.requests.push(request);
        Step::Answer(Answer::Refused(Refusal::Budget(blocked(false))))
    });
    assert!(matches!(why(&run.outcome), StopReason::Budget(_)));
    assert_eq!((run.at, cluster.requests.len()), (55 * SECOND, 12));
    assert_eq!(run.events, [ProgressEvent::Blocked(blocked(false))], "said once");
}

#[test]
fn a_budget_that_can_never_allow_it_ends_at_once() {
    let run = run_with(&mut FakeCluster::new(terms()), REHEARSE, || {
        Answer::Refused(Refusal::Budget(blocked(true)))
    });
    assert!(matches!(why(&run.outcome), StopReason::Budget(_)));
    assert_eq!(run.at, Duration::ZERO);
}

#[test]
fn the_server_says_when_to_try_again() {
    let run =
        run_with(&mut FakeCluster::new(terms()), REHEARSE, || Answer::Refused(Refusal::Soon(10 * SECOND)));
    assert!(matches!(run.outcome, RecreationOutcome::Done(_)));
    assert!(run.at >= 10 * SECOND);
    assert!(!run.events.iter().any(|event| matches!(event, ProgressEvent::Blocked(_))), "silently");
}

#[test]
fn a_budget_that_was_used_up_since_the_rehearsal_costs_the_reservation() {
    let mut cluster = FakeCluster::new(terms());
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    let run = drive(flow, next, |number, request, _| {
        if number == EVICT {
            assert_eq!(request, Request::Evict);
            return Step::Answer(Answer::Refused(Refusal::Budget(blocked(false))));
        }
        if request == Request::DryRunEvict {
            assert!(!cluster.is_reserved, "no room is kept while the budget is waited for");
        }
        Step::Answer(cluster.answer(request))
    });
    assert!(matches!(run.outcome, RecreationOutcome::Done(_)));
    assert!(run.events.contains(&ProgressEvent::TakenBack));
    assert_eq!(cluster.evictions, 1);
}

#[test]
fn without_an_acknowledgement_nothing_is_evicted() {
    let mut cluster = FakeCluster::new(terms());
    let run = run_with(&mut cluster, ACKNOWLEDGED, || Answer::Nobody);
    assert_eq!(why(&run.outcome), &StopReason::Nobody);
    assert!(!cluster.is_reserved && cluster.evictions == 0);

    let mut cluster = FakeCluster::new(terms());
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Acknowledged { .. } => Step::Answer(Answer::NotSeen(vec!["b".into()])),
        request => Step::Answer(cluster.answer(request)),
    });
    assert_eq!(why(&run.outcome), &StopReason::NotSeen(vec!["b".into()]));
    assert_eq!(run.at, ACKNOWLEDGED_MAX);
    assert!(!cluster.is_reserved && cluster.evictions == 0);

    let mut cluster = FakeCluster::new(terms());
    let run = run_with(&mut cluster, ACKNOWLEDGED, || Answer::Denied("the namespace has 100".into()));
    assert!(matches!(why(&run.outcome), StopReason::Denied(_)));
    assert!(!cluster.is_reserved && cluster.evictions == 0);
}

#[test]
fn whoever_does_not_insist_goes_on_and_releases_it_himself() {
    let mut cluster = FakeCluster::new(Terms { is_enforced: false, ..terms() });
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Acknowledged { .. } => Step::Answer(Answer::Nobody),
        request => Step::Answer(cluster.answer(request)),
    });
    assert!(matches!(run.outcome, RecreationOutcome::Done(_)));
    assert!(
        run.events.contains(&ProgressEvent::Unacknowledged) && run.events.contains(&ProgressEvent::Released)
    );
    assert!(!cluster.is_reserved, "nobody else would");
}

#[test]
fn the_second_look_decides() {
    let look = |seen: Recheck| {
        let mut cluster = FakeCluster::new(terms());
        let run = run_with(&mut cluster, RECHECK, || Answer::Rechecked(seen.clone()));
        (run, cluster)
    };
    let (run, cluster) = look(Recheck { is_gone: true, ..Recheck::default() });
    assert_eq!((why(&run.outcome), cluster.evictions), (&StopReason::Gone, 0));
    assert!(!cluster.is_reserved);
    let (run, cluster) = look(Recheck { is_lost: true, ..Recheck::default() });
    assert_eq!((why(&run.outcome), cluster.evictions), (&StopReason::Lost, 0));
    // Somebody else has deleted the pod: its room is kept, so the recreation goes on.
    let (run, cluster) = look(Recheck { is_leaving: true, ..Recheck::default() });
    assert!(cluster.evictions == 0 && !run.events.contains(&ProgressEvent::Evicted));
    // Too little room: the reservation is taken back, and everything begins again.
    let (run, cluster) = look(Recheck { lacks: vec!["cpu".into()], ..Recheck::default() });
    assert!(matches!(run.outcome, RecreationOutcome::Done(_)) && cluster.evictions == 1);
    assert!(
        run.events.contains(&ProgressEvent::Again(vec!["cpu".into()]))
            && run.events.contains(&ProgressEvent::TakenBack)
    );
}

#[test]
fn what_somebody_else_counts_on_by_now_is_not_taken_back() {
    // Another run evicted the pod, and this run has taken over its reservation.
    let mut cluster = FakeCluster { is_removed: true, ..FakeCluster::new(terms()) };
    let gone = || Answer::Rechecked(Recheck { is_gone: true, ..Recheck::default() });
    let run = run_with(&mut cluster, RECHECK, gone);
    assert_eq!((why(&run.outcome), cluster.is_reserved), (&StopReason::Gone, true));
    assert!(!run.events.contains(&ProgressEvent::TakenBack));
    let RecreationOutcome::Stopped { leftover, .. } = run.outcome else { panic!() };
    assert_eq!(leftover, Leftover::Reservation { until: Some(end()) });
}

#[test]
fn a_node_that_never_has_the_room_is_given_up() {
    let mut cluster = FakeCluster::new(terms());
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Recheck => {
            Step::Answer(Answer::Rechecked(Recheck { lacks: vec!["cpu".into()], ..Recheck::default() }))
        }
        request => Step::Answer(cluster.answer(request)),
    });
    assert_eq!(why(&run.outcome), &StopReason::NoRoom(vec!["cpu".into()]));
    assert!(!cluster.is_reserved && cluster.evictions == 0);
}

#[test]
fn a_reservation_that_would_end_during_the_eviction_is_written_anew_and_acknowledged_first() {
    let ends_soon = || Answer::Rechecked(Recheck { ends_soon: true, ..Recheck::default() });
    let mut cluster = FakeCluster::new(terms());
    let run = run_with(&mut cluster, RECHECK, ends_soon);
    assert!(matches!(run.outcome, RecreationOutcome::Done(_)) && cluster.evictions == 1);
    let count = |wanted: fn(&ProgressEvent) -> bool| run.events.iter().filter(|event| wanted(event)).count();
    assert_eq!(count(|event| matches!(event, ProgressEvent::Reserved { .. })), 2);
    assert_eq!(count(|event| matches!(event, ProgressEvent::Acknowledged { .. })), 2);
    // It never lasts long enough: nothing is evicted, and nothing stays reserved.
    let mut cluster = FakeCluster::new(terms());
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Recheck => Step::Answer(ends_soon()),
        request => Step::Answer(cluster.answer(request)),
    });
    assert!(matches!(why(&run.outcome), StopReason::Failed(text) if text.contains("so slowly")));
    assert!(!cluster.is_reserved && cluster.evictions == 0);
}

#[test]
fn ready_elsewhere_is_a_warning_or_a_failure() {
    for (is_required, is_well) in [(false, true), (true, false)] {
        let mut cluster = FakeCluster::new(Terms { is_required, ..terms() });
        cluster.replacement_node = "node-9";
        let run = run(&mut cluster);
        match run.outcome {
            RecreationOutcome::Done(done) => {
                assert!(is_well && done.node_match == Some(NodeMatch::Elsewhere))
            }
            outcome => {
                assert!(
                    !is_well
                        && matches!(why(&outcome), StopReason::Elsewhere { node, .. } if node == "node-9")
                )
            }
        }
    }
}

#[test]
fn time_runs_out() {
    for stage in 0..3 {
        let mut cluster = FakeCluster::new(Terms { timeout: 30 * SECOND, ..terms() });
        cluster.delays[stage..].fill(u32::MAX);
        let run = run(&mut cluster);
        assert!(matches!(why(&run.outcome), StopReason::Timeout(Some(_))), "{stage}: {:?}", run.outcome);
        let RecreationOutcome::Stopped { leftover, is_evicted, .. } = run.outcome else { panic!() };
        assert_eq!((leftover, is_evicted), (Leftover::Reservation { until: Some(end()) }, true));
    }
    // The daemon does not release the reservation: that is reported, and is not a failure.
    let mut cluster = FakeCluster::new(terms());
    cluster.delays[3] = u32::MAX;
    let RecreationOutcome::Done(done) = run(&mut cluster).outcome else { panic!() };
    assert_eq!(done.leftover, Leftover::Reservation { until: Some(end()) });
}

#[test]
fn a_bare_pod_is_made_again_by_us() {
    let bare = Terms { creates: true, same_name: Some("web-new".into()), ..terms() };
    let mut cluster = FakeCluster::new(bare.clone());
    let run = run(&mut cluster);
    assert!(matches!(run.outcome, RecreationOutcome::Done(_)) && cluster.is_created);
    let run = run_with_failing_create(bare);
    let RecreationOutcome::Stopped { must_create, is_evicted, .. } = run.outcome else { panic!() };
    assert!(must_create && is_evicted, "somebody has to know that it is gone");
}

fn run_with_failing_create(terms: Terms) -> super::Run {
    let mut cluster = FakeCluster::new(terms);
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    drive(flow, next, |_, request, _| match request {
        Request::Create => Step::Answer(Answer::Failed(StopReason::Failed("quota".into()))),
        request => Step::Answer(cluster.answer(request)),
    })
}

#[test]
fn without_a_reservation_it_is_a_plain_eviction() {
    let mut cluster = FakeCluster::new(Terms { keep_method: KeepMethod::Nothing, seat: None, ..terms() });
    let run = run(&mut cluster);
    assert!(matches!(run.outcome, RecreationOutcome::Done(_)));
    assert!(!cluster.requests.contains(&Request::Reserve) && !cluster.requests.contains(&Request::Release));
    assert_eq!(run.events[0], ProgressEvent::Evicted);
    let looked = cluster.requests.iter().position(|request| *request == Request::Recheck);
    let evicted = cluster.requests.iter().position(|request| *request == Request::Evict);
    assert!(looked.is_some() && looked < evicted, "its siblings are known before: {:?}", cluster.requests);
}

#[test]
fn the_replacement_is_whoever_took_the_seat() {
    let pod = |name: &str, node: Option<&str>, seat: Option<&str>| SiblingPod {
        name: name.into(),
        uid: name.into(),
        node: node.map(Into::into),
        seat: seat.map(Into::into),
        ..SiblingPod::default()
    };
    let find = |pods: Vec<SiblingPod>, name: Option<&str>| {
        let observation = Observation { pods, ..Observation::default() };
        let known = ["sibling".to_owned()].into();
        observation.replacement(Some("o.s"), "n2", name, &known).map(|pod| pod.name.clone())
    };
    let (sibling, scaled) = (pod("sibling", Some("n2"), None), pod("scaled", Some("n3"), None));
    assert_eq!(find(vec![sibling.clone()], None), None);
    assert_eq!(find(vec![sibling, scaled.clone()], None).as_deref(), Some("scaled"));
    // While another new pod waits for a node, it is not clear which of the two is the replacement.
    assert_eq!(find(vec![scaled.clone(), pod("b", None, None)], None), None);
    assert_eq!(find(vec![scaled.clone(), pod("b", Some("n2"), None)], None).as_deref(), Some("b"));
    assert_eq!(find(vec![scaled.clone(), pod("c", Some("n4"), Some("o.s"))], None).as_deref(), Some("c"));
    assert_eq!(find(vec![scaled, pod("db-0", Some("n3"), None)], Some("db-0")).as_deref(), Some("db-0"));
    // The pod that took the seat may also be one that existed before and waited for a node.
    assert_eq!(find(vec![pod("sibling", Some("n2"), Some("o.s"))], None).as_deref(), Some("sibling"));
    let over = SiblingPod { is_over: true, ..pod("over", Some("n2"), Some("o.s")) };
    assert_eq!(find(vec![over], None), None, "its kubelet turned it away");
}

#[test]
fn a_pod_that_its_owner_does_not_want_back_is_not_waited_for() {
    let mut cluster = FakeCluster::new(terms());
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    let run = drive(flow, next, |_, request, _| match (request, cluster.answer(request)) {
        (Request::Look, Answer::Observation(mut observation)) => {
            observation.pods.clear();
            observation.is_reserved = Some(observation.old.is_some());
            Step::Answer(Answer::Observation(observation))
        }
        (_, answer) => Step::Answer(answer),
    });
    let RecreationOutcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!((done.pod, done.leftover), (None, Leftover::Nothing));
}

#[test]
fn a_failed_reservation_is_taken_back_in_case_it_was_made() {
    let mut cluster = FakeCluster::new(terms());
    let run = run_with(&mut cluster, RESERVE, || Answer::Failed(StopReason::Failed("409".into())));
    assert_eq!(why(&run.outcome), &StopReason::Failed("409".into()));
    assert!(!cluster.is_reserved);
}

/// A drain keeps room on another node: it is not reported as the same node, and the daemon releases the reservation there.
#[test]
fn a_pod_that_moves_is_said_to_be_where_its_room_was_kept() {
    for (wait_for, leftover) in [(WaitFor::Bound, Leftover::Taken), (WaitFor::Ready, Leftover::Nothing)] {
        let mut cluster =
            FakeCluster::new(Terms { is_own_node: false, is_required: true, wait_for, ..terms() });
        let run = run(&mut cluster);
        let bound = ProgressEvent::Bound {
            pod: "web-new".into(),
            node: "node-2".into(),
            node_match: NodeMatch::IntendedNode,
        };
        assert!(run.events.contains(&bound), "{:?}", run.events);
        let RecreationOutcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
        assert_eq!((done.node_match, done.leftover), (Some(NodeMatch::IntendedNode), leftover));
    }
}

#[test]
fn what_was_reserved_and_taken_back_is_told_apart_from_nothing() {
    let mut cluster = FakeCluster::new(terms());
    let (flow, next) = Recreation::begin(terms());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Acknowledged { .. } => Step::Answer(Answer::Nobody),
        request => Step::Answer(cluster.answer(request)),
    });
    let RecreationOutcome::Stopped { why, leftover, .. } = run.outcome else { panic!() };
    assert_eq!((why, leftover), (StopReason::Nobody, Leftover::TakenBack));
    assert!(!cluster.is_reserved);
}
