//! The checked configuration, and the limits and intervals that several modules use, each with its reason.
//! Entry point: [`Config::new`].
//!
//! As with kube-scheduler, the configuration file overrides flags, except those about leader election and about the servers.
//! One difference: `--kubeconfig` is used when the file names no kubeconfig.

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
use common::plugins::PluginList;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The outcome of a call without an answer after this long is unknown. Shorter than the API server's own limit of a minute, so
/// that a server that never answers does not block a worker for that long.
pub const CALL_DEADLINE: Duration = Duration::from_secs(15);

/// Calls in progress at once. The API server's limit for requests in flight is shared with every kubelet; more calls would only
/// wait in the API server's memory instead of ours.
pub const CALLS_MAX: usize = 32;

/// Inputs that may wait for the loop. A watch that is faster than the loop has to wait.
pub const INPUTS_MAX: usize = 1024;

/// Events that may wait to be written: as many as a big rollout has pods, because bindings go first and their events wait for
/// them. An API server that is further behind would not catch up with more.
pub const EVENTS_MAX: usize = 16_384;

/// How long an unschedulable pod waits before it is tried again although nothing changed, as in kube-scheduler.
const UNSCHEDULABLE_MAX: Duration = Duration::from_secs(5 * 60);

/// How often the leader compares its belief with the API server. A comparison reads as much as a start does, which is little
/// every five minutes, and finds a wrong belief soon.
const COMPARE_EVERY: Duration = Duration::from_secs(5 * 60);

/// The least value of [`Config::unschedulable_max`]: kube-scheduler looks for pods that have waited long enough only this often.
const UNSCHEDULABLE_MIN: Duration = Duration::from_secs(30);

/// The API server accepts no longer `reportingController` in events, which is the scheduler's name.
const SCHEDULER_NAME_LEN_MAX: usize = 63;

#[derive(Debug, Clone)]
pub struct Config {
    /// kube-scheduler's configuration; one profile for each scheduler name.
    pub scheduler: Configuration,
    /// Flags and settings that do less than they ask for.
    pub warnings: Vec<String>,
    /// Flags that are ignored and would change nothing.
    pub remarks: Vec<String>,
    pub plugins: PluginList,
    /// The namespace of this daemon and of its Leases.
    pub namespace: String,
    /// The name of this replica; part of its Lease's name.
    pub replica: String,
    /// Whether this daemon may not write reservations. [`Config::new`] cannot know; `main` sets it.
    pub is_restricted: bool,
    /// At most this many automatic reservations in one namespace.
    pub automatic_per_namespace: u32,
    /// How long an unschedulable pod waits before it is tried again although nothing changed.
    pub unschedulable_max: Duration,
    /// How often the leader compares its belief with the API server. `None`: never, and the signal that asks for it is ignored.
    pub compare_every: Option<Duration>,
    /// How health and metrics are served; `None`: not at all.
    pub serving: Option<Serving>,
    /// The address of the extra port for probes; `None`: there is none.
    pub probes: Option<SocketAddr>,
    /// How the extender for kube-scheduler is served; `None`: not at all.
    pub extender: Option<ExtenderServing>,
    /// If set, the daemon only writes its configuration to this file.
    pub write_to: Option<PathBuf>,
    pub connection: Connection,
}

impl TryFrom<Args> for Config {
    type Error = anyhow::Error;

    fn try_from(args: Args) -> anyhow::Result<Self> {
        Self::new(args, trace::plugins())
    }
}

impl Config {
    /// Checks `args`. Their configuration file may name these plugins.
    ///
    /// # Errors
    /// When the arguments or the file are invalid or ask for something that is not supported.
    pub fn new(args: Args, plugins: PluginList) -> anyhow::Result<Self> {
        let mut messages = StartupMessages::default();
        let namespace = non_empty(&args.namespace).map_or_else(own_namespace, str::to_owned);
        let scheduler = scheduler(&args, &plugins, &namespace, &mut messages)?;
        gates::check(&args.feature_gates, &mut messages)?;
        messages.ignored_flags(&args);
        let connection = Connection::new(&args, &scheduler.client_connection);
        let serving = Serving::new(&args, &mut messages)?;
        let replica =
            non_empty(&args.replica_name).map_or_else(|| default_replica_name(&args), str::to_owned);
        check_replica(&replica)?;
        let unschedulable_max = args.pod_max_in_unschedulable_pods_duration;
        Ok(Self {
            scheduler,
            warnings: messages.warnings,
            remarks: messages.remarks,
            plugins,
            namespace,
            replica,
            is_restricted: false,
            automatic_per_namespace: args.automatic_per_namespace,
            unschedulable_max: unschedulable_max
                .map_or(UNSCHEDULABLE_MAX, SignedDurationExt::to_unsigned)
                .max(UNSCHEDULABLE_MIN),
            compare_every: Some(COMPARE_EVERY),
            serving,
            probes: serving::probes(non_empty(&args.serving.health_probe_bind_address))?,
            extender: ExtenderServing::new(args.extender)?,
            write_to: non_empty_path(args.write_config_to),
            connection,
        })
    }
}

