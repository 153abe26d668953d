//! Faults of requests, watches, processes and clocks. Each seed has its own mixture, so that some seeds have many faults of one
//! kind and others none.

use super::api::{Actor, STREAMS, Stream};
use super::sim::{Action, Sim};
use fastrand::Rng;
use std::time::Duration;

/// How often each fault happens: one time in so many, never for 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    /// From then on there are no faults.
    pub(super) end: Duration,
    /// A request is lost before it arrives.
    pub(super) before: u32,
    /// A request is carried out, and its answer is lost.
    pub(super) after: u32,
    /// A request is refused with 429, 500 or 503.
    pub(super) refused: u32,
    /// A request takes seconds.
    pub(super) slow: u32,
    /// A watch delivers nothing for a while.
    pub(super) stale: u32,
    /// A watch ends, and all objects are listed again: the events in between are not seen.
    pub(super) relist: u32,
    /// A watch repeats events.
    pub(super) repeat: u32,
    /// A daemon dies.
    pub(super) crash: u32,
    /// A process is paused.
    pub(super) pause: u32,
    /// A clock jumps.
    pub(super) clock: u32,
    /// A daemon is stopped in order.
    pub(super) stop: u32,
    /// The requests of a daemon do not arrive for a while.
    pub(super) cut: u32,
    /// The longest time that a watch delivers nothing, in milliseconds.
    pub(super) stale_max: u64,
    /// The longest normal delay of a message, in milliseconds.
    pub(super) lag: u64,
}

/// The outcome of one request. The names are part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOutcome {
    Good,
    /// The request never arrives.
    Before,
    /// The request arrives, and the answer does not.
    After,
    /// The server refuses the request with this code.
    Refused(u16),
}

/// A fault at the `nth` write of the command, or of the daemons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedFault {
    /// true: a write of the command. false: a write of a daemon.
    pub(super) is_command: bool,
    pub(super) nth: usize,
    pub(super) kind: FaultKind,
}

/// The kind of a planned fault. The names are part of the log and of the names of plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// The process dies when the write has arrived.
    Crash,
    /// The process dies before the write arrives.
    CrashBefore,
    /// The answer is lost.
    Lost,
    /// Watches of nodes deliver nothing for a while.
    StaleNodes,
    /// Watches of pods deliver nothing for a while.
    StalePods,
    /// The next events are not seen: the watches end, and everything is listed again.
    Skip,
}

pub(super) const FAULT_KINDS: [FaultKind; 6] = [
    FaultKind::Crash,
    FaultKind::CrashBefore,
    FaultKind::Lost,
    FaultKind::StaleNodes,
    FaultKind::StalePods,
    FaultKind::Skip,
];

/// How long watches deliver nothing by a planned fault: longer than a Lease is valid.
const STALE: Duration = Duration::from_secs(25);

impl Faults {
    pub(super) fn none() -> Self {
        Self { lag: 20, ..Self::default() }
    }

    /// A random mixture.
    pub(super) fn drawn(rng: &mut Rng, end: Duration) -> Self {
        let mut some = |often: std::ops::Range<u32>| if rng.bool() { rng.u32(often) } else { 0 };
        let faults = Self {
            end,
            before: some(5..40),
            after: some(4..40),
            refused: some(5..60),
            slow: some(4..40),
            stale: some(1..6),
            relist: some(1..6),
            repeat: some(10..80),
            crash: some(1..6),
            pause: some(1..6),
            clock: some(1..6),
            stop: some(2..10),
            cut: some(1..6),
            stale_max: 0,
            lag: 0,
        };
        let stale_max = [5_000, 30_000, 60_000][rng.usize(0..3)];
        Self { lag: [5, 50, 400][rng.usize(0..3)], stale_max, ..faults }
    }
}

impl Sim {
    fn is_calm(&self) -> bool {
        self.api.now >= self.faults.end
    }

