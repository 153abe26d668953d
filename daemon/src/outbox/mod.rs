//! The effects that wait to be carried out: one at a time for each thing that they are about, in order; changes of reservations, a few
//! at a time, and bindings before talk.
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
    /// Nodes whose annotations are to be changed, in the order of their arrival.
    nodes: VecDeque<Subject>,
    /// Other subjects whose next effect decides something, in the order of their arrival.
    urgent: VecDeque<Subject>,
    /// Subjects whose next effect is talk.
    talk: VecDeque<Subject>,
    busy: BTreeSet<Subject>,
    /// How many events wait.
    events: usize,
    /// How many were dropped since this was asked last.
    dropped: u64,
}

/// Where a subject waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Nodes,
    Urgent,
    Talk,
}

/// Nodes whose annotations are being changed at once. They go first, and leave most of the calls to bindings: tenants can cause many
/// such changes.
const NODES_MAX: usize = 8;

impl Outbox {
    /// Adds an effect behind those of the same subject; one that gives a pod a place goes before them. An event is dropped
    /// if too many wait: events are talk, and there is no end to how many pods can have something to say.
    pub fn push(&mut self, mut effect: Effect) {
        let subject = effect.subject();
        let waiting = self.waiting.entry(subject.clone()).or_default();
        let was = waiting.front().map(line);
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
        let is = waiting.front().map(line);
        if was != is {
            // What comes first has changed, and with it the line to stand in. Lines can be long: nobody looks for himself in
            // one without need.
            if let Some(was) = was {
                self.line(was).retain(|other| *other != subject);
            }
            self.line_up(subject);
        }
    }

    /// The next effect to carry out. Its subject has no other until [`Outbox::done`] is called.
    pub fn pop(&mut self) -> Option<Effect> {
        let nodes = self.busy.iter().filter(|subject| matches!(subject, Subject::Node(_))).count();
        let node = if nodes < NODES_MAX { self.nodes.pop_front() } else { None };
        let subject = node.or_else(|| self.urgent.pop_front()).or_else(|| self.talk.pop_front())?;
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
        let first = self.waiting.get(&subject).and_then(VecDeque::front).map_or(Line::Talk, line);
        self.line(first).push_back(subject);
    }

    fn line(&mut self, line: Line) -> &mut VecDeque<Subject> {
        match line {
            Line::Nodes => &mut self.nodes,
            Line::Urgent => &mut self.urgent,
            Line::Talk => &mut self.talk,
        }
    }
}

fn is_event(effect: &Effect) -> bool {
    matches!(effect, Effect::WritePodEvent { .. } | Effect::WriteEvent(_))
}

/// In which line a subject waits whose next effect this is.
fn line(effect: &Effect) -> Line {
    match effect {
        Effect::Annotate(_) => Line::Nodes,
        Effect::Bind { .. } | Effect::Find { .. } | Effect::BindVolumes { .. } => Line::Urgent,
        Effect::Evict(_)
        | Effect::ReadOwner(_)
        | Effect::Reply { .. }
        | Effect::Ask { .. }
        | Effect::AskVictims { .. } => Line::Urgent,
        Effect::Condition { .. } | Effect::Nominate { .. } => Line::Talk,
        Effect::WritePodEvent { .. } | Effect::WriteEvent(_) | Effect::List => Line::Talk,
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
        Effect::WritePodEvent { event, .. } => matches!(event, PodEvent::FailedScheduling { .. }),
        _ => false,
    }
}

/// Whether `effect` says anew what `other` was to say.
fn is_newer_word(effect: &Effect, other: &Effect) -> bool {
    let is_same_kind = std::mem::discriminant(effect) == std::mem::discriminant(other);
    is_same_kind
        && match (effect, other) {
            (Effect::WritePodEvent { .. }, _) => is_refusal(effect) && is_refusal(other),
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
