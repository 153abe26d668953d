//! NodeName: a pod that names its node runs there or nowhere.

#[cfg(test)]
mod tests;

use crate::cluster::{Asker, Snapshot};
use crate::framework::{Cure, Filter, NodeFilter, Reason, Rejection, Verdict};

/// The plugin.
pub struct NodeName;

impl Filter for NodeName {
    fn name(&self) -> &'static str {
        "NodeName"
    }

    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, _world: &'c Snapshot<'c>) -> NodeFilter<'c> {
        Box::new(|ledger| match &asker.pod.node {
            Some(named) if *named != ledger.node.name => Verdict::Rejects(vec![Rejection {
                plugin: self.name(),
                reason: Reason::OtherNode,
                cure: Cure::Node,
            }]),
            _ => Verdict::Fits,
        })
    }
}
