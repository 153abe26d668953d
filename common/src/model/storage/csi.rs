//! Drivers of volumes: which nodes have them, how much each can attach, and how much they have left.

use crate::model::ids::Text;
use crate::model::object::Meta;
use crate::model::quantity::Quantity;
use crate::model::selector::Selector;

/// A CSINode: the drivers of one node. It is called as the node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsiNode {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// The drivers that the node has.
    pub drivers: Box<[CsiNodeDriver]>,
    /// The plugins of old whose volumes are in the care of a driver on this node, by an annotation.
    pub migrated: Box<[Text]>,
}

/// One driver of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsiNodeDriver {
    /// The driver.
    pub name: Text,
    /// How many volumes it can attach there; any number if it does not say.
    pub limit: Option<i32>,
}

/// A CSIDriver. It is called as the driver is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsiDriver {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// Whether it says how much it has left, so that it can be asked for.
    pub tracks_capacity: bool,
    /// Whether a node without it takes no pods that need it (`preventPodSchedulingIfMissing`).
    pub is_required: bool,
}

/// A CSIStorageCapacity: how much some nodes can have of a storage class.
#[derive(Clone, Debug, PartialEq)]
pub struct CsiStorageCapacity {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// The storage class.
    pub class: Text,
    /// How much there is in all.
    pub capacity: Option<Quantity>,
    /// How big one volume can be.
    pub maximum_volume_size: Option<Quantity>,
    /// The nodes that can have it; none if it does not say, or says it wrongly.
    pub nodes: Option<Selector>,
}

impl CsiNode {
    /// The driver called `name`, if the node has it.
    pub fn driver(&self, name: &str) -> Option<&CsiNodeDriver> {
        self.drivers.iter().find(|driver| *driver.name == *name)
    }
}

impl CsiStorageCapacity {
    /// The biggest volume that can be made; `None` if that is not known, which counts as none.
    pub fn limit(&self) -> Option<Quantity> {
        self.maximum_volume_size.or(self.capacity)
    }
}
