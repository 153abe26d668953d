//! Reads and shows the arguments of NodeAffinity: the affinity that is added to every pod.

use serde_json::json;

use super::args::{NodeAffinityArgs, PluginArgs, RawArgs};
use super::file_value::FileMap;
use super::findings::{Findings, quoted};
use super::nearest::not_one_of;
use super::show::with;
use crate::model::label_syntax::{is_key, is_value};
use crate::model::{NodeAffinity, NodeSelector, NodeSelectorTerm, Operator, Requirement, Text};

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
        with(json!({}), json!({"addedAffinity": self.added_affinity.as_ref().map(affinity_value)}))
    }
}

fn added(affinity: &FileMap<'_>, found: &mut Findings) -> NodeAffinity {
    let required = affinity.object(REQUIRED, &["nodeSelectorTerms"], found).map(|selector| {
        let terms = selector.list("nodeSelectorTerms", found);
        let fields = ["matchExpressions", "matchFields"];
        let terms = terms.iter().filter_map(|node| Some(term(&node.object(&fields, found)?, true, found)));
        NodeSelector { terms: terms.collect() }
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
    NodeAffinity { required, preferred: preferred.into() }
}

fn term(object: &FileMap<'_>, counts: bool, found: &mut Findings) -> NodeSelectorTerm {
    let mut read = |key: &str, check: fn(&FileMap<'_>, &Requirement, &mut Findings)| {
        let mut requirements = Vec::new();
        for node in object.list(key, found) {
            let Some(object) = node.object(&["key", "operator", "values"], found) else { continue };
            let requirement = Requirement {
                key: object.text("key", found).unwrap_or_default().into(),
                operator: Operator::from_name(&operator(&object, found)),
                values: object.texts("values", found).into_iter().map(Text::from).collect(),
            };
            if counts {
                check(&object, &requirement, found);
            }
            requirements.push(requirement);
        }
        requirements
    };
    NodeSelectorTerm::new(read("matchExpressions", check_expression), read("matchFields", check_field))
}

fn operator(requirement: &FileMap<'_>, found: &mut Findings) -> String {
    requirement.text("operator", found).unwrap_or_default()
}

fn check_expression(object: &FileMap<'_>, requirement: &Requirement, found: &mut Findings) {
    let Requirement { key, values, .. } = requirement;
    let path = object.child("values");
    let wrong = match requirement.operator {
        Operator::In | Operator::NotIn => values.is_empty().then_some("is empty; at least one value"),
        Operator::Exists | Operator::DoesNotExist => {
            (!values.is_empty()).then_some("is not empty; the operator takes no value")
        }
        Operator::Gt | Operator::Lt => (values.len() != 1).then_some("must have exactly one value"),
        Operator::Other => {
            let what = not_one_of(&operator(object, found), &OPERATORS);
            return found.error(&object.child("operator"), what);
        }
    };
    if !is_key(key) {
        found.error(&object.child("key"), format!("{} is not the key of a label", quoted(key)));
    }
    wrong.into_iter().for_each(|wrong| found.error(&path, wrong));
    for (index, value) in values.iter().enumerate() {
        let path = format!("{path}[{index}]");
        if matches!(requirement.operator, Operator::Gt | Operator::Lt) && value.parse::<i64>().is_err() {
            found.error(&path, format!("{} is not a whole number", quoted(value)));
        }
        if !is_value(value) {
            found.error(&path, format!("{} is not the value of a label", quoted(value)));
        }
    }
}

fn check_field(object: &FileMap<'_>, requirement: &Requirement, found: &mut Findings) {
    if !matches!(requirement.operator, Operator::In | Operator::NotIn) {
        let what = format!("{} is not one of In, NotIn", quoted(&operator(object, found)));
        found.error(&object.child("operator"), what);
    } else if requirement.values.len() != 1 {
        found.error(&object.child("values"), "must have exactly one value");
    }
}

fn affinity_value(added: &NodeAffinity) -> RawArgs {
    let required = added.required.as_ref().map(
        |required| json!({"nodeSelectorTerms": required.terms.iter().map(term_value).collect::<Vec<_>>()}),
    );
    let preferred = added.preferred.iter();
    let preferred = preferred.map(|(weight, term)| json!({"weight": weight, "preference": term_value(term)}));
    with(json!({}), json!({REQUIRED: required, PREFERRED: preferred.collect::<Vec<_>>()}))
}

fn term_value(term: &NodeSelectorTerm) -> RawArgs {
    let values = |list: &[Requirement]| list.iter().map(requirement_value).collect::<Vec<_>>();
    let lists = json!({"matchExpressions": values(term.expressions()), "matchFields": values(term.fields())});
    with(json!({}), lists)
}

fn requirement_value(requirement: &Requirement) -> RawArgs {
    let values: Vec<&str> = requirement.values.iter().map(|value| &**value).collect();
    let shown = json!({"key": &*requirement.key, "operator": requirement.operator.as_str()});
    with(shown, json!({"values": values}))
}
