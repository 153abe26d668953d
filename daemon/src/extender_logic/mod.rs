//! What kube-scheduler asks us as its extender, and what we answer from what we believe.
//!
//! It judges only what kube-scheduler cannot see: room that is kept. Where nothing is kept, everything passes. The pods
//! that kube-scheduler has decided on and not bound yet are invisible to us; so a pod that was let through counts on
//! every node with kept room that it was let onto, until more is known about it ([`passed`]).
//!
//! Knows nothing of: HTTP, the queue, who wins in the end.

mod bind;
mod judge;
mod looks;
mod passed;
mod question;
#[cfg(test)]
mod tests;

pub use question::{Question, Reply};

use crate::state::{Effect, Step};
use common::api::extender::{BindingQuestion, PRIORITY_MAX, Victims};
use common::cluster::Snapshot;
use common::model::ids::Text;
use common::model::{NodeName, Pod, PodKey, Uid};
use looks::{LOOK, Look, Patience};
use passed::Passed;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A pod that claims an owner which was not read yet, or is to be bound and was not read itself, or to a node that was not
/// read yet, is answered for when that came, or after this long: the configuration that we ship gives an extender one second.
const NEWS_WAIT: Duration = Duration::from_millis(500);

/// How long somebody counts as one who asks.
const ASKED_FOR: Duration = Duration::from_secs(5 * 60);

/// The most schedulers that are remembered.
const SCHEDULERS_MAX: usize = 64;

/// Answers the questions of kube-scheduler.
pub(crate) struct ExtenderLogic {
    /// The schedulers whose pods this daemon places itself.
    own: Arc<[Text]>,
    passed: Passed,
    waiting: Vec<Waiting>,
    patience: Patience,
    /// Bindings under way, and who waits for them.
    bindings: BTreeMap<(PodKey, Uid), u64>,
    /// When each scheduler asked last.
    asked: BTreeMap<Text, Duration>,
    extends: Arc<[Text]>,
}

/// A question that is not answered at once.
struct Waiting {
    id: u64,
    question: Question,
    /// When it is answered at the latest.
    until: Duration,
    what: Awaited,
}

/// What a question waits for.
enum Awaited {
    /// The owner that its pod claims.
    Owner,
    /// The pod that is to be bound, and its node: kube-scheduler may hear of them before we do.
    Binding,
    /// Anything that leaves a node for its pod.
    Room(Look),
}

impl ExtenderLogic {
    /// The logic of a daemon that places the pods of these schedulers itself.
    pub(crate) fn new(own: Arc<[Text]>) -> Self {
        Self {
            own,
            passed: Passed::default(),
            waiting: Vec::new(),
            patience: Patience::default(),
            bindings: BTreeMap::new(),
            asked: BTreeMap::new(),
            extends: Arc::default(),
        }
    }

    /// The schedulers that asked lately which nodes their pods may have.
    pub(crate) fn extends(&self) -> Arc<[Text]> {
        Arc::clone(&self.extends)
    }

    /// When something is due by itself.
    pub(crate) fn next_tick(&self) -> Option<Duration> {
        self.waiting.iter().map(|waiting| waiting.until).min()
    }

    /// Takes a question, and answers it at once unless the pod to bind, its node, or the pod's owner was not read yet. Says
    /// whether somebody asked who did not lately.
    pub(crate) fn ask(&mut self, id: u64, question: Question, is_leading: bool, step: &mut Step<'_>) -> bool {
        if !step.cluster.is_complete() {
            reply(id, Reply::Unavailable("not everything has been listed yet"), step);
            return false;
        }
        if let Question::Bind(binding) = &question {
            if is_leading && !is_known(binding, step) {
                let until = step.now.elapsed + NEWS_WAIT;
                self.waiting.push(Waiting { id, question, until, what: Awaited::Binding });
            } else {
                self.bind(id, binding, is_leading, step);
            }
            return false;
        }
        // Who asks only for scores is kept out of nothing.
        let is_new = matches!(question, Question::Filter { .. })
            && question.pod().is_some_and(|pod| self.note(&pod.spec.scheduler_name, step.now.elapsed));
        if question.pod().is_some_and(|pod| step.cluster.is_owner_missing(pod)) {
            let until = step.now.elapsed + NEWS_WAIT;
            self.waiting.push(Waiting { id, question, until, what: Awaited::Owner });
        } else {
            self.answer_or_look_again(id, question, step);
        }
        is_new
    }

    /// Answers whatever waited for long enough. Says whether somebody no longer counts as one who asks.
    pub(crate) fn turn(&mut self, is_leading: bool, step: &mut Step<'_>) -> bool {
        for waiting in std::mem::take(&mut self.waiting) {
            self.look_after(waiting, is_leading, step);
        }
        let before = self.asked.len();
        self.asked.retain(|_, at| step.now.elapsed.saturating_sub(*at) < ASKED_FOR);
        let is_less = self.asked.len() < before;
        if is_less {
            self.extends = self.asked.keys().cloned().collect();
        }
        is_less
    }

