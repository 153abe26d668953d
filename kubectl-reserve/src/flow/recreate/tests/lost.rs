//! Replacements that are deleted or preempted before the command ends: what it says last is about the pod that it waited for.

use super::{
    Answer, Landed, Newcomer, News, Outcome, Recreation, Request, Run, SECOND, Sight, Stays, Step, Terms,
    Until, Why, World, drive, terms,
};

/// A pod of a StatefulSet: each replacement has the same name.
fn pod(uid: &str, node: Option<&str>, is_ready: bool) -> Newcomer {
    Newcomer {
        name: "db-0".into(),
        uid: uid.into(),
        node: node.map(Into::into),
        is_ready,
        ..Newcomer::default()
    }
}

fn db() -> Terms {
    Terms { same_name: Some("db-0".into()), timeout: 60 * SECOND, ..terms() }
}

/// What is seen: this pod, with the reservation still there.
fn seen(pod: Newcomer) -> Sight {
    Sight { pods: vec![pod], is_reserved: Some(true), ..Sight::default() }
}

/// The flow with these looks after the eviction, and the last of them for ever.
fn run(terms: Terms, looks: &[Sight]) -> Run {
    let mut world = World::new(terms);
    // The old pod is gone in the first of them.
    world.delays[0] = 0;
    let (flow, next) = Recreation::begin(world.terms.clone());
    let mut count = 0;
    drive(flow, next, |_, request, _| {
        let answer = world.answer(request);
        if request != Request::Look {
            return Step::Answer(answer);
        }
        count += 1;
        Step::Answer(Answer::Sight(Box::new(looks[count.min(looks.len()) - 1].clone())))
    })
}

fn after_the_eviction(news: &[News]) -> Vec<News> {
    news.iter().skip_while(|news| **news != News::Gone).skip(1).cloned().collect()
}

fn bound(node: &str, landed: Landed) -> News {
    News::Bound { pod: "db-0".into(), node: node.into(), landed }
}

fn gone() -> News {
    News::ReplacementGone { pod: "db-0".into(), node: "node-2".into() }
}

#[test]
fn a_replacement_that_is_preempted_is_told_and_the_next_one_waited_for() {
    let released = Sight { is_reserved: Some(false), ..seen(pod("b", Some("node-9"), true)) };
    let looks = [
        seen(pod("a", Some("node-2"), true)),
        // Another pod of that name: it waits, and then goes elsewhere.
        seen(pod("b", None, false)),
        seen(pod("b", Some("node-9"), true)),
        released,
    ];
    let run = run(db(), &looks);
    assert_eq!(
        after_the_eviction(&run.news),
        [
            bound("node-2", Landed::SameNode),
            News::Ready,
            gone(),
            bound("node-9", Landed::Elsewhere),
            News::Ready,
            News::Released
        ]
    );
    let Outcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!((done.uid.as_deref(), done.node.as_deref()), (Some("b"), Some("node-9")));
}

#[test]
fn the_same_name_and_node_is_not_the_same_pod() {
    let run = run(db(), &[seen(pod("a", Some("node-2"), true)), seen(pod("b", Some("node-2"), false))]);
    assert!(run.news.contains(&gone()), "{:?}", run.news);
    let Outcome::Stopped { why, .. } = run.outcome else { panic!("b was never ready: {:?}", run.outcome) };
    assert!(matches!(why, Why::Timeout(Some(_))), "{why:?}");
}

#[test]
fn a_replacement_that_is_being_deleted_is_gone_and_without_another_one_time_runs_out() {
    let leaving = Newcomer { is_over: true, ..pod("a", Some("node-2"), true) };
    let none = Sight { is_reserved: Some(false), ..Sight::default() };
    let run = run(db(), &[seen(pod("a", Some("node-2"), true)), seen(leaving), none]);
    let told = after_the_eviction(&run.news);
    assert_eq!(told, [bound("node-2", Landed::SameNode), News::Ready, gone(), News::Released]);
    let Outcome::Stopped { why, stays, is_evicted, .. } = run.outcome else {
        panic!("there is no replacement: {:?}", run.outcome)
    };
    assert!(matches!(why, Why::Timeout(Some(_))), "{why:?}");
    assert_eq!((stays, is_evicted, run.at >= 60 * SECOND), (Stays::Nothing, true, true));
}

#[test]
fn a_bound_replacement_is_there_in_the_look_that_ends_the_run() {
    let leaving = Newcomer { is_over: true, ..pod("a", Some("node-2"), false) };
    let looks = [seen(leaving), seen(pod("b", Some("node-2"), false))];
    let run = run(Terms { until: Until::Bound, ..db() }, &looks);
    let Outcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!(done.uid.as_deref(), Some("b"));
}

#[test]
fn a_replacement_that_is_no_longer_ready_is_waited_for() {
    let looks = [
        seen(pod("a", Some("node-2"), true)),
        seen(pod("a", Some("node-2"), false)),
        Sight { is_reserved: Some(false), ..seen(pod("a", Some("node-2"), false)) },
        Sight { is_reserved: Some(false), ..seen(pod("a", Some("node-2"), true)) },
    ];
    let run = run(db(), &looks);
    let not_ready = News::NotReady { pod: "db-0".into() };
    let told = [bound("node-2", Landed::SameNode), News::Ready, not_ready, News::Ready, News::Released];
    assert_eq!(after_the_eviction(&run.news), told);
    assert!(matches!(run.outcome, Outcome::Done(_)));
}

/// Whoever releases the reservation himself looks once more: the release takes time, too.
#[test]
fn after_our_own_release_the_replacement_is_looked_at_again() {
    let mut world = World::new(Terms { is_enforced: false, ..db() });
    let (flow, next) = Recreation::begin(world.terms.clone());
    let mut is_released = false;
    let run = drive(flow, next, |_, request, _| match request {
        Request::Acknowledged { .. } => Step::Answer(Answer::Nobody),
        Request::Look if is_released => {
            Step::Answer(Answer::Sight(Box::new(Sight { is_reserved: Some(false), ..Sight::default() })))
        }
        Request::Look => Step::Answer(Answer::Sight(Box::new(seen(pod("a", Some("node-2"), true))))),
        request => {
            is_released |= request == Request::Release;
            Step::Answer(world.answer(request))
        }
    });
    assert!(is_released && run.news.contains(&gone()), "{:?}", run.news);
    assert!(matches!(run.outcome, Outcome::Stopped { why: Why::Timeout(_), .. }), "{:?}", run.outcome);
}

/// Nobody makes a bare pod again, and we do not either: whoever deleted it may not want it.
#[test]
fn a_bare_pod_that_is_lost_is_told_with_what_to_do() {
    let bare = Terms { creates: true, ..db() };
    let none = Sight { is_reserved: Some(true), ..Sight::default() };
    let looks = [none.clone(), seen(pod("a", Some("node-2"), true)), none];
    let run = run(bare, &looks);
    let Outcome::Stopped { why, must_create, .. } = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!(why, Why::ReplacementGone { pod: "db-0".into(), node: "node-2".into() });
    assert!(must_create);
}

#[test]
fn a_pod_of_a_job_that_has_ended_well_may_be_deleted() {
    let complete = Newcomer { is_over: true, is_complete: true, ..pod("a", Some("node-2"), false) };
    let none = Sight { is_reserved: Some(false), ..Sight::default() };
    let run = run(db(), &[seen(complete), none]);
    let Outcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!(done.uid.as_deref(), Some("a"));
}
