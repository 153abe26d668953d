//! Why one pod is Pending: everything that every filter says about every node, what it comes to, and what would help.
//!
//! Pure: a pod and a cluster in, a [`Report`] out. The filters are the daemon's own (`common::cycle`); what would help is
//! tried in the very belief that was read, and taken back. Nothing here reads, writes or asks the time.

mod checklist;
mod evidence;
mod fix;
mod group;
mod honesty;
mod input;
mod judge;
mod kind;
mod pool;
mod preempt;
#[cfg(test)]
mod properties;
mod rank;
mod report;
#[cfg(test)]
pub(crate) mod testing;
mod trial;
mod verdict;
mod what_if;
mod words;

pub use checklist::{Check, Checklist, Users, checklist};
pub use input::{GroupBy, Input, Limit, Options, Rules};
pub use kind::Class;
pub use report::{
    About, Answer, Autoscaler, Awaits, Blocker, Cost, Dominant, Figure, Fix, Group, Judged, Keeper, Member,
    Miss, OwnerName, Preemption, Report, Right, Stated, WithPriority,
};
pub use trial::Edit;
pub use what_if::{Outcome, WhatIf, parse as parse_what_if, what_if};

use common::cluster::Cluster;
use common::cycle;

/// Everything that there is to say about the pod.
pub fn analyse(cluster: &mut Cluster, input: &Input<'_>) -> Report {
    let pod = input.pod;
    let snapshot = cluster.snapshot(input.now);
    let about = report::about(input, &snapshot);
    let said = pod.unscheduled().map(|condition| condition.message.to_string());
    let registry = input.rules.of(pod);
    let answer = match () {
        () if pod.is_ended() => Answer::Ended,
        () if pod.deleting => Answer::Deleting,
        () => match (&pod.node, cycle::refusal(pod, &snapshot, registry)) {
            (Some(node), _) => Answer::Bound(node.to_string()),
            (None, Some(refusal)) => Answer::Refused(refusal.to_string()),
            (None, None) => judged(cluster, input),
        },
    };
    let said = said.filter(|said| !said.is_empty());
    Report { about, answer, said, autoscaler: input.autoscaler.to_vec() }
}

/// The same for a pod about which everything is said before any node is asked.
pub fn state(cluster: &mut Cluster, input: &Input<'_>, stated: Stated) -> Report {
    let about = report::about(input, &cluster.snapshot(input.now));
    let said = input.pod.unscheduled().map(|condition| condition.message.to_string());
    let said = said.filter(|said| !said.is_empty());
    Report { about, answer: Answer::Stated(stated), said, autoscaler: input.autoscaler.to_vec() }
}

fn judged(cluster: &mut Cluster, input: &Input<'_>) -> Answer {
    match judge::judge(cluster, input) {
        Ok(judged) => Answer::Judged(Box::new(judged)),
        Err(why) => Answer::Failed(why),
    }
}
