//! Tiny plugins, each of which does one thing that a cycle has to cope with.

use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{
    Admission, Cure, Filter, NodeFilter, NodeScore, Normalise, Plugin, PreFilter, Reason, Rejection, Reserve,
    Reserved, Score, Scorer, Verdict, on_ledger,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rejects nodes by their books, whatever the pod; looks at them through the whole cluster.
pub(super) struct Toy {
    pub(super) name: &'static str,
    /// Whether it has nothing to say, given the whole cluster.
    pub(super) skips: fn(&Snapshot<'_>) -> bool,
    pub(super) accepts: fn(&Ledger, &Snapshot<'_>) -> bool,
}

/// Keeps the pod off nodes without other pods.
pub(super) const COMPANY: Toy =
    Toy { name: "Company", skips: |_| false, accepts: |ledger, _| !ledger.pods.is_empty() };

/// Keeps the pod off nodes with other pods.
pub(super) const ALONE: Toy =
    Toy { name: "Alone", skips: |_| false, accepts: |ledger, _| ledger.pods.is_empty() };

/// The same, but only where any node has a pod.
pub(super) const SHY: Toy = Toy {
    name: "Shy",
    skips: |world| world.nodes().all(|ledger| ledger.pods.is_empty()),
    accepts: |ledger, _| ledger.pods.is_empty(),
};

/// Keeps the pod off the node that has more pods than any other.
pub(super) const EVEN: Toy = Toy {
    name: "Even",
    skips: |_| false,
    accepts: |ledger, world| {
        let others = world.nodes().filter(|other| other.id != ledger.id);
        others.map(|other| other.pods.len()).max().is_none_or(|most| ledger.pods.len() <= most)
    },
};

impl Plugin for Toy {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl Filter for Toy {
    fn prepare<'c>(
        &'c self,
        _pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        if (self.skips)(world) {
            return None;
        }
        let words = self.name.to_lowercase();
        on_ledger(world, move |ledger| match (self.accepts)(ledger, world) {
            true => Verdict::Fits,
            false => Verdict::rejects(self.name, Reason::said(words.clone(), Cure::Pods)),
        })
    }
}

/// Likes nodes with many pods, compared with the node that has most.
pub(super) struct Crowd;

impl Plugin for Crowd {
    fn name(&self) -> &'static str {
        "Crowd"
    }
}

impl Score for Crowd {
    fn prepare<'c>(
        &'c self,
        _pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let pods = |id: NodeId| world.ledger(id).map_or(0, |ledger| ledger.pods.len());
        let most = feasible.iter().map(|id| pods(*id)).max().unwrap_or(0);
        let score = move |id| i64::try_from(100 * pods(id) / most.max(1)).unwrap();
        Ok(Some(Scorer { score: NodeScore::Each(Box::new(score)), normalise: Normalise::ByHighest }))
    }
}

/// Judges pods before nodes, always in the same way.
pub(super) struct Says(pub(super) &'static str, pub(super) Admission);

impl Plugin for Says {
    fn name(&self) -> &'static str {
        self.0
    }
}

impl PreFilter for Says {
    fn pre_filter(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        self.1.clone()
    }
}

/// Allows these nodes only.
pub(super) fn only(name: &'static str, nodes: &[&str]) -> Says {
    Says(name, Admission::Only(nodes.iter().map(|node| (*node).into()).collect::<BTreeSet<_>>()))
}

/// Rejects the pod in these words, which preemption may help, or not.
pub(super) fn rejects(name: &'static str, words: &'static str, for_good: bool) -> Says {
    let reason =
        if for_good { Reason::said_for_good(words, Cure::Pod) } else { Reason::said(words, Cure::Pod) };
    Says(name, Admission::Rejects(vec![Rejection::new(name, reason)]))
}

/// Cannot say anything about a node.
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

/// Lets nobody have anything.
pub(super) struct Miser;

impl Plugin for Miser {
    fn name(&self) -> &'static str {
        "Miser"
    }
}

impl Reserve for Miser {
    fn reserve(&self, _: &PodContext<'_>, _: &Ledger, _: &Snapshot<'_>) -> Result<Reserved, Rejection> {
        Err(Rejection::new("Miser", Reason::said("all is gone", Cure::Pods)))
    }
}

/// The registry with the miser at its end.
pub(super) fn with_miser(mut registry: crate::framework::Registry) -> crate::framework::Registry {
    registry.reserves.push(Arc::new(Miser));
    registry
}
