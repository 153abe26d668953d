//! Reads and shows the arguments of kube-scheduler's plugins, with their defaults and limits. Entry points: [`read`] and
//! [`default`].

use serde_json::json;

use super::args::PluginArgs;
use super::duration;
use super::file_value::{FileMap, FileValue};
use super::findings::{Findings, quoted};
use super::plugin_catalog::ArgsFormat;
use super::read_resources::{checked_shape, resources, resources_value, shape_value};
use super::show::put;
use super::version::{API_VERSION, Version};
use super::{
    BalancedAllocationArgs, DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs,
    PluginDeclaration, RawArgs, VolumeBindingArgs,
};

/// The arguments of a plugin in a file, after checking them; `None` if they are wrong or the plugin takes none.
pub(super) fn read(
    plugin: &PluginDeclaration,
    node: &FileValue<'_>,
    version: Version,
    found: &mut Findings,
) -> Option<RawArgs> {
    match plugin.args {
        ArgsFormat::None => {
            if !node.value.is_null() {
                let what = format!("{} takes no arguments; these are ignored", plugin.name);
                found.warn(&node.path, what);
            }
            None
        }
        ArgsFormat::Unchecked => node.any_object(found).map(|_| node.value.clone()),
        ArgsFormat::Typed { fields, read } => {
            let object = checked(&plugin.name, node, fields, version, found)?;
            Some(with_kind(plugin, read(&object, found)))
        }
    }
}

/// The arguments of a plugin that the file does not configure: `null` if the plugin reads them itself, `None` if it takes none.
pub(super) fn default(plugin: &PluginDeclaration) -> Option<RawArgs> {
    match plugin.args {
        ArgsFormat::None => None,
        ArgsFormat::Unchecked => Some(RawArgs::Null),
        ArgsFormat::Typed { read, .. } => {
            Some(with_kind(plugin, read(&FileMap::default(), &mut Findings::default())))
        }
    }
}

/// The arguments of kube-scheduler's plugins have a kind and a version.
fn with_kind(plugin: &PluginDeclaration, mut args: RawArgs) -> RawArgs {
    if plugin.is_upstream {
        put(&mut args, "apiVersion", json!(API_VERSION));
        put(&mut args, "kind", json!(format!("{}Args", plugin.name)));
    }
    args
}

/// The arguments as a map, after checking the names of the fields, the kind and the version.
fn checked<'a>(
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

impl PluginArgs for DefaultPreemptionArgs {
    const FIELDS: &'static [&'static str] = &["minCandidateNodesPercentage", "minCandidateNodesAbsolute"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
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

    fn to_value(&self) -> RawArgs {
        json!({
            "minCandidateNodesPercentage": self.min_candidate_nodes_percentage,
            "minCandidateNodesAbsolute": self.min_candidate_nodes_absolute,
        })
    }
}

impl PluginArgs for DynamicResourcesArgs {
    const FIELDS: &'static [&'static str] = &["filterTimeout", "bindingTimeout"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
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

    fn to_value(&self) -> RawArgs {
        json!({
            "filterTimeout": duration::print(self.filter_timeout),
            "bindingTimeout": duration::print(self.binding_timeout),
        })
    }
}

impl PluginArgs for InterPodAffinityArgs {
    const FIELDS: &'static [&'static str] = &["hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        let weight = object.int32("hardPodAffinityWeight", found).unwrap_or(1);
        between(weight, 0, 100, &object.child("hardPodAffinityWeight"), found);
        let ignore = object.flag("ignorePreferredTermsOfExistingPods", found).unwrap_or(false);
        InterPodAffinityArgs {
            hard_pod_affinity_weight: weight,
            ignore_preferred_terms_of_existing_pods: ignore,
        }
    }

    fn to_value(&self) -> RawArgs {
        json!({
            "hardPodAffinityWeight": self.hard_pod_affinity_weight,
            "ignorePreferredTermsOfExistingPods": self.ignore_preferred_terms_of_existing_pods,
        })
    }
}

impl PluginArgs for BalancedAllocationArgs {
    const FIELDS: &'static [&'static str] = &["resources"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
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

    fn to_value(&self) -> RawArgs {
        json!({"resources": resources_value(&self.resources)})
    }
}

impl PluginArgs for VolumeBindingArgs {
    const FIELDS: &'static [&'static str] = &["bindTimeoutSeconds", "shape"];

    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self {
        let default = VolumeBindingArgs::default();
        let seconds = object.int64("bindTimeoutSeconds", found).unwrap_or(default.bind_timeout_seconds);
        if seconds < 0 {
            found.error(&object.child("bindTimeoutSeconds"), format!("{seconds} is negative"));
        }
        let given = !object.list("shape", found).is_empty();
        let shape = if given { checked_shape(object, found) } else { default.shape };
        VolumeBindingArgs { bind_timeout_seconds: seconds, shape }
    }

    fn to_value(&self) -> RawArgs {
        json!({"bindTimeoutSeconds": self.bind_timeout_seconds, "shape": shape_value(&self.shape)})
    }
}

pub(super) fn between(number: i32, min: i32, max: i32, path: &str, found: &mut Findings) {
    if !(min..=max).contains(&number) {
        found.error(path, format!("{number} is not between {min} and {max}"));
    }
}
