//! What the reference expects of a pod on a node: the rejections with their numbers, and the reservation that the pod would take.
//! It is computed from the text of the design, with `reference_ledger`.

use super::pod_owner::PodOwner;
use super::reference_ledger::{self, ReferenceEntry, ReferenceState};
use super::test_cluster::{Amounts, Form, Port, RESOURCES, TestCluster, TestPod};

/// What the reference expects of a pod on a node.
#[derive(Debug)]
pub(super) struct Expectation {
    /// The rejections by resources, ports and reservations, sorted.
    pub(super) rejections: Vec<ExpectedRejection>,
    /// Whether the pod passes the filters for cordons, taints, labels and names.
    pub(super) passes_others: bool,
    /// The reservation that the pod would take.
    pub(super) own: Option<usize>,
}

/// A rejection: the plugin, the resource or ports, the numbers (asks, allocatable, used, reserved), and the reservations that
/// block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExpectedRejection {
    pub(super) plugin: &'static str,
    pub(super) what: String,
    pub(super) numbers: [i64; 4],
    pub(super) kept: Vec<String>,
}

pub(super) fn expectation(test_cluster: &TestCluster, test_node: usize, test_pod: usize) -> Expectation {
    let (test_pod, it) = (&test_cluster.test_pods[test_pod], &test_cluster.test_nodes[test_node]);
    let entries = reference_ledger::entries(test_cluster, test_node);
    let own = own(test_cluster, &entries, test_pod);
    let is_kept = |entry: &&ReferenceEntry| {
        let test_reservation = &test_cluster.test_reservations[entry.test_reservation];
        entry.state == ReferenceState::Held
            && own != Some(entry.test_reservation)
            && !reference_ledger::yields(test_cluster, test_reservation, test_pod)
    };
    let entries = reference_ledger::entries_for(test_cluster, &entries, test_pod);
    let kept: Vec<&ReferenceEntry> = entries.iter().filter(is_kept).collect();
    let mut rejections = amounts(test_cluster, test_node, test_pod, &kept);
    rejections.extend(ports(test_cluster, test_node, test_pod, &kept));
    rejections.sort();
    let is_labelled = test_pod.zone.is_none_or(|zone| zone == it.zone);
    let is_named =
        test_pod.pod_owner != PodOwner::Agent || test_pod.tied.is_none_or(|tied| tied == test_node);
    let is_open = !it.cordoned && (!it.tainted || test_pod.tolerates);
    Expectation { rejections, passes_others: is_open && is_labelled && is_named, own }
}

/// The reservation that the pod would take: one for a pod of its name, else the oldest seat that it may use, else a plain
/// reservation.
fn own(test_cluster: &TestCluster, entries: &[ReferenceEntry], test_pod: &TestPod) -> Option<usize> {
    let held = entries
        .iter()
        .filter(|entry| entry.state == ReferenceState::Held)
        .map(|entry| entry.test_reservation);
    let mut usable: Vec<usize> = held
        .filter(|test_reservation| {
            reference_ledger::may_use(
                test_cluster,
                test_pod,
                &test_cluster.test_reservations[*test_reservation],
            )
        })
        .collect();
    usable.sort_by_key(|test_reservation| {
        reference_ledger::age(&test_cluster.test_reservations[*test_reservation])
    });
    let is_seat =
        |test_reservation: &&usize| test_cluster.test_reservations[**test_reservation].form != Form::Plain;
    let is_named = |test_reservation: &&usize| {
        let replaced = test_cluster.test_reservations[**test_reservation]
            .replaces
            .map(|replaced| &test_cluster.test_pods[replaced].name);
        replaced == Some(&test_pod.name)
    };
    let found = usable.iter().find(is_named).or_else(|| usable.iter().find(is_seat));
    found.or_else(|| usable.first()).copied()
}

fn amounts(
    test_cluster: &TestCluster,
    test_node: usize,
    test_pod: &TestPod,
    kept: &[&ReferenceEntry],
) -> Vec<ExpectedRejection> {
    let (has, used) =
        (test_cluster.test_nodes[test_node].has, reference_ledger::used(test_cluster, test_node));
    let reserved: Amounts = reference_ledger::sum(kept.iter().map(|entry| entry.held));
    let mut rejections = Vec::new();
    for (index, resource) in RESOURCES.iter().enumerate() {
        let (asks, free) = (test_pod.asks[index], has[index] - used[index]);
        if asks == 0 || asks <= free - reserved[index] {
            continue;
        }
        let (plugin, counts) =
            if asks > free { ("NodeResourcesFit", 0) } else { ("Reservation", reserved[index]) };
        let blocking = |entry: &&ReferenceEntry| {
            format!("{} {}", test_cluster.test_reservations[entry.test_reservation].id, entry.held[index])
        };
        let mut kept: Vec<String> =
            kept.iter().filter(|entry| entry.held[index] > 0 && counts > 0).map(blocking).collect();
        kept.sort();
        rejections.push(ExpectedRejection {
            plugin,
            what: (*resource).to_owned(),
            numbers: [asks, has[index], used[index], counts],
            kept,
        });
    }
    rejections
}

/// Ports that pods use are rejected by NodePorts, ports that only reservations keep by Reservation.
fn ports(
    test_cluster: &TestCluster,
    test_node: usize,
    test_pod: &TestPod,
    kept: &[&ReferenceEntry],
) -> Vec<ExpectedRejection> {
    let there: Vec<usize> = reference_ledger::counted(test_cluster, test_node);
    let is_used = |port: &&Port| {
        there.iter().any(|other| test_cluster.test_pods[*other].ports.iter().any(|other| clash(port, other)))
    };
    let keepers = |port: &Port| {
        let keeps = |entry: &&&ReferenceEntry| {
            test_cluster.test_reservations[entry.test_reservation]
                .ports
                .iter()
                .any(|other| clash(port, other))
        };
        let ids = kept
            .iter()
            .filter(keeps)
            .map(|entry| test_cluster.test_reservations[entry.test_reservation].id.clone());
        ids.collect::<Vec<_>>()
    };
    let (used, free): (Vec<&Port>, Vec<&Port>) = test_pod.ports.iter().partition(is_used);
    let blocked: Vec<&Port> = free.into_iter().filter(|port| !keepers(port).is_empty()).collect();
    let mut kept: Vec<String> = blocked.iter().flat_map(|port| keepers(port)).collect();
    kept.sort();
    kept.dedup();
    let all = [("NodePorts", used, Vec::new()), ("Reservation", blocked, kept)];
    let rejecting = all.into_iter().filter(|(_, ports, _)| !ports.is_empty());
    rejecting
        .map(|(plugin, ports, kept)| ExpectedRejection { plugin, what: text(&ports), numbers: [0; 4], kept })
        .collect()
}

fn clash(one: &Port, other: &Port) -> bool {
    let all = |ip: &str| ip.is_empty() || ip == "0.0.0.0";
    (one.0, one.2) == (other.0, other.2) && (one.1 == other.1 || all(one.1) || all(other.1))
}

fn text(ports: &[&Port]) -> String {
    let address = |ip: &'static str| if ip.is_empty() { "0.0.0.0" } else { ip };
    ports.iter().map(|(protocol, ip, port)| format!("{protocol} {} {port},", address(ip))).collect()
}
