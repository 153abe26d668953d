//! Reads and shows the arguments of PodTopologySpread: the default constraints for pods without constraints.

use serde_json::json;

use super::args::{PluginArgs, PodTopologySpreadArgs, RawArgs, SpreadConstraint};
use super::file_value::FileMap;
use super::findings::{Findings, quoted};
use super::nearest::not_one_of;
use super::show::with;
use crate::model::label_syntax::is_key;

const CONSTRAINT: [&str; 8] = [
    "maxSkew",
    "topologyKey",
    "whenUnsatisfiable",
    "labelSelector",
    "minDomains",
    "nodeAffinityPolicy",
    "nodeTaintsPolicy",
    "matchLabelKeys",
];
const POLICIES: [&str; 2] = ["Honor", "Ignore"];
const ACTIONS: [&str; 2] = ["DoNotSchedule", "ScheduleAnyway"];

impl PluginArgs for PodTopologySpreadArgs {
    const FIELDS: &'static [&'static str] = &["defaultConstraints", "defaultingType"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        let nodes = object.list("defaultConstraints", found);
        let mut constraints: Vec<SpreadConstraint> = Vec::new();
        for node in &nodes {
            let Some(read) = node.object(&CONSTRAINT, found) else { continue };
            let constraint = constraint(&read, found);
            let same = |other: &SpreadConstraint| {
                (&other.topology_key, other.do_not_schedule)
                    == (&constraint.topology_key, constraint.do_not_schedule)
            };
            if constraints.iter().any(same) {
                let what = format!(
                    "{} with the same whenUnsatisfiable is there twice",
                    quoted(&constraint.topology_key)
                );
                found.error(&node.path, what);
            }
            constraints.push(constraint);
        }
        let kind = object.text("defaultingType", found).filter(|kind| !kind.is_empty());
        match kind.as_deref().unwrap_or("System") {
            "List" => return Self::List(constraints),
            "System" if constraints.is_empty() => {}
            "System" => found.error(
                &object.child("defaultingType"),
                "is System, but there are defaultConstraints; write List",
            ),
            other => {
                found.error(&object.child("defaultingType"), not_one_of(other, &["System", "List"]));
            }
        }
        Self::System
    }

    fn to_value(&self) -> RawArgs {
        match self {
            Self::System => json!({"defaultingType": "System"}),
            Self::List(list) => {
                let constraints: Vec<RawArgs> = list.iter().map(constraint_value).collect();
                with(json!({"defaultingType": "List"}), json!({"defaultConstraints": constraints}))
            }
        }
    }
}

fn constraint(object: &FileMap<'_>, found: &mut Findings) -> SpreadConstraint {
    let max_skew = object.int32("maxSkew", found).unwrap_or(0);
    if max_skew <= 0 {
        found.error(&object.child("maxSkew"), format!("{max_skew} is not more than 0"));
    }
    let topology_key = object.text("topologyKey", found).unwrap_or_default();
    if !is_key(&topology_key) {
        found.error(
            &object.child("topologyKey"),
            format!("{} is not the key of a label", quoted(&topology_key)),
        );
    }
    let action = object.text("whenUnsatisfiable", found).unwrap_or_default();
    if !ACTIONS.contains(&action.as_str()) {
        found.error(&object.child("whenUnsatisfiable"), not_one_of(&action, &ACTIONS));
    }
    if object.get("labelSelector").is_some() {
        found.error(&object.child("labelSelector"), "must be absent; it follows from each pod's owner");
    }
    SpreadConstraint {
        max_skew,
        topology_key,
        do_not_schedule: action == "DoNotSchedule",
        min_domains: object.int32("minDomains", found),
        node_affinity_policy: policy(object, "nodeAffinityPolicy", found),
        node_taints_policy: policy(object, "nodeTaintsPolicy", found),
        match_label_keys: object.texts("matchLabelKeys", found),
    }
}

fn policy(object: &FileMap<'_>, key: &str, found: &mut Findings) -> Option<String> {
    let policy = object.text(key, found)?;
    if !POLICIES.contains(&policy.as_str()) {
        found.error(&object.child(key), not_one_of(&policy, &POLICIES));
    }
    Some(policy)
}

fn constraint_value(constraint: &SpreadConstraint) -> RawArgs {
    let action = if constraint.do_not_schedule { "DoNotSchedule" } else { "ScheduleAnyway" };
    let shown = json!({
        "maxSkew": constraint.max_skew,
        "topologyKey": constraint.topology_key,
        "whenUnsatisfiable": action,
    });
    let optional = json!({
        "minDomains": constraint.min_domains,
        "nodeAffinityPolicy": constraint.node_affinity_policy,
        "nodeTaintsPolicy": constraint.node_taints_policy,
        "matchLabelKeys": constraint.match_label_keys,
    });
    with(shown, optional)
}
