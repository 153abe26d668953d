//! Deleting: with grace, preconditions, finalizers, and what becomes of what the object owns.

use super::State;
use crate::refusal::{Answer, Refusal};
use crate::resources::{Has, Resource};
use crate::store::Key;
use crate::value::{is_deleting, list, number, second, text, time, uid};
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
        // A namespace goes when it is empty.
        let is_held = !list(&new, "/metadata/finalizers").is_empty() || resource.plural == "namespaces";
        // Pods always say first that they go, and then go.
        if is_pod || is_held {
            self.begin(&mut new, if is_pod { grace(&old, options) } else { 0 });
        }
        self.fill(resource, &mut new)?;
        let is_gone =
            !is_held && (!is_pod || number(&new, "/metadata/deletionGracePeriodSeconds") == Some(0));
        if options.is_dry {
            return Ok((Arc::new(new), is_gone));
        }
        let mut left = if *old != new { self.store.put(key.clone(), new) } else { old };
        if is_gone {
            left = self.store.remove(&key).unwrap_or(left);
        }
        Ok((left, is_gone))
    }

    /// Marks an object as going, if it is not yet, or not as soon. Grace can only be shortened.
    fn begin(&self, object: &mut Value, grace: i64) {
        let begun = number(object, "/metadata/deletionGracePeriodSeconds");
        let is_first = !is_deleting(object);
        if !is_first && begun.is_none_or(|begun| begun <= grace) {
            return;
        }
        let asked = time(object, "/metadata/deletionTimestamp").unwrap_or(self.now);
        let seconds = grace - begun.filter(|_| !is_first).unwrap_or(0);
        let at = asked.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(asked);
        let is_namespace = object["kind"] == "Namespace";
        let meta = &mut object["metadata"];
        meta["deletionTimestamp"] = second(at);
        if !is_namespace {
            meta["deletionGracePeriodSeconds"] = grace.into();
        }
        if let Some(generation) = meta["generation"].as_i64().filter(|_| is_first) {
            meta["generation"] = (generation + 1).into();
        }
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
    let version = text(object, "/metadata/resourceVersion");
    let checks = [
        ("UID", &options.uid, uid(object), "deleted and then recreated"),
        ("ResourceVersion", &options.version, version, "modified"),
    ];
    for (what, wanted, found, fate) in checks {
        if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted != found) {
            let why = format!(
                "the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). The object \
                 might have been {fate}"
            );
            return Err(Refusal::conflict(resource.kind, name, &why).on(name, resource.kind, resource.group));
        }
    }
    Ok(())
}
