//! `kubectl reserve fit`: schedules pods one after the other in the `Cluster` that was read, with the scheduler's own decision.
//! Pure; nothing is written to the cluster. Entry point: [`place`]. `pod_flags` makes a pod from flags.

mod pod_flags;
#[cfg(test)]
mod tests;

pub(crate) use pod_flags::{FROM_FLAGS, PodFlags, pod_manifest};

use crate::explain::{Conclusion, GroupBy, Input, Limit, Options, Rules, analyse};
use crate::manifest::ManifestPod;
use common::cluster::{Assumption, Cluster, Event, WatchEvent};
use common::cycle::{self, Decision};
use common::model::{NodeName, Pod, PodKey, Resources, Uid};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// The maximum number of pods that are placed: pods without requests would fit for ever.
pub(crate) const REPLICAS_MAX: u32 = 10_000;

/// The result for one manifest, or for the flags.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FitResult {
    pub(crate) from: String,
    pub(crate) namespace: String,
    pub(crate) asks: Resources,
    /// How many pods were asked for; `None`: as many as fit.
    pub(crate) requested: Option<u32>,
    /// How many pods fit.
    pub(crate) placed: u32,
    /// How many pods each node got.
    pub(crate) nodes: BTreeMap<NodeName, u32>,
    /// Why the next pod does not fit.
    pub(crate) because: Option<String>,
    /// Whether the pods' scheduler enforces reservations; `None` if that is not known.
    pub(crate) is_enforced: Option<bool>,
}

impl FitResult {
    /// Whether all pods that were asked for fit: at least one if as many as fit were asked for.
    pub(crate) fn is_complete(&self) -> bool {
        self.requested.map_or(self.placed > 0, |requested| requested == self.placed)
    }
}

/// Places `replicas` copies of `manifest_pod`, or as many as fit. They stay in `cluster`, so that the next call places its pods
/// beside them.
pub(crate) fn place(
    cluster: &mut Cluster,
    manifest_pod: &ManifestPod,
    replicas: Option<u32>,
    rules: &Rules,
    now: Timestamp,
) -> FitResult {
    let registry = rules.placing(&manifest_pod.pod);
    let mut nodes: BTreeMap<NodeName, u32> = BTreeMap::new();
    let mut because = None;
    let most = replicas.unwrap_or(REPLICAS_MAX).min(REPLICAS_MAX);
    let mut placed = 0;
    while placed < most {
        let pod = replica(&manifest_pod.pod, placed);
        let (key, uid) = (pod.key.clone(), pod.uid.clone());
        let decision = cycle::schedule(&pod, &cluster.snapshot(now), registry);
        let Decision::Place { node, claims } = decision else {
            because = Some(words(&pod, &decision, cluster, rules, now));
            break;
        };
        cluster.apply(Event::Pods(WatchEvent::Applied(pod)));
        cluster.assume(&key, Assumption { uid, node: node.clone(), claims, since: now });
        *nodes.entry(node).or_default() += 1;
        placed += 1;
    }
    FitResult {
        from: manifest_pod.from.clone(),
        namespace: manifest_pod.pod.key.namespace.to_string(),
        asks: manifest_pod.pod.spec.requests.incoming.clone(),
        requested: replicas,
        placed,
        nodes,
        because,
        is_enforced: rules.are_known_for(&manifest_pod.pod).then(|| rules.are_enforced(&manifest_pod.pod)),
    }
}

/// What every node says about one more pod.
pub(crate) fn next_pod(
    cluster: &mut Cluster,
    manifest_pod: &ManifestPod,
    result: &FitResult,
    rules: &Rules,
    now: Timestamp,
) -> Conclusion {
    let pod = replica(&manifest_pod.pod, result.placed);
    let options = Options { nodes: Limit::All, group_by: GroupBy::Reason, ..BRIEF };
    conclusion(&pod, options, cluster, rules, now)
}

/// A copy of the pod with a name and a UID of its own.
fn replica(pod: &Pod, number: u32) -> Pod {
    let name = format!("{}-{number}", pod.key.name);
    let uid = Uid::from(format!("fit-{}-{name}", pod.uid));
    Pod { key: PodKey::new(pod.key.namespace.clone(), name), uid, ..pod.clone() }
}

/// Why a pod does not fit, in the words of `explain`.
fn words(pod: &Pod, decision: &Decision, cluster: &mut Cluster, rules: &Rules, now: Timestamp) -> String {
    match decision {
        Decision::Refused(refusal) => return refusal.to_string(),
        Decision::Failed(why) => return why.to_string(),
        Decision::WaitForNode(awaited) => {
            return format!("it would wait for {}, which is kept for it", awaited.node);
        }
        Decision::Place { .. } | Decision::NoFit(_) => {}
    }
    match conclusion(pod, BRIEF, cluster, rules, now) {
        Conclusion::NodeAnalysis(analysis) => analysis.verdict.join(" "),
        other => format!("{other:?}"),
    }
}

/// Enough for a verdict.
const BRIEF: Options =
    Options { nodes: Limit::Most(1), fixes: Limit::Most(0), group_by: GroupBy::Auto, preemption: false };

fn conclusion(
    pod: &Pod,
    options: Options,
    cluster: &mut Cluster,
    rules: &Rules,
    now: Timestamp,
) -> Conclusion {
    let input = Input {
        pod,
        source: None,
        now,
        rules,
        options,
        context: None,
        snapshot: None,
        manifests: &[],
        last_try: None,
        autoscaler: &[],
        priority_classes: &[],
    };
    analyse(cluster, &input).conclusion
}
