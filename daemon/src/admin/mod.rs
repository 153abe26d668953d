//! Health and metrics over HTTPS, as kube-scheduler serves them: the same port, paths and texts, and the same TokenReviews and
//! SubjectAccessReviews. Entry points: [`Admin::start`], then [`Admin::run`]; [`Probes`] for the extra port without TLS.
//!
//! The data comes from [`Health`] and `Metrics`, which other modules update, so a busy scheduler never makes a probe wait.
//!
//! Must not know: the state, scheduling.

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
use answer::AdminHandler;
use anyhow::Context as _;
use authenticate::Authenticator;
use authority::Lookup;
use authorize::Authorizer;
use resources::ResourceMetricsReader;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tls::AdminTls;
use tokio::net::TcpListener;

/// How often certificate files and the CAs in the cluster are read again, as in kube-scheduler.
const REFRESH: Duration = Duration::from_secs(60);

/// The HTTPS server. It listens from the start, and answers when [`Admin::run`] is called.
pub struct Admin {
    listener: TcpListener,
    tls: AdminTls,
    handler: Arc<AdminHandler>,
    lookup: Lookup,
}

impl Admin {
    /// Listens as the configuration says. `None` if nothing is served.
    ///
    /// # Errors
    /// When the port is in use, or a certificate, key or kubeconfig cannot be used.
    pub async fn start(
        config: &Config,
        clock: &Clock,
        health: Arc<Health>,
        metrics: Metrics,
    ) -> anyhow::Result<Option<Self>> {
        let Some(serving) = &config.serving else { return Ok(None) };
        let listener = listen(serving)?;
        let tls = AdminTls::new(serving)?;
        let access = &serving.access;
        let reviews = Reviews { config, metrics: &metrics };
        let authentication = reviews.client(access.authentication_kubeconfig.as_ref()).await?;
        let authorization = reviews.client(access.authorization_kubeconfig.as_ref()).await?;
        let lookup = Lookup::new(access, authentication.clone());
        lookup.look_up_required().await?;
        let handler = AdminHandler {
            authenticator: Authenticator::new(access, authentication, lookup.trusted(), clock.clone()),
            authorizer: Authorizer::new(access, authorization, clock.clone()),
            configuration: config.scheduler.to_value(),
            resources: ResourceMetricsReader::new(
                config.connection.client(Arc::new(metrics.clone())).await?,
                Arc::clone(&health),
            ),
            health,
            metrics,
            clock: clock.clone(),
        };
        tracing::info!("serves health and metrics on https://{}", listener.local_addr()?);
        Ok(Some(Self { listener, tls, handler: Arc::new(handler), lookup }))
    }

    /// The address that it listens on.
    pub fn address(&self) -> std::io::Result<std::net::SocketAddr> {
        self.listener.local_addr()
    }

    pub async fn run(self) {
        let Self { listener, tls, handler, lookup } = self;
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
            () = serve::serve(&listener, &tls, &handler, Limits::default()) => {}
        }
    }
}

/// Makes the clients for TokenReviews and SubjectAccessReviews.
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
