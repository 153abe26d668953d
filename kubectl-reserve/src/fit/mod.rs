//! Would it fit, where, and how many: pods are placed one after the other in the belief that was read, by the scheduler's
//! own decision. Plain functions: nothing is written anywhere.

mod shape;
#[cfg(test)]
mod tests;

pub(crate) use shape::{FROM_FLAGS, Shape, pod};

use crate::explain::{Input, Limit, Options, Rules, analyse};
use crate::manifest::Wanted;
use common::cluster::{Assumed, Cluster, Event, Seen};
use common::cycle::{self, Decision};
use common::model::{NodeName, Pod, PodKey, Resources, Uid};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// The most pods that are placed: enough for any question, and an end for pods that ask for nothing.
pub(crate) const REPLICAS_MAX: u32 = 10_000;

/// What became of one manifest, or of the flags.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fitted {
    pub(crate) from: String,
    pub(crate) namespace: String,
    pub(crate) asks: Resources,
    /// How many were asked for; `None` for as many as there is room for.
    pub(crate) wanted: Option<u32>,
    /// How many got a place.
    pub(crate) placed: u32,
    /// Where, by node.
    pub(crate) nodes: BTreeMap<NodeName, u32>,
    /// Why the next one got none.
    pub(crate) because: Option<String>,
    /// Whether the scheduler that would place them enforces reservations.
    pub(crate) is_enforced: bool,
}

impl Fitted {
    /// Whether all that were asked for fit.
    pub(crate) fn is_whole(&self) -> bool {
        self.wanted.is_none_or(|wanted| wanted == self.placed)
    }
}

/// Places the pods of `wanted`, as many as `replicas` says, or as there is room for. They stay where they were placed, so
/// that what is asked next comes after them.
pub(crate) fn place(
    cluster: &mut Cluster,
    wanted: &Wanted,
    replicas: Option<u32>,
    rules: &Rules,
    now: Timestamp,
) -> Fitted {
    let registry = rules.placing(&wanted.pod);
    let mut nodes: BTreeMap<NodeName, u32> = BTreeMap::new();
    let mut because = None;
    let most = replicas.unwrap_or(REPLICAS_MAX).min(REPLICAS_MAX);
    let mut placed = 0;
    while placed < most {
        let pod = replica(&wanted.pod, placed);
        let (key, uid) = (pod.key.clone(), pod.uid.clone());
        let decision = cycle::schedule(&pod, &cluster.snapshot(now), registry);
        let Decision::Place { node, seat, volumes } = decision else {
            because = Some(words(&pod, &decision, cluster, rules, now));
            break;
        };
        cluster.apply(Event::Pods(Seen::Applied(pod)));
        cluster.assume(&key, Assumed { uid: uid.clone(), node: node.clone(), seat, since: now });
        cluster.choose(&key, &uid, volumes);
        *nodes.entry(node).or_default() += 1;
        placed += 1;
    }
    Fitted {
        from: wanted.from.clone(),
        namespace: wanted.pod.key.namespace.to_string(),
        asks: wanted.pod.spec.requests.incoming.clone(),
        wanted: replicas,
        placed,
        nodes,
        because,
        is_enforced: rules.are_enforced(&wanted.pod),
    }
}

/// One of several pods that are alike: a name and a UID of its own, which nobody else has.
fn replica(pod: &Pod, number: u32) -> Pod {
    let name = format!("{}-{number}", pod.key.name);
    let uid = Uid::from(format!("fit-{}-{name}", pod.uid));
    Pod { key: PodKey::new(pod.key.namespace.clone(), name), uid, ..pod.clone() }
}

/// Why a pod got no place, in the words of `explain`.
fn words(pod: &Pod, decision: &Decision, cluster: &mut Cluster, rules: &Rules, now: Timestamp) -> String {
    match decision {
        Decision::Refused(refusal) => return refusal.to_string(),
        Decision::Failed(why) => return why.clone(),
        Decision::Awaits(awaited) => {
            return format!("it would wait for {}, which is kept for it", awaited.node);
        }
        Decision::Place { .. } | Decision::NoFit(_) => {}
    }
    let options =
        Options { nodes: Limit::Most(1), fixes: Limit::Most(0), preemption: false, ..Options::default() };
    let input = Input {
        pod,
        source: None,
        now,
        rules,
        options,
        context: None,
        last_try: None,
        autoscaler: &[],
        priority_classes: &[],
    };
    match analyse(cluster, &input).answer {
        crate::explain::Answer::Judged(judged) => judged.verdict.join(" "),
        other => format!("{other:?}"),
    }
}
