//! `spec.topologySpreadConstraints` of a pod.

use super::{Selector, Text};

/// A `TopologySpreadConstraint`: how evenly pods are spread over the domains of a topology.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TopologySpreadConstraint {
    /// By how many pods two domains may differ.
    pub max_skew: i32,
    /// The node label whose values are the domains.
    pub topology_key: Text,
    /// `whenUnsatisfiable: DoNotSchedule`: a node that would violate the constraint is rejected. Otherwise it only scores lower.
    pub do_not_schedule: bool,
    /// Which pods are counted; `None` counts none.
    pub selector: Option<Selector>,
    /// Keys of labels whose value counted pods must share with the pod itself. A key that the pod does not have is ignored.
    pub match_label_keys: Box<[Text]>,
    /// With fewer domains than this the smallest count is taken as 0.
    pub min_domains: Option<i32>,
    /// Whether only nodes count that match the pod's node affinity and node selector (`nodeAffinityPolicy`, by default `Honor`).
    pub honours_affinity: bool,
    /// Whether only nodes count whose taints the pod tolerates (`nodeTaintsPolicy`, by default `Ignore`).
    pub honours_taints: bool,
}
