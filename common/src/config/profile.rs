//! From the profiles as they are written to those that run.

use std::collections::BTreeSet;

use serde_json::Value;

use super::args::PluginArgs;
use super::args_read;
use super::catalog::{Catalog, RESERVATION};
use super::draft::{ALL, Args, Draft, Mention};
use super::found::{Findings, quoted};
use super::merge;
use super::ours_read;
use super::retired::{self, Retired};
use super::value::Profile;
use super::version::Version;
use crate::model::ExtensionPoint;

/// The profile's effective form.
pub(super) fn build(
    mut draft: Draft<'_>,
    version: Version,
    catalog: Catalog<'_>,
    found: &mut Findings,
) -> Profile {
    let scheduler_name = draft.scheduler_name.take().unwrap_or_default();
    if scheduler_name.is_empty() {
        found.error(&format!("{}.schedulerName", draft.path), "is missing");
    }
    let strategy =
        if version.is_old() { retired::convert(&mut draft, version, catalog, found) } else { None };
    check_names(&draft, catalog, found);
    let plugins = merge::effective(&draft, catalog, found);
    let mut args = read_args(&draft.args, version, catalog, found);
    if let Some((strategy, resources)) = strategy {
        args.node_resources_fit.strategy = strategy;
        args.node_resources_fit.resources = resources;
    }
    let profile = Profile { scheduler_name, percentage_of_nodes_to_score: draft.percentage, plugins, args };
    if !profile.at(ExtensionPoint::Filter).iter().any(|enabled| enabled.name == RESERVATION) {
        let what =
            format!("{RESERVATION} is off at filter: this profile does not keep what is reserved free");
        found.warn(&format!("{}.plugins", draft.path), what);
    }
    profile
}

/// Every name must be a plugin's. A disabled one too: a mistake there would leave on what should be off.
fn check_names(draft: &Draft<'_>, catalog: Catalog<'_>, found: &mut Findings) {
    let sets = [&draft.multi_point].into_iter().chain(draft.points.values());
    for set in sets {
        set.enabled.iter().for_each(|mention| check_name(&mention.path, &mention.name, catalog, found));
        let named = |mention: &&Mention| mention.name != ALL;
        for mention in set.disabled.iter().filter(named) {
            match Retired::find(&mention.name, catalog) {
                Some(_) => found
                    .warn(&mention.path, format!("{} was retired and is off anyway", quoted(&mention.name))),
                None => check_name(&mention.path, &mention.name, catalog, found),
            }
        }
    }
}

fn check_name(path: &str, name: &str, catalog: Catalog<'_>, found: &mut Findings) {
    if catalog.points(name).is_some() {
        return;
    }
    let what = match Retired::find(name, catalog) {
        Some(retired) => format!("{} was retired; {}", quoted(name), retired.advice()),
        None => format!("{} is not a plugin{}", quoted(name), catalog.suggestion(name)),
    };
    found.error(path, what);
}

fn read_args(
    written: &[Args<'_>],
    version: Version,
    catalog: Catalog<'_>,
    found: &mut Findings,
) -> PluginArgs {
    let mut args = PluginArgs::default();
    let mut seen = BTreeSet::new();
    for config in written {
        check_name(&config.path, &config.name, catalog, found);
        if !seen.insert(config.name.as_str()) {
            found.error(&config.path, format!("{} is configured twice", quoted(&config.name)));
        }
        let Some(node) = &config.args else { continue };
        let name = &config.name;
        let takes_arguments = if catalog.is_upstream(name) {
            args_read::read(name, node, version, &mut args, found)
        } else if catalog.is_ours(name) {
            ours_read::read(name, node, version, &mut args.ours, found)
        } else {
            if node.any_object(found).is_some() && catalog.points(name).is_some() {
                args.others.insert(name.clone(), node.value.clone());
            }
            true
        };
        if !takes_arguments && *node.value != Value::Null {
            found.warn(&node.path, format!("{} takes no arguments; these are ignored", config.name));
        }
    }
    args
}

/// Names are there once, and one order of the queue serves all.
pub(super) fn check_together(drafts: &[Draft<'_>], found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for draft in drafts {
        let name = draft.scheduler_name.as_deref().unwrap_or_default();
        if !seen.insert(name) && !name.is_empty() {
            found.error(&format!("{}.schedulerName", draft.path), format!("{} is there twice", quoted(name)));
        }
    }
    let written = |draft: &Draft<'_>| {
        let names = |mentions: &[Mention], weights: bool| -> Vec<(String, i32)> {
            mentions.iter().map(|m| (m.name.clone(), if weights { m.weight } else { 0 })).collect()
        };
        let set = draft.set(ExtensionPoint::QueueSort);
        (names(&set.enabled, true), names(&set.disabled, false))
    };
    let first = drafts.first().map(written);
    for draft in drafts.iter().skip(1).filter(|draft| Some(written(draft)) != first) {
        let what = "is not written as in the first profile; all profiles share one queue";
        found.error(&format!("{}.plugins.queueSort", draft.path), what);
    }
}
