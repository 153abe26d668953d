//! The extension points of Trace other than Score: each reports to the sink and changes nothing.

use super::Trace;
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{
    Admission, Attempt, Bind, Filter, NodeFilter, Permission, Permit, PostBind, PostFilter, PostFilterResult,
    PreBind, PreEnqueue, PreFilter, PreScore, Rejection, Reserve, Verdict,
};
use crate::model::{Claim, Pod};
use std::cell::RefCell;
use std::collections::BTreeSet;

impl PreEnqueue for Trace {
    fn check(&self, pod: &Pod) -> Option<Rejection> {
        self.sink.record("PreEnqueue", &pod.key, None);
        None
    }
}

impl PreFilter for Trace {
    fn pre_filter(&self, pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        self.pod("PreFilter", pod_context);
        Admission::All
    }
}

impl Filter for Trace {
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        if world.supposed().is_some() {
            return None;
        }
        // When no node fits, the filters run once more on all nodes for the diagnosis. Each node is reported once.
        let reported = RefCell::new(BTreeSet::new());
        Some(Box::new(move |id| {
            if reported.borrow_mut().insert(id) {
                world.ledger(id).into_iter().for_each(|ledger| self.node("Filter", pod_context, ledger));
            }
            Verdict::Fits
        }))
    }
}

impl PostFilter for Trace {
    fn post_filter(&self, attempt: &Attempt<'_>) -> PostFilterResult {
        self.pod("PostFilter", attempt.pod_context);
        PostFilterResult::default()
    }
}

impl PreScore for Trace {
    fn pre_score(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>, feasible: &[NodeId]) {
        self.pod("PreScore", pod_context);
        let nodes = feasible.iter().filter_map(|id| world.ledger(*id));
        nodes.for_each(|ledger| self.node("PreScore", pod_context, ledger));
    }
}

impl Reserve for Trace {
    fn reserve(
        &self,
        pod_context: &PodContext<'_>,
        ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Result<Vec<Claim>, Rejection> {
        self.node("Reserve", pod_context, ledger);
        Ok(Vec::new())
    }

    fn unreserve(&self, pod_context: &PodContext<'_>, ledger: &Ledger) {
        self.node("Unreserve", pod_context, ledger);
    }
}

impl Permit for Trace {
    fn permit(&self, pod_context: &PodContext<'_>, ledger: &Ledger) -> Permission {
        self.node("Permit", pod_context, ledger);
        Permission::Granted
    }
}

impl PreBind for Trace {
    fn pre_bind(&self, pod_context: &PodContext<'_>, ledger: &Ledger) -> Result<(), Rejection> {
        self.node("PreBind", pod_context, ledger);
        Ok(())
    }
}

impl Bind for Trace {
    /// Never binds: the next Bind plugin is asked.
    fn binds(&self, pod_context: &PodContext<'_>) -> bool {
        self.pod("Bind", pod_context);
        false
    }
}

impl PostBind for Trace {
    fn post_bind(&self, pod_context: &PodContext<'_>, ledger: &Ledger) {
        self.node("PostBind", pod_context, ledger);
    }
}
