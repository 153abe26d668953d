//! Turns a [`RawProfile`] into the [`Profile`] that runs. Entry point: [`build`].

use std::collections::BTreeSet;

use serde_json::Value;

use super::args::PluginArgs;
use super::findings::{Findings, quoted};
use super::merge;
use super::plugin_catalog::{PluginCatalog, RESERVATION};
use super::raw_profile::{ALL, PluginEntry, RawPluginConfig, RawProfile};
use super::read_args;
use super::read_own_args;
use super::retired_plugins::{self, RetiredPlugin};
use super::value::Profile;
use super::version::Version;
use crate::model::ExtensionPoint;

/// The effective profile.
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
    let mut args = read_plugin_configs(&raw_profile.plugin_configs, version, catalog, found);
    if let Some((strategy, resources)) = strategy {
        args.node_resources_fit.strategy = strategy;
        args.node_resources_fit.resources = resources;
    }
    let profile =
        Profile { scheduler_name, percentage_of_nodes_to_score: raw_profile.percentage, plugins, args };
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
    if catalog.points(name).is_some() {
        return;
    }
    let what = match RetiredPlugin::find(name, catalog) {
        Some(retired) => format!("{} was retired; {}", quoted(name), retired.advice()),
        None => format!("{} is not a plugin{}", quoted(name), catalog.suggestion(name)),
    };
    found.error(path, what);
}

fn read_plugin_configs(
    plugin_configs: &[RawPluginConfig<'_>],
    version: Version,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> PluginArgs {
    let mut args = PluginArgs::default();
    let mut seen = BTreeSet::new();
    for config in plugin_configs {
        check_name(&config.path, &config.name, catalog, found);
        if !seen.insert(config.name.as_str()) {
            found.error(&config.path, format!("{} is configured twice", quoted(&config.name)));
        }
        let Some(node) = &config.args else { continue };
        let name = &config.name;
        let takes_arguments = if catalog.is_upstream(name) {
            read_args::read(name, node, version, &mut args, found)
        } else if catalog.is_ours(name) {
            read_own_args::read(name, node, version, &mut args.own, found)
        } else {
            if node.any_object(found).is_some() && catalog.points(name).is_some() {
                args.extra.insert(name.clone(), node.value.clone());
            }
            true
        };
        if !takes_arguments && *node.value != Value::Null {
            found.warn(&node.path, format!("{} takes no arguments; these are ignored", config.name));
        }
    }
    args
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
