//! One pod under a magnifying glass: what every filter says about single nodes, where it would rather wait, and who would
//! have to go for it. For whoever explains a decision rather than makes it.

use super::admission::{Admittance, Admitted, admit};
use super::round::Round;
use super::{Awaited, Decision, go_to_reserved_node};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{Attempt, NodeTrace, PostFiltered, Reason, Registry, Rejection, Rejections, Trace};
use smallvec::smallvec;

/// The filters, ready to be asked about nodes for one pod.
pub struct Inspection<'c> {
    round: Round<'c>,
    registry: &'c Registry,
    admitted: Admittance,
}

impl<'c> Inspection<'c> {
    /// Prepares all filters.
    ///
    /// # Errors
    /// When a plugin cannot say anything.
    pub fn new(
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        registry: &'c Registry,
    ) -> Result<Self, String> {
        let admitted = admit(pod_context, world, registry)?;
        Ok(Self { round: Round::new(pod_context, world, registry), registry, admitted })
    }

    /// Why the pod was rejected before any node was looked at.
    pub fn refused(&self) -> &[Rejection] {
        match &self.admitted.nodes {
            Admitted::Refused(reasons) => reasons,
            Admitted::All | Admitted::Only(..) => &[],
        }
    }

    /// Everything that speaks against the node, in the words of every filter. A pod that others were preempted for counts
    /// where it is nominated to, if it is as important as this one.
    ///
    /// # Errors
    /// When a filter cannot say.
    pub fn every_reason(&self, id: NodeId) -> Result<Rejections, String> {
        if !self.refused().is_empty() {
            return Ok(self.refused().iter().cloned().collect());
        }
        let all = self.round.ask_all_with_nominated(id)?;
        match &self.admitted.nodes {
            Admitted::Only(names, by)
                if all.is_empty() && self.round.world.name(id).is_none_or(|name| !names.contains(name)) =>
            {
                Ok(smallvec![Rejection::new("", Reason::LeftOut(by.iter().copied().collect()))])
            }
            _ => Ok(all),
        }
    }

    /// Whether the pod could be placed on the node now, as [`schedule`](super::schedule) sees it.
    ///
    /// # Errors
    /// When a filter cannot say.
    pub fn can_have(&self, id: NodeId) -> Result<bool, String> {
        let name = self.round.world.name(id);
        let is_admitted = match &self.admitted.nodes {
            Admitted::All => true,
            Admitted::Only(names, _) => name.is_some_and(|name| names.contains(name)),
            Admitted::Refused(_) => false,
        };
        Ok(is_admitted && self.round.ask(id)?.is_empty())
    }

    /// The pods nominated to the node that this one has to leave room for.
    pub fn nominated(&self, id: NodeId) -> Vec<&'c std::sync::Arc<crate::model::Pod>> {
        self.round.nominated(id)
    }

    /// The names of the filters that have something to say about the pod.
    pub fn asked(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.round.filters.iter().map(|filter| filter.plugin.name())
    }

    /// The node that the pod waits for because it is kept for it, if it does.
    ///
    /// # Errors
    /// When a filter cannot say.
    pub fn awaited(&self) -> Result<Option<Awaited>, String> {
        let Some(reserved_node) = &self.admitted.reserved_node else { return Ok(None) };
        Ok(match go_to_reserved_node(&self.round, reserved_node, self.registry)? {
            Some(Decision::Awaits(awaited)) => Some(*awaited),
            _ => None,
        })
    }

    /// What would help on these nodes alone: the plugins that look for help when no node can have the pod are asked as if
    /// there were no others.
    ///
    /// # Errors
    /// When a filter cannot say.
    pub fn help_on(&self, nodes: &[NodeId]) -> Result<PostFiltered, String> {
        let mut trace = Trace::default();
        for id in nodes {
            trace.nodes.push(NodeTrace { id: *id, rejections: self.round.ask(*id)? });
        }
        let refit = |ledger: Ledger| self.round.refit(ledger);
        let attempt = Attempt {
            pod_context: self.round.pod_context,
            world: self.round.world,
            trace: &trace,
            refit: &refit,
        };
        let mut help = PostFiltered::default();
        for plugin in self.registry.post_filters.iter().filter(|_| !trace.nodes.is_empty()) {
            help = help.and(plugin.post_filter(&attempt));
        }
        Ok(help)
    }
}
