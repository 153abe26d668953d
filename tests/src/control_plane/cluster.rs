//! A running cluster: its clients, waiting for something to become true, and its end.

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
use super::credentials::Credentials;
use super::place::Place;
use super::process::Processes;
use super::settings::tell;
use super::start::{ControlPlane, readyz};
use super::users::User;
use super::watched::Watched;

const RESTART_MAX: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(100);

/// A running control plane. Everything ends when this is dropped; logs stay until the test runs again.
pub struct Cluster {
    processes: Mutex<Processes>,
    pub(super) asked: ControlPlane,
    pub(super) binaries: Binaries,
    pub(super) credentials: Credentials,
    admin: Client,
    started_in: Duration,
    pub(super) watched: Watched,
    /// Whether the daemon has its rights.
    pub(super) roles: OnceCell<()>,
    /// Last, so that it is given back when everything has ended.
    place: Place,
}

impl Cluster {
    pub(super) fn new(
        asked: ControlPlane,
        place: Place,
        binaries: Binaries,
        processes: Processes,
        credentials: Credentials,
        started_in: Duration,
    ) -> Result<Self> {
        let admin = credentials.client(User::Admin)?;
        let processes = Mutex::new(processes);
        let watched = Watched::default();
        let roles = OnceCell::new();
        let cluster =
            Self { processes, asked, binaries, credentials, admin, started_in, watched, roles, place };
        cluster.link_clients()?;
        Ok(cluster)
    }

    /// How long the start took, programs at hand.
    pub fn started_in(&self) -> Duration {
        self.started_in
    }

    /// Folder with the logs, the audit log and everything else of this cluster.
    pub fn dir(&self) -> &Path {
        &self.place.dir
    }

    /// The kubeconfig file of a user.
    pub fn kubeconfig(&self, user: User) -> PathBuf {
        self.credentials.kubeconfig(user)
    }

    /// The name the API server knows a user by; the one the audit log shows.
    pub fn user_name(&self, user: User) -> String {
        user.name(&self.asked.kubelet_of)
    }

    /// A client that acts as `user`. It never retries by itself.
    ///
    /// # Errors
    /// When the client cannot be made.
    pub fn client(&self, user: User) -> Result<Client> {
        self.credentials.client(user)
    }

    /// The client all helpers use.
    pub fn admin(&self) -> Client {
        self.admin.clone()
    }

    /// Where the API server listens.
    ///
    /// # Errors
    /// When its address has none.
    pub fn api_port(&self) -> Result<u16> {
        self.credentials.port()
    }

    /// Kills the API server in the middle of whatever it does, starts it again and waits until it is ready.
    ///
    /// # Errors
    /// When it does not come back.
    pub async fn restart_api_server(&self) -> Result<()> {
        {
            let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
            let audit = self.place.join("audit.log");
            processes.restart("kube-apiserver", || Audit::give_up_unanswered(&audit))?;
        }
        self.wait_until("the API server is back", RESTART_MAX, async || readyz(&self.admin).await).await
    }

    /// Every write up to now whose answer has been sent, and who wrote.
    ///
    /// # Errors
    /// When the audit log cannot be read or understood.
    pub async fn audit(&self) -> Result<Audit> {
        Audit::read(&self.place.join("audit.log")).await
    }

    /// The programs that run for this cluster, with their process ids.
    pub fn processes(&self) -> Vec<(&'static str, u32)> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).ids()
    }

    /// Tries `check` until it answers `Ok`, which is then returned. Its error is what was seen instead:
    /// write `ensure!(pods.len() == 1, "{} pods", pods.len())` and a failure says so.
    ///
    /// # Errors
    /// When `limit` has passed, with what was waited for and what was seen last; or when a program of the
    /// control plane has died.
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

    /// `bin/` holds the clients under the names that people type.
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
        self.place.join("bin")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A second panic would hide the first.
        let checked = if std::thread::panicking() { Ok(()) } else { self.check_rules() };
        self.processes.get_mut().unwrap_or_else(PoisonError::into_inner).end();
        // Nobody reads the data later, and it is large. If it cannot be removed the next run will do it.
        let _ = fs::remove_dir_all(self.place.join("etcd-data"));
        if std::thread::panicking() {
            tell(&format!("`{}` failed; its logs are in {}", self.asked.name, self.place.dir.display()));
        }
        if let Err(error) = checked {
            panic!("{error:#}");
        }
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("name", &self.asked.name).field("dir", &self.place.dir).finish()
    }
}
