//! From a profile of the configuration to the plugins that run, and what of it is not served yet.

use super::kit::Kit;
use super::{
    node_name, node_resources, node_unschedulable, node_volume_limits, reservation, taint_toleration,
    volume_binding, volume_restrictions, volume_zone,
};
use crate::config::{
    NodeAffinityArgs, NodeResourcesFitArgs, PluginArgs, PodTopologySpreadArgs, Point, Profile,
};
use crate::framework::Registry;

/// Plugins of ours that can be named in a file, and do not exist yet.
const TO_COME: [&str; 7] =
    ["NodeLabel", "PodLimit", "NodePreference", "LabelGate", "RandomScore", "BuildImageLocality", "Trace"];

/// The plugins of `profile`, in its order and with its weights and arguments.
pub fn registry(profile: &Profile) -> Registry {
    let mut registry = Registry::default();
    for point in Point::ALL {
        for enabled in profile.at(point) {
            if let Some(kit) = kit(&enabled.name, &profile.args) {
                kit.add_to(&mut registry, point, enabled);
            }
        }
    }
    registry
}

/// The plugin of this name. The extension points that it has here are those that `config` lets a file name.
fn kit(name: &str, args: &PluginArgs) -> Option<Kit> {
    Some(match name {
        "NodeName" => node_name::kit(args),
        "NodeUnschedulable" => node_unschedulable::kit(args),
        "TaintToleration" => taint_toleration::kit(args),
        "NodeResourcesFit" => node_resources::kit(args),
        "NodeVolumeLimits" => node_volume_limits::kit(args),
        "VolumeBinding" => volume_binding::kit(args),
        "VolumeRestrictions" => volume_restrictions::kit(args),
        "VolumeZone" => volume_zone::kit(args),
        "Reservation" => reservation::kit(args),
        _ => return None,
    })
}

/// What `profile` asks for that would be passed over in silence, so that pods would be placed wrongly.
pub fn unserved(profile: &Profile) -> Vec<String> {
    let name = &profile.scheduler_name;
    let to_come = TO_COME.iter().filter(|plugin| profile.runs(plugin));
    let mut unserved: Vec<String> =
        to_come.map(|plugin| format!("plugin {plugin} in profile {name}")).collect();
    let args = &profile.args;
    let hard_spread = match &args.pod_topology_spread {
        PodTopologySpreadArgs::System => false,
        PodTopologySpreadArgs::List(constraints) => {
            constraints.iter().any(|constraint| constraint.do_not_schedule)
        }
    };
    let told = [
        ("NodeResourcesFit", args.node_resources_fit != NodeResourcesFitArgs::default()),
        ("NodeAffinity", args.node_affinity != NodeAffinityArgs::default()),
        ("PodTopologySpread", hard_spread),
    ];
    let is_told = told.into_iter().filter(|(plugin, differs)| *differs && profile.runs(plugin));
    unserved.extend(is_told.map(|(plugin, _)| format!("arguments of {plugin} in profile {name}")));
    unserved
}

#[cfg(test)]
mod tests {
    use super::{registry, unserved};
    use crate::config::{Configuration, load};
    use crate::plugins::default_registry;

    const HEAD: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

    fn profile(yaml: &str) -> crate::config::Profile {
        let loaded = load("file", &format!("{HEAD}profiles:\n- {yaml}"), &[]).unwrap();
        loaded.configuration.profiles.into_iter().next().unwrap()
    }

    fn names(registry: &crate::framework::Registry) -> (Vec<&'static str>, Vec<(&'static str, i64)>) {
        let filters = registry.filters.iter().map(|plugin| plugin.name()).collect();
        let scores = registry.scores.iter().map(|entry| (entry.plugin.name(), entry.weight)).collect();
        (filters, scores)
    }

    #[test]
    fn the_default_profile_is_the_default_registry() {
        let configuration = Configuration::default_for("x");
        assert_eq!(names(&registry(&configuration.profiles[0])), names(&default_registry()));
        assert_eq!(unserved(&configuration.profiles[0]), [""; 0]);
    }

    #[test]
    fn a_profile_says_which_plugins_run_and_with_which_weight() {
        let profile = profile(
            "schedulerName: s\n  plugins:\n    filter: {disabled: [{name: TaintToleration}]}\n    \
             score: {disabled: [{name: Reservation}], enabled: [{name: NodeResourcesFit, weight: 7}]}",
        );
        let (filters, scores) = names(&registry(&profile));
        let (mut usual, usual_scores) = names(&default_registry());
        usual.retain(|name| *name != "TaintToleration");
        assert_eq!(filters, usual);
        assert_eq!(scores[0], ("NodeResourcesFit", 7));
        let is_kept = |entry: &&(&str, i64)| !["Reservation", "NodeResourcesFit"].contains(&entry.0);
        assert!(usual_scores.iter().filter(is_kept).eq(&scores[1..]));
    }

    #[test]
    fn what_would_be_passed_over_is_named() {
        let strategy = "{type: MostAllocated, resources: [{name: cpu, weight: 1}]}";
        let profile = profile(&format!(
            "schedulerName: s\n  plugins:\n    multiPoint: {{enabled: [{{name: PodLimit}}]}}\n  pluginConfig:\n  \
             - name: NodeResourcesFit\n    args: {{scoringStrategy: {strategy}}}"
        ));
        let expected = ["plugin PodLimit in profile s", "arguments of NodeResourcesFit in profile s"];
        assert_eq!(unserved(&profile), expected);
    }
}
