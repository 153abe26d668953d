//! A proxy on loopback between a program of ours and the API server, for everything that can go wrong on the way.
//!
//! It ends TLS on both sides and looks at each request. What it does is said by [`Rule`]s, such as "the answer to the
//! first binding is lost" or "the third write never arrives, and from then on nothing does": whatever happens to a
//! daemon happens to the one that is shipped.

mod body;
mod rule;
mod serve;
mod tls;

pub use rule::{Fault, Rule, rule};

use crate::control_plane::{Cluster, User};
use anyhow::{Context as _, Result};
use rule::Request;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A running proxy. It ends with this value.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

/// What all connections look at.
struct Shared {
    upstream: u16,
    tls: tls::Ends,
    rules: Mutex<Vec<Rule>>,
    writes: Mutex<Vec<String>>,
    /// Nothing gets through.
    is_cut: watch::Sender<bool>,
    /// What watches wait for; each change of the number breaks those that are open.
    watches: watch::Sender<Watches>,
}

/// What becomes of watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Watches {
    /// No line of them gets through, and no new one begins.
    is_held: bool,
    /// How often they were broken.
    broken: u32,
}

impl Proxy {
    /// Starts one before the API server of `cluster`.
    ///
    /// # Errors
    /// When it cannot listen, or the certificates of the cluster cannot be read.
    #[expect(clippy::disallowed_methods, reason = "a task of the harness, which ends with its owner")]
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let tls = tls::Ends::read(cluster.dir())?;
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
    /// When it cannot be written.
    pub fn kubeconfig(&self, cluster: &Cluster, user: User) -> Result<PathBuf> {
        let direct = cluster.kubeconfig(user);
        let text = std::fs::read_to_string(&direct).context("read a kubeconfig")?;
        let address = |port: u16| format!("https://127.0.0.1:{port}");
        let text = text.replace(&address(self.shared.upstream), &address(self.port));
        let path = direct.with_extension(format!("{}.kubeconfig", self.port));
        std::fs::write(&path, text).context("write a kubeconfig")?;
        Ok(path)
    }

    /// From now on this happens, too. The first rule that speaks about a request is the one that counts.
    pub fn add(&self, rule: Rule) {
        lock(&self.shared.rules).push(rule);
    }

    /// How often rules have struck so far.
    pub fn struck(&self) -> usize {
        lock(&self.shared.rules).iter().map(Rule::struck).sum()
    }

    /// Every write that came along so far, as `<method> <path>`, Leases and events left out.
    pub fn writes(&self) -> Vec<String> {
        lock(&self.shared.writes).clone()
    }

    /// Breaks all connections, and lets none through any more.
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

    /// Holds all lines of watches back, or lets them go.
    pub fn hold_watches(&self, is_held: bool) {
        self.shared.watches.send_modify(|watches| watches.is_held = is_held);
    }

    /// Ends every watch that is open. With held watches, new ones wait.
    pub fn break_watches(&self) {
        self.shared.watches.send_modify(|watches| watches.broken += 1);
    }

    /// Waits until a rule has cut everything.
    ///
    /// # Errors
    /// When that does not happen in time; with the writes that came along.
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
    /// What is to happen to a request.
    fn judge(&self, request: &Request<'_>) -> Option<(Fault, bool)> {
        if request.is_counted() {
            lock(&self.writes).push(format!("{} {}", request.method, request.path));
        }
        lock(&self.rules).iter_mut().find_map(|rule| rule.judge(request))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
