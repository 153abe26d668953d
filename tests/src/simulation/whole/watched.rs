//! The lines of a watch on their way: kept back while nothing comes through, late, twice, or broken off.

use super::door::Subject;
use super::line::{Answered, Failure, Line};
use super::weather::LineFate;
use bytes::Bytes;
use futures::stream::unfold;
use http::Response;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use sandbox::AnswerBody;
use std::collections::VecDeque;
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until};

/// The lines of a watch, as they come through.
pub(super) fn watched(line: &Line, response: Response<AnswerBody>, subject: &Subject) -> Answered {
    let (head, body) = response.into_parts();
    let turns = line.weather.listen();
    let begun = *turns.borrow();
    let watched = Watched {
        line: line.clone(),
        plural: subject.resource.clone(),
        body,
        turns,
        begun,
        held: VecDeque::new(),
        is_over: false,
    };
    let lines =
        unfold(watched, |mut watched| async move { watched.next().await.map(|line| (line, watched)) });
    let frames = futures::StreamExt::map(lines, |line| line.map(Frame::data));
    Response::from_parts(head, StreamBody::new(frames).boxed_unsync())
}

/// A watch under way.
struct Watched {
    line: Line,
    plural: String,
    body: AnswerBody,
    turns: watch::Receiver<u64>,
    begun: u64,
    held: VecDeque<Bytes>,
    is_over: bool,
}

impl Watched {
    async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        loop {
            let (weather, user) = (&self.line.weather, &self.line.door.who().user);
            if self.is_over {
                return None;
            }
            if weather.is_cut(user, &self.plural, self.begun) {
                self.is_over = true;
                return Some(Ok(too_old()));
            }
            if let Some((until, _)) = weather.frozen(user, &self.plural) {
                tokio::select! { biased; _ = self.turns.changed() => {}, () = sleep_until(until) => {} }
                continue;
            }
            if let Some(line) = self.held.pop_front() {
                return Some(self.deliver(line).await);
            }
            tokio::select! {
                biased;
                _ = self.turns.changed() => {}
                frame = self.body.frame() => match frame {
                    None => return None,
                    Some(Err(never)) => match never {},
                    Some(Ok(frame)) => self.held.extend(frame.into_data()),
                },
            }
        }
    }

    async fn deliver(&mut self, line: Bytes) -> Result<Bytes, Failure> {
        match self.line.weather.line() {
            LineFate::Through => {}
            LineFate::Late(by) => sleep(by).await,
            LineFate::Twice => {
                self.tell(&line);
                let both = [line.as_ref(), line.as_ref()].concat();
                return Ok(both.into());
            }
            LineFate::Half => {
                self.is_over = true;
                return Ok(line.slice(..line.len() / 2));
            }
        }
        self.tell(&line);
        Ok(line)
    }

    /// Writes down what a daemon learns from lines of a watch.
    fn tell(&self, lines: &Bytes) {
        if self.line.is_of_daemon()
            && let Some(revision) = lines.split(|byte| *byte == b'\n').filter_map(revision).next_back()
        {
            self.line.door.record().told(&self.line.door.who().user, &self.plural, revision);
        }
    }
}

/// The revision of the object in a line of a watch: inside texts, quotes have a backslash before them.
fn revision(line: &[u8]) -> Option<u64> {
    const KEY: &[u8] = br#""resourceVersion":""#;
    let at = line.windows(KEY.len()).position(|part| part == KEY)? + KEY.len();
    let digits = line[at..].split(|byte| *byte == b'"').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn too_old() -> Bytes {
    let status = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}"#;
    Bytes::from(format!("{status}\n"))
}
