//! Deleting: with grace, preconditions, finalizers, and what becomes of what the object owns.

use super::State;
use crate::refusal::{Answer, Refusal};
use crate::resources::{Has, Resource};
use crate::store::Key;
use crate::value::{is_deleting, list, number, second, text, uid};
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::sync::Arc;

/// What becomes of what the object owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// It goes after the object.
    #[default]
    Background,
    /// It goes before the object.
    Foreground,
    /// It stays.
    Orphan,
}

/// How an object is to be deleted.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) grace: Option<i64>,
    pub(crate) uid: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) propagation: Propagation,
    pub(crate) is_dry: bool,
}

/// The finalizer of an object that goes after what it owns.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose possessions are to stay.
pub(crate) const ORPHAN: &str = "orphan";

impl DeleteOptions {
    /// At once, whatever is left of its grace, and only this very object.
    pub(crate) fn now(object: &Value) -> Self {
        Self { grace: Some(0), uid: Some(uid(object).to_owned()), ..Self::default() }
    }

    /// From the body of a request.
    pub(crate) fn of(body: &Value) -> Self {
        let word = |pointer| Some(text(body, pointer).to_owned()).filter(|word| !word.is_empty());
        let propagation = match (text(body, "/propagationPolicy"), body["orphanDependents"].as_bool()) {
            ("Foreground", _) => Propagation::Foreground,
            ("Orphan", _) | ("", Some(true)) => Propagation::Orphan,
            _ => Propagation::Background,
        };
        Self {
            grace: number(body, "/gracePeriodSeconds"),
            uid: word("/preconditions/uid"),
            version: word("/preconditions/resourceVersion"),
            propagation,
            is_dry: !list(body, "/dryRun").is_empty(),
        }
    }
}

impl State {
    /// Deletes an object, or begins to. Returns it as it is left, and whether it is gone.
    pub(crate) fn delete(
        &mut self,
        resource: &'static Resource,
        (within, called): (&str, &str),
        options: &DeleteOptions,
    ) -> Answer<(Arc<Value>, bool)> {
        let key = Key::new(resource, within, called);
        let old = Arc::clone(self.get(resource, within, called)?);
        check_preconditions(resource, called, options, &old)?;
        let mut new = Value::clone(&old);
        add_finalizer(resource, &mut new, options.propagation);
        let is_pod = resource.plural == "pods";
        let is_held = !list(&new, "/metadata/finalizers").is_empty();
        // Pods always say first that they go, and then go.
        let is_changed =
            (is_pod || is_held) && self.begin(&mut new, if is_pod { grace(&old, options) } else { 0 });
        let is_gone =
            !is_held && (!is_pod || number(&new, "/metadata/deletionGracePeriodSeconds") == Some(0));
        if options.is_dry {
            return Ok((Arc::new(new), is_gone));
        }
        let mut left = if is_changed || *old != new { self.store.put(key.clone(), new) } else { old };
        if is_gone {
            left = self.store.remove(&key).unwrap_or(left);
        }
        Ok((left, is_gone))
    }

    /// Marks an object as going, if it is not yet, or not as soon. Grace can only be shortened.
    fn begin(&self, object: &mut Value, grace: i64) -> bool {
        let begun = number(object, "/metadata/deletionGracePeriodSeconds");
        if is_deleting(object) && begun.is_some_and(|begun| begun <= grace) {
            return false;
        }
        let meta = &mut object["metadata"];
        let at = self.now.checked_add(SignedDuration::from_secs(grace)).unwrap_or(self.now);
        meta["deletionTimestamp"] = second(at);
        meta["deletionGracePeriodSeconds"] = grace.into();
        if let Some(generation) = meta["generation"].as_i64() {
            meta["generation"] = (generation + 1).into();
        }
        true
    }
}

/// For how long a pod may go on. One that has not begun, or has ended, needs no time.
fn grace(pod: &Value, options: &DeleteOptions) -> i64 {
    let is_idle = text(pod, "/spec/nodeName").is_empty();
    if is_idle || matches!(text(pod, "/status/phase"), "Succeeded" | "Failed") {
        return 0;
    }
    let begun = number(pod, "/metadata/deletionGracePeriodSeconds");
    let asked = options.grace.or(begun).or_else(|| number(pod, "/spec/terminationGracePeriodSeconds"));
    asked.unwrap_or(30).max(0)
}

fn add_finalizer(resource: &Resource, object: &mut Value, propagation: Propagation) {
    let finalizer = match propagation {
        Propagation::Background => return,
        Propagation::Foreground => FOREGROUND,
        Propagation::Orphan => ORPHAN,
    };
    let mut finalizers = list(object, "/metadata/finalizers").to_vec();
    if resource.has(Has::Status) && !finalizers.iter().any(|one| one == finalizer) {
        finalizers.push(finalizer.into());
        object["metadata"]["finalizers"] = json!(finalizers);
    }
}

fn check_preconditions(
    resource: &Resource,
    name: &str,
    options: &DeleteOptions,
    object: &Value,
) -> Answer<()> {
    let checks = [
        ("UID", &options.uid, uid(object)),
        ("ResourceVersion", &options.version, text(object, "/metadata/resourceVersion")),
    ];
    for (what, wanted, found) in checks {
        if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted != found) {
            return Err(Refusal::precondition(resource, name, what, wanted, found));
        }
    }
    Ok(())
}
