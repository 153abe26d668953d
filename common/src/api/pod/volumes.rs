//! Decodes `spec.volumes`: the sources that plugins read, and whether there are other sources that not every node can mount.

use crate::api::meta::{NullableList, Str, or_empty};
use crate::model::volume::Rbd;
use crate::model::{PodVolume, Text, VolumeSource};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

#[derive(Default)]
pub(super) struct VolumeWire {
    name: Text,
    sources: Vec<VolumeSource>,
    pub(super) image: Option<Text>,
    /// Whether some source is not in [`SOURCES_ANYWHERE`].
    pub(super) is_special: bool,
}

/// Volume sources that no plugin of kube-scheduler reads: every node can mount them.
const SOURCES_ANYWHERE: [&str; 8] =
    ["configMap", "downwardAPI", "emptyDir", "hostPath", "image", "nfs", "projected", "secret"];

/// The API server's default of `rbd.pool`.
const RBD_POOL: &str = "rbd";

/// The fields of all sources that we read. No field name has different meanings in two sources.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct SourceWire<'a> {
    claim_name: Option<Str<'a>>,
    pd_name: Option<Str<'a>>,
    #[serde(rename = "volumeID")]
    volume_id: Option<Str<'a>>,
    iqn: Option<Str<'a>>,
    monitors: NullableList<Str<'a>>,
    pool: Option<Str<'a>>,
    image: Option<Str<'a>>,
    #[serde(rename = "diskURI")]
    disk_uri: Option<Str<'a>>,
    kind: Option<Str<'a>>,
    reference: Option<Str<'a>>,
    read_only: Option<bool>,
}

impl VolumeWire {
    /// The volume, once for each source that plugins read. The API server allows only one source.
    pub(super) fn volumes(&self) -> impl Iterator<Item = PodVolume> {
        self.sources.iter().map(|source| PodVolume { name: self.name.clone(), source: source.clone() })
    }

    fn add(&mut self, name: &str, wire: &SourceWire<'_>) {
        match name {
            "image" => self.image = Some(or_empty(wire.reference.as_ref())),
            _ => self.sources.extend(wire.source(name)),
        }
    }
}

impl SourceWire<'_> {
    fn source(&self, name: &str) -> Option<VolumeSource> {
        let read_only = self.read_only.unwrap_or(false);
        let id = || or_empty(self.volume_id.as_ref());
        Some(match name {
            "persistentVolumeClaim" => VolumeSource::Claim { name: or_empty(self.claim_name.as_ref()) },
            "ephemeral" => VolumeSource::Ephemeral,
            "gcePersistentDisk" => VolumeSource::GceDisk { disk: or_empty(self.pd_name.as_ref()), read_only },
            "awsElasticBlockStore" => VolumeSource::AwsDisk { id: id() },
            "iscsi" => VolumeSource::Iscsi { target: or_empty(self.iqn.as_ref()), read_only },
            "rbd" => VolumeSource::Rbd(Box::new(self.rbd(read_only))),
            "azureDisk" => VolumeSource::AzureDisk {
                uri: or_empty(self.disk_uri.as_ref()),
                kind: self.kind.as_ref().map(|kind| Text::from(&*kind.0)),
            },
            "cinder" => VolumeSource::Cinder { id: id() },
            "portworxVolume" => VolumeSource::Portworx { id: id() },
            _ => return None,
        })
    }

    fn rbd(&self, read_only: bool) -> Rbd {
        let pool = or_empty(self.pool.as_ref());
        Rbd {
            monitors: self.monitors.texts(),
            pool: if pool.is_empty() { RBD_POOL.into() } else { pool },
            image: or_empty(self.image.as_ref()),
            read_only,
        }
    }
}

/// Whether we read fields of the source called `name`.
fn is_read(name: &str) -> bool {
    const READ: [&str; 10] = [
        "awsElasticBlockStore",
        "azureDisk",
        "cinder",
        "ephemeral",
        "gcePersistentDisk",
        "image",
        "iscsi",
        "persistentVolumeClaim",
        "portworxVolume",
        "rbd",
    ];
    READ.contains(&name)
}

impl<'de> Deserialize<'de> for VolumeWire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VolumeVisitor;
        impl<'de> Visitor<'de> for VolumeVisitor {
            type Value = VolumeWire;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a volume")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VolumeWire, A::Error> {
                let mut volume = VolumeWire::default();
                while let Some(field) = map.next_key::<Str<'de>>()? {
                    if field.0 == "name" {
                        volume.name = or_empty(map.next_value::<Option<Str<'de>>>()?.as_ref());
                        continue;
                    }
                    volume.is_special |= !SOURCES_ANYWHERE.contains(&&*field.0);
                    if !is_read(&field.0) {
                        map.next_value::<IgnoredAny>()?;
                    } else if let Some(source) = map.next_value::<Option<SourceWire<'de>>>()? {
                        volume.add(&field.0, &source);
                    }
                }
                Ok(volume)
            }
        }
        deserializer.deserialize_map(VolumeVisitor)
    }
}
