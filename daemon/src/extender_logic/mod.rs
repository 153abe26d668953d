//! The answers to kube-scheduler, whose extender this daemon is, from the belief.
//!
//! It checks only what kube-scheduler cannot see: reservations. Nodes without reservations always pass. The daemon cannot see the
//! pods that kube-scheduler has assumed and not bound yet; so a pod that passed counts on every node with reservations that it
//! passed on, until more is known about it ([`passed_pods`]).
//!
//! `ask` takes a question and answers it or lets it wait; `answer_due` answers those that have waited long enough.
//! Knows nothing of: HTTP, our own queue, which node kube-scheduler chooses.

mod bind;
mod fit;
mod passed_pods;
mod question;
mod recheck;
#[cfg(test)]
mod tests;

pub use question::{Question, Reply};

use crate::state::{Effect, Step};
use common::api::extender::{ExtenderBindingArgs, Victims};
use common::cluster::Snapshot;
use common::framework::Registry;
use common::model::{NodeName, Pod, PodKey, Text, Uid};
use common::plugins::only_reservations;
use passed_pods::PassedPods;
use recheck::{RECHECK_MAX, Recheck, WaitBudget};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a question waits for an object that the watches have not shown yet: the owner of the pod, or the pod to bind and its
/// node. The configuration that we ship gives an extender one second.
const OBJECT_WAIT_MAX: Duration = Duration::from_millis(500);

/// A scheduler counts as one that asks us until this long after its last question.
const SCHEDULER_MAX_AGE: Duration = Duration::from_secs(5 * 60);

/// The most schedulers that are remembered.
const SCHEDULERS_MAX: usize = 64;

pub(crate) struct ExtenderLogic {
    /// The schedulers whose pods this daemon places itself.
    own: Arc<[Text]>,
    /// The plugin that enforces reservations.
    reservations: Registry,
    passed_pods: PassedPods,
    pending: Vec<WaitingQuestion>,
    budget: WaitBudget,
    /// The bindings without an answer, each with the number of its question.
    bindings: BTreeMap<(PodKey, Uid), u64>,
    /// When each scheduler asked last.
    schedulers: BTreeMap<Text, Duration>,
    extends: Arc<[Text]>,
}

struct WaitingQuestion {
    id: u64,
    question: Question,
    until: Duration,
    waits_for: WaitReason,
}

enum WaitReason {
    /// The owner that its pod names.
    Owner,
    /// The pod to bind and its node: kube-scheduler may see them before this replica does.
    Binding,
    /// A change that lets its pod fit a node.
    Room(Recheck),
}

impl ExtenderLogic {
    /// For a daemon that places the pods of these schedulers itself.
    pub(crate) fn new(own: Arc<[Text]>) -> Self {
        Self {
            own,
            reservations: only_reservations(),
            passed_pods: PassedPods::default(),
            pending: Vec::new(),
            budget: WaitBudget::default(),
            bindings: BTreeMap::new(),
            schedulers: BTreeMap::new(),
            extends: Arc::default(),
        }
    }

    /// The schedulers that asked `filter` in the last minutes.
    pub(crate) fn extends(&self) -> Arc<[Text]> {
        Arc::clone(&self.extends)
    }

    /// When `answer_due` has something to do although nothing changes.
    pub(crate) fn next_tick(&self) -> Option<Duration> {
        self.pending.iter().map(|pending| pending.until).min()
    }

    /// Takes a question and answers it, unless it has to wait. Returns whether a scheduler asked that is not in `extends` yet.
    pub(crate) fn ask(&mut self, id: u64, question: Question, is_leading: bool, step: &mut Step<'_>) -> bool {
        if !step.cluster.is_complete() {
            reply(id, Reply::Unavailable("not everything has been listed yet"), step);
            return false;
        }
        if let Question::Bind(binding) = &question {
            if is_leading && !is_known(binding, step) {
                let until = step.now.elapsed + OBJECT_WAIT_MAX;
                self.pending.push(WaitingQuestion { id, question, until, waits_for: WaitReason::Binding });
            } else {
                self.bind(id, binding, is_leading, step);
            }
            return false;
        }
        // A scheduler that asks only for scores does not enforce reservations.
        let is_new = matches!(question, Question::Filter { .. })
            && question
                .pod()
                .is_some_and(|pod| self.note_scheduler(&pod.spec.scheduler_name, step.now.elapsed));
        if question.pod().is_some_and(|pod| step.cluster.is_owner_missing(pod)) {
            let until = step.now.elapsed + OBJECT_WAIT_MAX;
            self.pending.push(WaitingQuestion { id, question, until, waits_for: WaitReason::Owner });
        } else {
            self.answer_or_recheck(id, question, step);
        }
        is_new
    }

    /// Answers the questions that need not wait any more. Returns whether a scheduler has not asked for too long.
    pub(crate) fn answer_due(&mut self, is_leading: bool, step: &mut Step<'_>) -> bool {
        for pending in std::mem::take(&mut self.pending) {
            self.answer_if_due(pending, is_leading, step);
        }
        let before = self.schedulers.len();
        self.schedulers.retain(|_, at| step.now.elapsed.saturating_sub(*at) < SCHEDULER_MAX_AGE);
        let is_fewer = self.schedulers.len() < before;
        if is_fewer {
            self.extends = self.schedulers.keys().cloned().collect();
        }
        is_fewer
    }