    /// Answers a question that waits, if what it waits for has come or the time is over.
    fn look_after(&mut self, mut waiting: Waiting, is_leading: bool, step: &mut Step<'_>) {
        let is_over = step.now.elapsed >= waiting.until;
        let is_due = is_over
            || match &mut waiting.what {
                Awaited::Owner => {
                    !waiting.question.pod().is_some_and(|pod| step.cluster.is_owner_missing(pod))
                }
                Awaited::Binding => waiting.question.binding().is_some_and(|binding| is_known(binding, step)),
                Awaited::Room(look) => {
                    self.passed.prune(step.cluster);
                    look.has_news(&self.passed, step.cluster)
                }
            };
        if !is_due {
            return self.waiting.push(waiting);
        }
        if let Some(binding) = waiting.question.binding() {
            return self.bind(waiting.id, binding, is_leading, step);
        }
        let answer = self.answer(&waiting.question, step);
        if matches!(waiting.what, Awaited::Room(_)) && !is_over {
            if refuses_all(&waiting.question, &answer) {
                return self.waiting.push(waiting);
            }
            self.patience.give_back(waiting.until.saturating_sub(step.now.elapsed));
        }
        reply(waiting.id, answer, step);
    }

    fn note(&mut self, scheduler: &Text, now: Duration) -> bool {
        if let Some(at) = self.asked.get_mut(scheduler) {
            *at = now;
            return false;
        }
        if self.asked.len() >= SCHEDULERS_MAX {
            return false;
        }
        self.asked.insert(scheduler.clone(), now);
        self.extends = self.asked.keys().cloned().collect();
        true
    }

    /// A pod that no node is left for is looked at once more, if there is patience left for it.
    fn answer_or_look_again(&mut self, id: u64, question: Question, step: &mut Step<'_>) {
        let answer = self.answer(&question, step);
        let now = step.now.elapsed;
        if refuses_all(&question, &answer) && self.patience.take(now) {
            let what = Awaited::Room(Look::new(&question, &self.passed, step.cluster));
            self.waiting.push(Waiting { id, question, until: now + LOOK, what });
        } else {
            reply(id, answer, step);
        }
    }

    fn answer(&mut self, question: &Question, step: &mut Step<'_>) -> Reply {
        self.passed.prune(step.cluster);
        let world = step.cluster.snapshot(step.now.wall);
        match question {
            Question::Filter { pod, nodes } => Reply::Filtered(self.filter(pod, nodes, &world)),
            Question::Prioritize { pod, nodes } => Reply::Prioritized(prioritize(pod, nodes, &world)),
            Question::Preempt { pod, candidates } => Reply::Preempted(self.preempt(pod, candidates, &world)),
            Question::Bind(_) => Reply::Unavailable("a binding is no question about nodes"),
        }
    }

    /// The nodes where what is kept for others leaves too little for the pod, each with the reason.
    fn filter(
        &mut self,
        pod: &Arc<Pod>,
        nodes: &[NodeName],
        world: &Snapshot<'_>,
    ) -> BTreeMap<NodeName, String> {
        self.passed.remove(&pod.key);
        let pod_context = world.pod_context(pod);
        let reserved_node = judge::reserved_node(&pod_context, world);
        let mut refused = BTreeMap::new();
        let mut counted = Vec::new();
        for name in nodes {
            let ledger = world.find(name).and_then(|id| world.ledger(id));
            let why = match (&reserved_node, ledger) {
                (Some(reserved_node), _) if reserved_node != name => Some(judge::ELSEWHERE.to_owned()),
                (_, Some(ledger)) if judge::is_concerned(ledger) => {
                    let why = judge::refusal(
                        &pod_context,
                        ledger.id,
                        &self.passed.suppose(world, ledger, &pod.uid),
                    );
                    if why.is_none() {
                        counted.push(name.clone());
                    }
                    why
                }
                // A node that we do not know yet has nothing that anybody was told is kept.
                _ => None,
            };
            refused.extend(why.map(|why| (name.clone(), why)));
        }
        self.passed.insert(pod, counted);
        refused
    }

    /// The candidates where it would help if the victims left: what is kept for a pod as important as this one, or more, is
    /// not theirs to give.
    fn preempt(
        &self,
        pod: &Pod,
        candidates: &BTreeMap<NodeName, Victims>,
        world: &Snapshot<'_>,
    ) -> BTreeMap<NodeName, Victims> {
        let pod_context = world.pod_context(pod);
        let helps = |(node, victims): &(&NodeName, &Victims)| {
            let ledger = world.find(node).and_then(|id| world.ledger(id));
            let Some(ledger) = ledger.filter(|ledger| judge::is_concerned(ledger)) else { return true };
            let mut left = self.passed.onto(ledger, &pod.uid, world.now());
            for victim in &victims.pods {
                left.remove(victim);
            }
            judge::refusal(&pod_context, ledger.id, &world.suppose(left)).is_none()
        };
        let left = candidates.iter().filter(helps);
        left.map(|(node, victims)| (node.clone(), victims.clone())).collect()
    }
}

fn is_known(binding: &BindingQuestion, step: &Step<'_>) -> bool {
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

/// The node where something is kept for the pod gets the highest score, every other node none.
fn prioritize(pod: &Pod, nodes: &[NodeName], world: &Snapshot<'_>) -> Vec<(NodeName, i64)> {
    let pod_context = world.pod_context(pod);
    let is_own = |name: &NodeName| {
        let ledger = world.find(name).and_then(|id| world.ledger(id));
        ledger.is_some_and(|ledger| ledger.room_for(&pod_context).own.is_some())
    };
    nodes.iter().map(|name| (name.clone(), if is_own(name) { PRIORITY_MAX } else { 0 })).collect()
}

fn reply(id: u64, reply: Reply, step: &mut Step<'_>) {
    step.effects.push(Effect::Reply { id, reply });
}
