//! Reads the PodDisruptionBudgets of one pod, and which of their pods are not ready.

use super::target::is_ready;
use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::flow::budget::{BlockedEviction, Budget};
use common::api;
use common::model::Pod;
use serde_json::Value;

/// The budgets that select `pod`; `None` if the caller may not read them.
pub(super) async fn read(session: &Session, pod: &Pod) -> Result<Option<Vec<Budget>>, ApiError> {
    let path = format!("/apis/policy/v1/namespaces/{}/poddisruptionbudgets", pod.key.namespace);
    let mut budgets = Vec::new();
    let each = |json: &str| {
        budgets.extend(Budget::read(json).filter(|budget| budget.protects(&pod.labels)));
        Ok(())
    };
    match calls::list(session, &path, "", JSON, each).await {
        Ok(_) => Ok(Some(budgets)),
        Err(error) if matches!(error.code(), Some(403 | 404)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A refused eviction with the server's `message`, and the budgets that select the pod. What cannot be read is left out.
pub(super) async fn blocked(session: &Session, pod: &Pod, message: String) -> BlockedEviction {
    let budgets = read(session, pod).await.ok().flatten().unwrap_or_default();
    let unhealthy = unhealthy(session, &pod.key.namespace, &budgets).await;
    BlockedEviction::new(budgets, unhealthy, message)
}

async fn unhealthy(session: &Session, namespace: &str, budgets: &[Budget]) -> Vec<String> {
    let mut names = Vec::new();
    let each = |json: &str| {
        let pod = api::pod::pod(json).map_err(|error| error.to_string())?;
        let is_protected = budgets.iter().any(|budget| budget.protects(&pod.labels));
        let is_well = || serde_json::from_str::<Value>(json).is_ok_and(|json| is_ready(&json));
        if is_protected && !pod.is_ended() && (pod.deleting || !is_well()) {
            names.push(pod.key.name.to_string());
        }
        Ok(())
    };
    // This is only shown to the user, so an error is ignored.
    let _ = calls::list(session, &format!("/api/v1/namespaces/{namespace}/pods"), "", JSON, each).await;
    names
}
