//! What is meant: arguments that were checked, and every limit and interval with its reason.
//!
//! As with kube-scheduler, a configuration file goes before flags, but for those about leader election and about what
//! is served. One difference: `--kubeconfig` is heeded when the file names no kubeconfig.

mod election;
mod extender;
mod gates;
mod serving;
#[cfg(test)]
mod tests;

pub use extender::{ExtenderFiles, ExtenderServing};
pub use serving::{Access, Authorities, Certificate, Headers, Serving};

use crate::args::Args;
use crate::connect::Connection;
use crate::trace;
use anyhow::{Context, bail};
use common::api::names::SCHEDULER_NAME;
use common::config::{Configuration, load};
use common::plugins::{Tools, unserved};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A call that has no answer after this long is treated as one whose outcome is unknown. Shorter than the API
/// server's own limit of a minute, so that one black hole does not hold a worker for that long.
pub const CALL_DEADLINE: Duration = Duration::from_secs(15);

/// Calls under way at once. The API server's in-flight limit is shared with every kubelet; beyond this we would only
/// move the queue from our memory into its.
pub const CALLS_MAX: usize = 32;

/// Inputs that may wait for the loop. A watch that is faster than the loop is slowed down, not remembered.
pub const INPUTS_MAX: usize = 1024;

/// Events that may wait to be written: as many as a big rollout has pods, since bindings go first and their events wait
/// for them. More would only grow: an API server that is that far behind has no ear for talk.
pub const EVENTS_MAX: usize = 16_384;

/// How long a pod that nothing could cure waits before it is tried again all the same, as with kube-scheduler.
const PARKED_MAX: Duration = Duration::from_secs(5 * 60);

/// How often the leader compares what it believes with what the API server has. A comparison reads as much as a start does:
/// that is little every five minutes, and a wrong belief is found before it has done harm for long.
const COMPARE_EVERY: Duration = Duration::from_secs(5 * 60);

/// No pod is tried again by itself before that: as often kube-scheduler looks for those that have waited long enough.
const PARKED_MIN: Duration = Duration::from_secs(30);

/// A scheduler's name also reports events, where the API server takes no longer one.
const SCHEDULER_NAME_LEN_MAX: usize = 63;

/// A checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The scheduler that this daemon is; a profile for each of its names.
    pub scheduler: Configuration,
    /// What does less than it seems to.
    pub warnings: Vec<String>,
    /// What was passed over and changes nothing.
    pub remarks: Vec<String>,
    /// What was brought along: plugins that the configuration may name, and who listens to Trace.
    pub tools: Tools,
    /// Where this daemon and its Leases live.
    pub namespace: String,
    /// What this replica is called; part of a Lease's name.
    pub replica: String,
    /// Whether this daemon may not write reservations; whoever starts it finds out.
    pub is_restricted: bool,
    /// Reservations that are made by themselves in one namespace, at most.
    pub automatic_per_namespace: u32,
    /// How long a pod that nothing could cure waits before it is tried again all the same.
    pub parked_max: Duration,
    /// How often the leader compares what it believes with what the API server has. With none it does not compare, and
    /// hears no signal that asks for it.
    pub compare_every: Option<Duration>,
    /// How health and metrics are served, if they are.
    pub serving: Option<Serving>,
    /// Where probes are served besides, if they are.
    pub probes: Option<SocketAddr>,
    /// How kube-scheduler is served as its extender, if it is.
    pub extender: Option<ExtenderServing>,
    /// Where the configuration is to be written instead of being followed.
    pub write_to: Option<PathBuf>,
    /// How the API server is reached.
    pub connection: Connection,
}

impl TryFrom<Args> for Config {
    type Error = anyhow::Error;

    fn try_from(args: Args) -> anyhow::Result<Self> {
        Self::new(args, trace::tools())
    }
}

impl Config {
    /// The configuration that `args` ask for, whose file may name the plugins in `tools` too.
    ///
    /// # Errors
    /// When they cannot be followed.
    pub fn new(args: Args, tools: Tools) -> anyhow::Result<Self> {
        let mut said = Said::default();
        let namespace = given(&args.namespace).map_or_else(own_namespace, str::to_owned);
        let scheduler = scheduler(&args, &tools, &namespace, &mut said)?;
        gates::check(&args.feature_gates, &mut said)?;
        said.ignored_flags(&args);
        let connection = Connection::new(&args, &scheduler.client_connection);
        let serving = Serving::new(&args, &mut said)?;
        let replica = given(&args.replica_name).map_or_else(|| machine(&args), str::to_owned);
        check_replica(&replica)?;
        let parked_max = args.pod_max_in_unschedulable_pods_duration;
        Ok(Self {
            scheduler,
            warnings: said.warnings,
            remarks: said.remarks,
            tools,
            namespace,
            replica,
            is_restricted: false,
            automatic_per_namespace: args.automatic_per_namespace,
            parked_max: parked_max.map_or(PARKED_MAX, SignedDurationExt::to_unsigned).max(PARKED_MIN),
            compare_every: Some(COMPARE_EVERY),
            serving,
            probes: serving::probes(given(&args.serving.health_probe_bind_address))?,
            extender: ExtenderServing::new(args.extender)?,
            write_to: set(args.write_config_to),
            connection,
        })
    }
}

