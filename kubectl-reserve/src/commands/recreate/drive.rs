//! Drives a recreation to its end: carries out the requests of the flow, reports its events, and handles Ctrl-C.

use super::executor::Executor;
use crate::error::Failure;
use crate::flow::recreate::{
    Answer, NextAction, ProgressEvent, Recreation, RecreationOutcome, Request, StepOutput,
};
use crate::ui::signal::StopRequests;
use std::time::Duration;
use tokio::time::Instant;

/// The outcome of a recreation, and how long it took.
pub(super) struct DriveResult {
    pub(super) outcome: RecreationOutcome,
    pub(super) took: Duration,
}

/// How one request ended.
enum RequestEnd {
    Answer(Answer),
    /// The user wants to stop, and no write is under way.
    Interrupted,
    /// The request was answered, and the user wants to stop.
    AnswerAndInterrupt(Answer),
}

/// Drives the flow to its end. `report` is called with each event and the time since the beginning.
pub(super) async fn drive(
    executor: &mut Executor<'_>,
    mut report: impl FnMut(&ProgressEvent, Duration),
) -> Result<DriveResult, Failure> {
    let mut stops = StopRequests::listen()?;
    let begun = Instant::now();
    let (mut flow, mut next) = Recreation::begin(executor.terms.clone());
    loop {
        next.events.iter().for_each(|event| report(event, begun.elapsed()));
        let (request, after) = match next.action {
            NextAction::Stop(outcome) => return Ok(DriveResult { outcome, took: begun.elapsed() }),
            NextAction::Do { request, after } => (request, after),
        };
        next = match make_request(executor, request, after, &mut stops).await {
            RequestEnd::Answer(answer) => flow.step(answer, begun.elapsed()),
            RequestEnd::Interrupted => flow.interrupt(),
            RequestEnd::AnswerAndInterrupt(answer) => {
                answer_then_interrupt(&mut flow, answer, begun.elapsed())
            }
        };
    }
}

/// Takes the answer of a write before the flow is interrupted: otherwise its effect would be unknown.
fn answer_then_interrupt(flow: &mut Recreation, answer: Answer, at: Duration) -> StepOutput {
    let answered = flow.step(answer, at);
    if let NextAction::Stop(_) = answered.action {
        return answered;
    }
    let mut next = flow.interrupt();
    next.events.splice(0..0, answered.events);
    next
}

async fn make_request(
    executor: &mut Executor<'_>,
    request: Request,
    after: Duration,
    stops: &mut StopRequests,
) -> RequestEnd {
    tokio::select! {
        biased;
        _ = stops.next() => return RequestEnd::Interrupted,
        () = tokio::time::sleep(after) => {}
    }
    let is_write = matches!(request, Request::Reserve | Request::Evict | Request::Create);
    let answer = executor.carry_out(request);
    tokio::pin!(answer);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            biased;
            stop = stops.next() => match (is_write, is_stopping) {
                (false, _) => return RequestEnd::Interrupted,
                (true, false) => is_stopping = true,
                // The second Ctrl-C: the answer is not waited for.
                (true, true) => {
                    let _ = stop;
                    return RequestEnd::AnswerAndInterrupt(Answer::Lost("interrupted".into()));
                }
            },
            answer = &mut answer => {
                return if is_stopping { RequestEnd::AnswerAndInterrupt(answer) } else { RequestEnd::Answer(answer) };
            }
        }
    }
}
