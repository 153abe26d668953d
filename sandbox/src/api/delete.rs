//! Deleting: with grace, preconditions, finalizers, and what becomes of what the object owns.

use super::State;
use crate::refusal::{Answer, Refusal};
use crate::store::Key;
use crate::value::{is_deleting, list, number, second, text, time, uid};
use jiff::SignedDuration;
use serde_json::Value;
use std::sync::Arc;

/// How an object is to be deleted.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) grace: Option<i64>,
    pub(crate) uid: Option<String>,
    pub(crate) version: Option<String>,
    /// What holds the object until something has become of what it owns. Without it, that goes later.
    pub(crate) finalizer: Option<&'static str>,
    pub(crate) is_dry: bool,
}

/// The finalizer of an object that goes after what it owns.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose possessions are to stay.
pub(crate) const ORPHAN: &str = "orphan";

impl DeleteOptions {
    /// Only this very object.
    pub(crate) fn only(object: &Value) -> Self {
        Self { uid: Some(uid(object).to_owned()), ..Self::default() }
    }

    /// From the body of a request.
    pub(crate) fn of(body: &Value) -> Self {
        let word = |pointer| Some(text(body, pointer).to_owned()).filter(|word| !word.is_empty());
        let finalizer = match text(body, "/propagationPolicy") {
            "Foreground" => Some(FOREGROUND),
            "Orphan" => Some(ORPHAN),
            _ => None,
        };
        Self {
            grace: number(body, "/gracePeriodSeconds"),
            uid: word("/preconditions/uid"),
            version: word("/preconditions/resourceVersion"),
            finalizer,
            is_dry: !list(body, "/dryRun").is_empty(),
        }
    }
}

impl State {
    /// Deletes an object, or begins to. Returns it as it is left, and whether it is gone.
    pub(crate) fn delete(&mut self, key: &Key, options: &DeleteOptions) -> Answer<(Arc<Value>, bool)> {
        let (old, resource) = (Arc::clone(self.get(key)?), key.resource);
        check_preconditions(key, options, &old)?;
        let mut new = Value::clone(&old);
        let mut finalizers = list(&new, "/metadata/finalizers").to_vec();
        if let Some(finalizer) =
            options.finalizer.filter(|wanted| !finalizers.iter().any(|one| one == wanted))
        {
            finalizers.push(finalizer.into());
            new["metadata"]["finalizers"] = finalizers.clone().into();
        }
        let is_pod = resource.plural == "pods";
        // A namespace goes when it is empty.
        let is_held = !finalizers.is_empty() || resource.plural == "namespaces";
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
        let left = if *old != new { self.store.put(key, new) } else { old };
        if is_gone {
            self.store.remove(key);
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

fn check_preconditions(key: &Key, options: &DeleteOptions, object: &Value) -> Answer<()> {
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
            let (kind, group) = (key.resource.kind, key.resource.group);
            return Err(Refusal::conflict(kind, &key.name, &why).on(&key.name, kind, group));
        }
    }
    Ok(())
}
