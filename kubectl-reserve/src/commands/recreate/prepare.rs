//! From a pod's name to a plan and everything that is needed to carry it out.

use super::evict::Removal;
use super::target::{self, Target};
use super::{amount, budgets, checks, rights, rivals};
use crate::cli::Recreate;
use crate::cli::recreate::{For, SameNode};
use crate::commands::Context;
use crate::error::{Exit, Failure};
use crate::flow::recreate::{Keeping, Terms, Until};
use crate::render::recreate::{Plan, Shutdown, amounts};
use crate::replicas::{self, Replicas};
use crate::rights::{Right, require};
use common::api::names::SCHEDULER_NAME;
use common::cluster::{self, Rung, replacing};
use common::model::keep::LIFE_MAX;
use common::model::owner::OwnerKind;
use common::model::reservation::Placement;
use common::model::{PodKey, Reservation};
use jiff::SignedDuration;
use std::collections::BTreeSet;
use std::time::Duration;

/// A pod that is ready to be recreated.
pub(crate) struct Prepared {
    pub(crate) target: Target,
    pub(crate) plan: Plan,
    pub(super) terms: Terms,
    pub(super) reservation: Option<Reservation>,
    pub(super) removal: Removal,
    pub(super) life: Duration,
    /// The UID of the node whose room is kept, if it is another one than the pod's own.
    pub(super) place_uid: Option<String>,
}

/// Reads what there is to know about the pod, and refuses what is not safe.
pub(crate) async fn prepare(
    context: &Context,
    key: &PodKey,
    flags: &Recreate,
    reason: &str,
) -> Result<Prepared, Failure> {
    let session = &context.session;
    let target = target::read(session, key).await?;
    if let Some(failure) = checks::refusal(&target, flags, &context.ui) {
        return Err(failure);
    }
    may_remove(context, &target, flags).await?;
    let error = |error: crate::api::ApiError| error.into_failure("plan", "list pods and leases");
    let replicas = replicas::read_if_allowed(session).await.map_err(error)?;
    let budgets = budgets::read(session, &target.pod).await.map_err(error)?;
    let rivals = rivals::rivals(session, &target, &replicas).await.map_err(error)?;
    let keeping = keeping(context, &target, flags).await;
    let rung = rung(&target, &replicas, keeping);
    enforced(&target, flags, keeping, rung)?;
    let reservation = match keeping {
        Keeping::Nothing => None,
        _ => Some(reservation(context, &target, flags, reason).await?),
    };
    let removal = Removal { grace: target.grace(flags.grace_period), ignores_budgets: flags.ignore_pdb };
    let plan = Plan {
        pod: key.to_string(),
        owners: target.claims(),
        node: target.node_name().to_owned(),
        node_state: target.node.as_ref().map(node_state),
        to: None,
        keeping,
        amount: reservation.as_ref().map(|one| amounts(&one.amount)).unwrap_or_default(),
        budgets,
        shutdown: Shutdown {
            grace: removal.grace,
            empty_dirs: target.empty_dirs(),
            finalizers: target.finalizers(),
            ignores_budgets: flags.ignore_pdb,
        },
        scheduler: target.pod.spec.scheduler_name.to_string(),
        rung: (!replicas.is_hidden).then_some(rung),
        rivals,
        notes: checks::notes(&target),
    };
    let terms = terms(&target, flags, keeping, reservation.as_ref());
    let life = flags.ttl.min(LIFE_MAX);
    Ok(Prepared { target, plan, terms, reservation, removal, life, place_uid: None })
}

