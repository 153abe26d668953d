//! The selector for default constraints: pods of the same services and the same controller belong together.

use crate::cluster::Snapshot;
use crate::model::{OwnerKind, Pod, Selector, Workload};
use std::collections::BTreeMap;

/// The selectors of the pod's services and of its controller, merged; empty if there are none.
pub(super) fn default_selector(pod: &Pod, world: &Snapshot<'_>) -> Selector {
    let mut pairs: BTreeMap<&str, &str> = BTreeMap::new();
    for service in world.catalog().services.within(&pod.key.namespace) {
        if service.selects(&pod.labels) {
            pairs.extend(service.selector.iter());
        }
    }
    let owner = controller(pod, world);
    let Some((kind, theirs)) = owner.and_then(|owner| Some((owner.kind, owner.selector.as_ref()?))) else {
        return Selector::from_pairs(pairs);
    };
    if kind == OwnerKind::ReplicationController {
        // The labels of a ReplicationController replace those of services with the same key.
        pairs.retain(|key, _| theirs.requirements().iter().all(|requirement| *requirement.key != **key));
    }
    Selector::from_pairs(pairs).and(theirs)
}

/// The workload that the pod names as its controller. As in kube-scheduler, its UID is not compared.
fn controller<'w>(pod: &Pod, world: &Snapshot<'w>) -> Option<&'w Workload> {
    let claim = pod.controller.as_deref()?;
    let kind = claim.kind.filter(|kind| kind.has_selector())?;
    world.owners().named(kind, &pod.key.namespace, &claim.name)
}
