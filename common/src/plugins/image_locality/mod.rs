//! ImageLocality: a node that has the pod's images already is better, the more so the larger and more common they are.

mod score;
mod table;
#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{Ledger, NodeId, PerNode, PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{NodeScore, Normalise, Plugin, Scope, Score, Scorer, score_ledger};
use crate::model::Node;
use crate::model::ids::Text;
use score::Images;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The plugin.
pub struct ImageLocality;

/// Up to so many different images of a pod, what each set of them scores is worth comparing: there are not too many.
const COMPARED_MAX: usize = 6;

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    Kit { score: Some(Arc::new(ImageLocality)), ..Kit::default() }
}

impl Plugin for ImageLocality {
    fn name(&self) -> &'static str {
        "ImageLocality"
    }
}

impl Score for ImageLocality {
    /// What a node scores follows from which of the images it has, and from what each set of them scores now. The
    /// sizes and numbers behind that may drift without anybody having to be asked again.
    fn scope(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Scope {
        let images = images(pod_context, world);
        if images.len() > COMPARED_MAX {
            return Scope::Cluster;
        }
        let mut hasher = DefaultHasher::new();
        for set in 0..1_usize << images.len() {
            let present = (0..images.len()).filter(|image| set >> image & 1 == 1);
            images.score(present).hash(&mut hasher);
        }
        Scope::Node(hasher.finish())
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let images = images(pod_context, world);
        if images.len() <= COMPARED_MAX {
            let score = move |ledger: &Ledger| images.score(present(&images.names, &ledger.node));
            return Ok(Some(score_ledger(world, Normalise::Already, score)));
        }
        let column = world.column(&Present(images.names.clone()));
        let score = move |id: NodeId| {
            let present = column.get(id).map_or(&[][..], |present| present);
            images.score(present.iter().map(|image| usize::from(*image)))
        };
        Ok(Some(Scorer { score: NodeScore::Each(Box::new(score)), normalise: Normalise::Already }))
    }
}

/// The pod's images, with what is known about them in the cluster.
fn images(pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Images {
    let table = table::table(world);
    let spread = |name: &str| table.get(name).unwrap_or_default();
    Images::new(&pod_context.pod.spec.images, world.len(), spread)
}

/// Which of the images, by their places in the list, each node has.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Present(Box<[Text]>);

impl PerNode for Present {
    type Value = Box<[u16]>;

    fn read(&self, ledger: &Ledger) -> Self::Value {
        present(&self.0, &ledger.node).filter_map(|image| u16::try_from(image).ok()).collect()
    }
}

/// Which of the images, by their places in the list, the node has.
fn present(names: &[Text], node: &Node) -> impl Iterator<Item = usize> {
    let has = |name: &Text| node.images.iter().any(|image| image.names.contains(name));
    names.iter().enumerate().filter(move |(_, name)| has(name)).map(|(index, _)| index)
}
