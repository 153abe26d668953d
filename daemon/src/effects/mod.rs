//! The only hand that writes to the cluster.
//!
//! Each call has a deadline. What is read about an owner comes back as news of the cluster. A binding, an eviction and what is written about volumes always come back as an answer, and
//! so does a nomination. A condition that could not be written is logged and let go: the next decision finds that the pod
//! does not say it yet, and writes it again. An event that could not be written is lost.
//!
//! Knows nothing of: why anything is written.

mod bind;
mod condition;
mod events;
mod evict;
mod find;
mod owner;
pub mod reserve;
#[cfg(test)]
mod tests;
mod volumes;

#[cfg(test)]
pub(crate) use reserve::tests::Server;

use crate::config::CALL_DEADLINE;
use crate::extender::ask::Extenders;
use crate::scheduler::Opinions;
use crate::state::{Binding, Effect, Input, Nomination};
use common::cluster::Event;
use common::config::Extender;
use common::model::chain::chain;
use common::model::{NodeName, PodKey, Uid};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Carries effects out.
#[derive(Clone)]
pub struct Effects {
    client: Client,
    /// For writes of reservations: however many there are, bindings do not wait for them.
    reservations: Client,
    /// Which process this is, for events.
    instance: String,
    /// Whether it was said that we may not write reservations.
    told: Arc<AtomicBool>,
    extenders: Option<Arc<Extenders>>,
    /// What the API server calls the kinds of owners that were read.
    plurals: owner::Plurals,
}

/// What came of a call.
pub(crate) enum Outcome<T> {
    /// The server did it.
    Done(T),
    /// The server refused, for certain.
    Refused(Box<kube::core::Status>),
    /// No answer, or one that does not tell.
    Unknown(String),
}

impl Effects {
    /// A hand that writes through `client`.
    pub fn new(client: Client, instance: String) -> Self {
        let (reservations, plurals) = (client.clone(), owner::Plurals::default());
        Self { client, reservations, instance, told: Arc::default(), extenders: None, plurals }
    }

    /// The same, with a client of its own for writes of reservations.
    #[must_use]
    pub fn reservations(self, client: Client) -> Self {
        Self { reservations: client, ..self }
    }

    /// The same, with extenders that have a say.
    ///
    /// # Errors
    /// When one of them cannot be asked as its configuration says.
    pub fn extenders(self, configured: &[Extender]) -> anyhow::Result<Self> {
        if configured.is_empty() {
            return Ok(self);
        }
        let extenders = Extenders::new(configured, self.client.clone())?;
        Ok(Self { extenders: Some(Arc::new(extenders)), ..self })
    }

