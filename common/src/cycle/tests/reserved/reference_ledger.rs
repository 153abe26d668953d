//! The reference for `Ledger`: computes the entries of a node from all pods and reservations, directly from the text of the design
//! (§4). It must not use the code of `Ledger`.

use super::pod_owner::{AGENT, AGENT_ASKS, PodOwner};
use super::test_cluster::{Amounts, Form, PODS, ReservationOwner, TestCluster, TestPod, TestReservation};
use crate::model::owner::OwnerKind;

/// `system-node-critical` and `system-cluster-critical` have this priority or a higher one.
pub(super) const CRITICAL: i32 = 2_000_000_000;

/// The state that the reference expects of a reservation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ReferenceState {
    Occupied,
    Held,
    /// Taken by the pod of this index.
    Taken(usize),
    Expired,
}

/// A reservation in the ledger of its node, as the reference computes it.
#[derive(Clone, Debug)]
pub(super) struct ReferenceEntry {
    pub(super) test_reservation: usize,
    pub(super) state: ReferenceState,
    pub(super) held: Amounts,
}

pub(super) fn counted(test_cluster: &TestCluster, test_node: usize) -> Vec<usize> {
    (0..test_cluster.test_pods.len())
        .filter(|test_pod| test_cluster.test_pods[*test_pod].is_on(test_node))
        .collect()
}

pub(super) fn used(test_cluster: &TestCluster, test_node: usize) -> Amounts {
    sum(counted(test_cluster, test_node).into_iter().map(|test_pod| test_cluster.test_pods[test_pod].asks))
}

pub(super) fn sum(all: impl Iterator<Item = Amounts>) -> Amounts {
    all.fold(Amounts::default(), |sum, one| std::array::from_fn(|index| sum[index] + one[index]))
}

/// The entries of the node: every reservation there that was not removed.
pub(super) fn entries(test_cluster: &TestCluster, test_node: usize) -> Vec<ReferenceEntry> {
    let takers = takers(test_cluster, test_node);
    let there = |test_reservation: &usize| {
        test_cluster.test_reservations[*test_reservation].test_node == test_node
            && !test_cluster.test_reservations[*test_reservation].removed
    };
    let entry = |test_reservation: usize| {
        let it = &test_cluster.test_reservations[test_reservation];
        let taker =
            takers.iter().find(|(taken, _)| *taken == test_reservation).map(|(_, test_pod)| *test_pod);
        let (state, held) = match taker {
            _ if !is_live(test_cluster, it) => (ReferenceState::Expired, Amounts::default()),
            _ if it.form == Form::Plain || is_occupied(test_cluster, it) => {
                (ReferenceState::Occupied, Amounts::default())
            }
            Some(test_pod) => (ReferenceState::Taken(test_pod), Amounts::default()),
            None => (ReferenceState::Held, it.amount),
        };
        ReferenceEntry { test_reservation, state, held }
    };
    let mut entries: Vec<ReferenceEntry> =
        (0..test_cluster.test_reservations.len()).filter(there).map(entry).collect();
    let seats = entries.clone();
    for entry in &mut entries {
        let it = &test_cluster.test_reservations[entry.test_reservation];
        if it.form == Form::Plain && is_live(test_cluster, it) {
            entry.held = remaining(test_cluster, it, &seats);
            entry.state = if entry.held == Amounts::default() {
                ReferenceState::Occupied
            } else {
                ReferenceState::Held
            };
        }
    }
    entries
}

/// The entries as they count for one pod. A plain reservation is reduced by the seats of its owner; seats that yield to the pod do
/// not reduce it.
pub(super) fn entries_for(
    test_cluster: &TestCluster,
    entries: &[ReferenceEntry],
    test_pod: &TestPod,
) -> Vec<ReferenceEntry> {
    let test_reservation = |entry: &ReferenceEntry| &test_cluster.test_reservations[entry.test_reservation];
    let is_seat = |entry: &&ReferenceEntry| test_reservation(entry).form != Form::Plain;
    let seats = entries.iter().filter(is_seat).filter(|entry| {
        entry.state != ReferenceState::Held || !yields(test_cluster, test_reservation(entry), test_pod)
    });
    let seats: Vec<ReferenceEntry> = seats.cloned().collect();
    let for_pod = |entry: &ReferenceEntry| match test_reservation(entry).form == Form::Plain
        && is_live(test_cluster, test_reservation(entry))
    {
        true => {
            let held = remaining(test_cluster, test_reservation(entry), &seats);
            let state =
                if held == Amounts::default() { ReferenceState::Occupied } else { ReferenceState::Held };
            ReferenceEntry { state, held, ..entry.clone() }
        }
        false => entry.clone(),
    };
    entries.iter().map(for_pod).collect()
}