/// What whoever started us is told.
#[derive(Debug, Default)]
struct Said {
    warnings: Vec<String>,
    remarks: Vec<String>,
}

impl Said {
    fn warn(&mut self, what: String) {
        self.warnings.push(what);
    }

    fn ignored_flags(&mut self, args: &Args) {
        self.remarks.extend(args.ignored_flags.idle().map(|name| format!("--{name} has no meaning here")));
        let unmet = args.ignored_flags.unmet();
        self.warnings.extend(unmet.map(|(name, instead)| format!("--{name} is not followed: {instead}")));
        if args.config.as_ref().is_none_or(|file| file.as_os_str().is_empty()) {
            return;
        }
        let ignored = [
            ("kube-api-qps", args.kube_api_qps.is_some()),
            ("kube-api-burst", args.kube_api_burst.is_some()),
        ];
        for (name, _) in ignored.into_iter().filter(|(_, is_given)| *is_given) {
            self.warn(format!("--{name} is not heeded beside --config; set it in clientConnection"));
        }
    }
}

/// Durations that are never less than nothing.
trait SignedDurationExt {
    fn to_unsigned(self) -> Duration;
}

impl SignedDurationExt for jiff::SignedDuration {
    fn to_unsigned(self) -> Duration {
        Duration::try_from(self).unwrap_or_default()
    }
}

/// A flag's text, unless it is empty.
fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

/// A flag's file, unless it is empty.
fn set(file: Option<PathBuf>) -> Option<PathBuf> {
    file.filter(|file| !file.as_os_str().is_empty())
}

fn scheduler(args: &Args, tools: &Tools, namespace: &str, said: &mut Said) -> anyhow::Result<Configuration> {
    let mut scheduler = match set(args.config.clone()) {
        Some(file) => {
            let (configuration, warnings) = from_config_file(&file, tools)?;
            said.warnings.extend(warnings);
            configuration
        }
        None => {
            let mut configuration = named(&args.scheduler_names);
            election::make_ours(&mut configuration, namespace);
            let connection = &mut configuration.client_connection;
            connection.qps = args.kube_api_qps.filter(|qps| *qps != 0.0).unwrap_or(connection.qps);
            connection.burst = args.kube_api_burst.filter(|burst| *burst != 0).unwrap_or(connection.burst);
            configuration
        }
    };
    election::apply(&args.election, &mut scheduler.leader_election)?;
    election::warn(&scheduler, said);
    check_served(&scheduler)?;
    for profile in &scheduler.profiles {
        check_scheduler_name(&profile.scheduler_name)?;
    }
    Ok(scheduler)
}

/// The default profile under each of `names`.
fn named(names: &[String]) -> Configuration {
    let mut configuration = Configuration::default_for(names.first().map_or(SCHEDULER_NAME, String::as_str));
    for name in names.iter().skip(1) {
        configuration.profiles.extend(Configuration::default_for(name).profiles);
    }
    configuration
}

fn from_config_file(file: &Path, tools: &Tools) -> anyhow::Result<(Configuration, Vec<String>)> {
    let text = std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let loaded = load(&file.display().to_string(), &text, &tools.plugins())?;
    Ok((loaded.configuration, loaded.warnings.iter().map(ToString::to_string).collect()))
}

/// What would be passed over in silence is refused: pods would be placed otherwise than the file says.
fn check_served(scheduler: &Configuration) -> anyhow::Result<()> {
    let unserved: Vec<String> = scheduler.profiles.iter().flat_map(unserved).collect();
    if !unserved.is_empty() {
        bail!("the configuration asks for what is not served yet: {}", unserved.join(", "));
    }
    Ok(())
}

fn check_scheduler_name(name: &str) -> anyhow::Result<()> {
    if name.is_empty() || name.len() > SCHEDULER_NAME_LEN_MAX || !name.bytes().all(is_name_byte) {
        bail!("schedulerName {name:?}: a scheduler name has up to 63 characters of a-z, 0-9, '-' and '.'");
    }
    Ok(())
}

fn check_replica(name: &str) -> anyhow::Result<()> {
    if name.is_empty() || name.len() > REPLICA_LEN_MAX || !name.bytes().all(is_name_byte) {
        bail!("--replica-name {name:?}: it has up to 200 characters of a-z, 0-9, '-' and '.'");
    }
    Ok(())
}

fn is_name_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.')
}

/// It is part of a Lease's name, which may have 253 characters.
const REPLICA_LEN_MAX: usize = 200;

/// The namespace of the service account, if this is a pod; else where kube-scheduler lives.
fn own_namespace() -> String {
    kube::Config::incluster().map_or_else(|_| "kube-system".to_owned(), |config| config.default_namespace)
}

/// What the machine is called, so that a new start of this daemon has the name of the old one. Two of them on one
/// machine listen on different ports, or on none.
fn machine(args: &Args) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().to_lowercase();
    let host: String = host.chars().filter(|letter| u8::try_from(*letter).is_ok_and(is_name_byte)).collect();
    let host = if host.is_empty() { "reserve-daemon" } else { &host };
    match args.serving.secure_port {
        0 => format!("{host}-{}", std::process::id()),
        serving::PORT => host.to_owned(),
        port => format!("{host}-{port}"),
    }
}
