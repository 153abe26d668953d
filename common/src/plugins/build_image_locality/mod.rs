//! BuildImageLocality: a pod that builds on a base image prefers nodes that already have that image.
//!
//! ```yaml
//! plugins:
//!   score: {enabled: [{name: BuildImageLocality, weight: 10}]}
//! pluginConfig:
//! - name: BuildImageLocality
//!   args: {env: BASE_IMAGE}      # BUILD_IMAGE if left out; empty: only the annotation counts
//! ```
//!
//! The image is named by the pod's annotation, or else by an environment variable of its containers (the first with that name, and
//! only if the value is written out):
//!
//! ```yaml
//! metadata:
//!   annotations: {reserve/build-image: "registry.example/torch:2.1"}
//! spec:
//!   containers:
//!   - env: [{name: BASE_IMAGE, value: "registry.example/torch:2.1"}]
//! ```
//!
//! An image without a tag means its `latest`. Nodes whose kubelets report the image score 100, all others 0. A pod that names no
//! image is not scored.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{NodeId, PodContext, Snapshot};
use crate::config::BuildImageLocalityArgs;
use crate::framework::{Normalise, Plugin, PluginError, SCORE_MAX, Scope, Score, Scorer, ledger_scorer};
use crate::model::image::normalized_image_name;
use crate::model::{ExtensionPoint, Node, Pod, Text};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

pub struct BuildImageLocality {
    /// The name of the environment variable; empty for none.
    env: String,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args("BuildImageLocality", &[ExtensionPoint::Score], |args: BuildImageLocalityArgs| {
        let plugin = Arc::new(BuildImageLocality { env: args.env });
        Implementations { score: Some(plugin), ..Implementations::default() }
    })
}

impl Plugin for BuildImageLocality {
    fn name(&self) -> &'static str {
        "BuildImageLocality"
    }
}

impl Score for BuildImageLocality {
    fn scope(&self, context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        // The annotation is not part of the pod's spec, so the image is hashed into the scope.
        let mut hasher = DefaultHasher::new();
        self.image(context.pod).hash(&mut hasher);
        Scope::Node(hasher.finish())
    }

    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let Some(image) = self.image(context.pod) else { return Ok(None) };
        let score =
            ledger_scorer(
                world,
                Normalise::NotNeeded,
                move |ledger| {
                    if has(&ledger.node, &image) { SCORE_MAX } else { 0 }
                },
            );
        Ok(Some(score))
    }
}

impl BuildImageLocality {
    /// The base image of the pod, with a tag.
    fn image(&self, pod: &Pod) -> Option<Text> {
        let is_variable = |(name, _): &&(Text, Text)| !self.env.is_empty() && **name == *self.env;
        let in_env = || pod.spec.env.iter().find(is_variable).map(|(_, value)| value);
        pod.build_image().or_else(in_env).cloned().map(normalized_image_name)
    }
}

fn has(node: &Node, image: &Text) -> bool {
    node.images.iter().any(|other| other.names.contains(image))
}
