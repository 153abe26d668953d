//! From the API server to inputs: list once, then watch, for ever; whatever goes wrong, list again.
//!
//! A list is one more event: it says what is there, and the belief finds out what vanished. What cannot be decoded
//! is reported and passed over, one object at a time. Lists are always read from the newest state, never from a
//! cache that may go back in time.
//!
//! Knows nothing of: what the inputs are for.

mod http;
#[cfg(test)]
mod tests;
mod watched;

pub use watched::{Nodes, Others, Pods, Replicas, Watched, Workloads};

use crate::clock::Clock;
use crate::state::Input;
use common::api::list::{WatchLine, page, version, watch_line};
use common::cluster::compare::{List, Listing};
use common::cluster::{Event, Seen, Shared};
use http::{CallError, Lines};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Objects in one page of a list: small enough that one answer neither stalls the server nor fills our memory.
const PAGE_LEN: usize = 500;

/// How long a list that nobody waits for rests after each page, so that it takes no more than ten requests of a second.
const PAGE_PAUSE: Duration = Duration::from_millis(100);

/// How long the server keeps a watch open. It ends watches at random before ten minutes by itself.
const WATCH_SECONDS: u64 = 300;

/// A watch is silent for a minute at most, because the server sends bookmarks; after this long it is dead.
const SILENCE_MAX: Duration = Duration::from_secs(90);

/// A watch that ends sooner than this did not end as watches do; following it at once could go on for ever.
const WATCH_MIN: Duration = Duration::from_secs(1);

/// The shortest and the longest pause after something went wrong.
const PAUSES: (Duration, Duration) = (Duration::from_millis(800), Duration::from_secs(30));

/// After this many broken watches in a row the position itself is doubted, and everything is listed again.
const BROKEN_MAX: u32 = 3;

/// Sends everything that happens to one kind of object. Returns when nobody listens any more.
pub async fn follow<W: Watched>(watched: W, client: kube::Client, clock: Clock, inputs: mpsc::Sender<Input>) {
    let mut follower = Follower { watched, client, clock, inputs, failures: 0 };
    while !follower.inputs.is_closed() {
        match follower.list().await {
            Ok(version) => follower.watch_from(version).await,
            Err(error) => follower.list_failed(&error).await,
        }
    }
}

/// All nodes and all pods that have not ended, or why they cannot be listed. Nobody waits for them, so that each page leaves
/// time for other requests.
///
/// # Errors
/// When the API server does not list them.
pub async fn list_nodes_and_pods(client: &kube::Client, clock: &Clock) -> Result<Listing, String> {
    async fn all<W: Watched>(
        watched: W,
        client: &kube::Client,
        clock: &Clock,
    ) -> Result<List<W::Object>, String> {
        let listed = list(&watched, client, clock, PAGE_PAUSE).await;
        let (objects, version) = listed.map_err(|error| format!("list {}: {error}", watched.name()))?;
        let version =
            version.parse().map_err(|_| format!("the list of {} has no version", watched.name()))?;
        Ok(List { objects, version })
    }
    Ok(Listing { nodes: all(Nodes, client, clock).await?, pods: all(Pods, client, clock).await? })
}

