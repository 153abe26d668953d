//! Determines which [`Features`] a pod's spec uses.

use super::SpecWire;
use crate::model::pod::{Feature, Features, PodSpec};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::value::RawValue;

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
        let Some(json) = Option::<&RawValue>::deserialize(deserializer)? else { return Ok(Self(false)) };
        if !json.get().starts_with(['[', '{']) {
            return Err(D::Error::custom("expected a list, an object or null"));
        }
        // Besides the two brackets.
        Ok(Self(json.get().bytes().filter(|byte| !byte.is_ascii_whitespace()).nth(2).is_some()))
    }
}
