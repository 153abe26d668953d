//! Trace at the extension points where there is nothing to do but to tell.

use super::Trace;
use crate::cluster::{Asker, Ledger, NodeId, Snapshot};
use crate::framework::{
    Admission, Attempt, Bind, Filter, NodeFilter, Permission, Permit, PostBind, PostFilter, PostFiltered,
    PreBind, PreEnqueue, PreFilter, PreScore, Rejection, Reserve, Reserved, Verdict,
};
use crate::model::Pod;
use std::cell::RefCell;
use std::collections::BTreeSet;

impl PreEnqueue for Trace {
    fn check(&self, pod: &Pod) -> Option<Rejection> {
        self.sink.passed("PreEnqueue", &pod.key, None);
        None
    }
}

impl PreFilter for Trace {
    fn pre_filter(&self, asker: &Asker<'_>, _world: &Snapshot<'_>) -> Admission {
        self.pod("PreFilter", asker);
        Admission::All
    }
}

impl Filter for Trace {
    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        if world.supposed().is_some() {
            return None;
        }
        // When no node can have the pod, all are asked once more for their reasons.
        let told = RefCell::new(BTreeSet::new());
        Some(Box::new(move |id| {
            if told.borrow_mut().insert(id) {
                world.ledger(id).into_iter().for_each(|ledger| self.node("Filter", asker, ledger));
            }
            Verdict::Fits
        }))
    }
}

impl PostFilter for Trace {
    fn post_filter(&self, attempt: &Attempt<'_>) -> PostFiltered {
        self.pod("PostFilter", attempt.asker);
        PostFiltered::default()
    }
}

impl PreScore for Trace {
    fn pre_score(&self, asker: &Asker<'_>, world: &Snapshot<'_>, feasible: &[NodeId]) {
        self.pod("PreScore", asker);
        let nodes = feasible.iter().filter_map(|id| world.ledger(*id));
        nodes.for_each(|ledger| self.node("PreScore", asker, ledger));
    }
}

impl Reserve for Trace {
    fn reserve(
        &self,
        asker: &Asker<'_>,
        ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Result<Reserved, Rejection> {
        self.node("Reserve", asker, ledger);
        Ok(Reserved::default())
    }

    fn unreserve(&self, asker: &Asker<'_>, ledger: &Ledger) {
        self.node("Unreserve", asker, ledger);
    }
}

impl Permit for Trace {
    fn permit(&self, asker: &Asker<'_>, ledger: &Ledger) -> Permission {
        self.node("Permit", asker, ledger);
        Permission::Granted
    }
}

impl PreBind for Trace {
    fn pre_bind(&self, asker: &Asker<'_>, ledger: &Ledger) -> Result<(), Rejection> {
        self.node("PreBind", asker, ledger);
        Ok(())
    }
}

impl Bind for Trace {
    /// It never binds: the next plugin does.
    fn binds(&self, asker: &Asker<'_>) -> bool {
        self.pod("Bind", asker);
        false
    }
}

impl PostBind for Trace {
    fn post_bind(&self, asker: &Asker<'_>, ledger: &Ledger) {
        self.node("PostBind", asker, ledger);
    }
}
