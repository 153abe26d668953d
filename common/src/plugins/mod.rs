//! The plugins, one folder each: what it asks, the rule as a pure function, a table of cases.

mod claims;
mod kit;
pub mod node_name;
pub mod node_resources;
pub mod node_unschedulable;
pub mod node_volume_limits;
mod profile;
pub mod reservation;
pub mod taint_toleration;
pub mod volume_binding;
pub mod volume_restrictions;
pub mod volume_zone;

pub use profile::{registry, unserved};

use crate::config::{Configuration, Profile};
use crate::framework::Registry;

/// The plugins of the default profile, in upstream's order, and then ours.
///
/// Cheap questions come first, and what is rejected first is what is reported; so the order is visible to users
/// and follows kube-scheduler's.
pub fn default_registry() -> Registry {
    default_profile().as_ref().map(registry).unwrap_or_default()
}

/// The same without our own: what a scheduler that does not obey reservations decides.
pub fn without_reservations() -> Registry {
    let profile = default_profile().map(|profile| profile.without("Reservation"));
    profile.as_ref().map(registry).unwrap_or_default()
}

fn default_profile() -> Option<Profile> {
    Configuration::default_for("").profiles.into_iter().next()
}
