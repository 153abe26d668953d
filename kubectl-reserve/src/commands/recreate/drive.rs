//! Drives a recreation: carries out what the flow asks for, tells what happens, and listens for Ctrl-C.

use super::executor::Executor;
use crate::error::Failure;
use crate::flow::recreate::{Answer, News, Next, Outcome, Recreation, Request, Then};
use crate::ui::signal::Stops;
use std::time::Duration;
use tokio::time::Instant;

/// How it ended, and how long it took.
pub(super) struct Driven {
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
}

/// What came of one request.
enum Came {
    Answer(Answer),
    /// Somebody wants to stop, and nothing is in the air.
    Stopped,
    /// An answer, and somebody wants to stop.
    Both(Answer),
}

/// Drives the flow to its end. `tell` hears what happens.
pub(super) async fn drive(
    executor: &mut Executor<'_>,
    mut tell: impl FnMut(&News, Duration),
) -> Result<Driven, Failure> {
    let mut stops = Stops::listen()?;
    let begun = Instant::now();
    let (mut flow, mut next) = Recreation::begin(executor.terms.clone());
    loop {
        next.news.iter().for_each(|news| tell(news, begun.elapsed()));
        let (request, after) = match next.then {
            Then::Stop(outcome) => return Ok(Driven { outcome, took: begun.elapsed() }),
            Then::Do { request, after } => (request, after),
        };
        next = match one(executor, request, after, &mut stops).await {
            Came::Answer(answer) => flow.step(answer, begun.elapsed()),
            Came::Stopped => flow.interrupt(),
            Came::Both(answer) => both(&mut flow, answer, begun.elapsed()),
        };
    }
}

/// What was begun is heard out before it is stopped: nobody would know what came of it.
fn both(flow: &mut Recreation, answer: Answer, at: Duration) -> Next {
    let heard = flow.step(answer, at);
    if let Then::Stop(_) = heard.then {
        return heard;
    }
    let mut next = flow.interrupt();
    next.news.splice(0..0, heard.news);
    next
}

async fn one(executor: &mut Executor<'_>, request: Request, after: Duration, stops: &mut Stops) -> Came {
    tokio::select! {
        biased;
        _ = stops.next() => return Came::Stopped,
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
                (false, _) => return Came::Stopped,
                (true, false) => is_stopping = true,
                // Enough: whatever comes of it.
                (true, true) => {
                    let _ = stop;
                    return Came::Both(Answer::Lost("interrupted".into()));
                }
            },
            answer = &mut answer => {
                return if is_stopping { Came::Both(answer) } else { Came::Answer(answer) };
            }
        }
    }
}
