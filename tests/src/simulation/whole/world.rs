//! A sandbox with everything that is around it in a simulation: two real daemons, real commands, and people.

use super::compared::CALM_LATEST;
use super::door::{Door, NAMESPACE, Who};
use super::line::{Line, Process};
use super::record::Record;
use super::tenants::{Clones, FORGED, found_clones};
use super::weather::{Plan, Weather};
use crate::history::{Counts, Rules};
use crate::simulation::History;
use clap::Parser as _;
use daemon::args::Args;
use daemon::clock::Clock;
use daemon::config::Config as DaemonConfig;
use daemon::connect::Clients;
use daemon::metrics::Metrics;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use kubectl_reserve::Around;
use sandbox::{Config, Pace, Sandbox};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The two replicas of the daemon.
pub(super) const DAEMONS: [&str; 2] = ["a", "b"];

/// How our command calls itself.
const COMMAND: &str = "kubectl-reserve/simulated";

/// How long a daemon that died is away.
const RESTART: Duration = Duration::from_secs(2);

/// How many turns a daemon may take at one moment. A start takes some hundred.
const TURNS_MAX: u32 = 10_000;

/// How long controllers and kubelets rest at most.
const LONG: Duration = Duration::from_secs(60);

/// Everything. Clones are the same world.
#[derive(Clone)]
pub(super) struct World {
    pub(super) sandbox: Sandbox,
    pub(super) record: Record,
    pub(super) weather: Weather,
    /// As an administrator, without anything in between.
    pub(super) admin: Door,
    seed: u64,
    /// By how much the fence is behind.
    lag: Duration,
    /// Whether one of the two daemons is of a newer version.
    has_two_versions: bool,
    /// What comes of reading the owner of a kind that nobody watches.
    clones: Clones,
    /// When the faults end, once that is known; none in plans.
    pub(super) calm: Arc<Mutex<Option<Instant>>>,
    /// What each daemon counts in the life that it leads now.
    pub(super) metrics: Arc<Mutex<[Metrics; 2]>>,
    daemons: Arc<[String]>,
    /// The process of each daemon, to kill it.
    processes: Arc<Mutex<[Process; 2]>>,
}

/// When every simulation begins.
fn begin() -> Timestamp {
    Timestamp::from_second(1_795_000_000).unwrap_or_default()
}

