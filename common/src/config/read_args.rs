//! Parses the arguments of kube-scheduler's plugins, with defaults and limits. Entry point: [`read`].

use super::args::{
    BalancedAllocationArgs, DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs,
    NodeResourcesFitArgs, PluginArgs, ResourceWeight, ScoringStrategy, ShapePoint, VolumeBindingArgs,
    default_resources,
};
use super::file_value::{FileMap, FileValue};
use super::findings::{Findings, quoted};
use super::names::is_qualified;
use super::nearest::did_you_mean;
use super::read_affinity;
use super::read_spread;
use super::version::Version;

/// The plugins that have arguments, and the fields of the arguments.
const FIELDS: [(&str, &[&str]); 8] = [
    ("DefaultPreemption", &["minCandidateNodesPercentage", "minCandidateNodesAbsolute"]),
    ("DynamicResources", &["filterTimeout", "bindingTimeout"]),
    ("InterPodAffinity", &["hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"]),
    ("NodeAffinity", &["addedAffinity"]),
    ("NodeResourcesBalancedAllocation", &["resources"]),
    ("NodeResourcesFit", &["ignoredResources", "ignoredResourceGroups", "scoringStrategy"]),
    ("PodTopologySpread", &["defaultConstraints", "defaultingType"]),
    ("VolumeBinding", &["bindTimeoutSeconds", "shape"]),
];

/// Reads the arguments of one plugin into `args`. `false` if the plugin has no arguments.
pub(super) fn read(
    name: &str,
    node: &FileValue<'_>,
    version: Version,
    args: &mut PluginArgs,
    found: &mut Findings,
) -> bool {
    let Some((_, fields)) = FIELDS.iter().find(|(known, _)| *known == name) else { return false };
    let Some(object) = checked(name, node, fields, version, found) else { return true };
    match name {
        "DefaultPreemption" => args.default_preemption = default_preemption(&object, found),
        "DynamicResources" => args.dynamic_resources = dynamic_resources(&object, found),
        "InterPodAffinity" => args.inter_pod_affinity = inter_pod_affinity(&object, found),
        "NodeAffinity" => args.node_affinity = read_affinity::read(&object, found),
        "NodeResourcesBalancedAllocation" => args.balanced_allocation = balanced_allocation(&object, found),
        "NodeResourcesFit" => args.node_resources_fit = node_resources_fit(&object, found),
        "PodTopologySpread" => args.pod_topology_spread = read_spread::read(&object, found),
        "VolumeBinding" => args.volume_binding = volume_binding(&object, found),
        _ => return false,
    }
    true
}

/// The arguments as a map, after checking the names of the fields, the kind and the version.
pub(super) fn checked<'a>(
    name: &str,
    node: &FileValue<'a>,
    fields: &[&str],
    version: Version,
    found: &mut Findings,
) -> Option<FileMap<'a>> {
    let known: Vec<&str> = ["apiVersion", "kind"].iter().chain(fields).copied().collect();
    let object = node.object(&known, found)?;
    let expected = format!("{name}Args");
    if let Some(kind) = object.text("kind", found).filter(|kind| !kind.is_empty() && *kind != expected) {
        found.error(&object.child("kind"), format!("{} is not {expected}", quoted(&kind)));
    }
    if let Some(given) = object.text("apiVersion", found).filter(|given| !given.is_empty()) {
        let parsed = Version::parse(&given);
        if parsed.is_none_or(|parsed| parsed.is_old() && !version.is_old()) {
            let what = format!("{} is not the file's version", quoted(&given));
            found.error(&object.child("apiVersion"), what);
        }
    }
    Some(object)
}

fn default_preemption(object: &FileMap<'_>, found: &mut Findings) -> DefaultPreemptionArgs {
    let (percentage_key, absolute_key) = ("minCandidateNodesPercentage", "minCandidateNodesAbsolute");
    let percentage = object.int32(percentage_key, found).unwrap_or(10);
    let absolute = object.int32(absolute_key, found).unwrap_or(100);
    between(percentage, 0, 100, &object.child(percentage_key), found);
    if absolute < 0 {
        found.error(&object.child(absolute_key), format!("{absolute} is negative"));
    }
    if percentage == 0 && absolute == 0 {
        found.error(&object.child(percentage_key), format!("is 0, and so is {absolute_key}"));
        found.error(&object.child(absolute_key), format!("is 0, and so is {percentage_key}"));
    }
    DefaultPreemptionArgs {
        min_candidate_nodes_percentage: percentage,
        min_candidate_nodes_absolute: absolute,
    }
}

