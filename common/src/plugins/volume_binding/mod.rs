//! VolumeBinding: a node must reach the pod's bound volumes, and unbound claims must find or get volumes there. Order: PreFilter
//! and Filter check, Reserve chooses the volumes, says what is to be written for them, and when they are bound.

mod evidence;
mod find;
mod hint;
mod pod_claims;
mod prepare;
mod progress;
mod score;
#[cfg(test)]
mod tests;

use super::claims;
use super::{Descriptor, Implementations};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::config::VolumeBindingArgs;
use crate::framework::{
    Admission, BlockerClass, ClaimProgress, Evidence, Filter, NodeFilter, NodeScore, Normalise, Plugin,
    PluginError, PreFilter, PreparedClaim, Reason, RefusalCode, RefusalKind, Rejection, Reserve, Scope,
    Score, Scorer, Verdict, ledger_filter, ledger_scorer,
};
use crate::model::{CatalogKind, Claim, Claims, ExtensionPoint, NodeName};
use find::VolumeFinder;
use pod_claims::{ClaimError, PodClaims, pod_claims};
use score::Shape;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "VolumeBinding";

/// The volumes that the filter found for the node cannot be found again.
const NO_LONGER_FOUND: RefusalKind = RefusalKind::resolvable(RefusalCode::NoVolume, BlockerClass::Storage);

pub struct VolumeBinding {
    shape: Shape,
    timeout: Duration,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args(
        NAME,
        &[
            ExtensionPoint::PreFilter,
            ExtensionPoint::Filter,
            ExtensionPoint::PreScore,
            ExtensionPoint::Score,
            ExtensionPoint::Reserve,
            ExtensionPoint::PreBind,
        ],
        |args: VolumeBindingArgs| {
            let plugin = Arc::new(VolumeBinding::new(&args));
            Implementations {
                pre_filter: Some(plugin.clone()),
                filter: Some(plugin.clone()),
                score: Some(plugin.clone()),
                reserve: Some(plugin.clone()),
                enqueue_extensions: Some(plugin),
                ..Implementations::default()
            }
        },
    )
    .upstream()
    .by_default(0)
    .watches(&[
        CatalogKind::PersistentVolumeClaim,
        CatalogKind::PersistentVolume,
        CatalogKind::StorageClass,
        CatalogKind::CsiNode,
        CatalogKind::CsiDriver,
        CatalogKind::CsiStorageCapacity,
    ])
}

impl VolumeBinding {
    fn new(args: &VolumeBindingArgs) -> Self {
        let timeout = Duration::from_secs(args.bind_timeout_seconds.unsigned_abs());
        Self { shape: Shape::new(&args.shape), timeout }
    }
}

impl Plugin for VolumeBinding {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for VolumeBinding {
    fn pre_filter(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission {
        match pod_claims(context.pod, world.catalog()) {
            Ok(_) => Admission::All,
            Err(ClaimError::NotReady(words)) => claims::reject(NAME, words),
            Err(ClaimError::Failed(words)) => Admission::Fails(words.into()),
        }
    }
}

impl Filter for VolumeBinding {
    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        if !claims::has_any(context.pod) {
            return None;
        }
        let finder = VolumeFinder::new(&pod_claims(context.pod, world.catalog()).ok()?, world);
        ledger_filter(world, move |ledger| match finder.find(&ledger.node) {
            Ok(found) => {
                Verdict::from_rejections(found.reasons().map(|reason| Rejection::new(NAME, reason)).collect())
            }
            Err(problem) => Verdict::Fails(problem.into()),
        })
    }

    fn evidence(
        &self,
        reason: Option<&Reason>,
        context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        evidence::evidence(reason?.code(), context.pod, world.catalog(), ledger)
    }
}

impl Score for VolumeBinding {
    /// A pod without unbound claims scores 0 on every node.
    fn scope(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Scope {
        if delayed(context, world).is_some() { Scope::Cluster } else { Scope::Node(0) }
    }

    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let Some(pod_claims) = delayed(context, world) else {
            return Ok(Some(Scorer {
                score: NodeScore::Each(Box::new(|_| 0)),
                normalise: Normalise::NotNeeded,
            }));
        };
        let finder = VolumeFinder::new(&pod_claims, world);
        let score = move |ledger: &Ledger| {
            finder.find(&ledger.node).map_or(0, |found| self.shape.score(&score::class_uses(&found)))
        };
        Ok(Some(ledger_scorer(world, Normalise::NotNeeded, score)))
    }
}

impl Reserve for VolumeBinding {
    fn reserve(
        &self,
        context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Result<Vec<Claim>, Rejection> {
        let Some(pod_claims) = delayed(context, world) else { return Ok(Vec::new()) };
        match VolumeFinder::new(&pod_claims, world).find(&ledger.node) {
            Ok(found) => Ok(found.choices().into_iter().map(Claim::Volume).collect()),
            Err(problem) => Err(Rejection::new(NAME, NO_LONGER_FOUND.with(problem))),
        }
    }

    fn prepare_claims(&self, claims: &Claims, node: &NodeName, world: &Snapshot<'_>) -> Vec<PreparedClaim> {
        claims.volumes().map(|choice| prepare::prepared(choice, node, world.catalog())).collect()
    }

    fn progress(&self, prepared: &[PreparedClaim], node: &NodeName, world: &Snapshot<'_>) -> ClaimProgress {
        progress::progress(prepared, node, world)
    }

    fn timeout(&self) -> (Duration, &'static str) {
        (self.timeout, "binding volumes: context deadline exceeded")
    }
}

/// The claims of the pod, if any of them is unbound.
fn delayed<'w>(context: &PodContext<'_>, world: &Snapshot<'w>) -> Option<PodClaims<'w>> {
    let pod_claims = || pod_claims(context.pod, world.catalog()).ok();
    claims::has_any(context.pod).then(pod_claims)?.filter(|pod_claims| !pod_claims.delayed.is_empty())
}
