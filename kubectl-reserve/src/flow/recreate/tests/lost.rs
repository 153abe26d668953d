//! Replacements that are deleted or preempted before the command ends: the outcome is about the pod that was there at the end.

use super::{
    Answer, FakeCluster, Leftover, NodeMatch, Observation, ProgressEvent, Recreation, RecreationOutcome,
    Request, Run, SECOND, SiblingPod, Step, StopReason, Terms, WaitFor, drive, terms,
};

/// A pod of a StatefulSet: each replacement has the same name.
fn pod(uid: &str, node: Option<&str>, is_ready: bool) -> SiblingPod {
    SiblingPod {
        name: "db-0".into(),
        uid: uid.into(),
        node: node.map(Into::into),
        is_ready,
        ..SiblingPod::default()
    }
}

fn db() -> Terms {
    Terms { same_name: Some("db-0".into()), timeout: 60 * SECOND, ..terms() }
}

/// An observation of this pod, with the reservation still on the node.
fn seen(pod: SiblingPod) -> Observation {
    Observation { pods: vec![pod], is_reserved: Some(true), ..Observation::default() }
}

/// Runs the flow with these observations after the eviction; the last one is repeated.
fn run(terms: Terms, looks: &[Observation]) -> Run {
    let mut cluster = FakeCluster::new(terms);
    // The old pod is gone in the first observation.
    cluster.delays[0] = 0;
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    let mut count = 0;
    drive(flow, next, |_, request, _| {
        let answer = cluster.answer(request);
        if request != Request::Look {
            return Step::Answer(answer);
        }
        count += 1;
        Step::Answer(Answer::Observation(Box::new(looks[count.min(looks.len()) - 1].clone())))
    })
}

fn after_the_eviction(events: &[ProgressEvent]) -> Vec<ProgressEvent> {
    events.iter().skip_while(|event| **event != ProgressEvent::Gone).skip(1).cloned().collect()
}

fn bound(node: &str, node_match: NodeMatch) -> ProgressEvent {
    ProgressEvent::Bound { pod: "db-0".into(), node: node.into(), node_match }
}

fn gone() -> ProgressEvent {
    ProgressEvent::ReplacementGone { pod: "db-0".into(), node: "node-2".into() }
}

#[test]
fn a_replacement_that_is_preempted_is_told_and_the_next_one_waited_for() {
    let released = Observation { is_reserved: Some(false), ..seen(pod("b", Some("node-9"), true)) };
    let looks = [
        seen(pod("a", Some("node-2"), true)),
        // Another pod of the same name: it has no node at first, and then another one.
        seen(pod("b", None, false)),
        seen(pod("b", Some("node-9"), true)),
        released,
    ];
    let run = run(db(), &looks);
    assert_eq!(
        after_the_eviction(&run.events),
        [
            bound("node-2", NodeMatch::SameNode),
            ProgressEvent::Ready,
            gone(),
            bound("node-9", NodeMatch::Elsewhere),
            ProgressEvent::Ready,
            ProgressEvent::Released
        ]
    );
    let RecreationOutcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!((done.uid.as_deref(), done.node.as_deref()), (Some("b"), Some("node-9")));
}

#[test]
fn the_same_name_and_node_is_not_the_same_pod() {
    let run = run(db(), &[seen(pod("a", Some("node-2"), true)), seen(pod("b", Some("node-2"), false))]);
    assert!(run.events.contains(&gone()), "{:?}", run.events);
    let RecreationOutcome::Stopped { why, .. } = run.outcome else {
        panic!("b was never ready: {:?}", run.outcome)
    };
    assert!(matches!(why, StopReason::Timeout(Some(_))), "{why:?}");
}

