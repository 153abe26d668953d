//! A profile as it is written in the file: the plugins that it enables and disables, each with its path. Entry point:
//! [`RawProfile::read`].

use std::collections::BTreeMap;

use super::file_value::{FileMap, FileValue};
use super::findings::Findings;
use super::settings::percentage;
use crate::model::ExtensionPoint;

const PROFILE: [&str; 4] = ["schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"];
const MULTI_POINT: &str = "multiPoint";

/// The name that disables every plugin.
pub(super) const ALL: &str = "*";

/// A profile as it is written in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct RawProfile<'a> {
    pub(super) path: String,
    pub(super) scheduler_name: Option<String>,
    pub(super) percentage: Option<i32>,
    pub(super) multi_point: PluginSet,
    pub(super) points: BTreeMap<ExtensionPoint, PluginSet>,
    pub(super) plugin_configs: Vec<RawPluginConfig<'a>>,
}

/// The plugins that are enabled and disabled at one extension point, or at `multiPoint`.
#[derive(Clone, Debug, Default)]
pub(super) struct PluginSet {
    pub(super) enabled: Vec<PluginEntry>,
    pub(super) disabled: Vec<PluginEntry>,
}

impl PluginSet {
    pub(super) fn enables(&self, name: &str) -> bool {
        self.enabled.iter().any(|entry| entry.name == name)
    }

    pub(super) fn disables(&self, name: &str) -> bool {
        self.disabled.iter().any(|entry| entry.name == name || entry.name == ALL)
    }
}

/// A plugin in a list: its name with the path, and its weight.
#[derive(Clone, Debug)]
pub(super) struct PluginEntry {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) weight: i32,
}

/// One of `pluginConfig`, its arguments not parsed yet.
#[derive(Clone, Debug)]
pub(super) struct RawPluginConfig<'a> {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) args: Option<FileValue<'a>>,
}

impl<'a> RawProfile<'a> {
    pub(super) fn read(node: &FileValue<'a>, found: &mut Findings) -> Self {
        let mut raw_profile = Self { path: node.path.clone(), ..Self::default() };
        let Some(profile) = node.object(&PROFILE, found) else { return raw_profile };
        raw_profile.scheduler_name = profile.text("schedulerName", found);
        raw_profile.percentage = percentage(&profile, found);
        let known: Vec<&str> =
            ExtensionPoint::configurable().map(ExtensionPoint::field).chain([MULTI_POINT]).collect();
        if let Some(plugins) = profile.object("plugins", &known, found) {
            raw_profile.multi_point = set(&plugins, MULTI_POINT, found);
            let points =
                ExtensionPoint::configurable().map(|point| (point, set(&plugins, point.field(), found)));
            raw_profile.points = points.collect();
        }
        raw_profile.plugin_configs = profile
            .list("pluginConfig", found)
            .iter()
            .filter_map(|node| plugin_config(node, found))
            .collect();
        raw_profile
    }

    /// Every plugin set of the profile; `None` stands for `multiPoint`.
    pub(super) fn sets_mut(&mut self) -> impl Iterator<Item = (Option<ExtensionPoint>, &mut PluginSet)> {
        let points = self.points.iter_mut().map(|(point, set)| (Some(*point), set));
        points.chain([(None, &mut self.multi_point)])
    }

    pub(super) fn set(&self, point: ExtensionPoint) -> PluginSet {
        self.points.get(&point).cloned().unwrap_or_default()
    }
}

fn set(plugins: &FileMap<'_>, key: &str, found: &mut Findings) -> PluginSet {
    let Some(set) = plugins.object(key, &["enabled", "disabled"], found) else { return PluginSet::default() };
    let mut plugin_entries = |key: &str| -> Vec<PluginEntry> {
        let list = set.list(key, found);
        list.iter().filter_map(|node| entry(node, found)).collect()
    };
    PluginSet { enabled: plugin_entries("enabled"), disabled: plugin_entries("disabled") }
}

fn entry(node: &FileValue<'_>, found: &mut Findings) -> Option<PluginEntry> {
    let plugin = node.object(&["name", "weight"], found)?;
    let weight = plugin.int32("weight", found).unwrap_or(0);
    if weight < 0 {
        found.error(&plugin.child("weight"), format!("{weight} is negative"));
    }
    let name = name(&plugin, found)?;
    Some(PluginEntry { path: plugin.child("name"), name, weight })
}

fn plugin_config<'a>(node: &FileValue<'a>, found: &mut Findings) -> Option<RawPluginConfig<'a>> {
    let config = node.object(&["name", "args"], found)?;
    let name = name(&config, found)?;
    Some(RawPluginConfig { path: config.child("name"), name, args: config.get("args") })
}

fn name(object: &FileMap<'_>, found: &mut Findings) -> Option<String> {
    let given = object.get("name").is_some();
    let name = object.text("name", found).filter(|name| !name.is_empty());
    if name.is_none() && (!given || object.get("name").is_some_and(|node| node.value == "")) {
        found.error(&object.child("name"), "is missing");
    }
    name
}
