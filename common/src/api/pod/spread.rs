//! Decodes `spec.topologySpreadConstraints`.

use crate::api::meta::{NullableList, Str, or_empty};
use crate::api::selector::{SelectorWire, optional};
use crate::model::spread::TopologySpreadConstraint;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct SpreadWire<'a> {
    max_skew: Option<i32>,
    topology_key: Option<Str<'a>>,
    when_unsatisfiable: Option<Str<'a>>,
    label_selector: Option<SelectorWire<'a>>,
    match_label_keys: NullableList<Str<'a>>,
    min_domains: Option<i32>,
    node_affinity_policy: Option<Str<'a>>,
    node_taints_policy: Option<Str<'a>>,
}

pub(super) fn constraints(
    wires: &NullableList<SpreadWire<'_>>,
) -> Result<Box<[TopologySpreadConstraint]>, String> {
    let read = |(index, wire): (usize, &SpreadWire<'_>)| {
        wire.constraint().map_err(|problem| format!("spec.topologySpreadConstraints[{index}]: {problem}"))
    };
    wires.0.iter().enumerate().map(read).collect()
}

impl SpreadWire<'_> {
    fn constraint(&self) -> Result<TopologySpreadConstraint, String> {
        let honours = |policy: &Option<Str<'_>>| policy.as_ref().map(|policy| policy.0 == "Honor");
        Ok(TopologySpreadConstraint {
            max_skew: self.max_skew.unwrap_or(0),
            topology_key: or_empty(self.topology_key.as_ref()),
            do_not_schedule: self.when_unsatisfiable.as_ref().is_some_and(|word| word.0 == "DoNotSchedule"),
            selector: optional(self.label_selector.as_ref())?,
            match_label_keys: self.match_label_keys.texts(),
            min_domains: self.min_domains,
            honours_affinity: honours(&self.node_affinity_policy).unwrap_or(true),
            honours_taints: honours(&self.node_taints_policy).unwrap_or(false),
        })
    }
}
