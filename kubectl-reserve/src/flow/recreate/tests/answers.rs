//! What the flow does with each answer that it can get.

use super::{
    Answer, Keeping, Landed, Newcomer, News, Outcome, Recheck, Recreation, Refusal, Request, SECOND, Sight,
    Stays, Step, Until, Why, World, blocked, drive, end, run, run_with, terms,
};
use crate::flow::recreate::{ACKNOWLEDGED_MAX, Terms};
use std::time::Duration;

/// Which request has which number when all goes well.
const REHEARSE: usize = 0;
const RESERVE: usize = 1;
const ACKNOWLEDGED: usize = 2;
const RECHECK: usize = 3;
const EVICT: usize = 4;

fn why(outcome: &Outcome) -> &Why {
    match outcome {
        Outcome::Stopped { why, .. } => why,
        Outcome::Done(_) => panic!("it went well: {outcome:?}"),
    }
}

#[test]
fn a_pod_comes_back_in_its_place() {
    let mut world = World::new(terms());
    let run = run(&mut world);
    let bound = News::Bound { pod: "web-new".into(), node: "node-2".into(), landed: Landed::SameNode };
    let news = [
        News::Reserved { until: Some(end()) },
        News::Acknowledged { replicas: 2 },
        News::Evicted,
        News::Gone,
        bound,
        News::Ready,
        News::Released,
    ];
    assert_eq!(run.news, news);
    let Outcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!(
        (done.pod.as_deref(), done.landed, done.stays),
        (Some("web-new"), Some(Landed::SameNode), Stays::Nothing)
    );
    let order = [Request::Rehearse, Request::Reserve, Request::Acknowledged { version: 7 }, Request::Recheck];
    assert_eq!(world.requests[..4], order);
    assert_eq!(world.requests[4], Request::Evict);
}

#[test]
fn what_is_waited_for_is_the_end() {
    let kept = Stays::Reservation { until: Some(end()) };
    for (until, last, stays) in [
        (Until::Evicted, News::Evicted, kept),
        (Until::Deleted, News::Gone, kept),
        (
            Until::Bound,
            News::Bound { pod: "web-new".into(), node: "node-2".into(), landed: Landed::SameNode },
            Stays::Taken,
        ),
        (Until::Ready, News::Released, Stays::Nothing),
    ] {
        let run = run(&mut World::new(Terms { until, ..terms() }));
        assert_eq!(run.news.last(), Some(&last));
        let Outcome::Done(done) = run.outcome else { panic!("{until:?}") };
        assert_eq!(done.stays, stays, "{until:?}");
    }
}

#[test]
fn a_blocked_budget_is_tried_every_five_seconds_and_never_keeps_room() {
    let mut world = World::new(Terms { timeout: 60 * SECOND, ..terms() });
    let (flow, next) = Recreation::begin(world.terms.clone());
    let run = drive(flow, next, |_, request, _| {
        assert_eq!(request, Request::Rehearse);
        world.requests.push(request);
        Step::Answer(Answer::Refused(Refusal::Budget(blocked(false))))
    });
    assert!(matches!(why(&run.outcome), Why::Budget(_)));
    assert_eq!((run.at, world.requests.len()), (55 * SECOND, 12));
    assert_eq!(run.news, [News::Blocked(blocked(false))], "said once");
}

#[test]
fn a_budget_that_can_never_allow_it_ends_at_once() {
    let run =
        run_with(&mut World::new(terms()), REHEARSE, || Answer::Refused(Refusal::Budget(blocked(true))));
    assert!(matches!(why(&run.outcome), Why::Budget(_)));
    assert_eq!(run.at, Duration::ZERO);
}

#[test]
fn the_server_says_when_to_try_again() {
    let run = run_with(&mut World::new(terms()), REHEARSE, || Answer::Refused(Refusal::Soon(10 * SECOND)));
    assert!(matches!(run.outcome, Outcome::Done(_)));
    assert!(run.at >= 10 * SECOND);
    assert!(!run.news.iter().any(|news| matches!(news, News::Blocked(_))), "silently");
}

