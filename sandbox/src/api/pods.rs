//! The subresources of pods: binding, and eviction with PodDisruptionBudgets.

use super::{DeleteOptions, State, kind, pods};
use crate::refusal::{Answer, Refusal, cause};
use crate::select::Selector;
use crate::store::Key;
use crate::value::{condition, is_deleting, list, name, namespace, number, second, set_condition, text, uid};
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

/// `Retry-After` when the budget's controller has not seen the budget's last change yet.
const RETRY_SECONDS: u32 = 10;

impl State {
    /// Binds a pod to a node. The annotations and labels of the binding are added to the pod in the same write.
    pub(crate) fn bind(&mut self, key: &Key, binding: &Value, is_dry: bool) -> Answer<()> {
        if text(binding, "/target/name").is_empty() {
            return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "", "target.name: Required value"));
        }
        let old = Arc::clone(self.get(key)?);
        let (called, wanted, found) = (&*key.name, uid(binding), uid(&old));
        if !wanted.is_empty() && wanted != found {
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: /registry/pods/{}/{called}, ResourceVersion: 0, AdditionalErrorMsg: \
                 Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}",
                key.namespace
            );
            return Err(Refusal::conflict("pods", called, &why).with_details(called, "pods", ""));
        }
        let why = match text(&old, "/spec/nodeName") {
            _ if is_deleting(&old) => "is being deleted, cannot be assigned to a host".to_owned(),
            "" if list(&old, "/spec/schedulingGates").is_empty() => {
                if !is_dry {
                    self.store.put(key, self.bound(&old, binding));
                }
                return Ok(());
            }
            "" => "has non-empty .spec.schedulingGates".to_owned(),
            node => format!("is already assigned to node {node:?}"),
        };
        let refusal = Refusal::conflict("pods/binding", called, &format!("pod {called} {why}"));
        Err(refusal.with_details(called, "pods/binding", ""))
    }

    fn bound(&self, old: &Value, binding: &Value) -> Value {
        let mut pod = old.clone();
        pod["spec"]["nodeName"] = binding["target"]["name"].clone();
        for field in ["annotations", "labels"] {
            for (key, value) in binding["metadata"][field].as_object().into_iter().flatten() {
                pod["metadata"][field][key] = value.clone();
            }
        }
        let scheduled = json!({ "type": "PodScheduled", "status": "True" });
        set_condition(&mut pod["status"], scheduled, self.now);
        pod
    }

    /// Deletes a pod, unless a budget forbids it.
    pub(crate) fn evict(&mut self, key: &Key, eviction: &Value, is_dry: bool) -> Answer<()> {
        let pod = Arc::clone(self.get(key)?);
        let mut options = DeleteOptions::of(&eviction["deleteOptions"]);
        options.is_dry |= is_dry;
        let is_counted = text(&pod, "/status/phase") == "Running" && !is_deleting(&pod);
        if is_counted && let Some(budget) = self.budget_of(&pod)? {
            self.use_disruption(&budget, &pod, options.is_dry)?;
        }
        if !options.is_dry && options.uid.as_deref().is_none_or(|wanted| wanted == uid(&pod)) {
            let mut marked = Value::clone(&pod);
            let target = json!({ "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
                                 "message": "Eviction API: evicting" });
            set_condition(&mut marked["status"], target, self.now);
            self.set_status(pods(), &pod, marked["status"].take());
        }
        self.delete(key, &options).map(drop)
    }

    fn budget_of(&self, pod: &Value) -> Answer<Option<Arc<Value>>> {
        let all = self.store.all(kind("policy", "poddisruptionbudgets"));
        let of_pod = |budget: &&Arc<Value>| {
            namespace(budget) == namespace(pod)
                && Selector::of_labels(&budget["spec"]["selector"])
                    .is_some_and(|selector| selector.matches(pod))
        };
        let found: Vec<&Arc<Value>> = all.filter(of_pod).collect();
        match found[..] {
            [] => Ok(None),
            [budget] => Ok(Some(Arc::clone(budget))),
            _ => {
                let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
                Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message))
            }
        }
    }

    /// Uses one allowed disruption of the budget, if there is one left.
    fn use_disruption(&mut self, budget: &Value, pod: &Value, is_dry: bool) -> Answer<()> {
        let count = |field: &str| number(budget, &format!("/status/{field}")).unwrap_or(0);
        if condition(pod, "Ready") != "True" {
            let (healthy, desired) = (count("currentHealthy"), count("desiredHealthy"));
            let is_healthy = healthy >= desired && desired > 0;
            if is_healthy || text(budget, "/spec/unhealthyPodEvictionPolicy") == "AlwaysAllow" {
                return Ok(());
            }
        }
        if count("observedGeneration") < number(budget, "/metadata/generation").unwrap_or(0) {
            return Err(over_budget(budget, "is still being processed by the server.", Some(RETRY_SECONDS)));
        }
        let allowed = count("disruptionsAllowed");
        if allowed <= 0 {
            let (needs, has) = (count("desiredHealthy"), count("currentHealthy"));
            let why = match has <= needs {
                true => format!("needs {needs} healthy pods and has {has} currently"),
                false => "does not allow evicting pods currently".to_owned(),
            };
            return Err(over_budget(budget, &why, None));
        }
        if !is_dry {
            let mut status = budget["status"].clone();
            status["disruptionsAllowed"] = (allowed - 1).into();
            status["disruptedPods"][name(pod)] = second(self.now);
            set_condition(&mut status, disruption_allowed(budget, allowed - 1), self.now);
            self.set_status(kind("policy", "poddisruptionbudgets"), budget, status);
        }
        Ok(())
    }
}

pub(crate) fn disruption_allowed(budget: &Value, allowed: i64) -> Value {
    let (word, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    json!({ "type": "DisruptionAllowed", "status": word, "reason": reason, "message": "",
            "observedGeneration": budget["metadata"]["generation"] })
}

fn over_budget(budget: &Value, why: &str, retry_after: Option<u32>) -> Refusal {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    let mut refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message);
    refusal.retry_after = retry_after;
    refusal.with_cause(cause("DisruptionBudget", format!("The disruption budget {} {why}", name(budget)), ""))
}
