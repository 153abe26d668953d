//! The effects that wait to be carried out: one at a time for each thing that they are about, in order; bindings before talk.
//!
//! Order matters within a subject: a condition that says "no place" must not arrive after the binding. Talk that is out of
//! date is not sent at all, so no more waits here than three effects for each thing.
//!
//! Knows nothing of: how an effect is carried out.

#[cfg(test)]
mod tests;

use crate::state::{Effect, PodEvent, Subject};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The waiting effects.
#[derive(Debug, Default)]
pub struct Outbox {
    waiting: BTreeMap<Subject, VecDeque<Effect>>,
    /// Subjects whose next effect decides something, in the order of their arrival.
    urgent: VecDeque<Subject>,
    /// Subjects whose next effect is talk.
    talk: VecDeque<Subject>,
    busy: BTreeSet<Subject>,
}

impl Outbox {
    /// Adds an effect behind those of the same subject.
    pub fn push(&mut self, effect: Effect) {
        let subject = effect.subject();
        let waiting = self.waiting.entry(subject.clone()).or_default();
        let was_lined_up = !waiting.is_empty();
        if is_urgent(&effect) && !matches!(effect, Effect::Ask { .. }) {
            // It has a place now: whatever was to be said about having none is out of date.
            waiting.retain(|other| !is_refusal(other));
        } else {
            waiting.retain(|other| !is_newer_word(&effect, other));
        }
        waiting.push_back(effect);
        if self.busy.contains(&subject) {
            return;
        }
        if was_lined_up {
            // What comes first may have changed, and with it the line to stand in.
            self.urgent.retain(|other| *other != subject);
            self.talk.retain(|other| *other != subject);
        }
        self.line_up(subject);
    }

    /// The next effect to carry out. Its subject has no other until [`Outbox::done`] is called.
    pub fn pop(&mut self) -> Option<Effect> {
        let subject = self.urgent.pop_front().or_else(|| self.talk.pop_front())?;
        let waiting = self.waiting.get_mut(&subject)?;
        let effect = waiting.pop_front()?;
        self.busy.insert(subject);
        Some(effect)
    }

    /// An effect about `subject` has been carried out.
    pub fn done(&mut self, subject: &Subject) {
        self.busy.remove(subject);
        if self.waiting.get(subject).is_some_and(|waiting| !waiting.is_empty()) {
            self.line_up(subject.clone());
        } else {
            self.waiting.remove(subject);
        }
    }

    fn line_up(&mut self, subject: Subject) {
        let first = self.waiting.get(&subject).and_then(VecDeque::front);
        if first.is_some_and(is_urgent) {
            self.urgent.push_back(subject)
        } else {
            self.talk.push_back(subject)
        }
    }
}

fn is_urgent(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Bind { .. }
            | Effect::Find { .. }
            | Effect::Annotate(_)
            | Effect::Reply { .. }
            | Effect::Ask { .. }
    )
}

fn is_refusal(effect: &Effect) -> bool {
    match effect {
        Effect::Condition { .. } => true,
        Effect::Record { event, .. } => matches!(event, PodEvent::FailedScheduling { .. }),
        Effect::Bind { .. }
        | Effect::Find { .. }
        | Effect::Annotate(_)
        | Effect::Report(_)
        | Effect::Reply { .. }
        | Effect::Ask { .. } => false,
    }
}

/// Whether `effect` says anew what `other` was to say.
fn is_newer_word(effect: &Effect, other: &Effect) -> bool {
    is_refusal(effect) && std::mem::discriminant(effect) == std::mem::discriminant(other) && is_refusal(other)
}
