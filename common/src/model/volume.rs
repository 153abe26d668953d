//! The volumes of a pod that not every node can mount, reduced to what scheduling reads.

use super::ids::Text;
use std::borrow::Cow;

/// A volume of a pod that some plugin reads. Other volumes are not kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodVolume {
    pub name: Text,
    pub source: VolumeSource,
}

/// By the fields of the API. Any number of pods of a node may mount a volume with `read_only`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VolumeSource {
    /// `persistentVolumeClaim`.
    Claim { name: Text },
    /// `ephemeral`: a claim that is made for the pod. The claim's name depends on the pod's name and is not stored here, since pods
    /// of one template share this value; see [`PodVolume::claim_name`].
    Ephemeral,
    /// `gcePersistentDisk`; `disk` is `pdName`.
    GceDisk { disk: Text, read_only: bool },
    /// `awsElasticBlockStore`, which only one pod of a node can mount, even read-only. `volumeID` is the bare name, or
    /// `aws://<zone>/<name>`.
    AwsDisk { id: Text },
    /// `rbd`.
    Rbd(Box<Rbd>),
    /// `iscsi`, of which kube-scheduler compares only the name of the target (`iqn`).
    Iscsi { target: Text, read_only: bool },
    /// `azureDisk`, which counts as a volume of its CSI driver. Only the kind `Managed`, in upper or lower case, can be counted; the
    /// API server's default is `Shared`.
    AzureDisk { uri: Text, kind: Option<Text> },
    /// `cinder`, which counts as a volume of its CSI driver.
    Cinder { id: Text },
    /// `portworxVolume`, which counts as a volume of its CSI driver.
    Portworx { id: Text },
}

/// A Ceph block device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rbd {
    /// The monitors. Two devices with a common monitor are in the same Ceph cluster.
    pub monitors: Box<[Text]>,
    /// The pool, by default `rbd`.
    pub pool: Text,
    pub image: Text,
    pub read_only: bool,
}

impl PodVolume {
    /// The name of the claim that it mounts, in the pod called `pod`.
    pub fn claim_name(&self, pod: &str) -> Option<Cow<'_, str>> {
        match &self.source {
            VolumeSource::Claim { name } => Some(Cow::Borrowed(name)),
            VolumeSource::Ephemeral => Some(Cow::Owned(format!("{pod}-{}", self.name))),
            _ => None,
        }
    }

    /// Whether its claim is made for the pod. The pod must then own the claim.
    pub fn is_ephemeral(&self) -> bool {
        self.source == VolumeSource::Ephemeral
    }

    /// Whether a pod with this volume and one with `other` cannot share a node.
    pub fn conflicts_with(&self, other: &PodVolume) -> bool {
        use VolumeSource::{AwsDisk, GceDisk, Iscsi, Rbd};
        match (&self.source, &other.source) {
            (GceDisk { disk, read_only }, GceDisk { disk: other, read_only: other_read_only }) => {
                disk == other && !(*read_only && *other_read_only)
            }
            (AwsDisk { id }, AwsDisk { id: other }) => id == other,
            (Iscsi { target, read_only }, Iscsi { target: other, read_only: other_read_only }) => {
                target == other && !(*read_only && *other_read_only)
            }
            (Rbd(device), Rbd(other)) => {
                device.is_same_image(other) && !(device.read_only && other.read_only)
            }
            _ => false,
        }
    }
}

impl Rbd {
    fn is_same_image(&self, other: &Rbd) -> bool {
        self.pool == other.pool
            && self.image == other.image
            && self.monitors.iter().any(|monitor| other.monitors.contains(monitor))
    }
}
