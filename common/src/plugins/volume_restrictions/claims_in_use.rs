//! Which claims the pods on nodes use. Kept, and updated for nodes that change.

use crate::cluster::{Ledger, Snapshot};
use crate::model::{Text, VolumeSource};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct ClaimsInUse {
    /// The claims of each node, by namespace and name.
    by_node: Vec<BTreeSet<(Text, Text)>>,
    /// The number of nodes that use each claim.
    node_counts: BTreeMap<Text, BTreeMap<Text, usize>>,
}

#[derive(PartialEq, Eq, Hash)]
struct ClaimsInUseKey;

/// The claims in use, of the belief; a supposed ledger is ignored.
pub(super) fn claims_in_use(world: &Snapshot<'_>) -> Arc<ClaimsInUse> {
    world.derive(ClaimsInUseKey, |claims: &mut ClaimsInUse, changed| {
        claims.by_node.resize(world.id_count(), BTreeSet::new());
        for id in changed {
            claims.set(id.index(), world.believed(id).map(claims_of).unwrap_or_default());
        }
    })
}

impl ClaimsInUse {
    pub(super) fn contains(&self, namespace: &str, name: &str) -> bool {
        self.node_counts.get(namespace).is_some_and(|names| names.contains_key(name))
    }

    fn set(&mut self, index: usize, now: BTreeSet<(Text, Text)>) {
        let Some(current) = self.by_node.get_mut(index) else { return };
        let before = std::mem::replace(current, now);
        for (namespace, name) in before.difference(current) {
            if let Some(names) = self.node_counts.get_mut(namespace)
                && let Some(count) = names.get_mut(name)
            {
                *count -= 1;
                if *count == 0 {
                    names.remove(name);
                }
                if names.is_empty() {
                    self.node_counts.remove(namespace);
                }
            }
        }
        for (namespace, name) in current.difference(&before) {
            *self.node_counts.entry(namespace.clone()).or_default().entry(name.clone()).or_default() += 1;
        }
    }
}

fn claims_of(ledger: &Ledger) -> BTreeSet<(Text, Text)> {
    let mut claims = BTreeSet::new();
    for pod in &ledger.pods {
        for volume in &pod.spec.volumes {
            if let VolumeSource::Claim { name } = &volume.source {
                claims.insert((pod.key.namespace.clone(), name.clone()));
            }
        }
    }
    claims
}
