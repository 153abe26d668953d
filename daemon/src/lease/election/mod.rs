//! Leader election as a state machine: what a candidate knows about the Lease, and what it does next. For each try call
//! [`Candidate::begin`], then [`Candidate::next`] until it says `Rest` or a write succeeded; report each result with `saw`,
//! `wrote` or `failed`.
//!
//! Clocks are never compared. A candidate takes a Lease over when the record has not changed, by the candidate's own clock, for
//! as long as the record says. A leader counts from the moment at which it *began* its last successful write, and stops sooner
//! than that. So there are never two leaders while their clocks' rates differ by less than lease : deadline, which is 3 : 2.
//! Each write is a compare-and-swap, so of two concurrent writes one succeeds. Must not know: the API server, the time.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use std::time::Duration;

/// Candidates wait at most this long for a change of the record. A longer duration was not written by a scheduler.
const LEASE_DURATION_MAX: Duration = Duration::from_secs(600);

/// The lease duration that a leader writes when it releases the Lease.
const RELEASED_SECONDS: i32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The identity of the leader; empty if nobody leads.
    pub holder: String,
    /// How long others wait after the last renewal, in seconds. Anybody may write it, so any value is possible.
    pub seconds: i32,
    pub acquired: Option<Timestamp>,
    pub renewed: Option<Timestamp>,
    pub transitions: i32,
}

/// The durations of the election, as in kube-scheduler's configuration.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How long others wait after the leader's last renewal.
    pub lease: Duration,
    /// How long the leader leads after it began its last successful renewal.
    pub deadline: Duration,
    /// How long to wait between two tries.
    pub retry: Duration,
}

/// What to do next. `V` is the resource version of a Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<V> {
    Read,
    /// Write the record over exactly this version; `None`: create the Lease.
    Write(Record, Option<V>),
    /// Do nothing until the next try.
    Rest,
}

/// What the candidate knows about the Lease in this try.
#[derive(Clone, Debug)]
enum LeaseState<V> {
    Unknown,
    Absent,
    Present(Record, V),
}

/// A replica that leads or wants to lead.
#[derive(Debug)]
pub struct Candidate<V> {
    identity: String,
    timing: Timing,
    lease: LeaseState<V>,
    /// The newest record that differs from the one before, and when it was first seen.
    observed: Option<(Record, Duration)>,
    /// When this candidate began its last successful write; `None` if it does not lead.
    renewed: Option<Duration>,
}

impl<V: Clone> Candidate<V> {
    /// A candidate that has not read the Lease yet.
    pub fn new(identity: String, timing: Timing) -> Self {
        Self { identity, timing, lease: LeaseState::Unknown, observed: None, renewed: None }
    }

    /// Until when it leads, if it does. This is earlier than the time at which any other candidate may take the Lease.
    pub fn leads_until(&self) -> Option<Duration> {
        self.renewed.map(|begun| begun.saturating_add(self.timing.deadline))
    }

    pub fn is_leading(&self, now: Duration) -> bool {
        self.leads_until().is_some_and(|until| now < until)
    }

    /// When a Lease that another candidate holds can be taken, if the record does not change before.
    pub fn free_at(&self) -> Option<Duration> {
        let (record, since) = self.observed.as_ref()?;
        let stored = Duration::from_secs(u64::try_from(record.seconds).unwrap_or(0));
        Some(since.saturating_add(stored.min(LEASE_DURATION_MAX).max(self.timing.lease)))
    }

    /// Begins a try. A leader knows what it wrote last; every other candidate has to read the Lease.
    pub fn begin(&mut self, now: Duration) {
        if !self.is_leading(now) {
            self.lease = LeaseState::Unknown;
        }
    }

    /// What to do next in this try; `wall` goes into the record.
    pub fn next(&self, now: Duration, wall: Timestamp) -> Action<V> {
        match &self.lease {
            LeaseState::Unknown => Action::Read,
            LeaseState::Absent if self.may_create(now) => Action::Write(self.record(None, wall), None),
            LeaseState::Present(record, version) if self.may_take(record, now) => {
                Action::Write(self.record(Some(record), wall), Some(version.clone()))
            }
            LeaseState::Absent | LeaseState::Present(..) => Action::Rest,
        }
    }

    /// The Lease was read, or does not exist; `now` is the time after the answer.
    pub fn saw(&mut self, lease: Option<(Record, V)>, now: Duration) {
        let Some((record, version)) = lease else {
            self.lease = LeaseState::Absent;
            return;
        };
        if self.observed.as_ref().is_none_or(|(known, _)| *known != record) {
            self.observed = Some((record.clone(), now));
        }
        if !record.holder.is_empty() && record.holder != self.identity {
            // Taken over, or edited by hand: either way another replica is the leader.
            self.renewed = None;
        }
        self.lease = LeaseState::Present(record, version);
    }

    /// The write that began at `begun` succeeded, and the Lease has this version now.
    pub fn wrote(&mut self, record: Record, version: V, begun: Duration) {
        self.observed = Some((record.clone(), begun));
        self.lease = LeaseState::Present(record, version);
        self.renewed = Some(begun);
    }

    /// A write failed, or its outcome is unknown.
    pub fn failed(&mut self) {
        self.lease = LeaseState::Unknown;
    }

    /// The record that releases the Lease, for a leader that no longer acts as one. It does not lead from now on.
    pub fn release(&mut self, wall: Timestamp) -> Option<(Record, V)> {
        self.renewed.take()?;
        let LeaseState::Present(record, version) = &self.lease else { return None };
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
            || self.is_expired(now)
    }

    /// Whether a missing Lease may be created. It may have been deleted under a leader that does not know this yet.
    fn may_create(&self, now: Duration) -> bool {
        let is_foreign = |(record, _): &(Record, Duration)| record.holder != self.identity;
        self.is_leading(now) || !self.observed.as_ref().is_some_and(is_foreign) || self.is_expired(now)
    }

    fn is_expired(&self, now: Duration) -> bool {
        self.free_at().is_none_or(|until| now >= until)
    }

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
