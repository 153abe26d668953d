//! NodeName: a pod that names its node runs there or nowhere.

#[cfg(test)]
mod tests;

use crate::cluster::{Asker, Snapshot};
use crate::framework::{Admission, Filter, NodeFilter, Plugin, PreFilter, Reason, Verdict, on_ledger};

/// The plugin.
pub struct NodeName;

impl Plugin for NodeName {
    fn name(&self) -> &'static str {
        "NodeName"
    }
}

impl PreFilter for NodeName {
    fn pre_filter(&self, asker: &Asker<'_>, _world: &Snapshot<'_>) -> Admission {
        match &asker.pod.node {
            Some(named) => Admission::Only([named.clone()].into()),
            None => Admission::All,
        }
    }
}

impl Filter for NodeName {
    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let named = asker.pod.node.as_ref()?;
        on_ledger(world, move |ledger| match &ledger.node.name {
            name if name == named => Verdict::Fits,
            _ => Verdict::rejects(self.name(), Reason::OtherNode),
        })
    }
}
