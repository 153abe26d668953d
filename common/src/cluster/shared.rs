//! What objects have in common, kept once.

use super::pool::Pool;
use crate::model::ids::Text;
use crate::model::labels::{Label, Labels};
use crate::model::node::Image;
use crate::model::owner::ControllerRef;
use crate::model::pod::PodSpec;
use crate::model::{Node, Pod};
use std::sync::Arc;

/// One copy of what was seen more than once.
#[derive(Debug, Default)]
pub struct Shared {
    specs: Pool<Arc<PodSpec>>,
    sets: Pool<Arc<Labels>>,
    controllers: Pool<Arc<ControllerRef>>,
    labels: Pool<Label>,
    images: Pool<Arc<Image>>,
    texts: Pool<Text>,
}

impl Shared {
    /// Pods of one template have one spec, mostly one set of labels, and one controller.
    pub fn share_pod(&mut self, pod: &mut Pod) {
        pod.spec = self.specs.share(std::mem::take(&mut pod.spec));
        pod.labels = self.sets.share(std::mem::take(&mut pod.labels));
        pod.controller = pod.controller.take().map(|controller| self.controllers.share(controller));
        pod.key.namespace = self.texts.share(pod.key.namespace.clone());
    }

    /// Nodes of one pool have most labels, taints and images in common.
    pub fn share_node(&mut self, node: &mut Node) {
        node.labels.map_shared(|label| self.labels.share(label));
        node.images.iter_mut().for_each(|image| *image = self.images.share(Arc::clone(image)));
        node.features.iter_mut().for_each(|feature| *feature = self.texts.share(Arc::clone(feature)));
        for taint in &mut node.taints {
            taint.key = self.texts.share(Arc::clone(&taint.key));
            taint.value = self.texts.share(Arc::clone(&taint.value));
        }
    }
}
