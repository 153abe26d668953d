//! The list of plugins: the registry of a profile, and what a descriptor says against what the plugin is.

use super::{Implementations, PluginList, default_registry};
use crate::config::{ArgsFormat, Configuration, Profile, RawArgs, load};
use crate::framework::{Plugin, Registry};
use crate::model::{CatalogKind, ExtensionPoint};
use std::collections::BTreeSet;
use std::sync::Arc;

const HEAD: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

fn profile(yaml: &str) -> Profile {
    let text = format!("{HEAD}profiles:\n- {yaml}");
    let loaded = load("file", &text, &PluginList::built_in().declarations()).unwrap();
    loaded.configuration.profiles.into_iter().next().unwrap()
}

fn registry(profile: &Profile) -> Registry {
    PluginList::built_in().registry(profile).unwrap()
}

fn filters(registry: &Registry) -> Vec<&'static str> {
    registry.filters.iter().map(|plugin| plugin.name()).collect()
}

fn scores(registry: &Registry) -> Vec<(&'static str, i64)> {
    registry.scores.iter().map(|entry| (entry.plugin.name(), entry.weight)).collect()
}

/// The name that a plugin has at each extension point that it implements.
fn implemented(plugin: &Implementations) -> Vec<(ExtensionPoint, &'static str)> {
    fn name<P: Plugin + ?Sized>(plugin: &Option<Arc<P>>) -> Option<&'static str> {
        plugin.as_ref().map(|plugin| plugin.name())
    }
    let all = [
        (ExtensionPoint::PreEnqueue, name(&plugin.pre_enqueue)),
        (ExtensionPoint::QueueSort, name(&plugin.queue_sort)),
        (ExtensionPoint::PreFilter, name(&plugin.pre_filter)),
        (ExtensionPoint::Filter, name(&plugin.filter)),
        (ExtensionPoint::PostFilter, name(&plugin.post_filter)),
        (ExtensionPoint::PreScore, name(&plugin.pre_score)),
        (ExtensionPoint::Score, name(&plugin.score)),
        (ExtensionPoint::Reserve, name(&plugin.reserve)),
        (ExtensionPoint::Permit, name(&plugin.permit)),
        (ExtensionPoint::PreBind, name(&plugin.pre_bind)),
        (ExtensionPoint::Bind, name(&plugin.bind)),
        (ExtensionPoint::PostBind, name(&plugin.post_bind)),
    ];
    all.into_iter().filter_map(|(point, name)| Some((point, name?))).collect()
}

#[test]
fn each_plugin_is_what_its_descriptor_says() {
    let (plugins, mut names) = (PluginList::built_in(), BTreeSet::new());
    for plugin in &plugins.0 {
        assert!(names.insert(plugin.name()), "{} is there twice", plugin.name());
        let made = plugin.make(&RawArgs::Null).unwrap();
        for (point, name) in implemented(&made) {
            assert_eq!(name, plugin.name());
            let declared = &plugin.declaration.points;
            assert!(declared.contains(&point), "{name} has {point:?}, and its descriptor says {declared:?}");
        }
    }
    let without_effect = |name: &&&str| plugins.find(name).is_none_or(|plugin| plugin.is_supported());
    let expected =
        ["DeferredPodScheduling", "GangScheduling", "PodGroupPodsCount", "TopologyPlacementGenerator"];
    assert_eq!(expected.iter().find(without_effect), None);
    assert_eq!(plugins.0.iter().filter(|plugin| !plugin.is_supported()).count(), expected.len());
}

/// The rows of the tables in docs/plugins.md: name, extension points, weight, arguments.
fn documented() -> Vec<[String; 4]> {
    let document = include_str!("../../../docs/plugins.md");
    let rows = document.lines().filter(|line| line.starts_with("| `"));
    let cells = |row: &str| row.split('|').map(|cell| cell.replace('`', "").trim().to_owned()).collect();
    rows.map(|row| {
        let cells: Vec<String> = cells(row);
        let [_, name, points, weight, arguments, ..] = &cells[..] else { panic!("{row}") };
        [name.clone(), points.clone(), weight.clone(), arguments.clone()]
    })
    .collect()
}

