//! The controller of PodDisruptionBudgets: computes their status.

use super::{is_active, is_ended, is_ready};
use crate::api::{State, disruption_allowed, kind, pods};
use crate::select::Selector;
use crate::store::Key;
use crate::value::{controller, namespace, number, set_condition, text, time};
use jiff::SignedDuration;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An evicted pod that is still not being deleted after this long counts as healthy again.
const DELETION_TIMEOUT: SignedDuration = SignedDuration::from_mins(2);

pub(super) fn run(state: &mut State) {
    let resource = kind("policy", "poddisruptionbudgets");
    for budget in state.all(resource) {
        let Some(selector) = Selector::of_labels(&budget["spec"]["selector"]) else { continue };
        let is_meant = |pod: &&Arc<Value>| {
            namespace(pod) == namespace(&budget) && selector.matches(pod) && !is_ended(pod)
        };
        let found: Vec<Arc<Value>> = state.store.all(pods()).filter(is_meant).cloned().collect();
        let disrupted = disrupted_pods(state, &budget, &found);
        let is_healthy = |pod: &&Arc<Value>| {
            is_active(pod) && is_ready(pod) && !disrupted.contains_key(text(pod, "/metadata/name"))
        };
        let healthy = i64::try_from(found.iter().filter(is_healthy).count()).unwrap_or(0);
        let (expected, desired) = expected_and_desired(state, &budget, &found);
        let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
        let mut status = json!({
            "disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": expected,
            "observedGeneration": budget["metadata"]["generation"], "conditions": budget["status"]["conditions"],
        });
        if !disrupted.is_empty() {
            status["disruptedPods"] = disrupted.into();
        }
        set_condition(&mut status, disruption_allowed(&budget, allowed), state.now);
        state.set_status(resource, &budget, status);
    }
}

/// The evicted pods that are not being deleted yet.
fn disrupted_pods(state: &State, budget: &Value, found: &[Arc<Value>]) -> Map<String, Value> {
    let all = budget["status"]["disruptedPods"].as_object().cloned().unwrap_or_default();
    let is_still = |name: &str, since: &Value| {
        let is_recent =
            time(since, "").is_some_and(|since| state.now.duration_since(since) < DELETION_TIMEOUT);
        is_recent && found.iter().any(|pod| text(pod, "/metadata/name") == name && is_active(pod))
    };
    all.into_iter().filter(|(name, since)| is_still(name, since)).collect()
}

/// How many pods there should be, and how many of them should be healthy.
fn expected_and_desired(state: &State, budget: &Value, found: &[Arc<Value>]) -> (i64, i64) {
    let count = i64::try_from(found.len()).unwrap_or(0);
    let (least, most) = (&budget["spec"]["minAvailable"], &budget["spec"]["maxUnavailable"]);
    if let Some(least) = least.as_i64() {
        return (count, least);
    }
    let expected = expected_pods(state, found);
    // Percentages are rounded up, as upstream.
    let percent = |value: &Value| value.as_str()?.strip_suffix('%')?.parse::<i64>().ok();
    let part = |value: &Value| match percent(value) {
        Some(percent) => (percent * expected + 99) / 100,
        None => value.as_i64().unwrap_or(0),
    };
    match (least.is_null(), most.is_null()) {
        (false, _) => (expected, part(least)),
        (true, false) => (expected, (expected - part(most)).max(0)),
        (true, true) => (expected, (expected - 1).max(0)),
    }
}

/// How many replicas the owners of these pods want, in sum. Pods without an owner are not counted.
fn expected_pods(state: &State, found: &[Arc<Value>]) -> i64 {
    let mut owners: BTreeMap<String, i64> = BTreeMap::new();
    for pod in found {
        let Some(owner) = controller(pod) else { continue };
        let plural = format!("{}s", text(owner, "/kind").to_lowercase());
        let set = state.store.get(&Key::new(kind("apps", &plural), namespace(pod), text(owner, "/name")));
        let above = set.and_then(|set| controller(set)).filter(|_| plural == "replicasets");
        let top = above.map(|top| Key::new(kind("apps", "deployments"), namespace(pod), text(top, "/name")));
        let top = top.and_then(|top| state.store.get(&top));
        if let Some(top) = top.or(set) {
            owners.insert(text(top, "/metadata/uid").to_owned(), number(top, "/spec/replicas").unwrap_or(1));
        }
    }
    owners.values().sum()
}
