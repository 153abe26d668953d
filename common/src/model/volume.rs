//! The volumes of a pod that not every node can mount, reduced to what tells nodes apart.

use super::ids::Text;
use std::borrow::Cow;

/// A volume of a pod that some plugin looks at. Others are not kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodVolume {
    /// Its name within the pod.
    pub name: Text,
    /// What is mounted.
    pub source: VolumeSource,
}

/// What a volume mounts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VolumeSource {
    /// `persistentVolumeClaim`.
    Claim {
        /// The claim's name.
        name: Text,
    },
    /// `ephemeral`: a claim that is made for the pod. Its name follows from the pod's, which does not belong into
    /// something that pods share; see [`PodVolume::claim_name`].
    Ephemeral,
    /// `gcePersistentDisk`.
    GceDisk {
        /// `pdName`.
        disk: Text,
        /// Whether it is only read: any number of pods may do that.
        read_only: bool,
    },
    /// `awsElasticBlockStore`, which one pod of a node has for itself, even if it only reads.
    AwsDisk {
        /// `volumeID`, in either of the forms that AWS volumes are written in.
        id: Text,
    },
    /// `rbd`.
    Rbd(Box<Rbd>),
    /// `iscsi`, of which kube-scheduler compares no more than the name of the target.
    Iscsi {
        /// `iqn`.
        target: Text,
        /// Whether it is only read.
        read_only: bool,
    },
    /// `azureDisk`, which counts as a volume of its CSI driver.
    AzureDisk {
        /// `diskURI`.
        uri: Text,
        /// `kind`: only `Managed`, in whatever case, can be counted. The API server writes `Shared` where none is given.
        kind: Option<Text>,
    },
    /// `cinder`, which counts as a volume of its CSI driver.
    Cinder {
        /// `volumeID`.
        id: Text,
    },
    /// `portworxVolume`, which counts as a volume of its CSI driver.
    Portworx {
        /// `volumeID`.
        id: Text,
    },
}

/// A Ceph block device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rbd {
    /// The monitors: two devices with one in common are of one cluster.
    pub monitors: Box<[Text]>,
    /// The pool, `rbd` unless said.
    pub pool: Text,
    /// The image.
    pub image: Text,
    /// Whether it is only read.
    pub read_only: bool,
}

impl PodVolume {
    /// The claim that it mounts when it is a volume of the pod called `pod`.
    pub fn claim_name(&self, pod: &str) -> Option<Cow<'_, str>> {
        match &self.source {
            VolumeSource::Claim { name } => Some(Cow::Borrowed(name)),
            VolumeSource::Ephemeral => Some(Cow::Owned(format!("{pod}-{}", self.name))),
            _ => None,
        }
    }

    /// Whether its claim is made for the pod, which must then own it.
    pub fn is_ephemeral(&self) -> bool {
        self.source == VolumeSource::Ephemeral
    }

    /// Whether a pod with this volume and one with `other` cannot share a node.
    pub fn conflicts_with(&self, other: &PodVolume) -> bool {
        use VolumeSource::{AwsDisk, GceDisk, Iscsi, Rbd};
        match (&self.source, &other.source) {
            (GceDisk { disk, read_only }, GceDisk { disk: its, read_only: too }) => {
                disk == its && !(*read_only && *too)
            }
            (AwsDisk { id }, AwsDisk { id: its }) => id == its,
            (Iscsi { target, read_only }, Iscsi { target: its, read_only: too }) => {
                target == its && !(*read_only && *too)
            }
            (Rbd(device), Rbd(its)) => device.is(its) && !(device.read_only && its.read_only),
            _ => false,
        }
    }
}

impl Rbd {
    fn is(&self, other: &Rbd) -> bool {
        self.pool == other.pool
            && self.image == other.image
            && self.monitors.iter().any(|monitor| other.monitors.contains(monitor))
    }
}
