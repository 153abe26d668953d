//! Builds the registry of a profile, and names the plugins of it that are not supported. This file has the one list of all plugins.

use super::kit::Kit;
use super::tools::Tools;
use super::trace;
use crate::config::{PluginArgs, Profile, RawArgs, is_built_in};
use crate::framework::Registry;
use crate::model::ExtensionPoint;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Plugins of kube-scheduler that a file can name and that do not exist here: plugins for pod groups. Another one,
/// DynamicResources, is on by default; instead, each pod with resource claims is refused.
const UNSUPPORTED_PLUGINS: [&str; 4] =
    ["DeferredPodScheduling", "GangScheduling", "PodGroupPodsCount", "TopologyPlacementGenerator"];

/// The registry of `profile`, with its order, weights and arguments.
pub fn registry(profile: &Profile) -> Registry {
    assemble(profile, BTreeMap::new(), &Tools::default())
}

/// The registry of `profile`, with the plugins and the trace sink of the caller.
///
/// # Errors
/// When a plugin of the caller rejects its arguments, or the profile names a plugin that does not exist.
pub fn registry_with(profile: &Profile, tools: &Tools) -> Result<Registry, String> {
    let none = RawArgs::Null;
    let mut extra = BTreeMap::new();
    for name in profile.plugins.values().flatten().map(|enabled| enabled.name.as_str()) {
        let failed = |why: String| format!("plugin {name} in profile {}: {why}", profile.scheduler_name);
        match tools.extra.get(name) {
            Some(_) if extra.contains_key(name) => {}
            Some(plugin) => {
                let args = profile.args.extra.get(name).unwrap_or(&none);
                extra.insert(name, (plugin.make)(args).map_err(failed)?);
            }
            None if is_built_in(name) => {}
            None => return Err(failed("nobody has brought it along".to_owned())),
        }
    }
    Ok(assemble(profile, extra, tools))
}

/// Fills the registry. Each plugin is created once, for all of its extension points.
fn assemble<'p>(profile: &'p Profile, mut kits: BTreeMap<&'p str, Kit>, tools: &Tools) -> Registry {
    let seconds = profile.args.volume_binding.bind_timeout_seconds;
    let volume_bind_timeout = Some(Duration::from_secs(seconds.unsigned_abs()));
    let mut registry = Registry::default();
    registry.volume_bind_timeout = volume_bind_timeout;
    for point in ExtensionPoint::CONFIGURABLE {
        for enabled in profile.at(point) {
            let create = || match &*enabled.name {
                "Trace" => trace::kit(Arc::clone(&tools.sink)),
                name => kit(name, &profile.args).unwrap_or_default(),
            };
            kits.entry(&enabled.name).or_insert_with(create).add_to(&mut registry, point, enabled);
        }
    }
    registry
}

/// The plugin of this name; `None` if there is none. Its extension points are those that `config` lets a file name.
fn kit(name: &str, args: &PluginArgs) -> Option<Kit> {
    Some(match name {
        "BuildImageLocality" => super::build_image_locality::kit(args),
        "DefaultBinder" => super::default_binder::kit(args),
        "DefaultPreemption" => super::default_preemption::kit(args),
        "ImageLocality" => super::image_locality::kit(args),
        "InterPodAffinity" => super::inter_pod_affinity::kit(args),
        "LabelGate" => super::label_gate::kit(args),
        "NodeAffinity" => super::node_affinity::kit(args),
        "NodeDeclaredFeatures" => super::node_declared_features::kit(args),
        "NodeLabel" => super::node_label::kit(args),
        "NodeName" => super::node_name::kit(args),
        "NodePorts" => super::node_ports::kit(args),
        "NodePreference" => super::node_preference::kit(args),
        "NodeResourcesBalancedAllocation" => super::balanced_allocation::kit(args),
        "NodeResourcesFit" => super::node_resources::kit(args),
        "NodeUnschedulable" => super::node_unschedulable::kit(args),
        "NodeVolumeLimits" => super::node_volume_limits::kit(args),
        "PodLimit" => super::pod_limit::kit(args),
        "PodTopologySpread" => super::pod_topology_spread::kit(args),
        "PrioritySort" => super::priority_sort::kit(args),
        "RandomScore" => super::random_score::kit(args),
        "Reservation" => super::reservation::kit(args),
        "SchedulingGates" => super::scheduling_gates::kit(args),
        "TaintToleration" => super::taint_toleration::kit(args),
        "VolumeBinding" => super::volume_binding::kit(args),
        "VolumeRestrictions" => super::volume_restrictions::kit(args),
        "VolumeZone" => super::volume_zone::kit(args),
        _ => return None,
    })
}

/// The plugins of `profile` that do not exist here. Without them pods would be placed wrongly.
pub fn unsupported_plugins(profile: &Profile) -> Vec<String> {
    let name = &profile.scheduler_name;
    let unsupported = UNSUPPORTED_PLUGINS.iter().filter(|plugin| profile.runs(plugin));
    unsupported.map(|plugin| format!("plugin {plugin} in profile {name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{kit, registry, unsupported_plugins};
    use crate::config::{Configuration, Profile, load};
    use crate::framework::Registry;
    use crate::model::ExtensionPoint;
    use crate::plugins::default_registry;

    const HEAD: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

    fn profile(yaml: &str) -> Profile {
        let loaded = load("file", &format!("{HEAD}profiles:\n- {yaml}"), &[]).unwrap();
        loaded.configuration.profiles.into_iter().next().unwrap()
    }

    fn filters(registry: &Registry) -> Vec<&'static str> {
        registry.filters.iter().map(|plugin| plugin.name()).collect()
    }

    fn scores(registry: &Registry) -> Vec<(&'static str, i64)> {
        registry.scores.iter().map(|entry| (entry.plugin.name(), entry.weight)).collect()
    }

    #[test]
    fn the_default_profile_is_the_default_registry() {
        let configuration = Configuration::default_for("x");
        let profile = &configuration.profiles[0];
        let (registry, default) = (registry(profile), default_registry());
        assert_eq!((filters(&registry), scores(&registry)), (filters(&default), scores(&default)));
        // No plugin is lost, and none changes its position or weight.
        let kits = |point| {
            let known = profile.at(point).iter().filter_map(|enabled| {
                kit(&enabled.name, &profile.args).map(|kit| (kit, &*enabled.name, i64::from(enabled.weight)))
            });
            known.collect::<Vec<_>>()
        };
        let listed = kits(ExtensionPoint::Filter).into_iter().filter(|(kit, ..)| kit.filter.is_some());
        assert_eq!(filters(&registry), listed.map(|(_, name, _)| name).collect::<Vec<_>>());
        let listed = kits(ExtensionPoint::Score).into_iter().filter(|(kit, ..)| kit.score.is_some());
        assert_eq!(scores(&registry), listed.map(|(_, name, weight)| (name, weight)).collect::<Vec<_>>());
        assert!(registry.filters.len() >= 8 && registry.scores.len() >= 6);
        assert!(registry.pre_enqueues.iter().any(|plugin| plugin.name() == "SchedulingGates"));
        assert_eq!(registry.queue_sort.as_ref().map(|plugin| plugin.name()), Some("PrioritySort"));
        assert_eq!(registry.binds.iter().map(|plugin| plugin.name()).collect::<Vec<_>>(), ["DefaultBinder"]);
        assert_eq!(unsupported_plugins(profile), [""; 0]);
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
        assert_eq!(unsupported_plugins(&profile), ["plugin GangScheduling in profile s"]);
    }
}
