//! The plugins, one folder each: what it asks, the rule as a pure function, a table of cases.

pub mod node_name;
pub mod node_resources;
pub mod node_unschedulable;
mod profile;
pub mod reservation;
pub mod taint_toleration;

pub use profile::{registry, unserved};

use crate::framework::Registry;

/// The plugins of the default profile, in upstream's order, and then ours.
///
/// Cheap questions come first, and what is rejected first is what is reported; so the order is visible to users
/// and follows kube-scheduler's.
pub fn default_registry() -> Registry {
    without_reservations()
        .filter(reservation::Reservation)
        .score(reservation::Reservation, reservation::WEIGHT)
}

/// The same without our own: what a scheduler that does not obey reservations decides.
pub fn without_reservations() -> Registry {
    Registry::default()
        .filter(node_name::NodeName)
        .filter(node_unschedulable::NodeUnschedulable)
        .filter(taint_toleration::TaintToleration)
        .filter(node_resources::NodeResourcesFit)
        .score(taint_toleration::TaintToleration, 3)
        .score(node_resources::NodeResourcesFit, 1)
}
