//! Ctrl-C, lost answers and crashes, at every step.

use super::{
    Answer, News, Outcome, Recheck, Recreation, Refusal, Request, SECOND, Stays, Step, Terms, Why, World,
    drive, run, terms,
};

/// How many requests it takes when all goes well.
fn requests(terms: &Terms) -> usize {
    let mut world = World::new(terms.clone());
    run(&mut world);
    world.requests.len()
}

fn bare() -> Terms {
    Terms { creates: true, same_name: Some("web-new".into()), ..terms() }
}

#[test]
fn ctrl_c_before_the_eviction_leaves_nothing_and_after_it_says_what_stays() {
    for terms in [terms(), bare()] {
        for at in 0..requests(&terms) {
            let mut world = World::new(terms.clone());
            let (flow, next) = Recreation::begin(terms.clone());
            let run = drive(flow, next, |number, request, _| match number {
                number if number == at => Step::Interrupt,
                _ => Step::Answer(world.answer(request)),
            });
            let Outcome::Stopped { why, stays, is_evicted, .. } = run.outcome else { panic!("{at}") };
            assert_eq!((why, is_evicted), (Why::Interrupted, world.evictions > 0), "{at}");
            let is_nothing = matches!(stays, Stays::Nothing | Stays::TakenBack);
            assert_eq!(is_nothing, world.evictions == 0 || !world.is_reserved, "{at}");
            let is_taken_back = run.news.contains(&News::TakenBack);
            assert_eq!(
                stays == Stays::TakenBack,
                is_taken_back,
                "{at}: it is not said that there was nothing"
            );
            assert!(world.evictions > 0 || !world.is_reserved, "{at}: {:?}", world.requests);
        }
    }
}

#[test]
fn a_second_ctrl_c_skips_the_release() {
    let mut world = World::new(terms());
    let (flow, next) = Recreation::begin(terms());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Recheck | Request::TakeBack | Request::Release => Step::Interrupt,
        request => Step::Answer(world.answer(request)),
    });
    let Outcome::Stopped { why, stays, is_evicted, .. } = run.outcome else { panic!() };
    assert_eq!((why, is_evicted), (Why::Interrupted, false));
    assert_eq!(stays, Stays::Reservation { until: Some(super::end()) }, "and says that it stays");
    assert!(world.is_reserved);
}

#[test]
fn an_answer_that_is_lost_changes_nothing_in_the_end() {
    for terms in [terms(), bare()] {
        for at in 0..requests(&terms) {
            for has_happened in [true, false] {
                let mut world = World::new(terms.clone());
                let (flow, next) = Recreation::begin(terms.clone());
                let run = drive(flow, next, |number, request, _| {
                    if number != at {
                        return Step::Answer(world.answer(request));
                    }
                    if has_happened {
                        world.answer(request);
                    }
                    Step::Answer(Answer::Lost("no answer".into()))
                });
                assert!(
                    matches!(run.outcome, Outcome::Done(_)),
                    "{at} {has_happened}: {:?} {:?}",
                    run.outcome,
                    world.requests
                );
                assert_eq!((world.evictions, world.is_reserved), (1, false), "{at} {has_happened}");
            }
        }
    }
}

#[test]
fn ctrl_c_while_nobody_knows_whether_it_was_evicted_keeps_the_room() {
    let mut world = World::new(terms());
    let (flow, next) = Recreation::begin(terms());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Evict => {
            world.answer(request);
            Step::Answer(Answer::Lost("no answer".into()))
        }
        Request::Look => Step::Interrupt,
        request => Step::Answer(world.answer(request)),
    });
    assert!(matches!(run.outcome, Outcome::Stopped { is_evicted: true, .. }));
    assert!(world.is_reserved, "the pod may be on its way out");
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    for terms in [terms(), bare()] {
        for at in 0..requests(&terms) {
            let mut world = World::new(Terms { timeout: 60 * SECOND, ..terms.clone() });
            let (flow, next) = Recreation::begin(world.terms.clone());
            let run = drive(flow, next, |number, request, _| {
                if number >= at {
                    return Step::Answer(Answer::Lost("no answer".into()));
                }
                Step::Answer(world.answer(request))
            });
            let Outcome::Stopped { why, stays, .. } = run.outcome else { panic!("{at}") };
            assert!(matches!(why, Why::Failed(_) | Why::Timeout(_)), "{at}: {why:?}");
            assert!(
                !world.is_reserved || !matches!(stays, Stays::Nothing | Stays::TakenBack),
                "{at}: what stays is said"
            );
        }
    }
}

