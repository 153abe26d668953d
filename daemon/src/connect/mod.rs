//! How the API server is reached: whose credentials, how often, and who counts.
//!
//! Knows nothing of: what is said to it.

mod count;
mod limit;

pub use count::{Calls, Count};
pub use limit::Limit;

use crate::args::Args;
use anyhow::Context as _;
use common::config::ClientConnection;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The clients of one daemon.
#[derive(Clone)]
pub struct Clients {
    /// For everything else.
    pub work: kube::Client,
    /// For writes of reservations. Tenants can cause many of them, and bindings must not wait for those.
    pub reservations: kube::Client,
    /// For Leases, which must be renewed in time however much else is to be said.
    pub leases: kube::Client,
}

/// One for all, where nobody limits how much is said.
impl From<kube::Client> for Clients {
    fn from(client: kube::Client) -> Self {
        Self { work: client.clone(), reservations: client.clone(), leases: client }
    }
}

/// How the API server is reached.
#[derive(Debug, Clone)]
pub struct Connection {
    /// A file with credentials; `None`: the pod's own service account, else the usual kubeconfig.
    pub kubeconfig: Option<PathBuf>,
    /// The API server's address, whatever the kubeconfig says.
    pub master: Option<String>,
    /// How many requests may be made.
    pub limit: Limit,
}

impl Connection {
    /// What the arguments and the configuration's `clientConnection` come to.
    pub(crate) fn new(args: &Args, connection: &ClientConnection) -> Self {
        let kubeconfig = [Some(PathBuf::from(&connection.kubeconfig)), args.kubeconfig.clone()];
        Self {
            kubeconfig: kubeconfig.into_iter().flatten().find(|file| !file.as_os_str().is_empty()),
            master: args.master.clone().filter(|master| !master.is_empty()),
            limit: Limit::new(connection.qps, connection.burst),
        }
    }

    /// The same for whoever asks about the rights of others, as kube-scheduler does it. Without a file only the pod's
    /// own service account will do; `None` where this is no pod.
    pub fn for_reviews(&self, kubeconfig: Option<&PathBuf>) -> Option<Self> {
        if kubeconfig.is_none() && kube::Config::incluster().is_err() {
            return None;
        }
        Some(Self { kubeconfig: kubeconfig.cloned(), master: None, limit: Limit::new(200.0, 400) })
    }

    /// The clients of a daemon, each with its own share of requests.
    ///
    /// # Errors
    /// When there are no credentials, or they cannot be used.
    pub async fn clients<C: Calls + Clone + 'static>(&self, calls: &C) -> anyhow::Result<Clients> {
        let client = || self.client(Arc::new(calls.clone()));
        Ok(Clients { work: client().await?, reservations: client().await?, leases: client().await? })
    }

    /// A client that makes each call once. Retrying is decided where the meaning of a second call is known.
    ///
    /// # Errors
    /// When there are no credentials, or they cannot be used.
    pub async fn client(&self, calls: Arc<dyn Calls>) -> anyhow::Result<kube::Client> {
        let mut config = match &self.kubeconfig {
            Some(path) => from_file(path).await?,
            None => usual().await?,
        };
        if let Some(master) = &self.master {
            config.cluster_url = master.parse().with_context(|| format!("--master {master}"))?;
        }
        config.default_retry = false;
        let agent = concat!("reserve-daemon/", env!("CARGO_PKG_VERSION"));
        config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(agent)));
        let count = Count::new(calls, config.cluster_url.authority().map_or("", |host| host.as_str()));
        let builder = ClientBuilder::try_from(config).context("set up the connection to the API server")?;
        Ok(builder.with_layer(&count).with_layer(&self.limit.layer()).build())
    }
}

/// The pod's own service account, whose token kube reads again as it changes; else the kubeconfig of whoever started
/// us. A kubeconfig that is there but broken is an error: it must not make us act on another cluster.
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