    /// Carries one effect out at `now`, and returns what the state is to know about it.
    pub async fn run(&self, effect: Effect, now: Timestamp) -> Option<Input> {
        match effect {
            Effect::Bind { pod, uid, node, seat } => {
                let outcome = match self.bound_by_extender(&pod, &uid, &node).await {
                    Some(outcome) => outcome,
                    None => bind::bind(self, &pod, &uid, &node, seat.as_ref()).await,
                };
                Some(answer(pod, uid, outcome))
            }
            Effect::Find { pod, uid, node } => {
                let outcome = find::find(self, &pod, &uid, &node).await;
                Some(answer(pod, uid, outcome))
            }
            Effect::Annotate(annotation) => {
                let outcome = reserve::annotate(self, &annotation, now).await;
                Some(Input::Annotated { annotation, outcome })
            }
            Effect::ReadOwner(claim) => {
                let answer = owner::read(self, &claim).await;
                Some(Input::Cluster(Box::new(Event::OwnerRead(claim, answer))))
            }
            Effect::WriteEvent(report) => {
                events::report(self, &report).await;
                None
            }
            Effect::Condition { pod, uid, generation, reason, message, since, nomination } => {
                let condition = condition::Condition { generation, reason, message: &message, since };
                let version = condition::write(self, &pod, &uid, Some(&condition), &nomination).await;
                (nomination != Nomination::Keep).then_some(Input::Nominated { uid, version })
            }
            Effect::Nominate { pod, uid, node } => {
                let version = condition::write(self, &pod, &uid, None, &Nomination::Change(node)).await;
                Some(Input::Nominated { uid, version })
            }
            Effect::Evict(eviction) => {
                let outcome = evict::evict(self, &eviction).await;
                Some(Input::Evicted { eviction, outcome })
            }
            Effect::BindVolumes { pod, uid, id, writes } => {
                let outcome = volumes::write(self, &writes).await;
                Some(Input::Volumes { pod, uid, id, outcome })
            }
            Effect::Ask { pod, uid, nodes } => {
                let answer = match &self.extenders {
                    Some(extenders) => extenders.ask(&pod, &uid, nodes).await,
                    None => Ok(Opinions { passed: nodes, ..Opinions::default() }),
                };
                Some(Input::Answered { pod, uid, answer })
            }
            Effect::AskVictims { pod, uid, candidates } => {
                let answer = match &self.extenders {
                    Some(extenders) => extenders.victims(&pod, &uid, &candidates).await,
                    None => Ok(candidates.into_iter().map(|one| (one.node, one.victims)).collect()),
                };
                Some(Input::Chosen { pod, uid, answer })
            }
            // Whoever asked is told at once, without waiting for calls; lists are read as the watches read theirs.
            Effect::Reply { .. } | Effect::List => None,
            Effect::WritePodEvent { pod, uid, scheduler_name, event, at } => {
                events::write(
                    self,
                    &events::About { pod: &pod, uid: &uid, scheduler_name: &scheduler_name, at },
                    &event,
                )
                .await;
                None
            }
        }
    }

    /// Whether nobody was told yet that we may not write reservations.
    fn is_first_refusal(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }

    /// What came of it that an extender binds the pod; `None` if none does. One that says no may have bound it all the
    /// same, and only answered too late.
    async fn bound_by_extender(&self, pod: &PodKey, uid: &Uid, node: &NodeName) -> Option<Binding> {
        match self.extenders.as_ref()?.bind(pod, uid, node).await? {
            Ok(()) => Some(Binding::Bound),
            Err(why) => {
                tracing::warn!(%pod, %node, "bind by an extender: {why}");
                Some(Binding::Unknown)
            }
        }
    }

    fn pods(&self, pod: &PodKey) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &pod.namespace)
    }
}

/// Makes a call with a deadline, and sorts its answer.
pub(crate) async fn call<T>(call: impl Future<Output = kube::Result<T>>) -> Outcome<T> {
    match tokio::time::timeout(CALL_DEADLINE, call).await {
        Ok(Ok(done)) => Outcome::Done(done),
        // 408, 429 and 5xx come from a server that is overloaded or broken; it may have begun nevertheless.
        Ok(Err(kube::Error::Api(status))) if is_certain(status.code) => Outcome::Refused(status),
        Ok(Err(error)) => Outcome::Unknown(chain(&error)),
        Err(_) => Outcome::Unknown(format!("no answer in {} s", CALL_DEADLINE.as_secs())),
    }
}

/// Whether a write that names a pod's UID was refused because that pod is gone, or another one has its name by now. A
/// delete says so with 409, a patch with 422 about that field: as if the UID were to be changed.
fn is_of_another(status: &kube::core::Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let is_about_uid = causes.into_iter().any(|cause| cause.field == "metadata.uid");
    matches!(status.code, 404 | 409) || (status.code == 422 && is_about_uid)
}

fn is_certain(code: u16) -> bool {
    (400..500).contains(&code) && !matches!(code, 408 | 429)
}

fn answer(pod: PodKey, uid: Uid, outcome: Binding) -> Input {
    Input::Binding { pod, uid, outcome }
}