/// The amount of a plain reservation less what the owner's pods on the node use and what seats of the same owner hold there. A pod
/// that took such a seat is a pod of the owner.
fn remaining(
    test_cluster: &TestCluster,
    test_reservation: &TestReservation,
    seats: &[ReferenceEntry],
) -> Amounts {
    let owner = |test_reservation: &TestReservation| test_reservation.id.split('.').next().map(str::to_owned);
    let is_same_owner = |entry: &&ReferenceEntry| {
        owner(&test_cluster.test_reservations[entry.test_reservation]) == owner(test_reservation)
    };
    let took_seat = |test_pod: usize| {
        let mut all = seats.iter().filter(is_same_owner);
        all.any(|entry| entry.state == ReferenceState::Taken(test_pod))
    };
    let own = counted(test_cluster, test_reservation.test_node).into_iter().filter(|test_pod| {
        may_use(test_cluster, &test_cluster.test_pods[*test_pod], test_reservation) || took_seat(*test_pod)
    });
    let own = own.map(|test_pod| test_cluster.test_pods[test_pod].asks);
    let seats = seats.iter().filter(is_same_owner);
    let used = sum(own.chain(seats.map(|entry| entry.held)));
    std::array::from_fn(|index| (test_reservation.amount[index] - used[index]).max(0))
}

pub(super) fn is_live(test_cluster: &TestCluster, test_reservation: &TestReservation) -> bool {
    !test_reservation.removed && test_reservation.expires.is_none_or(|expires| test_cluster.now < expires)
}

fn is_occupied(test_cluster: &TestCluster, test_reservation: &TestReservation) -> bool {
    test_reservation
        .replaces
        .is_some_and(|test_pod| test_cluster.test_pods[test_pod].is_on(test_reservation.test_node))
}

/// The owners of the pod that were read, nearest first, up to the first that was not read.
fn owners<'t>(test_cluster: &'t TestCluster, test_pod: &TestPod) -> impl Iterator<Item = usize> + use<'t> {
    test_pod.pod_owner.owners().iter().copied().take_while(|index| test_cluster.read[*index])
}

pub(super) fn may_use(
    test_cluster: &TestCluster,
    test_pod: &TestPod,
    test_reservation: &TestReservation,
) -> bool {
    let replaced = test_reservation.replaces.map(|replaced| &test_cluster.test_pods[replaced]);
    match test_reservation.reservation_owner {
        ReservationOwner::Pod(owner) if test_reservation.form == Form::Recorded => {
            let owner = &test_cluster.test_pods[owner];
            let is_same =
                test_pod.name == owner.name && test_pod.pod_owner.namespace() == owner.pod_owner.namespace();
            test_pod.pod_owner.is_bare() && is_same
        }
        ReservationOwner::Pod(owner) => {
            test_pod.pod_owner.is_bare() && test_pod.uid == test_cluster.test_pods[owner].uid
        }
        ReservationOwner::Workload(workload) => {
            let is_named = replaced.is_none_or(|replaced| replaced.name == test_pod.name);
            let is_stateful = test_pod.pod_owner == PodOwner::Db
                && test_cluster.workloads[workload].kind == OwnerKind::StatefulSet;
            owners(test_cluster, test_pod).any(|owner| owner == workload) && (is_named || !is_stateful)
        }
    }
}

/// Whether the reservation yields to the pod.
pub(super) fn yields(
    test_cluster: &TestCluster,
    test_reservation: &TestReservation,
    test_pod: &TestPod,
) -> bool {
    let is_outranked =
        test_reservation.form == Form::Recorded && test_pod.priority > test_reservation.priority;
    is_outranked || is_exempt(test_cluster, test_pod, test_reservation.test_node)
}

