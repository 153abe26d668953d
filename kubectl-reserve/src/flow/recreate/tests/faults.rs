//! Ctrl-C, lost answers and crashes, at every step.

use super::{
    Answer, FakeCluster, Leftover, ProgressEvent, Recheck, Recreation, RecreationOutcome, Refusal, Request,
    SECOND, Step, StopReason, Terms, drive, run, terms,
};

/// The number of requests when nothing goes wrong.
fn requests(terms: &Terms) -> usize {
    let mut cluster = FakeCluster::new(terms.clone());
    run(&mut cluster);
    cluster.requests.len()
}

fn bare() -> Terms {
    Terms { creates: true, same_name: Some("web-new".into()), ..terms() }
}

#[test]
fn ctrl_c_before_the_eviction_leaves_nothing_and_after_it_says_what_stays() {
    for terms in [terms(), bare()] {
        for at in 0..requests(&terms) {
            let mut cluster = FakeCluster::new(terms.clone());
            let (flow, next) = Recreation::begin(terms.clone());
            let run = drive(flow, next, |number, request, _| match number {
                number if number == at => Step::Interrupt,
                _ => Step::Answer(cluster.answer(request)),
            });
            let RecreationOutcome::Stopped { why, leftover, is_evicted, .. } = run.outcome else {
                panic!("{at}")
            };
            assert_eq!((why, is_evicted), (StopReason::Interrupted, cluster.evictions > 0), "{at}");
            let is_nothing = matches!(leftover, Leftover::Nothing | Leftover::TakenBack);
            assert_eq!(is_nothing, cluster.evictions == 0 || !cluster.is_reserved, "{at}");
            let is_taken_back = run.events.contains(&ProgressEvent::TakenBack);
            assert_eq!(
                leftover == Leftover::TakenBack,
                is_taken_back,
                "{at}: it is not said that there was nothing"
            );
            assert!(cluster.evictions > 0 || !cluster.is_reserved, "{at}: {:?}", cluster.requests);
        }
    }
}

#[test]
fn a_second_ctrl_c_skips_the_release() {
    let mut cluster = FakeCluster::new(terms());
    let (flow, next) = Recreation::begin(terms());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Recheck | Request::TakeBack | Request::Release => Step::Interrupt,
        request => Step::Answer(cluster.answer(request)),
    });
    let RecreationOutcome::Stopped { why, leftover, is_evicted, .. } = run.outcome else { panic!() };
    assert_eq!((why, is_evicted), (StopReason::Interrupted, false));
    assert_eq!(leftover, Leftover::Reservation { until: Some(super::end()) }, "and says that it stays");
    assert!(cluster.is_reserved);
}

#[test]
fn an_answer_that_is_lost_changes_nothing_in_the_end() {
    for terms in [terms(), bare()] {
        for at in 0..requests(&terms) {
            for has_happened in [true, false] {
                let mut cluster = FakeCluster::new(terms.clone());
                let (flow, next) = Recreation::begin(terms.clone());
                let run = drive(flow, next, |number, request, _| {
                    if number != at {
                        return Step::Answer(cluster.answer(request));
                    }
                    if has_happened {
                        cluster.answer(request);
                    }
                    Step::Answer(Answer::Lost("no answer".into()))
                });
                assert!(
                    matches!(run.outcome, RecreationOutcome::Done(_)),
                    "{at} {has_happened}: {:?} {:?}",
                    run.outcome,
                    cluster.requests
                );
                assert_eq!((cluster.evictions, cluster.is_reserved), (1, false), "{at} {has_happened}");
            }
        }
    }
}

