//! Which volumes of a pod a driver has to attach, and which are attached to a node already.

use crate::cluster::Catalog;
use crate::model::Pod;
use crate::model::ids::{NodeName, Text};
use crate::model::storage::{Backing, InTreePlugin, PersistentVolumeClaim};
use crate::model::volume::PodVolume;
use crate::plugins::claims;
use std::collections::BTreeMap;

/// Volumes by driver and handle, each with its driver.
pub(super) type Volumes = BTreeMap<String, Text>;

/// Why volumes cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// A claim is not there.
    Missing(String),
    /// Something is wrong.
    Wrong(String),
}

/// Stands before the names of claims that have no volume yet, so that none is taken for a handle.
const UNBOUND: &str = "\0unbound";

/// Plugins of old that drivers have taken over, which kube-scheduler does not count.
const UNCOUNTED: [&str; 2] = ["kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"];

/// Adds the volumes that drivers have to attach for `pod`. Only where there is a CSINode (`is_csi`) have plugins of old
/// become drivers. The claims of a pod that is already there may be gone; those of a new one must be there.
pub(super) fn volumes_of(
    pod: &Pod,
    catalog: &Catalog,
    is_csi: bool,
    is_new: bool,
    volumes: &mut Volumes,
) -> Result<(), Problem> {
    for volume in &pod.spec.volumes {
        let Some(name) = volume.claim_name(&pod.key.name) else {
            volumes.extend(inline(volume, is_csi)?);
            continue;
        };
        if name.is_empty() {
            return Err(Problem::Wrong("PersistentVolumeClaim had no name".to_owned()));
        }
        let Some(claim) = claims::get(catalog, pod, &name) else {
            if is_new {
                let words = claims::no_claim(&name);
                let namespace = &pod.key.namespace;
                return Err(Problem::Missing(format!("looking up PVC {namespace}/{name}: {words}")));
            }
            continue;
        };
        if volume.is_ephemeral() {
            claims::check_owner(pod, claim).map_err(Problem::Wrong)?;
        }
        let found = of_claim(claim, catalog, is_csi);
        let known = found.filter(|(driver, handle)| !driver.is_empty() && !handle.is_empty());
        volumes.extend(known.map(|(driver, handle)| (key(&driver, &handle), driver)));
    }
    Ok(())
}

/// What is attached to the node, by driver and handle.
pub(super) fn attached(catalog: &Catalog, node: &NodeName) -> Volumes {
    let volume = |name: &Text| catalog.volumes.named(name).map(|volume| &volume.backing);
    let attachments = catalog.attachments_of(node).filter(|attachment| !attachment.attacher.is_empty());
    let handles = attachments.filter_map(|attachment| match volume(attachment.volume.as_ref()?)? {
        Backing::Csi { handle, .. } => Some((key(&attachment.attacher, handle), attachment.attacher.clone())),
        Backing::InTree { .. } | Backing::Other => None,
    });
    handles.collect()
}

fn key(driver: &str, handle: &str) -> String {
    [driver, "/", handle].concat()
}

/// A volume that is written out in the pod.
fn inline(volume: &PodVolume, is_csi: bool) -> Result<Option<(String, Text)>, Problem> {
    let Some(plugin) = volume.source.plugin().filter(|_| is_csi) else { return Ok(None) };
    let handle = volume.source.handle().map_err(|problem| {
        Problem::Wrong(format!("converting volume({}) from inline to csi: {problem}", volume.name))
    })?;
    Ok(Some((key(plugin.driver(), &handle), plugin.driver().into())))
}

/// The driver of a claim's volume, and its handle.
fn of_claim(claim: &PersistentVolumeClaim, catalog: &Catalog, is_csi: bool) -> Option<(Text, String)> {
    let volume = claim.volume_name.as_ref().and_then(|name| catalog.volumes.named(name));
    let Some(volume) = volume else { return of_class(claim, catalog, is_csi) };
    let driver = match &volume.backing {
        Backing::Csi { driver, .. } => driver.clone(),
        Backing::InTree { plugin, .. } if is_csi => plugin.driver().into(),
        Backing::InTree { .. } | Backing::Other => return None,
    };
    Some((driver, volume.handle().ok()?.into_owned()))
}

/// The driver of a claim that has no volume yet: the provisioner of its class.
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
