//! The election, by the real candidate, over a Lease in the model.

use super::sim::{Action, Sim};
use daemon::lease::election::{Action as Wish, Candidate, Timing};
use daemon::state::{Input, Now};
use std::time::Duration;

const TIMING: Timing = Timing {
    lease: Duration::from_secs(15),
    deadline: Duration::from_secs(10),
    retry: Duration::from_secs(2),
};

/// A daemon's part in the election.
pub(super) struct Standing {
    candidate: Candidate<u64>,
    /// Whether it was told that it leads.
    pub(super) leads: bool,
    /// By how many seconds the clock is off that goes into the record.
    pub(super) skew: i64,
}

impl Standing {
    pub(super) fn new(name: &str, life: u32, skew: i64) -> Self {
        Self { candidate: Candidate::new(format!("{name}_{life}"), TIMING), leads: false, skew }
    }
}

impl Sim {
    /// A daemon looks at the Lease, and writes it if it may.
    pub(super) fn elect(&mut self, index: usize, life: u32) {
        if !self.daemons[index].is_here(life) {
            return;
        }
        let paused = self.daemons[index].paused;
        if paused > self.api.now {
            return self.after(paused - self.api.now, Action::Elect(index, life));
        }
        // One that stood still for too long finds that out before it could do anything about it.
        if self.has_lost(index) {
            return;
        }
        let now = self.daemons[index].now(self.api.now);
        self.attempt(index, now);
        let leads = self.daemons[index].election.candidate.is_leading(now.elapsed);
        if leads && !self.daemons[index].election.leads {
            self.api.note(format_args!("daemon {index} leads"));
            self.daemons[index].election.leads = true;
            self.judge_leaders();
            self.input(index, Input::Leading(true));
        }
        if self.has_lost(index) {
            return;
        }
        let pause = self.millis(1_500..2_000);
        self.after(pause, Action::Elect(index, life));
    }

    /// One try: reads, and writes if it may.
    fn attempt(&mut self, index: usize, now: Now) {
        self.daemons[index].election.candidate.begin(now.elapsed);
        for _ in 0..3 {
            let is_cut = self.daemons[index].cut > self.api.now;
            let is_lost = is_cut || self.api.now < self.faults.end && self.one_in(self.faults.before);
            let is_unheard = self.api.now < self.faults.end && self.one_in(self.faults.after);
            let Standing { candidate, skew, .. } = &mut self.daemons[index].election;
            match candidate.next(now.elapsed, now.wall + jiff::SignedDuration::from_secs(*skew)) {
                Wish::Rest => break,
                _ if is_lost => {
                    candidate.failed();
                    break;
                }
                Wish::Read => candidate.saw(self.api.lease.clone(), now.elapsed),
                Wish::Write(record, over) => match self.api.put_lease(record.clone(), over) {
                    Ok(_) if is_unheard => candidate.failed(),
                    Ok(version) => {
                        candidate.wrote(record, version, now.elapsed);
                        break;
                    }
                    Err(_) => candidate.failed(),
                },
            }
        }
    }

    /// I22: whatever clocks say, two never lead at once.
    fn judge_leaders(&mut self) {
        let leads = |daemon: &&super::daemon::Daemon| {
            daemon.is_up && daemon.election.candidate.is_leading(daemon.now(self.api.now).elapsed)
        };
        let is_contended = self.daemons.iter().filter(leads).count() > 1;
        self.api.rules.counts.check("I22");
        if is_contended {
            self.api.rules.break_("I22", "two daemons lead at once");
        }
    }

    /// Whether a daemon has led and no longer does, or is no longer counted on: then that is its end.
    pub(super) fn has_lost(&mut self, index: usize) -> bool {
        let now = self.daemons[index].now(self.api.now);
        let election = &self.daemons[index].election;
        if election.leads && !election.candidate.is_leading(now.elapsed) {
            self.crash(index, "has lost the Lease");
            return true;
        }
        let is_good = self.daemons[index].good_until.is_none_or(|until| self.api.now < until);
        if !is_good {
            self.crash(index, "has let its own Lease lapse");
        }
        !is_good
    }

    /// Lets go of the Lease.
    pub(super) fn let_go(&mut self, index: usize) {
        let wall = self.daemons[index].now(self.api.now).wall;
        if let Some((record, version)) = self.daemons[index].election.candidate.release(wall) {
            let _ = self.api.put_lease(record, Some(version));
            self.daemons[index].election.leads = false;
        }
    }
}
