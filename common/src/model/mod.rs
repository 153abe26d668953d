//! Plain values: pods, nodes, owners, amounts, reservations and the other objects that decisions read.
//!
//! Must not know: JSON (see `api`), the API server, the current time.

pub mod affinity;
pub mod budget;
pub mod by_address;
pub mod catalog_object;
pub mod chain;
pub mod claim;
pub mod daemon_set;
pub mod excerpt;
pub mod extension_point;
mod feature;
pub mod ids;
pub mod image;
pub mod keep;
pub mod label_syntax;
pub mod labels;
pub mod moment;
pub mod namespace;
pub mod node;
pub mod object;
pub mod object_write;
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

pub use affinity::{
    Affinity, NodeAffinity, NodeSelector, NodeSelectorTerm, PodAffinityTerm, PodAffinityTerms,
};
pub use budget::DisruptionBudget;
pub use by_address::ByAddress;
pub use catalog_object::{CatalogKind, CatalogObject};
pub use claim::{Claim, Claims};
pub use daemon_set::DaemonTemplate;
pub use extension_point::ExtensionPoint;
pub use ids::{NodeName, PodKey, Text, Uid};
pub use keep::Keep;
pub use labels::{Label, Labels};
pub use moment::Moment;
pub use namespace::Namespace;
pub use node::{Image, Node};
pub use object::{Object, ObjectMeta};
pub use object_write::ObjectWrite;
pub use owner::{ControllerRef, ForeignClaim, ForeignKind, Owner, OwnerKind, Workload};
pub use pod::{Feature, Features, Phase, Pod, PodSpec};
pub use port::HostPort;
pub use quantity::Quantity;
pub use quota::ResourceQuota;
pub use replica::Replica;
pub use requests::{NonZeroRequests, PodRequests};
pub use requirement::{Operator, Requirement};
pub use reservation::{
    Origin, ParsedReservation, Placement, Record, ReplacedPod, Reservation, ReservationId, Seat,
};
pub use resources::{ResourceName, Resources};
pub use selector::{Selector, selects};
pub use service::Service;
pub use spread::TopologySpreadConstraint;
pub use storage::{PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment, VolumeChoice};
pub use taint::{Taint, TaintEffect, Toleration};
pub use volume::{PodVolume, VolumeSource};
