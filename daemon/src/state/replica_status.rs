//! What a replica publishes in its Lease: how much of the cluster it has seen, and which schedulers it serves.

use common::model::ids::Text;
use std::sync::Arc;

/// What a replica publishes about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicaStatus {
    /// The newest version of a node that it has seen.
    pub nodes: u64,
    /// The newest version of a pod that it has seen.
    pub pods: u64,
    /// The scheduler names whose pods it places; none while another replica leads.
    pub schedulers: Arc<[Text]>,
    /// The scheduler names that asked it as their extender in the last minutes.
    pub extends: Arc<[Text]>,
}
