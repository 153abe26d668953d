//! Explains decisions instead of making them: what every filter says about single nodes, whether the pod waits for a reserved
//! node, and which pods preemption would remove. Entry point: [`Inspection::new`]; then any of its functions, in any order.

use super::admission::{EligibleNodes, MergedAdmission, run_pre_filters};
use super::filter_set::FilterSet;
use super::{Decision, NodeWait, decide_reserved_node};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{
    Attempt, CycleError, Diagnosis, NodeDiagnosis, PostFilterResult, Reason, Registry, Rejection, Rejections,
};
use smallvec::smallvec;

/// The PreFilter answers and the prepared filters for one pod.
pub struct Inspection<'c> {
    filter_set: FilterSet<'c>,
    registry: &'c Registry,
    admission: MergedAdmission,
}

impl<'c> Inspection<'c> {
    /// Runs PreFilter, and prepares all filters.
    pub fn new(
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        registry: &'c Registry,
    ) -> Result<Self, CycleError> {
        let admission = run_pre_filters(context, world, registry)?;
        Ok(Self { filter_set: FilterSet::new(context, world, registry), registry, admission })
    }

    /// Why PreFilter rejected the pod for all nodes; empty if it did not.
    pub fn pre_filter_rejections(&self) -> &[Rejection] {
        match &self.admission.nodes {
            EligibleNodes::NoNode(reasons) => reasons,
            EligibleNodes::All | EligibleNodes::Only(..) => &[],
        }
    }

    /// Every rejection of the node, by every filter. Nominated pods of the same or a higher priority are counted on the node that
    /// they are nominated to.
    pub fn every_reason(&self, id: NodeId) -> Result<Rejections, CycleError> {
        if !self.pre_filter_rejections().is_empty() {
            return Ok(self.pre_filter_rejections().iter().cloned().collect());
        }
        let all = self.filter_set.all_rejections_with_nominated(id)?;
        match &self.admission.nodes {
            EligibleNodes::Only(names, by)
                if all.is_empty()
                    && self.filter_set.world.name(id).is_none_or(|name| !names.contains(name)) =>
            {
                Ok(smallvec![Rejection::new("", Reason::ExcludedByPreFilter(by.iter().copied().collect()))])
            }
            _ => Ok(all),
        }
    }

    /// Whether the pod fits the node now, as [`schedule`](super::schedule) decides it.
    pub fn fits(&self, id: NodeId) -> Result<bool, CycleError> {
        let name = self.filter_set.world.name(id);
        let is_eligible = match &self.admission.nodes {
            EligibleNodes::All => true,
            EligibleNodes::Only(names, _) => name.is_some_and(|name| names.contains(name)),
            EligibleNodes::NoNode(_) => false,
        };
        Ok(is_eligible && self.filter_set.first_rejections(id)?.is_empty())
    }

    pub fn nominated(&self, id: NodeId) -> Vec<&'c std::sync::Arc<crate::model::Pod>> {
        self.filter_set.nominated(id)
    }

    /// The reserved node that the pod waits for; `None` if it does not wait.
    pub fn node_wait(&self) -> Result<Option<NodeWait>, CycleError> {
        let Some(reserved_node) = &self.admission.reserved_node else { return Ok(None) };
        Ok(match decide_reserved_node(&self.filter_set, reserved_node, self.registry)? {
            Some(Decision::WaitForNode(wait)) => Some(*wait),
            _ => None,
        })
    }

    /// Runs the PostFilter plugins as if the cluster had only these nodes.
    pub fn post_filter_on(&self, nodes: &[NodeId]) -> Result<PostFilterResult, CycleError> {
        let mut diagnosis = Diagnosis::default();
        for id in nodes {
            diagnosis
                .nodes
                .push(NodeDiagnosis { id: *id, rejections: self.filter_set.first_rejections(*id)? });
        }
        let filter_with = |ledger: Ledger| self.filter_set.filter_with(ledger);
        let attempt = Attempt {
            context: self.filter_set.context,
            world: self.filter_set.world,
            diagnosis: &diagnosis,
            filter_with: &filter_with,
        };
        let mut result = PostFilterResult::default();
        for plugin in self.registry.post_filters.iter().filter(|_| !diagnosis.nodes.is_empty()) {
            result = result.and(plugin.post_filter(&attempt));
        }
        Ok(result)
    }
}
