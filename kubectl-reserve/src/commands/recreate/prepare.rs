//! Reads everything about a pod that is to be recreated, refuses what is not safe, and returns a `RecreationTask` with its plan.
//! Nothing is changed. Entry point: `prepare`.

use super::evict::Removal;
use super::target::{self, TargetPod};
use super::unenforced::{not_enforced, unknown};
use super::{amount, budgets, checks, competing_pods, rights};
use crate::cli::Recreate;
use crate::cli::recreate::{SameNode, WaitForFlag};
use crate::commands::Context;
use crate::error::{Exit, Failure};
use crate::flow::recreate::{KeepMethod, Terms, WaitFor};
use crate::render::recreate::{RecreatePlan, Shutdown, amounts};
use crate::replicas::{self, Replicas};
use crate::reservations::record::{self, UnwritableRecord};
use crate::rights::{Right, require};
use common::api::names::SCHEDULER_NAME;
use common::cluster::{self, Enforcement, replacement_reservation};
use common::model::keep::LIFE_MAX;
use common::model::owner::OwnerKind;
use common::model::reservation::Placement;
use common::model::{PodKey, Reservation};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;
use std::time::Duration;

/// A pod, the plan to show, and everything that is needed to recreate it.
pub(crate) struct RecreationTask {
    pub(crate) target: TargetPod,
    pub(crate) plan: RecreatePlan,
    pub(super) terms: Terms,
    pub(super) reservation: Option<Reservation>,
    pub(super) removal: Removal,
    pub(super) life: Duration,
    /// The UID of the node where room is kept, if it is not the pod's own node.
    pub(super) other_node_uid: Option<String>,
}

impl RecreationTask {
    /// The UID of the node where room is kept; empty if the node could not be read.
    pub(super) fn node_uid(&self) -> String {
        let own = || self.target.node.as_ref().map(|node| node.uid.to_string());
        self.other_node_uid.clone().or_else(own).unwrap_or_default()
    }
}

/// Reads everything about the pod, and refuses what is not safe.
pub(crate) async fn prepare(
    context: &Context,
    key: &PodKey,
    flags: &Recreate,
    reason: &str,
) -> Result<RecreationTask, Failure> {
    let session = &context.session;
    let target = target::read(session, key).await?;
    if let Some(failure) = checks::refusal(&target, flags, &context.ui) {
        return Err(failure);
    }
    may_remove(context, &target, flags).await?;
    let error = |error: crate::api::ApiError| error.into_failure("plan", "list pods and leases");
    let replicas = replicas::read(session).await.map_err(error)?;
    let budgets = budgets::read(session, &target.pod).await.map_err(error)?;
    let competing_pods = competing_pods::competing_pods(session, &target, &replicas).await.map_err(error)?;
    let keep_method = keep_method(context, &target, flags).await;
    let enforcement = enforcement(&target, &replicas, keep_method);
    if !replicas.is_hidden || enforcement != Enforcement::Nobody {
        check_enforcement(&target, flags, keep_method, enforcement, &replicas)?;
    } else if keep_method != KeepMethod::Nothing && !flags.unenforced {
        return Err(unknown(&target.name(), &target.pod.spec.scheduler_name, &session.daemon));
    }
    let reservation = match keep_method {
        KeepMethod::Nothing => None,
        _ => Some(reservation(context, &target, flags, reason).await?),
    };
    let removal = Removal { grace: target.grace(flags.grace_period), ignores_budgets: flags.ignore_pdb };
    let plan = RecreatePlan {
        pod: key.to_string(),
        owners: target.claims(),
        node: target.node_name().to_owned(),
        node_state: target.node_state(),
        to: None,
        keep_method,
        amount: reservation.as_ref().map(|one| amounts(&one.amount)).unwrap_or_default(),
        budgets,
        shutdown: Shutdown {
            grace: removal.grace,
            empty_dirs: target.pod.empty_dirs.clone(),
            finalizers: target.pod.finalizers.clone(),
            ignores_budgets: flags.ignore_pdb,
        },
        scheduler: target.pod.spec.scheduler_name.to_string(),
        enforcement: (!replicas.is_hidden).then_some(enforcement),
        competing_pods,
        notes: checks::notes(&target),
    };
    let terms = terms(&target, flags, keep_method, reservation.as_ref());
    let life = flags.ttl.min(LIFE_MAX);
    Ok(RecreationTask { target, plan, terms, reservation, removal, life, other_node_uid: None })
}

