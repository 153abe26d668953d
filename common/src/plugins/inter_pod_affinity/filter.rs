//! Keeps pods off nodes by what they require of other pods, and other pods of them.

use super::InterPodAffinity;
use super::existing::{Opinions, Voice};
use super::term::{Meant, Near};
use crate::cluster::{Counts, NodeId, Snapshot};
use crate::framework::{Cure, NodeFilter, Phrase, Plugin, Verdict};
use crate::model::Pod;
use crate::model::affinity::PodTerm;

/// What is required, ready to be asked about nodes.
struct Rules {
    /// The domains that must have a pod that all required terms mean, one for each label.
    near: Vec<Counts>,
    /// Whether the pod may be the first of its kind: there is no such pod, and it would be one itself.
    may_begin: bool,
    /// The domains that must have no pod that a term means.
    apart: Vec<Counts>,
    /// What pods on nodes require.
    repelling: Option<Opinions>,
}

pub(super) fn prepare<'c>(
    plugin: &'c InterPodAffinity,
    pod: &Pod,
    world: &Snapshot<'_>,
) -> Option<NodeFilter<'c>> {
    let affinity = pod.spec.affinity.as_deref();
    let near = affinity.map_or(&[][..], |affinity| &affinity.pod.required);
    let apart = affinity.map_or(&[][..], |affinity| &affinity.anti.required);
    let repelling = Opinions::of(pod, world, Voice::Repels);
    if near.is_empty() && apart.is_empty() && repelling.is_none() {
        return None;
    }
    let mut rules = Rules { near: Vec::new(), may_begin: false, apart: Vec::new(), repelling };
    rules.require_near(pod, near, world);
    let counts = apart.iter().map(|term| world.counts(&Near::new(term, &[Meant::new(pod, term, world)])));
    rules.apart = counts.filter(|counts| counts.total() > 0).collect();
    Some(Box::new(move |id| rules.judge(plugin, id)))
}

impl Rules {
    fn require_near(&mut self, pod: &Pod, terms: &[PodTerm], world: &Snapshot<'_>) {
        if terms.is_empty() {
            return;
        }
        let meant: Vec<Meant> = terms.iter().map(|term| Meant::new(pod, term, world)).collect();
        for (index, term) in terms.iter().enumerate() {
            let is_first = terms.iter().take(index).all(|other| other.topology_key != term.topology_key);
            if is_first {
                self.near.push(world.counts(&Near::new(term, &meant)));
            }
        }
        let is_alone = self.near.iter().all(|counts| counts.total() == 0);
        self.may_begin = is_alone && meant.iter().all(|meant| meant.matches(pod));
    }

    fn judge(&self, plugin: &InterPodAffinity, id: NodeId) -> Verdict {
        if !self.is_near(id) {
            let words = "node(s) didn't match pod affinity rules";
            return Verdict::Says(Phrase {
                plugin: plugin.name(),
                words,
                unresolvable: true,
                cure: Cure::Pods,
            });
        }
        let meets = |counts: &Counts| counts.domain(id).is_some_and(|domain| counts.at(domain) > 0);
        let words = if self.apart.iter().any(meets) {
            "node(s) didn't match pod anti-affinity rules"
        } else if self.repelling.as_ref().is_some_and(|opinions| opinions.speak_at(id)) {
            "node(s) didn't satisfy existing pods anti-affinity rules"
        } else {
            return Verdict::Fits;
        };
        Verdict::Says(Phrase { plugin: plugin.name(), words, unresolvable: false, cure: Cure::Pods })
    }

    /// A node must have all the labels, also for the first pod of its kind.
    fn is_near(&self, id: NodeId) -> bool {
        let mut has_all = true;
        for counts in &self.near {
            let Some(domain) = counts.domain(id) else { return false };
            has_all &= counts.at(domain) > 0;
        }
        has_all || self.may_begin
    }
}
