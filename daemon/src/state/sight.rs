//! How much of the cluster was seen, and for whom this daemon speaks: what its replica publishes.

use common::model::ids::Text;
use std::sync::Arc;

/// What a replica tells others about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// The newest version of a node that was seen.
    pub nodes: u64,
    /// The newest version of a pod that was seen.
    pub pods: u64,
    /// The scheduler names whose pods it places; none while another replica does.
    pub schedulers: Arc<[Text]>,
    /// The scheduler names whose pods it lately answered for as an extender.
    pub extends: Arc<[Text]>,
}
