//! Why one pod is Pending: the result of every filter on every node, a verdict, and fixes. Entry points: [`analyse`],
//! [`checklist()`], [`what_if()`].
//!
//! Pure: a pod and a cluster in, a [`Report`] out. The filters are the daemon's own (`common::cycle`). Fixes are tried in the
//! `Cluster` itself and undone afterwards. Nothing here does IO or asks for the time; text and JSON are made by `render/explain`.

mod checklist;
mod evidence;
mod fix;
mod group;
mod input;
mod judge;
mod kind;
mod pool;
mod preempt;
#[cfg(test)]
mod properties;
mod rank;
mod report;
mod scheduler_message;
#[cfg(test)]
pub(crate) mod testing;
mod trial;
mod verdict;
mod what_if;
mod words;

pub use checklist::{Checklist, FilterCheck, Users, checklist};
pub use input::{GroupBy, Input, Limit, Options, Rules};
pub(crate) use pool::{pool_of, zone_of};
pub use report::{
    AutoscalerEvent, AwaitedNode, Blocker, BlockingReservation, Cause, Conclusion, Cost, DominantReason,
    Figure, Fix, Harm, HigherPriority, Member, Miss, NodeAnalysis, NodeGroup, OwnerName, PodFinding,
    PodSummary, Preemption, Report, RequiredRight,
};
pub use trial::Edit;
pub use what_if::{WhatIf, WhatIfOutcome, parse as parse_what_if, what_if};

use common::cluster::Cluster;
use common::cycle;

/// Explains a pod: what is wrong with it, what every node lacks, and what would help.
pub fn analyse(cluster: &mut Cluster, input: &Input<'_>) -> Report {
    let pod = input.pod;
    let snapshot = cluster.snapshot(input.now);
    let pod_summary = report::pod_summary(input, &snapshot);
    let scheduler_message = pod.unscheduled().map(|condition| condition.message.to_string());
    let registry = input.rules.of(pod);
    let conclusion = match () {
        () if pod.is_ended() => Conclusion::Ended,
        () if pod.deleting => Conclusion::Deleting,
        () => match (&pod.node, cycle::refusal(pod, &snapshot, registry)) {
            (Some(node), _) => Conclusion::Bound(node.to_string()),
            (None, Some(refusal)) => Conclusion::Refused(refusal.to_string()),
            (None, None) => analysis(cluster, input),
        },
    };
    let scheduler_message = scheduler_message.filter(|message| !message.is_empty());
    Report { pod_summary, conclusion, scheduler_message, autoscaler: input.autoscaler.to_vec() }
}

/// The report about a pod with a finding that needs no look at the nodes.
pub fn report_finding(cluster: &mut Cluster, input: &Input<'_>, finding: PodFinding) -> Report {
    let pod_summary = report::pod_summary(input, &cluster.snapshot(input.now));
    let scheduler_message = input.pod.unscheduled().map(|condition| condition.message.to_string());
    let scheduler_message = scheduler_message.filter(|message| !message.is_empty());
    Report {
        pod_summary,
        conclusion: Conclusion::PodFinding(finding),
        scheduler_message,
        autoscaler: input.autoscaler.to_vec(),
    }
}

fn analysis(cluster: &mut Cluster, input: &Input<'_>) -> Conclusion {
    match judge::analyse_nodes(cluster, input) {
        Ok(analysis) => Conclusion::NodeAnalysis(Box::new(analysis)),
        Err(why) => Conclusion::Failed(why),
    }
}
