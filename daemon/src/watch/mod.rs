//! Turns the API server's objects into inputs: lists a kind, then watches it, for ever; after an error it may list again. Entry
//! points: [`follow`], and [`list_nodes_and_pods`] for comparisons.
//!
//! A list is sent as one event: it says which objects exist, and the belief finds out which are gone. An object that cannot be
//! decoded is logged and skipped. Lists are always read from the newest state, never from a cache that may be older.
//!
//! Must not know: what the inputs are used for.

mod http;
mod kinds;
#[cfg(test)]
mod tests;

pub use kinds::{WatchedKind, catalog_objects, nodes, pods, replicas, watched_kinds, workloads};

use crate::clock::Clock;
use crate::state::Input;
use common::api::list::{WatchLine, page, version, watch_line};
use common::cluster::compare::{ListedObjects, Listing};
use common::cluster::{Event, ObjectInterner, WatchEvent};
use http::{CallError, Lines};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Objects in one page of a list: few enough that one answer neither blocks the server nor fills our memory.
const PAGE_LEN: usize = 500;

/// The pause after each page of a list that is not urgent, so that it uses at most ten requests a second.
const PAGE_PAUSE: Duration = Duration::from_millis(100);

/// How long the server keeps a watch open. By default it closes watches after a random time of up to ten minutes.
const WATCH_SECONDS: u64 = 300;

/// The server sends a bookmark at least once a minute; a watch that is silent for this long is dead.
const SILENCE_MAX: Duration = Duration::from_secs(90);

/// A watch that ends sooner than this and sent nothing is an error. Starting the next one at once could flood the server.
const WATCH_MIN: Duration = Duration::from_secs(1);

/// The shortest and the longest pause after an error.
const PAUSES: (Duration, Duration) = (Duration::from_millis(800), Duration::from_secs(30));

/// After this many failed watches in a row the resource version may be the problem, and everything is listed again.
const FAILURES_MAX: u32 = 3;

/// Sends all objects of one kind and all their changes. Returns when the receiver is gone.
pub async fn follow<T>(
    kind: WatchedKind<T>,
    client: kube::Client,
    clock: Clock,
    inputs: mpsc::Sender<Input>,
) {
    let mut reflector = Reflector { kind, client, clock, inputs, failures: 0 };
    while !reflector.inputs.is_closed() {
        match reflector.list().await {
            Ok(version) => reflector.watch_from(version).await,
            Err(error) => reflector.list_failed(&error).await,
        }
    }
}

/// All nodes, and all pods that have not ended. The lists are not urgent, so there is a pause after each page.
pub async fn list_nodes_and_pods(client: &kube::Client, clock: &Clock) -> Result<Listing, String> {
    async fn all<T>(
        kind: WatchedKind<T>,
        client: &kube::Client,
        clock: &Clock,
    ) -> Result<ListedObjects<T>, String> {
        let listed = list(&kind, client, clock, PAGE_PAUSE).await;
        let (objects, version) = listed.map_err(|error| format!("list {}: {error}", kind.name))?;
        let version = version.parse().map_err(|_| format!("the list of {} has no version", kind.name))?;
        Ok(ListedObjects { objects, version })
    }
    Ok(Listing { nodes: all(nodes(), client, clock).await?, pods: all(pods(), client, clock).await? })
}

