//! A proxy on loopback between one of our programs and the API server, which injects faults. So tests of faults run the shipped
//! programs.
//!
//! [`Proxy::start`] starts it, [`Proxy::kubeconfig`] points a program at it. It terminates TLS on both sides and looks at each
//! request. [`Rule`]s say which fault happens to which request, such as "the answer to the first binding is lost" or "the third
//! write never arrives, and from then on nothing does".

mod body;
mod rule;
mod serve;
mod tls;

pub use rule::{Fault, Rule, rule};

use crate::control_plane::{Cluster, User};
use anyhow::{Context as _, Result};
use rule::RequestInfo;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A running proxy. Dropping this value ends it.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

/// State shared by all connections.
struct Shared {
    upstream: u16,
    tls: tls::ProxyTls,
    rules: Mutex<Vec<Rule>>,
    writes: Mutex<Vec<String>>,
    /// true: nothing gets through.
    is_cut: watch::Sender<bool>,
    /// Whether watches are held, and a counter whose change ends all open watches.
    watches: watch::Sender<Watches>,
}

/// The state of all watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Watches {
    /// true: no line of a watch gets through, and no new watch begins.
    is_held: bool,
    /// How often all watches were ended.
    broken: u32,
}

impl Proxy {
    /// Starts a proxy in front of the API server of `cluster`.
    ///
    /// # Errors
    /// When the proxy cannot listen, or the certificates of the cluster cannot be read.
    #[expect(clippy::disallowed_methods, reason = "a task of the harness, which ends with its owner")]
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let tls = tls::ProxyTls::read(cluster.dir())?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listen on loopback")?;
        let port = listener.local_addr().context("listen on loopback")?.port();
        let shared = Arc::new(Shared {
            upstream: cluster.api_port()?,
            tls,
            rules: Mutex::default(),
            writes: Mutex::default(),
            is_cut: watch::Sender::new(false),
            watches: watch::Sender::default(),
        });
        let accepting = tokio::spawn(serve::accept(listener, Arc::clone(&shared)));
        Ok(Self { port, shared, accepting })
    }

    /// A kubeconfig file for `user` that leads through this proxy.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn kubeconfig(&self, cluster: &Cluster, user: User) -> Result<PathBuf> {
        let direct = cluster.kubeconfig(user);
        let text = std::fs::read_to_string(&direct).context("read a kubeconfig")?;
        let address = |port: u16| format!("https://127.0.0.1:{port}");
        let text = text.replace(&address(self.shared.upstream), &address(self.port));
        let path = direct.with_extension(format!("{}.kubeconfig", self.port));
        std::fs::write(&path, text).context("write a kubeconfig")?;
        Ok(path)
    }

    /// Adds a rule. The first rule that matches a request is applied to it.
    pub fn add(&self, rule: Rule) {
        lock(&self.shared.rules).push(rule);
    }

    /// How many requests had a fault so far.
    pub fn fault_count(&self) -> usize {
        lock(&self.shared.rules).iter().map(Rule::applied).sum()
    }

    /// Every write so far, as `<method> <path>`, without Leases and events.
    pub fn writes(&self) -> Vec<String> {
        lock(&self.shared.writes).clone()
    }

    /// Breaks all connections, and lets nothing through any more.
    pub fn cut(&self) {
        self.shared.is_cut.send_replace(true);
    }

    /// Whether nothing gets through.
    pub fn is_cut(&self) -> bool {
        *self.shared.is_cut.borrow()
    }

    /// Lets everything through again: no rules, nothing cut, no watch held.
    pub fn heal(&self) {
        lock(&self.shared.rules).clear();
        lock(&self.shared.writes).clear();
        self.shared.is_cut.send_replace(false);
        self.hold_watches(false);
    }

    /// true: holds back all lines of watches. false: lets them through again.
    pub fn hold_watches(&self, is_held: bool) {
        self.shared.watches.send_modify(|watches| watches.is_held = is_held);
    }

    /// Ends every open watch. While watches are held, new ones wait.
    pub fn break_watches(&self) {
        self.shared.watches.send_modify(|watches| watches.broken += 1);
    }

    /// Waits until a rule has cut everything.
    ///
    /// # Errors
    /// When that does not happen in time. The message lists the writes so far.
    pub async fn wait_until_cut(&self, limit: Duration) -> Result<()> {
        let mut is_cut = self.shared.is_cut.subscribe();
        let waited = tokio::time::timeout(limit, is_cut.wait_for(|is_cut| *is_cut)).await;
        let seen = || format!("waited {limit:?} for the fault; writes so far: {:?}", self.writes());
        waited.with_context(seen)?.context("the proxy ended").map(drop)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
        self.accepting.abort();
    }
}

impl Shared {
    /// The fault for a request, and whether the proxy is cut after it.
    fn judge(&self, request: &RequestInfo<'_>) -> Option<(Fault, bool)> {
        if request.is_counted() {
            lock(&self.writes).push(format!("{} {}", request.method, request.path));
        }
        lock(&self.rules).iter_mut().find_map(|rule| rule.judge(request))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