#[test]
fn ctrl_c_while_nobody_knows_whether_it_was_evicted_keeps_the_room() {
    let mut cluster = FakeCluster::new(terms());
    let (flow, next) = Recreation::begin(terms());
    let run = drive(flow, next, |_, request, _| match request {
        Request::Evict => {
            cluster.answer(request);
            Step::Answer(Answer::Lost("no answer".into()))
        }
        Request::Look => Step::Interrupt,
        request => Step::Answer(cluster.answer(request)),
    });
    assert!(matches!(run.outcome, RecreationOutcome::Stopped { is_evicted: true, .. }));
    assert!(cluster.is_reserved, "the pod may be on its way out");
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    for terms in [terms(), bare()] {
        for at in 0..requests(&terms) {
            let mut cluster = FakeCluster::new(Terms { timeout: 60 * SECOND, ..terms.clone() });
            let (flow, next) = Recreation::begin(cluster.terms.clone());
            let run = drive(flow, next, |number, request, _| {
                if number >= at {
                    return Step::Answer(Answer::Lost("no answer".into()));
                }
                Step::Answer(cluster.answer(request))
            });
            let RecreationOutcome::Stopped { why, leftover, .. } = run.outcome else { panic!("{at}") };
            assert!(matches!(why, StopReason::Failed(_) | StopReason::Timeout(_)), "{at}: {why:?}");
            assert!(
                !cluster.is_reserved || !matches!(leftover, Leftover::Nothing | Leftover::TakenBack),
                "{at}: what stays is said"
            );
        }
    }
}

/// For example because a webhook is down.
#[test]
fn an_eviction_that_always_fails_is_given_up_and_what_was_reserved_taken_back() {
    for terms in [terms(), bare()] {
        let mut cluster = FakeCluster::new(terms.clone());
        let (flow, next) = Recreation::begin(terms);
        let run = drive(flow, next, |number, request, _| match request {
            _ if number > 100 => panic!("it goes on for ever"),
            Request::Evict => Step::Answer(Answer::Lost("failed calling webhook".into())),
            request => Step::Answer(cluster.answer(request)),
        });
        let RecreationOutcome::Stopped { why, is_evicted, .. } = run.outcome else {
            panic!("it was not evicted")
        };
        assert_eq!((why, is_evicted), (StopReason::Failed("failed calling webhook".into()), false));
        assert!(!cluster.is_reserved);
    }
}

/// The first eviction, which had no answer, is carried out late, and the second one is refused.
#[test]
fn a_pod_that_went_by_a_try_without_an_answer_went_by_ours() {
    let mut cluster = FakeCluster::new(bare());
    let (flow, next) = Recreation::begin(bare());
    let mut tries = 0;
    let run = drive(flow, next, |_, request, _| match request {
        Request::Evict if tries == 0 => {
            tries += 1;
            Step::Answer(Answer::Lost("504".into()))
        }
        Request::Evict if tries == 1 => {
            tries += 1;
            cluster.answer(request);
            Step::Answer(Answer::Refused(Refusal::Soon(SECOND)))
        }
        Request::DryRunEvict if tries == 2 => Step::Answer(Answer::Refused(Refusal::Gone)),
        request => Step::Answer(cluster.answer(request)),
    });
    assert!(matches!(run.outcome, RecreationOutcome::Done(_)), "{:?}", run.outcome);
    assert!(cluster.requests.contains(&Request::Create), "a bare pod that we removed is made again");
}

/// Before the eviction is repeated, another run may have taken the reservation over and taken it back.
#[test]
fn before_the_next_try_everything_is_looked_at_once_more() {
    let mut cluster = FakeCluster::new(terms());
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
        request => Step::Answer(cluster.answer(request)),
    });
    assert!(matches!(
        run.outcome,
        RecreationOutcome::Stopped { why: StopReason::Lost, is_evicted: false, .. }
    ));
    assert_eq!(tries, 1);
}

/// The first run is killed, and a second run starts with what the first one left.
#[test]
fn a_rerun_after_a_crash_ends_as_if_nothing_had_happened() {
    for at in 0..requests(&terms()) {
        for has_happened in [true, false] {
            let mut cluster = FakeCluster::new(terms());
            let (mut flow, mut next) = Recreation::begin(terms());
            for number in 0..=at {
                let super::NextAction::Do { request, .. } = next.action else { break };
                if number == at && !has_happened {
                    break;
                }
                let answer = cluster.answer(request);
                next = flow.step(answer, SECOND);
            }
            let is_gone = cluster.is_past(0);
            let again =
                Terms { is_leaving: cluster.evictions > 0 && !is_gone, is_gone, ..cluster.terms.clone() };
            if is_gone && !cluster.is_reserved {
                continue; // The first run had finished.
            }
            cluster.terms = again;
            let run = run(&mut cluster);
            assert!(
                matches!(run.outcome, RecreationOutcome::Done(_)),
                "{at} {has_happened}: {:?}",
                run.outcome
            );
            assert_eq!((cluster.evictions, cluster.is_reserved), (1, false), "{at} {has_happened}");
        }
    }
}
