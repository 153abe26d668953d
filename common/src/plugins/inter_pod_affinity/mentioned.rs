//! The labels that affinity terms of pods on nodes ask about. No others of a pod's labels make a difference to them, so
//! that pods which differ in other labels only, such as those of a StatefulSet, need not be told apart.

use super::term::Face;
use crate::cluster::Snapshot;
use crate::model::Pod;
use crate::model::affinity::{Affinity, PodTerm};
use crate::model::ids::Text;
use crate::model::labels::Labels;
use crate::model::pod::PodSpec;
use crate::model::selector::Selector;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The keys of labels that terms have asked about; they are not forgotten when the terms are gone.
#[derive(Debug, Default)]
struct Mentioned {
    of_pods: BTreeSet<Text>,
    of_namespaces: BTreeSet<Text>,
    /// The template that was looked at last: pods of one often come in a row.
    last: Option<Arc<PodSpec>>,
}

#[derive(PartialEq, Eq, Hash)]
struct MentionedKeys;

/// What the terms of pods on nodes can know of `pod`.
pub(super) fn face(pod: &Pod, world: &Snapshot<'_>) -> Face {
    let mentioned = world.derive(MentionedKeys, |mentioned: &mut Mentioned, changed| {
        for ledger in changed.filter_map(|id| world.believed(id)).filter(|ledger| ledger.pod_affinity.all > 0)
        {
            ledger.pods.iter().for_each(|pod| mentioned.add(&pod.spec));
        }
    });
    let namespace = world.catalog().namespaces.named(&pod.key.namespace);
    let supposed = world.supposed().filter(|ledger| ledger.pod_affinity.all > 0);
    let (mut of_pods, mut of_namespaces) = (&mentioned.of_pods, &mentioned.of_namespaces);
    let mut more = Mentioned::default();
    if let Some(supposed) = supposed {
        // Pods that are supposed to come may ask about more.
        supposed.pods.iter().for_each(|pod| more.add(&pod.spec));
        if !(more.of_pods.is_subset(of_pods) && more.of_namespaces.is_subset(of_namespaces)) {
            more.of_pods.extend(of_pods.iter().cloned());
            more.of_namespaces.extend(of_namespaces.iter().cloned());
            (of_pods, of_namespaces) = (&more.of_pods, &more.of_namespaces);
        }
    }
    Face {
        namespace: pod.key.namespace.clone(),
        labels: among(&pod.labels, of_pods),
        namespace_labels: namespace.map(|found| among(&found.labels, of_namespaces)).unwrap_or_default(),
    }
}

/// Those of the labels that have one of these keys.
fn among(labels: &Labels, keys: &BTreeSet<Text>) -> Labels {
    Labels::new(labels.iter().filter(|(key, _)| keys.contains(*key)))
}

impl Mentioned {
    fn add(&mut self, spec: &Arc<PodSpec>) {
        let Some(affinity) = spec.affinity.as_deref() else { return };
        if self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, spec)) {
            return;
        }
        self.last = Some(Arc::clone(spec));
        for term in terms(affinity) {
            note(&mut self.of_pods, term.selector.as_ref());
            note(&mut self.of_namespaces, term.namespace_selector.as_ref());
        }
    }
}

fn terms(affinity: &Affinity) -> impl Iterator<Item = &PodTerm> {
    let both = [&affinity.pod, &affinity.anti].into_iter();
    both.flat_map(|terms| terms.required.iter().chain(terms.preferred.iter().map(|(_, term)| term)))
}

fn note(keys: &mut BTreeSet<Text>, selector: Option<&Selector>) {
    for requirement in selector.iter().flat_map(|selector| selector.requirements()) {
        if !keys.contains(&requirement.key) {
            keys.insert(requirement.key.clone());
        }
    }
}
