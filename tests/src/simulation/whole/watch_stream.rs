//! The lines of a watch on a connection with faults: held back, late, repeated, or cut in the middle.

use super::connection::{ClientResponse, Connection, Failure};
use super::fault_injector::LineOutcome;
use super::user_api::Subject;
use bytes::Bytes;
use futures::stream::unfold;
use http::Response;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use sandbox::AnswerBody;
use std::collections::VecDeque;
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until};

/// The response of a watch, with faults.
pub(super) fn watch_response(
    connection: &Connection,
    response: Response<AnswerBody>,
    subject: &Subject,
) -> ClientResponse {
    let (head, body) = response.into_parts();
    let changes = connection.faults.subscribe();
    let begun = *changes.borrow();
    let stream = WatchStream {
        connection: connection.clone(),
        plural: subject.resource.clone(),
        body,
        changes,
        begun,
        held: VecDeque::new(),
        is_over: false,
    };
    let lines = unfold(stream, |mut stream| async move { stream.next().await.map(|line| (line, stream)) });
    let frames = futures::StreamExt::map(lines, |line| line.map(Frame::data));
    Response::from_parts(head, StreamBody::new(frames).boxed_unsync())
}

/// An open watch.
struct WatchStream {
    connection: Connection,
    plural: String,
    body: AnswerBody,
    changes: watch::Receiver<u64>,
    begun: u64,
    held: VecDeque<Bytes>,
    is_over: bool,
}

impl WatchStream {
    async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        loop {
            let (faults, user) = (&self.connection.faults, &self.connection.api.identity().user);
            if self.is_over {
                return None;
            }
            if faults.is_cut(user, &self.plural, self.begun) {
                self.is_over = true;
                return Some(Ok(too_old()));
            }
            if let Some((until, _)) = faults.frozen(user, &self.plural) {
                tokio::select! { biased; _ = self.changes.changed() => {}, () = sleep_until(until) => {} }
                continue;
            }
            if let Some(line) = self.held.pop_front() {
                return Some(self.deliver(line).await);
            }
            tokio::select! {
                biased;
                _ = self.changes.changed() => {}
                frame = self.body.frame() => match frame {
                    None => return None,
                    Some(Err(never)) => match never {},
                    Some(Ok(frame)) => self.held.extend(frame.into_data()),
                },
            }
        }
    }

    async fn deliver(&mut self, line: Bytes) -> Result<Bytes, Failure> {
        match self.connection.faults.line_outcome() {
            LineOutcome::Through => {}
            LineOutcome::Late(by) => sleep(by).await,
            LineOutcome::Twice => {
                self.record_delivery(&line);
                let both = [line.as_ref(), line.as_ref()].concat();
                return Ok(both.into());
            }
            LineOutcome::Half => {
                self.is_over = true;
                return Ok(line.slice(..line.len() / 2));
            }
        }
        self.record_delivery(&line);
        Ok(line)
    }

    /// Records what a daemon learns from lines of a watch.
    fn record_delivery(&self, lines: &Bytes) {
        if self.connection.is_of_daemon()
            && let Some(revision) = lines.split(|byte| *byte == b'\n').filter_map(revision).next_back()
        {
            self.connection.api.record().add_delivery(
                &self.connection.api.identity().user,
                &self.plural,
                revision,
            );
        }
    }
}

/// The revision of the object in a line of a watch. Inside JSON strings quotes are escaped, so the key cannot be found there.
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
