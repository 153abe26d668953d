//! Why pods are Pending, as far as no node has to be looked at. Pure functions from what was read to sentences:
//!
//! - [`pod_finding()`]: the state of the pod itself (bound, deleted, gated, no scheduler, missing claims);
//! - [`blocked_workloads()`]: workloads that cannot create pods;
//! - [`rollout_deadlock()`]: a rollout that waits for itself;
//! - [`group_causes`]: pods of one owner with the same cause, together.
//!
//! What the nodes say is for `explain`.

mod blocked_workloads;
mod bound_pod;
mod causes;
mod pod_finding;
mod rollout_deadlock;
mod storage;
#[cfg(test)]
mod tests;

pub(crate) use blocked_workloads::{BlockedWorkload, blocked_workloads};
pub(crate) use causes::{CauseGroup, Causes, PodCause, group_causes};
pub(crate) use pod_finding::{NO_SCHEDULER, PendingInput, last_try, pod_finding};
pub(crate) use rollout_deadlock::rollout_deadlock;