/// A webhook that is down, for example.
#[test]
fn an_eviction_that_always_fails_is_given_up_and_what_was_reserved_taken_back() {
    for terms in [terms(), bare()] {
        let mut world = World::new(terms.clone());
        let (flow, next) = Recreation::begin(terms);
        let run = drive(flow, next, |number, request, _| match request {
            _ if number > 100 => panic!("it goes on for ever"),
            Request::Evict => Step::Answer(Answer::Lost("failed calling webhook".into())),
            request => Step::Answer(world.answer(request)),
        });
        let Outcome::Stopped { why, is_evicted, .. } = run.outcome else { panic!("it was not evicted") };
        assert_eq!((why, is_evicted), (Why::Failed("failed calling webhook".into()), false));
        assert!(!world.is_reserved);
    }
}

/// The first try commits late, and the server says something else about the second one.
#[test]
fn a_pod_that_went_by_a_try_without_an_answer_went_by_ours() {
    let mut world = World::new(bare());
    let (flow, next) = Recreation::begin(bare());
    let mut tries = 0;
    let run = drive(flow, next, |_, request, _| match request {
        Request::Evict if tries == 0 => {
            tries += 1;
            Step::Answer(Answer::Lost("504".into()))
        }
        Request::Evict if tries == 1 => {
            tries += 1;
            world.answer(request);
            Step::Answer(Answer::Refused(Refusal::Soon(SECOND)))
        }
        Request::Rehearse if tries == 2 => Step::Answer(Answer::Refused(Refusal::Gone)),
        request => Step::Answer(world.answer(request)),
    });
    assert!(matches!(run.outcome, Outcome::Done(_)), "{:?}", run.outcome);
    assert!(world.requests.contains(&Request::Create), "a bare pod that we removed is made again");
}

/// While the eviction had no answer another run may have taken the reservation over, and back.
#[test]
fn before_the_next_try_everything_is_looked_at_once_more() {
    let mut world = World::new(terms());
    let (flow, next) = Recreation::begin(terms());
    let mut tries = 0;
    let run = drive(flow, next, |_, request, _| match request {
        Request::Evict => {
            tries += 1;
            Step::Answer(Answer::Lost("no answer".into()))
        }
        Request::Recheck if tries > 0 => {
            Step::Answer(Answer::Rechecked(Recheck { is_lost: true, ..Recheck::default() }))
        }
        request => Step::Answer(world.answer(request)),
    });
    assert!(matches!(run.outcome, Outcome::Stopped { why: Why::Lost, is_evicted: false, .. }));
    assert_eq!(tries, 1);
}

/// A run that was killed, and another one that finds what it left.
#[test]
fn a_rerun_after_a_crash_ends_as_if_nothing_had_happened() {
    for at in 0..requests(&terms()) {
        for has_happened in [true, false] {
            let mut world = World::new(terms());
            let (mut flow, mut next) = Recreation::begin(terms());
            for number in 0..=at {
                let super::Then::Do { request, .. } = next.then else { break };
                if number == at && !has_happened {
                    break;
                }
                let answer = world.answer(request);
                next = flow.step(answer, SECOND);
            }
            let is_gone = world.is_past(0);
            let again = Terms { is_leaving: world.evictions > 0 && !is_gone, is_gone, ..world.terms.clone() };
            if is_gone && !world.is_reserved {
                continue; // All was over.
            }
            world.terms = again;
            let run = run(&mut world);
            assert!(matches!(run.outcome, Outcome::Done(_)), "{at} {has_happened}: {:?}", run.outcome);
            assert_eq!((world.evictions, world.is_reserved), (1, false), "{at} {has_happened}");
        }
    }
}
