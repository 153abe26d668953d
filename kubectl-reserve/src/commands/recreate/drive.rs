//! Drives a recreation to its end: carries out the requests of the flow, reports its events, and handles Ctrl-C.

use crate::error::Failure;
use crate::flow::recreate::{
    Answer, KeepMethod, NextAction, ProgressEvent, Recreation, RecreationOutcome, Request, StepOutput, Terms,
};
use crate::ui::signal::StopRequests;
use std::time::Duration;
use tokio::time::Instant;

/// After this time a request counts as lost.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// The outcome of a recreation, and how long it took.
pub(super) struct DriveResult {
    pub(super) outcome: RecreationOutcome,
    pub(super) took: Duration,
}

enum RequestEnd {
    Answer(Answer),
    /// The user wants to stop, and no write is under way.
    Interrupted,
    /// The request was answered, and the user wants to stop.
    AnswerAndInterrupt(Answer),
}

/// Drives the flow to its end. `carry_out` gets each request, and how the room is kept, which the flow decides. `report` is called
/// with each event and the time since the beginning.
pub(super) async fn drive(
    terms: Terms,
    mut carry_out: impl AsyncFnMut(Request, KeepMethod) -> Answer,
    mut report: impl FnMut(&ProgressEvent, Duration),
) -> Result<DriveResult, Failure> {
    let mut stops = StopRequests::listen()?;
    let begun = Instant::now();
    let (mut flow, mut next) = Recreation::begin(terms);
    loop {
        next.events.iter().for_each(|event| report(event, begun.elapsed()));
        let (request, after) = match next.action {
            NextAction::Stop(outcome) => return Ok(DriveResult { outcome, took: begun.elapsed() }),
            NextAction::Do { request, after } => (request, after),
        };
        let is_write = matches!(request, Request::Reserve | Request::Evict | Request::Create);
        let answer = in_time(carry_out(request, flow.keep_method()));
        next = match make_request(answer, is_write, after, &mut stops).await {
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

/// The answer; after `ANSWER_MAX` it counts as lost, even if `--request-timeout` is longer or unset.
async fn in_time(answer: impl Future<Output = Answer>) -> Answer {
    let lost = |_| Answer::Lost(format!("no answer in {} s", ANSWER_MAX.as_secs()));
    tokio::time::timeout(ANSWER_MAX, answer).await.unwrap_or_else(lost)
}

async fn make_request(
    answer: impl Future<Output = Answer>,
    is_write: bool,
    after: Duration,
    stops: &mut StopRequests,
) -> RequestEnd {
    tokio::select! {
        biased;
        _ = stops.next() => return RequestEnd::Interrupted,
        () = tokio::time::sleep(after) => {}
    }
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
