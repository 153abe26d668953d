//! Keeps one copy of the parts that many pods or nodes have in common, to save memory.

use crate::cluster::belief::intern_table::InternTable;
use crate::model::{ControllerRef, Image, Label, Labels, Node, Pod, PodSpec, Text};
use std::sync::Arc;

/// One table for each part that is shared.
#[derive(Debug, Default)]
pub struct ObjectInterner {
    specs: InternTable<Arc<PodSpec>>,
    sets: InternTable<Arc<Labels>>,
    controllers: InternTable<Arc<ControllerRef>>,
    labels: InternTable<Label>,
    images: InternTable<Arc<Image>>,
    texts: InternTable<Text>,
}

impl ObjectInterner {
    /// Shares the parts of a pod. Pods of one template have one spec, mostly one set of labels, and one controller.
    pub fn intern_pod(&mut self, pod: &mut Pod) {
        pod.spec = self.specs.intern(std::mem::take(&mut pod.spec));
        pod.labels = self.sets.intern(std::mem::take(&mut pod.labels));
        pod.controller = pod.controller.take().map(|controller| self.controllers.intern(controller));
        pod.key.namespace = self.texts.intern(pod.key.namespace.clone());
    }

    /// Shares the parts of a node. Nodes of one node pool have most labels, taints and images in common.
    pub fn intern_node(&mut self, node: &mut Node) {
        node.labels.map_shared(|label| self.labels.intern(label));
        node.images.iter_mut().for_each(|image| *image = self.images.intern(Arc::clone(image)));
        node.features.iter_mut().for_each(|feature| *feature = self.texts.intern(Arc::clone(feature)));
        for taint in &mut node.taints {
            taint.key = self.texts.intern(Arc::clone(&taint.key));
            taint.value = self.texts.intern(Arc::clone(&taint.value));
        }
    }
}