/// Fails if the caller may not evict the pod, or not create it again if it has no controller.
async fn may_remove(context: &Context, target: &TargetPod, flags: &Recreate) -> Result<(), Failure> {
    let namespace = Some(&*target.pod.key.namespace);
    let mut needs = vec![match flags.ignore_pdb {
        true => Right::new("delete", "", "pods", namespace),
        false => Right::new("create", "", "pods/eviction", namespace),
    }];
    if target.is_bare() {
        needs.push(Right::new("create", "", "pods", namespace));
    }
    require(&context.session, &needs, &format!("recreate {}", target.name())).await
}

/// How this caller can keep the room.
async fn keep_method(context: &Context, target: &TargetPod, flags: &Recreate) -> KeepMethod {
    if flags.no_reserve || flags.same_node == SameNode::Off {
        return KeepMethod::Nothing;
    }
    let may =
        target.node.is_some() && rights::may_on_node(&context.session, "patch", "", target.node_name()).await;
    if may { KeepMethod::Reservation } else { KeepMethod::KeepAnnotation }
}

fn enforcement(target: &TargetPod, replicas: &Replicas, keep_method: KeepMethod) -> Enforcement {
    let name = &target.pod.spec.scheduler_name;
    // Without the right to read Leases: with `reserve/keep` the daemon answers by an event, and this scheduler name is its own.
    if replicas.is_hidden && keep_method == KeepMethod::KeepAnnotation && **name == *SCHEDULER_NAME {
        return Enforcement::Scheduler;
    }
    replicas.enforcement(name)
}

/// Fails if the pod's scheduler does not enforce reservations, or the pod's owner cannot be read; not with `--unenforced`.
fn check_enforcement(
    target: &TargetPod,
    flags: &Recreate,
    keep_method: KeepMethod,
    enforcement: Enforcement,
    replicas: &Replicas,
) -> Result<(), Failure> {
    if keep_method == KeepMethod::Nothing || flags.unenforced {
        return Ok(());
    }
    if enforcement == Enforcement::Nobody {
        let (name, scheduler, owner) =
            (target.name(), &target.pod.spec.scheduler_name, target.owner.as_ref());
        return Err(not_enforced(&name, scheduler, owner, replicas.all.iter(), replicas.now));
    }
    if target.owner.is_none() {
        return Err(owner_unreadable(target));
    }
    Ok(())
}

/// The error if the owner cannot be read: without it no reservation can be made, because a reservation names its owner.
fn owner_unreadable(target: &TargetPod) -> Failure {
    let (name, claims) = (target.name(), target.claims().join(" < "));
    let why = match target.owners.unreadable.first() {
        None => "this command cannot read that".to_owned(),
        Some(kind) => format!("you may not get {}", kind.plural()),
    };
    Failure::new(format!(
        "{name} belongs to {claims}, and {why}, so no room can be reserved for the next pod"
    ))
    .hint("--no-reserve evicts it without a reservation: others can take its room meanwhile")
    .exit(Exit::Unsafe)
}

async fn reservation(
    context: &Context,
    target: &TargetPod,
    flags: &Recreate,
    reason: &str,
) -> Result<Reservation, Failure> {
    let owner = target.owner.clone();
    let owner = owner.ok_or_else(|| owner_unreadable(target))?;
    let grace = SignedDuration::from_secs(target.grace(flags.grace_period));
    let empty =
        target.pod.deletion_timestamp().or_else(|| target.now.checked_add(grace).ok()).unwrap_or(target.now);
    let terms = cluster::ReservationTerms {
        now: target.now,
        expires: empty.max(target.now).checked_add(flags.ttl).unwrap_or(Timestamp::MAX),
        life: Some(flags.ttl),
        request: request_id().into(),
        by: rights::user(&context.session).await.into(),
        reason: reason.into(),
        placement: match flags.same_node {
            SameNode::Require => Placement::Require,
            SameNode::Prefer => Placement::Prefer,
            SameNode::Wait | SameNode::Off => Placement::Wait,
        },
    };
    let reservation = replacement_reservation(&target.pod, owner, terms);
    let mut reservation =
        reservation.ok_or_else(|| Failure::new(format!("{} has an odd UID", target.name())))?;
    amount::choose(&mut reservation.amount, &flags.resources)?;
    record::check(&reservation).map_err(|unwritable| record_unwritable(target, &unwritable))?;
    Ok(reservation)
}

