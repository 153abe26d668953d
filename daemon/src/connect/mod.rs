//! Makes the clients for the API server: credentials, rate limit, and a counter of calls. Entry point: [`Connection::clients`].
//!
//! Must not know: what the calls are about.

mod calls;

pub use calls::{CallCounter, Limit};

use crate::args::Args;
use anyhow::Context as _;
use calls::CallLayer;
use common::config::ClientConnection;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone)]
pub struct Clients {
    /// For everything but reservations and Leases.
    pub work: kube::Client,
    /// For writes of reservations. Tenants can cause many of them, and bindings must not wait for them.
    pub reservations: kube::Client,
    /// For Leases, which must be renewed in time however many other calls there are.
    pub leases: kube::Client,
}

/// Uses one client for everything, where there is no rate limit.
impl From<kube::Client> for Clients {
    fn from(client: kube::Client) -> Self {
        Self { work: client.clone(), reservations: client.clone(), leases: client }
    }
}

#[derive(Debug, Clone)]
pub struct Connection {
    /// A kubeconfig file; `None`: the pod's own service account, else the default kubeconfig.
    pub kubeconfig: Option<PathBuf>,
    /// The API server's address, which overrides the kubeconfig.
    pub master: Option<String>,
    pub limit: Limit,
}

impl Connection {
    /// Combines the flags with the configuration's `clientConnection`, which goes first.
    pub(crate) fn new(args: &Args, connection: &ClientConnection) -> Self {
        let kubeconfig = [Some(PathBuf::from(&connection.kubeconfig)), args.kubeconfig.clone()];
        Self {
            kubeconfig: kubeconfig.into_iter().flatten().find(|file| !file.as_os_str().is_empty()),
            master: args.master.clone().filter(|master| !master.is_empty()),
            limit: Limit::new(connection.qps, connection.burst),
        }
    }

    /// The connection for TokenReviews and SubjectAccessReviews, as in kube-scheduler. Without a file only the pod's own service
    /// account is used; `None` if this process is not in a pod.
    pub fn for_reviews(&self, kubeconfig: Option<&PathBuf>) -> Option<Self> {
        if kubeconfig.is_none() && kube::Config::incluster().is_err() {
            return None;
        }
        Some(Self { kubeconfig: kubeconfig.cloned(), master: None, limit: Limit::new(200.0, 400) })
    }

    /// The clients of a daemon, each with its own rate limit.
    pub async fn clients<C: CallCounter + Clone + 'static>(&self, counter: &C) -> anyhow::Result<Clients> {
        let client = || self.client(Arc::new(counter.clone()));
        Ok(Clients { work: client().await?, reservations: client().await?, leases: client().await? })
    }

    /// A client that makes each call once. The caller decides whether to retry, because it knows what a second call means.
    pub async fn client(&self, counter: Arc<dyn CallCounter>) -> anyhow::Result<kube::Client> {
        let mut config = match &self.kubeconfig {
            Some(path) => from_file(path).await?,
            None => default_config().await?,
        };
        if let Some(master) = &self.master {
            config.cluster_url = master.parse().with_context(|| format!("--master {master}"))?;
        }
        config.default_retry = false;
        let agent = concat!("reserve-daemon/", env!("CARGO_PKG_VERSION"));
        config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(agent)));
        let host = config.cluster_url.authority().map_or("", |host| host.as_str());
        let calls = CallLayer::new(counter, host, self.limit);
        let builder = ClientBuilder::try_from(config).context("set up the connection to the API server")?;
        Ok(builder.with_layer(&calls).build())
    }
}

/// The pod's own service account, whose token kube reads again when it changes; else the user's default kubeconfig. A broken
/// kubeconfig is an error: it must not make the daemon act on another cluster.
async fn default_config() -> anyhow::Result<kube::Config> {
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
