//! Records everything that the cluster stores in one simulation: for the rules, for the actors, and as lines of the log.

use crate::control_plane::Write;
use crate::history;
use crate::history::{Counts, Delivery, SendInfo, Version, VersionedObject};
use crate::simulation::HistoryLog;
use common::model::owner::OwnerKind;
use jiff::Timestamp;
use sandbox::{Change, Sandbox};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Objects by `namespace/name`.
pub(super) type Objects = BTreeMap<String, Arc<Value>>;

/// The Lease of the leader.
const LEADER: &str = "kube-reserve/reserve-daemon";

/// The record of one simulation. Clones share it.
#[derive(Clone)]
pub(super) struct Record {
    sandbox: Sandbox,
    started: Instant,
    begin: Timestamp,
    state: Arc<Mutex<RecordState>>,
    /// Notified when anything but a Lease or an event was stored.
    pub(super) stored: Arc<Notify>,
}

/// The contents of a closed record.
pub(super) struct Recording {
    pub(super) history: history::History,
    pub(super) lines: HistoryLog,
    /// Broken rules that are not found in `history`.
    pub(super) broken: Vec<String>,
    pub(super) counts: Counts,
}

struct RecordState {
    /// The newest revision that was read from the sandbox.
    seen: u64,
    /// The newest revision at each time when something was stored.
    revisions: Vec<(Instant, u64)>,
    history: history::History,
    lines: HistoryLog,
    objects: BTreeMap<&'static str, Objects>,
    broken: Vec<String>,
    /// How many writes were sent.
    send_count: u64,
    /// The holders of the leader's Lease, each with the time since when.
    holders: Vec<(Instant, String)>,
    /// The counts of rules that are not checked on `history`.
    counts: Counts,
    is_closed: bool,
}

impl Record {
    /// An empty record of a sandbox whose time is now `begin`.
    pub(super) fn new(sandbox: Sandbox, begin: Timestamp, lines: HistoryLog) -> Self {
        let history = history::History { end: begin, ..history::History::default() };
        let (revisions, objects, broken) = (Vec::new(), BTreeMap::new(), Vec::new());
        let (send_count, holders, counts) = (0, Vec::new(), Counts::default());
        let state = RecordState {
            seen: 0,
            revisions,
            history,
            lines,
            objects,
            broken,
            send_count,
            holders,
            counts,
            is_closed: false,
        };
        let (state, stored) = (Arc::new(Mutex::new(state)), Arc::new(Notify::new()));
        let record = Self { sandbox, started: Instant::now(), begin, state, stored };
        record.catch_up();
        record
    }

    fn state(&self) -> MutexGuard<'_, RecordState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time in the sandbox.
    pub(super) fn now(&self) -> Timestamp {
        self.begin.saturating_add(self.started.elapsed()).unwrap_or(self.begin)
    }

    /// Whether the simulation is over.
    pub(super) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Adds a line to the log.
    pub(super) fn note(&self, what: fmt::Arguments<'_>) {
        let mut state = self.state();
        if !state.is_closed {
            state.lines.note(self.started.elapsed(), what);
        }
    }

    /// Reports a broken rule that is not checked on the history of objects.
    pub(super) fn fail(&self, what: String) {
        self.note(format_args!("BROKEN {what}"));
        self.state().broken.push(what);
    }

    /// Counts a check, or that there was nothing to check, of a rule that is not checked on the history of objects.
    pub(super) fn count(&self, rule: &'static str, how: fn(&mut Counts, &'static str)) {
        how(&mut self.state().counts, rule);
    }

    /// Adds an answered write, and how it was sent, if that is known.
    pub(super) fn add_write(&self, write: Write, sent: Option<SendInfo>) {
        let mut state = self.state();
        let index = state.history.writes.len();
        state.history.sends.extend(sent.map(|sent| (index, sent)));
        state.history.writes.push(write);
    }

    /// A daemon has received all objects of a kind up to a revision.
    pub(super) fn add_delivery(&self, user: &str, plural: &str, revision: u64) {
        let at = self.now();
        let is_judged =
            matches!(plural, "nodes" | "pods") || OwnerKind::ALL.iter().any(|kind| kind.plural() == plural);
        if is_judged {
            let delivery = Delivery { at, plural: plural.to_owned(), revision };
            self.state().history.deliveries.entry(user.to_owned()).or_default().push(delivery);
        }
    }

    /// A daemon sends a write.
    pub(super) fn start_send(&self, user: &str) -> SendInfo {
        let at = self.now();
        let mut state = self.state();
        state.send_count += 1;
        let deliveries = state.history.deliveries.get(user).map_or(0, Vec::len);
        SendInfo { at, deliveries, number: state.send_count }
    }

    /// Reads what the sandbox has stored since the last call.
    pub(super) fn catch_up(&self) {
        let (now, at) = (self.now(), self.started.elapsed());
        let mut state = self.state();
        let changes = self.sandbox.changes(state.seen);
        if state.is_closed || changes.is_empty() {
            return;
        }
        // Controllers do not watch Leases and events.
        let is_talk = |change: &Change| matches!(change.plural(), "leases" | "events");
        let matters = !changes.iter().all(is_talk);
        for change in changes {
            state.seen = change.revision;
            state.learn(&change, now);
            if let Some(line) = line(&change) {
                state.lines.note(at, format_args!("{line}"));
            }
        }
        state.history.end = now;
        let seen = state.seen;
        state.revisions.push((Instant::now(), seen));
        drop(state);
        if matters {
            self.stored.notify_one();
        }
    }

    /// The newest revision at a time.
    pub(super) fn revision_at(&self, then: Instant) -> u64 {
        let state = self.state();
        let later = state.revisions.partition_point(|(at, _)| *at <= then);
        later.checked_sub(1).and_then(|index| state.revisions.get(index)).map_or(0, |(_, revision)| *revision)
    }

    /// The holder of the leader's Lease so long ago; `None` if there was none yet.
    pub(super) fn holder(&self, ago: Duration) -> Option<String> {
        let (then, state) = (Instant::now().checked_sub(ago)?, self.state());
        state.holders.iter().rev().find(|(since, _)| *since <= then).map(|(_, holder)| holder.clone())
    }

    /// The stored objects of a kind.
    pub(super) fn objects(&self, plural: &str) -> Objects {
        self.state().objects.get(plural).cloned().unwrap_or_default()
    }

    /// Ends the recording, and returns its contents.
    pub(super) fn close(&self) -> Recording {
        self.catch_up();
        let mut state = self.state();
        state.is_closed = true;
        state.history.end = self.now();
        let lines = std::mem::replace(&mut state.lines, HistoryLog::new(0));
        Recording {
            history: std::mem::take(&mut state.history),
            lines,
            broken: std::mem::take(&mut state.broken),
            counts: std::mem::take(&mut state.counts),
        }
    }
}

