//! Our own programs, built as they are now and started against a test's control plane.

use crate::control_plane::{Cluster, Program, User, workspace_dir};
use anyhow::{Context as _, Result, ensure};
use common::model::{OtherKind, OwnerKind};
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

/// Nodes, pods, every kind of workload, and every other kind.
const KINDS_WATCHED: usize = 2 + OwnerKind::ALL.len() + OtherKind::ALL.len();

const LISTED_MAX: Duration = Duration::from_secs(20);

/// A daemon at work. Ends with this value.
pub struct Daemon {
    program: Program,
}

impl Daemon {
    /// Starts a daemon with its own, least, rights for the pods of `scheduler_name`.
    pub async fn start(cluster: &Cluster, scheduler_name: &str) -> Result<Self> {
        cluster.install_roles().await?;
        let kubeconfig = cluster.kubeconfig(User::Daemon);
        let kubeconfig = kubeconfig.to_str().context("a path that is no text")?;
        let arguments = ["--kubeconfig", kubeconfig, "--scheduler-name", scheduler_name, "-v", "4"];
        let program = cluster.run_program("reserve-daemon", &build()?.join("reserve-daemon"), &arguments)?;
        let daemon = Self { program };
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

    /// What it has logged so far.
    pub fn log(&self) -> Result<String> {
        self.program.log()
    }
}

fn build_now() -> Result<PathBuf> {
    let test = std::env::current_exe().context("find the running test")?;
    // <target>/<profile>/deps/<test>, or <target>/<profile>/<program>
    let mut dirs = test.ancestors().skip(1).skip_while(|dir| dir.ends_with("deps"));
    let profile_dir = dirs.next().context("the test is not in a cargo target folder")?;
    let target_dir = profile_dir.parent().context("the test is not in a cargo target folder")?;
    let profile = match profile_dir.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let mut cargo = Command::new("cargo");
    // What cargo told this test about its own package would make some build scripts run, and their crates build, again.
    let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(own)) {
        cargo.env_remove(name);
    }
    let output = cargo
        .args(["build", "--workspace", "--bins", "--locked", "--quiet", "--profile", profile, "--target-dir"])
        .arg(target_dir)
        .current_dir(workspace_dir())
        .output()
        .context("run cargo")?;
    ensure!(output.status.success(), "build our programs: {}", String::from_utf8_lossy(&output.stderr));
    Ok(profile_dir.to_owned())
}
