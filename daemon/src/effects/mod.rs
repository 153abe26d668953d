//! Carries out effects: all writes to the cluster except those of Leases, and calls to extenders. Entry point: [`Effects::run`].
//!
//! Each call has a deadline. Bindings, evictions, nominations, writes for claims and of reservations return their outcome as an
//! input; an owner that was read returns as an event of the cluster. A condition that could not be written is only logged: the
//! next decision finds that the pod lacks it, and writes it again. An event that could not be written is lost.
//!
//! Must not know: why anything is written.

mod bind;
mod condition;
mod events;
mod evict;
mod find;
mod object_writes;
mod owner;
pub mod reserve;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use reserve::tests::StoredNode;

use crate::config::CALL_DEADLINE;
use crate::extender::ask::Extenders;
use crate::scheduler::ExtenderAnswer;
use crate::state::{BindingOutcome, Effect, Input, Nomination};
use common::cluster::Event;
use common::config::Extender;
use common::model::chain::chain;
use common::model::{NodeName, PodKey, Uid};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone)]
pub struct Effects {
    client: Client,
    /// For writes of reservations, so that bindings do not wait for them.
    reservations: Client,
    /// The `reportingInstance` of events.
    instance: String,
    /// Whether it was logged that the daemon may not write reservations.
    has_reported_refusal: Arc<AtomicBool>,
    extenders: Option<Arc<Extenders>>,
    /// The plural names of the kinds of owners that were read.
    plurals: owner::Plurals,
}

pub(crate) enum Outcome<T> {
    /// The server carried out the request.
    Done(T),
    Refused(Box<kube::core::Status>),
    /// There was no answer, or the answer does not say whether the server did it.
    Unknown(String),
}

impl Effects {
    pub fn new(client: Client, instance: String) -> Self {
        let (reservations, plurals) = (client.clone(), owner::Plurals::default());
        Self {
            client,
            reservations,
            instance,
            has_reported_refusal: Arc::default(),
            extenders: None,
            plurals,
        }
    }

    #[must_use]
    pub fn reservations(self, client: Client) -> Self {
        Self { reservations: client, ..self }
    }

    /// Adds the extenders of the configuration.
    pub fn extenders(self, configured: &[Extender]) -> anyhow::Result<Self> {
        if configured.is_empty() {
            return Ok(self);
        }
        let extenders = Extenders::new(configured, self.client.clone())?;
        Ok(Self { extenders: Some(Arc::new(extenders)), ..self })
    }

    /// Carries out one effect at `now`, and returns its outcome for the state, if the state needs one.
    pub async fn run(&self, effect: Effect, now: Timestamp) -> Option<Input> {
        match effect {
            Effect::Bind { pod, uid, node, seat } => {
                let outcome = match self.bind_by_extender(&pod, &uid, &node).await {
                    Some(outcome) => outcome,
                    None => bind::bind(self, &pod, &uid, &node, seat.as_ref()).await,
                };
                Some(binding_answer(pod, uid, outcome))
            }
            Effect::Find { pod, uid, node } => {
                let outcome = find::find(self, &pod, &uid, &node).await;
                Some(binding_answer(pod, uid, outcome))
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
            Effect::WriteObjects { pod, uid, id, writes } => {
                let outcome = object_writes::write(self, &writes).await;
                Some(Input::ObjectsWritten { pod, uid, id, outcome })
            }
            Effect::AskExtenders { pod, uid, nodes } => {
                let answer = match &self.extenders {
                    Some(extenders) => extenders.ask(&pod, &uid, nodes).await,
                    None => Ok(ExtenderAnswer { passed: nodes, ..ExtenderAnswer::default() }),
                };
                Some(Input::ExtenderAnswer { pod, uid, answer })
            }
            Effect::AskExtendersAboutVictims { pod, uid, candidates } => {
                let answer = match &self.extenders {
                    Some(extenders) => extenders.victims(&pod, &uid, &candidates).await,
                    None => Ok(candidates.into_iter().map(|one| (one.node, one.victims)).collect()),
                };
                Some(Input::ExtenderVictims { pod, uid, answer })
            }
            // `run` handles these two: a reply needs no call, and lists are read like those of the watches.
            Effect::Reply { .. } | Effect::List => None,
            Effect::WritePodEvent { pod, uid, scheduler_name, event, at } => {
                events::write(
                    self,
                    &events::EventSubject { pod: &pod, uid: &uid, scheduler_name: &scheduler_name, at },
                    &event,
                )
                .await;
                None
            }
        }
    }

    /// true the first time: log that the daemon may not write reservations. false: that was logged before.
    fn is_first_refusal(&self) -> bool {
        !self.has_reported_refusal.swap(true, Ordering::Relaxed)
    }

    /// Lets an extender bind the pod; `None` if no extender does. If it says no, the outcome is unknown: it may have bound the
    /// pod and failed later.
    async fn bind_by_extender(&self, pod: &PodKey, uid: &Uid, node: &NodeName) -> Option<BindingOutcome> {
        match self.extenders.as_ref()?.bind(pod, uid, node).await? {
            Ok(()) => Some(BindingOutcome::Bound),
            Err(why) => {
                tracing::warn!(%pod, %node, "bind by an extender: {why}");
                Some(BindingOutcome::Unknown)
            }
        }
    }

    fn pods(&self, pod: &PodKey) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &pod.namespace)
    }
}

/// Makes a call with a deadline, and classifies the answer.
pub(crate) async fn call<T>(call: impl Future<Output = kube::Result<T>>) -> Outcome<T> {
    match tokio::time::timeout(CALL_DEADLINE, call).await {
        Ok(Ok(done)) => Outcome::Done(done),
        // 408, 429 and 5xx come from a server that is overloaded or broken, but it may have carried out the request.
        Ok(Err(kube::Error::Api(status))) if is_certain(status.code) => Outcome::Refused(status),
        Ok(Err(error)) => Outcome::Unknown(chain(&error)),
        Err(_) => Outcome::Unknown(format!("no answer in {} s", CALL_DEADLINE.as_secs())),
    }
}

/// Reads the text at a path of the API server.
pub(crate) async fn read(client: &Client, path: &str) -> Result<String, String> {
    let request = http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
    call(client.request_text(request)).await.result()
}

impl<T> Outcome<T> {
    /// What was done, or why it was not or may not have been.
    pub(crate) fn result(self) -> Result<T, String> {
        match self {
            Self::Done(done) => Ok(done),
            Self::Refused(status) => Err(status.message),
            Self::Unknown(why) => Err(why),
        }
    }
}

/// Whether a write with a pod's UID was refused because that pod is gone, or another pod has its name now. Then a delete fails
/// with 409, and a patch with 422 about the field `metadata.uid`, as if the UID were to be changed.
fn is_object_gone(status: &kube::core::Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let is_about_uid = causes.into_iter().any(|cause| cause.field == "metadata.uid");
    matches!(status.code, 404 | 409) || (status.code == 422 && is_about_uid)
}

fn is_certain(code: u16) -> bool {
    (400..500).contains(&code) && !matches!(code, 408 | 429)
}

fn binding_answer(pod: PodKey, uid: Uid, outcome: BindingOutcome) -> Input {
    Input::Binding { pod, uid, outcome }
}
