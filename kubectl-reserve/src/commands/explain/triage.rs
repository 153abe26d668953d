//! Explains many pods at once: the cause for each pod, and the pods with the same cause together. Pods of one owner with the same
//! spec are judged once.

use super::answer::{Answers, Explainer, NODES_UNREADABLE, PodAnswer};
use super::subject::PendingSelection;
use crate::amount::shown;
use crate::cluster_data::ClusterData;
use crate::error::Failure;
use crate::explain::{Cause, Conclusion, NodeAnalysis, PodFinding, Report};
use crate::pending::{BlockedWorkload, Causes, PodCause, blocked_workloads, group_causes};
use crate::render::printable;
use common::model::owner::Workload;
use common::model::pod::Phase;
use common::model::{Pod, PodKey, ResourceName, Resources, Uid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of causes of one workload that are explained in full.
const CAUSES_MAX: usize = 3;

/// The maximum number of causes that a picture shows.
const PICTURES_MAX: usize = 10;

/// The key of similar pods: their owner, and the address of their common spec in memory.
type PodClass = (Uid, usize);

/// The cause for one pod, in words.
#[derive(Clone)]
struct CauseText {
    code: String,
    label: String,
    detail: String,
    is_blocked: bool,
}

/// The selected pending pods, by cause.
pub(super) fn pending_pods(
    explainer: &Explainer<'_>,
    selection: &PendingSelection,
    data: &mut ClusterData,
) -> Causes {
    let is_asked = |pod: &&Arc<Pod>| selection.has(&pod.key) && is_pending(pod, data);
    let pods: Vec<Arc<Pod>> = data.cluster.pods().filter(is_asked).cloned().collect();
    let causes = causes(explainer, pods, data);
    let blocked_workloads = match &selection.only {
        None => blocked_workloads(&data.cluster, &data.diagnostics, selection.namespace.as_deref(), data.now),
        Some(_) => Vec::new(),
    };
    group_causes(causes, blocked_workloads)
}

/// How many pods are Pending, by namespace.
pub(super) fn pending_by_namespace(data: &ClusterData) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for pod in data.cluster.pods().filter(|pod| is_pending(pod, data)) {
        *counts.entry(pod.key.namespace.to_string()).or_default() += 1;
    }
    counts
}

/// Explains the first pod of each of the largest groups in full: a picture shows one layer for each.
pub(super) fn first_of_each_cause(
    explainer: &Explainer<'_>,
    data: &mut ClusterData,
    answers: &mut Answers,
) -> Result<(), Failure> {
    let groups = answers.causes.iter().flat_map(|causes| &causes.groups).take(PICTURES_MAX);
    for group in groups {
        let Some((first, others)) = group.pods.split_first() else { continue };
        let key = PodKey::new(&*group.namespace, &**first);
        let Some(pod) = data.cluster.pod(&key).cloned() else { continue };
        let source = data.diagnostics.source_of(&key);
        let answer = explainer.answer(&pod, source.as_ref(), data)?;
        answers.pods.push(PodAnswer { others: others.to_vec(), ..answer });
    }
    Ok(())
}

/// Whether a pod waits for a node, or is bound to a node that does not exist.
fn is_pending(pod: &Pod, data: &ClusterData) -> bool {
    let is_lost = |node| data.missing_rights().is_empty() && data.cluster.ledger_of(node).is_none();
    pod.is_waiting()
        || (pod.phase == Phase::Pending && !pod.deleting && pod.node.as_ref().is_some_and(is_lost))
}

/// Explains the pending pods of one workload, one pod for each cause, and why its controller cannot create pods.
pub(super) fn workload(
    explainer: &Explainer<'_>,
    workload: &Workload,
    keys: &[PodKey],
    data: &mut ClusterData,
    answers: &mut Answers,
) -> Result<(), Failure> {
    let pods = keys.iter().filter_map(|key| data.cluster.pod(key));
    // The only pod of a workload is explained in any state.
    let pods: Vec<Arc<Pod>> = pods.filter(|pod| keys.len() == 1 || is_pending(pod, data)).cloned().collect();
    let (explained, all) = (pods.len(), keys.len());
    let causes = group_causes(causes(explainer, pods, data), Vec::new());
    for one in causes.groups.iter().take(CAUSES_MAX) {
        let keys: Vec<PodKey> = one.pods.iter().map(|name| PodKey::new(&*one.namespace, &**name)).collect();
        let with_source = keys.iter().find(|key| data.diagnostics.source_of(key).is_some());
        let Some(key) = with_source.or(keys.first()).cloned() else { continue };
        let Some(pod) = data.cluster.pod(&key).cloned() else { continue };
        let source = data.diagnostics.source_of(&key);
        let answer = explainer.answer(&pod, source.as_ref(), data)?;
        let others = one.pods.iter().filter(|name| ***name != *key.name).cloned().collect();
        answers.pods.push(PodAnswer { others, ..answer });
    }
    let namespace = &*workload.namespace;
    let is_its = |one: &BlockedWorkload| {
        let is = |kind, name: &str| kind == workload.kind && *name == *workload.name;
        is(one.kind, &one.name) || one.top.as_ref().is_some_and(|(kind, name)| is(*kind, name))
    };
    let blocked_workloads = blocked_workloads(&data.cluster, &data.diagnostics, Some(namespace), data.now)
        .into_iter()
        .filter(is_its);
    let blocked_workloads: Vec<BlockedWorkload> = blocked_workloads.collect();
    if explained == 0 && blocked_workloads.is_empty() {
        let (kind, name) = (workload.kind, &workload.name);
        answers.complete_workloads.push(match all {
            0 => {
                format!(
                "{kind} {namespace}/{name} has no pod that waits or runs, and nothing says that it failed to make one."
            )
            }
            _ => format!("{kind} {namespace}/{name}: all {all} pods have their nodes."),
        });
    }
    answers.blocked_workloads.extend(blocked_workloads);
    Ok(())
}

