//! Checks of the replicas, the schedulers and the reservations, from the same values as `status`.

use crate::cluster_data::ClusterData;
use crate::render::doctor::Check;
use crate::render::plural;
use crate::render::status::{Installation, SchedulerLine, StatusReport};
use common::api::names;
use common::api::reservation::PER_NODE_MAX;
use common::cluster::{Enforcement, ReservationState};
use common::model::reservation::Reservation;
use common::model::reservation::{ANNOTATIONS_MAX, BYTES_MAX, KEYS_MAX};
use std::collections::BTreeMap;

/// The maximum number of objects that one check names.
const NAMED_MAX: usize = 5;

/// Facts about the cluster that `status` does not have.
pub(super) struct ClusterFacts {
    pub(super) namespace: String,
    /// Whether the daemon is configured as kube-scheduler's extender.
    pub(super) is_extender: bool,
    /// The Deployments of cluster autoscalers, as `namespace/name`.
    pub(super) autoscalers: Vec<String>,
    /// The annotations of each node.
    pub(super) nodes: Vec<(String, BTreeMap<String, String>)>,
}

/// The checks of the replicas: they live, one leads, and all have the same version.
pub(super) fn replicas(status: &StatusReport, facts: &ClusterFacts) -> Vec<Check> {
    let logs = format!("kubectl -n {} logs deployment/{}", facts.namespace, names::AUTOMATIC);
    if !status.can_see("leases") && status.replicas.is_empty() {
        return vec![Check::note("replicas", "not checked: needs list leases in its namespace")];
    }
    let live: Vec<_> = status.live().collect();
    if live.is_empty() {
        let message = "no replica is live: nothing keeps reservations";
        return vec![match &status.installation {
            Installation::NotReady { why, .. } => Check::fail("replicas", format!("{message}: {why}"), logs),
            _ => Check::warn("replicas", message, "kubectl reserve install"),
        }];
    }
    let mut checks = vec![Check::ok("replicas", format!("{} live", plural(live.len(), "replica")))];
    checks.push(match live.iter().find(|replica| replica.is_leader) {
        Some(leader) => Check::ok("leader", leader.name.clone()),
        None => Check::fail("leader", "nobody leads: nothing is placed, reserved or released", logs),
    });
    let mut versions: Vec<&str> = live.iter().map(|replica| replica.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let client = &status.client;
    checks.push(match &versions[..] {
        [one] if one == client => Check::ok("version", format!("{one}, as this command")),
        [one] => Check::warn(
            "version",
            format!("the daemon is {one}, this command {client}"),
            "kubectl reserve install",
        ),
        several => Check::warn(
            "version",
            format!("replicas of {} run side by side", several.join(" and ")),
            format!("kubectl -n {} rollout status deployment/{}", facts.namespace, names::AUTOMATIC),
        ),
    });
    for replica in live.iter().filter(|replica| replica.is_restricted) {
        checks.push(Check::warn(
            "replicas",
            format!("{} may not write reservations: it honours them, but makes and releases none", replica.name),
            "give it the ClusterRole reserve-daemon: kubectl reserve install, or manifests/static-pod/rbac.yaml",
        ));
    }
    let behind = live.iter().filter(|replica| replica.is_behind).count();
    if behind > 0 {
        let who = plural(behind, "replica");
        checks.push(Check::note("lag", format!("{who} has yet to see the newest change of a node")));
    }
    checks
}

/// The checks of the schedulers: which enforce reservations, and whether pods name a scheduler that does not run.
pub(super) fn schedulers(status: &StatusReport, facts: &ClusterFacts) -> Vec<Check> {
    let mut checks: Vec<Check> = status.schedulers.iter().map(|line| scheduler(line, status)).collect();
    let asks = status.live().any(|replica| !replica.extends.is_empty());
    if facts.is_extender && !asks {
        checks.push(Check::warn(
            "extender",
            "the daemon would answer kube-scheduler as its extender, but nobody asked lately",
            "give kube-scheduler the configuration that kubectl reserve install --extender prints",
        ));
    }
    if asks {
        checks.push(Check::note(
            "extender",
            "kube-scheduler's configuration should say percentageOfNodesToScore: 100, else it may not look at the node \
             where room is kept; that cannot be seen from here",
        ));
    }
    checks
}

fn scheduler(line: &SchedulerLine, status: &StatusReport) -> Check {
    const NAME: &str = "scheduler";
    let SchedulerLine { name, pods, pending, enforcement } = line;
    let count = plural(*pods, "pod");
    match enforcement {
        Enforcement::Scheduler => Check::ok(NAME, format!("{name} is the daemon: it enforces ({count})")),
        Enforcement::Extender => Check::ok(NAME, format!("{name} asks the daemon: it enforces ({count})")),
        Enforcement::Nobody if !status.can_see("leases") => {
            Check::note(NAME, format!("{name}: not known whether it enforces"))
        }
        Enforcement::Nobody if name == names::SCHEDULER_NAME => Check::fail(
            NAME,
            format!("{count} name {name}, {pending} of them Pending, and no live replica serves that name"),
            "kubectl reserve install",
        ),
        Enforcement::Nobody => Check::warn(
            NAME,
            format!("{name} does not enforce ({count}): reserved room looks free to it"),
            format!(
                "kubectl reserve install --extender, or schedulerName: {} for its pods",
                names::SCHEDULER_NAME
            ),
        ),
    }
}

/// The checks of the reservations: expired, without an owner, malformed, or more than their node has.
pub(super) fn reservations(data: &mut ClusterData, status: &StatusReport) -> Vec<Check> {
    const NAME: &str = "reservations";
    if !status.can_see("nodes") {
        return vec![Check::note(NAME, "not checked: needs list nodes (cluster scope)")];
    }
    let (now, is_partial) = (data.now, data.is_partial);
    let snapshot = data.cluster.snapshot(now);
    let (mut expired, mut ownerless, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    for ledger in snapshot.nodes() {
        let node = &ledger.node.name;
        for entry in &ledger.entries {
            let id = format!("{node}/{}", name(&entry.reservation));
            let is_found = || snapshot.owner(&entry.reservation.id.owner).is_some();
            if entry.state == ReservationState::Expired {
                expired.push(id);
            } else if entry.reservation.is_manual() && !is_partial && !is_found() {
                ownerless.push(id);
            }
        }
        for invalid in ledger.node.reservations.iter().filter_map(|parsed| parsed.invalid()) {
            let message =
                format!("the annotation {} of node {node} is ignored: {}", invalid.key, invalid.problem);
            checks.push(Check::warn(NAME, message, format!("kubectl annotate node {node} {}-", invalid.key)));
        }
    }
    if !expired.is_empty() {
        let message = format!("{} over, and still written down: {}", are(&expired), named(&expired));
        checks.push(Check::warn(NAME, message, "kubectl reserve release --expired"));
    }
    if !ownerless.is_empty() {
        let message = format!("{} for an owner that was not found: {}", are(&ownerless), named(&ownerless));
        checks.push(Check::warn(NAME, message, format!("kubectl reserve release {}", ownerless[0])));
    }
    for node in &status.short {
        let message = format!("node {} has promised more than it has", node.name);
        checks.push(Check::warn(NAME, message, "kubectl reserve list -A, and release what can be spared"));
    }
    if checks.is_empty() {
        checks.push(Check::ok(NAME, format!("{}, nothing stale, malformed or short", status.total())));
    }
    checks
}

/// The name of a reservation, as in `list`: the seat, or the owner's UID in the plain form.
fn name(reservation: &Reservation) -> String {
    let id = &reservation.id;
    id.seat.as_ref().map_or_else(|| id.owner.to_string(), |seat| seat.as_str().to_owned())
}

fn are(ids: &[String]) -> String {
    if ids.len() == 1 { "1 reservation is".into() } else { format!("{} reservations are", ids.len()) }
}

fn named(ids: &[String]) -> String {
    let shown = ids.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if ids.len() > NAMED_MAX { format!("{shown} and {} more", ids.len() - NAMED_MAX) } else { shown }
}

/// The checks of bounds: nodes that have reached four fifths of a limit for reservations.
pub(super) fn bounds(facts: &ClusterFacts) -> Vec<Check> {
    const NAME: &str = "bounds";
    let near: Vec<Check> =
        facts.nodes.iter().filter_map(|(node, annotations)| near(node, annotations)).collect();
    if near.is_empty() { vec![Check::ok(NAME, "no node is near the most that it can hold")] } else { near }
}

fn near(node: &str, annotations: &BTreeMap<String, String>) -> Option<Check> {
    let size = |(key, value): (&String, &String)| key.len() + value.len();
    let ours: Vec<_> = annotations.iter().filter(|(key, _)| key.starts_with(names::NODE_PREFIX)).collect();
    let pairs = ours.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let (reservations, bytes) =
        (common::api::reservation::parse(pairs).len(), ours.iter().copied().map(size).sum());
    let all: usize = annotations.iter().map(size).sum();
    let measures = [
        (reservations, PER_NODE_MAX, "reservations"),
        (ours.len(), KEYS_MAX, "annotations of ours"),
        (bytes, BYTES_MAX, "bytes of ours in annotations"),
        (all, ANNOTATIONS_MAX, "bytes in annotations"),
    ];
    let (count, most, what) = measures.into_iter().find(|(count, most, _)| count * 5 >= most * 4)?;
    Some(Check::warn(
        "bounds",
        format!("node {node} has {count} {what}, of at most {most}"),
        format!("kubectl reserve list -A shows them; kubectl reserve release --node {node} --expired"),
    ))
}

/// The check for cluster autoscalers, which do not know of reservations.
pub(super) fn autoscalers(facts: &ClusterFacts) -> Check {
    if facts.autoscalers.is_empty() {
        return Check::ok("autoscaler", "none was found");
    }
    let who = facts.autoscalers.join(", ");
    Check::note(
        "autoscaler",
        format!("{who}: room that is kept looks free to it, so it may remove such a node"),
    )
}

#[cfg(test)]
mod tests {
    use super::{ClusterFacts, autoscalers, bounds, replicas, reservations, schedulers};
    use crate::render::doctor::{Check, Level};
    use crate::render::status::tests::{data, status};
    use crate::render::status::{Installation, ReplicaLine, StatusReport};

    fn facts() -> ClusterFacts {
        ClusterFacts {
            namespace: "kube-reserve".into(),
            is_extender: false,
            autoscalers: vec![],
            nodes: vec![],
        }
    }

    fn told(checks: &[Check], level: Level) -> Vec<&str> {
        checks.iter().filter(|check| check.level == level).map(|check| check.message.as_str()).collect()
    }

    #[test]
    fn replicas_are_alive_led_and_of_one_version() {
        let checks = replicas(&status(), &facts());
        assert_eq!(told(&checks, Level::Fail), Vec::<&str>::new());
        assert_eq!(
            told(&checks, Level::Ok),
            ["2 replicas live", "reserve-daemon-6d5f9c7b8-4xk2p", "0.1.0, as this command"]
        );
        assert_eq!(told(&checks, Level::Note).len(), 1, "one is behind");
        let mut odd = status();
        odd.replicas.iter_mut().for_each(|replica| replica.is_leader = false);
        odd.replicas[1].version = "0.2.0".into();
        let checks = replicas(&odd, &facts());
        assert_eq!(told(&checks, Level::Fail), ["nobody leads: nothing is placed, reserved or released"]);
        let warned = told(&checks, Level::Warn);
        assert_eq!(warned[0], "replicas of 0.1.0 and 0.2.0 run side by side");
        assert!(warned[1].contains("zz9q7 may not write reservations") && warned.len() == 2, "{warned:?}");
    }

    #[test]
    fn without_a_live_replica_an_installation_fails_and_none_is_a_warning() {
        let none = StatusReport { replicas: Vec::<ReplicaLine>::new(), ..status() };
        assert_eq!(replicas(&none, &facts())[0].level, Level::Warn);
        let installation = Installation::NotReady { namespace: "x".into(), why: "no image".into() };
        let not_ready = StatusReport { installation, replicas: vec![], ..status() };
        assert_eq!(
            told(&replicas(&not_ready, &facts()), Level::Fail),
            ["no replica is live: nothing keeps reservations: no image"]
        );
        let hidden = StatusReport { missing: vec!["list leases (cluster scope)".into()], ..none };
        assert_eq!(replicas(&hidden, &facts())[0].level, Level::Note);
    }

    #[test]
    fn each_scheduler_is_judged_and_an_extender_that_nobody_asks_is_told() {
        let mut status = status();
        let checks = schedulers(&status, &ClusterFacts { is_extender: true, ..facts() });
        assert_eq!(told(&checks, Level::Ok), ["reserve-scheduler is the daemon: it enforces (2 pods)"]);
        assert_eq!(told(&checks, Level::Warn).len(), 2, "{checks:?}");
        status.replicas[1].extends = vec!["default-scheduler".into()];
        let checks = schedulers(&status, &ClusterFacts { is_extender: true, ..facts() });
        assert!(told(&checks, Level::Note)[0].contains("percentageOfNodesToScore"));
        for line in &mut status.schedulers {
            line.enforcement = common::cluster::Enforcement::Nobody;
        }
        let checks = schedulers(&status, &facts());
        assert!(told(&checks, Level::Fail)[0].contains("1 of them Pending"), "{checks:?}");
    }

    #[test]
    fn stale_ownerless_malformed_and_short_ones_are_named() {
        let checks = reservations(&mut data(), &status());
        let told = told(&checks, Level::Warn);
        let wanted = [
            "is ignored",
            "1 reservation is over",
            "an owner that was not found",
            "promised more than it has",
        ];
        for (said, wanted) in told.iter().zip(wanted) {
            assert!(said.contains(wanted), "{said}");
        }
        assert_eq!(told.len(), 4);
        let hidden = StatusReport { missing: vec!["list nodes (cluster scope)".into()], ..status() };
        assert_eq!(reservations(&mut data(), &hidden)[0].level, Level::Note);
    }

    #[test]
    fn a_node_that_is_nearly_full_is_told() {
        let key = |number: usize| {
            (format!("reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173.s{number}"), "1".to_owned())
        };
        let with = |count: usize| ClusterFacts {
            nodes: vec![("n".into(), (0..count).map(key).collect())],
            ..facts()
        };
        assert_eq!(bounds(&with(80))[0].level, Level::Ok);
        assert!(
            bounds(&with(103))[0].message.starts_with("node n has 103 reservations"),
            "{:?}",
            bounds(&with(103))
        );
        assert_eq!(autoscalers(&facts()).level, Level::Ok);
        let scaled = ClusterFacts { autoscalers: vec!["kube-system/cluster-autoscaler".into()], ..facts() };
        assert_eq!(autoscalers(&scaled).level, Level::Note);
    }
}
