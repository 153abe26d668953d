//! Carries out the requests of `flow::recreate`, one at a time. Entry point: `Executor::carry_out`.

use super::evict::{Removal, evict};
use super::keep_annotation::{self, KeepRequest};
use super::target::TargetPod;
use super::{bare, keep, look, recheck};
use crate::api::ApiError;
use crate::connect::Session;
use crate::flow::recreate::{Answer, KeepMethod, Request, StopReason, Terms};
use crate::node_patch::DryRun;
use crate::replicas;
use common::cluster::{Acknowledgement, acknowledgement};
use common::model::{Reservation, ReservationId};
use std::time::Duration;

/// After this time a request counts as lost.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Everything that is needed to carry out the requests for one pod.
pub(super) struct Executor<'a> {
    pub(super) session: &'a Session,
    pub(super) target: &'a TargetPod,
    pub(super) terms: Terms,
    /// The node where room is kept.
    pub(super) node: String,
    /// Its UID, if it could be read.
    pub(super) node_uid: String,
    /// The reservation to write.
    pub(super) reservation: Option<Reservation>,
    pub(super) id: Option<ReservationId>,
    pub(super) removal: Removal,
    /// For how long the room is kept.
    pub(super) life: Duration,
    /// The annotation `reserve/keep` of this run, if it was written.
    pub(super) keep_request: KeepRequest,
    /// How the room is kept. It changes to `KeepAnnotation` if the caller may not write to the node.
    pub(super) keep_method: KeepMethod,
}

impl Executor<'_> {
    /// Carries out one request.
    pub(super) async fn carry_out(&mut self, request: Request) -> Answer {
        // This limit holds even if `--request-timeout` is longer or unset.
        match tokio::time::timeout(ANSWER_MAX, self.try_out(request)).await {
            Ok(answer) => answer,
            Err(_) => Answer::Lost(format!("no answer in {} s", ANSWER_MAX.as_secs())),
        }
    }

    async fn try_out(&mut self, request: Request) -> Answer {
        let (session, target) = (self.session, self.target);
        match request {
            Request::DryRunEvict => evict(session, target, self.removal, true).await,
            Request::Evict => evict(session, target, self.removal, false).await,
            Request::Reserve => self.reserve().await,
            Request::Acknowledged { version } => self.acknowledged(version).await,
            Request::Recheck => match recheck::recheck(self, self.keep_method).await {
                Ok(seen) => Answer::Rechecked(seen),
                Err(error) => no_answer(error, "read the node and its pods", "get nodes, list pods"),
            },
            Request::Look => match look::observe(self).await {
                Ok(observation) => Answer::Observation(Box::new(observation)),
                Err(error) => no_answer(error, "read the pods", "get and list pods"),
            },
            Request::Create => bare::create(session, target).await,
            Request::TakeBack => match recheck::needed(session, target, self.keep_method).await {
                Ok(true) => Answer::Needed,
                Ok(false) => self.release().await,
                Err(error) => no_answer(error, "read the pod", "get pods"),
            },
            Request::Release => self.release().await,
        }
    }

    async fn reserve(&mut self) -> Answer {
        if self.keep_method == KeepMethod::KeepAnnotation {
            // `keep_request` is changed before the write, so that it can be taken back even if the write has no answer.
            return keep_annotation::write(self.session, self.target, &mut self.keep_request, self.life)
                .await;
        }
        let Some(wanted) = &self.reservation else { return nothing_to_reserve() };
        let answer = keep::reserve(self.session, &self.node, &self.node_uid, wanted, DryRun::None).await;
        match answer {
            // A caller who may not write to nodes can write `reserve/keep` to the pod.
            Answer::Failed(StopReason::Forbidden { .. }) if self.terms.is_own_node => {
                self.keep_method = KeepMethod::KeepAnnotation;
                Answer::MayNotReserve
            }
            answer => answer,
        }
    }

    async fn release(&mut self) -> Answer {
        match (self.keep_method, &self.id, &self.reservation) {
            (KeepMethod::KeepAnnotation, ..) => {
                keep_annotation::remove(self.session, self.target, &mut self.keep_request).await
            }
            (KeepMethod::Reservation, Some(id), Some(reservation)) => {
                let request = reservation.record().map(|record| record.request.clone()).unwrap_or_default();
                keep::release(self.session, &self.node, id, &request).await
            }
            _ => Answer::Released,
        }
    }

    async fn acknowledged(&self, version: u64) -> Answer {
        if self.keep_method == KeepMethod::KeepAnnotation {
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

    /// The name of the replacement, if it is known.
    pub(super) fn terms_same_name(&self) -> Option<&str> {
        self.terms.same_name.as_deref()
    }
}

fn nothing_to_reserve() -> Answer {
    Answer::Failed(StopReason::Failed("there is nothing to reserve".into()))
}

/// The answer for a failed read: refused by the server, or without a response.
fn no_answer(error: ApiError, what: &str, needs: &str) -> Answer {
    match error {
        ApiError::Broken(why) => Answer::Lost(why),
        ApiError::Refused(refused) if refused.code == 403 => {
            Answer::Failed(StopReason::Forbidden { message: refused.message, needs: needs.into() })
        }
        ApiError::Refused(refused) if refused.code == 429 || refused.code >= 500 => {
            Answer::Lost(refused.message)
        }
        ApiError::Refused(refused) => {
            Answer::Failed(StopReason::Failed(format!("{what}: {}", refused.message)))
        }
    }
}
