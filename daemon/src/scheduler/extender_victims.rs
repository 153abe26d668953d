//! The configured extenders in a preemption: they may drop candidate nodes, and name other victims on a node.
//!
//! `Scheduler::ask_about_victims` sends the question and `Scheduler::extender_victims_answered` goes on with the answer, by the
//! belief as of the answer. No other pod is decided on in between.

use super::Scheduler;
use crate::state::{Effect, Step};
use common::api::extender::Victims;
use common::cluster::Cluster;
use common::cycle::{self, NoFit};
use common::framework;
use common::model::{NodeName, Pod, PodKey, Uid};
use std::collections::{BTreeMap, BTreeSet};

/// How many nodes extenders are asked about, the best first. kube-scheduler considers a hundred, or a tenth of all if that is more.
const CANDIDATES_MAX: usize = 100;

/// A node and the victims there, as extenders are asked about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreemptionCandidate {
    pub node: NodeName,
    /// The pods that would have to go.
    pub victims: Victims,
    /// All pods of the node; extenders may name other victims among them.
    pub pods: BTreeSet<Uid>,
}

impl Scheduler {
    /// Asks extenders about the victims. False if no extender is interested in the pod, or there are no candidates.
    pub(super) fn ask_about_victims(&mut self, pod: &Pod, no_fit: &NoFit, step: &mut Step<'_>) -> bool {
        if !self.extender_requests.victims.includes(pod) {
            return false;
        }
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return false };
        let candidates = cycle::preemption_candidates(&no_fit.post_filter, CANDIDATES_MAX, registry);
        let candidates: Vec<PreemptionCandidate> =
            candidates.into_iter().filter_map(|one| candidate(one, step.cluster)).collect();
        if candidates.is_empty() {
            return false;
        }
        self.extender_requests.begin(pod, Some(Box::new(no_fit.clone())));
        step.effects.push(Effect::AskExtendersAboutVictims {
            pod: pod.key.clone(),
            uid: pod.uid.clone(),
            candidates,
        });
        true
    }

    /// Goes on with the preemption by the answer of the extenders.
    pub(crate) fn extender_victims_answered(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        answer: Result<BTreeMap<NodeName, Victims>, String>,
        step: &mut Step<'_>,
    ) {
        let Some(mut no_fit) = self.extender_requests.end(key, uid).and_then(|request| request.no_fit) else {
            return;
        };
        let pod = step.cluster.pod(key).filter(|pod| pod.uid == *uid && pod.is_waiting()).cloned();
        let Some(pod) = pod.filter(|_| !step.cluster.is_assumed(key)) else { return };
        let left = answer.map(|left| present(&left, step.cluster));
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return };
        no_fit.post_filter = cycle::revise_preemption(no_fit.post_filter, left, registry);
        self.conclude_no_fit(&pod, &no_fit, step);
    }
}

fn candidate(one: &framework::NodeVictims, cluster: &Cluster) -> Option<PreemptionCandidate> {
    let ledger = cluster.ledger_of(&one.node)?;
    let victims = Victims {
        pods: one.pods.iter().map(|pod| pod.uid.clone()).collect(),
        violations: i64::try_from(one.violations).unwrap_or(i64::MAX),
    };
    let pods = ledger.pods.iter().map(|pod| pod.uid.clone()).collect();
    Some(PreemptionCandidate { node: one.node.clone(), victims, pods })
}

/// The answer without the pods that have left meanwhile. A node whose victims have all left is dropped: their leaving wakes the
/// pod up.
fn present(left: &BTreeMap<NodeName, Victims>, cluster: &Cluster) -> Vec<framework::NodeVictims> {
    let present = |(node, victims): (&NodeName, &Victims)| {
        let ledger = cluster.ledger_of(node)?;
        let find = |uid: &Uid| ledger.pods.iter().find(|pod| pod.uid == *uid).cloned();
        let pods: Vec<_> = victims.pods.iter().filter_map(find).collect();
        let violations = usize::try_from(victims.violations).unwrap_or_default();
        (!pods.is_empty()).then(|| framework::NodeVictims { node: node.clone(), pods, violations })
    };
    left.iter().filter_map(present).collect()
}
