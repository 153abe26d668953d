//! The effects that wait to be carried out: one at a time for each pod, in order; bindings before talk.
//!
//! Order matters within a pod: a condition that says "no place" must not arrive after the binding. Talk that is out of
//! date is not sent at all, so no more waits here than three effects for each pod.
//!
//! Knows nothing of: how an effect is carried out.

#[cfg(test)]
mod tests;

use crate::scheduler::{Effect, PodEvent};
use common::model::PodKey;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The waiting effects.
#[derive(Debug, Default)]
pub struct Outbox {
    waiting: BTreeMap<PodKey, VecDeque<Effect>>,
    /// Pods whose next effect decides where a pod is, in the order of their arrival.
    urgent: VecDeque<PodKey>,
    /// Pods whose next effect is talk.
    talk: VecDeque<PodKey>,
    busy: BTreeSet<PodKey>,
}

impl Outbox {
    /// Adds an effect behind those of the same pod.
    pub fn push(&mut self, effect: Effect) {
        let pod = effect.pod().clone();
        let waiting = self.waiting.entry(pod.clone()).or_default();
        let was_lined_up = !waiting.is_empty();
        if is_urgent(&effect) {
            // It has a place now: whatever was to be said about having none is out of date.
            waiting.retain(|other| !is_refusal(other));
        } else {
            waiting.retain(|other| !is_newer_word(&effect, other));
        }
        waiting.push_back(effect);
        if self.busy.contains(&pod) {
            return;
        }
        if was_lined_up {
            // What comes first may have changed, and with it the line to stand in.
            self.urgent.retain(|other| *other != pod);
            self.talk.retain(|other| *other != pod);
        }
        self.line_up(pod);
    }

    /// The next effect to carry out. Its pod has no other until [`Outbox::done`] is called.
    pub fn pop(&mut self) -> Option<Effect> {
        let pod = self.urgent.pop_front().or_else(|| self.talk.pop_front())?;
        let waiting = self.waiting.get_mut(&pod)?;
        let effect = waiting.pop_front()?;
        self.busy.insert(pod);
        Some(effect)
    }

    /// An effect about `pod` has been carried out.
    pub fn done(&mut self, pod: &PodKey) {
        self.busy.remove(pod);
        if self.waiting.get(pod).is_some_and(|waiting| !waiting.is_empty()) {
            self.line_up(pod.clone());
        } else {
            self.waiting.remove(pod);
        }
    }

    fn line_up(&mut self, pod: PodKey) {
        let first = self.waiting.get(&pod).and_then(VecDeque::front);
        if first.is_some_and(is_urgent) { self.urgent.push_back(pod) } else { self.talk.push_back(pod) }
    }
}

fn is_urgent(effect: &Effect) -> bool {
    matches!(effect, Effect::Bind { .. } | Effect::Find { .. })
}

fn is_refusal(effect: &Effect) -> bool {
    match effect {
        Effect::Condition { .. } => true,
        Effect::Record { event, .. } => matches!(event, PodEvent::FailedScheduling { .. }),
        Effect::Bind { .. } | Effect::Find { .. } => false,
    }
}

/// Whether `effect` says anew what `other` was to say.
fn is_newer_word(effect: &Effect, other: &Effect) -> bool {
    is_refusal(effect) && std::mem::discriminant(effect) == std::mem::discriminant(other) && is_refusal(other)
}
