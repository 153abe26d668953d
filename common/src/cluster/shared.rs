//! What objects have in common, kept once.

use super::pool::Pool;
use crate::model::labels::Labels;
use crate::model::owner::ControllerRef;
use crate::model::pod::PodSpec;
use crate::model::{Node, Pod};

#[derive(Debug, Default)]
pub(super) struct Shared {
    specs: Pool<PodSpec>,
    labels: Pool<Labels>,
    controllers: Pool<ControllerRef>,
}

impl Shared {
    /// Pods of one template have one spec, mostly one set of labels, and one controller.
    pub(super) fn share_pod(&mut self, pod: &mut Pod) {
        pod.spec = self.specs.share(std::mem::take(&mut pod.spec));
        pod.labels = self.labels.share(std::mem::take(&mut pod.labels));
        pod.controller = pod.controller.take().map(|controller| self.controllers.share(controller));
    }

    pub(super) fn share_node(&mut self, _node: &mut Node) {}
}
