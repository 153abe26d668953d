//! Turns a [`RawProfile`] into the [`Profile`] that runs. Entry point: [`build`].

use std::collections::BTreeSet;

use serde_json::Value;

use super::findings::{Findings, quoted};
use super::merge;
use super::plugin_catalog::{PluginCatalog, RESERVATION};
use super::raw_profile::{ALL, PluginEntry, RawPluginConfig, RawProfile};
use super::read_args;
use super::retired_plugins::{self, RetiredPlugin};
use super::show::put;
use super::version::Version;
use super::{PluginConfig, PluginDeclaration, Profile};
use crate::model::ExtensionPoint;

pub(super) fn build(
    mut raw_profile: RawProfile<'_>,
    version: Version,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> Profile {
    let scheduler_name = raw_profile.scheduler_name.take().unwrap_or_default();
    if scheduler_name.is_empty() {
        found.error(&format!("{}.schedulerName", raw_profile.path), "is missing");
    }
    let strategy = if version.is_old() {
        retired_plugins::convert(&mut raw_profile, version, catalog, found)
    } else {
        None
    };
    check_names(&raw_profile, catalog, found);
    let plugins = merge::effective(&raw_profile, catalog, found);
    let plugin_configs = plugin_configs(&raw_profile.plugin_configs, version, catalog, found);
    let percentage_of_nodes_to_score = raw_profile.percentage;
    let mut profile = Profile { scheduler_name, percentage_of_nodes_to_score, plugins, plugin_configs };
    if let Some(strategy) = strategy {
        set_fit_argument(&mut profile, "scoringStrategy", &strategy);
    }
    if !profile.at(ExtensionPoint::Filter).iter().any(|enabled| enabled.name == RESERVATION) {
        let what =
            format!("{RESERVATION} is off at filter: this profile does not keep what is reserved free");
        found.warn(&format!("{}.plugins", raw_profile.path), what);
    }
    profile
}

/// Every name must be that of a plugin. This includes disabled ones: with a wrong name the plugin would stay enabled.
fn check_names(raw_profile: &RawProfile<'_>, catalog: PluginCatalog<'_>, found: &mut Findings) {
    let sets = [&raw_profile.multi_point].into_iter().chain(raw_profile.points.values());
    for set in sets {
        set.enabled.iter().for_each(|entry| check_name(&entry.path, &entry.name, catalog, found));
        let named = |entry: &&PluginEntry| entry.name != ALL;
        for entry in set.disabled.iter().filter(named) {
            match RetiredPlugin::find(&entry.name, catalog) {
                Some(_) => {
                    found.warn(&entry.path, format!("{} was retired and is off anyway", quoted(&entry.name)))
                }
                None => check_name(&entry.path, &entry.name, catalog, found),
            }
        }
    }
}

fn check_name(path: &str, name: &str, catalog: PluginCatalog<'_>, found: &mut Findings) {
    if catalog.find(name).is_some() {
        return;
    }
    let what = match RetiredPlugin::find(name, catalog) {
        Some(retired) => format!("{} was retired; {}", quoted(name), retired.advice()),
        None => format!("{} is not a plugin{}", quoted(name), catalog.suggestion(name)),
    };
    found.error(path, what);
}

/// Sets an argument of NodeResourcesFit that follows from another part of the file.
pub(super) fn set_fit_argument(profile: &mut Profile, field: &str, value: &Value) {
    let config = profile.plugin_configs.iter_mut().find(|config| config.name == "NodeResourcesFit");
    config.into_iter().for_each(|config| put(&mut config.args, field, value.clone()));
}

/// The arguments of all plugins that take any: those of the file, else the defaults.
fn plugin_configs(
    written: &[RawPluginConfig<'_>],
    version: Version,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> Vec<PluginConfig> {
    let mut configs: Vec<PluginConfig> =
        catalog.in_order_of_arguments().into_iter().filter_map(default_config).collect();
    let mut seen = BTreeSet::new();
    for config in written {
        check_name(&config.path, &config.name, catalog, found);
        if !seen.insert(config.name.as_str()) {
            found.error(&config.path, format!("{} is configured twice", quoted(&config.name)));
        }
        let Some(node) = &config.args else { continue };
        let Some(plugin) = catalog.find(&config.name) else {
            node.any_object(found);
            continue;
        };
        let read = read_args::read(plugin, node, version, found);
        let known = configs.iter_mut().find(|known| known.name == plugin.name);
        if let Some((known, read)) = known.zip(read) {
            known.is_always_shown = !plugin.is_upstream && known.args != read;
            known.args = read;
        }
    }
    // A plugin that reads its arguments itself has no defaults here.
    configs.retain(|config| !config.args.is_null());
    configs
}

fn default_config(plugin: &PluginDeclaration) -> Option<PluginConfig> {
    let args = read_args::default(plugin)?;
    Some(PluginConfig { name: plugin.name.clone(), args, is_always_shown: false })
}

/// Checks the profiles together: scheduler names are unique, and all profiles have the same QueueSort plugins.
pub(super) fn check_together(raw_profiles: &[RawProfile<'_>], found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for raw_profile in raw_profiles {
        let name = raw_profile.scheduler_name.as_deref().unwrap_or_default();
        if !seen.insert(name) && !name.is_empty() {
            found.error(
                &format!("{}.schedulerName", raw_profile.path),
                format!("{} is there twice", quoted(name)),
            );
        }
    }
    let written = |raw_profile: &RawProfile<'_>| {
        let names = |plugin_entries: &[PluginEntry], weights: bool| -> Vec<(String, i32)> {
            plugin_entries.iter().map(|m| (m.name.clone(), if weights { m.weight } else { 0 })).collect()
        };
        let set = raw_profile.set(ExtensionPoint::QueueSort);
        (names(&set.enabled, true), names(&set.disabled, false))
    };
    let first = raw_profiles.first().map(written);
    for raw_profile in raw_profiles.iter().skip(1).filter(|raw_profile| Some(written(raw_profile)) != first) {
        let what = "is not written as in the first profile; all profiles share one queue";
        found.error(&format!("{}.plugins.queueSort", raw_profile.path), what);
    }
}
