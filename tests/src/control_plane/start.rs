//! Starts a cluster: the options ([`ControlPlane`]), and the order in which the programs are started.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::{Api, Client};
use tokio::time::Instant;

use super::binaries::Binaries;
use super::cluster::Cluster;
use super::cluster_dir::{self, ClusterDir};
use super::components::{Component, Layout};
use super::credentials::Credentials;
use super::modules;
use super::process::{Process, Processes};
use super::settings::{self, tell};
use super::users::User;

/// A start that takes longer has failed.
const START_MAX: Duration = Duration::from_secs(120);
/// The limit for one check: another process that has taken the port may never answer.
const LOOK_MAX: Duration = Duration::from_secs(2);
const START_POLL: Duration = Duration::from_millis(50);
/// Another process may take a port between our finding it free and the program's using it.
const ATTEMPTS: usize = 3;
const PORT_TAKEN: &str = "address already in use";

/// The options of a control plane. Await this value to start it and get the [`Cluster`].
#[derive(Debug)]
#[must_use = "nothing starts before it is awaited"]
pub struct ControlPlane {
    pub(super) name: String,
    pub(super) kubelet_of: String,
    pub(super) plugin_dirs: Vec<PathBuf>,
    /// `None`: no kube-scheduler. An empty text: its defaults.
    scheduler: Option<String>,
    /// Whether only etcd and kube-apiserver run.
    is_bare: bool,
}

impl ControlPlane {
    /// A control plane for the test `name`: etcd, kube-apiserver, kube-controller-manager and kwok.
    ///
    /// Only as many clusters run at once as the machine has processors; the others wait for their turn. So a test must not hold one
    /// cluster while it starts a second.
    pub fn start(name: &str) -> Self {
        let (name, kubelet_of) = (name.to_owned(), "n1".to_owned());
        Self { name, kubelet_of, plugin_dirs: vec![], scheduler: None, is_bare: false }
    }

