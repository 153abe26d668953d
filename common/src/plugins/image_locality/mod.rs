//! ImageLocality: scores nodes higher that already have the pod's images, the larger the images and the more nodes have them.

mod score;
mod table;
#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{Ledger, NodeId, PerNode, PodContext, Snapshot};
use crate::framework::{NodeScore, Normalise, Plugin, PluginError, Scope, Score, Scorer, ledger_scorer};
use crate::model::{ExtensionPoint, Node, Text};
use score::PodImages;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

pub struct ImageLocality;

/// For up to so many different images, the score of each subset is hashed into the scope: 2^6 subsets are few enough.
const COMPARED_IMAGES_MAX: usize = 6;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("ImageLocality", &[ExtensionPoint::Score], || Implementations {
        score: Some(Arc::new(ImageLocality)),
        ..Implementations::default()
    })
    .upstream()
    .by_default(1)
}

impl Plugin for ImageLocality {
    fn name(&self) -> &'static str {
        "ImageLocality"
    }
}

impl Score for ImageLocality {
    /// The score of a node depends on which of the images it has, and on the score of each subset of the images. The number is a
    /// hash of these scores, so that a change of sizes that changes no score does not invalidate kept answers.
    fn scope(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Scope {
        let images = images(context, world);
        if images.len() > COMPARED_IMAGES_MAX {
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
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let images = images(context, world);
        if images.len() <= COMPARED_IMAGES_MAX {
            let score = move |ledger: &Ledger| images.score(present(&images.names, &ledger.node));
            return Ok(Some(ledger_scorer(world, Normalise::NotNeeded, score)));
        }
        let column = world.column(&PresentImages(images.names.clone()));
        let score = move |id: NodeId| {
            let present = column.get(id).map_or(&[][..], |present| present);
            images.score(present.iter().map(|image| usize::from(*image)))
        };
        Ok(Some(Scorer { score: NodeScore::Each(Box::new(score)), normalise: Normalise::NotNeeded }))
    }
}

/// The pod's images, with their sizes and numbers of nodes in the cluster.
fn images(context: &PodContext<'_>, world: &Snapshot<'_>) -> PodImages {
    let table = table::table(world);
    let summary = |name: &str| table.get(name).unwrap_or_default();
    PodImages::new(&context.pod.spec.images, world.len(), summary)
}

/// The column of the images that each node has, as indexes of this list.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PresentImages(Box<[Text]>);

impl PerNode for PresentImages {
    type Value = Box<[u16]>;

    fn read(&self, ledger: &Ledger) -> Self::Value {
        present(&self.0, &ledger.node).filter_map(|image| u16::try_from(image).ok()).collect()
    }
}

/// The images that the node has, as indexes of `names`.
fn present(names: &[Text], node: &Node) -> impl Iterator<Item = usize> {
    let has = |name: &Text| node.images.iter().any(|image| image.names.contains(name));
    names.iter().enumerate().filter(move |(_, name)| has(name)).map(|(index, _)| index)
}
