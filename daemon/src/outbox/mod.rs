//! The effects that wait to be carried out. Of each subject one at a time, in order; first a few writes to nodes, then bindings
//! and other urgent effects, then conditions and events.
//!
//! Order matters within a subject: a condition that says "unschedulable" must not arrive after the binding. A condition or event
//! that is out of date is not sent. The number of waiting events is limited; more are dropped and counted.
//!
//! `push` adds an effect, `pop` returns the next one to carry out, `done` says that it was carried out.
//! Knows nothing of: how an effect is carried out.

#[cfg(test)]
mod tests;

use crate::config::EVENTS_MAX;
use crate::state::{Effect, Nomination, PodEvent, Subject};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Debug, Default)]
pub struct Outbox {
    waiting: BTreeMap<Subject, VecDeque<Effect>>,
    /// Nodes whose next effect is a write of annotations, in order of arrival.
    nodes: VecDeque<Subject>,
    /// Subjects whose next effect is urgent, in order of arrival.
    urgent: VecDeque<Subject>,
    /// Subjects whose next effect is a condition, an event or another one that can wait.
    low: VecDeque<Subject>,
    /// Subjects with an effect that is being carried out.
    busy: BTreeSet<Subject>,
    events: usize,
    /// How many events were dropped since the last [`Outbox::take_dropped`].
    dropped: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Priority {
    NodeWrite,
    Urgent,
    Low,
}

/// The most nodes whose annotations are written at the same time. They go first, but most calls are left for bindings: tenants can
/// cause many such writes.
const NODES_MAX: usize = 8;

impl Outbox {
    /// Adds an effect behind those of the same subject; one that binds goes before them. An event is dropped if too many wait:
    /// nothing depends on events, and their number is not limited otherwise.
    pub fn push(&mut self, mut effect: Effect) {
        let subject = effect.subject();
        let waiting = self.waiting.entry(subject.clone()).or_default();
        let before = waiting.front().map(priority);
        let events = waiting.iter().filter(|other| is_event(other)).count();
        if is_binding(&effect) {
            // The pod has a node now: a condition that says otherwise is out of date.
            waiting.retain(|other| !is_outdated_by(&effect, other));
        } else {
            let nomination = waiting.iter().rev().find_map(nomination_of);
            waiting.retain(|other| !is_replaced_by(&effect, other));
            take_over(&mut effect, nomination);
        }
        self.events -= events - waiting.iter().filter(|other| is_event(other)).count();
        if is_event(&effect) && self.events >= EVENTS_MAX {
            self.dropped += 1;
        } else {
            self.events += usize::from(is_event(&effect));
            match is_binding(&effect) {
                true => waiting.push_front(effect),
                false => waiting.push_back(effect),
            }
        }
        if waiting.is_empty() && !self.busy.contains(&subject) {
            self.waiting.remove(&subject);
            return;
        }
        if self.busy.contains(&subject) {
            return;
        }
        let after = waiting.front().map(priority);
        if before != after {
            // The next effect of the subject has another priority than before. Queues can be long, so they are searched only here.
            if let Some(before) = before {
                self.queue(before).retain(|other| *other != subject);
            }
            self.enqueue(subject);
        }
    }

    /// The next effect to carry out. Its subject has no other until [`Outbox::done`] is called.
    pub fn pop(&mut self) -> Option<Effect> {
        let nodes = self.busy.iter().filter(|subject| matches!(subject, Subject::Node(_))).count();
        let node = if nodes < NODES_MAX { self.nodes.pop_front() } else { None };
        let subject = node.or_else(|| self.urgent.pop_front()).or_else(|| self.low.pop_front())?;
        let waiting = self.waiting.get_mut(&subject)?;
        let effect = waiting.pop_front()?;
        self.events -= usize::from(is_event(&effect));
        self.busy.insert(subject);
        Some(effect)
    }

    /// An effect about `subject` has been carried out.
    pub fn done(&mut self, subject: &Subject) {
        self.busy.remove(subject);
        if self.waiting.get(subject).is_some_and(|waiting| !waiting.is_empty()) {
            self.enqueue(subject.clone());
        } else {
            self.waiting.remove(subject);
        }
    }

    /// How many events were dropped since the previous call.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    fn enqueue(&mut self, subject: Subject) {
        let next = self.waiting.get(&subject).and_then(VecDeque::front).map_or(Priority::Low, priority);
        self.queue(next).push_back(subject);
    }

    fn queue(&mut self, priority: Priority) -> &mut VecDeque<Subject> {
        match priority {
            Priority::NodeWrite => &mut self.nodes,
            Priority::Urgent => &mut self.urgent,
            Priority::Low => &mut self.low,
        }
    }
}

fn is_event(effect: &Effect) -> bool {
    matches!(effect, Effect::WritePodEvent { .. } | Effect::WriteEvent(_))
}

fn priority(effect: &Effect) -> Priority {
    match effect {
        Effect::Annotate(_) => Priority::NodeWrite,
        Effect::Bind { .. } | Effect::Find { .. } | Effect::WriteObjects { .. } => Priority::Urgent,
        Effect::Evict(_)
        | Effect::ReadOwner(_)
        | Effect::Reply { .. }
        | Effect::AskExtenders { .. }
        | Effect::AskExtendersAboutVictims { .. } => Priority::Urgent,
        Effect::Condition { .. } | Effect::Nominate { .. } => Priority::Low,
        Effect::WritePodEvent { .. } | Effect::WriteEvent(_) | Effect::List => Priority::Low,
    }
}

fn is_binding(effect: &Effect) -> bool {
    matches!(effect, Effect::Bind { .. } | Effect::Find { .. } | Effect::WriteObjects { .. })
}

/// Whether `binding` makes the waiting effect `other` out of date. Events stay: they say what happened before.
fn is_outdated_by(binding: &Effect, other: &Effect) -> bool {
    match other {
        Effect::Condition { .. } => true,
        // While claims are being prepared, the nomination says where the pod is going to be.
        Effect::Nominate { .. } => !matches!(binding, Effect::WriteObjects { .. }),
        _ => false,
    }
}

/// Whether the effect reports that a pod has no node.
fn is_refusal(effect: &Effect) -> bool {
    match effect {
        Effect::Condition { .. } => true,
        Effect::WritePodEvent { event, .. } => matches!(event, PodEvent::FailedScheduling { .. }),
        _ => false,
    }
}

/// Whether the waiting effect `other` need not be sent any more, because `effect` is a newer one of the same kind.
fn is_replaced_by(effect: &Effect, other: &Effect) -> bool {
    let is_same_kind = std::mem::discriminant(effect) == std::mem::discriminant(other);
    is_same_kind
        && match (effect, other) {
            (Effect::WritePodEvent { .. }, _) => is_refusal(effect) && is_refusal(other),
            (Effect::Condition { .. } | Effect::Nominate { .. }, _) => true,
            _ => false,
        }
}

/// The nomination that `effect` writes together with a condition.
fn nomination_of(effect: &Effect) -> Option<Nomination> {
    match effect {
        Effect::Condition { nomination, .. } if *nomination != Nomination::Keep => Some(nomination.clone()),
        _ => None,
    }
}

/// Lets a condition without a nomination write that of the condition which it replaces.
fn take_over(effect: &mut Effect, replaced: Option<Nomination>) {
    if let (Effect::Condition { nomination, .. }, Some(replaced)) = (effect, replaced)
        && *nomination == Nomination::Keep
    {
        *nomination = replaced;
    }
}
