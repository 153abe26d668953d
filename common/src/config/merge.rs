//! Which plugins run at which extension point: the default profile merged with the file, and `multiPoint` expanded. Entry point:
//! [`effective`]. The rules are exactly kube-scheduler's; the golden vectors compare them.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::{Findings, quoted};
use super::plugin_catalog::PluginCatalog;
use super::raw_profile::{ALL, PluginEntry, PluginSet, RawProfile};
use super::value::EnabledPlugin;
use crate::model::ExtensionPoint;

/// The plugins of a profile at each extension point, in order.
pub(super) fn effective(
    raw_profile: &RawProfile<'_>,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> BTreeMap<ExtensionPoint, Vec<EnabledPlugin>> {
    let multi_point = with_defaults(&raw_profile.multi_point, catalog);
    let mut plugins = BTreeMap::new();
    for point in ExtensionPoint::configurable() {
        let set = raw_profile.set(point);
        check_point(&set, point, catalog, found);
        let names = expand(&set, &multi_point, point, catalog, found);
        let weigh =
            |name: String| EnabledPlugin { weight: weight(&name, &set, &multi_point, point, catalog), name };
        if !names.is_empty() {
            plugins.insert(point, names.into_iter().map(weigh).collect());
        }
    }
    check_counts(&raw_profile.path, &plugins, found);
    plugins
}

/// `multiPoint` merged with the default profile: disabled plugins are removed, a default plugin that is enabled again keeps its
/// position and gets the new weight, and the other enabled plugins follow.
fn with_defaults(set: &PluginSet, catalog: PluginCatalog<'_>) -> Vec<PluginEntry> {
    let kept = catalog.defaults().filter(|(name, _)| !set.disables(name));
    // If a name is enabled twice, the last entry takes the position.
    let again = |name: &str| set.enabled.iter().rposition(|entry| entry.name == name);
    let mut placed = BTreeSet::new();
    let mut merged: Vec<PluginEntry> = kept
        .map(|(name, weight)| {
            let default = || PluginEntry { path: String::new(), name: name.to_owned(), weight };
            let index = again(name);
            placed.extend(index);
            index.and_then(|index| set.enabled.get(index).cloned()).unwrap_or_else(default)
        })
        .collect();
    let rest = set.enabled.iter().enumerate().filter(|(index, _)| !placed.contains(index));
    merged.extend(rest.map(|(_, entry)| entry.clone()));
    merged
}

/// A plugin that is enabled at a point must have that extension point, and be enabled there once.
fn check_point(set: &PluginSet, point: ExtensionPoint, catalog: PluginCatalog<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for entry in &set.enabled {
        let name = entry.name.as_str();
        if catalog.find(name).is_some() && !catalog.has(name, point) {
            found.error(&entry.path, format!("{} has no {}", quoted(name), point.field()));
        }
        if !seen.insert(name) {
            found.error(&entry.path, format!("{} is enabled twice", quoted(name)));
        }
    }
}

/// The plugins at `point`: first those that are enabled both at the point and in `multiPoint`, in the order of the point; then the
/// rest of `multiPoint`; then the rest of the point.
fn expand(
    set: &PluginSet,
    multi_point: &[PluginEntry],
    point: ExtensionPoint,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> Vec<String> {
    let spread = !set.disabled.iter().any(|entry| entry.name == ALL);
    let here = multi_point.iter().filter(|entry| {
        spread && catalog.has(&entry.name, point) && !set.disabled.iter().any(|off| off.name == entry.name)
    });
    let (overridden, rest): (Vec<&PluginEntry>, Vec<&PluginEntry>) =
        here.partition(|entry| set.enables(&entry.name));
    let mut seen = BTreeSet::new();
    for entry in rest.iter().filter(|entry| !seen.insert(entry.name.as_str())) {
        found.error(&entry.path, format!("{} is enabled twice", quoted(&entry.name)));
    }
    let is_overridden = |entry: &&PluginEntry| overridden.iter().any(|other| other.name == entry.name);
    let (first, last): (Vec<&PluginEntry>, Vec<&PluginEntry>) = set.enabled.iter().partition(is_overridden);
    first.into_iter().chain(rest).chain(last).map(|entry| entry.name.clone()).collect()
}

/// The weight at the point, else in `multiPoint`; 1 if it is absent or 0.
fn weight(
    name: &str,
    set: &PluginSet,
    multi_point: &[PluginEntry],
    point: ExtensionPoint,
    catalog: PluginCatalog<'_>,
) -> i32 {
    if !point.is_weighted() || !catalog.has(name, point) {
        return 0;
    }
    let entry = set.enabled.iter().chain(multi_point).find(|entry| entry.name == name);
    entry.map(|entry| entry.weight).filter(|weight| *weight != 0).unwrap_or(1)
}

fn check_counts(profile: &str, plugins: &BTreeMap<ExtensionPoint, Vec<EnabledPlugin>>, found: &mut Findings) {
    let count = |point: ExtensionPoint| plugins.get(&point).map_or(0, Vec::len);
    let mut report = |point: ExtensionPoint, what: String| {
        found.error(&format!("{profile}.plugins.{}", point.field()), what);
    };
    let sorters = count(ExtensionPoint::QueueSort);
    if sorters != 1 {
        report(
            ExtensionPoint::QueueSort,
            format!("{sorters} plugins; exactly one decides the order of the queue"),
        );
    }
    if count(ExtensionPoint::Bind) == 0 {
        report(ExtensionPoint::Bind, "no plugin; without one no pod is bound".to_owned());
    }
    let generators = count(ExtensionPoint::PlacementGenerate);
    if generators > 1 {
        report(ExtensionPoint::PlacementGenerate, format!("{generators} plugins; at most one"));
    }
}
