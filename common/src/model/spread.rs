//! `topologySpreadConstraints`.

use super::ids::Text;
use super::selector::Selector;

/// How evenly pods of a kind are spread over the domains of a topology.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpreadConstraint {
    /// By how many pods the domains may differ.
    pub max_skew: i32,
    /// The node label whose values are the domains.
    pub topology_key: Text,
    /// Whether a node that makes it worse is refused rather than scored low.
    pub do_not_schedule: bool,
    /// Which pods are counted; `None` counts none.
    pub selector: Option<Selector>,
    /// Labels that counted pods must share with the pod itself; those that it does not have do not matter.
    pub match_label_keys: Box<[Text]>,
    /// Below so many domains the smallest count is taken to be 0.
    pub min_domains: Option<i32>,
    /// Whether only nodes count that the pod's node affinity and selector match. Unless said, they do.
    pub honours_affinity: bool,
    /// Whether only nodes count whose taints the pod tolerates. Unless said, all do.
    pub honours_taints: bool,
}