#[test]
fn a_budget_that_was_used_up_since_the_rehearsal_costs_the_reservation() {
    let mut world = World::new(terms());
    let (flow, next) = Recreation::begin(world.terms.clone());
    let run = drive(flow, next, |number, request, _| {
        if number == EVICT {
            assert_eq!(request, Request::Evict);
            return Step::Answer(Answer::Refused(Refusal::Budget(blocked(false))));
        }
        if request == Request::Rehearse {
            assert!(!world.is_reserved, "no room is kept while the budget is waited for");
        }
        Step::Answer(world.answer(request))
    });
    assert!(matches!(run.outcome, Outcome::Done(_)));
    assert!(run.news.contains(&News::TakenBack));
    assert_eq!(world.evictions, 1);
}

#[test]
fn without_an_acknowledgement_nothing_is_evicted() {
    let mut world = World::new(terms());
    let run = run_with(&mut world, ACKNOWLEDGED, || Answer::Nobody);
    assert_eq!(why(&run.outcome), &Why::Nobody);
    assert!(!world.is_reserved && world.evictions == 0);

    let mut world = World::new(terms());
    let (flow, next) = Recreation::begin(world.terms.clone());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Acknowledged { .. } => Step::Answer(Answer::NotSeen(vec!["b".into()])),
        request => Step::Answer(world.answer(request)),
    });
    assert_eq!(why(&run.outcome), &Why::NotSeen(vec!["b".into()]));
    assert_eq!(run.at, ACKNOWLEDGED_MAX);
    assert!(!world.is_reserved && world.evictions == 0);

    let mut world = World::new(terms());
    let run = run_with(&mut world, ACKNOWLEDGED, || Answer::Denied("the namespace has 100".into()));
    assert!(matches!(why(&run.outcome), Why::Denied(_)));
    assert!(!world.is_reserved && world.evictions == 0);
}

#[test]
fn whoever_does_not_insist_goes_on_and_releases_it_himself() {
    let mut world = World::new(Terms { is_enforced: false, ..terms() });
    let (flow, next) = Recreation::begin(world.terms.clone());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Acknowledged { .. } => Step::Answer(Answer::Nobody),
        request => Step::Answer(world.answer(request)),
    });
    assert!(matches!(run.outcome, Outcome::Done(_)));
    assert!(run.news.contains(&News::Unacknowledged) && run.news.contains(&News::Released));
    assert!(!world.is_reserved, "nobody else would");
}

#[test]
fn the_second_look_decides() {
    let look = |seen: Recheck| {
        let mut world = World::new(terms());
        let run = run_with(&mut world, RECHECK, || Answer::Rechecked(seen.clone()));
        (run, world)
    };
    let (run, world) = look(Recheck { is_gone: true, ..Recheck::default() });
    assert_eq!((why(&run.outcome), world.evictions), (&Why::Gone, 0));
    assert!(!world.is_reserved);
    let (run, world) = look(Recheck { is_lost: true, ..Recheck::default() });
    assert_eq!((why(&run.outcome), world.evictions), (&Why::Lost, 0));
    // Somebody else deleted it meanwhile: its room is kept, so it goes on.
    let (run, world) = look(Recheck { is_leaving: true, ..Recheck::default() });
    assert!(world.evictions == 0 && !run.news.contains(&News::Evicted));
    // No room: taken back, and all over again.
    let (run, world) = look(Recheck { lacks: vec!["cpu".into()], ..Recheck::default() });
    assert!(matches!(run.outcome, Outcome::Done(_)) && world.evictions == 1);
    assert!(run.news.contains(&News::Again(vec!["cpu".into()])) && run.news.contains(&News::TakenBack));
}

