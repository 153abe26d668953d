//! The programs that are compared, and how each is started.

use super::plan::BenchPlan;
use crate::control_plane::{Cluster, Program, User};
use crate::programs;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::PathBuf;

/// QPS and burst of both schedulers. A test checks that `manifests/daemon/config.yaml` has the same value, so that the measured
/// configuration is the installed one.
pub const REQUESTS_PER_SECOND: u32 = 5000;

/// A program that binds the pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The real kube-scheduler.
    Upstream,
    /// Our daemon.
    Ours,
    /// Binds each pod to the node of its number, without scheduling.
    Firehose,
}

impl Contender {
    /// Its name in the table and of its log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Upstream => "kube-scheduler",
            Self::Ours => "reserve-daemon",
            Self::Firehose => "bind-firehose",
        }
    }

    fn user(self) -> User {
        match self {
            Self::Ours => User::Daemon,
            Self::Upstream | Self::Firehose => User::Scheduler,
        }
    }

    /// Starts it. Both schedulers get the same configuration, and log at their default level.
    pub(super) async fn start(self, cluster: &Cluster, plan: &BenchPlan) -> Result<Program> {
        let kubeconfig = cluster.kubeconfig(self.user());
        let kubeconfig = kubeconfig.to_str().context("a path that is no text")?;
        if self == Self::Firehose {
            let this = std::env::current_exe().context("find this program")?;
            let numbers = [plan.nodes, plan.pods].map(|number| number.to_string());
            return cluster.run_program(
                self.name(),
                &this,
                &["firehose", kubeconfig, &numbers[0], &numbers[1]],
            );
        }
        let file = cluster.dir().join(format!("{}.yaml", self.name()));
        let quoted = serde_json::Value::from(kubeconfig);
        let configuration = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
             clientConnection: {{kubeconfig: {quoted}, qps: {REQUESTS_PER_SECOND}, burst: {REQUESTS_PER_SECOND}}}\n\
             leaderElection: {{leaderElect: false}}\nenableProfiling: false\nenableContentionProfiling: false\n"
        );
        fs::write(&file, configuration).context("write the configuration of a scheduler")?;
        let config = format!("--config={}", file.display());
        let program = match self {
            Self::Ours => our_daemon(cluster, plan).await?,
            _ => cluster.program(self.name())?.to_owned(),
        };
        // Nothing reads their health or metrics.
        cluster.run_program(self.name(), &program, &[&config, "--secure-port=0"])
    }
}

async fn our_daemon(cluster: &Cluster, plan: &BenchPlan) -> Result<PathBuf> {
    cluster.install_roles().await?;
    match &plan.daemon {
        Some(daemon) => std::path::absolute(daemon).context("find the daemon"),
        None => Ok(programs::build()?.join("reserve-daemon")),
    }
}
