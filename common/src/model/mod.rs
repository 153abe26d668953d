//! Plain values: pods, nodes, owners, amounts, reservations and the other objects that decisions read.
//!
//! Must not know: JSON (see `api`), the API server, the current time.

pub mod affinity;
pub mod budget;
pub mod catalog_object;
pub mod chain;
pub mod daemon_set;
pub mod excerpt;
pub mod extension_point;
pub mod ids;
pub mod image;
pub mod keep;
pub mod label_syntax;
pub mod labels;
pub mod moment;
pub mod namespace;
pub mod node;
pub mod object;
pub mod owner;
pub mod pod;
pub mod port;
pub mod quantity;
pub mod quota;
pub mod replica;
pub mod requests;
pub mod requirement;
pub mod reservation;
pub mod resources;
pub mod selector;
pub mod service;
pub mod spread;
pub mod storage;
pub mod taint;
pub mod volume;

pub use affinity::{Affinity, NodeSelector};
pub use budget::DisruptionBudget;
pub use catalog_object::{CatalogKind, CatalogObject};
pub use daemon_set::DaemonTemplate;
pub use extension_point::ExtensionPoint;
pub use ids::{NodeName, PodKey, Uid};
pub use keep::Keep;
pub use labels::Labels;
pub use moment::Moment;
pub use namespace::Namespace;
pub use node::Node;
pub use object::Object;
pub use owner::{ControllerRef, ForeignClaim, ForeignKind, Owner, OwnerKind, Workload};
pub use pod::Pod;
pub use port::HostPort;
pub use quota::ResourceQuota;
pub use replica::Replica;
pub use reservation::{Reservation, ReservationId, Seat};
pub use resources::{ResourceName, Resources};
pub use selector::Selector;
pub use service::Service;