#[derive(Debug, Default)]
struct StartupMessages {
    warnings: Vec<String>,
    remarks: Vec<String>,
}

impl StartupMessages {
    fn warn(&mut self, what: String) {
        self.warnings.push(what);
    }

    fn ignored_flags(&mut self, args: &Args) {
        self.remarks
            .extend(args.ignored_flags.without_effect().map(|name| format!("--{name} has no meaning here")));
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

/// Turns negative durations into zero.
trait SignedDurationExt {
    fn to_unsigned(self) -> Duration;
}

impl SignedDurationExt for jiff::SignedDuration {
    fn to_unsigned(self) -> Duration {
        Duration::try_from(self).unwrap_or_default()
    }
}

/// The text of a flag, unless it is empty.
fn non_empty(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

/// The file of a flag, unless it is empty.
fn non_empty_path(file: Option<PathBuf>) -> Option<PathBuf> {
    file.filter(|file| !file.as_os_str().is_empty())
}

fn scheduler(
    args: &Args,
    plugins: &PluginList,
    namespace: &str,
    messages: &mut StartupMessages,
) -> anyhow::Result<Configuration> {
    let mut scheduler = match non_empty_path(args.config.clone()) {
        Some(file) => {
            let (configuration, warnings) = from_config_file(&file, plugins)?;
            messages.warnings.extend(warnings);
            configuration
        }
        None => {
            let mut configuration = profiles_named(&args.scheduler_names, plugins);
            election::use_own_lease(&mut configuration, namespace);
            let connection = &mut configuration.client_connection;
            connection.qps = args.kube_api_qps.filter(|qps| *qps != 0.0).unwrap_or(connection.qps);
            connection.burst = args.kube_api_burst.filter(|burst| *burst != 0).unwrap_or(connection.burst);
            configuration
        }
    };
    election::apply(&args.election, &mut scheduler.leader_election)?;
    election::warn(&scheduler, messages);
    check_served(&scheduler, plugins)?;
    for profile in &scheduler.profiles {
        check_scheduler_name(&profile.scheduler_name)?;
    }
    Ok(scheduler)
}

fn profiles_named(names: &[String], plugins: &PluginList) -> Configuration {
    let plugins = plugins.declarations();
    let mut configuration =
        Configuration::default_for(names.first().map_or(SCHEDULER_NAME, String::as_str), &plugins);
    for name in names.iter().skip(1) {
        configuration.profiles.extend(Configuration::default_for(name, &plugins).profiles);
    }
    configuration
}

fn from_config_file(file: &Path, plugins: &PluginList) -> anyhow::Result<(Configuration, Vec<String>)> {
    let text = std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let loaded = load(&file.display().to_string(), &text, &plugins.declarations())?;
    Ok((loaded.configuration, loaded.warnings.iter().map(ToString::to_string).collect()))
}

/// Refuses plugins and settings that are not supported: ignoring them would place pods otherwise than the file says.
fn check_served(scheduler: &Configuration, plugins: &PluginList) -> anyhow::Result<()> {
    let unserved: Vec<String> =
        scheduler.profiles.iter().flat_map(|profile| plugins.unsupported(profile)).collect();
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

/// The replica's name is part of a Lease's name, which may have 253 characters.
const REPLICA_LEN_MAX: usize = 200;

/// The namespace of the service account, if this is a pod; else kube-scheduler's namespace.
fn own_namespace() -> String {
    kube::Config::incluster().map_or_else(|_| "kube-system".to_owned(), |config| config.default_namespace)
}

/// The host name, so that a restarted daemon has the same name as before. Two daemons on one host differ in their ports: a port
/// other than the default is added to the name, and the process id if there is no port.
fn default_replica_name(args: &Args) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().to_lowercase();
    let host: String = host.chars().filter(|letter| u8::try_from(*letter).is_ok_and(is_name_byte)).collect();
    let host = if host.is_empty() { "reserve-daemon" } else { &host };
    match args.serving.secure_port {
        0 => format!("{host}-{}", std::process::id()),
        serving::PORT => host.to_owned(),
        port => format!("{host}-{port}"),
    }
}
