//! Resumes a run that was interrupted: everything follows from the reservation that it left. Entry points: `resume` for `--resume`,
//! and `find_gone` for the hint when a pod is gone and its reservation is not.

use super::look::Lookup;
use super::prepare::{RecreationTask, prepare};
use super::target;
use crate::api::JSON;
use crate::cli::Recreate;
use crate::commands::Context;
use crate::connect::Session;
use crate::error::Failure;
use crate::flow::recreate::{KeepMethod, Terms, WaitFor};
use crate::reader::{NODES, WorkloadView, get, list, pods, pods_in, with_labels, workload_path};
use crate::render::recreate::{RecreatePlan, Shutdown, amounts};
use common::api;
use common::model::owner::OwnerKind;
use common::model::reservation::{Placement, Record};
use common::model::{Pod, PodKey, Reservation};
use jiff::SignedDuration;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The rest of a run that was interrupted.
pub(crate) enum ResumeTask {
    /// The pod still exists: it is recreated as in a new run.
    Live(Box<RecreationTask>),
    /// The pod is gone: only its replacement is waited for.
    Gone(Box<GoneTask>),
}

/// A pod that is gone, and its reservation.
pub(crate) struct GoneTask {
    pub(super) plan: RecreatePlan,
    pub(super) terms: Terms,
    pub(super) lookup: Lookup,
    pub(super) reservation: Arc<Reservation>,
}

impl ResumeTask {
    pub(crate) fn plan(&self) -> &RecreatePlan {
        match self {
            Self::Live(task) => &task.plan,
            Self::Gone(task) => &task.plan,
        }
    }
}

struct LiveReservation {
    node: String,
    reservation: Arc<Reservation>,
}

impl LiveReservation {
    fn record(&self) -> Option<&Record> {
        self.reservation.record()
    }

    fn key(&self) -> Option<PodKey> {
        let record = self.record()?;
        let replaced = record.replaces.as_ref()?;
        Some(PodKey { namespace: record.owner.namespace.clone(), name: replaced.name.clone() })
    }
}

/// The live reservations for whose record `is_meant` returns true.
async fn find(
    session: &Session,
    is_meant: impl Fn(&Reservation, &Record) -> bool,
) -> Result<Vec<LiveReservation>, Failure> {
    let listed = list(session, NODES, "", JSON, api::node::node).await;
    let (nodes, meta) = listed.map_err(|error| error.into_failure("list nodes", "list nodes"))?;
    let now = meta.at.unwrap_or_default();
    let mut found = Vec::new();
    for node in nodes {
        for reservation in node.reservations.iter().filter_map(|parsed| parsed.valid()) {
            if reservation.is_live(now)
                && reservation.record().is_some_and(|record| is_meant(reservation, record))
            {
                let (node, reservation) = (node.name.to_string(), Arc::clone(reservation));
                found.push(LiveReservation { node, reservation });
            }
        }
    }
    Ok(found)
}

/// The error for a pod that is gone and whose reservation exists; `None` if there is no such reservation, or the caller may not
/// read nodes.
pub(crate) async fn find_gone(session: &Session, key: &PodKey) -> Option<Failure> {
    let is_its = |_: &Reservation, record: &Record| {
        record.owner.namespace == key.namespace
            && record.replaces.as_ref().is_some_and(|replaced| replaced.name == key.name)
    };
    let found = find(session, is_its).await.ok()?.into_iter().next()?;
    let seat = found.reservation.id.seat.as_ref()?.as_str().to_owned();
    let record = found.record()?;
    Some(
        Failure::new(format!(
            "pod/{} is gone; its room on {} is kept as {seat} for {}/{} until {}",
            key.name, found.node, record.owner.kind, record.owner.name, record.expires
        ))
        .hint(format!("go on with: kubectl reserve pod --resume {seat} -n {}", key.namespace)),
    )
}

/// The task that continues the run that made the reservation called `seat`.
pub(crate) async fn resume(context: &Context, seat: &str, flags: &Recreate) -> Result<ResumeTask, Failure> {
    let session = &context.session;
    let is_named = |reservation: &Reservation, record: &Record| {
        record.replaces.is_some()
            && *record.owner.namespace == *session.namespace
            && reservation.id.seat.as_ref().is_some_and(|own| own.as_str() == seat)
    };
    let mut found = find(session, is_named).await?;
    let (Some(found), true) = (found.pop(), found.is_empty()) else {
        return Err(Failure::new(format!(
            "no live reservation {seat:?} that replaces a pod in namespace {}",
            session.namespace
        ))
        .hint("kubectl reserve list shows them; one that is gone was taken, released or has ended"));
    };
    let key = found.key().ok_or_else(|| Failure::new("the reservation replaces no pod"))?;
    match target::read(session, &key).await {
        Ok(target) if is_replaced(&found, &target.pod) => {
            let task = prepare(context, &key, flags, "kubectl reserve pod").await?;
            // The reservation is on another node: the pod was to be moved there.
            let is_there = task.place() == found.node;
            let task = if is_there { task } else { task.elsewhere(context, &found.node).await? };
            return Ok(ResumeTask::Live(Box::new(task)));
        }
        Err(failure) if !failure.is_not_found() => return Err(failure),
        Ok(_) | Err(_) => {}
    }
    Ok(ResumeTask::Gone(Box::new(task_for_gone_pod(session, found, flags, key).await?)))
}