    /// Answers a question if what it waits for has come or its time is over.
    fn answer_if_due(&mut self, mut pending: WaitingQuestion, is_leading: bool, step: &mut Step<'_>) {
        let is_over = step.now.elapsed >= pending.until;
        let is_due = is_over
            || match &mut pending.waits_for {
                WaitReason::Owner => {
                    !pending.question.pod().is_some_and(|pod| step.cluster.is_owner_missing(pod))
                }
                WaitReason::Binding => {
                    pending.question.binding().is_some_and(|binding| is_known(binding, step))
                }
                WaitReason::Room(recheck) => {
                    self.passed_pods.prune(step.cluster);
                    recheck.has_news(&self.passed_pods, step.cluster)
                }
            };
        if !is_due {
            return self.pending.push(pending);
        }
        if let Some(binding) = pending.question.binding() {
            return self.bind(pending.id, binding, is_leading, step);
        }
        let answer = self.answer(&pending.question, step);
        if matches!(pending.waits_for, WaitReason::Room(_)) && !is_over {
            if refuses_all(&pending.question, &answer) {
                return self.pending.push(pending);
            }
            self.budget.give_back(pending.until.saturating_sub(step.now.elapsed));
        }
        reply(pending.id, answer, step);
    }

    /// Notes that a scheduler asked. Returns whether it is a new one.
    fn note_scheduler(&mut self, scheduler: &Text, now: Duration) -> bool {
        if let Some(at) = self.schedulers.get_mut(scheduler) {
            *at = now;
            return false;
        }
        if self.schedulers.len() >= SCHEDULERS_MAX {
            return false;
        }
        self.schedulers.insert(scheduler.clone(), now);
        self.extends = self.schedulers.keys().cloned().collect();
        true
    }

    /// Answers the question. A pod that is refused on every node is rechecked first, if the budget allows it.
    fn answer_or_recheck(&mut self, id: u64, question: Question, step: &mut Step<'_>) {
        let answer = self.answer(&question, step);
        let now = step.now.elapsed;
        if refuses_all(&question, &answer) && self.budget.take(now) {
            let waits_for = WaitReason::Room(Recheck::new(&question, &self.passed_pods, step.cluster));
            self.pending.push(WaitingQuestion { id, question, until: now + RECHECK_MAX, waits_for });
        } else {
            reply(id, answer, step);
        }
    }

    fn answer(&mut self, question: &Question, step: &mut Step<'_>) -> Reply {
        self.passed_pods.prune(step.cluster);
        let world = step.cluster.snapshot(step.now.wall);
        match question {
            Question::Filter { pod, nodes } => Reply::Filtered(self.filter(pod, nodes, &world)),
            Question::Prioritize { pod, nodes } => Reply::Prioritized(fit::prioritize(pod, nodes, &world)),
            Question::Preempt { pod, candidates } => Reply::Preempted(self.preempt(pod, candidates, &world)),
            Question::Bind(_) => Reply::Unavailable("a binding is no question about nodes"),
        }
    }

    /// The nodes that do not fit because of reservations, each with the reason.
    fn filter(
        &mut self,
        pod: &Arc<Pod>,
        nodes: &[NodeName],
        world: &Snapshot<'_>,
    ) -> BTreeMap<NodeName, String> {
        self.passed_pods.remove(&pod.key);
        let context = world.context(pod);
        let reserved_node = fit::reserved_node(&context, world, &self.reservations);
        let mut refused = BTreeMap::new();
        let mut counted = Vec::new();
        for name in nodes {
            let ledger = world.find(name).and_then(|id| world.ledger(id));
            let why = match (&reserved_node, ledger) {
                (Some(reserved_node), _) if reserved_node != name => Some(fit::NOT_RESERVED_NODE.to_owned()),
                (_, Some(ledger)) if fit::has_reservations(ledger) => {
                    let why = fit::refusal(
                        &context,
                        ledger.id,
                        &self.passed_pods.suppose(world, ledger, &pod.uid),
                        &self.reservations,
                    );
                    if why.is_none() {
                        counted.push(name.clone());
                    }
                    why
                }
                // No reservation was confirmed on a node that this replica has not seen yet.
                _ => None,
            };
            refused.extend(why.map(|why| (name.clone(), why)));
        }
        self.passed_pods.insert(pod, counted);
        refused
    }

    /// The candidates where the pod would fit without the victims. Reservations for pods of the same or higher priority stay.
    fn preempt(
        &self,
        pod: &Pod,
        candidates: &BTreeMap<NodeName, Victims>,
        world: &Snapshot<'_>,
    ) -> BTreeMap<NodeName, Victims> {
        let context = world.context(pod);
        let helps = |(node, victims): &(&NodeName, &Victims)| {
            let ledger = world.find(node).and_then(|id| world.ledger(id));
            let Some(ledger) = ledger.filter(|ledger| fit::has_reservations(ledger)) else { return true };
            let mut without = self.passed_pods.ledger_with_pods(ledger, &pod.uid, world.now());
            for victim in &victims.pods {
                without.remove(victim);
            }
            fit::refusal(&context, ledger.id, &world.suppose(without), &self.reservations).is_none()
        };
        let left = candidates.iter().filter(helps);
        left.map(|(node, victims)| (node.clone(), victims.clone())).collect()
    }
}

fn is_known(binding: &ExtenderBindingArgs, step: &Step<'_>) -> bool {
    step.cluster.pod(&binding.pod).is_some_and(|pod| pod.uid == binding.uid)
        && step.cluster.ledger_of(&binding.node).is_some()
}

fn refuses_all(question: &Question, answer: &Reply) -> bool {
    match (question, answer) {
        (Question::Filter { nodes, .. }, Reply::Filtered(refused)) => {
            !nodes.is_empty() && nodes.iter().all(|node| refused.contains_key(node))
        }
        _ => false,
    }
}

fn reply(id: u64, reply: Reply, step: &mut Step<'_>) {
    step.effects.push(Effect::Reply { id, reply });
}
