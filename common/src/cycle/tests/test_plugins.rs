//! Small plugins for tests, each with one behaviour that a cycle has to handle.

use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{
    Admission, Filter, NodeFilter, NodeScore, Normalise, Plugin, PluginError, PreFilter, Reason, Rejection,
    Reserve, Score, Scorer, Verdict, ledger_filter,
};
use crate::model::Claim;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A filter of `Scope::Cluster` that accepts nodes by their ledger.
pub(super) struct TestFilter {
    pub(super) name: &'static str,
    /// Whether the filter is skipped in this snapshot.
    pub(super) skips: fn(&Snapshot<'_>) -> bool,
    pub(super) accepts: fn(&Ledger, &Snapshot<'_>) -> bool,
}

/// Rejects nodes without other pods.
pub(super) const COMPANY: TestFilter =
    TestFilter { name: "Company", skips: |_| false, accepts: |ledger, _| !ledger.pods.is_empty() };

/// Rejects nodes with other pods.
pub(super) const ALONE: TestFilter =
    TestFilter { name: "Alone", skips: |_| false, accepts: |ledger, _| ledger.pods.is_empty() };

/// Rejects nodes with other pods; it is skipped while no node has a pod.
pub(super) const SHY: TestFilter = TestFilter {
    name: "Shy",
    skips: |world| world.nodes().all(|ledger| ledger.pods.is_empty()),
    accepts: |ledger, _| ledger.pods.is_empty(),
};

/// Rejects the node that has more pods than any other.
pub(super) const EVEN: TestFilter = TestFilter {
    name: "Even",
    skips: |_| false,
    accepts: |ledger, world| {
        let others = world.nodes().filter(|other| other.id != ledger.id);
        others.map(|other| other.pods.len()).max().is_none_or(|most| ledger.pods.len() <= most)
    },
};

impl Plugin for TestFilter {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl Filter for TestFilter {
    fn prepare<'c>(
        &'c self,
        _context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        if (self.skips)(world) {
            return None;
        }
        let words = self.name.to_lowercase();
        ledger_filter(world, move |ledger| match (self.accepts)(ledger, world) {
            true => Verdict::Fits,
            false => Verdict::rejects(self.name, Reason::message(words.clone())),
        })
    }
}

/// Scores nodes by their number of pods, relative to the highest number among the feasible nodes.
pub(super) struct Crowd;

impl Plugin for Crowd {
    fn name(&self) -> &'static str {
        "Crowd"
    }
}

impl Score for Crowd {
    fn prepare<'c>(
        &'c self,
        _context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let pods = |id: NodeId| world.ledger(id).map_or(0, |ledger| ledger.pods.len());
        let most = feasible.iter().map(|id| pods(*id)).max().unwrap_or(0);
        let score = move |id| i64::try_from(100 * pods(id) / most.max(1)).unwrap();
        Ok(Some(Scorer { score: NodeScore::Each(Box::new(score)), normalise: Normalise::ByHighest }))
    }
}

/// A PreFilter plugin that always returns the same answer.
pub(super) struct FixedAdmission(pub(super) &'static str, pub(super) Admission);

impl Plugin for FixedAdmission {
    fn name(&self) -> &'static str {
        self.0
    }
}

impl PreFilter for FixedAdmission {
    fn pre_filter(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        self.1.clone()
    }
}

/// A PreFilter plugin that allows these nodes only.
pub(super) fn only(name: &'static str, nodes: &[&str]) -> FixedAdmission {
    FixedAdmission(name, Admission::Only(nodes.iter().map(|node| (*node).into()).collect::<BTreeSet<_>>()))
}

/// A PreFilter plugin that rejects every pod; `unresolvable`: preemption cannot help.
pub(super) fn rejects(name: &'static str, message: &'static str, unresolvable: bool) -> FixedAdmission {
    let reason = if unresolvable { Reason::unresolvable_message(message) } else { Reason::message(message) };
    FixedAdmission(name, Admission::Rejects(vec![Rejection::new(name, reason)]))
}

/// A filter that always fails.
pub(super) struct Broken;

impl Plugin for Broken {
    fn name(&self) -> &'static str {
        "Broken"
    }
}

impl Filter for Broken {
    fn prepare<'c>(&'c self, _: &'c PodContext<'c>, _: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        Some(Box::new(|_| Verdict::Fails("out of order".into())))
    }
}

/// A Reserve plugin that rejects every pod.
pub(super) struct RejectingReserve;

impl Plugin for RejectingReserve {
    fn name(&self) -> &'static str {
        "Miser"
    }
}

impl Reserve for RejectingReserve {
    fn reserve(&self, _: &PodContext<'_>, _: &Ledger, _: &Snapshot<'_>) -> Result<Vec<Claim>, Rejection> {
        Err(Rejection::new("Miser", Reason::message("all is gone")))
    }
}

/// Adds [`RejectingReserve`] to the registry.
pub(super) fn with_rejecting_reserve(mut registry: crate::framework::Registry) -> crate::framework::Registry {
    registry.reserves.push(Arc::new(RejectingReserve));
    registry
}
