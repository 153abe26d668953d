//! Who has to go for a pod, where extenders have a say in that: they may drop nodes, and name others of a node's pods.
//!
//! As with nodes, their answer is looked at in the belief of the moment when it comes, and nobody else is decided on before.

use super::Scheduler;
use crate::state::{Effect, Step};
use common::api::extender::Victims;
use common::cluster::Cluster;
use common::cycle::NoFit;
use common::framework;
use common::model::{NodeName, Pod, PodKey, Uid};
use common::plugins::default_preemption::{candidates, revise};
use std::collections::{BTreeMap, BTreeSet};

/// How many nodes extenders are asked about, the best first. Upstream looks at a hundred, or at a tenth if that is more.
const CANDIDATES_MAX: usize = 100;

/// A node where others would have to go, as extenders are asked about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The node.
    pub node: NodeName,
    /// Who would have to go.
    pub victims: Victims,
    /// Everybody there, of whom extenders may name others.
    pub pods: BTreeSet<Uid>,
}

impl Scheduler {
    /// Asks extenders whether those may go that would have to. False if none of them has a say in it.
    pub(super) fn ask_about_victims(&mut self, pod: &Pod, no_fit: &NoFit, step: &mut Step<'_>) -> bool {
        if !self.asking.victims.is_in(pod) {
            return false;
        }
        let candidates = candidates(&no_fit.help, CANDIDATES_MAX).into_iter();
        let candidates: Vec<Candidate> = candidates.filter_map(|one| candidate(one, step.cluster)).collect();
        if candidates.is_empty() {
            return false;
        }
        self.asking.begin(pod, Some(Box::new(no_fit.clone())));
        step.effects.push(Effect::AskVictims { pod: pod.key.clone(), uid: pod.uid.clone(), candidates });
        true
    }

    /// Extenders have said who may go on which node.
    pub(crate) fn chosen(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        answer: Result<BTreeMap<NodeName, Victims>, String>,
        step: &mut Step<'_>,
    ) {
        let Some(mut no_fit) = self.asking.end(key, uid).and_then(|asked| asked.no_fit) else { return };
        let pod = step.cluster.pod(key).filter(|pod| pod.uid == *uid && pod.is_waiting()).cloned();
        let Some(pod) = pod.filter(|_| !step.cluster.is_assumed(key)) else { return };
        let left = answer.map(|left| known(&left, step.cluster));
        no_fit.help = revise(no_fit.help, left);
        self.conclude_no_fit(&pod, &no_fit, step);
    }
}

fn candidate(one: &framework::Victims, cluster: &Cluster) -> Option<Candidate> {
    let ledger = cluster.ledger_of(&one.node)?;
    let victims = Victims {
        pods: one.pods.iter().map(|pod| pod.uid.clone()).collect(),
        violations: i64::try_from(one.violations).unwrap_or(i64::MAX),
    };
    let pods = ledger.pods.iter().map(|pod| pod.uid.clone()).collect();
    Some(Candidate { node: one.node.clone(), victims, pods })
}

/// What extenders said, with the pods that are still there. Where all are gone there is room by now, or will be: the pod
/// is woken by that.
fn known(left: &BTreeMap<NodeName, Victims>, cluster: &Cluster) -> Vec<framework::Victims> {
    let known = |(node, victims): (&NodeName, &Victims)| {
        let ledger = cluster.ledger_of(node)?;
        let find = |uid: &Uid| ledger.pods.iter().find(|pod| pod.uid == *uid).cloned();
        let pods: Vec<_> = victims.pods.iter().filter_map(find).collect();
        let violations = usize::try_from(victims.violations).unwrap_or_default();
        (!pods.is_empty()).then(|| framework::Victims { node: node.clone(), pods, violations })
    };
    left.iter().filter_map(known).collect()
}
