//! Carries out the requests of `flow::recreate`, one at a time. Entry point: `Executor::carry_out`.

use super::evict::evict;
use super::keep_annotation::{self, KeepRequest};
use super::look::{Lookup, controller_kind, look};
use super::prepare::RecreationTask;
use super::target::TargetPod;
use super::{bare, keep, recheck};
use crate::api::ApiError;
use crate::connect::Session;
use crate::flow::recreate::{Answer, KeepMethod, Request, StopReason};
use crate::node_patch::DryRun;
use crate::replicas;
use common::cluster::{Acknowledgement, acknowledgement};

/// Everything that is needed to carry out the requests for one pod.
pub(super) struct Executor<'a> {
    pub(super) session: &'a Session,
    pub(super) task: &'a RecreationTask,
    pub(super) target: &'a TargetPod,
    /// The annotation `reserve/keep` of this run, if it was written.
    pub(super) keep_request: KeepRequest,
    lookup: Lookup,
}

impl<'a> Executor<'a> {
    pub(super) fn new(session: &'a Session, task: &'a RecreationTask) -> Self {
        let (target, terms) = (&task.target, &task.terms);
        let lookup = Lookup {
            key: target.pod.key.clone(),
            uid: target.pod.uid.clone(),
            controller: controller_kind(&target.pod),
            selector: target.selector().filter(|_| terms.same_name.is_none()).map(str::to_owned),
            node: terms.node.clone(),
            id: task.reservation.as_ref().map(|reservation| reservation.id.clone()),
        };
        Self { session, task, target, keep_request: KeepRequest::default(), lookup }
    }

    pub(super) async fn carry_out(&mut self, request: Request, keep_method: KeepMethod) -> Answer {
        let (session, target) = (self.session, self.target);
        match request {
            Request::DryRunEvict => evict(session, target, self.task.removal, true).await,
            Request::Evict => evict(session, target, self.task.removal, false).await,
            Request::Reserve => self.reserve(keep_method).await,
            Request::Acknowledged { version } => self.acknowledged(version, keep_method).await,
            Request::Recheck => match recheck::recheck(self, keep_method).await {
                Ok(seen) => Answer::Rechecked(seen),
                Err(error) => no_answer(error, "read the node and its pods", "get nodes, list pods"),
            },
            Request::Look => look(session, &self.lookup).await,
            Request::Create => bare::create(session, target).await,
            Request::TakeBack => match recheck::needed(session, target, keep_method).await {
                Ok(true) => Answer::Needed,
                Ok(false) => self.release(keep_method).await,
                Err(error) => no_answer(error, "read the pod", "get pods"),
            },
            Request::Release => self.release(keep_method).await,
        }
    }

    async fn reserve(&mut self, keep_method: KeepMethod) -> Answer {
        let (session, task) = (self.session, self.task);
        if keep_method == KeepMethod::KeepAnnotation {
            // `keep_request` is changed before the write, so that it can be taken back even if the write has no answer.
            return keep_annotation::write(session, self.target, &mut self.keep_request, task.life).await;
        }
        let Some(wanted) = &task.reservation else { return nothing_to_reserve() };
        match keep::reserve(session, &task.terms.node, &task.node_uid(), wanted, DryRun::None).await {
            // A caller who may not write to nodes can write `reserve/keep` to the pod.
            Answer::Failed(StopReason::Forbidden { .. }) if task.terms.is_own_node => Answer::MayNotReserve,
            answer => answer,
        }
    }

    async fn release(&mut self, keep_method: KeepMethod) -> Answer {
        match (keep_method, &self.task.reservation) {
            (KeepMethod::KeepAnnotation, _) => {
                keep_annotation::remove(self.session, self.target, &mut self.keep_request).await
            }
            (KeepMethod::Reservation, Some(ours)) => {
                keep::release(self.session, &self.task.terms.node, ours).await
            }
            _ => Answer::Released,
        }
    }

    async fn acknowledged(&self, version: u64, keep_method: KeepMethod) -> Answer {
        if keep_method == KeepMethod::KeepAnnotation {
            return keep_annotation::read_answer(self.session, self.target, &self.keep_request).await;
        }
        match replicas::read(self.session).await {
            Ok(found) if found.is_hidden => Answer::Failed(StopReason::Forbidden {
                message: "you may not read who has seen the reservation".into(),
                needs: replicas::right(&self.session.daemon),
            }),
            Ok(found) => match acknowledgement(found.all.iter(), version, found.now) {
                Acknowledgement::ByAll => Answer::Seen { replicas: found.live().count() },
                Acknowledgement::NotBy(late) => {
                    Answer::NotSeen(late.iter().map(ToString::to_string).collect())
                }
                Acknowledgement::NoReplica => Answer::Nobody,
            },
            Err(error) => no_answer(error, "read the daemon's Leases", "list leases"),
        }
    }
}

fn nothing_to_reserve() -> Answer {
    Answer::Failed(StopReason::Failed("there is nothing to reserve".into()))
}

/// The answer for a request that failed: refused by the server, or without a response. `what` says what was tried; it may be empty.
pub(super) fn no_answer(error: ApiError, what: &str, needs: &str) -> Answer {
    match error {
        ApiError::Broken(why) => Answer::Lost(why),
        ApiError::Refused(refused) if refused.code == 403 => {
            Answer::Failed(StopReason::Forbidden { message: refused.message, needs: needs.into() })
        }
        ApiError::Refused(refused) if refused.code == 429 || refused.code >= 500 => {
            Answer::Lost(refused.to_string())
        }
        ApiError::Refused(refused) if what.is_empty() => Answer::Failed(StopReason::Failed(refused.message)),
        ApiError::Refused(refused) => {
            Answer::Failed(StopReason::Failed(format!("{what}: {}", refused.message)))
        }
    }
}
