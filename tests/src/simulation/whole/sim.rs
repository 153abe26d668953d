//! One simulation: a sandbox, two real daemons, real commands, and other actors, with connections that have faults.

use super::comparison::CALM_LATEST;
use super::connection::{Connection, Process};
use super::fault_injector::{FaultInjector, PlannedFault};
use super::record::Record;
use super::tenants::{CloneSetAccess, FORGED, record_clone_set};
use super::user_api::{ClientIdentity, NAMESPACE, UserApi};
use crate::history::{CheckSettings, Counts};
use crate::simulation::HistoryLog;
use clap::Parser as _;
use daemon::args::Args;
use daemon::clock::Clock;
use daemon::config::Config as DaemonConfig;
use daemon::connect::Clients;
use daemon::metrics::Metrics;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use kubectl_reserve::HostProgram;
use sandbox::{Config, Pace, Sandbox};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The two replicas of the daemon.
pub(super) const DAEMONS: [&str; 2] = ["a", "b"];

/// The User-Agent of our command.
const COMMAND: &str = "kubectl-reserve/simulated";

/// The pause before a daemon is started again.
const RESTART: Duration = Duration::from_secs(2);

/// How often a daemon may be polled without any time passing. A start takes some hundred polls.
const POLLS_MAX: u32 = 10_000;

/// The longest pause of the controllers and kubelets.
const LONG: Duration = Duration::from_secs(60);

/// One simulation. Clones share it.
#[derive(Clone)]
pub(super) struct Sim {
    pub(super) sandbox: Sandbox,
    pub(super) record: Record,
    pub(super) faults: FaultInjector,
    /// The API server for the administrator, without faults.
    pub(super) admin: UserApi,
    seed: u64,
    /// How far the fence is behind.
    lag: Duration,
    /// Whether one of the two daemons has a newer version.
    has_two_versions: bool,
    /// What daemons get when they read the CloneSet.
    clone_set: CloneSetAccess,
    /// When the faults end at the latest; `None` in plans.
    pub(super) calm: Arc<Mutex<Option<Instant>>>,
    /// The metrics of each daemon since its last start.
    pub(super) metrics: Arc<Mutex<[Metrics; 2]>>,
    daemons: Arc<[String]>,
    /// The process of each daemon, to kill it.
    processes: Arc<Mutex<[Process; 2]>>,
}

/// The time at which every simulation begins.
fn begin() -> Timestamp {
    Timestamp::from_second(1_795_000_000).unwrap_or_default()
}

