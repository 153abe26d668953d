//! Carries the requests of a recreation out, one at a time.

use super::evict::{Removal, evict};
use super::target::Target;
use super::wish::{self, Wish};
use super::{bare, keep, look, recheck};
use crate::api::ApiError;
use crate::connect::Session;
use crate::flow::recreate::{Answer, Keeping, Request, Terms, Why};
use crate::node_patch::DryRun;
use crate::replicas;
use common::cluster::{Acknowledged, acknowledged};
use common::model::{Reservation, ReservationId};
use std::time::Duration;

/// A request without an answer for so long has none.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// What is needed to recreate one pod.
pub(super) struct Executor<'a> {
    pub(super) session: &'a Session,
    pub(super) target: &'a Target,
    pub(super) terms: Terms,
    /// The node whose room is kept.
    pub(super) node: String,
    /// Its UID, if it could be read.
    pub(super) node_uid: String,
    /// What is reserved.
    pub(super) reservation: Option<Reservation>,
    pub(super) id: Option<ReservationId>,
    pub(super) removal: Removal,
    /// For how long the room is kept.
    pub(super) life: Duration,
    /// Whether the pod wishes by our hand that its room be kept.
    pub(super) wish: Wish,
    /// How the room is kept: a caller who may not write to nodes lets the pod wish it.
    pub(super) keeping: Keeping,
}

impl Executor<'_> {
    /// Does what is asked, and says what came of it.
    pub(super) async fn carry_out(&mut self, request: Request) -> Answer {
        // However long somebody wants to wait for one answer, this is long enough.
        match tokio::time::timeout(ANSWER_MAX, self.try_out(request)).await {
            Ok(answer) => answer,
            Err(_) => Answer::Lost(format!("no answer in {} s", ANSWER_MAX.as_secs())),
        }
    }

    async fn try_out(&mut self, request: Request) -> Answer {
        let (session, target) = (self.session, self.target);
        match request {
            Request::Rehearse => evict(session, target, self.removal, true).await,
            Request::Evict => evict(session, target, self.removal, false).await,
            Request::Reserve => self.reserve().await,
            Request::Acknowledged { version } => self.acknowledged(version).await,
            Request::Recheck => match recheck::recheck(self, self.keeping).await {
                Ok(seen) => Answer::Rechecked(seen),
                Err(error) => no_answer(error, "read the node and its pods", "get nodes, list pods"),
            },
            Request::Look => match look::sight(self).await {
                Ok(sight) => Answer::Sight(Box::new(sight)),
                Err(error) => no_answer(error, "read the pods", "get and list pods"),
            },
            Request::Create => bare::create(session, target).await,
            Request::TakeBack => match recheck::needed(session, target, self.keeping).await {
                Ok(true) => Answer::Needed,
                Ok(false) => self.release().await,
                Err(error) => no_answer(error, "read the pod", "get pods"),
            },
            Request::Release => self.release().await,
        }
    }

    async fn reserve(&mut self) -> Answer {
        if self.keeping == Keeping::Wish {
            // It may be there although no answer comes, and is ours to take back then.
            return wish::make(self.session, self.target, &mut self.wish, self.life).await;
        }
        let Some(wanted) = &self.reservation else { return nothing_to_reserve() };
        let answer = keep::reserve(self.session, &self.node, &self.node_uid, wanted, DryRun::None).await;
        match answer {
            // Who may not write to nodes can let the pod wish it.
            Answer::Failed(Why::Forbidden { .. }) if self.terms.is_home => {
                self.keeping = Keeping::Wish;
                Answer::MayNotReserve
            }
            answer => answer,
        }
    }

    async fn release(&mut self) -> Answer {
        match (self.keeping, &self.id, &self.reservation) {
            (Keeping::Wish, ..) => wish::unmake(self.session, self.target, &mut self.wish).await,
            (Keeping::Reservation, Some(id), Some(reservation)) => {
                let request = reservation.record().map(|record| record.request.clone()).unwrap_or_default();
                keep::release(self.session, &self.node, id, &request).await
            }
            _ => Answer::Released,
        }
    }

    async fn acknowledged(&self, version: u64) -> Answer {
        if self.keeping == Keeping::Wish {
            return wish::heard(self.session, self.target, &self.wish).await;
        }
        match replicas::read(self.session).await {
            Ok(found) if found.is_hidden => Answer::Failed(Why::Forbidden {
                message: "you may not read who has seen the reservation".into(),
                needs: replicas::right(&self.session.daemon),
            }),
            Ok(found) => match acknowledged(found.all.iter(), version, found.now) {
                Acknowledged::ByAll => Answer::Seen { replicas: found.live().count() },
                Acknowledged::NotBy(late) => Answer::NotSeen(late.iter().map(ToString::to_string).collect()),
                Acknowledged::Nobody => Answer::Nobody,
            },
            Err(error) => no_answer(error, "read the daemon's Leases", "list leases"),
        }
    }

    /// The name that the replacement has, if it is known.
    pub(super) fn terms_same_name(&self) -> Option<&str> {
        self.terms.same_name.as_deref()
    }
}

fn nothing_to_reserve() -> Answer {
    Answer::Failed(Why::Failed("there is nothing to reserve".into()))
}

/// A request that failed: the server said no, or said nothing.
fn no_answer(error: ApiError, what: &str, needs: &str) -> Answer {
    match error {
        ApiError::Broken(why) => Answer::Lost(why),
        ApiError::Refused(refused) if refused.code == 403 => {
            Answer::Failed(Why::Forbidden { message: refused.message, needs: needs.into() })
        }
        ApiError::Refused(refused) if refused.code == 429 || refused.code >= 500 => {
            Answer::Lost(refused.message)
        }
        ApiError::Refused(refused) => Answer::Failed(Why::Failed(format!("{what}: {}", refused.message))),
    }
}
