//! Pods that extenders have a say in: which nodes they are asked about, and what becomes of what they say.
//!
//! Their answer is a filter and a score for one decision, which is made in the belief of the moment when it comes: what
//! changed meanwhile counts. While they are asked nobody else is decided on, as upstream.

use super::Scheduler;
use crate::state::{Effect, Step};
use common::cluster::{NodeId, PodContext, Snapshot};
use common::config::Extender;
use common::cycle::{self, Decision, Depth, NoFit};
use common::framework::{
    Cure, Filter, NodeFilter, NodeScore, Normalise, Plugin, Reason, Registry, Score, Scorer, Verdict,
};
use common::model::{NodeName, Pod, PodKey, ResourceName, Uid};
use std::collections::{BTreeMap, BTreeSet};

/// What extenders say about the nodes for one pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opinions {
    /// The nodes that can have it.
    pub passed: Vec<NodeName>,
    /// Nodes that cannot, and why.
    pub failed: BTreeMap<NodeName, String>,
    /// Nodes that cannot whoever leaves, and why.
    pub unresolvable: BTreeMap<NodeName, String>,
    /// What is added to the scores of nodes.
    pub scores: BTreeMap<NodeName, i64>,
}

/// Which pods extenders have a say in, and the one that they are asked about.
#[derive(Default)]
pub(crate) struct Asking {
    nodes: Interest,
    /// The same for those that have a say in who has to go for others.
    pub(super) victims: Interest,
    asked: Option<Asked>,
}

/// What an answer is waited for about.
pub(super) struct Asked {
    pod: PodKey,
    uid: Uid,
    /// Why no node can have it, if the question is who has to go.
    pub(super) no_fit: Option<Box<NoFit>>,
}

/// Which pods some extenders are interested in.
#[derive(Default)]
pub(super) struct Interest {
    /// Whether there is one for all pods.
    is_for_all: bool,
    /// The resources that make a pod theirs.
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

    pub(super) fn is_in(&self, pod: &Pod) -> bool {
        let asks = &pod.spec.requests.incoming;
        self.is_for_all || self.managed.iter().any(|resource| asks.get(resource) > 0)
    }
}

impl Asking {
    /// What the extenders of a configuration want to be asked about. One that only binds is not asked.
    pub(crate) fn new(extenders: &[Extender]) -> Self {
        let judges =
            |extender: &&Extender| !extender.filter_verb.is_empty() || !extender.prioritize_verb.is_empty();
        let choosers = |extender: &&Extender| !extender.preempt_verb.is_empty();
        Self {
            nodes: Interest::new(extenders.iter().filter(judges)),
            victims: Interest::new(extenders.iter().filter(choosers)),
            asked: None,
        }
    }

    /// From now on an answer about this pod is waited for.
    pub(super) fn begin(&mut self, pod: &Pod, no_fit: Option<Box<NoFit>>) {
        self.asked = Some(Asked { pod: pod.key.clone(), uid: pod.uid.clone(), no_fit });
    }

    /// An answer about this pod has come.
    pub(super) fn end(&mut self, key: &PodKey, uid: &Uid) -> Option<Asked> {
        self.asked.take_if(|asked| (&asked.pod, &asked.uid) == (key, uid))
    }

    /// Whether an answer is waited for.
    pub(super) fn is_busy(&self) -> bool {
        self.asked.is_some()
    }
}

impl Scheduler {
    /// Lets these extenders have a say.
    pub(crate) fn set_extenders(&mut self, extenders: &[Extender]) {
        self.asking = Asking::new(extenders);
    }

    /// Asks extenders about the nodes that can have the pod. False if there is nothing to ask: then it is decided on at once.
    pub(super) fn ask_extenders(&mut self, pod: &Pod, step: &mut Step<'_>) -> bool {
        if !self.asking.nodes.is_in(pod) {
            return false;
        }
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return false };
        let world = step.cluster.snapshot(step.now.wall);
        if cycle::refusal(pod, &world, registry).is_some() {
            return false;
        }
        let trace = cycle::judge(&world.pod_context(pod), &world, registry, Depth::First);
        let feasible =
            trace.into_iter().flat_map(|trace| trace.nodes).filter(|node| node.rejections.is_empty());
        let nodes: Vec<NodeName> = feasible.filter_map(|node| world.name(node.id).cloned()).collect();
        if nodes.is_empty() {
            return false;
        }
        self.asking.begin(pod, None);
        step.effects.push(Effect::Ask { pod: pod.key.clone(), uid: pod.uid.clone(), nodes });
        true
    }

    /// Extenders have answered: decides with what they said.
    pub(crate) fn answered(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        answer: Result<Opinions, String>,
        step: &mut Step<'_>,
    ) {
        self.asking.end(key, uid);
        let pod = step.cluster.pod(key).filter(|pod| pod.uid == *uid && pod.is_waiting()).cloned();
        let Some(pod) = pod.filter(|_| !step.cluster.is_assumed(key)) else { return };
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return };
        let decision = match answer {
            Err(why) => Decision::Failed(why),
            Ok(opinions) => {
                let registry = with(registry, opinions);
                cycle::schedule_by_scan(&pod, &step.cluster.snapshot(step.now.wall), &registry)
            }
        };
        self.conclude(&pod, decision, step);
    }
}

/// The same plugins, and what extenders said.
fn with(registry: &Registry, opinions: Opinions) -> Registry {
    let judge = Judge { passed: opinions.passed.iter().cloned().collect(), opinions: opinions.clone() };
    let scores = Scores(opinions.scores);
    let registry = registry.copy().filter(judge);
    if scores.0.is_empty() { registry } else { registry.score(scores, 1) }
}

struct Judge {
    passed: BTreeSet<NodeName>,
    opinions: Opinions,
}

struct Scores(BTreeMap<NodeName, i64>);

impl Plugin for Judge {
    fn name(&self) -> &'static str {
        "Extender"
    }
}

impl Plugin for Scores {
    fn name(&self) -> &'static str {
        "Extender"
    }
}

impl Judge {
    fn verdict(&self, node: &NodeName, is_supposed: bool) -> Verdict {
        if self.passed.contains(node) {
            return Verdict::Fits;
        }
        if let Some(why) = self.opinions.unresolvable.get(node) {
            return Verdict::rejects(self.name(), Reason::said_for_good(why.clone(), Cure::Node));
        }
        match self.opinions.failed.get(node) {
            // As upstream, where a preemption is tried without extenders. They are asked about nodes that can have the pod.
            _ if is_supposed => Verdict::Fits,
            Some(why) => Verdict::rejects(self.name(), Reason::said(why.clone(), Cure::Node)),
            None => {
                let words = "node(s) were not considered by an extender";
                Verdict::rejects(self.name(), Reason::said_for_good(words, Cure::Node))
            }
        }
    }
}

impl Filter for Judge {
    fn prepare<'c>(
        &'c self,
        _pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let supposed = world.supposed().map(|ledger| ledger.id);
        Some(Box::new(move |id: NodeId| match world.name(id) {
            Some(node) => self.verdict(node, supposed == Some(id)),
            None => Verdict::Fits,
        }))
    }
}

impl Score for Scores {
    fn prepare<'c>(
        &'c self,
        _pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let score = |id| world.name(id).and_then(|node| self.0.get(node)).copied().unwrap_or(0);
        Ok(Some(Scorer { score: NodeScore::Each(Box::new(score)), normalise: Normalise::Already }))
    }
}