#[test]
fn what_somebody_else_counts_on_by_now_is_not_taken_back() {
    // Another run evicted the pod; what keeps its room is ours by now.
    let mut world = World { is_removed: true, ..World::new(terms()) };
    let gone = || Answer::Rechecked(Recheck { is_gone: true, ..Recheck::default() });
    let run = run_with(&mut world, RECHECK, gone);
    assert_eq!((why(&run.outcome), world.is_reserved), (&Why::Gone, true));
    assert!(!run.news.contains(&News::TakenBack));
    let Outcome::Stopped { stays, .. } = run.outcome else { panic!() };
    assert_eq!(stays, Stays::Reservation { until: Some(end()) });
}

#[test]
fn a_node_that_never_has_the_room_is_given_up() {
    let mut world = World::new(terms());
    let (flow, next) = Recreation::begin(world.terms.clone());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Recheck => {
            Step::Answer(Answer::Rechecked(Recheck { lacks: vec!["cpu".into()], ..Recheck::default() }))
        }
        request => Step::Answer(world.answer(request)),
    });
    assert_eq!(why(&run.outcome), &Why::NoRoom(vec!["cpu".into()]));
    assert!(!world.is_reserved && world.evictions == 0);
}

#[test]
fn ready_elsewhere_is_a_warning_or_a_failure() {
    for (is_required, is_well) in [(false, true), (true, false)] {
        let mut world = World::new(Terms { is_required, ..terms() });
        world.lands_on = "node-9";
        let run = run(&mut world);
        match run.outcome {
            Outcome::Done(done) => assert!(is_well && done.landed == Some(Landed::Elsewhere)),
            outcome => {
                assert!(!is_well && matches!(why(&outcome), Why::Elsewhere { node, .. } if node == "node-9"))
            }
        }
    }
}

#[test]
fn time_runs_out() {
    for stage in 0..3 {
        let mut world = World::new(Terms { timeout: 30 * SECOND, ..terms() });
        world.delays[stage..].fill(u32::MAX);
        let run = run(&mut world);
        assert!(matches!(why(&run.outcome), Why::Timeout(Some(_))), "{stage}: {:?}", run.outcome);
        let Outcome::Stopped { stays, is_evicted, .. } = run.outcome else { panic!() };
        assert_eq!((stays, is_evicted), (Stays::Reservation { until: Some(end()) }, true));
    }
    // The daemon does not release it: that is said, and is no failure.
    let mut world = World::new(terms());
    world.delays[3] = u32::MAX;
    let Outcome::Done(done) = run(&mut world).outcome else { panic!() };
    assert_eq!(done.stays, Stays::Reservation { until: Some(end()) });
}

#[test]
fn a_bare_pod_is_made_again_by_us() {
    let bare = Terms { creates: true, same_name: Some("web-new".into()), ..terms() };
    let mut world = World::new(bare.clone());
    let run = run(&mut world);
    assert!(matches!(run.outcome, Outcome::Done(_)) && world.is_created);
    let run = run_with_failing_create(bare);
    let Outcome::Stopped { must_create, is_evicted, .. } = run.outcome else { panic!() };
    assert!(must_create && is_evicted, "somebody has to know that it is gone");
}

fn run_with_failing_create(terms: Terms) -> super::Run {
    let mut world = World::new(terms);
    let (flow, next) = Recreation::begin(world.terms.clone());
    drive(flow, next, |_, request, _| match request {
        Request::Create => Step::Answer(Answer::Failed(Why::Failed("quota".into()))),
        request => Step::Answer(world.answer(request)),
    })
}

#[test]
fn without_a_reservation_it_is_a_plain_eviction() {
    let mut world = World::new(Terms { keeping: Keeping::Nothing, seat: None, ..terms() });
    let run = run(&mut world);
    assert!(matches!(run.outcome, Outcome::Done(_)));
    assert!(!world.requests.contains(&Request::Reserve) && !world.requests.contains(&Request::Release));
    assert_eq!(run.news[0], News::Evicted);
    let looked = world.requests.iter().position(|request| *request == Request::Recheck);
    let evicted = world.requests.iter().position(|request| *request == Request::Evict);
    assert!(looked.is_some() && looked < evicted, "its siblings are known before: {:?}", world.requests);
}

