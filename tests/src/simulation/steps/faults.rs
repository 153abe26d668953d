//! What goes wrong: with requests, watches, processes and clocks. Each seed has its own mixture, so that some see a storm of one
//! kind and others nothing of it.

use super::api::{STREAMS, Stream, Who};
use super::sim::{Action, Sim};
use fastrand::Rng;
use std::time::Duration;

/// How often each thing goes wrong: one time in so many, never for 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    /// From then on nothing goes wrong any more.
    pub(super) end: Duration,
    /// A request is lost on its way.
    pub(super) before: u32,
    /// A request is carried out, and its answer lost.
    pub(super) after: u32,
    /// A request is turned away: too many, or the server is ill.
    pub(super) refused: u32,
    /// A request takes seconds.
    pub(super) slow: u32,
    /// A watch stands still for a while.
    pub(super) stale: u32,
    /// A watch ends, and all is listed again: what happened meanwhile is not seen.
    pub(super) relist: u32,
    /// A watch repeats itself.
    pub(super) repeat: u32,
    /// A daemon dies.
    pub(super) crash: u32,
    /// A process stands still.
    pub(super) pause: u32,
    /// A clock jumps.
    pub(super) clock: u32,
    /// A daemon ends in an orderly way.
    pub(super) stop: u32,
    /// What a daemon asks for does not arrive for a while.
    pub(super) cut: u32,
    /// How long a watch stands still at most, in milliseconds.
    pub(super) stale_max: u64,
    /// How long a message takes, in milliseconds.
    pub(super) lag: u64,
}

/// What becomes of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Luck {
    Good,
    /// It never arrives.
    Before,
    /// It arrives, and the answer does not.
    After,
    /// The server turns it away.
    Refused(u16),
}

/// What fails by plan, at the `nth` write of a kind of process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strike {
    /// Whether it is a write of the command rather than of a daemon.
    pub(super) is_command: bool,
    pub(super) nth: usize,
    pub(super) blow: Blow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blow {
    /// The process dies when the write has landed.
    Crash,
    /// The process dies before it lands.
    CrashBefore,
    /// The answer is lost.
    Lost,
    /// Nodes are not heard of for a while.
    StaleNodes,
    /// Pods are not heard of for a while.
    StalePods,
    /// What happens next is not seen: a watch ends, and all is listed again.
    Skip,
}

pub(super) const BLOWS: [Blow; 6] =
    [Blow::Crash, Blow::CrashBefore, Blow::Lost, Blow::StaleNodes, Blow::StalePods, Blow::Skip];

/// How long a watch stands still by plan: longer than a Lease is good.
const STALE: Duration = Duration::from_secs(25);

impl Faults {
    /// Nothing goes wrong.
    pub(super) fn none() -> Self {
        Self { lag: 20, ..Self::default() }
    }

    /// A mixture.
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

    /// What becomes of a request, how long it takes to arrive, and the answer to come back.
    pub(super) fn luck(&mut self, who: Who, is_write: bool) -> (Luck, Duration, Duration) {
        let lag = self.faults.lag.max(2);
        let mut there = self.millis(1..lag + 1);
        let back = self.millis(1..lag + 1);
        if is_write && let Some(luck) = self.struck(who) {
            return (luck, there, back);
        }
        if self.is_calm() {
            return (Luck::Good, there.min(Duration::from_millis(50)), back.min(Duration::from_millis(50)));
        }
        if let Who::Daemon(index, _) = who
            && self.daemons[index].cut > self.api.now
        {
            return (Luck::Before, there, back);
        }
        let (before, after, refused, slow) =
            (self.faults.before, self.faults.after, self.faults.refused, self.faults.slow);
        if self.one_in(slow) {
            there += self.millis(500..8_000);
        }
        let luck = if self.one_in(before) {
            Luck::Before
        } else if self.one_in(after) {
            Luck::After
        } else if self.one_in(refused) {
            Luck::Refused([429, 500, 503][self.rng.usize(0..3)])
        } else {
            Luck::Good
        };
        (luck, there, back)
    }

    /// What the plan has for this write, if it is the one.
    fn struck(&mut self, who: Who) -> Option<Luck> {
        let is_command = matches!(who, Who::Command(_));
        let counted =
            if is_command { &mut self.scenario.command_writes } else { &mut self.scenario.daemon_writes };
        *counted += 1;
        let nth = *counted;
        let strike = self.strike.filter(|one| one.is_command == is_command && one.nth == nth)?;
        self.api.note(format_args!("by plan: {:?} at write {nth} of {who:?}", strike.blow));
        match strike.blow {
            Blow::Crash => self.scenario.doomed = Some(who),
            Blow::CrashBefore => {
                self.scenario.doomed = Some(who);
                return Some(Luck::Before);
            }
            Blow::Lost => return Some(Luck::After),
            Blow::StaleNodes => self.freeze(Stream::Nodes, STALE),
            Blow::StalePods => self.freeze(Stream::Pods, STALE),
            Blow::Skip => {
                for index in 0..self.daemons.len() {
                    self.break_watch(index, Stream::Nodes as usize, Duration::from_secs(3));
                    self.break_watch(index, Stream::Pods as usize, Duration::from_secs(3));
                }
            }
        }
        Some(Luck::Good)
    }

    /// Nobody hears of a kind for so long.
    fn freeze(&mut self, stream: Stream, time: Duration) {
        let until = self.api.now + time;
        for daemon in &mut self.daemons {
            daemon.streams[stream as usize].frozen = until;
        }
    }

    /// Something fails that is no request.
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
            // Nobody's expiry may be off by more; who leads must not be a matter of clocks at all.
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
