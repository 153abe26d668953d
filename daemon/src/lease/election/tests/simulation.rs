//! Several candidates and one Lease, with faults: crashes, pauses, lost requests and answers, clocks that run at different
//! rates. Each run has a seed, so that a failure can be repeated.

use super::{Action, Candidate, Record, TIMING, wall};
use std::collections::BTreeMap;
use std::time::Duration;

/// The step of the simulation, in milliseconds of true time.
const STEP: u64 = 20;

/// Milliseconds of true time.
type Millis = u64;

/// The Lease as the API server has it.
#[derive(Default)]
struct ApiServer {
    lease: Option<(Record, u64)>,
    version: u64,
    /// Writes whose sender has given up, and when they arrive at the server anyway.
    strays: Vec<(Record, Option<u64>, Millis)>,
}

impl ApiServer {
    fn strays_arrive(&mut self, now: Millis) {
        let (due, later) = std::mem::take(&mut self.strays).into_iter().partition(|(.., at)| *at <= now);
        self.strays = later;
        let due: Vec<_> = due;
        for (record, over, _) in due {
            self.write(&record, over);
        }
    }

    fn write(&mut self, record: &Record, over: Option<u64>) -> Option<u64> {
        let current = self.lease.as_ref().map(|(_, version)| *version);
        (current == over).then(|| {
            self.version += 1;
            self.lease = Some((record.clone(), self.version));
            self.version
        })
    }
}

/// A request that is on its way, or its answer.
enum Call {
    Read,
    Write(Record, Option<u64>),
    Answer(ServerAnswer),
}

enum ServerAnswer {
    Seen(Option<(Record, u64)>),
    Wrote(Record, u64),
    Refused,
}

/// One process.
struct Process {
    candidate: Candidate<u64>,
    /// The rate of its clock in thousandths of true time; `offset` is what the clock showed at the beginning.
    rate: u64,
    offset: u64,
    paused_until: Millis,
    rests_until: Millis,
    /// The call in progress: when it arrives, when it times out, when it began by the local clock.
    call: Option<(Call, Millis, Millis, Duration)>,
    starts: u32,
}

impl Process {
    fn new(index: usize, rng: &mut fastrand::Rng) -> Self {
        Self {
            candidate: Candidate::new(format!("{index}_0"), TIMING),
            rate: rng.u64(850..1150),
            offset: rng.u64(0..10_000_000),
            paused_until: 0,
            rests_until: rng.u64(0..2000),
            call: None,
            starts: 0,
        }
    }

    fn local(&self, now: Millis) -> Duration {
        Duration::from_millis(self.offset + now * self.rate / 1000)
    }

    fn crash(&mut self, index: usize, back_at: Millis, server: &mut ApiServer) {
        self.starts += 1;
        self.give_up(server);
        self.candidate = Candidate::new(format!("{index}_{}", self.starts), TIMING);
        self.paused_until = back_at;
    }

    fn give_up(&mut self, server: &mut ApiServer) {
        if let Some((Call::Write(record, over), arrives, ..)) = self.call.take() {
            server.strays.push((record, over, arrives));
        }
    }

