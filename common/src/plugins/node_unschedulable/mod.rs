//! NodeUnschedulable: a cordoned node takes only pods that tolerate the cordon's taint.

#[cfg(test)]
mod tests;

use crate::cluster::{Asker, Snapshot};
use crate::framework::{Cure, Filter, NodeFilter, Reason, Rejection, Verdict};
use crate::model::ids::Text;
use crate::model::taint::{Effect, Taint};

/// The taint that the node controller puts on cordoned nodes. The cordon itself counts as that taint, since the
/// controller may not have come round yet.
const CORDON: &str = "node.kubernetes.io/unschedulable";

/// The plugin.
pub struct NodeUnschedulable;

impl Filter for NodeUnschedulable {
    fn name(&self) -> &'static str {
        "NodeUnschedulable"
    }

    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, _world: &'c Snapshot<'c>) -> NodeFilter<'c> {
        let cordon = Taint { key: CORDON.into(), value: Text::default(), effect: Effect::NoSchedule };
        let tolerated = asker.pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(&cordon));
        Box::new(move |ledger| {
            if ledger.node.unschedulable && !tolerated {
                let reason = Reason::Unschedulable;
                Verdict::Rejects(vec![Rejection { plugin: self.name(), reason, cure: Cure::Node }])
            } else {
                Verdict::Fits
            }
        })
    }
}
