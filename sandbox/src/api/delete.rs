//! Deletion: grace period, preconditions, finalizers, propagation policy.

use super::State;
use crate::refusal::{Answer, Refusal};
use crate::store::Key;
use crate::value::{is_deleting, list, number, second, text, time, uid};
use jiff::SignedDuration;
use serde_json::Value;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) grace: Option<i64>,
    pub(crate) uid: Option<String>,
    pub(crate) version: Option<String>,
    /// The finalizer of the propagation policy; `None`: Background, the dependents are deleted later.
    pub(crate) finalizer: Option<&'static str>,
    pub(crate) is_dry: bool,
}

/// The finalizer of an object that is deleted after its dependents.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents stay.
pub(crate) const ORPHAN: &str = "orphan";

impl DeleteOptions {
    /// Options with the UID of this object as a precondition.
    pub(crate) fn only(object: &Value) -> Self {
        Self { uid: Some(uid(object).to_owned()), ..Self::default() }
    }

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
    /// Deletes an object, or marks it as being deleted. Returns its last state, and whether it is gone.
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
        // A namespace is removed when it is empty.
        let is_held = !finalizers.is_empty() || resource.plural == "namespaces";
        // A pod always gets a deletionTimestamp first, also when it is removed at once.
        if is_pod || is_held {
            self.mark_deleting(&mut new, if is_pod { grace(&old, options) } else { 0 });
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

    /// Sets the deletionTimestamp, if there is none or a later one. The grace period can only be shortened.
    fn mark_deleting(&self, object: &mut Value, grace: i64) {
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

/// The grace period of a pod. A pod that is not bound, or has ended, needs none.
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
            return Err(Refusal::conflict(kind, &key.name, &why).with_details(&key.name, kind, group));
        }
    }
    Ok(())
}