fn causes(explainer: &Explainer<'_>, mut pods: Vec<Arc<Pod>>, data: &mut ClusterData) -> Vec<PodCause> {
    pods.sort_by(|one, other| one.key.cmp(&other.key));
    let mut judged: BTreeMap<PodClass, CauseText> = BTreeMap::new();
    let mut causes = Vec::with_capacity(pods.len());
    for pod in pods {
        let top = data.cluster.context(&pod).top().map(Workload::owner);
        let words = match explainer.finding(&pod, data) {
            Some(finding) => CauseText {
                code: finding.code.into(),
                detail: detail(&pod, &finding),
                label: finding.label,
                is_blocked: finding.is_blocked,
            },
            None => {
                let owner_uid = top.as_ref().map_or_else(|| pod.uid.clone(), |owner| owner.uid.clone());
                let class = (owner_uid, Arc::as_ptr(&pod.spec).addr());
                let known = judged.entry(class);
                known.or_insert_with(|| words(&explainer.explain(&pod, None, data, true))).clone()
            }
        };
        causes.push(PodCause {
            key: pod.key.clone(),
            owner: top.map(|owner| (owner.kind.to_string(), owner.name)),
            code: words.code,
            label: words.label,
            detail: words.detail,
            is_blocked: words.is_blocked,
        });
    }
    causes
}

/// The words of a finding; if nodes cannot be read, the message of the pod's scheduler instead.
fn detail(pod: &Pod, finding: &PodFinding) -> String {
    let said = pod.unscheduled().map(|told| printable(&told.message)).filter(|said| !said.is_empty());
    match said.filter(|_| finding.code == NODES_UNREADABLE) {
        Some(said) => format!("{} said: {said}", pod.spec.scheduler_name),
        None => finding.words.join(" "),
    }
}

/// The cause in a report.
fn words(report: &Report) -> CauseText {
    let is_blocked = report.is_no_fit();
    let of = |code: &str, label: &str, detail: &str| CauseText {
        code: code.into(),
        label: label.into(),
        detail: detail.into(),
        is_blocked,
    };
    match &report.conclusion {
        Conclusion::NodeAnalysis(judged) => of_judged(report, judged),
        Conclusion::PodFinding(finding) => of(finding.code, &finding.label, &finding.words.join(" ")),
        Conclusion::Refused(why) => of("Refused", "not placed", why),
        Conclusion::Failed(why) => of("Failed", "cannot be judged", why),
        Conclusion::Bound(node) => of("Bound", "has its node", node),
        Conclusion::Deleting => of("Deleting", "being deleted", ""),
        Conclusion::Ended => of("Ended", "ended", ""),
    }
}

/// The cause that the verdict about the pod names, after what the pod asks for.
fn of_judged(report: &Report, judged: &NodeAnalysis) -> CauseText {
    let is_blocked = report.is_no_fit();
    let Cause { code, label, detail } = judged.cause.clone();
    let asks = asked(&report.pod_summary.asks);
    let detail = match is_blocked && judged.awaited_node.is_none() && judged.finding.is_none() {
        true if !asks.is_empty() => format!("asks {asks} each. {detail}"),
        _ => detail,
    };
    CauseText { code, label, detail, is_blocked }
}

/// What a pod asks for besides its place among the pods of a node: `cpu 0.5, memory 1Gi`.
pub(super) fn asked(asks: &Resources) -> String {
    let asks = asks.iter().filter(|(resource, amount)| *resource != ResourceName::Pods && *amount > 0);
    asks.map(|(resource, amount)| format!("{resource} {}", shown(&resource, amount)))
        .collect::<Vec<_>>()
        .join(", ")
}
