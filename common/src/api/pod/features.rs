//! Which parts of scheduling a pod's spec calls for.

use super::Spec;
use crate::model::pod::{Feature, Features};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Whether a field says anything: it is there, not null, and not an empty list or object.
#[derive(Clone, Copy, Default)]
pub(super) struct Used(pub(super) bool);

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AffinityWire {
    node_affinity: Used,
    pod_affinity: Used,
    pod_anti_affinity: Option<AntiAffinityWire>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AntiAffinityWire {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    required: Used,
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    preferred: Used,
}

/// Whether a volume can be mounted on any node.
pub(super) struct VolumeWire {
    anywhere: bool,
}

/// Volume sources that no scheduler plugin looks at: every node can mount them.
const SOURCES_ANYWHERE: [&str; 9] =
    ["configMap", "downwardAPI", "emptyDir", "hostPath", "image", "name", "nfs", "projected", "secret"];

/// What `spec` uses.
pub(super) fn features(spec: &Spec<'_>) -> Features {
    let mut features = Features::default();
    let affinity = spec.affinity.as_ref();
    let anti = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref());
    let containers = || spec.containers.iter().chain(&spec.init_containers).flatten();
    let required_anti = anti.is_some_and(|anti| anti.required.0);
    let between_pods = affinity.is_some_and(|affinity| affinity.pod_affinity.0)
        || anti.is_some_and(|anti| anti.required.0 || anti.preferred.0);
    let to_nodes = spec.node_selector.0 || affinity.is_some_and(|affinity| affinity.node_affinity.0);
    features.insert_if(spec.scheduling_gates.0, Feature::SchedulingGates);
    features.insert_if(to_nodes, Feature::NodeAffinity);
    features.insert_if(containers().any(|container| container.has_host_port()), Feature::NodePorts);
    features.insert_if(spec.volumes.iter().flatten().any(|volume| !volume.anywhere), Feature::Volumes);
    features.insert_if(spec.topology_spread_constraints.0, Feature::PodTopologySpread);
    features.insert_if(between_pods, Feature::InterPodAffinity);
    features.insert_if(required_anti, Feature::RequiredAntiAffinity);
    features.insert_if(spec.resource_claims.0, Feature::DynamicResources);
    features.insert_if(spec.scheduling_group.0, Feature::Gang);
    let own_users_on_host_network = spec.host_network == Some(true) && spec.host_users == Some(false);
    let declared =
        own_users_on_host_network || containers().any(|container| container.needs_declared_features());
    features.insert_if(declared, Feature::NodeDeclaredFeatures);
    features
}

impl<'de> Deserialize<'de> for VolumeWire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sources;
        impl<'de> Visitor<'de> for Sources {
            type Value = VolumeWire;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a volume")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VolumeWire, A::Error> {
                let mut anywhere = true;
                while let Some((source, _)) = map.next_entry::<String, IgnoredAny>()? {
                    anywhere &= SOURCES_ANYWHERE.contains(&source.as_str());
                }
                Ok(VolumeWire { anywhere })
            }
        }
        deserializer.deserialize_map(Sources)
    }
}

impl<'de> Deserialize<'de> for Used {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Anything;
        impl<'de> Visitor<'de> for Anything {
            type Value = Used;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list, an object or null")
            }

            fn visit_unit<E>(self) -> Result<Used, E> {
                Ok(Used(false))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Used, A::Error> {
                let mut used = false;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    used = true;
                }
                Ok(Used(used))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Used, A::Error> {
                let mut used = false;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    used = true;
                }
                Ok(Used(used))
            }
        }
        deserializer.deserialize_any(Anything)
    }
}
