//! Everything that happens in one simulation, as the cluster stored it: for the rules, for the actors that look around,
//! and as lines.

use crate::control_plane::Write;
use crate::history;
use crate::history::{Counts, News, Sent, Version, What};
use crate::simulation::History;
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

/// An object, by `namespace/name`.
pub(super) type Objects = BTreeMap<String, Arc<Value>>;

/// The Lease of the leader.
const LEADER: &str = "kube-reserve/reserve-daemon";

/// Writes down what happens. Clones are the same book.
#[derive(Clone)]
pub(super) struct Record {
    sandbox: Sandbox,
    started: Instant,
    begin: Timestamp,
    book: Arc<Mutex<Book>>,
    /// Told when something was stored that is more than talk.
    pub(super) stored: Arc<Notify>,
}

/// What a book that is closed has in it.
pub(super) struct Closed {
    /// Everything that happened.
    pub(super) history: history::History,
    pub(super) lines: History,
    /// What broke on the way.
    pub(super) broken: Vec<String>,
    pub(super) counts: Counts,
}

struct Book {
    seen: u64,
    /// The newest revision at each moment when something was stored.
    past: Vec<(Instant, u64)>,
    history: history::History,
    lines: History,
    objects: BTreeMap<&'static str, Objects>,
    broken: Vec<String>,
    /// How many writes have set out.
    turns: u64,
    /// Who held the Lease of the leader, and since when.
    holders: Vec<(Instant, String)>,
    /// How often each rule was asked that is not about objects.
    counts: Counts,
    is_closed: bool,
}

impl Record {
    /// An empty book about a sandbox whose time began at `begin`, now.
    pub(super) fn new(sandbox: Sandbox, begin: Timestamp, lines: History) -> Self {
        let history = history::History { end: begin, ..history::History::default() };
        let (past, objects, broken) = (Vec::new(), BTreeMap::new(), Vec::new());
        let (turns, holders, counts) = (0, Vec::new(), Counts::default());
        let book =
            Book { seen: 0, past, history, lines, objects, broken, turns, holders, counts, is_closed: false };
        let (book, stored) = (Arc::new(Mutex::new(book)), Arc::new(Notify::new()));
        let record = Self { sandbox, started: Instant::now(), begin, book, stored };
        record.catch_up();
        record
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time in the sandbox.
    pub(super) fn now(&self) -> Timestamp {
        self.begin.saturating_add(self.started.elapsed()).unwrap_or(self.begin)
    }

    /// Whether the simulation is over: whatever comes now comes too late.
    pub(super) fn is_closed(&self) -> bool {
        self.book().is_closed
    }

    /// Adds a line.
    pub(super) fn note(&self, what: fmt::Arguments<'_>) {
        let mut book = self.book();
        if !book.is_closed {
            book.lines.note(self.started.elapsed(), what);
        }
    }

    /// Something went wrong that no rule about objects can see.
    pub(super) fn broke(&self, what: String) {
        self.note(format_args!("BROKEN {what}"));
        self.book().broken.push(what);
    }

    /// A rule that is not about objects is asked, or there is nothing to ask.
    pub(super) fn count(&self, rule: &'static str, how: fn(&mut Counts, &'static str)) {
        how(&mut self.book().counts, rule);
    }

    /// Adds a write that was answered, and how it set out, if that is known.
    pub(super) fn wrote(&self, write: Write, sent: Option<Sent>) {
        let mut book = self.book();
        let index = book.history.writes.len();
        book.history.sent.extend(sent.map(|sent| (index, sent)));
        book.history.writes.push(write);
    }

    /// Everything of a kind up to a revision has reached a daemon.
    pub(super) fn told(&self, user: &str, plural: &str, revision: u64) {
        let at = self.now();
        let is_judged =
            matches!(plural, "nodes" | "pods") || OwnerKind::ALL.iter().any(|kind| kind.plural() == plural);
        if is_judged {
            let news = News { at, plural: plural.to_owned(), revision };
            self.book().history.news.entry(user.to_owned()).or_default().push(news);
        }
    }

    /// A write of a daemon sets out.
    pub(super) fn sends(&self, user: &str) -> Sent {
        let at = self.now();
        let mut book = self.book();
        book.turns += 1;
        let news = book.history.news.get(user).map_or(0, Vec::len);
        Sent { at, news, turn: book.turns }
    }

    /// Reads what the sandbox has stored since.
    pub(super) fn catch_up(&self) {
        let (now, at) = (self.now(), self.started.elapsed());
        let mut book = self.book();
        let changes = self.sandbox.changes(book.seen);
        if book.is_closed || changes.is_empty() {
            return;
        }
        // Controllers look at neither.
        let is_talk = |change: &Change| matches!(change.plural(), "leases" | "events");
        let matters = !changes.iter().all(is_talk);
        for change in changes {
            book.seen = change.revision;
            book.learn(&change, now);
            if let Some(line) = line(&change) {
                book.lines.note(at, format_args!("{line}"));
            }
        }
        book.history.end = now;
        let seen = book.seen;
        book.past.push((Instant::now(), seen));
        drop(book);
        if matters {
            self.stored.notify_one();
        }
    }

    /// The newest revision that there was at a moment.
    pub(super) fn revision_at(&self, then: Instant) -> u64 {
        let book = self.book();
        let later = book.past.partition_point(|(at, _)| *at <= then);
        later.checked_sub(1).and_then(|index| book.past.get(index)).map_or(0, |(_, revision)| *revision)
    }

    /// Who held the Lease of the leader so long ago; none if nobody ever had.
    pub(super) fn holder(&self, ago: Duration) -> Option<String> {
        let (then, book) = (Instant::now().checked_sub(ago)?, self.book());
        book.holders.iter().rev().find(|(since, _)| *since <= then).map(|(_, holder)| holder.clone())
    }

    /// The objects of a kind, as they are stored.
    pub(super) fn objects(&self, plural: &str) -> Objects {
        self.book().objects.get(plural).cloned().unwrap_or_default()
    }

    /// Closes the book.
    pub(super) fn close(&self) -> Closed {
        self.catch_up();
        let mut book = self.book();
        book.is_closed = true;
        book.history.end = self.now();
        let lines = std::mem::replace(&mut book.lines, History::new(0));
        Closed {
            history: std::mem::take(&mut book.history),
            lines,
            broken: std::mem::take(&mut book.broken),
            counts: std::mem::take(&mut book.counts),
        }
    }
}

impl Book {
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
        if let Some(what) = version(change, object) {
            self.history.versions.push(Version { revision: change.revision, at, what });
        }
        if OwnerKind::ALL.iter().any(|kind| kind.plural() == change.plural()) {
            self.history.writes.push(of_owner(change, object, at));
        }
    }
}

/// What a change is to the rules.
fn version(change: &Change, object: &Value) -> Option<What> {
    match (change.plural(), &change.after) {
        ("pods", after) => {
            let pod = Arc::new(common::api::pod::pod(&object.to_string()).ok()?);
            Some(if after.is_some() { What::Pod(pod) } else { What::PodGone(pod) })
        }
        ("nodes", after) => {
            let node = Arc::new(common::api::node::node(&object.to_string()).ok()?);
            Some(match after {
                Some(after) => What::Node(node, Arc::clone(after)),
                None => What::NodeGone(node),
            })
        }
        _ => None,
    }
}

/// The rules learn about owners from writes, and controllers of the sandbox make none.
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

/// A change in a few words. Leases and events are many and say little; the revisions show that they were there.
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

/// A text somewhere in an object; empty if it is not there.
pub(super) fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}
