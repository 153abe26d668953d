//! Our own programs, built as they are now and started against a test's control plane.

use crate::control_plane::{Cluster, Program, User, workspace_dir};
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use common::model::{OtherKind, OwnerKind};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// Builds `reserve-daemon` and `kubectl-reserve` next to the test that asks, and returns their folder. Done by cargo,
/// so that no test ever runs yesterday's program.
pub fn build() -> Result<&'static Path> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| build_now().map_err(|error| format!("{error:#}")));
    built.as_deref().map_err(|error| anyhow::anyhow!("{error}"))
}

/// A file of the example for a seed: `example("001-node-label", "scheduler.yaml")`.
pub fn example(seed: &str, file: &str) -> PathBuf {
    workspace_dir().join("manifests").join("examples").join(seed).join(file)
}

/// Nodes, pods, every kind of workload, and every other kind.
const KINDS_WATCHED: usize = 2 + OwnerKind::ALL.len() + OtherKind::ALL.len();

/// How the daemon's log says what came of a comparison of its belief with the API server, and that something differs.
const COMPARED: &str = "compared with the API server: ";
const DIFFERENT: &str = "compared with the API server: different";
/// A daemon that stands still, or whose proxy loses everything, does not answer.
const COMPARED_MAX: Duration = Duration::from_secs(10);
const COMPARED_POLL: Duration = Duration::from_millis(20);

const LISTED_MAX: Duration = Duration::from_secs(60);
const SEEN_MAX: Duration = Duration::from_secs(60);

/// A daemon at work. Ends with this value; before that it compares what it believes with the API server.
pub struct Daemon {
    program: Program,
    is_killed: bool,
}

/// A daemon to be started.
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
    /// What its log is called, when there are several.
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// With this `KubeSchedulerConfiguration`.
    pub fn configuration(mut self, file: PathBuf) -> Self {
        self.configuration = Some(file);
        self
    }

    /// For the pods of this name, too; with a configuration, which must name it itself.
    pub fn serves(mut self, scheduler_name: &str) -> Self {
        self.scheduler_names.push(scheduler_name.to_owned());
        self
    }

    /// Through a proxy, or as somebody else.
    pub fn kubeconfig(mut self, path: PathBuf) -> Self {
        self.kubeconfig = Some(path);
        self
    }

    /// With an election. Most tests have one daemon, which need not wait until the Lease of one that was killed ends.
    pub fn elects(mut self) -> Self {
        self.elects = true;
        self
    }

    /// One more argument.
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Starts it with its own, least, rights, and waits until it has listed everything.
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
        // From now on everything reaches it by its watches, as it mostly does in the life of a daemon.
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
        // Several daemons of several tests run on one machine; who wants health and metrics says where.
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
    /// Starts a daemon with its own, least, rights for the pods of `scheduler_name`.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn start(cluster: &Cluster, scheduler_name: &str) -> Result<Self> {
        daemon(scheduler_name).start(cluster).await
    }

    /// What it has logged so far.
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

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.program.has_ended()
    }

    /// Kills it as a power cut would.
    ///
    /// # Errors
    /// When it does not die.
    pub fn kill(mut self) -> Result<()> {
        self.is_killed = true;
        self.program.kill()
    }

    /// Lets it compare what it believes with the API server, and waits for the answer. Says whether there was one: a daemon that
    /// has ended, stands still or is cut off does not answer. It blocks.
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

/// Reserves so much CPU of a node for an owner in the plain form, or releases it, and waits until the daemon has seen that.
///
/// # Errors
/// When the API server refuses, or the daemon does not see it.
pub async fn reserve(cluster: &Cluster, on: &str, owner: &str, cpu: Option<&str>) -> Result<()> {
    cluster.annotate_node(on, &format!("{}/{owner}", names::CPU), cpu).await?;
    seen(cluster, on).await
}

/// Waits until the daemon has seen a node as it is now: pods reach it by another watch, and may do so before.
///
/// # Errors
/// When there is no such node, or the daemon does not see it.
pub async fn seen(cluster: &Cluster, node: &str) -> Result<()> {
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

/// cargo, as somebody would run it in the repository. What it told this test about its own package would make some build
/// scripts run, and their crates build, again.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(own)) {
        cargo.env_remove(name);
    }
    cargo.current_dir(workspace_dir());
    cargo
}