/// The error if the record of the reservation is too long: neither this command nor the daemon could write it.
fn record_unwritable(target: &TargetPod, UnwritableRecord { problem, advice }: &UnwritableRecord) -> Failure {
    Failure::new(format!("the room of {} cannot be reserved: {problem}", target.name()))
        .hint(format!(
            "{advice}; without a reservation it is evicted by: kubectl reserve pod {} -n {} --no-reserve",
            target.pod.key.name, target.pod.key.namespace
        ))
        .exit(Exit::Unsafe)
}

/// A random id for the record: two runs never have the same.
fn request_id() -> String {
    format!("cli-{:016x}{:08x}", fastrand::u64(..), fastrand::u32(..))
}

fn terms(
    target: &TargetPod,
    flags: &Recreate,
    keep_method: KeepMethod,
    reservation: Option<&Reservation>,
) -> Terms {
    let wait_for = match flags.until {
        _ if !flags.wait => WaitFor::Evicted,
        WaitForFlag::Ready => WaitFor::Ready,
        WaitForFlag::Bound => WaitFor::Bound,
        WaitForFlag::Deleted => WaitFor::Deleted,
    };
    let has_name = target.is_bare() || target.is_of(OwnerKind::StatefulSet);
    Terms {
        uid: target.pod.uid.to_string(),
        same_name: has_name.then(|| target.pod.key.name.to_string()),
        node: target.node_name().to_owned(),
        is_own_node: true,
        keep_method,
        seat: reservation.map(|reservation| reservation.id.to_string()),
        is_leaving: target.pod.deleting,
        is_gone: false,
        known: BTreeSet::from([target.pod.uid.to_string()]),
        is_enforced: !flags.unenforced,
        creates: target.is_bare(),
        wait_for,
        is_required: flags.same_node == SameNode::Require,
        timeout: flags.timeout,
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::TargetPod;
    use super::owner_unreadable;
    use crate::error::Exit;
    use crate::reader::{OwnerChains, PodView};
    use common::model::owner::OwnerKind;
    use jiff::Timestamp;
    use serde_json::json;

    /// A pod whose owner has this kind and could not be read.
    fn pod_of(kind: &str, unreadable: Vec<OwnerKind>) -> TargetPod {
        let owner = json!({ "apiVersion": "apps.kruise.io/v1alpha1", "kind": kind, "name": "web", "uid": "u",
                            "controller": true });
        let json = json!({ "metadata": { "name": "web-1", "namespace": "shop", "uid": "p", "resourceVersion": "1",
                                         "ownerReferences": [owner] },
                           "spec": { "nodeName": "node-1", "containers": [] } });
        let pod = PodView::read(&json.to_string()).unwrap();
        let mut owners = OwnerChains::default();
        owners.unreadable.extend(unreadable);
        TargetPod::new(pod, json.to_string(), owners, None, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_pod_with_an_owner_that_cannot_be_read_is_refused_in_plain_words() {
        let target = pod_of("CloneSet", vec![]);
        assert_eq!(target.owner, None, "so nothing is reserved, and nothing deleted");
        let failure = owner_unreadable(&target);
        assert_eq!(failure.exit, Exit::Unsafe);
        assert_eq!(
            failure.message.unwrap(),
            "pod/web-1 belongs to CloneSet web, and this command cannot read that, so no room can be reserved for the next pod"
        );
        let failure = owner_unreadable(&pod_of("Job", vec![OwnerKind::Job]));
        assert!(failure.message.unwrap().contains("belongs to Job web, and you may not get jobs, so"));
    }
}
