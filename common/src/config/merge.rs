//! Which plugins run where: the default profile, what the file adds and takes away, and multiPoint spread over the
//! extension points. The rules are kube-scheduler's, to the letter; the golden vectors compare them.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{Catalog, DEFAULTS};
use super::draft::{ALL, Draft, Mention, Set};
use super::found::{Findings, quoted};
use super::value::Enabled;
use crate::model::ExtensionPoint;

/// The plugins of a profile at each extension point, in order.
pub(super) fn effective(
    draft: &Draft<'_>,
    catalog: Catalog<'_>,
    found: &mut Findings,
) -> BTreeMap<ExtensionPoint, Vec<Enabled>> {
    let multi_point = with_defaults(&draft.multi_point);
    let mut plugins = BTreeMap::new();
    for point in ExtensionPoint::CONFIGURABLE {
        let set = draft.set(point);
        check_point(&set, point, catalog, found);
        let names = expand(&set, &multi_point, point, catalog, found);
        let weigh =
            |name: String| Enabled { weight: weight(&name, &set, &multi_point, point, catalog), name };
        if !names.is_empty() {
            plugins.insert(point, names.into_iter().map(weigh).collect());
        }
    }
    check_counts(&draft.path, &plugins, found);
    plugins
}

/// multiPoint with the default profile: what is disabled goes, what is enabled again keeps its place and changes its
/// weight, the rest follows.
fn with_defaults(set: &Set) -> Vec<Mention> {
    let kept = DEFAULTS.iter().filter(|(name, _)| !set.disables(name));
    // Of a name that is enabled twice the last one takes the place.
    let again = |name: &str| set.enabled.iter().rposition(|mention| mention.name == name);
    let mut placed = BTreeSet::new();
    let mut merged: Vec<Mention> = kept
        .map(|(name, weight)| {
            let default = || Mention { path: String::new(), name: (*name).to_owned(), weight: *weight };
            let index = again(name);
            placed.extend(index);
            index.and_then(|index| set.enabled.get(index).cloned()).unwrap_or_else(default)
        })
        .collect();
    let rest = set.enabled.iter().enumerate().filter(|(index, _)| !placed.contains(index));
    merged.extend(rest.map(|(_, mention)| mention.clone()));
    merged
}

/// What is enabled at a point must have it, and be there once.
fn check_point(set: &Set, point: ExtensionPoint, catalog: Catalog<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for mention in &set.enabled {
        let name = mention.name.as_str();
        if catalog.points(name).is_some() && !catalog.has(name, point) {
            found.error(&mention.path, format!("{} has no {}", quoted(name), point.field()));
        }
        if !seen.insert(name) {
            found.error(&mention.path, format!("{} is enabled twice", quoted(name)));
        }
    }
}

/// First what is at the point and in multiPoint, in the point's order; then the rest of multiPoint; then the rest of the
/// point.
fn expand(
    set: &Set,
    multi_point: &[Mention],
    point: ExtensionPoint,
    catalog: Catalog<'_>,
    found: &mut Findings,
) -> Vec<String> {
    let spread = !set.disabled.iter().any(|mention| mention.name == ALL);
    let here = multi_point.iter().filter(|mention| {
        spread
            && catalog.has(&mention.name, point)
            && !set.disabled.iter().any(|off| off.name == mention.name)
    });
    let (overridden, rest): (Vec<&Mention>, Vec<&Mention>) =
        here.partition(|mention| set.enables(&mention.name));
    let mut seen = BTreeSet::new();
    for mention in rest.iter().filter(|mention| !seen.insert(mention.name.as_str())) {
        found.error(&mention.path, format!("{} is enabled twice", quoted(&mention.name)));
    }
    let is_overridden = |mention: &&Mention| overridden.iter().any(|other| other.name == mention.name);
    let (first, last): (Vec<&Mention>, Vec<&Mention>) = set.enabled.iter().partition(is_overridden);
    first.into_iter().chain(rest).chain(last).map(|mention| mention.name.clone()).collect()
}

/// The point's word before multiPoint's; no word, or 0, is 1.
fn weight(
    name: &str,
    set: &Set,
    multi_point: &[Mention],
    point: ExtensionPoint,
    catalog: Catalog<'_>,
) -> i32 {
    if !point.is_weighted() || !catalog.has(name, point) {
        return 0;
    }
    let said = set.enabled.iter().chain(multi_point).find(|mention| mention.name == name);
    said.map(|mention| mention.weight).filter(|weight| *weight != 0).unwrap_or(1)
}

fn check_counts(profile: &str, plugins: &BTreeMap<ExtensionPoint, Vec<Enabled>>, found: &mut Findings) {
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
