//! Which volumes CSI drivers have to attach for a pod, and which are attached to a node already.

use crate::cluster::Catalog;
use crate::model::storage::{InTreePlugin, PersistentVolumeSource};
use crate::model::{NodeName, PersistentVolumeClaim, Pod, PodVolume, Text};
use crate::plugins::claims;
use std::collections::BTreeMap;

/// Volumes by driver and handle; the value is the driver.
pub(super) type Volumes = BTreeMap<String, Text>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CountError {
    ClaimNotFound(String),
    Failed(String),
}

/// The prefix of the names of unbound claims, so that none equals a volume handle.
const UNBOUND: &str = "\0unbound";

/// In-tree plugins that were migrated to CSI and that kube-scheduler does not count.
const UNCOUNTED: [&str; 2] = ["kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"];

/// Adds the volumes that drivers have to attach for `pod`. In-tree volumes count only on nodes with a CSINode (`is_csi`), where
/// they are migrated. Claims of existing pods may be gone; claims of a new pod (`is_new`) must exist.
pub(super) fn volumes_of(
    pod: &Pod,
    catalog: &Catalog,
    is_csi: bool,
    is_new: bool,
    volumes: &mut Volumes,
) -> Result<(), CountError> {
    for volume in &pod.spec.volumes {
        let Some(name) = volume.claim_name(&pod.key.name) else {
            volumes.extend(inline(volume, is_csi)?);
            continue;
        };
        if name.is_empty() {
            return Err(CountError::Failed("PersistentVolumeClaim had no name".to_owned()));
        }
        let Some(claim) = claims::get(catalog, pod, &name) else {
            if is_new {
                let error = claims::claim_not_found(&name);
                let namespace = &pod.key.namespace;
                return Err(CountError::ClaimNotFound(format!("looking up PVC {namespace}/{name}: {error}")));
            }
            continue;
        };
        if volume.is_ephemeral() {
            claims::check_owner(pod, claim).map_err(CountError::Failed)?;
        }
        let volume = of_claim(claim, catalog, is_csi);
        let counted = volume.filter(|(driver, handle)| !driver.is_empty() && !handle.is_empty());
        volumes.extend(counted.map(|(driver, handle)| (key(&driver, &handle), driver)));
    }
    Ok(())
}

pub(super) fn attached(catalog: &Catalog, node: &NodeName) -> Volumes {
    let volume = |name: &Text| catalog.volumes.named(name).map(|volume| &volume.source);
    let attachments = catalog.attachments_of(node).filter(|attachment| !attachment.attacher.is_empty());
    let handles = attachments.filter_map(|attachment| match volume(attachment.volume.as_ref()?)? {
        PersistentVolumeSource::Csi { handle, .. } => {
            Some((key(&attachment.attacher, handle), attachment.attacher.clone()))
        }
        PersistentVolumeSource::InTree { .. } | PersistentVolumeSource::Other => None,
    });
    handles.collect()
}

fn key(driver: &str, handle: &str) -> String {
    [driver, "/", handle].concat()
}

/// The in-tree volume of a pod spec, as its CSI driver names it.
fn inline(volume: &PodVolume, is_csi: bool) -> Result<Option<(String, Text)>, CountError> {
    let Some(plugin) = volume.source.plugin().filter(|_| is_csi) else { return Ok(None) };
    let handle = volume.source.handle().map_err(|problem| {
        CountError::Failed(format!("converting volume({}) from inline to csi: {problem}", volume.name))
    })?;
    Ok(Some((key(plugin.driver(), &handle), plugin.driver().into())))
}

/// The driver and the handle of a claim's volume.
fn of_claim(claim: &PersistentVolumeClaim, catalog: &Catalog, is_csi: bool) -> Option<(Text, String)> {
    let volume = claim.volume_name.as_ref().and_then(|name| catalog.volumes.named(name));
    let Some(volume) = volume else { return of_class(claim, catalog, is_csi) };
    let driver = match &volume.source {
        PersistentVolumeSource::Csi { driver, .. } => driver.clone(),
        PersistentVolumeSource::InTree { plugin, .. } if is_csi => plugin.driver().into(),
        PersistentVolumeSource::InTree { .. } | PersistentVolumeSource::Other => return None,
    };
    Some((driver, volume.handle().ok()?.into_owned()))
}

/// The driver of an unbound claim, which is the provisioner of its storage class, and a handle that stands for the claim.
fn of_class(claim: &PersistentVolumeClaim, catalog: &Catalog, is_csi: bool) -> Option<(Text, String)> {
    let provisioner = &catalog.classes.named(claim.class.as_deref()?)?.provisioner;
    let driver = match InTreePlugin::from_name(provisioner) {
        Some(plugin) if is_csi => plugin.driver().into(),
        Some(_) => return None,
        None if UNCOUNTED.contains(&&**provisioner) => return None,
        None => provisioner.clone(),
    };
    Some((driver, format!("{UNBOUND}-{}/{}", claim.meta.namespace, claim.meta.name)))
}
