//! A volume: how big, for whom, and where it can be reached.

use super::claim::PersistentVolumeClaim;
use super::mode::{AccessModes, VolumeMode};
use crate::model::affinity::NodeSelector;
use crate::model::ids::{Text, Uid};
use crate::model::labels::Labels;
use crate::model::object::Meta;
use crate::model::quantity::Quantity;

/// A PersistentVolume.
#[derive(Clone, Debug, PartialEq)]
pub struct PersistentVolume {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// Its labels: claims select by them, and old volumes name their zone in them.
    pub labels: Labels,
    /// Its size, nothing if it does not say.
    pub capacity: Quantity,
    /// How it may be used.
    pub access_modes: AccessModes,
    /// Filesystem or device.
    pub volume_mode: VolumeMode,
    /// The storage class; the old annotation counts before the field, and an empty name is none.
    pub class: Option<Text>,
    /// The class of its attributes; an empty name is none.
    pub attributes_class: Option<Text>,
    /// The claim that has it, or is to have it and no other.
    pub claim: Option<Box<ClaimRef>>,
    /// Whether that claim was chosen by a controller rather than by a person.
    pub is_bound_by_controller: bool,
    /// How far it has come.
    pub phase: VolumePhase,
    /// The nodes that reach it; all of them if it does not say.
    pub nodes: Option<NodeSelector>,
    /// What stands behind it.
    pub backing: Backing,
}

/// The claim that a volume names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRef {
    /// The claim's namespace.
    pub namespace: Text,
    /// The claim's name.
    pub name: Text,
    /// The claim's UID; any claim of that name will do if there is none.
    pub uid: Option<Uid>,
}

/// How far a volume has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VolumePhase {
    /// Not ready yet, or of a phase that we do not know.
    #[default]
    Pending,
    /// Free to be claimed.
    Available,
    /// Claimed.
    Bound,
    /// Given back, and not yet cleaned.
    Released,
    /// Given back, and cannot be cleaned.
    Failed,
}

/// What stands behind a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backing {
    /// A volume of a CSI driver.
    Csi {
        /// The driver.
        driver: Text,
        /// What the driver calls the volume.
        handle: Text,
    },
    /// A volume of a plugin that has become a CSI driver since.
    InTree {
        /// Which plugin.
        plugin: InTreePlugin,
        /// What the plugin calls the volume.
        id: Text,
        /// Of Azure's disks alone: who looks after it, if it says so.
        kind: Option<Text>,
    },
    /// Anything else.
    Other,
}

/// The plugins of old whose volumes count as those of a CSI driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InTreePlugin {
    /// awsElasticBlockStore.
    AwsEbs,
    /// gcePersistentDisk.
    GcePd,
    /// azureDisk.
    AzureDisk,
    /// cinder.
    Cinder,
    /// portworxVolume.
    Portworx,
}

impl PersistentVolume {
    /// Whether it is for `claim`, taken by it or kept for it.
    pub fn is_for(&self, claim: &PersistentVolumeClaim) -> bool {
        self.claim.as_ref().is_some_and(|named| named.means(claim))
    }
}

impl ClaimRef {
    /// Whether it is `claim` that is named.
    pub fn means(&self, claim: &PersistentVolumeClaim) -> bool {
        self.name == claim.meta.name
            && self.namespace == claim.meta.namespace
            && self.uid.as_ref().is_none_or(|uid| *uid == claim.meta.uid)
    }
}

impl VolumePhase {
    /// The phase that the API calls `name`.
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
    /// All of them.
    pub const ALL: [InTreePlugin; 5] =
        [Self::AwsEbs, Self::GcePd, Self::AzureDisk, Self::Cinder, Self::Portworx];

    /// What a storage class calls it, as a provisioner.
    pub fn name(self) -> &'static str {
        match self {
            Self::AwsEbs => "kubernetes.io/aws-ebs",
            Self::GcePd => "kubernetes.io/gce-pd",
            Self::AzureDisk => "kubernetes.io/azure-disk",
            Self::Cinder => "kubernetes.io/cinder",
            Self::Portworx => "kubernetes.io/portworx-volume",
        }
    }

    /// The label of nodes by which its driver tells zones apart, if it does.
    pub fn zone_key(self) -> Option<&'static str> {
        match self {
            Self::AwsEbs => Some("topology.ebs.csi.aws.com/zone"),
            Self::GcePd => Some("topology.gke.io/zone"),
            Self::Cinder => Some("topology.cinder.csi.openstack.org/zone"),
            Self::AzureDisk | Self::Portworx => None,
        }
    }

    /// The CSI driver that it has become.
    pub fn driver(self) -> &'static str {
        match self {
            Self::AwsEbs => "ebs.csi.aws.com",
            Self::GcePd => "pd.csi.storage.gke.io",
            Self::AzureDisk => "disk.csi.azure.com",
            Self::Cinder => "cinder.csi.openstack.org",
            Self::Portworx => "pxd.portworx.com",
        }
    }

    /// The plugin that a storage class calls `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plugin| plugin.name() == name)
    }
}
