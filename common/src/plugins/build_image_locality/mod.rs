//! BuildImageLocality: a pod that builds on an image goes where that image is already.
//!
//! ```yaml
//! plugins:
//!   score: {enabled: [{name: BuildImageLocality, weight: 10}]}
//! pluginConfig:
//! - name: BuildImageLocality
//!   args: {env: BASE_IMAGE}      # BUILD_IMAGE if left out; empty: only the annotation counts
//! ```
//!
//! The pod says which image it is, in its annotation or else in a variable of its containers (the first there is, and
//! only if its value is written out):
//!
//! ```yaml
//! metadata:
//!   annotations: {reserve/build-image: "registry.example/torch:2.1"}
//! spec:
//!   containers:
//!   - env: [{name: BASE_IMAGE, value: "registry.example/torch:2.1"}]
//! ```
//!
//! An image without a tag is its `latest`. Nodes that have it, as their kubelets report, score 100, all others 0. For a
//! pod that names no image all nodes are equal.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{Normalise, Plugin, SCORE_MAX, Scope, Score, Scorer, score_ledger};
use crate::model::ids::Text;
use crate::model::image::tagged;
use crate::model::{Node, Pod};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// The plugin.
pub struct BuildImageLocality {
    /// The environment variable; empty for none.
    env: String,
}

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    let plugin = Arc::new(BuildImageLocality { env: args.ours.build_image_locality.env.clone() });
    Kit { score: Some(plugin), ..Kit::default() }
}

impl Plugin for BuildImageLocality {
    fn name(&self) -> &'static str {
        "BuildImageLocality"
    }
}

impl Score for BuildImageLocality {
    fn scope(&self, pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        // The annotation is no part of the pod's spec.
        let mut hasher = DefaultHasher::new();
        self.image(pod_context.pod).hash(&mut hasher);
        Scope::Node(hasher.finish())
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let Some(image) = self.image(pod_context.pod) else { return Ok(None) };
        let score =
            score_ledger(
                world,
                Normalise::Already,
                move |ledger| {
                    if has(&ledger.node, &image) { SCORE_MAX } else { 0 }
                },
            );
        Ok(Some(score))
    }
}

impl BuildImageLocality {
    /// The image that the pod will build on, with a tag.
    fn image(&self, pod: &Pod) -> Option<Text> {
        let is_it = |(name, _): &&(Text, Text)| !self.env.is_empty() && **name == *self.env;
        let in_env = || pod.spec.env.iter().find(is_it).map(|(_, value)| value);
        pod.build_image().or_else(in_env).cloned().map(tagged)
    }
}

fn has(node: &Node, image: &Text) -> bool {
    node.images.iter().any(|known| known.names.contains(image))
}