/// Whether the caller may do what it comes to in the end.
async fn may_remove(context: &Context, target: &Target, flags: &Recreate) -> Result<(), Failure> {
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

/// How the room can be kept by this caller.
async fn keeping(context: &Context, target: &Target, flags: &Recreate) -> Keeping {
    if flags.no_reserve || flags.same_node == SameNode::Off {
        return Keeping::Nothing;
    }
    let may =
        target.node.is_some() && rights::may_on_node(&context.session, "patch", "", target.node_name()).await;
    if may { Keeping::Reservation } else { Keeping::Wish }
}

fn rung(target: &Target, replicas: &Replicas, keeping: Keeping) -> Rung {
    let name = &target.pod.spec.scheduler_name;
    // Who may not read Leases hears from the daemon itself, and this name is its own.
    if replicas.is_hidden && keeping == Keeping::Wish && **name == *SCHEDULER_NAME {
        return Rung::Scheduler;
    }
    replicas.rung(name)
}

/// Whether anything keeps others, and the replacement itself, to the reservation.
fn enforced(target: &Target, flags: &Recreate, keeping: Keeping, rung: Rung) -> Result<(), Failure> {
    if keeping == Keeping::Nothing || flags.unenforced {
        return Ok(());
    }
    if rung == Rung::Nobody {
        let scheduler = &target.pod.spec.scheduler_name;
        return Err(Failure::new(format!(
            "{} is placed by {scheduler}, which does not obey reservations, so its room could be lost",
            target.name()
        ))
        .hint(
            "kubectl reserve status tells who obeys; kubectl reserve install adds the daemon; --unenforced \
             goes on without",
        )
        .exit(Exit::Unsafe));
    }
    if target.owner.is_none() {
        return Err(Failure::new(format!(
            "the owner of {} ({}) cannot be read, so nobody could use a reservation",
            target.name(),
            target.claims().join(" < ")
        ))
        .hint("--no-reserve evicts it without one")
        .exit(Exit::Unsafe));
    }
    Ok(())
}

async fn reservation(
    context: &Context,
    target: &Target,
    flags: &Recreate,
    reason: &str,
) -> Result<Reservation, Failure> {
    let owner = target.owner.clone();
    let owner = owner.ok_or_else(|| Failure::new("the pod's owner cannot be read").exit(Exit::Unsafe))?;
    let grace = SignedDuration::from_secs(target.grace(flags.grace_period));
    let empty = target.now.checked_add(grace).unwrap_or(target.now);
    let terms = cluster::Terms {
        now: target.now,
        empty: target.pod.gone_by().unwrap_or(empty),
        life: flags.ttl,
        request: request_id().into(),
        by: rights::user(&context.session).await.into(),
        reason: reason.into(),
        placement: match flags.same_node {
            SameNode::Require => Placement::Require,
            SameNode::Prefer => Placement::Prefer,
            SameNode::Wait | SameNode::Off => Placement::Wait,
        },
    };
    let made = replacing(&target.pod, owner, terms);
    let mut made = made.ok_or_else(|| Failure::new(format!("{} has an odd UID", target.name())))?;
    amount::choose(&mut made.amount, &flags.resources)?;
    Ok(made)
}

/// An id that nobody else has.
fn request_id() -> String {
    format!("cli-{:016x}{:08x}", fastrand::u64(..), fastrand::u32(..))
}

fn terms(target: &Target, flags: &Recreate, keeping: Keeping, reservation: Option<&Reservation>) -> Terms {
    let until = match flags.until {
        _ if !flags.wait => Until::Evicted,
        For::Ready => Until::Ready,
        For::Bound => Until::Bound,
        For::Deleted => Until::Deleted,
    };
    let has_name = target.is_bare() || target.is_of(OwnerKind::StatefulSet);
    Terms {
        uid: target.pod.uid.to_string(),
        same_name: has_name.then(|| target.pod.key.name.to_string()),
        node: target.node_name().to_owned(),
        is_home: true,
        keeping,
        seat: reservation.map(|reservation| reservation.id.to_string()),
        is_leaving: target.pod.deleting,
        is_gone: false,
        known: BTreeSet::from([target.pod.uid.to_string()]),
        is_enforced: !flags.unenforced,
        creates: target.is_bare(),
        until,
        is_required: flags.same_node == SameNode::Require,
        timeout: flags.timeout,
    }
}

fn node_state(node: &common::model::Node) -> String {
    let ready = if node.is_ready { "Ready" } else { "NotReady" };
    if node.unschedulable { format!("{ready}, cordoned") } else { ready.to_owned() }
}
