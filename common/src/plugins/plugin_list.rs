//! The list of all plugins. What a configuration file may name, the default profile, the registry of a profile and the watched kinds
//! follow from it. A program adds plugins of its own, and the sink of the plugin Trace:
//!
//! ```text
//! let even = Descriptor::new("Even", &[ExtensionPoint::Filter], |_args| {
//!     Ok(Implementations { filter: Some(Arc::new(Even)), ..Implementations::default() })
//! });
//! let plugins = PluginList::built_in().with(trace::descriptor(LogSink)).with(even);
//! let loaded = config::load("scheduler.yaml", text, &plugins.declarations())?;
//! let registry = plugins.registry(&loaded.configuration.profiles[0])?;
//! ```

use super::descriptor::Descriptor;
use super::implementations::Implementations;
use super::trace::{self, NoSink};
use crate::config::{PluginDeclaration, Profile};
use crate::framework::Registry;
use crate::model::{CatalogKind, ExtensionPoint};
use std::collections::{BTreeMap, BTreeSet};

/// Plugins, each with a name of its own. Those of the default profile are in the order in which they run.
#[derive(Clone, Debug)]
pub struct PluginList(pub(super) Vec<Descriptor>);

impl PluginList {
    /// kube-scheduler's plugins and ours. The order is visible to users, because the first plugin that rejects is the one that is
    /// reported; ours come last, so that the order among kube-scheduler's plugins does not change.
    pub fn built_in() -> Self {
        Self(vec![
            super::scheduling_gates::descriptor(),
            super::priority_sort::descriptor(),
            super::node_name::descriptor(),
            super::node_unschedulable::descriptor(),
            super::taint_toleration::descriptor(),
            super::node_affinity::descriptor(),
            super::node_ports::descriptor(),
            super::node_resources::descriptor(),
            super::volume_restrictions::descriptor(),
            super::node_volume_limits::descriptor(),
            super::volume_binding::descriptor(),
            super::volume_zone::descriptor(),
            super::pod_topology_spread::descriptor(),
            super::inter_pod_affinity::descriptor(),
            super::without_effect::dynamic_resources(),
            super::default_preemption::descriptor(),
            super::balanced_allocation::descriptor(),
            super::image_locality::descriptor(),
            super::default_binder::descriptor(),
            super::node_declared_features::descriptor(),
            super::without_effect::deferred_pod_scheduling(),
            super::without_effect::gang_scheduling(),
            super::without_effect::pod_group_pods_count(),
            super::without_effect::topology_placement_generator(),
            super::reservation::descriptor(),
            super::node_label::descriptor(),
            super::pod_limit::descriptor(),
            super::node_preference::descriptor(),
            super::label_gate::descriptor(),
            super::random_score::descriptor(),
            super::build_image_locality::descriptor(),
            trace::descriptor(NoSink),
        ])
    }

    /// Adds a plugin. It replaces one of the same name, and then has its place and weight in the default profile.
    #[must_use]
    pub fn with(mut self, mut plugin: Descriptor) -> Self {
        match self.0.iter_mut().find(|known| known.name() == plugin.name()) {
            Some(known) => {
                plugin.declaration.default_weight = known.declaration.default_weight;
                *known = plugin;
            }
            None => self.0.push(plugin),
        }
        self
    }

    /// What [`crate::config::load`] has to know of the plugins.
    pub fn declarations(&self) -> Vec<PluginDeclaration> {
        self.0.iter().map(|plugin| plugin.declaration.clone()).collect()
    }

    /// The registry of `profile`, with its order, weights and arguments. Each plugin is made once, for all of its extension points.
    ///
    /// # Errors
    /// When a plugin rejects its arguments, or the profile names a plugin that is not in the list.
    pub fn registry(&self, profile: &Profile) -> Result<Registry, String> {
        let mut made: BTreeMap<&str, Implementations> = BTreeMap::new();
        let mut registry = Registry::default();
        for point in ExtensionPoint::configurable() {
            for enabled in profile.at(point) {
                let name = enabled.name.as_str();
                if !made.contains_key(name) {
                    let plugin = self.find(name).ok_or_else(|| "nobody has brought it along".to_owned());
                    let plugin = plugin.and_then(|plugin| plugin.make(profile.args(name)));
                    let profile = &profile.scheduler_name;
                    made.insert(
                        name,
                        plugin.map_err(|why| format!("plugin {name} in profile {profile}: {why}"))?,
                    );
                }
                made.get(name).into_iter().for_each(|plugin| plugin.add_to(&mut registry, point, enabled));
            }
        }
        Ok(registry)
    }

    /// The plugins of `profile` that do not exist here. Without them pods would be placed wrongly.
    pub fn unsupported(&self, profile: &Profile) -> Vec<String> {
        let (name, plugins) = (&profile.scheduler_name, self.0.iter());
        let unsupported = plugins.filter(|plugin| !plugin.is_supported() && profile.runs(plugin.name()));
        unsupported.map(|plugin| format!("plugin {} in profile {name}", plugin.name())).collect()
    }

    pub fn watched_kinds(&self, profiles: &[Profile]) -> BTreeSet<CatalogKind> {
        let runs = |plugin: &&Descriptor| profiles.iter().any(|profile| profile.runs(plugin.name()));
        self.0.iter().filter(runs).flat_map(|plugin| plugin.watches).copied().collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Descriptor> {
        self.0.iter().find(|plugin| plugin.name() == name)
    }
}

impl Default for PluginList {
    fn default() -> Self {
        Self::built_in()
    }
}
