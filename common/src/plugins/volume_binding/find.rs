//! Which volumes a pod would have on a node, and why not.

use super::wanted::Wanted;
use crate::cluster::{Catalog, Choices, Snapshot};
use crate::framework::Cure;
use crate::model::Node;
use crate::model::affinity::NodeSelector;
use crate::model::ids::NodeName;
use crate::model::labels::Labels;
use crate::model::storage::{
    CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeChoice, VolumePhase,
};

/// What is the same for all nodes.
pub(super) struct Finder<'w> {
    catalog: &'w Catalog,
    /// The volumes that the pod has; `None` for one that is not there.
    bound: Vec<Option<&'w PersistentVolume>>,
    /// Claims for which a volume is being made, and then the others, the smallest first.
    late: Vec<Late<'w>>,
}

/// A claim that gets its volume when the pod has its node.
struct Late<'w> {
    claim: &'w PersistentVolumeClaim,
    class: &'w StorageClass,
    /// The node for which its volume is being made.
    node: Option<&'w NodeName>,
    /// Volumes that are kept for it.
    kept: Vec<&'w PersistentVolume>,
    /// Volumes that would do, the smallest first.
    free: Vec<&'w PersistentVolume>,
    /// Where there is enough for it; `None` if nobody keeps account of that.
    enough: Option<Vec<&'w CsiStorageCapacity>>,
}

/// What a pod would have on a node. The four flags are its reasons to go elsewhere.
#[derive(Debug, Default)]
pub(super) struct Found<'w> {
    /// A volume that it has cannot be reached.
    out_of_reach: bool,
    /// There is no volume for a claim, and none can be made.
    none_to_bind: bool,
    /// There is too little left to make one.
    too_little: bool,
    /// A volume that it has is not there.
    is_gone: bool,
    /// The claims that would get volumes that are there.
    pub(super) existing: Vec<(&'w PersistentVolumeClaim, &'w PersistentVolume)>,
    /// The claims that volumes would be made for, and out of what, if somebody keeps account.
    pub(super) provisioned: Vec<(&'w PersistentVolumeClaim, Option<&'w CsiStorageCapacity>)>,
}

impl<'w> Finder<'w> {
    pub(super) fn new(wanted: &Wanted<'w>, world: &Snapshot<'w>) -> Self {
        let (catalog, choices) = (world.catalog(), world.choices());
        let bound = wanted.bound.iter().map(|claim| catalog.volumes.named(claim.volume_name.as_ref()?));
        let late = wanted.late.iter().map(|(claim, class)| Late::new(claim, class, catalog, choices));
        let mut late: Vec<Late<'w>> = late.collect();
        // Those for which a volume is being made stay in order; a claim that asks for nothing is the smallest.
        late.sort_by_key(|late| {
            let size = late.claim.requested.unwrap_or_default();
            late.node.is_none().then_some(size)
        });
        Self { catalog, bound: bound.collect(), late }
    }

    /// What the pod would have on `node`.
    pub(super) fn find(&self, node: &Node) -> Result<Found<'w>, String> {
        let mut found = Found::default();
        self.check_bound(node, &mut found)?;
        if self.late.iter().any(|late| late.node.is_some_and(|chosen| *chosen != node.name)) {
            found.none_to_bind = true;
            return Ok(found);
        }
        let mut rest = Vec::new();
        for late in &self.late {
            match late.existing(&node.labels, &found.existing) {
                Some(volume) => found.existing.push((late.claim, volume)),
                None => rest.push(late),
            }
        }
        for late in rest {
            match late.provision(&node.labels, &mut found) {
                Some(capacity) => found.provisioned.push((late.claim, capacity)),
                None => {
                    found.provisioned.clear();
                    break;
                }
            }
        }
        Ok(found)
    }

    fn check_bound(&self, node: &Node, found: &mut Found<'_>) -> Result<(), String> {
        for volume in &self.bound {
            let Some(volume) = volume else {
                found.is_gone = true;
                break;
            };
            if !reaches(volume, node, self.catalog)? {
                found.out_of_reach = true;
                break;
            }
        }
        Ok(())
    }
}

/// Whether a volume that a pod has can be reached from `node`. Where a driver has taken over from a plugin of old, its
/// labels count.
pub(super) fn reaches(volume: &PersistentVolume, node: &Node, catalog: &Catalog) -> Result<bool, String> {
    let is_migrated = volume.plugin().is_some_and(|plugin| {
        let csi = catalog.csi_nodes.named(node.name.as_str());
        csi.is_some_and(|csi| csi.migrated.iter().any(|name| **name == *plugin.name()))
    });
    if !is_migrated {
        return Ok(admits(volume.nodes.as_ref(), &node.labels));
    }
    volume.handle().map_err(|problem| format!("could not translate pv: {problem}"))?;
    Ok(admits(volume.migrated_nodes().as_deref(), &node.labels))
}

