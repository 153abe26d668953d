//! Carries out the requests that have arrived at the API server ([`Sim::carry_out`]): admission, then the write or read.

use super::actors::{POLICIES, TWO_VERSIONS};
use super::api::{Actor, ErrorCode};
use super::calls::{Job, Reply};
use super::sim::Sim;
use crate::simulation::fence::only_adds;
use crate::simulation::newer_version::with_newer_field;
use common::model::pod::{ScheduledCondition, UnscheduledCondition};
use common::model::{Pod, PodKey, Uid};
use daemon::state::{Eviction, Nomination};
use std::borrow::Cow;
use std::sync::Arc;

impl Sim {
    /// The fence: only the leader may bind pods and change reservations; other replicas may add reservations.
    fn fence(&self, who: Actor, job: &Job) -> Result<(), ErrorCode> {
        let is_fenced = match (who, job) {
            (_, Job::Patch { patch, .. }) if only_adds(patch) => false,
            (Actor::Daemon(index, _), Job::Bind { .. } | Job::Patch { .. }) if self.scenario.is_elected => {
                self.api.is_fenced(self.daemons[index].name, self.scenario.fence_lag)
            }
            _ => false,
        };
        if is_fenced { Err(ErrorCode(403)) } else { Ok(()) }
    }

    /// An admission policy that refuses some writes.
    fn policy(&mut self, job: &Job) -> Option<Reply> {
        let is_judged =
            matches!(job, Job::Bind { .. } | Job::Patch { .. } | Job::CommandRequest(_) | Job::Evict(_));
        let is_on = is_judged
            && self.scenario.activities & POLICIES != 0
            && self.api.now < self.scenario.activity_end;
        if !is_on || !job.is_write() || !self.one_in(12) {
            return None;
        }
        let code = [403, 422][self.rng.usize(0..2)];
        self.api.note(format_args!("a policy refuses with {code}"));
        Some(Reply::Denied(code))
    }

    /// Carries out a request.
    pub(super) fn carry_out(&mut self, who: Actor, job: &Job) -> Result<Reply, ErrorCode> {
        self.fence(who, job)?;
        if let Some(denied) = self.policy(job) {
            return Ok(denied);
        }
        if matches!(job, Job::Bind { .. } | Job::Patch { .. }) {
            self.api.rules.pending_binds = self.binds_under_way(who);
        }
        match job {
            Job::Bind { pod, uid, node, seat } => {
                self.api.bind(who, (pod, uid), node, seat.as_ref())?;
                Ok(Reply::Done(self.api.revision))
            }
            Job::Find { pod, .. } => {
                Ok(Reply::Pod(self.api.pod(pod).map(|pod| (pod.uid.clone(), pod.node.clone()))))
            }
            Job::Look { annotation, .. } => self.api.read_node(&annotation.node).map(Reply::Node),
            Job::Patch { annotation, patch, .. } => {
                // If the versions differ, the second daemon has the newer one.
                let is_newer =
                    self.scenario.activities & TWO_VERSIONS != 0 && matches!(who, Actor::Daemon(1, _));
                let patch = if is_newer { Cow::Owned(with_newer_field(patch)) } else { Cow::Borrowed(patch) };
                let version = self.api.patch_node(who, &annotation.node, &patch)?;
                self.api.rules.counts.check("I20");
                let is_same = self.api.state.nodes.get(&annotation.node).map(|node| &node.uid);
                if is_same != Some(&annotation.uid) {
                    self.api.rules.break_("I20", &format!("{} is another node", annotation.node));
                }
                Ok(Reply::Done(version))
            }
            Job::PatchStatus { pod, uid, condition, nomination, .. } => {
                self.patch_status(who, (pod, uid), condition.as_deref(), nomination)
            }
            Job::Evict(eviction) => self.evict_victim(eviction),
            Job::WriteEvent(event) => {
                self.api.events.extend(event.clone());
                Ok(Reply::Done(0))
            }
            Job::AskExtenders(_) => Ok(Reply::Done(0)),
            Job::ReadOwner(claim) => self.read_owner(claim),
            Job::Publish(replica, _) => {
                self.api.put_replica((**replica).clone());
                Ok(Reply::Done(self.api.revision))
            }
            Job::CommandRequest(command_request) => self.serve_command(who, command_request),
        }
    }

    /// The pods of a sender's binds that have not arrived yet, as if bound.
    pub(super) fn binds_under_way(&self, who: Actor) -> Vec<Pod> {
        let open = self.calls.values().filter(|call| call.who == who && !call.has_landed);
        let bound = open.filter_map(|call| match &call.job {
            Job::Bind { pod, uid, node, seat } => {
                let found = self.api.pod_with_uid(pod, uid).ok().filter(|pod| pod.node.is_none())?;
                let stamp = seat.as_ref().map(|seat| seat.to_string().into());
                Some(found.bound(node.clone(), stamp, Some(self.api.wall())))
            }
            _ => None,
        });
        bound.collect()
    }

    pub(super) fn patch_status(
        &mut self,
        who: Actor,
        (key, uid): (&PodKey, &Uid),
        condition: Option<&UnscheduledCondition>,
        nomination: &Nomination,
    ) -> Result<Reply, ErrorCode> {
        let pod = Arc::clone(self.api.pod_with_uid(key, uid)?);
        if condition.is_some() && pod.node.is_some() {
            // Another scheduler may have bound the pod meanwhile, but a daemon knows its own binds.
            self.api.rules.check_status_after_bind(who, &pod);
        }
        let mut next = Pod::clone(&pod);
        if let Some(condition) = condition {
            next.scheduled = Some(ScheduledCondition::False(Box::new(condition.clone())));
        }
        if let Nomination::Change(node) = nomination {
            next.nominated_node = node.clone().map(Box::new);
        }
        if next == *pod {
            return Ok(Reply::Done(pod.resource_version));
        }
        let message = condition.map_or("", |condition| &condition.message);
        self.api.note(format_args!("told {key}: {message} {nomination:?}"));
        Ok(Reply::Done(self.api.put_pod(next)))
    }

    /// Preempts a pod.
    pub(super) fn evict_victim(&mut self, eviction: &Eviction) -> Result<Reply, ErrorCode> {
        let pod = Arc::clone(self.api.pod_with_uid(&eviction.victim, &eviction.victim_uid)?);
        self.api.note(format_args!("preempted: {} for {}", pod.key, eviction.preemptor));
        self.api.put_pod(Pod { preempted: true, ..Pod::clone(&pod) });
        self.api.delete_pod(&pod.key, &pod.uid, self.grace_of(&pod))?;
        Ok(Reply::Done(self.api.revision))
    }
}
