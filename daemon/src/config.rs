//! What is meant: arguments that were checked, and every limit and interval with its reason.

use crate::args::Args;
use crate::trace;
use anyhow::{Context, bail};
use common::api::names::SCHEDULER_NAME;
use common::config::{Configuration, load};
use common::plugins::{Tools, unserved};
use kube::config::{KubeConfigOptions, Kubeconfig};
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

/// A scheduler's name also reports events, where the API server takes no longer one.
const SCHEDULER_NAME_LEN_MAX: usize = 63;

/// A checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The scheduler that this daemon is; a profile for each of its names.
    pub scheduler: Configuration,
    /// What the configuration file is to be told off for.
    pub warnings: Vec<String>,
    /// What was brought along: plugins that the configuration may name, and who listens to Trace.
    pub tools: Tools,
    /// Where this daemon and its Leases live.
    pub namespace: String,
    /// What this replica is called; part of a Lease's name.
    pub replica: String,
    kubeconfig: Option<PathBuf>,
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
        let namespace = args.namespace.unwrap_or_else(home);
        let (mut scheduler, warnings) = match &args.config {
            Some(file) => from_config_file(file, &tools)?,
            None => (named(&args.scheduler_names), Vec::new()),
        };
        let election = &mut scheduler.leader_election;
        election.leader_elect = args.leader_elect.unwrap_or(election.leader_elect);
        if args.config.is_none() {
            election.resource_namespace = namespace.clone();
            election.resource_name = common::api::names::LEADER_LEASE.to_owned();
        }
        let replica = args.replica_name.unwrap_or_else(|| format!("daemon-{}", std::process::id()));
        check_served(&scheduler)?;
        for profile in &scheduler.profiles {
            check_scheduler_name(&profile.scheduler_name)?;
        }
        Ok(Self { scheduler, warnings, tools, namespace, replica, kubeconfig: args.kubeconfig })
    }
}

/// The namespace of the service account, if this is a pod; else where kube-scheduler lives.
fn home() -> String {
    kube::Config::incluster().map_or_else(|_| "kube-system".to_owned(), |config| config.default_namespace)
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
    let mut unserved: Vec<String> = scheduler.profiles.iter().flat_map(unserved).collect();
    if !scheduler.extenders.is_empty() {
        unserved.push("extenders".into());
    }
    if !unserved.is_empty() {
        bail!("the configuration asks for what is not served yet: {}", unserved.join(", "));
    }
    Ok(())
}

impl Config {
    /// A client that makes each call once. Retrying is decided where the meaning of a second call is known.
    pub async fn client(&self) -> anyhow::Result<kube::Client> {
        let mut config = match &self.kubeconfig {
            Some(path) => from_file(path).await?,
            None => usual().await?,
        };
        config.default_retry = false;
        let agent = concat!("reserve-daemon/", env!("CARGO_PKG_VERSION"));
        config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(agent)));
        kube::Client::try_from(config).context("set up the connection to the API server")
    }
}

/// The pod's own service account, else the kubeconfig of whoever started us. A kubeconfig that is there but broken is an
/// error: it must not make us act on another cluster.
async fn usual() -> anyhow::Result<kube::Config> {
    match kube::Config::incluster() {
        Ok(config) => Ok(config),
        Err(_) => kube::Config::from_kubeconfig(&KubeConfigOptions::default())
            .await
            .context("find a cluster; pass --kubeconfig FILE"),
    }
}

async fn from_file(path: &Path) -> anyhow::Result<kube::Config> {
    let kubeconfig =
        Kubeconfig::read_from(path).with_context(|| format!("read kubeconfig {}", path.display()))?;
    kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .with_context(|| format!("use kubeconfig {}", path.display()))
}

fn check_scheduler_name(name: &str) -> anyhow::Result<()> {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
    if name.is_empty() || name.len() > SCHEDULER_NAME_LEN_MAX || !name.bytes().all(allowed) {
        bail!("schedulerName {name:?}: a scheduler name has up to 63 characters of a-z, 0-9, '-' and '.'");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Args, Config, trace};
    use clap::Parser;
    use common::config::Point;
    use common::plugins::Kit;

    fn config(arguments: &[&str]) -> anyhow::Result<Config> {
        Config::try_from(Args::try_parse_from([&["reserve-daemon"], arguments].concat())?)
    }

    fn names(config: &Config) -> Vec<&str> {
        config.scheduler.profiles.iter().map(|profile| profile.scheduler_name.as_str()).collect()
    }

    /// What the daemon makes of a configuration file with this text.
    fn from_text(text: &str) -> anyhow::Result<Config> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("scheduler.yaml");
        std::fs::write(&file, text).unwrap();
        config(&["--config", file.to_str().unwrap()])
    }

    const HEAD: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

    #[test]
    fn without_arguments_it_is_the_reserve_scheduler() {
        assert_eq!(names(&config(&[]).unwrap()), ["reserve-scheduler"]);
    }

    #[test]
    fn it_can_have_several_names() {
        assert_eq!(names(&config(&["--scheduler-name=a", "--scheduler-name", "b"]).unwrap()), ["a", "b"]);
    }

    #[test]
    fn a_file_names_the_profiles() {
        let text = format!("{HEAD}profiles: [{{schedulerName: a}}, {{schedulerName: b}}]");
        assert_eq!(names(&from_text(&text).unwrap()), ["a", "b"]);
        assert!(config(&["--config", "x", "--scheduler-name", "a"]).is_err(), "not both");
    }

    #[test]
    fn a_file_that_cannot_be_followed_is_refused_with_its_name() {
        let typo = from_text(&format!("{HEAD}profile: []")).unwrap_err().to_string();
        assert!(typo.contains("scheduler.yaml") && typo.contains("profiles"), "{typo}");
        let extender = format!("{HEAD}extenders: [{{urlPrefix: 'http://127.0.0.1:1', filterVerb: filter}}]");
        let error = from_text(&extender).unwrap_err().to_string();
        assert_eq!(error, "the configuration asks for what is not served yet: extenders");
        assert!(config(&["--config", "/no/such/file"]).unwrap_err().to_string().contains("/no/such/file"));
    }

    #[test]
    fn a_name_that_no_pod_can_have_is_refused() {
        let long = "x".repeat(64);
        for name in ["", "A", "a b", "a/b", "a\0", &long] {
            let error = config(&["--scheduler-name", name]).unwrap_err().to_string();
            assert!(error.contains("schedulerName"), "{error}");
        }
    }

    #[test]
    fn a_file_can_name_a_plugin_that_was_brought_along() {
        let text = format!("{HEAD}profiles: [{{plugins: {{filter: {{enabled: [{{name: Mine}}]}}}}}}]");
        let error = from_text(&text).unwrap_err().to_string();
        assert!(error.contains("\"Mine\" is not a plugin"), "{error}");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("scheduler.yaml");
        std::fs::write(&file, text).unwrap();
        let args = Args::parse_from(["reserve-daemon", "--config", file.to_str().unwrap()]);
        let tools = trace::tools().plugin("Mine", &[Point::Filter], |_| Ok(Kit::default()));
        assert!(Config::new(args, tools).unwrap().scheduler.profiles[0].runs("Mine"));
    }

    #[test]
    fn log_levels_follow_the_verbosity() {
        let level = |verbosity: &str| Args::parse_from(["reserve-daemon", "-v", verbosity]).log_level();
        assert_eq!([level("0"), level("2"), level("4"), level("9")], ["warn", "info", "debug", "trace"]);
    }
}
