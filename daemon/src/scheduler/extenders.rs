//! The configured extenders in a scheduling attempt: which nodes they are asked about, and how their answer is used.
//!
//! `Scheduler::ask_extenders` sends the question and `Scheduler::extenders_answered` decides with the answer, which is one more
//! filter and one more score for this one decision. The decision is made with the belief as of the answer. No other pod is decided
//! on while a question is pending, as in kube-scheduler.

use super::Scheduler;
use crate::state::{Effect, Step};
use common::cluster::{NodeId, PodContext, Snapshot};
use common::config::Extender;
use common::cycle::{self, Decision, Depth, NoFit};
use common::framework::{
    CycleError, Filter, NodeFilter, NodeScore, Normalise, Plugin, PluginError, Reason, Registry, Score,
    Scorer, Verdict,
};
use common::model::{NodeName, Pod, PodKey, ResourceName, Uid};
use std::collections::{BTreeMap, BTreeSet};

/// What all extenders together answer about the nodes for one pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtenderAnswer {
    pub passed: Vec<NodeName>,
    /// Nodes that do not fit, and why.
    pub failed: BTreeMap<NodeName, String>,
    /// Nodes that preemption cannot make fit (`UnschedulableAndUnresolvable`), and why.
    pub unresolvable: BTreeMap<NodeName, String>,
    /// The weighted scores, which are added to ours.
    pub scores: BTreeMap<NodeName, i64>,
}

/// Which pods extenders are interested in, and the pod that they are being asked about.
#[derive(Default)]
pub(crate) struct ExtenderRequests {
    nodes: Interest,
    pub(super) victims: Interest,
    pending: Option<PendingRequest>,
}

/// A question that extenders have not answered yet.
pub(super) struct PendingRequest {
    pod: PodKey,
    uid: Uid,
    /// Why no node fits, if the question is about victims.
    pub(super) no_fit: Option<Box<NoFit>>,
}

/// Which pods a set of extenders is interested in.
#[derive(Default)]
pub(super) struct Interest {
    is_for_all: bool,
    managed: BTreeSet<ResourceName>,
}

impl Interest {
    fn new<'e>(extenders: impl Iterator<Item = &'e Extender>) -> Self {
        let mut interest = Self::default();
        for extender in extenders {
            interest.is_for_all |= extender.managed_resources.is_empty();
            let names = extender.managed_resources.iter().map(|resource| resource.name.as_str());
            interest.managed.extend(names.map(ResourceName::from));
        }
        interest
    }

    pub(super) fn includes(&self, pod: &Pod) -> bool {
        let requests = &pod.spec.requests.incoming;
        self.is_for_all || self.managed.iter().any(|resource| requests.get(resource) > 0)
    }
}

impl ExtenderRequests {
    /// For the extenders of a configuration. An extender that only binds is not asked.
    pub(crate) fn new(extenders: &[Extender]) -> Self {
        let filters_or_scores =
            |extender: &&Extender| !extender.filter_verb.is_empty() || !extender.prioritize_verb.is_empty();
        let preempts = |extender: &&Extender| !extender.preempt_verb.is_empty();
        Self {
            nodes: Interest::new(extenders.iter().filter(filters_or_scores)),
            victims: Interest::new(extenders.iter().filter(preempts)),
            pending: None,
        }
    }

    /// An answer about this pod is pending from now on.
    pub(super) fn begin(&mut self, pod: &Pod, no_fit: Option<Box<NoFit>>) {
        self.pending = Some(PendingRequest { pod: pod.key.clone(), uid: pod.uid.clone(), no_fit });
    }

    /// An answer about this pod has come: returns the request if it was pending.
    pub(super) fn end(&mut self, key: &PodKey, uid: &Uid) -> Option<PendingRequest> {
        self.pending.take_if(|request| (&request.pod, &request.uid) == (key, uid))
    }

    pub(super) fn is_busy(&self) -> bool {
        self.pending.is_some()
    }
}

impl Scheduler {
    pub(crate) fn set_extenders(&mut self, extenders: &[Extender]) {
        self.extender_requests = ExtenderRequests::new(extenders);
    }

