//! Leader election as a state machine: what a candidate believes about the Lease, and what it does next.
//!
//! Nobody compares clocks. A candidate takes a Lease over when it has looked on for as long as the record says, by its
//! own clock, and has seen no change; a leader counts from the moment at which it *began* the last write that succeeded,
//! and gives up sooner than that. So two never lead at once while their clocks run at rates within lease : deadline,
//! which is 3 : 2. Each write is a compare-and-swap, so of two that try only one succeeds.
//!
//! Knows nothing of: the API server, the time, what a leader does.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use std::time::Duration;

/// A record that wants more patience was not written by a scheduler; nobody waits longer than this for a change.
const PATIENCE_MAX: Duration = Duration::from_secs(600);

/// How long a leader that goes tells others to wait: no longer than this.
const RELEASED_SECONDS: i32 = 1;

/// What the Lease says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Who leads; empty for nobody.
    pub holder: String,
    /// How long others wait after its last word, in seconds. It may be anything.
    pub seconds: i32,
    /// Since when it leads.
    pub acquired: Option<Timestamp>,
    /// Its last word.
    pub renewed: Option<Timestamp>,
    /// How often the leader changed.
    pub transitions: i32,
}

/// How long each thing takes.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How long others wait after the leader's last word.
    pub lease: Duration,
    /// How long the leader goes on after its last word.
    pub deadline: Duration,
    /// How long to rest between two tries.
    pub retry: Duration,
}

/// What to do next. `V` is the version of a Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<V> {
    /// Look at the Lease.
    Read,
    /// Write it: over exactly that version, or anew.
    Write(Record, Option<V>),
    /// Nothing, until the next try.
    Rest,
}

/// What is known about the Lease at this moment.
#[derive(Clone, Debug)]
enum Sight<V> {
    Unknown,
    Absent,
    Present(Record, V),
}

/// One that leads or would like to.
#[derive(Debug)]
pub struct Candidate<V> {
    identity: String,
    timing: Timing,
    sight: Sight<V>,
    /// The last record that differed from the one before, and when it was seen.
    changed: Option<(Record, Duration)>,
    /// When the last write of ours that succeeded was begun.
    renewed: Option<Duration>,
}

impl<V: Clone> Candidate<V> {
    /// One that has seen nothing yet.
    pub fn new(identity: String, timing: Timing) -> Self {
        Self { identity, timing, sight: Sight::Unknown, changed: None, renewed: None }
    }

    /// Until when it leads, if it does: the end of its own patience, which comes before the end of anybody else's.
    pub fn leads_until(&self) -> Option<Duration> {
        self.renewed.map(|begun| begun.saturating_add(self.timing.deadline))
    }

    /// Whether it leads at `now`.
    pub fn is_leading(&self, now: Duration) -> bool {
        self.leads_until().is_some_and(|until| now < until)
    }

    /// When a Lease that somebody else has can be taken, if nothing changes before.
    pub fn patient_until(&self) -> Option<Duration> {
        let (record, since) = self.changed.as_ref()?;
        let stored = Duration::from_secs(u64::try_from(record.seconds).unwrap_or(0));
        Some(since.saturating_add(stored.min(PATIENCE_MAX).max(self.timing.lease)))
    }

    /// Begins a try. A leader knows what it wrote last; everybody else has to look.
    pub fn begin(&mut self, now: Duration) {
        if !self.is_leading(now) {
            self.sight = Sight::Unknown;
        }
    }

    /// What to do next in this try; `wall` goes into the record.
    pub fn next(&self, now: Duration, wall: Timestamp) -> Action<V> {
        match &self.sight {
            Sight::Unknown => Action::Read,
            Sight::Absent if self.may_create(now) => Action::Write(self.record(None, wall), None),
            Sight::Present(record, version) if self.may_take(record, now) => {
                Action::Write(self.record(Some(record), wall), Some(version.clone()))
            }
            Sight::Absent | Sight::Present(..) => Action::Rest,
        }
    }

    /// The Lease was read; `now` is after the answer.
    pub fn saw(&mut self, lease: Option<(Record, V)>, now: Duration) {
        let Some((record, version)) = lease else {
            self.sight = Sight::Absent;
            return;
        };
        if self.changed.as_ref().is_none_or(|(known, _)| *known != record) {
            self.changed = Some((record.clone(), now));
        }
        if !record.holder.is_empty() && record.holder != self.identity {
            // Taken over, or edited by hand: either way somebody else is to lead.
            self.renewed = None;
        }
        self.sight = Sight::Present(record, version);
    }

    /// The write that was begun at `begun` succeeded, and made this version.
    pub fn wrote(&mut self, record: Record, version: V, begun: Duration) {
        self.changed = Some((record.clone(), begun));
        self.sight = Sight::Present(record, version);
        self.renewed = Some(begun);
    }

    /// A write did not succeed, or nobody knows whether it did.
    pub fn failed(&mut self) {
        self.sight = Sight::Unknown;
    }

    /// What a leader writes when it goes, once it no longer acts as one. It does not lead from now on.
    pub fn release(&mut self, wall: Timestamp) -> Option<(Record, V)> {
        self.renewed.take()?;
        let Sight::Present(record, version) = &self.sight else { return None };
        let record = Record {
            holder: String::new(),
            seconds: RELEASED_SECONDS,
            acquired: Some(wall),
            renewed: Some(wall),
            transitions: record.transitions,
        };
        Some((record, version.clone()))
    }

    fn may_take(&self, record: &Record, now: Duration) -> bool {
        let is_free = record.holder.is_empty();
        record.holder == self.identity
            || is_free && (record.seconds <= RELEASED_SECONDS || self.is_leading(now))
            || self.is_patience_over(now)
    }

    /// A Lease that vanished may have had a leader that does not know yet.
    fn may_create(&self, now: Duration) -> bool {
        let is_foreign = |(record, _): &(Record, Duration)| record.holder != self.identity;
        self.is_leading(now) || !self.changed.as_ref().is_some_and(is_foreign) || self.is_patience_over(now)
    }

    fn is_patience_over(&self, now: Duration) -> bool {
        self.patient_until().is_none_or(|until| now >= until)
    }

    /// What to write over `old`.
    fn record(&self, old: Option<&Record>, wall: Timestamp) -> Record {
        let is_ours = old.is_some_and(|old| old.holder == self.identity);
        let transitions = old.map_or(0, |old| old.transitions.max(0).saturating_add(i32::from(!is_ours)));
        Record {
            holder: self.identity.clone(),
            seconds: i32::try_from(self.timing.lease.as_secs()).unwrap_or(i32::MAX),
            acquired: old.filter(|_| is_ours).and_then(|old| old.acquired).or(Some(wall)),
            renewed: Some(wall),
            transitions,
        }
    }
}
