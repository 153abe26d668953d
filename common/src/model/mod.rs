//! The world as plain values. Knows nothing of: JSON, the API server, time passing.

pub mod budget;
pub mod chain;
pub mod excerpt;
pub mod ids;
pub mod labels;
pub mod namespace;
pub mod node;
pub mod object;
pub mod other;
pub mod owner;
pub mod pod;
pub mod quantity;
pub mod requests;
pub mod reservation;
pub mod resources;
pub mod service;
pub mod storage;
pub mod taint;

pub use budget::DisruptionBudget;
pub use ids::{NodeName, PodKey, Uid};
pub use namespace::Namespace;
pub use node::Node;
pub use object::Object;
pub use other::{Other, OtherKind};
pub use owner::{ControllerRef, Owner, OwnerKind, Workload};
pub use pod::Pod;
pub use reservation::{Reservation, ReservationId, Seat};
pub use resources::{ResourceName, Resources};
pub use service::Service;
