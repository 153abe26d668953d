//! Decodes `spec.affinity`.

use crate::api::meta::{NullableList, Str, or_empty};
use crate::api::selector::{NodeSelectorWire, NodeTermWire, SelectorWire, optional};
use crate::model::affinity::{Affinity, NodeAffinity, PodAffinityTerm, PodAffinityTerms};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct AffinityWire<'a> {
    node_affinity: Option<NodeAffinityWire<'a>>,
    pod_affinity: Option<PodTermsWire<'a>>,
    pod_anti_affinity: Option<PodTermsWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct NodeAffinityWire<'a> {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    required: Option<NodeSelectorWire<'a>>,
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    preferred: NullableList<PreferredNodesWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct PreferredNodesWire<'a> {
    weight: Option<i32>,
    preference: Option<NodeTermWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct PodTermsWire<'a> {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    required: NullableList<PodTermWire<'a>>,
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    preferred: NullableList<PreferredPodsWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct PreferredPodsWire<'a> {
    weight: Option<i32>,
    pod_affinity_term: Option<PodTermWire<'a>>,
}

/// `matchLabelKeys` and `mismatchLabelKeys` are not read: the API server has merged them into the selector.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct PodTermWire<'a> {
    label_selector: Option<SelectorWire<'a>>,
    namespaces: NullableList<Str<'a>>,
    namespace_selector: Option<SelectorWire<'a>>,
    topology_key: Option<Str<'a>>,
}

impl AffinityWire<'_> {
    pub(super) fn affinity(&self) -> Result<Option<Box<Affinity>>, String> {
        let terms = |name: &str, wire: &Option<PodTermsWire<'_>>| match wire {
            Some(wire) => wire.terms().map_err(|problem| format!("spec.affinity.{name}: {problem}")),
            None => Ok(PodAffinityTerms::default()),
        };
        let affinity = Affinity {
            node: self.node_affinity.as_ref().and_then(NodeAffinityWire::affinity),
            pod: terms("podAffinity", &self.pod_affinity)?,
            anti: terms("podAntiAffinity", &self.pod_anti_affinity)?,
        };
        Ok((affinity != Affinity::default()).then(|| Box::new(affinity)))
    }
}

impl NodeAffinityWire<'_> {
    fn affinity(&self) -> Option<NodeAffinity> {
        let term = |wire: &NodeTermWire<'_>| wire.term();
        let preferred = |wire: &PreferredNodesWire<'_>| {
            (wire.weight.unwrap_or(0), wire.preference.as_ref().map(term).unwrap_or_default())
        };
        let affinity = NodeAffinity {
            required: self.required.as_ref().map(NodeSelectorWire::selector),
            preferred: self.preferred.0.iter().map(preferred).collect(),
        };
        (affinity != NodeAffinity::default()).then_some(affinity)
    }
}

impl PodTermsWire<'_> {
    fn terms(&self) -> Result<PodAffinityTerms, String> {
        let preferred = |wire: &PreferredPodsWire<'_>| {
            let term = wire.pod_affinity_term.as_ref().map(PodTermWire::term).transpose()?;
            Ok((wire.weight.unwrap_or(0), term.unwrap_or_default()))
        };
        Ok(PodAffinityTerms {
            required: self.required.0.iter().map(PodTermWire::term).collect::<Result<_, String>>()?,
            preferred: self.preferred.0.iter().map(preferred).collect::<Result<_, String>>()?,
        })
    }
}

impl PodTermWire<'_> {
    fn term(&self) -> Result<PodAffinityTerm, String> {
        Ok(PodAffinityTerm {
            selector: optional(self.label_selector.as_ref())?,
            namespaces: self.namespaces.texts(),
            namespace_selector: optional(self.namespace_selector.as_ref())?,
            topology_key: or_empty(self.topology_key.as_ref()),
        })
    }
}
