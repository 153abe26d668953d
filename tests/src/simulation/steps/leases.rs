//! The leader election: the real [`Candidate`], over a Lease in the model of the API server.

use super::sim::{Action, Sim};
use daemon::lease::election::{Action as ElectionAction, Candidate, Timing};
use daemon::state::{Input, Now};
use std::time::Duration;

const TIMING: Timing = Timing {
    lease: Duration::from_secs(15),
    deadline: Duration::from_secs(10),
    retry: Duration::from_secs(2),
};

/// The election as one daemon sees it.
pub(super) struct ElectionState {
    candidate: Candidate<u64>,
    /// Whether the daemon's state was told that it leads.
    pub(super) leads: bool,
    /// By how many seconds the times in the Lease's record are wrong.
    pub(super) skew: i64,
}

impl ElectionState {
    pub(super) fn new(name: &str, life: u32, skew: i64) -> Self {
        Self { candidate: Candidate::new(format!("{name}_{life}"), TIMING), leads: false, skew }
    }
}

impl Sim {
    /// A daemon tries to get or renew the Lease, and schedules the next attempt.
    pub(super) fn elect(&mut self, index: usize, life: u32) {
        if !self.daemons[index].is_here(life) {
            return;
        }
        let paused = self.daemons[index].paused;
        if paused > self.api.now {
            return self.after(paused - self.api.now, Action::Elect(index, life));
        }
        // A daemon that was paused for too long notices that it has lost the Lease before it could renew it.
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

    /// One attempt: reads the Lease, and writes it if the candidate says so.
    fn attempt(&mut self, index: usize, now: Now) {
        self.daemons[index].election.candidate.begin(now.elapsed);
        for _ in 0..3 {
            let is_cut = self.daemons[index].cut > self.api.now;
            let is_lost = is_cut || self.api.now < self.faults.end && self.one_in(self.faults.before);
            let is_unheard = self.api.now < self.faults.end && self.one_in(self.faults.after);
            let ElectionState { candidate, skew, .. } = &mut self.daemons[index].election;
            match candidate.next(now.elapsed, now.wall + jiff::SignedDuration::from_secs(*skew)) {
                ElectionAction::Rest => break,
                _ if is_lost => {
                    candidate.failed();
                    break;
                }
                ElectionAction::Read => candidate.saw(self.api.lease.clone(), now.elapsed),
                ElectionAction::Write(record, over) => match self.api.put_lease(record.clone(), over) {
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

    /// I22: two daemons never lead at once, whatever their clocks say.
    fn judge_leaders(&mut self) {
        let leads = |daemon: &&super::daemon::SimDaemon| {
            daemon.is_up && daemon.election.candidate.is_leading(daemon.now(self.api.now).elapsed)
        };
        let is_contended = self.daemons.iter().filter(leads).count() > 1;
        self.api.rules.counts.check("I22");
        if is_contended {
            self.api.rules.break_("I22", "two daemons lead at once");
        }
    }

    /// Whether a daemon has lost the Lease of the leader, or its own Lease has lapsed: then it ends.
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

    /// Releases the Lease of the leader.
    pub(super) fn let_go(&mut self, index: usize) {
        let wall = self.daemons[index].now(self.api.now).wall;
        if let Some((record, version)) = self.daemons[index].election.candidate.release(wall) {
            let _ = self.api.put_lease(record, Some(version));
            self.daemons[index].election.leads = false;
        }
    }
}