#[test]
fn the_replacement_is_whoever_took_the_seat() {
    let pod = |name: &str, node: Option<&str>, seat: Option<&str>| Newcomer {
        name: name.into(),
        uid: name.into(),
        node: node.map(Into::into),
        seat: seat.map(Into::into),
        ..Newcomer::default()
    };
    let find = |pods: Vec<Newcomer>, name: Option<&str>| {
        let sight = Sight { pods, ..Sight::default() };
        let known = ["sibling".to_owned()].into();
        sight.replacement(Some("o.s"), "n2", name, &known).map(|pod| pod.name.clone())
    };
    let (sibling, scaled) = (pod("sibling", Some("n2"), None), pod("scaled", Some("n3"), None));
    assert_eq!(find(vec![sibling.clone()], None), None);
    assert_eq!(find(vec![sibling, scaled.clone()], None).as_deref(), Some("scaled"));
    // While another new one waits nobody knows which of them it is.
    assert_eq!(find(vec![scaled.clone(), pod("b", None, None)], None), None);
    assert_eq!(find(vec![scaled.clone(), pod("b", Some("n2"), None)], None).as_deref(), Some("b"));
    assert_eq!(find(vec![scaled.clone(), pod("c", Some("n4"), Some("o.s"))], None).as_deref(), Some("c"));
    assert_eq!(find(vec![scaled, pod("db-0", Some("n3"), None)], Some("db-0")).as_deref(), Some("db-0"));
    // Also one that was there before, and waited for a node.
    assert_eq!(find(vec![pod("sibling", Some("n2"), Some("o.s"))], None).as_deref(), Some("sibling"));
    let over = Newcomer { is_over: true, ..pod("over", Some("n2"), Some("o.s")) };
    assert_eq!(find(vec![over], None), None, "its kubelet turned it away");
}

#[test]
fn a_pod_that_its_owner_does_not_want_back_is_not_waited_for() {
    let mut world = World::new(terms());
    let (flow, next) = Recreation::begin(world.terms.clone());
    let run = drive(flow, next, |_, request, _| match (request, world.answer(request)) {
        (Request::Look, Answer::Sight(mut sight)) => {
            sight.pods.clear();
            sight.is_reserved = Some(sight.old.is_some());
            Step::Answer(Answer::Sight(sight))
        }
        (_, answer) => Step::Answer(answer),
    });
    let Outcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
    assert_eq!((done.pod, done.stays), (None, Stays::Nothing));
}

#[test]
fn a_failed_reservation_is_taken_back_in_case_it_was_made() {
    let mut world = World::new(terms());
    let run = run_with(&mut world, RESERVE, || Answer::Failed(Why::Failed("409".into())));
    assert_eq!(why(&run.outcome), &Why::Failed("409".into()));
    assert!(!world.is_reserved);
}

/// A drain keeps room on another node: that is not the same node, and what is taken there is released without us.
#[test]
fn a_pod_that_moves_is_said_to_be_where_its_room_was_kept() {
    for (until, stays) in [(Until::Bound, Stays::Taken), (Until::Ready, Stays::Nothing)] {
        let mut world = World::new(Terms { is_home: false, is_required: true, until, ..terms() });
        let run = run(&mut world);
        let bound = News::Bound { pod: "web-new".into(), node: "node-2".into(), landed: Landed::Kept };
        assert!(run.news.contains(&bound), "{:?}", run.news);
        let Outcome::Done(done) = run.outcome else { panic!("{:?}", run.outcome) };
        assert_eq!((done.landed, done.stays), (Some(Landed::Kept), stays));
    }
}

#[test]
fn what_was_reserved_and_taken_back_is_told_apart_from_nothing() {
    let mut world = World::new(terms());
    let (flow, next) = Recreation::begin(terms());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Acknowledged { .. } => Step::Answer(Answer::Nobody),
        request => Step::Answer(world.answer(request)),
    });
    let Outcome::Stopped { why, stays, .. } = run.outcome else { panic!() };
    assert_eq!((why, stays), (Why::Nobody, Stays::TakenBack));
    assert!(!world.is_reserved);
}
