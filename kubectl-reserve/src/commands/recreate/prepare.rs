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
use crate::reservations::record::{self, Unwritable};
use crate::rights::{Right, require};
use common::api::names::SCHEDULER_NAME;
use common::api::replica::DaemonNamespaces;
use common::cluster::{self, Enforcement, replacing};
use common::model::keep::LIFE_MAX;
use common::model::owner::OwnerKind;
use common::model::reservation::Placement;
use common::model::{PodKey, Reservation};
use jiff::{SignedDuration, Timestamp};
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
    let replicas = replicas::read(session).await.map_err(error)?;
    let budgets = budgets::read(session, &target.pod).await.map_err(error)?;
    let rivals = rivals::rivals(session, &target, &replicas).await.map_err(error)?;
    let keeping = keeping(context, &target, flags).await;
    let enforcement = enforcement(&target, &replicas, keeping);
    if !replicas.is_hidden || enforcement != Enforcement::Nobody {
        enforced(&target, flags, keeping, enforcement)?;
    } else if keeping != Keeping::Nothing && !flags.unenforced {
        return Err(hidden(&target, &context.session.daemon));
    }
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
        enforcement: (!replicas.is_hidden).then_some(enforcement),
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

fn enforcement(target: &Target, replicas: &Replicas, keeping: Keeping) -> Enforcement {
    let name = &target.pod.spec.scheduler_name;
    // Who may not read Leases hears from the daemon itself, and this name is its own.
    if replicas.is_hidden && keeping == Keeping::Wish && **name == *SCHEDULER_NAME {
        return Enforcement::Scheduler;
    }
    replicas.enforcement(name)
}

/// Whether anything keeps others, and the replacement itself, to the reservation.
fn enforced(
    target: &Target,
    flags: &Recreate,
    keeping: Keeping,
    enforcement: Enforcement,
) -> Result<(), Failure> {
    if keeping == Keeping::Nothing || flags.unenforced {
        return Ok(());
    }
    if enforcement == Enforcement::Nobody {
        let scheduler = &target.pod.spec.scheduler_name;
        return Err(Failure::new(format!(
            "{} is placed by {scheduler}, which does not enforce reservations, so its room could be lost",
            target.name()
        ))
        .hint(
            "kubectl reserve status tells who enforces; kubectl reserve install adds the daemon; --unenforced \
             goes on without",
        )
        .exit(Exit::Unsafe));
    }
    if target.owner.is_none() {
        return Err(unread(target));
    }
    Ok(())
}

/// Whether anything enforces reservations is not known.
fn hidden(target: &Target, daemon: &DaemonNamespaces) -> Failure {
    let (name, scheduler) = (target.name(), &target.pod.spec.scheduler_name);
    Failure::new(format!(
        "{name} is placed by {scheduler}, and you may not see whether that enforces reservations, so its room could be lost"
    ))
    .hint(format!(
        "needs: {}; --daemon-namespace NAME if the daemon is elsewhere; --unenforced goes on without",
        replicas::right(daemon)
    ))
    .exit(Exit::Unsafe)
}

/// A reservation is for the owner's next pod: whose owner cannot be read, for that none can be made.
fn unread(target: &Target) -> Failure {
    let (name, claims) = (target.name(), target.claims().join(" < "));
    let why = match &target.chain.unreadable[..] {
        [] => "this command cannot read that".to_owned(),
        [kind, ..] => format!("you may not get {}", kind.plural()),
    };
    Failure::new(format!(
        "{name} belongs to {claims}, and {why}, so no room can be reserved for the next pod"
    ))
    .hint("--no-reserve evicts it without a reservation: others can take its room meanwhile")
    .exit(Exit::Unsafe)
}

async fn reservation(
    context: &Context,
    target: &Target,
    flags: &Recreate,
    reason: &str,
) -> Result<Reservation, Failure> {
    let owner = target.owner.clone();
    let owner = owner.ok_or_else(|| unread(target))?;
    let grace = SignedDuration::from_secs(target.grace(flags.grace_period));
    let empty = target.pod.gone_by().or_else(|| target.now.checked_add(grace).ok()).unwrap_or(target.now);
    let terms = cluster::Terms {
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
    let made = replacing(&target.pod, owner, terms);
    let mut made = made.ok_or_else(|| Failure::new(format!("{} has an odd UID", target.name())))?;
    amount::choose(&mut made.amount, &flags.resources)?;
    record::check(&made).map_err(|unwritable| unwritten(target, &unwritable))?;
    Ok(made)
}

/// What cannot be written down keeps no room, whoever would write it: this command, or the daemon.
fn unwritten(target: &Target, Unwritable { problem, advice }: &Unwritable) -> Failure {
    Failure::new(format!("the room of {} cannot be reserved: {problem}", target.name()))
        .hint(format!("{advice}; kubectl reserve pod --no-reserve evicts it without a reservation"))
        .exit(Exit::Unsafe)
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

#[cfg(test)]
mod tests {
    use super::super::owners::Chain;
    use super::super::target::Target;
    use super::unread;
    use crate::error::Exit;
    use common::cluster::Cluster;
    use common::model::owner::OwnerKind;
    use jiff::Timestamp;
    use serde_json::json;

    /// A pod of an owner of this kind that could not be read.
    fn pod_of(kind: &str, unreadable: Vec<OwnerKind>) -> Target {
        let owner = json!({ "apiVersion": "apps.kruise.io/v1alpha1", "kind": kind, "name": "web", "uid": "u",
                            "controller": true });
        let json = json!({ "metadata": { "name": "web-1", "namespace": "shop", "uid": "p", "resourceVersion": "1",
                                         "ownerReferences": [owner] },
                           "spec": { "nodeName": "node-1", "containers": [] } });
        let pod = common::api::pod::pod(&json.to_string()).unwrap();
        let chain = Chain { unreadable, ..Chain::default() };
        let cluster = Cluster::default();
        let owner = cluster.owner_of(&pod).ok();
        Target { pod, json, chain, cluster, owner, node: None, now: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn a_pod_whose_owner_cannot_be_read_is_refused_in_plain_words() {
        let target = pod_of("CloneSet", vec![]);
        assert_eq!(target.owner, None, "so nothing is reserved, and nothing deleted");
        let failure = unread(&target);
        assert_eq!(failure.exit, Exit::Unsafe);
        assert_eq!(
            failure.message.unwrap(),
            "pod/web-1 belongs to CloneSet web, and this command cannot read that, so no room can be reserved for the next pod"
        );
        let failure = unread(&pod_of("Job", vec![OwnerKind::Job]));
        assert!(failure.message.unwrap().contains("belongs to Job web, and you may not get jobs, so"));
    }
}
