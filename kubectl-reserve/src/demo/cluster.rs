//! The cluster: the sandbox's API and kubelets, and the real daemon, as futures of this process.

use crate::api::{self, JSON};
use crate::connect::Session;
use crate::error::Failure;
use clap::Parser as _;
use common::api::names;
use common::api::replica::DaemonNamespaces;
use common::model::chain::chain;
use daemon::args::Args;
use daemon::clock::Clock;
use daemon::config::Config as DaemonConfig;
use daemon::connect::Clients;
use daemon::metrics::Metrics;
use http::Method;
use jiff::Timestamp;
use sandbox::{Config, Sandbox};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// The same names, UIDs and chances each time.
const SEED: u64 = 1;

/// The namespace that everything happens in.
pub(crate) const NAMESPACE: &str = "default";

/// What the daemon's only replica is called.
const REPLICA: &str = "sandbox";

/// A cluster, and a way to it.
pub(crate) struct Cluster {
    sandbox: Sandbox,
    /// When it began.
    start: Timestamp,
    /// For the verbs.
    pub(crate) session: Session,
}

impl Cluster {
    /// An empty cluster at the time `start`. Its clock goes on by the runtime's, which may be paused.
    pub(crate) fn new(start: Timestamp) -> Self {
        let sandbox = Sandbox::new(&Config::starting_at(start, SEED));
        let client = kube::Client::new(sandbox.api(), NAMESPACE);
        let session = Session {
            client,
            namespace: NAMESPACE.to_owned(),
            timeout: None,
            daemon: DaemonNamespaces::default(),
        };
        Self { sandbox, start, session }
    }

    /// Runs the cluster for as long as `story` goes on, and stops the daemon as a cluster would: it finishes its work.
    pub(crate) async fn live(&self, story: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
        let space =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": names::NAMESPACE } });
        self.create("/api/v1/namespaces", &space).await?;
        let (stop, stopped) = oneshot::channel::<()>();
        let daemon = Box::pin(self.daemon(async { drop(stopped.await) }));
        let told = async {
            let outcome = story.await;
            drop(stop);
            outcome
        };
        tokio::select! {
            biased;
            both = futures::future::try_join(told, daemon) => both.map(drop),
            () = self.sandbox.live() => Ok(()),
        }
    }

    /// Serves real clients.
    pub(crate) async fn serve(&self, listener: TcpListener) -> Result<(), Failure> {
        self.sandbox.serve(listener).await.map_err(|error| Failure::new(format!("serve: {error}")))
    }

    async fn daemon(&self, stop: impl Future<Output = ()>) -> Result<(), Failure> {
        let failed = |error: anyhow::Error| Failure::new(format!("the daemon: {}", chain(&*error)));
        // There is no other scheduler here, so it serves the pods that name none, too.
        let flags = [
            "reserve-daemon",
            "--secure-port=0",
            "--namespace",
            names::NAMESPACE,
            "--replica-name",
            REPLICA,
            "--scheduler-name",
            names::SCHEDULER_NAME,
            "--scheduler-name=default-scheduler",
        ];
        let args = Args::try_parse_from(flags).map_err(|error| failed(error.into()))?;
        let mut config = DaemonConfig::try_from(args).map_err(failed)?;
        // What the demo shows does not depend on it, and its time jumps by minutes.
        config.compare_every = None;
        let clients = Clients::from(self.session.client.clone());
        let (clock, rng) = (Clock::start_at(self.start), fastrand::Rng::with_seed(SEED));
        daemon::run::run(&config, clients, Metrics::default(), clock, rng, stop).await.map_err(failed)
    }

    /// Makes an object.
    pub(crate) async fn create(&self, path: &str, object: &Value) -> Result<(), Failure> {
        let made = api::write(&self.session, Method::POST, path, JSON, object.to_string()).await;
        made.map(drop).map_err(|error| error.into_failure(&format!("create {path}"), ""))
    }
}
