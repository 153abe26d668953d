//! VolumeBinding: a pod goes where its volumes can be reached, or where there are volumes for it, or can be made.

mod find;
mod progress;
mod score;
#[cfg(test)]
mod tests;
mod wanted;

pub use progress::{Asked, Progress, failed, progress};

use super::claims;
use super::kit::Kit;
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::config::{PluginArgs, ShapePoint};
use crate::framework::{
    Admission, Cure, Filter, NodeFilter, NodeScore, Normalise, Plugin, PreFilter, Reason, Rejection, Reserve,
    Reserved, Scope, Score, Scorer, Verdict, on_ledger, score_ledger,
};
use find::Finder;
use score::Shape;
use std::sync::Arc;
use wanted::{Problem, Wanted, wanted};

const NAME: &str = "VolumeBinding";

/// The plugin.
pub struct VolumeBinding {
    shape: Shape,
}

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    let plugin = Arc::new(VolumeBinding::new(&args.volume_binding.shape));
    Kit {
        pre_filter: Some(plugin.clone()),
        filter: Some(plugin.clone()),
        score: Some(plugin.clone()),
        reserve: Some(plugin),
        ..Kit::default()
    }
}

impl VolumeBinding {
    /// The plugin that scores how full volumes would be by this shape.
    pub fn new(shape: &[ShapePoint]) -> Self {
        Self { shape: Shape::new(shape) }
    }
}

impl Plugin for VolumeBinding {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for VolumeBinding {
    fn pre_filter(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission {
        match wanted(pod_context.pod, world.catalog()) {
            Ok(_) => Admission::All,
            Err(Problem::Unready(words)) => claims::refuses(NAME, words),
            Err(Problem::Wrong(words)) => Admission::Fails(words),
        }
    }
}

impl Filter for VolumeBinding {
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        if !claims::has_any(pod_context.pod) {
            return None;
        }
        let finder = Finder::new(&wanted(pod_context.pod, world.catalog()).ok()?, world);
        on_ledger(world, move |ledger| match finder.find(&ledger.node) {
            Ok(found) => Verdict::from_rejections(found.reasons().map(reject).collect()),
            Err(problem) => Verdict::Fails(problem.into()),
        })
    }
}

impl Score for VolumeBinding {
    /// What has its volumes already scores nothing anywhere.
    fn scope(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Scope {
        if late(pod_context, world).is_some() { Scope::Cluster } else { Scope::Node(0) }
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let Some(wanted) = late(pod_context, world) else {
            return Ok(Some(Scorer {
                score: NodeScore::Each(Box::new(|_| 0)),
                normalise: Normalise::Already,
            }));
        };
        let finder = Finder::new(&wanted, world);
        let score = move |ledger: &Ledger| {
            finder.find(&ledger.node).map_or(0, |found| self.shape.score(&score::used(&found)))
        };
        Ok(Some(score_ledger(world, Normalise::Already, score)))
    }
}

impl Reserve for VolumeBinding {
    fn reserve(
        &self,
        pod_context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Result<Reserved, Rejection> {
        let Some(wanted) = late(pod_context, world) else { return Ok(Reserved::default()) };
        match Finder::new(&wanted, world).find(&ledger.node) {
            Ok(found) => Ok(Reserved { volumes: found.choices(), ..Reserved::default() }),
            Err(problem) => Err(Rejection::new(NAME, Reason::said(problem, Cure::Storage))),
        }
    }
}

/// What the pod claims, if any of it gets its volume only now.
fn late<'w>(pod_context: &PodContext<'_>, world: &Snapshot<'w>) -> Option<Wanted<'w>> {
    let wanted = || wanted(pod_context.pod, world.catalog()).ok();
    claims::has_any(pod_context.pod).then(wanted)?.filter(|wanted| !wanted.late.is_empty())
}

fn reject((words, cure): (&'static str, Cure)) -> Rejection {
    Rejection::new(NAME, Reason::said_for_good(words, cure))
}
