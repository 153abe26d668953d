//! `/metrics/resources`: the requests and limits of each pod. The belief has no limits, and this page is rarely read, so all
//! pods are read from the API server for each request, page by page.

use super::health::Health;
use crate::effects::read;
use crate::metrics::PodResources;
use crate::state::Now;
use common::api::list::page;
use common::api::pod::usage;
use common::model::chain::chain;
use kube::Client;
use std::sync::Arc;
use tokio::sync::Mutex;

const PAGE: usize = 500;

/// Selects pods that have not ended.
const LIVE: &str = "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

/// Reads all pods and renders their requests and limits.
pub(super) struct ResourceMetricsReader {
    client: Client,
    health: Arc<Health>,
    /// One request at a time, so that many clients do not flood the API server.
    lock: Mutex<()>,
}

impl ResourceMetricsReader {
    pub(super) fn new(client: Client, health: Arc<Health>) -> Self {
        Self { client, health, lock: Mutex::default() }
    }

    /// The page. Only the leader's page has content, as upstream: else each pod would be counted twice.
    pub(super) async fn text(&self, now: Now) -> Result<String, String> {
        if !self.health.is_leading(now) {
            return Ok(String::new());
        }
        let _lock = self.lock.lock().await;
        let (mut resources, mut token) = (PodResources::default(), String::new());
        loop {
            let text = read(&self.client, &format!("/api/v1/pods?limit={PAGE}&{LIVE}{token}")).await?;
            let page = page(&text).map_err(|error| chain(&error))?;
            for pod in page.items {
                match usage(pod) {
                    Ok(usage) => usage.iter().for_each(|usage| resources.add(usage)),
                    Err(error) => {
                        tracing::debug!("a pod is left out of /metrics/resources: {}", chain(&error))
                    }
                }
            }
            match page.next {
                Some(next) => token = format!("&continue={next}"),
                None => return Ok(resources.text()),
            }
        }
    }
}