    /// Draws the outcome of a request, and the delays of the request and of its answer.
    pub(super) fn request_outcome(
        &mut self,
        who: Actor,
        is_write: bool,
    ) -> (RequestOutcome, Duration, Duration) {
        let lag = self.faults.lag.max(2);
        let mut there = self.millis(1..lag + 1);
        let back = self.millis(1..lag + 1);
        if is_write && let Some(outcome) = self.planned_outcome(who) {
            return (outcome, there, back);
        }
        if self.is_calm() {
            return (
                RequestOutcome::Good,
                there.min(Duration::from_millis(50)),
                back.min(Duration::from_millis(50)),
            );
        }
        if let Actor::Daemon(index, _) = who
            && self.daemons[index].cut > self.api.now
        {
            return (RequestOutcome::Before, there, back);
        }
        let (before, after, refused, slow) =
            (self.faults.before, self.faults.after, self.faults.refused, self.faults.slow);
        if self.one_in(slow) {
            there += self.millis(500..8_000);
        }
        let outcome = if self.one_in(before) {
            RequestOutcome::Before
        } else if self.one_in(after) {
            RequestOutcome::After
        } else if self.one_in(refused) {
            RequestOutcome::Refused([429, 500, 503][self.rng.usize(0..3)])
        } else {
            RequestOutcome::Good
        };
        (outcome, there, back)
    }

    /// Counts a write, and applies the planned fault if it is for this write.
    fn planned_outcome(&mut self, who: Actor) -> Option<RequestOutcome> {
        let is_command = matches!(who, Actor::Command(_));
        let counted =
            if is_command { &mut self.scenario.command_writes } else { &mut self.scenario.daemon_writes };
        *counted += 1;
        let nth = *counted;
        let planned_fault =
            self.planned_fault.filter(|one| one.is_command == is_command && one.nth == nth)?;
        self.api.note(format_args!("by plan: {:?} at write {nth} of {who:?}", planned_fault.kind));
        match planned_fault.kind {
            FaultKind::Crash => self.scenario.crash_after_write = Some(who),
            FaultKind::CrashBefore => {
                self.scenario.crash_after_write = Some(who);
                return Some(RequestOutcome::Before);
            }
            FaultKind::Lost => return Some(RequestOutcome::After),
            FaultKind::StaleNodes => self.freeze(Stream::Nodes, STALE),
            FaultKind::StalePods => self.freeze(Stream::Pods, STALE),
            FaultKind::Skip => {
                for index in 0..self.daemons.len() {
                    self.break_watch(index, Stream::Nodes as usize, Duration::from_secs(3));
                    self.break_watch(index, Stream::Pods as usize, Duration::from_secs(3));
                }
            }
        }
        Some(RequestOutcome::Good)
    }

    /// Watches of a kind deliver nothing to any daemon for so long.
    fn freeze(&mut self, stream: Stream, time: Duration) {
        let until = self.api.now + time;
        for daemon in &mut self.daemons {
            daemon.streams[stream as usize].frozen = until;
        }
    }

    /// Draws faults of watches, processes and clocks, and schedules the next call.
    pub(super) fn fail(&mut self) {
        if self.is_calm() || self.daemons.is_empty() {
            return;
        }
        let index = self.rng.usize(0..self.daemons.len());
        let Faults { stale, relist, crash, pause, clock, stop, cut, stale_max, .. } = self.faults;
        let stream = self.rng.usize(0..STREAMS.len());
        if self.one_in(stale) {
            let time = self.millis(500..stale_max.max(501));
            self.daemons[index].streams[stream].frozen = self.api.now + time;
            self.api.note(format_args!("daemon {index}: {:?} stand still for {time:?}", STREAMS[stream]));
        }
        if self.one_in(relist) {
            let pause = self.millis(1..5_000);
            self.break_watch(index, stream, pause);
        }
        if self.one_in(cut) {
            let time = self.millis(500..40_000);
            self.daemons[index].cut = self.api.now + time;
            self.api.note(format_args!("daemon {index} is cut off for {time:?}"));
        }
        if self.one_in(pause) {
            let time = self.millis(200..25_000);
            self.daemons[index].paused = self.api.now + time;
            self.api.note(format_args!("daemon {index} stands still for {time:?}"));
        }
        if self.one_in(clock) {
            let skew = self.rng.i64(-900..900);
            // A larger skew would be visible in the ends of reservations. The election must not depend on clocks at all.
            let far = if self.rng.bool() { self.rng.i64(-3_600..3_600) } else { 0 };
            (self.daemons[index].skew, self.daemons[index].election.skew) = (skew, far);
            self.api
                .note(format_args!("daemon {index}: the clock is off by {skew} ms, the Lease's by {far} s"));
        }
        if self.one_in(crash) {
            self.crash(index, "dies");
        } else if self.one_in(stop) {
            self.stop_daemon(index);
        }
        let pause = self.millis(1_000..15_000);
        self.after(pause, Action::Fail);
    }
}
