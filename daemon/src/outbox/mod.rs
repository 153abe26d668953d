//! The effects that wait to be carried out: one at a time for each thing that they are about, in order; bindings before talk.
//!
//! Order matters within a subject: a condition that says "no place" must not arrive after the binding. Talk that is out of
//! date is not sent at all, and of events no more than so many wait: the others are dropped and counted.
//!
//! Knows nothing of: how an effect is carried out.

#[cfg(test)]
mod tests;

use crate::config::EVENTS_MAX;
use crate::state::{Effect, Nomination, PodEvent, Subject};
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
    /// How many events wait.
    events: usize,
    /// How many were dropped since this was asked last.
    dropped: u64,
}

impl Outbox {
    /// Adds an effect behind those of the same subject; one that gives a pod a place goes before them. An event is dropped
    /// if too many wait: events are talk, and there is no end to how many pods can have something to say.
    pub fn push(&mut self, mut effect: Effect) {
        let subject = effect.subject();
        let waiting = self.waiting.entry(subject.clone()).or_default();
        let was_urgent = waiting.front().map(is_urgent);
        let events = waiting.iter().filter(|other| is_event(other)).count();
        if is_placing(&effect) {
            // It has a place now: what was to be written about having none is out of date.
            waiting.retain(|other| !is_outdated_by(&effect, other));
        } else {
            let before = waiting.iter().rev().find_map(nomination_of);
            waiting.retain(|other| !is_newer_word(&effect, other));
            inherit(&mut effect, before);
        }
        self.events -= events - waiting.iter().filter(|other| is_event(other)).count();
        if is_event(&effect) && self.events >= EVENTS_MAX {
            self.dropped += 1;
        } else {
            self.events += usize::from(is_event(&effect));
            match is_placing(&effect) {
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
        let is_urgent = waiting.front().map(is_urgent);
        if was_urgent != is_urgent {
            // What comes first has changed, and with it the line to stand in. Lines can be long: nobody looks for himself in
            // one without need.
            match was_urgent {
                Some(true) => self.urgent.retain(|other| *other != subject),
                Some(false) => self.talk.retain(|other| *other != subject),
                None => {}
            }
            self.line_up(subject);
        }
    }

    /// The next effect to carry out. Its subject has no other until [`Outbox::done`] is called.
    pub fn pop(&mut self) -> Option<Effect> {
        let subject = self.urgent.pop_front().or_else(|| self.talk.pop_front())?;
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
            self.line_up(subject.clone());
        } else {
            self.waiting.remove(subject);
        }
    }

    /// How many events were dropped since this was asked last.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
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

fn is_event(effect: &Effect) -> bool {
    matches!(effect, Effect::Record { .. } | Effect::Report(_))
}

/// Whether somebody waits for it.
fn is_urgent(effect: &Effect) -> bool {
    match effect {
        Effect::Bind { .. } | Effect::Find { .. } | Effect::BindVolumes { .. } => true,
        Effect::Evict(_)
        | Effect::Annotate(_)
        | Effect::Reply { .. }
        | Effect::Ask { .. }
        | Effect::AskVictims { .. } => true,
        Effect::Condition { .. } | Effect::Nominate { .. } => false,
        Effect::Record { .. } | Effect::Report(_) => false,
    }
}

/// Whether it means that its pod has a place.
fn is_placing(effect: &Effect) -> bool {
    matches!(effect, Effect::Bind { .. } | Effect::Find { .. } | Effect::BindVolumes { .. })
}

/// Whether a pod that `placing` gives a place is no longer to be told `other`. Events stay: they say what was.
fn is_outdated_by(placing: &Effect, other: &Effect) -> bool {
    match other {
        Effect::Condition { .. } => true,
        // While volumes are under way it is of use to know where the pod is going to be.
        Effect::Nominate { .. } => !matches!(placing, Effect::BindVolumes { .. }),
        _ => false,
    }
}

fn is_refusal(effect: &Effect) -> bool {
    match effect {
        Effect::Condition { .. } => true,
        Effect::Record { event, .. } => matches!(event, PodEvent::FailedScheduling { .. }),
        _ => false,
    }
}

/// Whether `effect` says anew what `other` was to say.
fn is_newer_word(effect: &Effect, other: &Effect) -> bool {
    let is_same_kind = std::mem::discriminant(effect) == std::mem::discriminant(other);
    is_same_kind
        && match (effect, other) {
            (Effect::Record { .. }, _) => is_refusal(effect) && is_refusal(other),
            (Effect::Condition { .. } | Effect::Nominate { .. }, _) => true,
            _ => false,
        }
}

/// Where the pod is nominated to, if `effect` is to write that.
fn nomination_of(effect: &Effect) -> Option<Nomination> {
    match effect {
        Effect::Condition { nomination, .. } if *nomination != Nomination::Keep => Some(nomination.clone()),
        _ => None,
    }
}

/// Lets a condition that says nothing about the nomination write what one before it was to write.
fn inherit(effect: &mut Effect, before: Option<Nomination>) {
    if let (Effect::Condition { nomination, .. }, Some(before)) = (effect, before)
        && *nomination == Nomination::Keep
    {
        *nomination = before;
    }
}
