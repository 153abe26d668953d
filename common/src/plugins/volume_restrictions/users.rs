//! Which claims the pods on nodes use: worked out once, and again for the nodes that change.

use crate::cluster::{Ledger, Snapshot};
use crate::model::ids::Text;
use crate::model::volume::VolumeSource;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The claims in use.
#[derive(Debug, Default)]
pub(super) struct Users {
    /// What each node uses, each claim by namespace and name.
    of: Vec<BTreeSet<(Text, Text)>>,
    /// How many nodes use each claim.
    nodes: BTreeMap<Text, BTreeMap<Text, usize>>,
}

#[derive(PartialEq, Eq, Hash)]
struct Key;

/// The claims that pods on nodes use, as we believe.
pub(super) fn of_claims(world: &Snapshot<'_>) -> Arc<Users> {
    world.derive(Key, |users: &mut Users, changed| {
        users.of.resize(world.places(), BTreeSet::new());
        for id in changed {
            users.set(id.index(), world.believed(id).map(used).unwrap_or_default());
        }
    })
}

impl Users {
    /// Whether any pod on a node uses the claim.
    pub(super) fn is_used(&self, namespace: &str, name: &str) -> bool {
        self.nodes.get(namespace).is_some_and(|names| names.contains_key(name))
    }

    fn set(&mut self, place: usize, now: BTreeSet<(Text, Text)>) {
        let Some(known) = self.of.get_mut(place) else { return };
        let before = std::mem::replace(known, now);
        for (namespace, name) in before.difference(known) {
            if let Some(names) = self.nodes.get_mut(namespace)
                && let Some(count) = names.get_mut(name)
            {
                *count -= 1;
                if *count == 0 {
                    names.remove(name);
                }
                if names.is_empty() {
                    self.nodes.remove(namespace);
                }
            }
        }
        for (namespace, name) in known.difference(&before) {
            *self.nodes.entry(namespace.clone()).or_default().entry(name.clone()).or_default() += 1;
        }
    }
}

fn used(ledger: &Ledger) -> BTreeSet<(Text, Text)> {
    let mut used = BTreeSet::new();
    for pod in &ledger.pods {
        for volume in &pod.spec.volumes {
            if let VolumeSource::Claim { name } = &volume.source {
                used.insert((pod.key.namespace.clone(), name.clone()));
            }
        }
    }
    used
}
