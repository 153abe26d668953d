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
    fn pre_filter(&self, context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        self.pod("PreFilter", context);
        Admission::All
    }
}

impl Filter for Trace {
    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        if world.supposed().is_some() {
            return None;
        }
        // When no node fits, the filters run once more on all nodes for the diagnosis. Each node is reported once.
        let reported = RefCell::new(BTreeSet::new());
        Some(Box::new(move |id| {
            if reported.borrow_mut().insert(id) {
                world.ledger(id).into_iter().for_each(|ledger| self.node("Filter", context, ledger));
            }
            Verdict::Fits
        }))
    }
}

impl PostFilter for Trace {
    fn post_filter(&self, attempt: &Attempt<'_>) -> PostFilterResult {
        self.pod("PostFilter", attempt.context);
        PostFilterResult::default()
    }
}

impl PreScore for Trace {
    fn pre_score(&self, context: &PodContext<'_>, world: &Snapshot<'_>, feasible: &[NodeId]) {
        self.pod("PreScore", context);
        let nodes = feasible.iter().filter_map(|id| world.ledger(*id));
        nodes.for_each(|ledger| self.node("PreScore", context, ledger));
    }
}

impl Reserve for Trace {
    fn reserve(
        &self,
        context: &PodContext<'_>,
        ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Result<Vec<Claim>, Rejection> {
        self.node("Reserve", context, ledger);
        Ok(Vec::new())
    }

    fn unreserve(&self, context: &PodContext<'_>, ledger: &Ledger) {
        self.node("Unreserve", context, ledger);
    }
}

impl Permit for Trace {
    fn permit(&self, context: &PodContext<'_>, ledger: &Ledger) -> Permission {
        self.node("Permit", context, ledger);
        Permission::Granted
    }
}

impl PreBind for Trace {
    fn pre_bind(&self, context: &PodContext<'_>, ledger: &Ledger) -> Result<(), Rejection> {
        self.node("PreBind", context, ledger);
        Ok(())
    }
}

impl Bind for Trace {
    /// Never binds: the next Bind plugin is asked.
    fn binds(&self, context: &PodContext<'_>) -> bool {
        self.pod("Bind", context);
        false
    }
}

impl PostBind for Trace {
    fn post_bind(&self, context: &PodContext<'_>, ledger: &Ledger) {
        self.node("PostBind", context, ledger);
    }
}