/// Whether every reservation on the node yields to the pod.
pub(super) fn is_exempt(test_cluster: &TestCluster, test_pod: &TestPod, test_node: usize) -> bool {
    test_pod.priority >= CRITICAL || is_daemon_of(test_cluster, test_pod, test_node)
}

/// Whether the controller of the DaemonSet would create the pod for the node: no other pod of the DaemonSet is there, the pod
/// requests no more than the template, and the node has no taint (the template tolerates none).
fn is_daemon_of(test_cluster: &TestCluster, test_pod: &TestPod, test_node: usize) -> bool {
    let is_other =
        |other: &TestPod| other.pod_owner == PodOwner::Agent && other.uid != test_pod.uid && !other.deleting;
    let others = counted(test_cluster, test_node)
        .into_iter()
        .filter(|other| is_other(&test_cluster.test_pods[*other]));
    owners(test_cluster, test_pod).any(|owner| owner == AGENT)
        && test_pod.tied == Some(test_node)
        && !test_cluster.test_nodes[test_node].tainted
        && test_pod.asks.iter().zip(AGENT_ASKS).all(|(asks, most)| *asks <= most)
        && others.count() == 0
}

/// The sort key of a reservation by age. A reservation without a creation time is the oldest.
pub(super) fn age(test_reservation: &TestReservation) -> (Option<i64>, &str) {
    (Some(test_reservation.created).filter(|_| test_reservation.form == Form::Recorded), &test_reservation.id)
}

/// Whether the pod's stamp names a seat of its owner, even one that is gone. For a bare pod every stamp counts: the UID of the
/// recreated pod is not known any more.
fn has_own_stamp(test_cluster: &TestCluster, test_pod: &TestPod) -> bool {
    let Some((owner, _)) = test_pod.stamp().and_then(|stamp| stamp.split_once('.')) else { return false };
    let is_own =
        owners(test_cluster, test_pod).any(|index| test_cluster.workloads[index].uid.to_string() == owner);
    test_pod.pod_owner.is_bare() || is_own
}

/// A pod that could take a reservation: the sort key of the pod, the sort key of the reservation, the indexes of both.
type Claim<'t> = ((bool, Option<i64>, &'t str, &'t str), (bool, Option<i64>, &'t str), usize, usize);

/// Which reservation was taken by which pod. The smallest claim is granted first; then all claims of the same pod and for the same
/// reservation are dropped, until no claim is left.
fn takers(test_cluster: &TestCluster, test_node: usize) -> Vec<(usize, usize)> {
    let mut claims = claims(test_cluster, test_node);
    let mut takers = Vec::new();
    while let Some((_, _, test_pod, test_reservation)) = claims.iter().min().copied() {
        takers.push((test_reservation, test_pod));
        claims.retain(|(_, _, other, of)| *other != test_pod && *of != test_reservation);
    }
    takers
}

fn claims(test_cluster: &TestCluster, test_node: usize) -> Vec<Claim<'_>> {
    let mut claims = Vec::new();
    for (index, test_reservation) in test_cluster.test_reservations.iter().enumerate() {
        if test_reservation.test_node != test_node
            || test_reservation.form == Form::Plain
            || !is_live(test_cluster, test_reservation)
        {
            continue;
        }
        for pod in
            counted(test_cluster, test_node).into_iter().filter(|pod| test_reservation.replaces != Some(*pod))
        {
            let test_pod = &test_cluster.test_pods[pod];
            let is_stamped = test_pod.stamp() == Some(&test_reservation.id);
            let is_later = test_reservation.form == Form::Recorded
                && test_pod.since.is_some_and(|since| since >= test_reservation.created);
            if may_use(test_cluster, test_pod, test_reservation)
                && (is_stamped || (is_later && !has_own_stamp(test_cluster, test_pod)))
            {
                let rank = (!is_stamped, test_pod.since, test_pod.pod_owner.namespace(), &*test_pod.name);
                let (created, id) = age(test_reservation);
                claims.push((rank, (is_occupied(test_cluster, test_reservation), created, id), pod, index));
            }
        }
    }
    claims
}

/// The amounts with one pod slot, which every pod and every reservation takes.
pub(super) fn with_slot(mut amounts: Amounts) -> Amounts {
    amounts[PODS] = 1;
    amounts
}