/// All objects of a kind, page by page, and the version of the list.
async fn list<T>(
    kind: &WatchedKind<T>,
    client: &kube::Client,
    clock: &Clock,
    pause: Duration,
) -> Result<(Vec<T>, String), CallError> {
    let mut live = Vec::new();
    // The belief interns objects too, but gets the list only when all of it is in memory.
    let mut interner = ObjectInterner::default();
    let mut next = String::new();
    loop {
        let query = format!("limit={PAGE_LEN}&continue={next}&{}", kind.selector);
        let body = http::get(client, clock, kind, &query).await?;
        let page = page(&body)?;
        for mut object in page.items.iter().filter_map(|json| decode(kind, json)) {
            (kind.intern)(&mut interner, &mut object);
            live.push(object);
        }
        match page.next {
            Some(token) => next = token.into_owned(),
            None => return Ok((live, page.resource_version.into_owned())),
        }
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
}

fn decode<T>(kind: &WatchedKind<T>, json: &str) -> Option<T> {
    match (kind.decode)(json) {
        Ok(object) => Some(object),
        Err(error) => {
            tracing::error!(what = kind.name, "{error}: {}", error.source);
            None
        }
    }
}

/// Lists and watches one kind.
struct Reflector<T> {
    kind: WatchedKind<T>,
    client: kube::Client,
    clock: Clock,
    inputs: mpsc::Sender<Input>,
    failures: u32,
}

enum WatchEnd {
    /// The server closed it, as it does from time to time.
    Closed,
    /// The server no longer has the history since our resource version (410).
    TooOld,
}

impl<T> Reflector<T> {
    /// Lists everything, and returns the version from which to watch.
    async fn list(&self) -> Result<String, CallError> {
        let (live, version) = list(&self.kind, &self.client, &self.clock, Duration::ZERO).await?;
        tracing::debug!(what = self.kind.name, count = live.len(), "listed");
        self.send(WatchEvent::Relisted(live)).await;
        self.reached(&version).await;
        Ok(version)
    }

    /// Handles a failed list. A kind that the daemon may not read, or that the server does not have, must not block the rest.
    async fn list_failed(&mut self, error: &CallError) {
        tracing::warn!(what = self.kind.name, "list: {error}");
        if matches!(error, CallError::Refused { code: 403 | 404, .. })
            && let Some(event) = self.kind.unreadable.clone()
        {
            self.send_event(event).await;
        }
        self.pause().await;
    }

    /// Watches until everything has to be listed again. A watch that sent something or lasted a while resets the count of
    /// failures; after any other end there is a pause, which grows with the count.
    async fn watch_from(&mut self, mut version: String) {
        while !self.inputs.is_closed() {
            let (before, started) = (version.clone(), Instant::now());
            let ended = self.watch(&mut version).await;
            let is_well = version != before || started.elapsed() >= WATCH_MIN;
            if is_well {
                self.failures = 0;
            }
            match ended {
                Ok(WatchEnd::Closed) if is_well => {}
                Ok(WatchEnd::Closed) => self.pause().await,
                Ok(WatchEnd::TooOld) if is_well => return,
                Ok(WatchEnd::TooOld) => return self.pause().await,
                Err(error) => {
                    tracing::warn!(what = self.kind.name, "watch: {error}");
                    self.pause().await;
                    if self.failures >= FAILURES_MAX {
                        return;
                    }
                }
            }
        }
    }

    /// Runs one watch. Moves `at` forward with every event, so that the next watch continues after it.
    async fn watch(&self, at: &mut String) -> Result<WatchEnd, CallError> {
        let query = format!(
            "watch=1&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}&resourceVersion={at}&{}",
            self.kind.selector
        );
        let mut lines = match Lines::open(&self.client, &self.clock, &self.kind, &query, SILENCE_MAX).await {
            Err(CallError::Refused { code: 410, .. }) => return Ok(WatchEnd::TooOld),
            lines => lines?,
        };
        while let Some(line) = lines.next().await? {
            let (json, is_deleted) = match watch_line(&line)? {
                WatchLine::Applied(json) => (json, false),
                WatchLine::Deleted(json) => (json, true),
                WatchLine::Bookmark(version) => {
                    *at = version.into_owned();
                    self.reached(at).await;
                    continue;
                }
                WatchLine::Failed { code: 410, .. } => return Ok(WatchEnd::TooOld),
                WatchLine::Failed { code, message } => {
                    return Err(CallError::Refused { code, message: message.into_owned() });
                }
            };
            if let Some(object) = decode(&self.kind, json) {
                self.send(if is_deleted { WatchEvent::Deleted(object) } else { WatchEvent::Applied(object) })
                    .await;
            }
            *at = version(json)?;
        }
        Ok(WatchEnd::Closed)
    }

    async fn send(&self, event: WatchEvent<T>) {
        self.send_event((self.kind.event)(event)).await;
    }

    /// Says that every change up to `version` was sent, including deletions, which no remaining object shows.
    async fn reached(&self, version: &str) {
        if let Some(event) = version.parse().ok().and_then(|version| Some(self.kind.up_to?(version))) {
            self.send_event(event).await;
        }
    }

    async fn send_event(&self, event: Event) {
        // The receiver is gone only when the daemon stops, and `follow` checks for that itself.
        let _ = self.inputs.send(Input::Cluster(Box::new(event))).await;
    }

    async fn pause(&mut self) {
        let pause = PAUSES.0 * 2_u32.pow(self.failures.min(6));
        self.failures += 1;
        tokio::time::sleep(pause.min(PAUSES.1)).await;
    }
}
