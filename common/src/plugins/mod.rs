//! The plugins, one folder each. `mod.rs` of a folder has a header that says what the plugin checks, and the function `kit` that
//! names its extension points; `tests.rs` is a table of cases. Entry points: [`default_registry`], [`registry`], [`registry_with`].
//!
//! Must not know: the queue, the API server. `cycle` runs the plugins and names none of them.

pub mod balanced_allocation;
mod broken_linear;
pub mod build_image_locality;
mod claims;
pub mod default_binder;
pub mod default_preemption;
pub mod image_locality;
pub mod inter_pod_affinity;
mod kit;
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
pub mod pod_limit;
pub mod pod_topology_spread;
pub mod priority_sort;
mod profile;
pub mod random_score;
pub mod reservation;
pub mod scheduling_gates;
pub mod taint_toleration;
mod tools;
pub mod trace;
pub mod volume_binding;
pub mod volume_restrictions;
pub mod volume_zone;

pub use kit::Kit;
pub use profile::{registry, registry_with, unsupported_plugins};
pub use tools::{PluginFactory, Tools};

use crate::config::{Configuration, Profile};
use crate::framework::Registry;

/// The plugins of the default profile, in upstream's order, and then ours.
///
/// The order is visible to users, because the first plugin that rejects is the one that is reported.
pub fn default_registry() -> Registry {
    default_profile().as_ref().map(registry).unwrap_or_default()
}

/// The default plugins without ours: a scheduler with this registry does not enforce reservations.
pub fn without_reservations() -> Registry {
    let profile = default_profile().map(|profile| profile.without("Reservation"));
    profile.as_ref().map(registry).unwrap_or_default()
}

fn default_profile() -> Option<Profile> {
    Configuration::default_for("").profiles.into_iter().next()
}
