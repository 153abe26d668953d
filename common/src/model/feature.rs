//! The features of a pod that need a plugin of their own.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features {
    bits: u16,
}

/// A part of a pod's spec that needs a plugin of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Feature {
    SchedulingGates = 1 << 0,
    /// `spec.nodeSelector` or `spec.affinity.nodeAffinity`.
    NodeAffinity = 1 << 1,
    NodePorts = 1 << 2,
    /// Volumes that only some nodes can mount.
    Volumes = 1 << 3,
    PodTopologySpread = 1 << 4,
    /// `spec.affinity.podAffinity` or `podAntiAffinity`.
    InterPodAffinity = 1 << 5,
    DynamicResources = 1 << 6,
    /// `podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution`, which restricts *other* pods, too.
    RequiredAntiAffinity = 1 << 7,
    /// `spec.schedulingGroup`: pods that are scheduled all together or not at all.
    Gang = 1 << 8,
    /// Features that only nodes that declare them have: host network with user namespaces, the action `RestartAllContainers`,
    /// options of bind mounts.
    NodeDeclaredFeatures = 1 << 9,
}

/// Each feature with the field of the pod that asks for it.
const FIELDS: [(Feature, &str); 10] = [
    (Feature::SchedulingGates, "spec.schedulingGates"),
    (Feature::NodeAffinity, "spec.nodeSelector or spec.affinity.nodeAffinity"),
    (Feature::NodePorts, "hostPort"),
    (Feature::Volumes, "spec.volumes with claims or disks"),
    (Feature::PodTopologySpread, "spec.topologySpreadConstraints"),
    (Feature::InterPodAffinity, "spec.affinity.podAffinity or podAntiAffinity"),
    (Feature::DynamicResources, "spec.resourceClaims"),
    (Feature::RequiredAntiAffinity, "a required podAntiAffinity"),
    (Feature::Gang, "spec.schedulingGroup"),
    (
        Feature::NodeDeclaredFeatures,
        "hostUsers: false with hostNetwork, RestartAllContainers or bindMountOptions",
    ),
];

impl Feature {
    /// Whether no plugin of ours supports the feature. A pod that uses it is then not scheduled at all, rather than scheduled
    /// wrongly.
    pub fn is_unsupported(self) -> bool {
        matches!(self, Self::DynamicResources | Self::Gang)
    }

    pub fn field(self) -> &'static str {
        FIELDS.iter().find(|(feature, _)| *feature == self).map_or("", |(_, field)| field)
    }
}

impl Features {
    /// The features, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        FIELDS.iter().map(|(feature, _)| *feature).filter(move |feature| self.contains(*feature))
    }

    pub fn insert(&mut self, feature: Feature) {
        self.bits |= feature as u16;
    }

    pub fn contains(self, feature: Feature) -> bool {
        self.bits & feature as u16 != 0
    }

    pub fn insert_if(&mut self, used: bool, feature: Feature) {
        if used {
            self.insert(feature);
        }
    }
}
