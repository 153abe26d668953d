//! Health and metrics over HTTPS, as kube-scheduler serves them: same port, paths, words, and the same questions to the
//! cluster about who somebody is and what they may see.
//!
//! What it shows it reads from [`Health`] and `Metrics`, which others keep up to date; a busy scheduler never makes a
//! probe wait.
//!
//! Knows nothing of: the state, scheduling.

mod answer;
mod authenticate;
mod authority;
mod authorize;
mod cache;
mod certificate;
mod health;
mod probes;
mod resources;
mod serve;
#[cfg(test)]
mod tests;
mod tls;
mod user;

pub use health::Health;
pub use probes::Probes;

use crate::clock::Clock;
use crate::config::{Config, Serving};
use crate::connections::{self, Limits};
use crate::metrics::Metrics;
use answer::Site;
use anyhow::Context as _;
use authenticate::Authenticator;
use authority::Lookup;
use authorize::Authorizer;
use resources::Resources;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tls::Tls;
use tokio::net::TcpListener;

/// How often files and the cluster's authorities are read again, as with kube-scheduler.
const REFRESH: Duration = Duration::from_secs(60);

/// A server that listens, and serves when it is run.
pub struct Admin {
    listener: TcpListener,
    tls: Tls,
    site: Arc<Site>,
    lookup: Lookup,
}

impl Admin {
    /// Listens as the configuration says. `None` if nothing is to be served.
    ///
    /// # Errors
    /// When the port is taken, or a certificate, key or kubeconfig cannot be used.
    pub async fn start(
        config: &Config,
        clock: &Clock,
        health: Arc<Health>,
        metrics: Metrics,
    ) -> anyhow::Result<Option<Self>> {
        let Some(serving) = &config.serving else { return Ok(None) };
        let listener = listen(serving)?;
        let tls = Tls::new(serving)?;
        let access = &serving.access;
        let reviews = Reviews { config, metrics: &metrics };
        let authentication = reviews.client(access.authentication_kubeconfig.as_ref()).await?;
        let authorization = reviews.client(access.authorization_kubeconfig.as_ref()).await?;
        let lookup = Lookup::new(access, authentication.clone());
        lookup.insist().await?;
        let site = Site {
            authenticator: Authenticator::new(access, authentication, lookup.known(), clock.clone()),
            authorizer: Authorizer::new(access, authorization, clock.clone()),
            configuration: config.scheduler.to_value(),
            resources: Resources::new(
                config.connection.client(Arc::new(metrics.clone())).await?,
                Arc::clone(&health),
            ),
            health,
            metrics,
            clock: clock.clone(),
        };
        tracing::info!("serves health and metrics on https://{}", listener.local_addr()?);
        Ok(Some(Self { listener, tls, site: Arc::new(site), lookup }))
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> std::io::Result<std::net::SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves for ever.
    pub async fn run(self) {
        let Self { listener, tls, site, lookup } = self;
        let refresh = async {
            loop {
                lookup.refresh().await;
                tokio::time::sleep(REFRESH).await;
                tls.refresh();
            }
        };
        tokio::select! {
            biased;
            () = refresh => {}
            () = serve::serve(&listener, &tls, &site, Limits::default()) => {}
        }
    }
}

/// How clients for questions about rights are made.
struct Reviews<'a> {
    config: &'a Config,
    metrics: &'a Metrics,
}

impl Reviews<'_> {
    async fn client(&self, kubeconfig: Option<&PathBuf>) -> anyhow::Result<Option<kube::Client>> {
        match self.config.connection.for_reviews(kubeconfig) {
            Some(connection) => Ok(Some(connection.client(Arc::new(self.metrics.clone())).await?)),
            None => Ok(None),
        }
    }
}

fn listen(serving: &Serving) -> anyhow::Result<TcpListener> {
    let hint = "is another scheduler running there? --secure-port=0 serves nothing";
    connections::listen(serving.address, serving.is_port_shared)
        .with_context(|| format!("listen on {} for health and metrics; {hint}", serving.address))
}
