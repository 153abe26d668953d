//! The world as plain values. Knows nothing of: JSON, the API server, time passing.

pub mod affinity;
pub mod chain;
pub mod excerpt;
pub mod ids;
pub mod label_syntax;
pub mod labels;
pub mod moment;
pub mod node;
pub mod owner;
pub mod pod;
pub mod port;
pub mod quantity;
pub mod requests;
pub mod requirement;
pub mod reservation;
pub mod resources;
pub mod selector;
pub mod spread;
pub mod taint;
pub mod volume;

pub use affinity::{Affinity, NodeSelector};
pub use ids::{NodeName, PodKey, Uid};
pub use labels::Labels;
pub use moment::Moment;
pub use node::Node;
pub use owner::{ControllerRef, Owner, OwnerKind, Workload};
pub use pod::Pod;
pub use port::HostPort;
pub use reservation::{Reservation, ReservationId, Seat};
pub use resources::{ResourceName, Resources};
pub use selector::Selector;