    /// Does what is due at `now`.
    fn step(&mut self, now: Millis, server: &mut ApiServer, rng: &mut fastrand::Rng, faults: &Faults) {
        if let Some((call, arrives, given_up, begun)) = self.call.take() {
            if now >= given_up && self.paused_until <= now {
                self.call = Some((call, arrives, given_up, begun));
                self.give_up(server);
                self.candidate.failed();
                self.rests_until = now + 2000;
                return;
            }
            if now < arrives {
                self.call = Some((call, arrives, given_up, begun));
                return;
            }
            self.arrived(call, given_up, begun, now, server, rng, faults);
            return;
        }
        if self.paused_until <= now && self.rests_until <= now {
            self.candidate.begin(self.local(now));
            self.act(now, rng, faults);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a simulation has a world")]
    fn arrived(
        &mut self,
        call: Call,
        given_up: Millis,
        begun: Duration,
        now: Millis,
        server: &mut ApiServer,
        rng: &mut fastrand::Rng,
        faults: &Faults,
    ) {
        let answer = match call {
            Call::Read => ServerAnswer::Seen(server.lease.clone()),
            Call::Write(record, over) => match server.write(&record, over) {
                Some(version) => ServerAnswer::Wrote(record, version),
                None => ServerAnswer::Refused,
            },
            Call::Answer(_) if self.paused_until > now => {
                self.call = Some((call, now, given_up, begun));
                return;
            }
            Call::Answer(answer) => return self.answered(answer, begun, now, rng, faults),
        };
        self.call = Some((Call::Answer(answer), faults.arrival(now, rng), given_up, begun));
    }

    fn answered(
        &mut self,
        answer: ServerAnswer,
        begun: Duration,
        now: Millis,
        rng: &mut fastrand::Rng,
        faults: &Faults,
    ) {
        match answer {
            ServerAnswer::Seen(lease) => self.candidate.saw(lease, self.local(now)),
            ServerAnswer::Wrote(record, version) => {
                self.candidate.wrote(record, version, begun);
                self.rests_until = now + rng.u64(1500..2000);
                return;
            }
            ServerAnswer::Refused => self.candidate.failed(),
        }
        self.act(now, rng, faults);
    }

    fn act(&mut self, now: Millis, rng: &mut fastrand::Rng, faults: &Faults) {
        // The wall clocks differ by hours, and no candidate relies on them.
        let wall = wall().checked_add(self.local(now)).unwrap();
        let call = match self.candidate.next(self.local(now), wall) {
            Action::Read => Call::Read,
            Action::Write(record, over) => Call::Write(record, over),
            Action::Rest => {
                self.rests_until = now + rng.u64(1500..2000);
                return;
            }
        };
        self.call = Some((call, faults.arrival(now, rng), now + 5000, self.local(now)));
    }
}

/// How often calls fail.
struct Faults {
    /// One of this many calls is slow or lost; 0: none.
    one_in: u64,
}

impl Faults {
    fn arrival(&self, now: Millis, rng: &mut fastrand::Rng) -> Millis {
        if self.one_in > 0 && rng.u64(0..self.one_in) == 0 {
            return now + rng.u64(100..20_000);
        }
        now + rng.u64(1..60)
    }
}

/// Runs one seed; returns the time from the end of the faults until a candidate leads.
fn run(seed: u64) -> Result<Millis, String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut server = ApiServer::default();
    let count = rng.usize(2..5);
    let mut processes: BTreeMap<usize, Process> =
        (0..count).map(|index| (index, Process::new(index, &mut rng))).collect();
    let calm_at = 150_000;
    for now in (0..calm_at + 60_000).step_by(usize::try_from(STEP).unwrap()) {
        let faults = Faults { one_in: if now < calm_at { 6 } else { 0 } };
        server.strays_arrive(now);
        for (index, process) in &mut processes {
            if now < calm_at && rng.u64(0..1500) == 0 {
                match rng.bool() {
                    true => process.crash(*index, now + rng.u64(0..30_000), &mut server),
                    false => process.paused_until = now + rng.u64(0..40_000),
                }
            } else if now == calm_at {
                process.paused_until = process.paused_until.min(now);
            }
            process.step(now, &mut server, &mut rng, &faults);
        }
        let leaders = processes.values().filter(|process| process.candidate.is_leading(process.local(now)));
        let leaders = leaders.count();
        if leaders > 1 {
            return Err(format!("seed {seed}: {leaders} leaders at {now} ms"));
        }
        if now > calm_at && leaders == 1 {
            return Ok(now - calm_at);
        }
    }
    Err(format!("seed {seed}: nobody leads"))
}

#[test]
fn never_two_leaders_and_always_one_again() {
    let mut longest = 0;
    for seed in 0..300 {
        match run(seed) {
            Ok(took) => longest = longest.max(took),
            Err(why) => panic!("{why}"),
        }
    }
    // The lease duration by the slowest clock, one slow call from before the end of the faults, two retry pauses.
    assert!(longest < 15_000 * 100 / 85 + 20_000 + 5_000, "{longest} ms");
}