impl RecordState {
    fn learn(&mut self, change: &Change, at: Timestamp) {
        let Some(object) = change.after.as_ref().or(change.before.as_ref()) else { return };
        let objects = self.objects.entry(change.plural()).or_default();
        let key = format!("{}/{}", text(object, "/metadata/namespace"), text(object, "/metadata/name"));
        if change.plural() == "leases" && key == LEADER {
            self.holders.push((Instant::now(), text(object, "/spec/holderIdentity").to_owned()));
        }
        match &change.after {
            Some(after) => drop(objects.insert(key, Arc::clone(after))),
            None => drop(objects.remove(&key)),
        }
        if let Some(versioned) = version(change, object) {
            self.history.versions.push(Version { revision: change.revision, at, object: versioned });
        }
        if OwnerKind::ALL.iter().any(|kind| kind.plural() == change.plural()) {
            self.history.writes.push(of_owner(change, object, at));
        }
    }
}

/// The version that a change of a pod or node is in the history.
fn version(change: &Change, object: &Value) -> Option<VersionedObject> {
    match (change.plural(), &change.after) {
        ("pods", after) => {
            let pod = Arc::new(common::api::pod::pod(&object.to_string()).ok()?);
            Some(if after.is_some() { VersionedObject::Pod(pod) } else { VersionedObject::PodGone(pod) })
        }
        ("nodes", after) => {
            let node = Arc::new(common::api::node::node(&object.to_string()).ok()?);
            Some(match after {
                Some(after) => VersionedObject::Node(node, Arc::clone(after)),
                None => VersionedObject::NodeGone(node),
            })
        }
        _ => None,
    }
}

/// A write for a change of a workload: the rules learn about owners from writes, and the sandbox's controllers send none.
fn of_owner(change: &Change, object: &Value, at: Timestamp) -> Write {
    let verb = if change.after.is_some() { "update" } else { "delete" };
    Write {
        at,
        answered: at,
        user: "sandbox".to_owned(),
        user_agent: "sandbox".to_owned(),
        verb: verb.to_owned(),
        resource: change.plural().to_owned(),
        namespace: text(object, "/metadata/namespace").to_owned(),
        name: text(object, "/metadata/name").to_owned(),
        code: 200,
        dry_run: false,
        request_object: None,
        response_object: Some(object.clone()),
        resource_version_after: Some(change.revision.to_string()),
        audit_id: String::new(),
    }
}

/// A change as a line of the log. Leases and events have no line; gaps in the revisions show them.
fn line(change: &Change) -> Option<String> {
    let object = change.after.as_ref().or(change.before.as_ref())?;
    if matches!(change.plural(), "leases" | "events") {
        return None;
    }
    let mut line = format!("{} {} {}", change.revision, change.plural(), text(object, "/metadata/name"));
    if change.after.is_none() {
        return Some(line + " gone");
    }
    match change.plural() {
        "pods" => {
            let parts =
                ["/spec/nodeName", "/status/phase", "/status/reason", "/metadata/annotations/reserve~1seat"];
            for part in parts.iter().map(|part| text(object, part)).filter(|part| !part.is_empty()) {
                line = line + " " + part;
            }
            let is_going = object.pointer("/metadata/deletionTimestamp").is_some();
            line += if is_going { " going" } else { "" };
        }
        "nodes" => {
            let annotations = object["metadata"]["annotations"].as_object();
            for (key, value) in annotations.into_iter().flatten() {
                if let Some(seat) = key.strip_prefix("reserve.info/") {
                    let info: Value = serde_json::from_str(value.as_str().unwrap_or("")).unwrap_or_default();
                    line += &format!(" [{seat} until {}]", text(&info, "/expires"));
                } else if key.starts_with("reserve.cpu/") {
                    line += &format!(" {}", value.as_str().unwrap_or(""));
                }
            }
        }
        _ => line += &format!(" replicas={}", object["spec"]["replicas"]),
    }
    Some(line)
}

/// The text at a JSON pointer; empty if there is none.
pub(super) fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}
