//! Storage objects, reduced to what scheduling reads: claims, volumes, classes, and which nodes can attach how many volumes.

pub mod attachment;
pub mod choice;
pub mod claim;
pub mod class;
pub mod csi;
pub mod migration;
pub mod mode;
pub mod volume;

pub use attachment::VolumeAttachment;
pub use choice::{ChosenVolume, VolumeChoice};
pub use claim::{ClaimPhase, PersistentVolumeClaim};
pub use class::{BindingMode, StorageClass, TopologyRequirement};
pub use csi::{CsiDriver, CsiNode, CsiNodeDriver, CsiStorageCapacity};
pub use mode::{AccessMode, AccessModes, VolumeMode};
pub use volume::{ClaimRef, InTreePlugin, PersistentVolume, PersistentVolumeSource, VolumePhase};
