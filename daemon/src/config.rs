//! What is meant: arguments that were checked, and every limit and interval with its reason.

use crate::args::Args;
use anyhow::{Context, bail};
use common::model::ids::Text;
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
    /// The names of the schedulers that this daemon is.
    pub scheduler_names: Vec<Text>,
    kubeconfig: Option<PathBuf>,
}

impl TryFrom<Args> for Config {
    type Error = anyhow::Error;

    fn try_from(args: Args) -> anyhow::Result<Self> {
        for name in &args.scheduler_names {
            check_scheduler_name(name)?;
        }
        let scheduler_names = args.scheduler_names.into_iter().map(Text::from).collect();
        Ok(Self { scheduler_names, kubeconfig: args.kubeconfig })
    }
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
        bail!("--scheduler-name {name:?}: a scheduler name has up to 63 characters of a-z, 0-9, '-' and '.'");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Args, Config};
    use clap::Parser;

    fn config(arguments: &[&str]) -> anyhow::Result<Config> {
        Config::try_from(Args::try_parse_from([&["reserve-daemon"], arguments].concat())?)
    }

    #[test]
    fn without_arguments_it_is_the_reserve_scheduler() {
        assert_eq!(*config(&[]).unwrap().scheduler_names, ["reserve-scheduler".into()]);
    }

    #[test]
    fn it_can_have_several_names() {
        let names = config(&["--scheduler-name=a", "--scheduler-name", "b"]).unwrap().scheduler_names;
        assert_eq!(*names, ["a".into(), "b".into()]);
    }

    #[test]
    fn a_name_that_no_pod_can_have_is_refused() {
        let long = "x".repeat(64);
        for name in ["", "A", "a b", "a/b", "a\0", &long] {
            let error = config(&["--scheduler-name", name]).unwrap_err().to_string();
            assert!(error.contains("--scheduler-name"), "{error}");
        }
    }

    #[test]
    fn log_levels_follow_the_verbosity() {
        let level = |verbosity: &str| Args::parse_from(["reserve-daemon", "-v", verbosity]).log_level();
        assert_eq!([level("0"), level("2"), level("4"), level("9")], ["warn", "info", "debug", "trace"]);
    }
}
