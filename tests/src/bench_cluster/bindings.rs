//! Measures when pods are bound, by a watch of pods.

use super::shape::NAMESPACE;
use anyhow::{Context as _, Result, ensure};
use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, WatchParams};
use kube::core::{PartialObjectMeta, WatchEvent};
use kube::{Api, Client};
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

/// The watch selects bound pods only, so a pod is added to it when it is bound.
const BOUND: &str = "spec.nodeName!=";

/// When the first and the last of the pods were seen bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bindings {
    pub(super) first: Instant,
    pub(super) last: Instant,
    count: usize,
}

/// A watch that is ready to count.
pub(super) struct Watch {
    pods: Api<Pod>,
    version: String,
}

impl Bindings {
    /// How long it took from the first to the last.
    pub(super) fn lasted(&self) -> Duration {
        self.last - self.first
    }
}

impl Watch {
    /// A watch that starts at the current version.
    pub(super) async fn from_now(client: Client) -> Result<Self> {
        let pods: Api<Pod> = Api::namespaced(client, NAMESPACE);
        let now = pods.list_metadata(&ListParams::default().fields(BOUND)).await.context("list pods")?;
        ensure!(now.items.is_empty(), "{} pods are bound before anybody could", now.items.len());
        let version = now.metadata.resource_version.context("a list without a version")?;
        Ok(Self { pods, version })
    }

    /// Waits until `count` pods are bound.
    pub(super) async fn count(mut self, count: usize) -> Result<Bindings> {
        let mut seen: Option<Bindings> = None;
        // The server ends a watch from time to time; the next one continues at the last version.
        loop {
            let params = WatchParams::default().fields(BOUND);
            let events = self.pods.watch_metadata(&params, &self.version).await.context("watch pods")?;
            let mut events = pin!(events);
            while let Some(event) = events.try_next().await.context("watch pods")? {
                let Some(version) = added(event)? else { continue };
                self.version = version;
                let last = Instant::now();
                let bindings = seen.get_or_insert(Bindings { first: last, last, count: 0 });
                (bindings.last, bindings.count) = (last, bindings.count + 1);
                if bindings.count == count {
                    return Ok(*bindings);
                }
            }
        }
    }
}

/// The version of the pod, if the event says that a pod was bound.
fn added(event: WatchEvent<PartialObjectMeta<Pod>>) -> Result<Option<String>> {
    match event {
        WatchEvent::Added(pod) => pod.metadata.resource_version.context("a pod without a version").map(Some),
        WatchEvent::Error(status) => Err(anyhow::Error::msg(status.message)),
        _ => Ok(None),
    }
}
