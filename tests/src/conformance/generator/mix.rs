//! How often generated clusters have each feature.

/// Chances in percent that a node, a pod or a cluster has a feature. Changes after a decision do not depend on them.
#[derive(Clone, Debug)]
pub struct Mix {
    /// A cluster is full, mostly with pods that can be preempted.
    pub crowded: u64,
    /// A node is cordoned.
    pub cordons: u64,
    /// A node has taints.
    pub taints: u64,
    /// A node has extended resources or huge pages.
    pub devices: u64,
    /// A quantity is spelled in an odd way.
    pub odd: u64,
    /// A pod has tolerations.
    pub tolerations: u64,
    /// A pod to schedule has a node name.
    pub named: u64,
    /// A pod has init containers, some of them sidecars.
    pub init: u64,
    /// A pod has pod-level requests.
    pub pod_level: u64,
    /// A pod on a node is being resized.
    pub resizing: u64,
    /// A pod has host ports.
    pub ports: u64,
    /// A pod has a node selector or node affinity.
    pub node_affinity: u64,
    /// A pod has affinity or anti-affinity to pods.
    pub pod_affinity: u64,
    /// A pod has spread constraints.
    pub spread: u64,
    /// A cluster has storage, and a pod uses it.
    pub volumes: u64,
    /// A pod has a priority.
    pub priorities: u64,
    /// A pod has a nominated node.
    pub nominated: u64,
    /// A pod has scheduling gates.
    pub gates: u64,
}

impl Mix {
    /// The mix for a full cluster: other pods, not constraints, are mostly the reason why a pod does not fit.
    pub(super) fn crowd(&self) -> Self {
        Self {
            cordons: self.cordons / 2,
            taints: self.taints / 2,
            devices: self.devices / 3,
            named: self.named / 3,
            node_affinity: self.node_affinity / 2,
            pod_affinity: self.pod_affinity * 3 / 4,
            spread: self.spread / 2,
            volumes: self.volumes / 4,
            priorities: self.priorities + (100 - self.priorities) / 2,
            ..self.clone()
        }
    }
}

impl Default for Mix {
    fn default() -> Self {
        Self {
            crowded: 40,
            cordons: 10,
            taints: 30,
            devices: 35,
            odd: 30,
            tolerations: 50,
            named: 14,
            init: 25,
            pod_level: 12,
            resizing: 8,
            ports: 20,
            node_affinity: 55,
            pod_affinity: 25,
            spread: 35,
            volumes: 95,
            priorities: 70,
            nominated: 3,
            gates: 3,
        }
    }
}
