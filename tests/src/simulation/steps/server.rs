//! What the API server does with a request that has arrived.

use super::actors::{POLICIES, TWO_VERSIONS};
use super::api::{Refused, Who};
use super::calls::{Job, Reply};
use super::sim::Sim;
use crate::simulation::fence::only_adds;
use crate::simulation::newer::with_more;
use common::model::pod::{Scheduled, Unscheduled};
use common::model::{Pod, PodKey, Uid};
use daemon::state::{Eviction, Nomination};
use std::borrow::Cow;
use std::sync::Arc;

impl Sim {
    /// The policy that lets only the leader bind, and change reservations; others may add some.
    fn fence(&self, who: Who, job: &Job) -> Result<(), Refused> {
        let is_fenced = match (who, job) {
            (_, Job::Patch { patch, .. }) if only_adds(patch) => false,
            (Who::Daemon(index, _), Job::Bind { .. } | Job::Patch { .. }) if self.scenario.is_elected => {
                self.api.is_fenced(self.daemons[index].name, self.scenario.fence_lag)
            }
            _ => false,
        };
        if is_fenced { Err(Refused(403)) } else { Ok(()) }
    }

    /// A policy of others that refuses some writes of anybody.
    fn policy(&mut self, job: &Job) -> Option<Reply> {
        let is_judged = matches!(job, Job::Bind { .. } | Job::Patch { .. } | Job::Errand(_) | Job::Evict(_));
        let is_on = is_judged && self.scenario.deeds & POLICIES != 0 && self.api.now < self.scenario.quiet;
        if !is_on || !job.is_write() || !self.one_in(12) {
            return None;
        }
        let code = [403, 422][self.rng.usize(0..2)];
        self.api.note(format_args!("a policy refuses with {code}"));
        Some(Reply::Denied(code))
    }

    /// The API server does what is asked.
    pub(super) fn carry_out(&mut self, who: Who, job: &Job) -> Result<Reply, Refused> {
        self.fence(who, job)?;
        if let Some(denied) = self.policy(job) {
            return Ok(denied);
        }
        if matches!(job, Job::Bind { .. } | Job::Patch { .. }) {
            self.api.rules.under_way = self.under_way(who);
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
                // The second of the two is of a newer version, if they differ.
                let is_newer = self.scenario.deeds & TWO_VERSIONS != 0 && matches!(who, Who::Daemon(1, _));
                let patch = if is_newer { Cow::Owned(with_more(patch)) } else { Cow::Borrowed(patch) };
                let version = self.api.patch_node(who, &annotation.node, &patch)?;
                self.api.rules.counts.check("I20");
                let is_same = self.api.picture.nodes.get(&annotation.node).map(|node| &node.uid);
                if is_same != Some(&annotation.uid) {
                    self.api.rules.break_("I20", &format!("{} is another node", annotation.node));
                }
                Ok(Reply::Done(version))
            }
            Job::Tell { pod, uid, told, nomination, .. } => {
                self.tell(who, (pod, uid), told.as_deref(), nomination)
            }
            Job::Evict(eviction) => self.evict_victim(eviction),
            Job::Talk(told) => {
                self.api.told.extend(told.clone());
                Ok(Reply::Done(0))
            }
            Job::Ask(_) => Ok(Reply::Done(0)),
            Job::ReadOwner(claim) => self.read_owner(claim),
            Job::Publish(replica, _) => {
                self.api.put_replica((**replica).clone());
                Ok(Reply::Done(self.api.revision))
            }
            Job::Errand(errand) => self.run_errand(who, errand),
        }
    }

    /// The pods that somebody has sent to nodes, and that have not got there yet.
    pub(super) fn under_way(&self, who: Who) -> Vec<Pod> {
        let open = self.calls.values().filter(|call| call.who == who && !call.has_landed);
        let bound = open.filter_map(|call| match &call.job {
            Job::Bind { pod, uid, node, seat } => {
                let found = self.api.that(pod, uid).ok().filter(|pod| pod.node.is_none())?;
                let stamp = seat.as_ref().map(|seat| seat.to_string().into());
                Some(found.bound(node.clone(), stamp, Some(self.api.wall())))
            }
            _ => None,
        });
        bound.collect()
    }

    pub(super) fn tell(
        &mut self,
        who: Who,
        (key, uid): (&PodKey, &Uid),
        told: Option<&Unscheduled>,
        nomination: &Nomination,
    ) -> Result<Reply, Refused> {
        let pod = Arc::clone(self.api.that(key, uid)?);
        if told.is_some() && pod.node.is_some() {
            // Others may have bound it meanwhile; we know what we do.
            self.api.rules.told_bound(who, &pod);
        }
        let mut next = Pod::clone(&pod);
        if let Some(told) = told {
            next.scheduled = Some(Scheduled::False(Box::new(told.clone())));
        }
        if let Nomination::Change(node) = nomination {
            next.nominated = node.clone().map(Box::new);
        }
        if next == *pod {
            return Ok(Reply::Done(pod.resource_version));
        }
        let message = told.map_or("", |told| &told.message);
        self.api.note(format_args!("told {key}: {message} {nomination:?}"));
        Ok(Reply::Done(self.api.put_pod(next)))
    }

    /// A pod has to go for a more important one.
    pub(super) fn evict_victim(&mut self, eviction: &Eviction) -> Result<Reply, Refused> {
        let pod = Arc::clone(self.api.that(&eviction.victim, &eviction.victim_uid)?);
        self.api.note(format_args!("preempted: {} for {}", pod.key, eviction.preemptor));
        self.api.put_pod(Pod { preempted: true, ..Pod::clone(&pod) });
        self.api.delete_pod(&pod.key, &pod.uid, self.grace_of(&pod))?;
        Ok(Reply::Done(self.api.revision))
    }
}
