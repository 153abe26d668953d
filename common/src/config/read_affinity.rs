//! Reads and shows the arguments of NodeAffinity: the affinity that is added to every pod.

use serde_json::json;

use super::args::{AddedAffinity, NodeAffinityArgs, NodeRequirement, NodeTerm, PluginArgs, RawArgs};
use super::file_value::FileMap;
use super::findings::{Findings, quoted};
use super::names::{is_label_value, is_qualified};
use super::nearest::did_you_mean;
use super::show::put;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const OPERATORS: [&str; 6] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];

impl PluginArgs for NodeAffinityArgs {
    const FIELDS: &'static [&'static str] = &["addedAffinity"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        let affinity = object.object("addedAffinity", &[REQUIRED, PREFERRED], found);
        Self { added_affinity: affinity.map(|affinity| added(&affinity, found)) }
    }

    fn to_value(&self) -> RawArgs {
        match &self.added_affinity {
            Some(added) => json!({"addedAffinity": affinity_value(added)}),
            None => json!({}),
        }
    }
}

fn added(affinity: &FileMap<'_>, found: &mut Findings) -> AddedAffinity {
    let required = affinity.object(REQUIRED, &["nodeSelectorTerms"], found).map(|selector| {
        let terms = selector.list("nodeSelectorTerms", found);
        let fields = ["matchExpressions", "matchFields"];
        terms.iter().filter_map(|node| Some(term(&node.object(&fields, found)?, true, found))).collect()
    });
    let mut preferred = Vec::new();
    for node in affinity.list(PREFERRED, found) {
        let Some(object) = node.object(&["weight", "preference"], found) else { continue };
        let weight = object.int32("weight", found).unwrap_or(0);
        let fields = ["matchExpressions", "matchFields"];
        let preference = object.object("preference", &fields, found);
        // A preference with weight 0 is ignored, so its requirements are not checked.
        let preference = preference.map(|preference| term(&preference, weight != 0, found));
        preferred.push((weight, preference.unwrap_or_default()));
    }
    AddedAffinity { required, preferred }
}

fn term(object: &FileMap<'_>, counts: bool, found: &mut Findings) -> NodeTerm {
    let mut read = |key: &str, check: fn(&FileMap<'_>, &NodeRequirement, &mut Findings)| {
        let mut requirements = Vec::new();
        for node in object.list(key, found) {
            let Some(object) = node.object(&["key", "operator", "values"], found) else { continue };
            let requirement = NodeRequirement {
                key: object.text("key", found).unwrap_or_default(),
                operator: object.text("operator", found).unwrap_or_default(),
                values: object.texts("values", found),
            };
            if counts {
                check(&object, &requirement, found);
            }
            requirements.push(requirement);
        }
        requirements
    };
    NodeTerm {
        match_expressions: read("matchExpressions", check_expression),
        match_fields: read("matchFields", check_field),
    }
}

fn check_expression(object: &FileMap<'_>, requirement: &NodeRequirement, found: &mut Findings) {
    let NodeRequirement { key, operator, values } = requirement;
    let path = object.child("values");
    let wrong = match operator.as_str() {
        "In" | "NotIn" => values.is_empty().then_some("is empty; at least one value"),
        "Exists" | "DoesNotExist" => {
            (!values.is_empty()).then_some("is not empty; the operator takes no value")
        }
        "Gt" | "Lt" => (values.len() != 1).then_some("must have exactly one value"),
        other => {
            let hint = did_you_mean(other, OPERATORS.into_iter());
            let what = format!("{} is not one of {}{hint}", quoted(other), OPERATORS.join(", "));
            return found.error(&object.child("operator"), what);
        }
    };
    if !is_qualified(key) {
        found.error(&object.child("key"), format!("{} is not the key of a label", quoted(key)));
    }
    wrong.into_iter().for_each(|wrong| found.error(&path, wrong));
    for (index, value) in values.iter().enumerate() {
        if matches!(operator.as_str(), "Gt" | "Lt") && value.parse::<i64>().is_err() {
            found.error(&format!("{path}[{index}]"), format!("{} is not a whole number", quoted(value)));
        }
        if !is_label_value(value) {
            found
                .error(&format!("{path}[{index}]"), format!("{} is not the value of a label", quoted(value)));
        }
    }
}

fn check_field(object: &FileMap<'_>, requirement: &NodeRequirement, found: &mut Findings) {
    let operators = ["In", "NotIn"];
    if !operators.contains(&requirement.operator.as_str()) {
        let what = format!("{} is not one of {}", quoted(&requirement.operator), operators.join(", "));
        found.error(&object.child("operator"), what);
    } else if requirement.values.len() != 1 {
        found.error(&object.child("values"), "must have exactly one value");
    }
}

fn affinity_value(added: &AddedAffinity) -> RawArgs {
    let mut shown = json!({});
    if let Some(terms) = &added.required {
        let terms: Vec<RawArgs> = terms.iter().map(term_value).collect();
        let selector = json!({"nodeSelectorTerms": terms});
        put(&mut shown, REQUIRED, selector);
    }
    if !added.preferred.is_empty() {
        let preferred = added.preferred.iter();
        let preferred = preferred
            .map(|(weight, preference)| json!({"weight": weight, "preference": term_value(preference)}));
        put(&mut shown, PREFERRED, preferred.collect());
    }
    shown
}

fn term_value(term: &NodeTerm) -> RawArgs {
    let mut shown = json!({});
    let lists = [("matchExpressions", &term.match_expressions), ("matchFields", &term.match_fields)];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        put(&mut shown, key, list.iter().map(requirement_value).collect());
    }
    shown
}

fn requirement_value(requirement: &NodeRequirement) -> RawArgs {
    let mut shown = json!({"key": requirement.key, "operator": requirement.operator});
    if !requirement.values.is_empty() {
        put(&mut shown, "values", json!(requirement.values));
    }
    shown
}
