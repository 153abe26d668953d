//! NodeVolumeLimits: a CSI driver can attach only so many volumes to a node; and the driver must be installed there, if its
//! CSIDriver says so.

mod count;
mod hint;
#[cfg(test)]
mod tests;

use super::claims;
use super::{Descriptor, Implementations};
use crate::cluster::{Catalog, Ledger, PodContext, Snapshot};
use crate::framework::{
    Admission, BlockerClass, Evidence, Filter, NodeFilter, Plugin, PreFilter, Reason, RefusalCode,
    RefusalKind, StaticReason, Verdict, ledger_filter,
};
use crate::model::storage::CsiNode;
use crate::model::volume::PodVolume;
use crate::model::{CatalogKind, ExtensionPoint};
use count::{CountError, Volumes, attached, volumes_of};
use std::collections::BTreeMap;
use std::sync::Arc;

const NAME: &str = "NodeVolumeLimits";

const TOO_MANY: StaticReason = RefusalKind::resolvable(RefusalCode::VolumeLimit, BlockerClass::Room)
    .with_text("node(s) exceed max volume count");
const NO_DRIVER: RefusalKind = RefusalKind::resolvable(RefusalCode::VolumeDriver, BlockerClass::Storage);
const NO_CLAIM: RefusalKind = RefusalKind { is_unresolvable: true, ..NO_DRIVER };

pub struct NodeVolumeLimits;

struct VolumeCheck<'c> {
    catalog: &'c Catalog,
    /// The volumes on a node without a CSINode, where in-tree volumes are not migrated.
    without: Result<Volumes, CountError>,
    /// The volumes on a node with a CSINode.
    with: Result<Volumes, CountError>,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in(NAME, &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        let plugin = Arc::new(NodeVolumeLimits);
        Implementations {
            pre_filter: Some(plugin.clone()),
            filter: Some(plugin.clone()),
            enqueue_extensions: Some(plugin),
            ..Implementations::default()
        }
    })
    .upstream()
    .by_default(0)
    .watches(&[
        CatalogKind::PersistentVolumeClaim,
        CatalogKind::PersistentVolume,
        CatalogKind::StorageClass,
        CatalogKind::CsiNode,
        CatalogKind::CsiDriver,
        CatalogKind::VolumeAttachment,
    ])
}

impl Plugin for NodeVolumeLimits {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for NodeVolumeLimits {
    fn pre_filter(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        Admission::All
    }
}

impl Filter for NodeVolumeLimits {
    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        if !context.pod.spec.volumes.iter().any(is_counted) {
            return None;
        }
        let catalog = world.catalog();
        let volumes = |is_csi: bool| {
            let mut volumes = Volumes::new();
            volumes_of(context.pod, catalog, is_csi, true, &mut volumes).map(|()| volumes)
        };
        let check = VolumeCheck { catalog, without: volumes(false), with: volumes(true) };
        ledger_filter(world, move |ledger| check.verdict(ledger))
    }

    fn evidence(
        &self,
        reason: Option<&Reason>,
        _context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        let csi = world.catalog().csi_nodes.named(ledger.node.name.as_str())?;
        let limited = csi.drivers.iter().filter_map(|driver| Some((driver.name.clone(), driver.limit?)));
        let limits: Vec<_> = limited.collect();
        reason.filter(|_| !limits.is_empty()).map(|_| Evidence::VolumeLimits(limits))
    }
}

impl VolumeCheck<'_> {
    fn verdict(&self, ledger: &Ledger) -> Verdict {
        let csi = self.catalog.csi_nodes.named(ledger.node.name.as_str());
        let new = match if csi.is_some() { &self.with } else { &self.without } {
            Ok(new) => new,
            Err(CountError::ClaimNotFound(error)) => {
                return Verdict::rejects(NAME, NO_CLAIM.with(error.clone()));
            }
            Err(CountError::Failed(error)) => return Verdict::Fails(error.as_str().into()),
        };
        if new.is_empty() {
            return Verdict::Fits;
        }
        if let Some(driver) = new.values().find(|driver| self.is_missing(driver, csi)) {
            let text = format!("{driver} CSI driver is not installed on the node");
            return Verdict::rejects(NAME, NO_DRIVER.with(text));
        }
        let limits = csi.map(limits).unwrap_or_default();
        if limits.is_empty() { Verdict::Fits } else { self.count(ledger, new, &limits) }
    }

    /// Whether the driver must be installed on a node, and is not on this one.
    fn is_missing(&self, driver: &str, csi: Option<&CsiNode>) -> bool {
        let is_required = self.catalog.csi_drivers.named(driver).is_some_and(|driver| driver.is_required);
        is_required && csi.is_none_or(|csi| csi.driver(driver).is_none())
    }

    fn count(&self, ledger: &Ledger, new: &Volumes, limits: &BTreeMap<&str, i64>) -> Verdict {
        let mut present = Volumes::new();
        for pod in ledger.pods.iter().filter(|pod| !pod.spec.volumes.is_empty()) {
            match volumes_of(pod, self.catalog, true, false, &mut present) {
                Ok(()) => {}
                Err(CountError::ClaimNotFound(error) | CountError::Failed(error)) => {
                    return Verdict::Fails(error.as_str().into());
                }
            }
        }
        // Volumes that are attached without a pod count too. A new volume of the pod counts even if it is attached already.
        let attached = attached(self.catalog, &ledger.node.name);
        let others: Vec<&str> = attached
            .iter()
            .filter(|(name, _)| !present.contains_key(*name))
            .map(|(_, driver)| &**driver)
            .collect();
        let fits = |driver: &str, limit: i64| {
            let is_own = |one: &&str| *one == driver;
            let old = present.values().map(|one| &**one).filter(is_own).count();
            let old = old + others.iter().copied().filter(is_own).count();
            let more = new.iter().filter(|(name, one)| ***one == *driver && !present.contains_key(*name));
            let more = more.count();
            more == 0 || i64::try_from(old + more).unwrap_or(i64::MAX) <= limit
        };
        if limits.iter().all(|(driver, limit)| fits(driver, *limit)) {
            Verdict::Fits
        } else {
            Verdict::RejectsStatic { plugin: NAME, reason: &TOO_MANY }
        }
    }
}

/// Whether a CSI driver may have to attach the volume.
fn is_counted(volume: &PodVolume) -> bool {
    claims::is_claim(volume) || volume.source.plugin().is_some()
}

/// How many volumes each driver can attach to the node; drivers without a limit are missing.
fn limits(csi: &CsiNode) -> BTreeMap<&str, i64> {
    let limited = csi.drivers.iter().filter_map(|driver| Some((&*driver.name, i64::from(driver.limit?))));
    limited.collect()
}
