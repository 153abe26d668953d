//! The label keys that the affinity terms of existing pods select by. Other labels of a pod make no difference to these terms, so
//! pods that differ only in other labels, such as those of a StatefulSet, share the kept sums. Entry point: [`pod_attributes`].

use super::term::PodAttributes;
use crate::cluster::Snapshot;
use crate::model::{Affinity, Labels, Pod, PodAffinityTerm, PodSpec, Selector, Text};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The label keys that terms of existing pods have selected by; they are kept when the terms are gone.
#[derive(Debug, Default)]
struct LabelKeys {
    of_pods: BTreeSet<Text>,
    of_namespaces: BTreeSet<Text>,
    /// The spec that was added last: pods with the same spec often come in a row.
    last: Option<Arc<PodSpec>>,
}

#[derive(PartialEq, Eq, Hash)]
struct LabelKeysKey;

/// What the terms of existing pods can match of `pod`.
pub(super) fn pod_attributes(pod: &Pod, world: &Snapshot<'_>) -> PodAttributes {
    let label_keys = world.derive(LabelKeysKey, |label_keys: &mut LabelKeys, changed| {
        for ledger in changed.filter_map(|id| world.believed(id)).filter(|ledger| ledger.pod_affinity.all > 0)
        {
            ledger.pods.iter().for_each(|pod| label_keys.add(&pod.spec));
        }
    });
    let namespace = world.catalog().namespaces.named(&pod.key.namespace);
    let supposed = world.supposed().filter(|ledger| ledger.pod_affinity.all > 0);
    let (mut of_pods, mut of_namespaces) = (&label_keys.of_pods, &label_keys.of_namespaces);
    let mut more = LabelKeys::default();
    if let Some(supposed) = supposed {
        // Pods in the supposed ledger may select by more keys.
        supposed.pods.iter().for_each(|pod| more.add(&pod.spec));
        if !(more.of_pods.is_subset(of_pods) && more.of_namespaces.is_subset(of_namespaces)) {
            more.of_pods.extend(of_pods.iter().cloned());
            more.of_namespaces.extend(of_namespaces.iter().cloned());
            (of_pods, of_namespaces) = (&more.of_pods, &more.of_namespaces);
        }
    }
    PodAttributes {
        namespace: pod.key.namespace.clone(),
        labels: labels_with_keys(&pod.labels, of_pods),
        namespace_labels: namespace
            .map(|namespace| labels_with_keys(&namespace.labels, of_namespaces))
            .unwrap_or_default(),
    }
}

fn labels_with_keys(labels: &Labels, keys: &BTreeSet<Text>) -> Labels {
    Labels::new(labels.iter().filter(|(key, _)| keys.contains(*key)))
}

impl LabelKeys {
    fn add(&mut self, spec: &Arc<PodSpec>) {
        let Some(affinity) = spec.affinity.as_deref() else { return };
        if self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, spec)) {
            return;
        }
        self.last = Some(Arc::clone(spec));
        for term in terms(affinity) {
            add_keys(&mut self.of_pods, term.selector.as_ref());
            add_keys(&mut self.of_namespaces, term.namespace_selector.as_ref());
        }
    }
}

fn terms(affinity: &Affinity) -> impl Iterator<Item = &PodAffinityTerm> {
    let both = [&affinity.pod, &affinity.anti].into_iter();
    both.flat_map(|terms| terms.required.iter().chain(terms.preferred.iter().map(|(_, term)| term)))
}

fn add_keys(keys: &mut BTreeSet<Text>, selector: Option<&Selector>) {
    for requirement in selector.iter().flat_map(|selector| selector.requirements()) {
        if !keys.contains(&requirement.key) {
            keys.insert(requirement.key.clone());
        }
    }
}
