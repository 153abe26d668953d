//! A watch: the existing objects, if requested, and then every change, line by line, with bookmarks in between.

use super::Shared;
use super::render::Renderer;
use super::request::Query;
use crate::refusal::{Answer, Refusal};
use crate::select::Selector;
use crate::store::Change;
use bytes::Bytes;
use futures::Stream;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How often a watch sends a bookmark.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);

/// How long a watch lasts if the request does not say.
const DURATION_DEFAULT: Duration = Duration::from_secs(30 * 60);

pub(super) struct Watch {
    shared: Shared,
    renderer: Renderer,
    selector: Selector,
    /// Every change up to this revision was sent.
    position: u64,
    ready: VecDeque<Bytes>,
    changed: watch::Receiver<u64>,
    bookmark: Option<Instant>,
    end: Instant,
    is_over: bool,
}

impl Watch {
    pub(super) fn begin(
        shared: Shared,
        renderer: Renderer,
        query: &Query,
        selector: Selector,
    ) -> Answer<Self> {
        let seconds = query.number("timeoutSeconds")?.filter(|seconds| *seconds > 0);
        let from = query.number("resourceVersion")?.unwrap_or(0);
        let has_bookmarks = query.is_true("allowWatchBookmarks");
        let (initial, is_initial) = (query.get("sendInitialEvents"), query.is_true("sendInitialEvents"));
        let now = Instant::now();
        let mut watch = shared.clone().with(|state| Self {
            shared,
            renderer,
            selector,
            position: if from == 0 { state.store.revision() } else { from },
            ready: VecDeque::new(),
            changed: state.store.listen(renderer.resource),
            bookmark: has_bookmarks.then(|| now + BOOKMARK_INTERVAL),
            end: now + seconds.map_or(DURATION_DEFAULT, Duration::from_secs),
            is_over: false,
        });
        if is_initial || (from == 0 && initial.is_empty()) {
            watch.send_all(is_initial && has_bookmarks);
        }
        Ok(watch)
    }

    /// Sends all existing objects as ADDED.
    fn send_all(&mut self, with_end: bool) {
        let (lines, revision) = self.shared.with(|state| {
            let objects =
                state.store.all(self.renderer.resource).filter(|object| self.selector.matches(object));
            let lines: Vec<Bytes> = objects.map(|object| self.line("ADDED", object, state.now)).collect();
            (lines, state.store.revision())
        });
        self.ready.extend(lines);
        self.position = revision;
        if with_end {
            self.ready.push_back(line("BOOKMARK", &self.renderer.bookmark(revision, true)));
        }
    }

    pub(super) fn lines(self) -> impl Stream<Item = Bytes> + Send {
        futures::stream::unfold(self, |mut watch| async move { watch.next().await.map(|line| (line, watch)) })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            if self.is_over {
                return None;
            }
            self.changed.mark_unchanged();
            self.collect();
            if self.ready.is_empty() && !self.is_over {
                self.wait().await;
            }
        }
    }

    /// Waits for a change, the next bookmark, or the end of the watch.
    async fn wait(&mut self) {
        let until = self.bookmark.map_or(self.end, |bookmark| bookmark.min(self.end));
        tokio::select! {
            biased;
            changed = self.changed.changed() => self.is_over |= changed.is_err(),
            () = tokio::time::sleep_until(until) => {
                self.is_over |= until == self.end;
                if !self.is_over {
                    self.bookmark = Some(until + BOOKMARK_INTERVAL);
                    self.ready.push_back(line("BOOKMARK", &self.renderer.bookmark(self.position, false)));
                }
            }
        }
    }

    /// Collects the changes since `position`.
    fn collect(&mut self) {
        let found = self.shared.with(|state| {
            let changes = state.store.changes_since(self.renderer.resource, self.position)?;
            let lines = changes.iter().filter_map(|change| self.event_line(change, state.now));
            Some((lines.collect::<Vec<Bytes>>(), state.store.revision()))
        });
        match found {
            Some((lines, revision)) => {
                self.ready.extend(lines);
                // A watch may start at a future revision; it then waits for it.
                self.position = self.position.max(revision);
            }
            None => {
                let why = format!("too old resource version: {}", self.position);
                self.ready.push_back(line("ERROR", &Refusal::too_old(why).to_json()));
                self.is_over = true;
            }
        }
    }

    /// The line for a change, if the selector selects the object. An object that begins to match is ADDED; one that no longer
    /// matches is DELETED, with its last state and the version of the change.
    fn event_line(&self, change: &Change, now: Timestamp) -> Option<Bytes> {
        let is_wanted = |object: &&Arc<Value>| self.selector.matches(object);
        match (change.before.as_ref().filter(is_wanted), change.after.as_ref().filter(is_wanted)) {
            (None, Some(new)) => Some(self.line("ADDED", new, now)),
            (Some(_), Some(new)) => Some(self.line("MODIFIED", new, now)),
            (Some(old), None) => {
                let mut last = Value::clone(old);
                last["metadata"]["resourceVersion"] = change.revision.to_string().into();
                Some(self.line("DELETED", &last, now))
            }
            (None, None) => None,
        }
    }

    fn line(&self, kind: &str, object: &Value, now: Timestamp) -> Bytes {
        line(kind, &self.renderer.object(object, now))
    }
}

fn line(kind: &str, object: &Value) -> Bytes {
    format!("{}\n", json!({ "type": kind, "object": object })).into()
}
