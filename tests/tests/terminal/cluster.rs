//! A cluster in memory behind a port, with a home for whoever uses it.

use anyhow::{Context as _, Result};
use clap::Parser as _;
use daemon::args::Args;
use daemon::clock::Clock;
use daemon::config::Config as DaemonConfig;
use daemon::connect::Clients;
use daemon::metrics::Metrics;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use sandbox::{Api, Config, Pace, Sandbox};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tower::Service as _;

/// From which names and ids are made.
const SEED: u64 = 6;

/// A cluster that answers while this value lives.
pub(crate) struct Cluster {
    sandbox: Sandbox,
    clock: Option<Arc<AtomicI64>>,
    client: kube::Client,
    home: TempDir,
    // Ends what it runs when it is dropped.
    runtime: Runtime,
}

impl Cluster {
    /// A cluster whose time stands still, until [`Self::set_time`].
    pub(crate) fn still(at: Timestamp) -> Result<Self> {
        let clock = Arc::new(AtomicI64::new(at.as_second()));
        let read = Arc::clone(&clock);
        let tell = move || Timestamp::from_second(read.load(Ordering::SeqCst)).unwrap_or_default();
        let config = Config { clock: Arc::new(tell), seed: SEED, pace: Pace::default() };
        Self::start(runtime()?, Some(clock), &config)
    }

    /// A cluster where time passes, with the real daemon at work in it.
    #[expect(clippy::disallowed_methods, reason = "the command asks the machine how old pods are")]
    pub(crate) fn alive() -> Result<Self> {
        let runtime = runtime()?;
        let began = Timestamp::now();
        let pace = Pace { start: Duration::from_millis(300), stop: Duration::from_millis(600) };
        let config = runtime.block_on(async { Config { pace, ..Config::starting_at(began, SEED) } });
        let cluster = Self::start(runtime, None, &config)?;
        let sandbox = cluster.sandbox.clone();
        cluster.runtime.spawn(async move { sandbox.run().await });
        let flags = ["reserve-daemon", "--secure-port=0", "--namespace=kube-reserve", "--replica-name=a"];
        let config = DaemonConfig::try_from(Args::try_parse_from(flags)?)?;
        let api = cluster.sandbox.api();
        cluster.create("/api/v1/namespaces", &json!({ "metadata": { "name": "kube-reserve" } }))?;
        cluster.runtime.spawn(async move {
            let clients = Clients::from(kube::Client::new(api, "default"));
            let (clock, rng) = (Clock::start_at(began), fastrand::Rng::with_seed(SEED));
            daemon::run::run(&config, clients, Metrics::default(), clock, rng, std::future::pending()).await
        });
        Ok(cluster)
    }

    fn start(runtime: Runtime, clock: Option<Arc<AtomicI64>>, config: &Config) -> Result<Self> {
        let (sandbox, client, port) = runtime.block_on(async {
            let sandbox = Sandbox::new(config);
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let port = listener.local_addr()?.port();
            let client = kube::Client::new(sandbox.api(), "default");
            let served = sandbox.clone();
            runtime.spawn(async move { served.serve(listener).await });
            anyhow::Ok((sandbox, client, port))
        })?;
        let home = tempfile::Builder::new().prefix("kubectl-reserve-terminal-").tempdir()?;
        std::fs::write(home.path().join("kubeconfig"), kubeconfig(port).to_string())?;
        Ok(Self { sandbox, clock, client, home, runtime })
    }

    /// A kubeconfig that leads through a proxy, which answers by itself what `answer` says.
    pub(crate) fn through_proxy(&self, name: &str, answer: ProxyAnswer) -> Result<String> {
        let api = self.sandbox.api();
        let port = self.runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let port = listener.local_addr()?.port();
            self.runtime.spawn(proxy(listener, api, answer));
            anyhow::Ok(port)
        })?;
        let path = self.file(name, &kubeconfig(port).to_string())?;
        Ok(path.display().to_string())
    }

    /// Where whoever uses it lives.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// What a program finds in its environment: nothing of the machine that the test runs on.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let home = self.home.path().display().to_string();
        let kubeconfig = self.home.path().join("kubeconfig").display().to_string();
        [
            ("HOME", &*home),
            ("KUBECONFIG", &*kubeconfig),
            ("PATH", &*format!("{home}/bin")),
            ("TERM", "xterm-256color"),
            ("LANG", "C.UTF-8"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    /// A file in the home.
    pub(crate) fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.home.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// Makes an object, and returns it as it was made.
    pub(crate) fn create(&self, folder: &str, object: &Value) -> Result<Value> {
        let request = Request::post(folder).header("Content-Type", "application/json");
        let request = request.body(object.to_string().into_bytes())?;
        self.runtime.block_on(self.client.request(request)).with_context(|| format!("create {object}"))
    }

    /// Merges something into an object, or into a part of it.
    pub(crate) fn merge(&self, path: &str, patch: &Value) -> Result<Value> {
        let request = Request::patch(path).header("Content-Type", "application/merge-patch+json");
        let request = request.body(patch.to_string().into_bytes())?;
        self.runtime.block_on(self.client.request(request)).with_context(|| format!("{path}: {patch}"))
    }

    /// What is at a path.
    pub(crate) fn read(&self, path: &str) -> Result<Value> {
        let request = Request::get(path).body(Vec::new())?;
        self.runtime.block_on(self.client.request(request)).with_context(|| path.to_owned())
    }

    /// Looks until `check` is satisfied, for two minutes.
    pub(crate) fn wait(&self, what: &str, check: impl Fn() -> Result<bool>) -> Result<()> {
        for _ in 0..1_200 {
            if check()? {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        anyhow::bail!("waited until {what}: {:#}", self.read("/api/v1/pods")?)
    }

    /// Lets controllers and kubelets do all that they have to do, and time pass as far as they need.
    pub(crate) fn settle(&self) {
        let Some(clock) = &self.clock else { return };
        for _ in 0..100 {
            let now = Timestamp::from_second(clock.load(Ordering::SeqCst)).unwrap_or_default();
            match self.sandbox.reconcile(now) {
                Some(due) if due > now => clock.store(due.as_second(), Ordering::SeqCst),
                Some(_) => {}
                None => return,
            }
        }
    }

    /// From now on it is `at`.
    pub(crate) fn set_time(&self, at: Timestamp) {
        if let Some(clock) = &self.clock {
            clock.store(at.as_second(), Ordering::SeqCst);
        }
    }
}

/// The status and the body with which a proxy answers a request by itself: by its method, path and query.
pub(crate) type ProxyAnswer = fn(&str, &str) -> Option<(u16, String)>;

async fn proxy(listener: TcpListener, api: Api, answer: ProxyAnswer) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let api = api.clone();
        let serve = service_fn(move |request: Request<Incoming>| {
            let mut api = api.clone();
            async move {
                let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
                let Some((code, body)) = answer(request.method().as_str(), path) else {
                    return api.call(request).await;
                };
                let response = Response::builder().status(code).body(Full::from(body).boxed_unsync());
                Ok(response.unwrap_or_default())
            }
        });
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), serve));
    }
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

fn kubeconfig(port: u16) -> Value {
    json!({ "apiVersion": "v1", "kind": "Config", "current-context": "shared_cluster",
        "clusters": [{ "name": "shared_cluster", "cluster": { "server": format!("http://127.0.0.1:{port}") } }],
        "users": [{ "name": "me", "user": {} }],
        "contexts": [{ "name": "shared_cluster", "context": { "cluster": "shared_cluster", "user": "me", "namespace": "default" } }] })
}
