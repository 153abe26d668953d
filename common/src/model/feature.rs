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

impl Feature {
    const ALL: [Feature; 10] = [
        Feature::SchedulingGates,
        Feature::NodeAffinity,
        Feature::NodePorts,
        Feature::Volumes,
        Feature::PodTopologySpread,
        Feature::InterPodAffinity,
        Feature::DynamicResources,
        Feature::RequiredAntiAffinity,
        Feature::Gang,
        Feature::NodeDeclaredFeatures,
    ];

    /// Whether no plugin of ours supports the feature. A pod that uses it is then not scheduled at all, rather than scheduled
    /// wrongly.
    pub fn is_unsupported(self) -> bool {
        matches!(self, Self::DynamicResources | Self::Gang)
    }

    /// The field of the pod that asks for the feature.
    pub fn field(self) -> &'static str {
        match self {
            Self::SchedulingGates => "spec.schedulingGates",
            Self::NodeAffinity => "spec.nodeSelector or spec.affinity.nodeAffinity",
            Self::NodePorts => "hostPort",
            Self::Volumes => "spec.volumes with claims or disks",
            Self::PodTopologySpread => "spec.topologySpreadConstraints",
            Self::InterPodAffinity => "spec.affinity.podAffinity or podAntiAffinity",
            Self::DynamicResources => "spec.resourceClaims",
            Self::RequiredAntiAffinity => "a required podAntiAffinity",
            Self::Gang => "spec.schedulingGroup",
            Self::NodeDeclaredFeatures => {
                "hostUsers: false with hostNetwork, RestartAllContainers or bindMountOptions"
            }
        }
    }
}

impl Features {
    /// The features, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |feature| self.contains(*feature))
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
