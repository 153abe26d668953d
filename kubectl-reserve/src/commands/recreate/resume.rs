//! Resumes a run that was interrupted: everything follows from the reservation that it left. Entry points: `resume` for `--resume`,
//! and `find_gone` for the hint when a pod is gone and its reservation is not.

use super::evict::Removal;
use super::owners::Chain;
use super::prepare::{RecreationTask, prepare};
use super::target::{self, TargetPod};
use crate::api::{self as calls, JSON};
use crate::cli::Recreate;
use crate::commands::Context;
use crate::connect::Session;
use crate::error::{Exit, Failure};
use crate::flow::recreate::{KeepMethod, Terms, WaitFor};
use crate::render::recreate::{RecreatePlan, Shutdown, amounts};
use common::api;
use common::model::owner::{OwnerKind, Workload};
use common::model::reservation::{Placement, Record};
use common::model::{Node, Pod, PodKey, Reservation};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A live reservation and its node.
pub(crate) struct LiveReservation {
    pub(crate) node: Node,
    pub(crate) reservation: Arc<Reservation>,
    pub(crate) now: Timestamp,
}

impl LiveReservation {
    fn record(&self) -> Option<&Record> {
        self.reservation.record()
    }

    /// The replaced pod.
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
    let mut nodes = Vec::new();
    let listed = calls::list(session, "/api/v1/nodes", "", JSON, |json| {
        nodes.push(api::node::node(json).map_err(|error| error.to_string())?);
        Ok(())
    });
    let now = listed.await.map_err(|error| error.into_failure("list nodes", "list nodes"))?;
    let now = now.at.unwrap_or_default();
    let mut found = Vec::new();
    for node in nodes {
        for reservation in node.reservations.iter().filter_map(|parsed| parsed.valid()) {
            if reservation.is_live(now)
                && reservation.record().is_some_and(|record| is_meant(reservation, record))
            {
                found.push(LiveReservation { node: node.clone(), reservation: Arc::clone(reservation), now });
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
            key.name, found.node.name, record.owner.kind, record.owner.name, record.expires
        ))
        .hint(format!("go on with: kubectl reserve pod --resume {seat} -n {}", key.namespace)),
    )
}

/// The task that continues the run that made the reservation called `seat`.
pub(crate) async fn resume(
    context: &Context,
    seat: &str,
    flags: &Recreate,
) -> Result<RecreationTask, Failure> {
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
            let to = &found.node.name;
            if task.place() == to.as_str() { Ok(task) } else { task.elsewhere(context, to.as_str()).await }
        }
        Ok(_) => task_for_gone_pod(session, found, flags, &key).await,
        Err(failure) if failure.exit == Exit::Error => task_for_gone_pod(session, found, flags, &key).await,
        Err(failure) => Err(failure),
    }
}

fn is_replaced(found: &LiveReservation, pod: &Pod) -> bool {
    found.reservation.replaces().is_some_and(|replaced| replaced.uid == pod.uid)
}

