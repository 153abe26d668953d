//! What has to be done for the claims of a pod before it is bound: the Reserve plugins one after the other. The daemon carries out
//! the writes and waits; errors are reported in the name of PreBind, as kube-scheduler does it there.

use crate::cluster::Snapshot;
use crate::framework::{ClaimProgress, PreparedClaim, Registry, Reserve};
use crate::model::{Claims, NodeName, ObjectWrite};
use std::sync::Arc;
use std::time::Duration;

/// The claims of a pod that one plugin prepares.
pub struct Preparation {
    plugin: Arc<dyn Reserve>,
    /// The place of the plugin among the Reserve plugins.
    index: usize,
    claims: Vec<PreparedClaim>,
    is_written: bool,
}

impl Preparation {
    /// The first preparation for a pod that goes to `node`, or the one after `before`; `None` if there is nothing to do.
    pub fn next(
        before: Option<&Self>,
        claims: &Claims,
        node: &NodeName,
        world: &Snapshot<'_>,
        registry: &Registry,
    ) -> Option<Self> {
        let done = before.map_or(0, |before| before.index + 1);
        registry.reserves.iter().enumerate().skip(done).find_map(|(index, plugin)| {
            let claims = plugin.prepare_claims(claims, node, world);
            let is_written = claims.iter().all(|claim| claim.write.is_none());
            (!claims.is_empty()).then(|| Self { plugin: Arc::clone(plugin), index, claims, is_written })
        })
    }

    /// The writes to the API server, in this order.
    pub fn writes(&self) -> Vec<ObjectWrite> {
        self.claims.iter().filter_map(|claim| claim.write.clone()).collect()
    }

    /// The writes succeeded, and the objects have these versions since.
    pub fn written(&mut self, versions: Vec<u64>) {
        let claims = self.claims.iter_mut().filter(|claim| claim.write.is_some());
        claims.zip(versions).for_each(|(claim, version)| claim.version = version);
        self.is_written = true;
    }

    pub fn progress(&self, node: &NodeName, world: &Snapshot<'_>) -> ClaimProgress {
        if self.is_written { self.plugin.progress(&self.claims, node, world) } else { ClaimProgress::Waiting }
    }

    /// How long it may take, and the error text if it takes longer.
    pub fn timeout(&self) -> (Duration, &'static str) {
        self.plugin.timeout()
    }

    /// The error text for a pod whose claims could not be prepared.
    pub fn error(&self, why: &str) -> String {
        format!("running PreBind plugin \"{}\": {why}", self.plugin.name())
    }
}
