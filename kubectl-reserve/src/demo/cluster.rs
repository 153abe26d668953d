//! The cluster of the demo: the sandbox's API and kubelets, and the real daemon, as futures of this process.

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

/// The seed of names, UIDs and random choices in the demo, so that the output is the same each time.
pub(crate) const SEED: u64 = 1;

/// The namespace of all workloads.
pub(crate) const NAMESPACE: &str = "default";

/// The name of the daemon's only replica.
const REPLICA: &str = "sandbox";

pub(crate) struct Cluster {
    sandbox: Sandbox,
    /// The time of the cluster's start.
    start: Timestamp,
    /// The session that the verbs use.
    pub(crate) session: Session,
}

impl Cluster {
    /// An empty cluster at the time `start`, with names and UIDs that follow from `seed`. Its clock follows that of the tokio
    /// runtime, which may be paused.
    pub(crate) fn new(start: Timestamp, seed: u64) -> Self {
        let sandbox = Sandbox::new(&Config::starting_at(start, seed));
        let client = kube::Client::new(sandbox.api(), NAMESPACE);
        let session = Session {
            client,
            namespace: NAMESPACE.to_owned(),
            server: "in this process".to_owned(),
            timeout: None,
            daemon: DaemonNamespaces::default(),
        };
        Self { sandbox, start, session }
    }

    /// Runs the cluster until `work` ends, and then stops the daemon as kubelets do: it finishes what it has begun.
    pub(crate) async fn run_while(
        &self,
        work: impl Future<Output = Result<(), Failure>>,
    ) -> Result<(), Failure> {
        let space =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": names::NAMESPACE } });
        self.create("/api/v1/namespaces", &space).await?;
        let (stop, stopped) = oneshot::channel::<()>();
        let daemon = Box::pin(self.daemon(async { drop(stopped.await) }));
        let work_then_stop = async {
            let outcome = work.await;
            drop(stop);
            outcome
        };
        tokio::select! {
            biased;
            both = futures::future::try_join(work_then_stop, daemon) => both.map(drop),
            () = self.sandbox.run() => Ok(()),
        }
    }

    /// Serves clients over HTTP.
    pub(crate) async fn serve(&self, listener: TcpListener) -> Result<(), Failure> {
        self.sandbox.serve(listener).await.map_err(|error| Failure::new(format!("serve: {error}")))
    }

    async fn daemon(&self, stop: impl Future<Output = ()>) -> Result<(), Failure> {
        let failed = |error: anyhow::Error| Failure::new(format!("the daemon: {}", chain(&*error)));
        // There is no kube-scheduler here, so the daemon also serves pods without schedulerName.
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
        // The demo does not need comparisons, and its time jumps by minutes.
        config.compare_every = None;
        let clients = Clients::from(self.session.client.clone());
        let (clock, rng) = (Clock::start_at(self.start), fastrand::Rng::with_seed(SEED));
        daemon::run::run(&config, clients, Metrics::default(), clock, rng, stop).await.map_err(failed)
    }

    pub(crate) async fn create(&self, path: &str, object: &Value) -> Result<(), Failure> {
        let made = api::write(&self.session, Method::POST, path, JSON, object.to_string()).await;
        made.map(drop).map_err(|error| error.into_failure(&format!("create {path}"), ""))
    }
}
