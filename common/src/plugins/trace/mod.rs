//! Trace: reports every extension point that a pod passes, in order, and changes nothing.
//!
//! ```yaml
//! plugins:
//!   multiPoint: {enabled: [{name: Trace}]}
//! ```
//!
//! It takes no arguments. The program provides the [`Sink`] with [`descriptor`]; that of the daemon writes a line to its log:
//!
//! ```text
//! PreFilter pod=default/test
//! Filter pod=default/test node=worker-1
//! Filter pod=default/test node=worker-2
//! PreScore pod=default/test
//! PreScore pod=default/test node=worker-1
//! …
//! PostBind pod=default/test node=worker-2
//! ```
//!
//! It is for learning and for debugging: with it every plugin runs on every node, without the kept answers of `cycle/index.rs`, so
//! decisions are slow. A node that another filter rejects first is not reported, and neither are dry runs such as those of
//! preemption.

mod extension_points;
#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{NodeScore, Normalise, Plugin, PluginError, Score, Scorer};
use crate::model::{ExtensionPoint, NodeName, PodKey};
use std::sync::Arc;

pub trait Sink: Send + Sync {
    /// `pod` passes the extension point `point`, such as `PreFilter`; with a node at extension points that run for each node.
    fn record(&self, point: &'static str, pod: &PodKey, node: Option<&NodeName>);
}

pub(super) struct NoSink;

impl Sink for NoSink {
    fn record(&self, _point: &'static str, _pod: &PodKey, _node: Option<&NodeName>) {}
}

pub struct Trace {
    sink: Arc<dyn Sink>,
}

pub fn descriptor(sink: impl Sink + 'static) -> Descriptor {
    let points = [
        ExtensionPoint::PreEnqueue,
        ExtensionPoint::PreFilter,
        ExtensionPoint::Filter,
        ExtensionPoint::PostFilter,
        ExtensionPoint::PreScore,
        ExtensionPoint::Score,
        ExtensionPoint::Reserve,
        ExtensionPoint::Permit,
        ExtensionPoint::PreBind,
        ExtensionPoint::Bind,
        ExtensionPoint::PostBind,
    ];
    let plugin = Arc::new(Trace { sink: Arc::new(sink) });
    Descriptor::built_in("Trace", &points, move || implementations(&plugin))
}

fn implementations(plugin: &Arc<Trace>) -> Implementations {
    Implementations {
        pre_enqueue: Some(plugin.clone()),
        pre_filter: Some(plugin.clone()),
        filter: Some(plugin.clone()),
        post_filter: Some(plugin.clone()),
        pre_score: Some(plugin.clone()),
        score: Some(plugin.clone()),
        reserve: Some(plugin.clone()),
        permit: Some(plugin.clone()),
        pre_bind: Some(plugin.clone()),
        bind: Some(plugin.clone()),
        post_bind: Some(plugin.clone()),
        ..Implementations::default()
    }
}

impl Trace {
    fn pod(&self, point: &'static str, context: &PodContext<'_>) {
        self.sink.record(point, &context.pod.key, None);
    }

    fn node(&self, point: &'static str, context: &PodContext<'_>, ledger: &Ledger) {
        self.sink.record(point, &context.pod.key, Some(&ledger.node.name));
    }
}

impl Plugin for Trace {
    fn name(&self) -> &'static str {
        "Trace"
    }
}

impl Score for Trace {
    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let score = move |id| {
            world.ledger(id).into_iter().for_each(|ledger| self.node("Score", context, ledger));
            0
        };
        let normalise = move |_: &[NodeId], _: &mut [i64]| self.pod("NormalizeScore", context);
        Ok(Some(Scorer {
            score: NodeScore::Each(Box::new(score)),
            normalise: Normalise::Custom(Box::new(normalise)),
        }))
    }
}
