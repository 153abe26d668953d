//! A PersistentVolume: its size, its claim, and the nodes that can access it.

use super::claim::PersistentVolumeClaim;
use super::mode::{AccessModes, VolumeMode};
use crate::model::{Labels, NodeSelector, ObjectMeta, Quantity, Text, Uid};

#[derive(Clone, Debug, PartialEq)]
pub struct PersistentVolume {
    pub meta: ObjectMeta,
    /// The labels. Claims select by them, and volumes of in-tree plugins have their zone in them.
    pub labels: Labels,
    /// The size; zero if it is missing.
    pub capacity: Quantity,
    pub access_modes: AccessModes,
    pub volume_mode: VolumeMode,
    /// The storage class. The beta annotation takes precedence over the field, and an empty name is `None`.
    pub class: Option<Text>,
    /// The VolumeAttributesClass; an empty name is `None`.
    pub attributes_class: Option<Text>,
    /// The claim that has the volume, or the only claim that may get it (`spec.claimRef`).
    pub claim: Option<Box<ClaimRef>>,
    /// Whether a controller, not a user, set `claim`.
    pub is_bound_by_controller: bool,
    pub phase: VolumePhase,
    /// The nodes that can access the volume; `None` for all nodes.
    pub nodes: Option<NodeSelector>,
    pub source: PersistentVolumeSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRef {
    pub namespace: Text,
    pub name: Text,
    /// The claim's UID; `None` for any claim of that name.
    pub uid: Option<Uid>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VolumePhase {
    /// Not ready yet, or a phase that we do not know.
    #[default]
    Pending,
    Available,
    Bound,
    /// The claim was deleted, and the volume is not yet reclaimed.
    Released,
    /// The claim was deleted, and the volume could not be reclaimed.
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersistentVolumeSource {
    /// The handle is the id of the volume for the driver (`volumeHandle`).
    Csi {
        driver: Text,
        handle: Text,
    },
    /// A volume of an in-tree plugin that is migrated to a CSI driver. Only an `azureDisk` has a kind.
    InTree {
        plugin: InTreePlugin,
        id: Text,
        kind: Option<Text>,
    },
    Other,
}

/// The in-tree plugins whose volumes count as volumes of a CSI driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InTreePlugin {
    AwsEbs,
    GcePd,
    AzureDisk,
    Cinder,
    Portworx,
}

impl ClaimRef {
    pub fn refers_to(&self, claim: &PersistentVolumeClaim) -> bool {
        self.name == claim.meta.name
            && self.namespace == claim.meta.namespace
            && self.uid.as_ref().is_none_or(|uid| *uid == claim.meta.uid)
    }
}

impl VolumePhase {
    pub fn from_name(name: &str) -> Self {
        match name {
            "Available" => Self::Available,
            "Bound" => Self::Bound,
            "Released" => Self::Released,
            "Failed" => Self::Failed,
            _ => Self::Pending,
        }
    }
}

impl InTreePlugin {
    pub const ALL: [InTreePlugin; 5] =
        [Self::AwsEbs, Self::GcePd, Self::AzureDisk, Self::Cinder, Self::Portworx];

    /// The name of the plugin as `provisioner` of a StorageClass.
    pub fn name(self) -> &'static str {
        match self {
            Self::AwsEbs => "kubernetes.io/aws-ebs",
            Self::GcePd => "kubernetes.io/gce-pd",
            Self::AzureDisk => "kubernetes.io/azure-disk",
            Self::Cinder => "kubernetes.io/cinder",
            Self::Portworx => "kubernetes.io/portworx-volume",
        }
    }

    /// The node label with the zone that its CSI driver uses, if it uses one.
    pub fn zone_key(self) -> Option<&'static str> {
        match self {
            Self::AwsEbs => Some("topology.ebs.csi.aws.com/zone"),
            Self::GcePd => Some("topology.gke.io/zone"),
            Self::Cinder => Some("topology.cinder.csi.openstack.org/zone"),
            Self::AzureDisk | Self::Portworx => None,
        }
    }

    pub fn driver(self) -> &'static str {
        match self {
            Self::AwsEbs => "ebs.csi.aws.com",
            Self::GcePd => "pd.csi.storage.gke.io",
            Self::AzureDisk => "disk.csi.azure.com",
            Self::Cinder => "cinder.csi.openstack.org",
            Self::Portworx => "pxd.portworx.com",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plugin| plugin.name() == name)
    }
}
