//! Our own programs for tests: [`build()`] compiles them, [`daemon()`] starts one against a test's control plane.

use crate::control_plane::{Cluster, Program, User, workspace_dir};
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use common::model::{CatalogKind, OwnerKind};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// Builds `reserve-daemon` and `kubectl-reserve` into the target folder of the running test, and returns that folder. cargo
/// builds them on each run, so that no test runs an outdated program.
pub fn build() -> Result<&'static Path> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| build_now().map_err(|error| format!("{error:#}")));
    built.as_deref().map_err(|error| anyhow::anyhow!("{error}"))
}

/// A file of the example for a seed: `example("001-node-label", "scheduler.yaml")`.
pub fn example(seed: &str, file: &str) -> PathBuf {
    workspace_dir().join("manifests").join("examples").join(seed).join(file)
}

/// How many kinds the daemon lists at its start: nodes, pods, every kind of workload, and every other kind.
const KINDS_WATCHED: usize = 2 + OwnerKind::ALL.len() + CatalogKind::ALL.len();

/// The daemon's log line for the result of a comparison with the API server, and the beginning of the line for a difference.
const COMPARED: &str = "compared with the API server: ";
const DIFFERENT: &str = "compared with the API server: different";
/// How long to wait for a comparison: a daemon that is stopped, or cut off by its proxy, does not answer.
const COMPARED_MAX: Duration = Duration::from_secs(10);
const COMPARED_POLL: Duration = Duration::from_millis(20);

const LISTED_MAX: Duration = Duration::from_secs(60);
const SEEN_MAX: Duration = Duration::from_secs(60);

/// A running daemon. Dropping this value compares the daemon's state with the API server and ends the process.
pub struct Daemon {
    program: Program,
    is_killed: bool,
}

/// The settings of a daemon before its start.
#[derive(Clone, Debug)]
#[must_use = "nothing starts before start()"]
pub struct DaemonShape {
    name: &'static str,
    scheduler_names: Vec<String>,
    configuration: Option<PathBuf>,
    kubeconfig: Option<PathBuf>,
    arguments: Vec<String>,
    elects: bool,
}

/// A daemon for the pods of `scheduler_name`.
pub fn daemon(scheduler_name: &str) -> DaemonShape {
    DaemonShape {
        name: "reserve-daemon",
        scheduler_names: vec![scheduler_name.to_owned()],
        configuration: None,
        kubeconfig: None,
        arguments: vec![],
        elects: false,
    }
}

impl DaemonShape {
    /// The name of its replica and of its log, for tests with several daemons.
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// With this `KubeSchedulerConfiguration`.
    pub fn configuration(mut self, file: PathBuf) -> Self {
        self.configuration = Some(file);
        self
    }

    /// Also for pods of this scheduler name. Only with a configuration, which must name it as well.
    pub fn serves(mut self, scheduler_name: &str) -> Self {
        self.scheduler_names.push(scheduler_name.to_owned());
        self
    }

    /// With this kubeconfig: through a proxy, or as another user.
    pub fn kubeconfig(mut self, path: PathBuf) -> Self {
        self.kubeconfig = Some(path);
        self
    }

    /// With leader election. The default is without: most tests have one daemon, and need not wait until the Lease of a killed
    /// one ends.
    pub fn elects(mut self) -> Self {
        self.elects = true;
        self
    }

    /// One more argument.
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Starts the daemon with the roles of its manifests, and waits until it has listed everything.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn start(self, cluster: &Cluster) -> Result<Daemon> {
        cluster.install_roles().await?;
        let names: Vec<&str> = self.scheduler_names.iter().map(String::as_str).collect();
        cluster.record(User::Daemon, &names).await?;
        let program = cluster.run_program(
            self.name,
            &build()?.join("reserve-daemon"),
            &self.command_line(cluster)?.iter().map(String::as_str).collect::<Vec<_>>(),
        )?;
        let daemon = Daemon { program, is_killed: false };
        // From now on every change reaches the daemon by its watches.
        cluster
            .wait_until("the daemon has listed everything", LISTED_MAX, async || {
                let listed = daemon.log()?.matches("listed what=").count();
                ensure!(listed >= KINDS_WATCHED, "{listed} kinds listed:\n{}", daemon.log()?);
                Ok(())
            })
            .await?;
        Ok(daemon)
    }

    fn command_line(&self, cluster: &Cluster) -> Result<Vec<String>> {
        let kubeconfig = self.kubeconfig.clone().unwrap_or_else(|| cluster.kubeconfig(User::Daemon));
        let mut arguments = vec![format!("--kubeconfig={}", kubeconfig.display()), "-v=4".to_owned()];
        arguments.push(format!("--leader-elect={}", self.elects));
        arguments.push(format!("--replica-name={}", self.name));
        // Daemons of several tests run on one machine: without a port of their own they serve no health and metrics.
        if !self.arguments.iter().any(|argument| argument.starts_with("--secure-port")) {
            arguments.push("--secure-port=0".to_owned());
        }
        match &self.configuration {
            None => {
                arguments.extend(self.scheduler_names.iter().map(|name| format!("--scheduler-name={name}")));
            }
            Some(file) => arguments.push(format!("--config={}", file.display())),
        }
        arguments.extend(self.arguments.iter().cloned());
        Ok(arguments)
    }
}

