//! Compares the scheduler's own message ("0/9 nodes are available: …") with our counts. The report shows where they differ. Entry
//! point: [`differences`].

use std::collections::BTreeMap;

/// The message of a scheduler that found no node for a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SchedulerMessage {
    /// How many nodes the scheduler knows.
    pub(super) nodes: Option<usize>,
    /// How many nodes gave each reason.
    pub(super) reasons: BTreeMap<String, usize>,
}

/// Reads a message of any version since 1.6: `0/9 nodes are available: 6 Insufficient cpu, …. preemption: …`, or
/// `No nodes are available that match all of the predicates: Insufficient cpu (19), …`. `None` if it is none of these.
pub(super) fn parse(message: &str) -> Option<SchedulerMessage> {
    if let Some(rest) = message.strip_prefix("No nodes are available that match all of the ") {
        let (_, list) = rest.split_once(':')?;
        let reasons = list.trim_start_matches(':').split(", ").filter_map(count_last);
        return Some(SchedulerMessage { nodes: None, reasons: reasons.collect() });
    }
    let (available, rest) = message.split_once(" nodes are available: ")?;
    let nodes = available.split_once('/')?.1.parse().ok()?;
    let rest = rest.split(" preemption: ").next().unwrap_or(rest);
    let mut reasons = BTreeMap::new();
    for part in split_reasons(rest) {
        if let Some((count, reason)) = count_first(&part) {
            *reasons.entry(current_wording(reason)).or_default() += count;
        }
    }
    Some(SchedulerMessage { nodes: Some(nodes), reasons })
}

/// Splits at commas that are followed by a number: reasons contain commas, too.
fn split_reasons(text: &str) -> Vec<String> {
    let mut split_reasons: Vec<String> = Vec::new();
    for piece in text.trim().trim_end_matches('.').split(", ") {
        match split_reasons.last_mut() {
            Some(last) if count_first(piece).is_none() => {
                last.push_str(", ");
                last.push_str(piece);
            }
            _ => split_reasons.push(piece.to_owned()),
        }
    }
    split_reasons
}

/// Parses `6 Insufficient cpu`.
fn count_first(part: &str) -> Option<(usize, &str)> {
    let (count, reason) = part.trim().split_once(' ')?;
    Some((count.parse().ok()?, reason))
}

/// Parses `Insufficient cpu (19)`.
fn count_last(part: &str) -> Option<(String, usize)> {
    let (reason, count) = part.trim().trim_end_matches('.').rsplit_once(" (")?;
    Some((current_wording(reason), count.trim_end_matches(')').parse().ok()?))
}

fn current_wording(reason: &str) -> String {
    let reason = reason.trim().trim_end_matches('.');
    let is_taint =
        reason.starts_with("node(s) had taint") || reason.starts_with("node(s) had untolerated taint");
    let today = match reason {
        _ if is_taint || reason == "PodToleratesNodeTaints" => "node(s) had untolerated taint(s)",
        "node(s) didn't match node selector"
        | "node(s) didn't match Pod's node affinity"
        | "MatchNodeSelector" => "node(s) didn't match Pod's node affinity/selector",
        "node(s) had volume node affinity conflict" => {
            "node(s) didn't match PersistentVolume's node affinity"
        }
        "NodeUnschedulable" => "node(s) were unschedulable",
        other => other,
    };
    today.to_owned()
}

/// The differences between the scheduler's message and our own, one sentence each.
pub(super) fn differences(said: &str, counted: &str, scheduler: &str) -> Vec<String> {
    let (Some(said), Some(counted)) = (parse(said), parse(counted)) else { return Vec::new() };
    if said.reasons.is_empty() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    if let (Some(said), Some(counted)) = (said.nodes, counted.nodes)
        && said != counted
    {
        notes.push(format!("{scheduler} reports {said} nodes, we count {counted} (the cluster is newer)"));
    }
    let reasons: std::collections::BTreeSet<&String> =
        said.reasons.keys().chain(counted.reasons.keys()).collect();
    for reason in reasons {
        let of = |one: &SchedulerMessage| one.reasons.get(reason).copied().unwrap_or(0);
        if of(&said) != of(&counted) {
            notes.push(format!("{scheduler} reports {} {reason}, we count {}", of(&said), of(&counted)));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::{differences, parse};

    fn reasons(message: &str) -> Vec<(String, usize)> {
        parse(message).unwrap().reasons.into_iter().collect()
    }

    fn pair(reason: &str, count: usize) -> (String, usize) {
        (reason.to_owned(), count)
    }

    const TAINT: &str = "node(s) had untolerated taint(s)";
    const LABEL: &str = "node(s) didn't match Pod's node affinity/selector";

    #[test]
    fn messages_of_every_version_are_understood() {
        let table = [
            (
                "No nodes are available that match all of the following predicates:: Insufficient cpu (4).",
                vec![pair("Insufficient cpu", 4)],
            ),
            (
                "No nodes are available that match all of the predicates: Insufficient cpu (19), PodToleratesNodeTaints (10).",
                vec![pair("Insufficient cpu", 19), pair(TAINT, 10)],
            ),
            (
                "0/5 nodes are available: 1 Insufficient cpu, 2 node(s) had taints that the pod didn't tolerate.",
                vec![pair("Insufficient cpu", 1), pair(TAINT, 2)],
            ),
            (
                "0/3 nodes are available: 1 node(s) had taint {a: b, c}, that the pod didn't tolerate, 2 node(s) didn't match node selector.",
                vec![pair(LABEL, 2), pair(TAINT, 1)],
            ),
            (
                "0/4 nodes are available: 1 node(s) had untolerated taint {x: }, 3 node(s) had untolerated taint {y: z}. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.",
                vec![pair(TAINT, 4)],
            ),
            (
                "0/2 nodes are available: 2 node(s) had volume node affinity conflict. preemption: not eligible due to preemptionPolicy=Never.",
                vec![pair("node(s) didn't match PersistentVolume's node affinity", 2)],
            ),
            (
                "0/9 nodes are available: 6 Insufficient cpu, 2 Insufficient memory, 1 node(s) had untolerated taint(s). preemption: found a potential placement for pod on node n, preempting 2 victims",
                vec![pair("Insufficient cpu", 6), pair("Insufficient memory", 2), pair(TAINT, 1)],
            ),
        ];
        for (message, mut expected) in table {
            expected.sort();
            assert_eq!(reasons(message), expected, "{message}");
        }
        assert_eq!(parse("0/9 nodes are available: 9 Too many pods.").unwrap().nodes, Some(9));
        for other in
            ["", "waiting for node n1", "pod (x) failed to fit in any node", "0/x nodes are available: "]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn only_differences_are_told() {
        let ours = "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable.";
        assert_eq!(differences(ours, ours, "s"), [""; 0]);
        assert_eq!(differences("something else", ours, "s"), [""; 0]);
        let theirs = "0/2 nodes are available: 2 Insufficient cpu. preemption: x";
        assert_eq!(
            differences(theirs, ours, "s"),
            [
                "s reports 2 nodes, we count 3 (the cluster is newer)",
                "s reports 0 node(s) were unschedulable, we count 1"
            ]
        );
    }
}
