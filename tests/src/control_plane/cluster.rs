//! A running cluster: its clients, waiting for a condition ([`Cluster::wait_until`]), and its end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use kube::Client;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::audit::Audit;
use super::binaries::Binaries;
use super::cluster_dir::ClusterDir;
use super::credentials::Credentials;
use super::process::Processes;
use super::rule_check::RuleCheck;
use super::settings::tell;
use super::start::{ControlPlane, readyz};
use super::users::User;

const RESTART_MAX: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(100);

/// A running control plane. Everything ends when this is dropped; logs stay until the test runs again.
pub struct Cluster {
    processes: Mutex<Processes>,
    pub(super) spec: ControlPlane,
    pub(super) binaries: Binaries,
    pub(super) credentials: Credentials,
    admin: Client,
    started_in: Duration,
    pub(super) rule_check: RuleCheck,
    /// Set once the daemon's roles are installed.
    pub(super) roles: OnceCell<()>,
    /// The last field, so that its locks are released when everything has ended.
    cluster_dir: ClusterDir,
}

impl Cluster {
    pub(super) fn new(
        spec: ControlPlane,
        cluster_dir: ClusterDir,
        binaries: Binaries,
        processes: Processes,
        credentials: Credentials,
        started_in: Duration,
    ) -> Result<Self> {
        let admin = credentials.client(User::Admin)?;
        let processes = Mutex::new(processes);
        let rule_check = RuleCheck::default();
        let roles = OnceCell::new();
        let cluster = Self {
            processes,
            spec,
            binaries,
            credentials,
            admin,
            started_in,
            rule_check,
            roles,
            cluster_dir,
        };
        cluster.link_clients()?;
        Ok(cluster)
    }

    /// How long the start took, without building programs.
    pub fn started_in(&self) -> Duration {
        self.started_in
    }

    /// Folder with the logs, the audit log and everything else of this cluster.
    pub fn dir(&self) -> &Path {
        &self.cluster_dir.dir
    }

    /// The kubeconfig file of a user.
    pub fn kubeconfig(&self, user: User) -> PathBuf {
        self.credentials.kubeconfig(user)
    }

    /// The name of a user in the API server and in its audit log.
    pub fn user_name(&self, user: User) -> String {
        user.name(&self.spec.kubelet_of)
    }

    /// A client that acts as `user`. It never retries by itself.
    ///
    /// # Errors
    /// When the client cannot be made.
    pub fn client(&self, user: User) -> Result<Client> {
        self.credentials.client(user)
    }

    /// The admin's client, which all helpers use.
    pub fn admin(&self) -> Client {
        self.admin.clone()
    }

    /// The port of the API server.
    ///
    /// # Errors
    /// When its address has no port.
    pub fn api_port(&self) -> Result<u16> {
        self.credentials.port()
    }

    /// Kills the API server with SIGKILL, starts it again and waits until it is ready.
    ///
    /// # Errors
    /// When it does not come back.
    pub async fn restart_api_server(&self) -> Result<()> {
        {
            let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
            let audit = self.cluster_dir.join("audit.log");
            processes.restart("kube-apiserver", || Audit::give_up_unanswered(&audit))?;
        }
        self.wait_until("the API server is back", RESTART_MAX, async || readyz(&self.admin).await).await
    }

    /// Every write that was received so far, once it is answered.
    ///
    /// # Errors
    /// When the audit log cannot be read or understood.
    pub async fn audit(&self) -> Result<Audit> {
        Audit::read(&self.cluster_dir.join("audit.log")).await
    }

    /// The programs that run for this cluster, with their process ids.
    pub fn processes(&self) -> Vec<(&'static str, u32)> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).ids()
    }

    /// Calls `check` until it returns `Ok`, and returns that value. The error of `check` describes the current state: write
    /// `ensure!(pods.len() == 1, "{} pods", pods.len())`, and a timeout reports the last state.
    ///
    /// # Errors
    /// When `limit` has passed, with `what` and the last error of `check`; or when a program of the control plane has ended.
    pub async fn wait_until<T>(
        &self,
        what: &str,
        limit: Duration,
        mut check: impl AsyncFnMut() -> Result<T>,
    ) -> Result<T> {
        let started = Instant::now();
        let mut seen = anyhow!("nothing: the first look did not end in time");
        loop {
            self.check_alive()?;
            match tokio::time::timeout_at(started + limit, check()).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(error)) => seen = error,
                Err(_) => {}
            }
            if started.elapsed() >= limit {
                let logs = self.dir().display();
                return Err(anyhow!("waited {limit:?} until {what}; last seen: {seen:#}\nlogs: {logs}"));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    fn check_alive(&self) -> Result<()> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).check_alive()
    }

    /// Links the clients into `bin/` under the names that users type.
    fn link_clients(&self) -> Result<()> {
        let bin = self.bin_dir();
        fs::create_dir_all(&bin).context("create the folder for clients")?;
        for (program, name) in [("kubectl", "kubectl"), ("krew", "kubectl-krew")] {
            std::os::unix::fs::symlink(self.binaries.path(program)?, bin.join(name))
                .with_context(|| format!("link {name}"))?;
        }
        Ok(())
    }

    /// The folder with `kubectl` and `kubectl-krew`.
    pub fn bin_dir(&self) -> PathBuf {
        self.cluster_dir.join("bin")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A second panic would hide the first.
        let checked = if std::thread::panicking() { Ok(()) } else { self.check_rules() };
        self.processes.get_mut().unwrap_or_else(PoisonError::into_inner).end();
        // The data is large, and not needed any more. If it cannot be removed now, the next run removes it.
        let _ = fs::remove_dir_all(self.cluster_dir.join("etcd-data"));
        if std::thread::panicking() {
            tell(&format!("`{}` failed; its logs are in {}", self.spec.name, self.cluster_dir.dir.display()));
        }
        if let Err(error) = checked {
            panic!("{error:#}");
        }
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("name", &self.spec.name).field("dir", &self.cluster_dir.dir).finish()
    }
}
