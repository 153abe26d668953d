//! The world as plain values. Knows nothing of: JSON, the API server, time passing.

pub mod chain;
pub mod excerpt;
pub mod ids;
pub mod labels;
pub mod node;
pub mod owner;
pub mod pod;
pub mod quantity;
pub mod requests;
pub mod reservation;
pub mod resources;
pub mod taint;

pub use ids::{NodeName, PodKey, Uid};
pub use node::Node;
pub use owner::{ControllerRef, Owner, OwnerKind, Workload};
pub use pod::Pod;
pub use reservation::{Reservation, ReservationId, Seat};
pub use resources::{ResourceName, Resources};
