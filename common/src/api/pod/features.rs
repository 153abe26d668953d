//! Determines which [`Features`] a pod's spec uses.

use super::SpecWire;
use crate::model::pod::{Feature, Features, PodSpec};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Whether a field is present, not null, and not an empty list or object.
#[derive(Clone, Copy, Default)]
pub(super) struct NonEmpty(pub(super) bool);

/// The features of a pod, from the model `spec` and from fields that only `wire` has.
pub(super) fn features(wire: &SpecWire<'_>, spec: &PodSpec) -> Features {
    let mut features = Features::default();
    let affinity = spec.affinity.as_deref();
    let to_nodes = spec.node_selector.is_some() || affinity.is_some_and(|affinity| affinity.node.is_some());
    let between_pods = affinity.is_some_and(|affinity| !affinity.pod.is_empty() || !affinity.anti.is_empty());
    let required_anti = affinity.is_some_and(|affinity| !affinity.anti.required.is_empty());
    features.insert_if(!spec.gates.is_empty(), Feature::SchedulingGates);
    features.insert_if(to_nodes, Feature::NodeAffinity);
    features.insert_if(!spec.ports.is_empty(), Feature::NodePorts);
    features.insert_if(wire.volumes.0.iter().any(|volume| volume.is_special), Feature::Volumes);
    features.insert_if(!spec.spread.is_empty(), Feature::PodTopologySpread);
    features.insert_if(between_pods, Feature::InterPodAffinity);
    features.insert_if(required_anti, Feature::RequiredAntiAffinity);
    features.insert_if(spec.claims_devices, Feature::DynamicResources);
    features.insert_if(wire.scheduling_group.0, Feature::Gang);
    features.insert_if(!spec.needs.is_empty(), Feature::NodeDeclaredFeatures);
    features
}

impl<'de> Deserialize<'de> for NonEmpty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NonEmptyVisitor;
        impl<'de> Visitor<'de> for NonEmptyVisitor {
            type Value = NonEmpty;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list, an object or null")
            }

            fn visit_unit<E>(self) -> Result<NonEmpty, E> {
                Ok(NonEmpty(false))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NonEmpty, A::Error> {
                let mut is_filled = false;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    is_filled = true;
                }
                Ok(NonEmpty(is_filled))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<NonEmpty, A::Error> {
                let mut is_filled = false;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    is_filled = true;
                }
                Ok(NonEmpty(is_filled))
            }
        }
        deserializer.deserialize_any(NonEmptyVisitor)
    }
}
