//! What a node has for a pod by the design's prose: the room, the seat that the pod would take, the ports that are kept.

use super::books::{self, Fate, Line};
use super::kin::Kin;
use super::test_cluster::{Amounts, Form, Port, RESOURCES, TestCluster, TestPod};

/// What the reference thinks of a pod on a node.
#[derive(Debug)]
pub(super) struct Opinion {
    /// What is to be said against it, sorted.
    pub(super) said: Vec<Said>,
    /// Whether cordons, taints and labels let it in.
    pub(super) lets_in: bool,
    /// The reservation that the pod would take.
    pub(super) own: Option<usize>,
}

/// A refusal: by which plugin, of what, with which numbers (asks, allocatable, used, reserved), kept for whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Said {
    pub(super) plugin: &'static str,
    pub(super) what: String,
    pub(super) numbers: [i64; 4],
    pub(super) kept: Vec<String>,
}

pub(super) fn opinion(test_cluster: &TestCluster, test_node: usize, test_pod: usize) -> Opinion {
    let (test_pod, it) = (&test_cluster.test_pods[test_pod], &test_cluster.test_nodes[test_node]);
    let lines = books::lines(test_cluster, test_node);
    let own = own(test_cluster, &lines, test_pod);
    let is_kept = |line: &&Line| {
        let test_reservation = &test_cluster.test_reservations[line.test_reservation];
        line.fate == Fate::Held
            && own != Some(line.test_reservation)
            && !books::yields(test_cluster, test_reservation, test_pod)
    };
    let lines = books::lines_for(test_cluster, &lines, test_pod);
    let kept: Vec<&Line> = lines.iter().filter(is_kept).collect();
    let mut said = amounts(test_cluster, test_node, test_pod, &kept);
    said.extend(ports(test_cluster, test_node, test_pod, &kept));
    said.sort();
    let is_labelled = test_pod.zone.is_none_or(|zone| zone == it.zone);
    let is_named = test_pod.kin != Kin::Agent || test_pod.tied.is_none_or(|tied| tied == test_node);
    let is_open = !it.cordoned && (!it.tainted || test_pod.tolerates);
    Opinion { said, lets_in: is_open && is_labelled && is_named, own }
}

/// The one named for the pod, else the oldest that it may use; a seat before the plain form, which others share.
fn own(test_cluster: &TestCluster, lines: &[Line], test_pod: &TestPod) -> Option<usize> {
    let held = lines.iter().filter(|line| line.fate == Fate::Held).map(|line| line.test_reservation);
    let mut usable: Vec<usize> = held
        .filter(|test_reservation| {
            books::may_use(test_cluster, test_pod, &test_cluster.test_reservations[*test_reservation])
        })
        .collect();
    usable.sort_by_key(|test_reservation| books::age(&test_cluster.test_reservations[*test_reservation]));
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

fn amounts(test_cluster: &TestCluster, test_node: usize, test_pod: &TestPod, kept: &[&Line]) -> Vec<Said> {
    let (has, used) = (test_cluster.test_nodes[test_node].has, books::used(test_cluster, test_node));
    let reserved: Amounts = books::sum(kept.iter().map(|line| line.held));
    let mut said = Vec::new();
    for (index, resource) in RESOURCES.iter().enumerate() {
        let (asks, free) = (test_pod.asks[index], has[index] - used[index]);
        if asks == 0 || asks <= free - reserved[index] {
            continue;
        }
        let (plugin, counts) =
            if asks > free { ("NodeResourcesFit", 0) } else { ("Reservation", reserved[index]) };
        let keeper = |line: &&Line| {
            format!("{} {}", test_cluster.test_reservations[line.test_reservation].id, line.held[index])
        };
        let mut kept: Vec<String> =
            kept.iter().filter(|line| line.held[index] > 0 && counts > 0).map(keeper).collect();
        kept.sort();
        said.push(Said {
            plugin,
            what: (*resource).to_owned(),
            numbers: [asks, has[index], used[index], counts],
            kept,
        });
    }
    said
}

/// Who wants a port of a pod hears it from NodePorts, who wants one that is only kept from us.
fn ports(test_cluster: &TestCluster, test_node: usize, test_pod: &TestPod, kept: &[&Line]) -> Vec<Said> {
    let there: Vec<usize> = books::counted(test_cluster, test_node);
    let is_used = |port: &&Port| {
        there.iter().any(|other| test_cluster.test_pods[*other].ports.iter().any(|other| clash(port, other)))
    };
    let keepers = |port: &Port| {
        let keeps = |line: &&&Line| {
            test_cluster.test_reservations[line.test_reservation].ports.iter().any(|other| clash(port, other))
        };
        let ids = kept
            .iter()
            .filter(keeps)
            .map(|line| test_cluster.test_reservations[line.test_reservation].id.clone());
        ids.collect::<Vec<_>>()
    };
    let (used, free): (Vec<&Port>, Vec<&Port>) = test_pod.ports.iter().partition(is_used);
    let blocked: Vec<&Port> = free.into_iter().filter(|port| !keepers(port).is_empty()).collect();
    let mut kept: Vec<String> = blocked.iter().flat_map(|port| keepers(port)).collect();
    kept.sort();
    kept.dedup();
    let all = [("NodePorts", used, Vec::new()), ("Reservation", blocked, kept)];
    let refuses = all.into_iter().filter(|(_, ports, _)| !ports.is_empty());
    refuses
        .map(|(plugin, ports, kept)| Said { plugin, what: written(&ports), numbers: [0; 4], kept })
        .collect()
}

fn clash(one: &Port, other: &Port) -> bool {
    let all = |ip: &str| ip.is_empty() || ip == "0.0.0.0";
    (one.0, one.2) == (other.0, other.2) && (one.1 == other.1 || all(one.1) || all(other.1))
}

fn written(ports: &[&Port]) -> String {
    let address = |ip: &'static str| if ip.is_empty() { "0.0.0.0" } else { ip };
    ports.iter().map(|(protocol, ip, port)| format!("{protocol} {} {port},", address(ip))).collect()
}