    /// Only etcd and kube-apiserver, for benchmarks: no controllers, no kubelets, no audit log. Pods have no ServiceAccount, and
    /// nodes keep the status that they are created with.
    pub fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }

    /// Adds the real kube-scheduler with its own defaults.
    pub fn with_scheduler(self) -> Self {
        self.with_scheduler_configuration("")
    }

    /// Adds the real kube-scheduler with parts of a `KubeSchedulerConfiguration` in YAML, such as `profiles` and `extenders`. The
    /// API version, the client connection and the leader election are added here.
    pub fn with_scheduler_configuration(mut self, yaml: &str) -> Self {
        self.scheduler = Some(yaml.to_owned());
        self
    }

    /// The node whose kubelet [`User::Kubelet`] is; `n1` by default.
    pub fn kubelet_of(mut self, node: &str) -> Self {
        self.kubelet_of = node.to_owned();
        self
    }

    /// A folder with kubectl plugins, such as ours, for the `PATH` of every client program.
    pub fn plugin_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.plugin_dirs.push(dir.into());
        self
    }

    async fn run(self) -> Result<Cluster> {
        let binaries = tokio::task::spawn_blocking(Binaries::locate).await.context("look for programs")??;
        let base = settings::clusters_dir();
        let turn = cluster_dir::turn(&base, "running", settings::clusters_at_once()).await?;
        // Starting two clusters at the same time takes longer than one after the other.
        let _starting = cluster_dir::turn(&base, "starting", 1).await?;
        let started = Instant::now();
        let mut cluster_dir = ClusterDir::take(&base, &self.name)?;
        cluster_dir.keep(turn);
        let (processes, credentials) = self.bring_up(&cluster_dir, &binaries).await?;
        let started_in = started.elapsed();
        tell(&format!("`{}` is up after {started_in:.1?}", self.name));
        warn_of_other_version(&credentials.client(User::Admin)?).await?;
        Cluster::new(self, cluster_dir, binaries, processes, credentials, started_in)
    }

    async fn bring_up(
        &self,
        cluster_dir: &ClusterDir,
        binaries: &Binaries,
    ) -> Result<(Processes, Credentials)> {
        for attempt in 1..=ATTEMPTS {
            match self.try_to_bring_up(cluster_dir, binaries).await {
                Err(error) if attempt < ATTEMPTS && format!("{error:#}").contains(PORT_TAKEN) => {
                    tell(&format!("`{}`: a port was taken meanwhile; trying others", self.name));
                    // An error is fine: if the port was etcd's own, there is no data.
                    let _ = fs::remove_dir_all(cluster_dir.join("etcd-data"));
                }
                result => {
                    return result.with_context(|| {
                        format!(
                            "start the control plane of `{}`; logs: {}",
                            self.name,
                            cluster_dir.dir.display()
                        )
                    });
                }
            }
        }
        bail!("no free ports after {ATTEMPTS} attempts");
    }

    async fn try_to_bring_up(
        &self,
        cluster_dir: &ClusterDir,
        binaries: &Binaries,
    ) -> Result<(Processes, Credentials)> {
        let [etcd_port, peer_port, api_port] = free_ports()?;
        let (dir, configuration) = (cluster_dir.dir.clone(), settings::source_dir());
        let layout = Layout { dir, configuration, etcd_port, peer_port, api_port };
        let credentials = Credentials::write(&layout.dir, api_port, &self.kubelet_of)?;
        let admin = credentials.client(User::Admin)?;
        let start =
            |component: &Component| Process::start(component, binaries.path(component.name)?, &layout.dir);

        let mut up = Processes::default();
        up.push(start(&layout.etcd())?);
        wait_for(&mut up, "etcd to listen", async || {
            Ok(tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, etcd_port)).await.map(drop)?)
        })
        .await?;
        let api_server = layout.api_server();
        up.push(start(&if self.is_bare { api_server.bare() } else { api_server.audited(&layout) })?);
        wait_for(&mut up, "kube-apiserver to be ready", async || readyz(&admin).await).await?;
        if self.is_bare {
            return Ok((up, credentials));
        }
        up.push(start(&layout.controller_manager())?);
        up.push(start(&layout.kwok())?);
        if let Some(yaml) = &self.scheduler {
            up.push(start(&self.scheduler(yaml, &layout)?)?);
        }
        // Every pod is refused until this ServiceAccount exists.
        let accounts: Api<ServiceAccount> = Api::namespaced(admin, "default");
        wait_for(&mut up, "the ServiceAccount `default`", async || {
            Ok(accounts.get("default").await.map(drop)?)
        })
        .await?;
        Ok((up, credentials))
    }

    fn scheduler(&self, yaml: &str, layout: &Layout) -> Result<Component> {
        if yaml.is_empty() {
            return Ok(layout.scheduler(None));
        }
        let kubeconfig = serde_json::Value::from(layout.kubeconfig(User::Scheduler));
        let file = layout.dir.join("scheduler.yaml");
        let head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration";
        let text = format!(
            "{head}\nclientConnection: {{kubeconfig: {kubeconfig}, qps: 1000, burst: 2000}}\nleaderElection: {{leaderElect: false}}\n{yaml}"
        );
        fs::write(&file, text).context("write the configuration of kube-scheduler")?;
        Ok(layout.scheduler(Some(&file)))
    }
}

impl IntoFuture for ControlPlane {
    type Output = Result<Cluster>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// Tries `check` until it succeeds, as long as all processes are alive.
async fn wait_for<F>(up: &mut Processes, what: &str, check: impl Fn() -> F) -> Result<()>
where
    F: Future<Output = Result<()>>,
{
    let started = Instant::now();
    loop {
        up.check_alive()?;
        let checked = tokio::time::timeout(LOOK_MAX, check()).await;
        match checked.unwrap_or_else(|_| Err(anyhow!("no answer in {LOOK_MAX:?}"))) {
            Ok(()) => return Ok(()),
            Err(error) if started.elapsed() > START_MAX => {
                return Err(error).with_context(|| format!("waited {START_MAX:?} for {what}"));
            }
            Err(_) => tokio::time::sleep(START_POLL).await,
        }
    }
}

/// An error unless the API server is ready.
pub(super) async fn readyz(client: &Client) -> Result<()> {
    let request = http::Request::get("/readyz").body(vec![]).context("ask for /readyz")?;
    client.request_text(request).await.map(drop).context("ask for /readyz")
}

/// Programs from `KUBEBUILDER_ASSETS` may have any version. That is allowed, but a message says so.
async fn warn_of_other_version(client: &Client) -> Result<()> {
    let (wanted, found) = (modules::kubernetes_version()?, client.apiserver_version().await?.git_version);
    if wanted != found {
        tell(&format!("kube-apiserver is {found}; the tests are written for {wanted}"));
    }
    Ok(())
}

/// Ports that were free a moment ago. They differ, because each stays bound until the last one is found.
fn free_ports<const N: usize>() -> Result<[u16; N]> {
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port on loopback")?;
        *port = listener.local_addr().context("find a free port on loopback")?.port();
        held.push(listener);
    }
    Ok(ports)
}
