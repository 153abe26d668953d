//! The plugins, one folder each. `mod.rs` of a folder has a header that says what the plugin checks, and the function `descriptor`
//! that makes it an entry of the list; `tests.rs` is a table of cases. Entry points: [`default_registry`], [`PluginList`].
//!
//! Must not know: the queue, the API server. `cycle` runs the plugins and names none of them.

pub mod balanced_allocation;
mod broken_linear;
pub mod build_image_locality;
mod claims;
pub mod default_binder;
pub mod default_preemption;
mod descriptor;
#[cfg(test)]
mod hint_tests;
pub mod image_locality;
mod implementations;
pub mod inter_pod_affinity;
pub mod label_gate;
pub mod node_affinity;
pub mod node_declared_features;
pub mod node_label;
pub mod node_name;
pub mod node_ports;
pub mod node_preference;
pub mod node_resources;
pub mod node_unschedulable;
pub mod node_volume_limits;
mod plugin_list;
pub mod pod_limit;
pub mod pod_topology_spread;
pub mod priority_sort;
pub mod random_score;
pub mod reservation;
pub mod scheduling_gates;
pub mod taint_toleration;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod volume_binding;
pub mod volume_restrictions;
pub mod volume_zone;
mod without_effect;

pub use descriptor::Descriptor;
pub use implementations::Implementations;
use implementations::implementations;
pub use plugin_list::PluginList;

use crate::config::{Configuration, Profile};
use crate::framework::Registry;

pub fn default_registry() -> Registry {
    default_profile(|profile| profile)
}

/// The default plugins without ours: a scheduler with this registry does not enforce reservations.
pub fn without_reservations() -> Registry {
    default_profile(|profile| profile.without("Reservation"))
}

/// Only the plugin that enforces reservations, for pods that another scheduler places.
pub fn only_reservations() -> Registry {
    default_profile(|mut profile| {
        profile
            .plugins
            .values_mut()
            .for_each(|enabled| enabled.retain(|plugin| plugin.name == "Reservation"));
        profile
    })
}

fn default_profile(change: impl Fn(Profile) -> Profile) -> Registry {
    let plugins = PluginList::built_in();
    let profile = Configuration::default_for("", &plugins.declarations()).profiles.into_iter().next();
    profile.and_then(|profile| plugins.registry(&change(profile)).ok()).unwrap_or_default()
}
