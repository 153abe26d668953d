//! Reads and shows what several plugins' arguments have in common: resources with weights, shapes, and the strategies of
//! NodeResourcesFit.

use serde_json::json;

use super::args::{
    NodeResourcesFitArgs, PluginArgs, RawArgs, ResourceWeight, ScoringStrategy, ShapePoint, default_resources,
};
use super::file_value::FileMap;
use super::findings::{Findings, quoted};
use super::nearest::not_one_of;
use super::read_args::between;
use super::show::with;
use crate::model::label_syntax::is_key;

impl PluginArgs for NodeResourcesFitArgs {
    const FIELDS: &'static [&'static str] = &["ignoredResources", "ignoredResourceGroups", "scoringStrategy"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        let ignored_resources = object.texts("ignoredResources", found);
        let ignored_resource_groups = object.texts("ignoredResourceGroups", found);
        let groups =
            ignored_resource_groups.iter().enumerate().map(|entry| ("ignoredResourceGroups", entry, true));
        let names = ignored_resources.iter().enumerate().map(|entry| ("ignoredResources", entry, false));
        for (key, (index, name), is_group) in names.chain(groups) {
            if !is_key(name) || (is_group && name.contains('/')) {
                let path = format!("{}[{index}]", object.child(key));
                found.error(
                    &path,
                    format!(
                        "{} is not a name{}",
                        quoted(name),
                        if is_group { " without a slash" } else { "" }
                    ),
                );
            }
        }
        let fields = ["type", "resources", "requestedToCapacityRatio"];
        let strategy = object.object("scoringStrategy", &fields, found);
        let (strategy, resources) = match strategy {
            Some(object) => (scoring_strategy(&object, found), scored_resources(&object, found)),
            None => (ScoringStrategy::LeastAllocated, default_resources()),
        };
        NodeResourcesFitArgs { ignored_resources, ignored_resource_groups, strategy, resources }
    }

    fn to_value(&self) -> RawArgs {
        let shown = json!({"scoringStrategy": strategy_value(&self.strategy, &self.resources)});
        let (resources, groups) = (&self.ignored_resources, &self.ignored_resource_groups);
        with(shown, json!({"ignoredResources": resources, "ignoredResourceGroups": groups}))
    }
}

fn scoring_strategy(object: &FileMap<'_>, found: &mut Findings) -> ScoringStrategy {
    const TYPES: [&str; 3] = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"];
    let kind = object.text("type", found).unwrap_or_default();
    let key = "requestedToCapacityRatio";
    let ratio = object.object(key, &["shape"], found);
    if kind != TYPES[2] && ratio.is_some() {
        found.error(&object.child(key), format!("is there, but type is not {}", TYPES[2]));
    }
    match (kind.as_str(), ratio) {
        ("LeastAllocated", _) => ScoringStrategy::LeastAllocated,
        ("MostAllocated", _) => ScoringStrategy::MostAllocated,
        ("RequestedToCapacityRatio", Some(ratio)) => {
            ScoringStrategy::RequestedToCapacityRatio(checked_shape(&ratio, found))
        }
        ("RequestedToCapacityRatio", None) => {
            found.error(&object.child(key), format!("is missing; {} needs its shape", TYPES[2]));
            ScoringStrategy::LeastAllocated
        }
        (other, _) => {
            found.error(&object.child("type"), not_one_of(other, &TYPES));
            ScoringStrategy::LeastAllocated
        }
    }
}

pub(super) fn strategy_value(strategy: &ScoringStrategy, resources: &[ResourceWeight]) -> RawArgs {
    let (kind, ratio) = match strategy {
        ScoringStrategy::LeastAllocated => ("LeastAllocated", None),
        ScoringStrategy::MostAllocated => ("MostAllocated", None),
        ScoringStrategy::RequestedToCapacityRatio(points) => ("RequestedToCapacityRatio", Some(points)),
    };
    let ratio = ratio.map(|points| json!({"shape": shape_value(points)}));
    let shown = json!({"type": kind, "resources": resources_value(resources)});
    with(shown, json!({"requestedToCapacityRatio": ratio}))
}

/// The resources of a scoring strategy, their weights from 1 to 100.
pub(super) fn scored_resources(object: &FileMap<'_>, found: &mut Findings) -> Vec<ResourceWeight> {
    let resources = resources(object, found);
    for (index, resource) in
        resources.iter().enumerate().filter(|(_, found)| !(1..=100).contains(&found.weight))
    {
        let path = format!("{}[{index}].weight", object.child("resources"));
        found.error(&path, format!("{} is not between 1 and 100", resource.weight));
    }
    resources
}

pub(super) fn resources(object: &FileMap<'_>, found: &mut Findings) -> Vec<ResourceWeight> {
    let mut resources = Vec::new();
    for node in object.list("resources", found) {
        let Some(object) = node.object(&["name", "weight"], found) else { continue };
        let name = object.text("name", found).unwrap_or_default();
        let weight = object.int64("weight", found).filter(|weight| *weight != 0).unwrap_or(1);
        resources.push(ResourceWeight { name, weight });
    }
    if resources.is_empty() { default_resources() } else { resources }
}

pub(super) fn resources_value(resources: &[ResourceWeight]) -> Vec<RawArgs> {
    resources.iter().map(|resource| json!({"name": resource.name, "weight": resource.weight})).collect()
}

/// The points of a shape: at least one, with increasing utilization.
pub(super) fn checked_shape(object: &FileMap<'_>, found: &mut Findings) -> Vec<ShapePoint> {
    let mut shape: Vec<ShapePoint> = Vec::new();
    let mut in_order = true;
    for node in object.list("shape", found) {
        let Some(point) = node.object(&["utilization", "score"], found) else { continue };
        let utilization = point.int32("utilization", found).unwrap_or(0);
        let score = point.int32("score", found).unwrap_or(0);
        if in_order && shape.last().is_some_and(|before| before.utilization >= utilization) {
            in_order = false;
            let what = format!("{utilization} is not more than the point's before it");
            found.error(&point.child("utilization"), what);
        }
        between(utilization, 0, 100, &point.child("utilization"), found);
        between(score, 0, 10, &point.child("score"), found);
        shape.push(ShapePoint { utilization, score });
    }
    if shape.is_empty() {
        found.error(&object.child("shape"), "is empty; at least one point");
    }
    shape
}

pub(super) fn shape_value(points: &[ShapePoint]) -> Vec<RawArgs> {
    points.iter().map(|point| json!({"utilization": point.utilization, "score": point.score})).collect()
}