/// All objects of a kind, page by page, and the version of the list.
async fn list<W: Watched>(
    watched: &W,
    client: &kube::Client,
    clock: &Clock,
    pause: Duration,
) -> Result<(Vec<W::Object>, String), CallError> {
    let mut live = Vec::new();
    // The belief shares by itself, but has the list only when all of it is in memory.
    let mut shared = Shared::default();
    let mut next = String::new();
    loop {
        let query = format!("limit={PAGE_LEN}&continue={next}&{}", watched.selector());
        let body = http::get(client, clock, watched, &query).await?;
        let page = page(&body)?;
        for mut object in page.items.iter().filter_map(|json| decode(watched, json)) {
            watched.share(&mut shared, &mut object);
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

fn decode<W: Watched>(watched: &W, json: &str) -> Option<W::Object> {
    match watched.decode(json) {
        Ok(object) => Some(object),
        Err(error) => {
            tracing::error!(what = watched.name(), "{error}: {}", error.source);
            None
        }
    }
}

struct Follower<W> {
    watched: W,
    client: kube::Client,
    clock: Clock,
    inputs: mpsc::Sender<Input>,
    failures: u32,
}

/// Why a watch ended.
enum Ended {
    /// The server closed it, as it does from time to time.
    Closed,
    /// The server no longer knows the version that we have reached.
    TooOld,
}

impl<W: Watched> Follower<W> {
    /// Lists everything, and returns the version from which to watch.
    async fn list(&self) -> Result<String, CallError> {
        let (live, version) = list(&self.watched, &self.client, &self.clock, Duration::ZERO).await?;
        tracing::debug!(what = self.watched.name(), count = live.len(), "listed");
        self.send(Seen::Relisted(live)).await;
        self.reached(&version).await;
        Ok(version)
    }

    /// A kind that we may not read, or that the server does not serve, must not stop everything else.
    async fn list_failed(&mut self, error: &CallError) {
        tracing::warn!(what = self.watched.name(), "list: {error}");
        if matches!(error, CallError::Refused { code: 403 | 404, .. })
            && let Some(event) = self.watched.unreadable()
        {
            self.learn(event).await;
        }
        self.pause().await;
    }

    /// Watches until everything has to be listed again. Only a watch that said something, or lasted, shows that all is
    /// well; whatever else happens is repeated after a pause, and the longer the more often it happened.
    async fn watch_from(&mut self, mut version: String) {
        while !self.inputs.is_closed() {
            let (before, started) = (version.clone(), Instant::now());
            let ended = self.watch(&mut version).await;
            let is_well = version != before || started.elapsed() >= WATCH_MIN;
            if is_well {
                self.failures = 0;
            }
            match ended {
                Ok(Ended::Closed) if is_well => {}
                Ok(Ended::Closed) => self.pause().await,
                Ok(Ended::TooOld) if is_well => return,
                Ok(Ended::TooOld) => return self.pause().await,
                Err(error) => {
                    tracing::warn!(what = self.watched.name(), "watch: {error}");
                    self.pause().await;
                    if self.failures >= BROKEN_MAX {
                        return;
                    }
                }
            }
        }
    }

    /// One watch. Moves `version` on with every event, so that the next watch goes on after it.
    async fn watch(&self, at: &mut String) -> Result<Ended, CallError> {
        let query = format!(
            "watch=1&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}&resourceVersion={at}&{}",
            self.watched.selector()
        );
        let mut lines = match Lines::open(&self.client, &self.clock, &self.watched, &query, SILENCE_MAX).await
        {
            Err(CallError::Refused { code: 410, .. }) => return Ok(Ended::TooOld),
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
                WatchLine::Failed { code: 410, .. } => return Ok(Ended::TooOld),
                WatchLine::Failed { code, message } => {
                    return Err(CallError::Refused { code, message: message.into_owned() });
                }
            };
            if let Some(object) = decode(&self.watched, json) {
                self.send(if is_deleted { Seen::Deleted(object) } else { Seen::Applied(object) }).await;
            }
            *at = version(json)?;
        }
        Ok(Ended::Closed)
    }

    async fn send(&self, seen: Seen<W::Object>) {
        self.learn(self.watched.event(seen)).await;
    }

    /// There is nothing that was not sent, up to `version`: also of what is gone, which no object says.
    async fn reached(&self, version: &str) {
        if let Some(event) = version.parse().ok().and_then(|version| self.watched.up_to(version)) {
            self.learn(event).await;
        }
    }

    async fn learn(&self, event: Event) {
        // Nobody listens only when the daemon stops, and `follow` sees that by itself.
        let _ = self.inputs.send(Input::Cluster(Box::new(event))).await;
    }

    async fn pause(&mut self) {
        let pause = PAUSES.0 * 2_u32.pow(self.failures.min(6));
        self.failures += 1;
        tokio::time::sleep(pause.min(PAUSES.1)).await;
    }
}