fn dynamic_resources(object: &FileMap<'_>, found: &mut Findings) -> DynamicResourcesArgs {
    let default = DynamicResourcesArgs::default();
    let filter_timeout = object.duration("filterTimeout", found).unwrap_or(default.filter_timeout);
    let binding_timeout = object.duration("bindingTimeout", found).unwrap_or(default.binding_timeout);
    if filter_timeout.is_negative() {
        found.error(&object.child("filterTimeout"), "is negative");
    }
    if binding_timeout.as_secs() < 1 {
        found.error(&object.child("bindingTimeout"), "is less than a second");
    }
    DynamicResourcesArgs { filter_timeout, binding_timeout }
}

fn inter_pod_affinity(object: &FileMap<'_>, found: &mut Findings) -> InterPodAffinityArgs {
    let weight = object.int32("hardPodAffinityWeight", found).unwrap_or(1);
    between(weight, 0, 100, &object.child("hardPodAffinityWeight"), found);
    let ignore = object.flag("ignorePreferredTermsOfExistingPods", found).unwrap_or(false);
    InterPodAffinityArgs { hard_pod_affinity_weight: weight, ignore_preferred_terms_of_existing_pods: ignore }
}

fn balanced_allocation(object: &FileMap<'_>, found: &mut Findings) -> BalancedAllocationArgs {
    let resources = resources(object, found);
    for (index, resource) in resources.iter().enumerate() {
        let path = format!("{}[{index}]", object.child("resources"));
        if resources.iter().take(index).any(|before| before.name == resource.name) {
            found.error(&format!("{path}.name"), format!("{} is there twice", quoted(&resource.name)));
        }
        if resource.weight != 1 {
            found.error(&format!("{path}.weight"), format!("{} is not 1", resource.weight));
        }
    }
    BalancedAllocationArgs { resources }
}

fn node_resources_fit(object: &FileMap<'_>, found: &mut Findings) -> NodeResourcesFitArgs {
    let ignored_resources = object.texts("ignoredResources", found);
    let ignored_resource_groups = object.texts("ignoredResourceGroups", found);
    let groups =
        ignored_resource_groups.iter().enumerate().map(|entry| ("ignoredResourceGroups", entry, true));
    let names = ignored_resources.iter().enumerate().map(|entry| ("ignoredResources", entry, false));
    for (key, (index, name), is_group) in names.chain(groups) {
        if !is_qualified(name) || (is_group && name.contains('/')) {
            let path = format!("{}[{index}]", object.child(key));
            found.error(
                &path,
                format!("{} is not a name{}", quoted(name), if is_group { " without a slash" } else { "" }),
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
            let hint = did_you_mean(other, TYPES.into_iter());
            found.error(
                &object.child("type"),
                format!("{} is not one of {}{hint}", quoted(other), TYPES.join(", ")),
            );
            ScoringStrategy::LeastAllocated
        }
    }
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

fn resources(object: &FileMap<'_>, found: &mut Findings) -> Vec<ResourceWeight> {
    let mut resources = Vec::new();
    for node in object.list("resources", found) {
        let Some(object) = node.object(&["name", "weight"], found) else { continue };
        let name = object.text("name", found).unwrap_or_default();
        let weight = object.int64("weight", found).filter(|weight| *weight != 0).unwrap_or(1);
        resources.push(ResourceWeight { name, weight });
    }
    if resources.is_empty() { default_resources() } else { resources }
}

fn volume_binding(object: &FileMap<'_>, found: &mut Findings) -> VolumeBindingArgs {
    let default = VolumeBindingArgs::default();
    let seconds = object.int64("bindTimeoutSeconds", found).unwrap_or(default.bind_timeout_seconds);
    if seconds < 0 {
        found.error(&object.child("bindTimeoutSeconds"), format!("{seconds} is negative"));
    }
    let given = !object.list("shape", found).is_empty();
    let shape = if given { checked_shape(object, found) } else { default.shape };
    VolumeBindingArgs { bind_timeout_seconds: seconds, shape }
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

fn between(number: i32, min: i32, max: i32, path: &str, found: &mut Findings) {
    if !(min..=max).contains(&number) {
        found.error(path, format!("{number} is not between {min} and {max}"));
    }
}
