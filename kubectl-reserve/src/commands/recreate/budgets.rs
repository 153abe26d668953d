//! Reads the PodDisruptionBudgets of one pod, and which of their pods are not ready.

use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::flow::budget::{BlockedEviction, Budget};
use crate::reader::{PodView, pods, pods_in, readable, served};
use common::model::Pod;

/// The budgets that select `pod`; `None` if the caller may not read them.
pub(super) async fn read(session: &Session, pod: &Pod) -> Result<Option<Vec<Budget>>, ApiError> {
    let path = format!("/apis/policy/v1/namespaces/{}/poddisruptionbudgets", pod.key.namespace);
    let mut budgets = Vec::new();
    let each = |json: &str| {
        budgets.extend(Budget::read(json).filter(|budget| budget.protects(&pod.labels)));
        Ok(())
    };
    let listed = calls::list(session, &path, "", JSON, each).await;
    Ok(readable(served(listed))?.flatten().map(|_| budgets))
}

/// A refused eviction with the server's `message`, and the budgets that select the pod. What cannot be read is left out.
pub(super) async fn blocked(session: &Session, pod: &PodView, message: String) -> BlockedEviction {
    let budgets = read(session, pod).await.ok().flatten().unwrap_or_default();
    let unhealthy = unhealthy(session, &pod.key.namespace, &budgets).await;
    BlockedEviction::new(budgets, unhealthy, pod.is_ready, message)
}

async fn unhealthy(session: &Session, namespace: &str, budgets: &[Budget]) -> Vec<String> {
    // This is only shown to the user, so an error is ignored.
    let mut pods = pods(session, &pods_in(namespace), "").await.unwrap_or_default();
    pods.retain(|pod| {
        let is_protected = budgets.iter().any(|budget| budget.protects(&pod.labels));
        is_protected && !pod.is_ended() && (pod.deleting || !pod.is_ready)
    });
    pods.iter().map(|pod| pod.key.name.to_string()).collect()
}
