//! NodeVolumeLimits: a driver can attach so many volumes to a node and no more, and must be there at all if it says so.

mod count;
#[cfg(test)]
mod tests;

use super::claims;
use super::kit::Kit;
use crate::cluster::{Catalog, Ledger, PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{Admission, Cure, Filter, NodeFilter, Plugin, PreFilter, Reason, Verdict, on_ledger};
use crate::model::storage::CsiNode;
use crate::model::volume::PodVolume;
use count::{Problem, Volumes, attached, volumes_of};
use std::collections::BTreeMap;
use std::sync::Arc;

const NAME: &str = "NodeVolumeLimits";

const TOO_MANY: &str = "node(s) exceed max volume count";

/// The plugin.
pub struct NodeVolumeLimits;

/// What the pod needs on a node.
struct Needs<'c> {
    catalog: &'c Catalog,
    /// Its volumes on a node that has no CSINode, where no plugin of old has become a driver.
    without: Result<Volumes, Problem>,
    /// Its volumes on a node that has one.
    with: Result<Volumes, Problem>,
}

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    let plugin = Arc::new(NodeVolumeLimits);
    Kit { pre_filter: Some(plugin.clone()), filter: Some(plugin), ..Kit::default() }
}

impl Plugin for NodeVolumeLimits {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for NodeVolumeLimits {
    fn pre_filter(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        Admission::All
    }
}

impl Filter for NodeVolumeLimits {
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        if !pod_context.pod.spec.volumes.iter().any(is_counted) {
            return None;
        }
        let catalog = world.catalog();
        let volumes = |is_csi: bool| {
            let mut volumes = Volumes::new();
            volumes_of(pod_context.pod, catalog, is_csi, true, &mut volumes).map(|()| volumes)
        };
        let needs = Needs { catalog, without: volumes(false), with: volumes(true) };
        on_ledger(world, move |ledger| needs.judge(ledger))
    }
}

impl Needs<'_> {
    fn judge(&self, ledger: &Ledger) -> Verdict {
        let csi = self.catalog.csi_nodes.named(ledger.node.name.as_str());
        let new = match if csi.is_some() { &self.with } else { &self.without } {
            Ok(new) => new,
            Err(Problem::Missing(words)) => {
                return Verdict::rejects(NAME, Reason::said_for_good(words.clone(), Cure::Storage));
            }
            Err(Problem::Wrong(words)) => return Verdict::Fails(words.as_str().into()),
        };
        if new.is_empty() {
            return Verdict::Fits;
        }
        if let Some(driver) = new.values().find(|driver| self.is_missing(driver, csi)) {
            let words = format!("{driver} CSI driver is not installed on the node");
            return Verdict::rejects(NAME, Reason::said(words, Cure::Storage));
        }
        let limits = csi.map(limits).unwrap_or_default();
        if limits.is_empty() { Verdict::Fits } else { self.count(ledger, new, &limits) }
    }

    /// Whether the driver has to be on a node, and is not on this one.
    fn is_missing(&self, driver: &str, csi: Option<&CsiNode>) -> bool {
        let is_required = self.catalog.csi_drivers.named(driver).is_some_and(|driver| driver.is_required);
        is_required && csi.is_none_or(|csi| csi.driver(driver).is_none())
    }

    fn count(&self, ledger: &Ledger, new: &Volumes, limits: &BTreeMap<&str, i64>) -> Verdict {
        let mut present = Volumes::new();
        for pod in ledger.pods.iter().filter(|pod| !pod.spec.volumes.is_empty()) {
            match volumes_of(pod, self.catalog, true, false, &mut present) {
                Ok(()) => {}
                Err(Problem::Missing(words) | Problem::Wrong(words)) => {
                    return Verdict::Fails(words.as_str().into());
                }
            }
        }
        // What is attached without a pod counts too, but is no reason to count a new volume less.
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
            Verdict::rejects(NAME, Reason::said(TOO_MANY, Cure::Room))
        }
    }
}

/// Whether a driver may have to attach the volume.
fn is_counted(volume: &PodVolume) -> bool {
    claims::is_claim(volume) || volume.source.plugin().is_some()
}

/// How many volumes each driver can attach to the node, if it says so.
fn limits(csi: &CsiNode) -> BTreeMap<&str, i64> {
    let limited = csi.drivers.iter().filter_map(|driver| Some((&*driver.name, i64::from(driver.limit?))));
    limited.collect()
}