    /// Asks extenders about the nodes that pass our own filters. False if there is nothing to ask: the caller then decides at once.
    pub(super) fn ask_extenders(&mut self, pod: &Pod, step: &mut Step<'_>) -> bool {
        if !self.extender_requests.nodes.includes(pod) {
            return false;
        }
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return false };
        let world = step.cluster.snapshot(step.now.wall);
        if cycle::refusal(pod, &world, registry).is_some() {
            return false;
        }
        let trace = cycle::diagnose(&world.context(pod), &world, registry, Depth::First);
        let feasible =
            trace.into_iter().flat_map(|trace| trace.nodes).filter(|node| node.rejections.is_empty());
        let nodes: Vec<NodeName> = feasible.filter_map(|node| world.name(node.id).cloned()).collect();
        if nodes.is_empty() {
            return false;
        }
        self.extender_requests.begin(pod, None);
        step.effects.push(Effect::AskExtenders { pod: pod.key.clone(), uid: pod.uid.clone(), nodes });
        true
    }

    /// Decides on the pod with the answer of the extenders.
    pub(crate) fn extenders_answered(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        answer: Result<ExtenderAnswer, String>,
        step: &mut Step<'_>,
    ) {
        self.extender_requests.end(key, uid);
        let pod = step.cluster.pod(key).filter(|pod| pod.uid == *uid && pod.is_waiting()).cloned();
        let Some(pod) = pod.filter(|_| !step.cluster.is_assumed(key)) else { return };
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return };
        let decision = match answer {
            Err(why) => Decision::Failed(CycleError::Extender(why.into())),
            Ok(answer) => {
                let registry = with_extenders(registry, answer);
                cycle::schedule_by_scan(&pod, &step.cluster.snapshot(step.now.wall), &registry)
            }
        };
        self.conclude(&pod, decision, step);
    }
}

/// The same plugins, and two that repeat the answer of the extenders.
fn with_extenders(registry: &Registry, answer: ExtenderAnswer) -> Registry {
    let filter = ExtenderFilter { passed: answer.passed.iter().cloned().collect(), answer: answer.clone() };
    let scores = ExtenderScore(answer.scores);
    let registry = registry.copy().filter(filter);
    if scores.0.is_empty() { registry } else { registry.score(scores, 1) }
}

struct ExtenderFilter {
    passed: BTreeSet<NodeName>,
    answer: ExtenderAnswer,
}

struct ExtenderScore(BTreeMap<NodeName, i64>);

impl Plugin for ExtenderFilter {
    fn name(&self) -> &'static str {
        "Extender"
    }
}

impl Plugin for ExtenderScore {
    fn name(&self) -> &'static str {
        "Extender"
    }
}

impl ExtenderFilter {
    fn verdict(&self, node: &NodeName, is_supposed: bool) -> Verdict {
        if self.passed.contains(node) {
            return Verdict::Fits;
        }
        if let Some(why) = self.answer.unresolvable.get(node) {
            return Verdict::rejects(self.name(), Reason::unresolvable_message(why.clone()));
        }
        match self.answer.failed.get(node) {
            // As in kube-scheduler: a preemption is tried without extenders, which are asked only about nodes that fit.
            _ if is_supposed => Verdict::Fits,
            Some(why) => Verdict::rejects(self.name(), Reason::message(why.clone())),
            None => {
                let words = "node(s) were not considered by an extender";
                Verdict::rejects(self.name(), Reason::unresolvable_message(words))
            }
        }
    }
}

impl Filter for ExtenderFilter {
    fn prepare<'c>(
        &'c self,
        _context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let supposed = world.supposed().map(|ledger| ledger.id);
        Some(Box::new(move |id: NodeId| match world.name(id) {
            Some(node) => self.verdict(node, supposed == Some(id)),
            None => Verdict::Fits,
        }))
    }
}

impl Score for ExtenderScore {
    fn prepare<'c>(
        &'c self,
        _context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let score = |id| world.name(id).and_then(|node| self.0.get(node)).copied().unwrap_or(0);
        Ok(Some(Scorer { score: NodeScore::Each(Box::new(score)), normalise: Normalise::NotNeeded }))
    }
}