#[test]
fn a_replacement_that_is_being_deleted_is_gone_and_without_another_one_time_runs_out() {
    let leaving = SiblingPod { is_over: true, ..pod("a", Some("node-2"), true) };
    let none = Observation { is_reserved: Some(false), ..Observation::default() };
    let run = run(db(), &[seen(pod("a", Some("node-2"), true)), seen(leaving), none]);
    let told = after_the_eviction(&run.events);
    assert_eq!(
        told,
        [bound("node-2", NodeMatch::SameNode), ProgressEvent::Ready, gone(), ProgressEvent::Released]
    );
    let RecreationOutcome::Stopped { why, leftover, is_evicted, .. } = run.outcome else {
        panic!("there is no replacement: {:?}", run.outcome)
    };
    assert!(matches!(why, StopReason::Timeout(Some(_))), "{why:?}");
    assert_eq!((leftover, is_evicted, run.at >= 60 * SECOND), (Leftover::Nothing, true, true));
}

#[test]
fn a_bound_replacement_is_there_in_the_look_that_ends_the_run() {
    let leaving = SiblingPod { is_over: true, ..pod("a", Some("node-2"), false) };
    let looks = [seen(leaving), seen(pod("b", Some("node-2"), false))];
    let run = run(Terms { wait_for: WaitFor::Bound, ..db() }, &looks);
    let RecreationOutcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!(done.uid.as_deref(), Some("b"));
}

#[test]
fn a_replacement_that_is_no_longer_ready_is_waited_for() {
    let looks = [
        seen(pod("a", Some("node-2"), true)),
        seen(pod("a", Some("node-2"), false)),
        Observation { is_reserved: Some(false), ..seen(pod("a", Some("node-2"), false)) },
        Observation { is_reserved: Some(false), ..seen(pod("a", Some("node-2"), true)) },
    ];
    let run = run(db(), &looks);
    let not_ready = ProgressEvent::NotReady { pod: "db-0".into() };
    let told = [
        bound("node-2", NodeMatch::SameNode),
        ProgressEvent::Ready,
        not_ready,
        ProgressEvent::Ready,
        ProgressEvent::Released,
    ];
    assert_eq!(after_the_eviction(&run.events), told);
    assert!(matches!(run.outcome, RecreationOutcome::Done(_)));
}

/// After the command has released the reservation itself it reads the pods once more, because the release takes time.
#[test]
fn after_our_own_release_the_replacement_is_looked_at_again() {
    let mut cluster = FakeCluster::new(Terms { is_enforced: false, ..db() });
    let (flow, next) = Recreation::begin(cluster.terms.clone());
    let mut is_released = false;
    let run = drive(flow, next, |_, request, _| match request {
        Request::Acknowledged { .. } => Step::Answer(Answer::Nobody),
        Request::Look if is_released => Step::Answer(Answer::Observation(Box::new(Observation {
            is_reserved: Some(false),
            ..Observation::default()
        }))),
        Request::Look => Step::Answer(Answer::Observation(Box::new(seen(pod("a", Some("node-2"), true))))),
        request => {
            is_released |= request == Request::Release;
            Step::Answer(cluster.answer(request))
        }
    });
    assert!(is_released && run.events.contains(&gone()), "{:?}", run.events);
    assert!(
        matches!(run.outcome, RecreationOutcome::Stopped { why: StopReason::Timeout(_), .. }),
        "{:?}",
        run.outcome
    );
}

/// A bare pod that was created again and then deleted is not created a second time: whoever deleted it may not want it.
#[test]
fn a_bare_pod_that_is_lost_is_told_with_what_to_do() {
    let bare = Terms { creates: true, ..db() };
    let none = Observation { is_reserved: Some(true), ..Observation::default() };
    let looks = [none.clone(), seen(pod("a", Some("node-2"), true)), none];
    let run = run(bare, &looks);
    let RecreationOutcome::Stopped { why, must_create, .. } = run.outcome else {
        panic!("{:?}", run.outcome)
    };
    assert_eq!(why, StopReason::ReplacementGone { pod: "db-0".into(), node: "node-2".into() });
    assert!(must_create);
}

#[test]
fn a_pod_of_a_job_that_has_ended_well_may_be_deleted() {
    let complete = SiblingPod { is_over: true, is_complete: true, ..pod("a", Some("node-2"), false) };
    let none = Observation { is_reserved: Some(false), ..Observation::default() };
    let run = run(db(), &[seen(complete), none]);
    let RecreationOutcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!(done.uid.as_deref(), Some("a"));
}