impl<'w> Late<'w> {
    fn new(
        claim: &'w PersistentVolumeClaim,
        class: &'w StorageClass,
        catalog: &'w Catalog,
        choices: &'w Choices,
    ) -> Self {
        let node = choices.node_of(claim);
        let (mut kept, mut free) = (Vec::new(), Vec::new());
        let volumes = catalog.volumes_of(&class.meta.name).filter(|_| node.is_none());
        for volume in volumes.filter(|volume| could_have(claim, volume)) {
            match choices.claim_of(volume) {
                Some(named) if named.means(claim) => kept.push(volume),
                Some(_) => {}
                None if is_free(claim, volume) => free.push(volume),
                None => {}
            }
        }
        free.sort_by_key(|volume| volume.capacity);
        Self { claim, class, node, kept, free, enough: enough(claim, class, catalog) }
    }

    /// The volume that the claim would get on a node with these labels. One that is kept for it is the only one that
    /// comes into question.
    fn existing(
        &self,
        labels: &Labels,
        chosen: &[(&PersistentVolumeClaim, &PersistentVolume)],
    ) -> Option<&'w PersistentVolume> {
        let is_left = |volume: &&&'w PersistentVolume| {
            chosen.iter().all(|(_, chosen)| chosen.meta.name != volume.meta.name)
        };
        let reaches = |volume: &&&'w PersistentVolume| admits(volume.nodes.as_ref(), labels);
        match self.kept.iter().find(is_left) {
            Some(kept) => Some(kept).filter(reaches).copied(),
            None => self.free.iter().filter(is_left).find(reaches).copied(),
        }
    }

    /// What a volume would be made out of on a node with these labels; `None` if none can be made.
    fn provision(&self, labels: &Labels, found: &mut Found<'_>) -> Option<Option<&'w CsiStorageCapacity>> {
        if !self.class.is_provisioned() || !self.class.allows(labels) {
            found.none_to_bind = true;
            return None;
        }
        let Some(enough) = &self.enough else { return Some(None) };
        let reaches = |capacity: &&&CsiStorageCapacity| {
            capacity.nodes.as_ref().is_some_and(|nodes| nodes.matches(labels))
        };
        let capacity = enough.iter().find(reaches).copied();
        found.too_little |= capacity.is_none();
        capacity.map(Some)
    }
}

impl Found<'_> {
    /// Why the pod cannot be on the node, and what could change it, in upstream's order.
    pub(super) fn reasons(&self) -> impl Iterator<Item = (&'static str, Cure)> {
        let all = [
            (self.out_of_reach, "node(s) didn't match PersistentVolume's node affinity", Cure::Node),
            (self.none_to_bind, "node(s) didn't find available persistent volumes to bind", Cure::Storage),
            (self.too_little, "node(s) did not have enough free storage", Cure::Storage),
            (
                self.is_gone,
                "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
                Cure::Storage,
            ),
        ];
        all.into_iter().filter(|(is_so, ..)| *is_so).map(|(_, words, cure)| (words, cure))
    }

    /// What is to become of the claims.
    pub(super) fn choices(&self) -> Vec<VolumeChoice> {
        let existing = self.existing.iter().map(|(claim, volume)| VolumeChoice::existing(claim, volume));
        let provisioned = self.provisioned.iter().map(|(claim, _)| VolumeChoice::provisioned(claim));
        existing.chain(provisioned).collect()
    }
}

/// Whether nodes with these labels are among `nodes`. What does not say any is for all. Names are not looked at.
fn admits(nodes: Option<&NodeSelector>, labels: &Labels) -> bool {
    nodes.is_none_or(|nodes| nodes.matches(labels, ""))
}

/// Whether a claim could have a volume, were it kept for it.
fn could_have(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> bool {
    volume.capacity >= claim.requested.unwrap_or_default()
        && volume.volume_mode == claim.volume_mode
        && volume.attributes_class == claim.attributes_class
        && !volume.meta.is_deleting
}

/// Whether a claim could have a volume that is kept for nobody.
fn is_free(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> bool {
    volume.phase == VolumePhase::Available
        && claim.selector.as_ref().is_none_or(|selector| selector.matches(&volume.labels))
        && volume.access_modes.covers(claim.access_modes)
}

/// Where there is enough for a claim, if its driver keeps account of that.
fn enough<'w>(
    claim: &PersistentVolumeClaim,
    class: &StorageClass,
    catalog: &'w Catalog,
) -> Option<Vec<&'w CsiStorageCapacity>> {
    let size = claim.requested?.value();
    catalog.csi_drivers.named(&class.provisioner).filter(|driver| driver.tracks_capacity)?;
    let is_enough =
        |capacity: &&CsiStorageCapacity| capacity.limit().is_some_and(|limit| limit.value() >= size);
    Some(catalog.capacities_of(&class.meta.name).filter(is_enough).collect())
}
