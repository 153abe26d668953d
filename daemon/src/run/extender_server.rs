//! The task that serves the extender.

use crate::clock::Clock;
use crate::config::Config;
use crate::connections::{Limits, listen};
use crate::extender::bodies::Bodies;
use crate::extender::replies::Replies;
use crate::extender::serve::{Site, serve};
use crate::extender::tls::Tls;
use crate::lease::replica::Standing;
use crate::state::Input;
use anyhow::Context as _;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Where kube-scheduler asks. Ends with this value.
pub(super) struct ExtenderServer {
    replies: Replies,
    tasks: JoinSet<()>,
}

impl ExtenderServer {
    /// Starts to serve, if that was asked for.
    pub(super) async fn open(
        config: &Config,
        clock: &Clock,
        inputs: &mpsc::Sender<Input>,
        standing: Standing,
    ) -> anyhow::Result<Self> {
        let (replies, mut tasks) = (Replies::default(), JoinSet::new());
        if let Some(serving) = &config.extender {
            let tls = serving.files.as_ref().map(Tls::new).transpose()?;
            let listener = listen(serving.address, false);
            let listener =
                listener.with_context(|| format!("listen on {} as an extender", serving.address))?;
            let scheme = if tls.is_some() { "https" } else { "http" };
            tracing::info!("serves as an extender on {scheme}://{}", listener.local_addr()?);
            let (inputs, replies, clock) = (inputs.clone(), replies.clone(), clock.clone());
            let (bodies, is_binding) = (Bodies::default(), serving.is_binding);
            let site = Site { inputs, replies, standing, clock, bodies, is_binding };
            tasks.spawn(serve(listener, tls, site, Limits::default()));
        }
        Ok(Self { replies, tasks })
    }

    /// Where answers go.
    pub(super) fn replies(&self) -> Replies {
        self.replies.clone()
    }

    /// Stops serving: from now on nobody counts on this replica.
    pub(super) async fn close(mut self) {
        self.tasks.shutdown().await;
    }
}