impl Sim {
    /// An empty cluster. Nothing runs yet.
    pub(super) fn new(seed: u64, plan: Option<PlannedFault>, lines: HistoryLog) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        // The command makes its ids from this global generator.
        fastrand::seed(rng.u64(..));
        let mut config = Config::starting_at(begin(), rng.u64(..));
        config.pace = Pace {
            start: Duration::from_millis(rng.u64(200..4000)),
            stop: Duration::from_millis(rng.u64(200..4000)),
        };
        let sandbox = Sandbox::new(&config);
        let record = Record::new(sandbox.clone(), begin(), lines);
        let faults = FaultInjector::new(rng.fork(), plan);
        let identity = ClientIdentity::unfenced("admin", "kubectl");
        let admin = UserApi::new(sandbox.api(), record.clone(), identity);
        let daemons = DAEMONS.map(user).into();
        // Plans have one fault each, and nothing random.
        let is_drawn = plan.is_none() && seed > 1;
        let lag = Duration::from_secs([0, 0, 1, 5][rng.usize(..4)] * u64::from(is_drawn));
        let has_two_versions = is_drawn && rng.u8(0..3) == 0;
        let processes = Arc::default();
        let clone_set = if is_drawn { CloneSetAccess::of(seed) } else { CloneSetAccess::Unserved };
        let calm = is_drawn.then(|| Instant::now() + CALM_LATEST);
        let sim = Self {
            sandbox,
            record,
            faults,
            admin,
            seed,
            lag,
            has_two_versions,
            clone_set,
            calm: Arc::new(Mutex::new(calm)),
            metrics: Arc::default(),
            daemons,
            processes,
        };
        if clone_set == CloneSetAccess::Found {
            record_clone_set(&sim.record);
        }
        sim.make(&json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } }));
        sim
    }

    /// The settings of the checker. `unseen` is how long an event may not have reached a daemon.
    pub(super) fn check_settings(&self, unseen: Duration) -> CheckSettings {
        CheckSettings {
            daemons: self.daemons.iter().cloned().collect(),
            schedulers: ["reserve-scheduler".to_owned()].into(),
            unseen: Some(SignedDuration::try_from(unseen).unwrap_or_default()),
            is_calm: true,
            ..CheckSettings::default()
        }
    }

    /// The API server for another user, without faults.
    pub(super) fn api_as(&self, user: &str) -> UserApi {
        let identity = ClientIdentity::unfenced(user, "other");
        UserApi::new(self.sandbox.api(), self.record.clone(), identity)
    }

    /// Creates an object of any kind.
    pub(super) fn make(&self, object: &Value) -> Value {
        let (code, made) = self.admin.ask(Method::POST, &collection_path(object), object);
        if code != 201 {
            self.record.fail(format!("make {object}: {code} {made}"));
        }
        made
    }

    /// Runs the controllers and kubelets for ever, each time after a short random delay.
    pub(super) async fn run_controllers(self) {
        let mut rng = fastrand::Rng::with_seed(self.seed ^ 1);
        loop {
            let now = self.record.now();
            let due = self.sandbox.reconcile(now);
            self.record.catch_up();
            let rest = due.map(|due| Duration::try_from(due.duration_since(now)).unwrap_or_default());
            tokio::select! {
                biased;
                () = self.record.stored.notified() => sleep(Duration::from_millis(rng.u64(1..200))).await,
                () = sleep(rest.unwrap_or(LONG)) => {}
            }
        }
    }

    /// Runs one replica of the daemon, and starts it again when it has ended.
    pub(super) async fn keep_daemon(self, index: usize) {
        let replica = DAEMONS[index];
        let mut rng = fastrand::Rng::with_seed(self.seed ^ (0xdae + index as u64));
        loop {
            let process = Process::default();
            self.processes.lock().unwrap_or_else(PoisonError::into_inner)[index] = process.clone();
            let identity = ClientIdentity {
                user: user(replica),
                agent: "reserve-daemon/simulated",
                fenced: Some(replica.to_owned()),
                lag: self.lag,
                is_newer: self.has_two_versions && index == 1,
                clone_set: self.clone_set,
            };
            let client = self.connection(identity, &process).client();
            let (metrics, compare_every) = (Metrics::default(), self.compare_every());
            self.metrics.lock().unwrap_or_else(PoisonError::into_inner)[index] = metrics.clone();
            // The machine's clock may be wrong by a day; the daemon corrects it with the first answer.
            let skew = [0, 0, 3600, -3600, 86_400][rng.usize(..5)];
            let clock = Clock::start_at(self.record.now() + SignedDuration::from_secs(skew));
            let ended = tokio::select! {
                biased;
                () = process.died() => None,
                ended = limit_polls(run(replica, compare_every, (client, metrics), clock, rng.fork())) => {
                    Some(ended)
                }
            };
            process.kill();
            match ended {
                None => self.record.note(format_args!("daemon {replica} died")),
                Some(None) => self.record.fail(format!("I21: daemon {replica} goes on for ever")),
                Some(Some(Err(error))) if format!("{error:#}").contains("Lease") => {
                    self.record.note(format_args!("daemon {replica} stopped: {error:#}"));
                }
                Some(Some(ended)) => self.record.fail(format!("daemon {replica} ended: {ended:?}")),
            }
            sleep(RESTART + Duration::from_millis(rng.u64(0..3000))).await;
        }
    }

    /// Kills a daemon at its current await point.
    pub(super) fn kill_daemon(&self, index: usize) {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)[index].kill();
    }

    /// Runs `kubectl reserve` with these arguments, as an administrator. Returns its exit code; `None` if it was killed.
    pub(super) async fn command(&self, words: &[&str], process: &Process, host: &HostProgram) -> Option<u8> {
        // A release by one run must not count as a mistake of another run, so it has another User-Agent.
        let agent = if words.first() == Some(&"release") { "somebody-else" } else { COMMAND };
        let identity = ClientIdentity::unfenced("somebody", agent);
        let client = self.connection(identity, process).client();
        self.record.note(format_args!("$ kubectl reserve {}", words.join(" ")));
        let code = tokio::select! {
            biased;
            () = process.died() => None,
            code = Box::pin(kubectl_reserve::run_inside(words, client, host)) => Some(code),
        };
        process.kill();
        // I19 does not apply to a killed run.
        self.record.count("I19", if code.is_some() { Counts::check } else { Counts::skip });
        self.record.note(format_args!("  {} -> {code:?}", words.join(" ")));
        for line in host.output().lines() {
            self.record.note(format_args!("  | {line}"));
        }
        if host.output().contains(FORGED) {
            self.record.fail(format!("I15: {} believes in a replica that a tenant forged", words.join(" ")));
        }
        code
    }

    fn connection(&self, identity: ClientIdentity, process: &Process) -> Connection {
        let api = UserApi::new(self.sandbox.api(), self.record.clone(), identity);
        let (faults, process) = (self.faults.clone(), process.clone());
        Connection { api, faults, process, daemons: Arc::clone(&self.daemons) }
    }

    /// Waits until a condition is true, polling twice a second. false: it is not true after `longest`.
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

/// Runs a process. `None` if it is polled for ever without any time passing: then nothing else could run.
async fn limit_polls<T>(process: impl Future<Output = T>) -> Option<T> {
    let (mut process, mut last, mut polls) = (Box::pin(process), Instant::now(), 0);
    std::future::poll_fn(move |context| {
        polls = if Instant::now() == last { polls + 1 } else { 0 };
        last = Instant::now();
        match polls {
            POLLS_MAX.. => Poll::Ready(None),
            _ => process.as_mut().poll(context).map(Some),
        }
    })
    .await
}

/// The user of a replica of the daemon.
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

/// The path to which an object is posted.
fn collection_path(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let (version, kind) = (text("/apiVersion"), text("/kind").to_lowercase());
    let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
    let plural = if kind.ends_with('s') { kind + "es" } else { kind + "s" };
    match text("/metadata/namespace") {
        "" => format!("{root}/{plural}"),
        namespace => format!("{root}/namespaces/{namespace}/{plural}"),
    }
}
