//! The filter: required affinity and anti-affinity of the pod, and required anti-affinity of existing pods.

use super::InterPodAffinity;
use super::existing_terms::{ExistingTerms, TermKind};
use super::term::{TermMatcher, TermPodsPerDomain};
use crate::cluster::{DomainCounts, NodeId, Snapshot};
use crate::framework::{BlockerClass, NodeFilter, Plugin, RefusalCode, RefusalKind, StaticReason, Verdict};
use crate::model::Pod;
use crate::model::affinity::PodAffinityTerm;

const AFFINITY: StaticReason = RefusalKind::unresolvable(RefusalCode::Affinity, BlockerClass::Placement)
    .with_text("node(s) didn't match pod affinity rules");
const ANTI_AFFINITY: StaticReason =
    RefusalKind::resolvable(RefusalCode::AntiAffinity, BlockerClass::Placement)
        .with_text("node(s) didn't match pod anti-affinity rules");
const EXISTING_ANTI_AFFINITY: StaticReason =
    RefusalKind::resolvable(RefusalCode::ExistingAntiAffinity, BlockerClass::Placement)
        .with_text("node(s) didn't satisfy existing pods anti-affinity rules");

/// The required terms, with the counts of matching pods by domain.
struct Rules {
    /// For each topology key of the required affinity: the pods that match all terms, by domain.
    affinity: Vec<DomainCounts>,
    /// true: no existing pod matches the required affinity, and the pod matches its own terms. It may then go to any node that has
    /// the topology keys.
    is_first_of_group: bool,
    /// For each required anti-affinity term: the matching pods, by domain.
    anti_affinity: Vec<DomainCounts>,
    /// The required anti-affinity of existing pods.
    existing: Option<ExistingTerms>,
}

pub(super) fn prepare<'c>(
    plugin: &'c InterPodAffinity,
    pod: &Pod,
    world: &Snapshot<'_>,
) -> Option<NodeFilter<'c>> {
    let affinity = pod.spec.affinity.as_deref();
    let affinity_terms = affinity.map_or(&[][..], |affinity| &affinity.pod.required);
    let anti_affinity_terms = affinity.map_or(&[][..], |affinity| &affinity.anti.required);
    let existing = ExistingTerms::of(pod, world, TermKind::RequiredAntiAffinity);
    if affinity_terms.is_empty() && anti_affinity_terms.is_empty() && existing.is_none() {
        return None;
    }
    let mut rules =
        Rules { affinity: Vec::new(), is_first_of_group: false, anti_affinity: Vec::new(), existing };
    rules.add_affinity(pod, affinity_terms, world);
    let counts = anti_affinity_terms
        .iter()
        .map(|term| world.counts(&TermPodsPerDomain::new(term, &[TermMatcher::new(pod, term, world)])));
    rules.anti_affinity = counts.filter(|counts| counts.total() > 0).collect();
    Some(Box::new(move |id| rules.verdict(plugin, id)))
}

impl Rules {
    fn add_affinity(&mut self, pod: &Pod, terms: &[PodAffinityTerm], world: &Snapshot<'_>) {
        if terms.is_empty() {
            return;
        }
        let matchers: Vec<TermMatcher> =
            terms.iter().map(|term| TermMatcher::new(pod, term, world)).collect();
        for (index, term) in terms.iter().enumerate() {
            let is_first = terms.iter().take(index).all(|other| other.topology_key != term.topology_key);
            if is_first {
                self.affinity.push(world.counts(&TermPodsPerDomain::new(term, &matchers)));
            }
        }
        let has_no_match = self.affinity.iter().all(|counts| counts.total() == 0);
        self.is_first_of_group = has_no_match && matchers.iter().all(|matcher| matcher.matches(pod));
    }

    fn verdict(&self, plugin: &InterPodAffinity, id: NodeId) -> Verdict {
        let has_match = |counts: &DomainCounts| counts.domain(id).is_some_and(|domain| counts.at(domain) > 0);
        let reason = if !self.meets_affinity(id) {
            &AFFINITY
        } else if self.anti_affinity.iter().any(has_match) {
            &ANTI_AFFINITY
        } else if self.existing.as_ref().is_some_and(|existing| existing.apply_to(id)) {
            &EXISTING_ANTI_AFFINITY
        } else {
            return Verdict::Fits;
        };
        Verdict::RejectsStatic { plugin: plugin.name(), reason }
    }

    /// Whether the required affinity accepts the node. A node must have all topology keys, also for the first pod of a group.
    fn meets_affinity(&self, id: NodeId) -> bool {
        let mut has_all = true;
        for counts in &self.affinity {
            let Some(domain) = counts.domain(id) else { return false };
            has_all &= counts.at(domain) > 0;
        }
        has_all || self.is_first_of_group
    }
}