fn is_replaced(found: &LiveReservation, pod: &Pod) -> bool {
    found.reservation.replaces().is_some_and(|replaced| replaced.uid == pod.uid)
}

/// The task if the replaced pod is gone: only its replacement has to be waited for.
async fn task_for_gone_pod(
    session: &Session,
    LiveReservation { node, reservation }: LiveReservation,
    flags: &Recreate,
    key: PodKey,
) -> Result<GoneTask, Failure> {
    let record = reservation.record().ok_or_else(|| Failure::new("the reservation has no record"))?;
    let owner = read_owner(session, record).await?;
    let selector = owner.as_ref().and_then(|view| view.selector.clone());
    let is_named = matches!(&*record.owner.kind, "StatefulSet" | "Pod");
    let uid = record.replaces.as_ref().map(|replaced| replaced.uid.clone()).unwrap_or_else(|| "".into());
    let terms = Terms {
        uid: uid.to_string(),
        same_name: is_named.then(|| key.name.to_string()),
        node: node.clone(),
        // The node of the pod is not known any more.
        is_own_node: false,
        keep_method: KeepMethod::Reservation,
        seat: Some(reservation.id.to_string()),
        is_leaving: false,
        is_gone: true,
        known: known(session, selector.as_deref(), record).await?,
        is_enforced: !flags.unenforced,
        creates: false,
        wait_for: if flags.wait { WaitFor::Ready } else { WaitFor::Evicted },
        is_required: record.placement == Placement::Require,
        timeout: flags.timeout,
    };
    // A Deployment's pods are controlled by ReplicaSets.
    let controller = owner.map(|view| match view.workload.kind {
        OwnerKind::Deployment => OwnerKind::ReplicaSet,
        kind => kind,
    });
    let plan = plan(&key, record, &node, &reservation);
    let (selector, id) = (selector.filter(|_| !is_named), Some(reservation.id.clone()));
    let lookup = Lookup { key, uid, controller, selector, node, id };
    Ok(GoneTask { plan, terms, lookup, reservation })
}

fn plan(key: &PodKey, record: &Record, node: &str, reservation: &Reservation) -> RecreatePlan {
    RecreatePlan {
        pod: key.to_string(),
        owners: vec![format!("{} {}", record.owner.kind, record.owner.name)],
        node: node.to_owned(),
        node_state: None,
        to: None,
        keep_method: KeepMethod::Reservation,
        amount: amounts(&reservation.amount),
        budgets: Some(Vec::new()),
        shutdown: Shutdown { grace: 0, empty_dirs: vec![], finalizers: vec![], ignores_budgets: false },
        scheduler: String::new(),
        enforcement: None,
        competing_pods: None,
        notes: vec!["the pod is gone; waiting for its replacement".to_owned()],
    }
}

/// The owner of the reservation; `None` if it is of a kind that is not read.
async fn read_owner(session: &Session, record: &Record) -> Result<Option<WorkloadView>, Failure> {
    let owner = &record.owner;
    let kind = OwnerKind::ALL.into_iter().find(|kind| kind.as_str() == &*owner.kind);
    let Some(kind) = kind else { return Ok(None) };
    let path = workload_path(&(kind, owner.namespace.to_string(), owner.name.to_string()));
    let found = get(session, &path, |json| WorkloadView::read(kind, json)).await;
    let needs = format!("get {}", kind.plural());
    let (view, _) = found.map_err(|error| error.into_failure("read the owner", &needs))?;
    if view.workload.uid != owner.uid {
        return Err(Failure::new(format!("{} {} is another one by now", kind, owner.name)));
    }
    Ok(Some(view))
}

/// The UIDs of the pods that were scheduled before the reservation was made. Its record has a creation time one second too late.
async fn known(
    session: &Session,
    selector: Option<&str>,
    record: &Record,
) -> Result<BTreeSet<String>, Failure> {
    let Some(selector) = selector else { return Ok(BTreeSet::new()) };
    let listed = pods(session, &pods_in(&record.owner.namespace), &with_labels(selector)).await;
    let made = record.created.checked_sub(SignedDuration::from_secs(1)).unwrap_or(record.created);
    let mut older = listed.map_err(|error| error.into_failure("list pods", "list pods"))?;
    older.retain(|pod| pod.scheduled_at().is_some_and(|at| at < made));
    Ok(older.iter().map(|pod| pod.uid.to_string()).collect())
}