impl World {
    /// An empty cluster, and nobody in it.
    pub(super) fn new(seed: u64, plan: Option<Plan>, lines: History) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        // What the command makes ids from.
        fastrand::seed(rng.u64(..));
        let mut config = Config::starting_at(begin(), rng.u64(..));
        config.pace = Pace {
            start: Duration::from_millis(rng.u64(200..4000)),
            stop: Duration::from_millis(rng.u64(200..4000)),
        };
        let sandbox = Sandbox::new(&config);
        let record = Record::new(sandbox.clone(), begin(), lines);
        let weather = Weather::new(rng.fork(), plan);
        let who = Who::unfenced("admin", "kubectl");
        let admin = Door::new(sandbox.api(), record.clone(), who);
        let daemons = DAEMONS.map(user).into();
        // Plans are about one fault each.
        let is_drawn = plan.is_none() && seed > 1;
        let lag = Duration::from_secs([0, 0, 1, 5][rng.usize(..4)] * u64::from(is_drawn));
        let has_two_versions = is_drawn && rng.u8(0..3) == 0;
        let processes = Arc::default();
        let clones = if is_drawn { Clones::of(seed) } else { Clones::Unserved };
        let calm = is_drawn.then(|| Instant::now() + CALM_LATEST);
        let world = Self {
            sandbox,
            record,
            weather,
            admin,
            seed,
            lag,
            has_two_versions,
            clones,
            calm: Arc::new(Mutex::new(calm)),
            metrics: Arc::default(),
            daemons,
            processes,
        };
        if clones == Clones::Found {
            found_clones(&world.record);
        }
        world.make(&json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } }));
        world
    }

    /// What the rules have to know. `unseen` is how long something may not have reached a daemon.
    pub(super) fn rules(&self, unseen: Duration) -> Rules {
        Rules {
            daemons: self.daemons.iter().cloned().collect(),
            schedulers: ["reserve-scheduler".to_owned()].into(),
            unseen: Some(SignedDuration::try_from(unseen).unwrap_or_default()),
            is_calm: true,
            ..Rules::default()
        }
    }

    /// A way in for somebody else.
    pub(super) fn door(&self, user: &str) -> Door {
        let who = Who::unfenced(user, "other");
        Door::new(self.sandbox.api(), self.record.clone(), who)
    }

    /// Makes an object of any kind.
    pub(super) fn make(&self, object: &Value) -> Value {
        let (code, made) = self.admin.ask(Method::POST, &place(object), object);
        if code != 201 {
            self.record.broke(format!("make {object}: {code} {made}"));
        }
        made
    }

    /// Lets controllers and kubelets work, a little late, for ever.
    pub(super) async fn live(self) {
        let mut rng = fastrand::Rng::with_seed(self.seed ^ 1);
        loop {
            let now = self.record.now();
            let due = self.sandbox.pump(now);
            self.record.catch_up();
            let rest = due.map(|due| Duration::try_from(due.duration_since(now)).unwrap_or_default());
            tokio::select! {
                biased;
                () = self.record.stored.notified() => sleep(Duration::from_millis(rng.u64(1..200))).await,
                () = sleep(rest.unwrap_or(LONG)) => {}
            }
        }
    }

    /// Keeps one replica of the daemon running, whatever happens to it.
    pub(super) async fn keep_daemon(self, index: usize) {
        let replica = DAEMONS[index];
        let mut rng = fastrand::Rng::with_seed(self.seed ^ (0xdae + index as u64));
        loop {
            let process = Process::default();
            self.processes.lock().unwrap_or_else(PoisonError::into_inner)[index] = process.clone();
            let who = Who {
                user: user(replica),
                agent: "reserve-daemon/simulated",
                fenced: Some(replica.to_owned()),
                lag: self.lag,
                is_newer: self.has_two_versions && index == 1,
                clones: self.clones,
            };
            let client = self.line(who, &process).client();
            let (metrics, compare_every) = (Metrics::default(), self.compare_every());
            self.metrics.lock().unwrap_or_else(PoisonError::into_inner)[index] = metrics.clone();
            // The machine's clock may be wrong by a day until the first answer comes.
            let skew = [0, 0, 3600, -3600, 86_400][rng.usize(..5)];
            let clock = Clock::start_at(self.record.now() + SignedDuration::from_secs(skew));
            let ended = tokio::select! {
                biased;
                () = process.died() => None,
                ended = patiently(run(replica, compare_every, (client, metrics), clock, rng.fork())) => {
                    Some(ended)
                }
            };
            process.kill();
            match ended {
                None => self.record.note(format_args!("daemon {replica} died")),
                Some(None) => self.record.broke(format!("I21: daemon {replica} goes on for ever")),
                Some(Some(Err(error))) if format!("{error:#}").contains("Lease") => {
                    self.record.note(format_args!("daemon {replica} stopped: {error:#}"));
                }
                Some(Some(ended)) => self.record.broke(format!("daemon {replica} ended: {ended:?}")),
            }
            sleep(RESTART + Duration::from_millis(rng.u64(0..3000))).await;
        }
    }

    /// Kills a daemon, wherever it stands.
    pub(super) fn kill_daemon(&self, index: usize) {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)[index].kill();
    }

    /// Runs `kubectl reserve` with these words, as a user who may do everything. Its exit code, unless it died.
    pub(super) async fn command(&self, words: &[&str], process: &Process, around: &Around) -> Option<u8> {
        // What one run releases is another run's loss, and not its fault.
        let agent = if words.first() == Some(&"release") { "somebody-else" } else { COMMAND };
        let who = Who::unfenced("somebody", agent);
        let client = self.line(who, process).client();
        self.record.note(format_args!("$ kubectl reserve {}", words.join(" ")));
        let code = tokio::select! {
            biased;
            () = process.died() => None,
            code = Box::pin(kubectl_reserve::run_inside(words, client, around)) => Some(code),
        };
        process.kill();
        // Of one that was killed nothing is asked.
        self.record.count("I19", if code.is_some() { Counts::check } else { Counts::skip });
        self.record.note(format_args!("  {} -> {code:?}", words.join(" ")));
        for line in around.said().lines() {
            self.record.note(format_args!("  | {line}"));
        }
        if around.said().contains(FORGED) {
            self.record.broke(format!("I15: {} believes in a replica that a tenant forged", words.join(" ")));
        }
        code
    }

    fn line(&self, who: Who, process: &Process) -> Line {
        let door = Door::new(self.sandbox.api(), self.record.clone(), who);
        let (weather, process) = (self.weather.clone(), process.clone());
        Line { door, weather, process, daemons: Arc::clone(&self.daemons) }
    }

    /// Waits until something is so, looking twice a second.
    pub(super) async fn wait(&self, what: &str, longest: Duration, mut is_so: impl FnMut() -> bool) -> bool {
        let until = Instant::now() + longest;
        while Instant::now() < until {
            if is_so() {
                return true;
            }
            sleep(Duration::from_millis(500)).await;
        }
        self.record.note(format_args!("waited in vain until {what}"));
        false
    }
}

/// Runs a process. `None` if it goes on for ever without any time passing: nothing else would ever happen.
async fn patiently<T>(process: impl Future<Output = T>) -> Option<T> {
    let (mut process, mut last, mut turns) = (Box::pin(process), Instant::now(), 0);
    std::future::poll_fn(move |context| {
        turns = if Instant::now() == last { turns + 1 } else { 0 };
        last = Instant::now();
        match turns {
            TURNS_MAX.. => Poll::Ready(None),
            _ => process.as_mut().poll(context).map(Some),
        }
    })
    .await
}

/// The user that a replica of the daemon writes as.
pub(super) fn user(replica: &str) -> String {
    format!("reserve-daemon-{replica}")
}

async fn run(
    replica: &str,
    compare_every: Option<Duration>,
    (client, metrics): (kube::Client, Metrics),
    clock: Clock,
    rng: fastrand::Rng,
) -> anyhow::Result<()> {
    let namespace = format!("--namespace={NAMESPACE}");
    let flags = ["reserve-daemon", "--secure-port=0", &namespace, "--replica-name", replica];
    let mut config = DaemonConfig::try_from(Args::try_parse_from(flags)?)?;
    config.compare_every = compare_every;
    let never = std::future::pending();
    daemon::run::run(&config, Clients::from(client), metrics, clock, rng, never).await
}

/// Where objects of a kind are made.
fn place(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let (version, kind) = (text("/apiVersion"), text("/kind").to_lowercase());
    let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
    let plural = if kind.ends_with('s') { kind + "es" } else { kind + "s" };
    match text("/metadata/namespace") {
        "" => format!("{root}/{plural}"),
        namespace => format!("{root}/namespaces/{namespace}/{plural}"),
    }
}