/// The task if the replaced pod is gone: only its replacement has to be waited for.
async fn task_for_gone_pod(
    session: &Session,
    found: LiveReservation,
    flags: &Recreate,
    key: &PodKey,
) -> Result<RecreationTask, Failure> {
    let LiveReservation { node, reservation, now } = found;
    let record = reservation.record().ok_or_else(|| Failure::new("the reservation has no record"))?;
    let chain = owner_chain(session, record).await?;
    let is_named = matches!(&*record.owner.kind, "StatefulSet" | "Pod");
    let uid = record.replaces.as_ref().map(|replaced| replaced.uid.to_string()).unwrap_or_default();
    let known = known(session, &chain, record).await;
    let terms = Terms {
        uid: uid.clone(),
        same_name: is_named.then(|| key.name.to_string()),
        node: node.name.to_string(),
        // The node of the pod is not known any more.
        is_own_node: false,
        keep_method: KeepMethod::Reservation,
        seat: Some(reservation.id.to_string()),
        is_leaving: false,
        is_gone: true,
        known,
        is_enforced: !flags.unenforced,
        creates: false,
        wait_for: if flags.wait { WaitFor::Ready } else { WaitFor::Evicted },
        is_required: record.placement == Placement::Require,
        timeout: flags.timeout,
    };
    let plan = RecreatePlan {
        pod: key.to_string(),
        owners: vec![format!("{} {}", record.owner.kind, record.owner.name)],
        node: node.name.to_string(),
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
    };
    let pod = stub(key, &uid, &chain, node.name.as_str())?;
    let cluster = chain.cluster();
    let target = TargetPod {
        pod,
        json: json!({}),
        chain,
        cluster,
        owner: Some(record.owner.clone()),
        node: Some(node),
        now,
    };
    let removal = Removal { grace: 0, ignores_budgets: false };
    let reservation = Some((*reservation).clone());
    Ok(RecreationTask {
        target,
        plan,
        terms,
        reservation,
        removal,
        life: Duration::ZERO,
        other_node_uid: None,
    })
}

/// The pod as far as the reservation describes it.
fn stub(key: &PodKey, uid: &str, chain: &Chain, node: &str) -> Result<Pod, Failure> {
    let controller = chain.workloads.first().map(|owner| {
        let group = match owner.kind.group() {
            "" => "v1".to_owned(),
            group => format!("{group}/v1"),
        };
        // A Deployment's pods are controlled by ReplicaSets.
        let kind = if owner.kind == OwnerKind::Deployment { "ReplicaSet" } else { owner.kind.as_str() };
        json!([{ "apiVersion": group, "kind": kind, "name": &*owner.name, "uid": owner.uid.to_string(),
                 "controller": true }])
    });
    let json = json!({
        "metadata": { "name": &*key.name, "namespace": &*key.namespace, "uid": uid,
                      "ownerReferences": controller.unwrap_or(Value::Null) },
        "spec": { "nodeName": node, "containers": [] },
    });
    api::pod::pod(&json.to_string()).map_err(|error| Failure::new(error.to_string()))
}

/// The owner of the reservation, and the selector for its pods.
async fn owner_chain(session: &Session, record: &Record) -> Result<Chain, Failure> {
    let kind = OwnerKind::ALL.into_iter().find(|kind| kind.as_str() == &*record.owner.kind);
    let Some(kind) = kind else { return Ok(Chain::default()) };
    let path = format!("{}/{}", kind.path_in(&record.owner.namespace), record.owner.name);
    let answer = calls::get(session, &path, JSON).await;
    let answer =
        answer.map_err(|error| error.into_failure("read the owner", &format!("get {}", kind.plural())))?;
    let workload: Workload =
        api::workload::workload(kind, &answer.text).map_err(|error| Failure::new(error.to_string()))?;
    if workload.uid != record.owner.uid {
        return Err(Failure::new(format!("{} {} is another one by now", kind, record.owner.name)));
    }
    let json: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let selector = super::owners::selector(&json["spec"]["selector"]);
    Ok(Chain { workloads: vec![workload], selector, ..Chain::default() })
}

/// The UIDs of the pods that were scheduled before the reservation was made. Its record has a creation time one second too late.
async fn known(session: &Session, chain: &Chain, record: &Record) -> BTreeSet<String> {
    let Some(selector) = &chain.selector else { return BTreeSet::new() };
    let pods = super::look::owner_pods(session, &record.owner.namespace, selector).await.unwrap_or_default();
    let made = record.created.checked_sub(SignedDuration::from_secs(1)).unwrap_or(record.created);
    let is_older = |sent: &&super::look::PodWithJson| sent.pod.scheduled_at().is_some_and(|at| at < made);
    pods.iter().filter(is_older).map(|sent| sent.pod.uid.to_string()).collect()
}
