//! The plugins, one folder each: what it asks, the rule as a pure function, a table of cases.

pub mod balanced_allocation;
pub mod build_image_locality;
mod claims;
pub mod default_binder;
pub mod default_preemption;
pub mod image_locality;
pub mod inter_pod_affinity;
mod kit;
pub mod label_gate;
mod line;
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
pub use profile::{registry, registry_with, unserved};
pub use tools::{Maker, Tools};

use crate::config::{Configuration, Profile};
use crate::framework::Registry;

/// The plugins of the default profile, in upstream's order, and then ours.
///
/// Cheap questions come first, and what is rejected first is what is reported; so the order is visible to users
/// and follows kube-scheduler's.
pub fn default_registry() -> Registry {
    default_profile().as_ref().map(registry).unwrap_or_default()
}

/// The same without our own: what a scheduler that does not enforce reservations decides.
pub fn without_reservations() -> Registry {
    let profile = default_profile().map(|profile| profile.without("Reservation"));
    profile.as_ref().map(registry).unwrap_or_default()
}

fn default_profile() -> Option<Profile> {
    Configuration::default_for("").profiles.into_iter().next()
}
