//! CSI drivers: which nodes have them, how many volumes they can attach there, and how much storage is left.

use crate::model::{ObjectMeta, Quantity, Selector, Text};

/// A CSINode: the CSI drivers of the node of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsiNode {
    pub meta: ObjectMeta,
    pub drivers: Box<[CsiNodeDriver]>,
    /// The in-tree plugins that are migrated to CSI drivers on this node, by an annotation.
    pub migrated_plugins: Box<[Text]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsiNodeDriver {
    pub name: Text,
    /// How many volumes the driver can attach to the node; `None` for any number.
    pub limit: Option<i32>,
}

/// A CSIDriver, whose name is the name of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsiDriver {
    pub meta: ObjectMeta,
    /// Whether the driver publishes CSIStorageCapacity objects, so that free capacity is checked (`spec.storageCapacity`).
    pub tracks_capacity: bool,
    /// Whether pods that need the driver are not scheduled to nodes without it (`preventPodSchedulingIfMissing`).
    pub is_required: bool,
}

/// A CSIStorageCapacity: how much storage of a class is available to some nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct CsiStorageCapacity {
    pub meta: ObjectMeta,
    pub class: Text,
    pub capacity: Option<Quantity>,
    pub maximum_volume_size: Option<Quantity>,
    /// The nodes that can use the storage. `None` if the selector is missing or invalid: no node can.
    pub nodes: Option<Selector>,
}

impl CsiNode {
    pub fn driver(&self, name: &str) -> Option<&CsiNodeDriver> {
        self.drivers.iter().find(|driver| *driver.name == *name)
    }
}

impl CsiStorageCapacity {
    /// The largest volume that can be provisioned. `None` if it is not known: no volume can.
    pub fn limit(&self) -> Option<Quantity> {
        self.maximum_volume_size.or(self.capacity)
    }
}
