//! Starts the server that answers kube-scheduler as its extender.

use crate::clock::Clock;
use crate::config::Config;
use crate::connections::{Limits, listen};
use crate::extender::bodies::Bodies;
use crate::extender::replies::Replies;
use crate::extender::serve::{ExtenderHandler, serve};
use crate::extender::tls::ExtenderServerTls;
use crate::lease::replica::LeaseValidity;
use crate::state::Input;
use anyhow::Context as _;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The extender's server task. Dropping this value ends it.
pub(super) struct ExtenderServer {
    replies: Replies,
    tasks: JoinSet<()>,
}

impl ExtenderServer {
    /// Starts the server if the configuration asks for it.
    pub(super) async fn open(
        config: &Config,
        clock: &Clock,
        inputs: &mpsc::Sender<Input>,
        validity: LeaseValidity,
    ) -> anyhow::Result<Self> {
        let (replies, mut tasks) = (Replies::default(), JoinSet::new());
        if let Some(serving) = &config.extender {
            let tls = serving.files.as_ref().map(ExtenderServerTls::new).transpose()?;
            let listener = listen(serving.address, false);
            let listener =
                listener.with_context(|| format!("listen on {} as an extender", serving.address))?;
            let scheme = if tls.is_some() { "https" } else { "http" };
            tracing::info!("serves as an extender on {scheme}://{}", listener.local_addr()?);
            let (inputs, replies, clock) = (inputs.clone(), replies.clone(), clock.clone());
            let (bodies, is_binding) = (Bodies::default(), serving.is_binding);
            let handler = ExtenderHandler { inputs, replies, validity, clock, bodies, is_binding };
            tasks.spawn(serve(listener, tls, handler, Limits::default()));
        }
        Ok(Self { replies, tasks })
    }

    pub(super) fn replies(&self) -> Replies {
        self.replies.clone()
    }

    /// Stops serving, before this replica gives up its Lease.
    pub(super) async fn close(mut self) {
        self.tasks.shutdown().await;
    }
}