#[test]
fn the_document_has_every_plugin() {
    let row = |plugin: &super::Descriptor| {
        let points: Vec<&str> = plugin.declaration.points.iter().map(|point| point.field()).collect();
        let weight = match plugin.declaration.default_weight {
            None => "off".to_owned(),
            Some(0) => "on".to_owned(),
            Some(weight) => weight.to_string(),
        };
        let arguments = match plugin.declaration.args {
            ArgsFormat::Typed { fields, .. } => fields.join(", "),
            ArgsFormat::None | ArgsFormat::Unchecked => String::new(),
        };
        [plugin.name().to_owned(), points.join(", "), weight, arguments]
    };
    let listed: Vec<[String; 4]> = PluginList::built_in().0.iter().map(row).collect();
    for (row, documented) in listed.iter().zip(documented()) {
        assert_eq!(documented, *row, "docs/plugins.md");
    }
    assert_eq!(documented().len(), listed.len());
}

#[test]
fn kinds_are_watched_for_the_plugins_that_run() {
    let plugins = PluginList::built_in();
    let watched = |profile: Profile| plugins.watched_kinds(&[profile]);
    let default = watched(profile("schedulerName: s"));
    let core = CatalogKind::ResourceQuota;
    assert_eq!(CatalogKind::ALL.iter().find(|kind| !default.contains(kind)), Some(&core), "and no other");
    let without = "VolumeBinding VolumeZone VolumeRestrictions NodeVolumeLimits DefaultPreemption";
    let without: Vec<String> = without.split(' ').map(|name| format!("{{name: {name}}}")).collect();
    let yaml = format!("plugins: {{multiPoint: {{disabled: [{}]}}}}", without.join(", "));
    assert_eq!(watched(profile(&yaml)), [CatalogKind::Namespace, CatalogKind::Service].into());
}

#[test]
fn the_default_profile_is_the_default_registry() {
    let plugins = PluginList::built_in();
    let configuration = Configuration::default_for("x", &plugins.declarations());
    let profile = &configuration.profiles[0];
    let (registry, default) = (registry(profile), default_registry());
    assert_eq!((filters(&registry), scores(&registry)), (filters(&default), scores(&default)));
    // No plugin is lost, and none changes its position or weight.
    let listed = |point| {
        let made = profile.at(point).iter().filter_map(|enabled| {
            let made = plugins.find(&enabled.name)?.make(profile.args(&enabled.name)).unwrap();
            let (_, name) = implemented(&made).into_iter().find(|(other, _)| *other == point)?;
            Some((name, i64::from(enabled.weight)))
        });
        made.collect::<Vec<_>>()
    };
    let names = |point| listed(point).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(filters(&registry), names(ExtensionPoint::Filter));
    assert_eq!(scores(&registry), listed(ExtensionPoint::Score));
    assert!(registry.filters.len() >= 8 && registry.scores.len() >= 6);
    assert!(registry.pre_enqueues.iter().any(|plugin| plugin.name() == "SchedulingGates"));
    assert_eq!(registry.queue_sort.as_ref().map(|plugin| plugin.name()), Some("PrioritySort"));
    assert_eq!(registry.binds.iter().map(|plugin| plugin.name()).collect::<Vec<_>>(), ["DefaultBinder"]);
    assert_eq!(plugins.unsupported(profile), [""; 0]);
}

#[test]
fn a_profile_says_which_plugins_run_and_with_which_weight() {
    let profile = profile(
        "schedulerName: s\n  plugins:\n    filter: {disabled: [{name: TaintToleration}]}\n    \
         score: {disabled: [{name: Reservation}], enabled: [{name: NodeResourcesFit, weight: 7}]}",
    );
    let (registry, default) = (registry(&profile), default_registry());
    let mut expected = filters(&default);
    expected.retain(|name| *name != "TaintToleration");
    assert_eq!(filters(&registry), expected);
    let mut expected = scores(&default);
    expected.retain(|(name, _)| !["Reservation", "NodeResourcesFit"].contains(name));
    expected.insert(0, ("NodeResourcesFit", 7));
    assert_eq!(scores(&registry), expected);
}

#[test]
fn only_plugins_that_do_not_exist_are_passed_over() {
    let strategy = "{type: MostAllocated, resources: [{name: cpu, weight: 1}]}";
    let affinity = "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: \
                    [{matchExpressions: [{key: a, operator: Exists}]}]}}";
    let spread = "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]";
    let profile = profile(&format!(
        "schedulerName: s\n  plugins:\n    multiPoint: {{enabled: [{{name: PodLimit}}, {{name: GangScheduling}}]}}\n  pluginConfig:\n  \
         - name: NodeResourcesFit\n    args: {{scoringStrategy: {strategy}}}\n  \
         - name: NodeAffinity\n    args: {{addedAffinity: {affinity}}}\n  \
         - name: PodTopologySpread\n    args: {{defaultingType: List, defaultConstraints: {spread}}}"
    ));
    assert_eq!(PluginList::built_in().unsupported(&profile), ["plugin GangScheduling in profile s"]);
}