impl Daemon {
    /// Starts a daemon for the pods of `scheduler_name`, with the roles of its manifests.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn start(cluster: &Cluster, scheduler_name: &str) -> Result<Self> {
        daemon(scheduler_name).start(cluster).await
    }

    /// The log so far.
    pub fn log(&self) -> Result<String> {
        self.program.log()
    }

    /// Sends it a signal, such as `STOP`.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub fn signal(&self, name: &str) -> Result<()> {
        self.program.signal(name)
    }

    /// Whether the process has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.program.has_ended()
    }

    /// Kills the daemon with SIGKILL, without a comparison.
    ///
    /// # Errors
    /// When the process does not end.
    pub fn kill(mut self) -> Result<()> {
        self.is_killed = true;
        self.program.kill()
    }

    /// Makes the daemon compare its state with the API server (SIGUSR2), and waits for the result. false: there was none, because
    /// the daemon has ended, is stopped or is cut off. This call blocks.
    ///
    /// # Errors
    /// When this or an earlier comparison found a difference.
    pub fn check_belief(&self) -> Result<bool> {
        let said = |log: &str| log.matches(COMPARED).count();
        let before = said(&self.log()?);
        let mut waited = if self.signal("USR2").is_ok() { Duration::ZERO } else { COMPARED_MAX };
        while waited < COMPARED_MAX && said(&self.log()?) == before {
            std::thread::sleep(COMPARED_POLL);
            waited += COMPARED_POLL;
        }
        let log = self.log()?;
        let different: Vec<&str> = log.lines().filter(|line| line.contains(DIFFERENT)).collect();
        ensure!(different.is_empty(), "a daemon believes what is not so:\n{}", different.join("\n"));
        Ok(said(&log) > before)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A second panic would hide the first.
        if self.is_killed || std::thread::panicking() {
            return;
        }
        if let Err(error) = self.check_belief() {
            panic!("{error:#}");
        }
    }
}

/// Reserves `cpu` on a node for an owner in the plain form (`None`: releases it), and waits until the daemon has seen that.
///
/// # Errors
/// When the API server refuses, or the daemon does not see it.
pub async fn reserve(cluster: &Cluster, on: &str, owner: &str, cpu: Option<&str>) -> Result<()> {
    cluster.annotate_node(on, &format!("{}/{owner}", names::CPU), cpu).await?;
    wait_until_seen(cluster, on).await
}

/// Waits until the daemon has seen the current version of a node: pods reach the daemon by another watch, maybe earlier.
///
/// # Errors
/// When there is no such node, or the daemon does not see it.
pub async fn wait_until_seen(cluster: &Cluster, node: &str) -> Result<()> {
    let version: u64 = cluster.node(node).await?.metadata.resource_version.context("no version")?.parse()?;
    let leases: Api<Lease> = Api::namespaced(cluster.admin(), "kube-system");
    cluster
        .wait_until("the daemon has seen it", SEEN_MAX, async || {
            let lease = leases.get("reserve-reserve-daemon").await?;
            let seen = lease.metadata.annotations.and_then(|all| all.get(names::SEEN_NODES).cloned());
            let seen: u64 = seen.context("nothing seen")?.parse()?;
            ensure!(seen >= version, "{seen} of {version}");
            Ok(())
        })
        .await
}

/// `<target>/<profile>` of the running test `<target>/<profile>/deps/<test>`, or program `<target>/<profile>/<program>`.
fn profile_dir() -> Result<PathBuf> {
    let test = std::env::current_exe().context("find the running test")?;
    let mut dirs = test.ancestors().skip(1).skip_while(|dir| dir.ends_with("deps"));
    let profile_dir = dirs.next().context("the test is not in a cargo target folder")?;
    Ok(profile_dir.to_owned())
}

fn build_now() -> Result<PathBuf> {
    let profile_dir = profile_dir()?;
    let target_dir = profile_dir.parent().context("the test is not in a cargo target folder")?;
    let profile = match profile_dir.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let output = cargo()
        .args(["build", "--workspace", "--bins", "--locked", "--quiet", "--profile", profile, "--target-dir"])
        .arg(target_dir)
        .output()
        .context("run cargo")?;
    ensure!(output.status.success(), "build our programs: {}", String::from_utf8_lossy(&output.stderr));
    Ok(profile_dir)
}

/// cargo, as if run from a shell in the repository. The variables that cargo sets for this test would make some build scripts run
/// again, and rebuild their crates.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(own)) {
        cargo.env_remove(name);
    }
    cargo.current_dir(workspace_dir());
    cargo
}
