//! The books of a node as the design's prose has them (§4), done by listing everything there is. Nothing here knows
//! how the ledger does them.

use super::kin::{AGENT, AGENT_ASKS, Kin};
use super::test_cluster::{Amounts, Form, PODS, TestCluster, TestPod, TestReservation, Whom};
use crate::model::owner::OwnerKind;

/// `system-node-critical` and `system-cluster-critical` have this priority or a higher one.
pub(super) const CRITICAL: i32 = 2_000_000_000;

/// What has become of a reservation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Occupied,
    Held,
    /// By this pod.
    Taken(usize),
    Expired,
}

/// A reservation in the books of its node.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) test_reservation: usize,
    pub(super) fate: Fate,
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

/// Every reservation on the node that was not removed.
pub(super) fn lines(test_cluster: &TestCluster, test_node: usize) -> Vec<Line> {
    let takers = takers(test_cluster, test_node);
    let there = |test_reservation: &usize| {
        test_cluster.test_reservations[*test_reservation].test_node == test_node
            && !test_cluster.test_reservations[*test_reservation].removed
    };
    let line = |test_reservation: usize| {
        let it = &test_cluster.test_reservations[test_reservation];
        let taker =
            takers.iter().find(|(taken, _)| *taken == test_reservation).map(|(_, test_pod)| *test_pod);
        let (fate, held) = match taker {
            _ if !is_live(test_cluster, it) => (Fate::Expired, Amounts::default()),
            _ if it.form == Form::Plain || is_occupied(test_cluster, it) => {
                (Fate::Occupied, Amounts::default())
            }
            Some(test_pod) => (Fate::Taken(test_pod), Amounts::default()),
            None => (Fate::Held, it.amount),
        };
        Line { test_reservation, fate, held }
    };
    let mut lines: Vec<Line> = (0..test_cluster.test_reservations.len()).filter(there).map(line).collect();
    let seats = lines.clone();
    for line in &mut lines {
        let it = &test_cluster.test_reservations[line.test_reservation];
        if it.form == Form::Plain && is_live(test_cluster, it) {
            line.held = left(test_cluster, it, &seats);
            line.fate = if line.held == Amounts::default() { Fate::Occupied } else { Fate::Held };
        }
    }
    lines
}

/// The same as one pod finds them: of the plain form, which gives way to few, seats that give way to the pod take nothing.
pub(super) fn lines_for(test_cluster: &TestCluster, lines: &[Line], test_pod: &TestPod) -> Vec<Line> {
    let test_reservation = |line: &Line| &test_cluster.test_reservations[line.test_reservation];
    let is_seat = |line: &&Line| test_reservation(line).form != Form::Plain;
    let seats =
        lines.iter().filter(is_seat).filter(|line| !yields(test_cluster, test_reservation(line), test_pod));
    let seats: Vec<Line> = seats.cloned().collect();
    let found = |line: &Line| match test_reservation(line).form == Form::Plain
        && is_live(test_cluster, test_reservation(line))
    {
        true => {
            let held = left(test_cluster, test_reservation(line), &seats);
            let fate = if held == Amounts::default() { Fate::Occupied } else { Fate::Held };
            Line { fate, held, ..line.clone() }
        }
        false => line.clone(),
    };
    lines.iter().map(found).collect()
}

/// What the owner's pods on the node, and those that seats there are held for, leave of a reservation in the plain form.
fn left(test_cluster: &TestCluster, test_reservation: &TestReservation, seats: &[Line]) -> Amounts {
    let own = counted(test_cluster, test_reservation.test_node)
        .into_iter()
        .map(|test_pod| &test_cluster.test_pods[test_pod]);
    let own = own
        .filter(|test_pod| may_use(test_cluster, test_pod, test_reservation))
        .map(|test_pod| test_pod.asks);
    let owner = |test_reservation: &TestReservation| test_reservation.id.split('.').next().map(str::to_owned);
    let seats = seats.iter().filter(|line| {
        owner(&test_cluster.test_reservations[line.test_reservation]) == owner(test_reservation)
    });
    let used = sum(own.chain(seats.map(|line| line.held)));
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

/// The owners that were read, from the nearest up to the first that was not.
fn owners<'t>(test_cluster: &'t TestCluster, test_pod: &TestPod) -> impl Iterator<Item = usize> + use<'t> {
    test_pod.kin.owners().iter().copied().take_while(|place| test_cluster.read[*place])
}

pub(super) fn may_use(
    test_cluster: &TestCluster,
    test_pod: &TestPod,
    test_reservation: &TestReservation,
) -> bool {
    let replaced = test_reservation.replaces.map(|replaced| &test_cluster.test_pods[replaced]);
    match test_reservation.whom {
        Whom::Pod(owner) if test_reservation.form == Form::Recorded => {
            let owner = &test_cluster.test_pods[owner];
            let is_same = test_pod.name == owner.name && test_pod.kin.namespace() == owner.kin.namespace();
            test_pod.kin.is_bare() && is_same
        }
        Whom::Pod(owner) => test_pod.kin.is_bare() && test_pod.uid == test_cluster.test_pods[owner].uid,
        Whom::Workload(place) => {
            let is_named = replaced.is_none_or(|replaced| replaced.name == test_pod.name);
            let is_stateful =
                test_pod.kin == Kin::Db && test_cluster.workloads[place].kind == OwnerKind::StatefulSet;
            owners(test_cluster, test_pod).any(|owner| owner == place) && (is_named || !is_stateful)
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

/// Whether the controller of the DaemonSet would make the pod for the node: the only one there, of no more than the template
/// asks for, and nowhere where the template tolerates no taint.
fn is_daemon_of(test_cluster: &TestCluster, test_pod: &TestPod, test_node: usize) -> bool {
    let is_other = |other: &TestPod| other.kin == Kin::Agent && other.uid != test_pod.uid && !other.deleting;
    let others = counted(test_cluster, test_node)
        .into_iter()
        .filter(|other| is_other(&test_cluster.test_pods[*other]));
    owners(test_cluster, test_pod).any(|owner| owner == AGENT)
        && test_pod.tied == Some(test_node)
        && !test_cluster.test_nodes[test_node].tainted
        && test_pod.asks.iter().zip(AGENT_ASKS).all(|(asks, most)| *asks <= most)
        && others.count() == 0
}

/// Orders reservations by age. What does not say when it was made was there before everything else.
pub(super) fn age(test_reservation: &TestReservation) -> (Option<i64>, &str) {
    (Some(test_reservation.created).filter(|_| test_reservation.form == Form::Recorded), &test_reservation.id)
}

/// Whether the pod's stamp names a seat of its owner, whatever became of that. Of a bare pod that was recreated nobody
/// knows any more which UID its owner had.
fn has_sat(test_cluster: &TestCluster, test_pod: &TestPod) -> bool {
    let Some((owner, _)) = test_pod.stamp().and_then(|stamp| stamp.split_once('.')) else { return false };
    let is_own =
        owners(test_cluster, test_pod).any(|place| test_cluster.workloads[place].uid.to_string() == owner);
    test_pod.kin.is_bare() || is_own
}

/// Who goes before whom, which goes before which; the pod, the promise.
type Claim<'t> = ((bool, Option<i64>, &'t str, &'t str), (bool, Option<i64>, &'t str), usize, usize);

/// Who has taken which: of all claims the strongest is granted, until none is left. Whoever got one, and whatever is
/// given away, is out.
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
        for who in
            counted(test_cluster, test_node).into_iter().filter(|who| test_reservation.replaces != Some(*who))
        {
            let test_pod = &test_cluster.test_pods[who];
            let is_stamped = test_pod.stamp() == Some(&test_reservation.id);
            let is_later = test_reservation.form == Form::Recorded
                && test_pod.since.is_some_and(|since| since >= test_reservation.created);
            if may_use(test_cluster, test_pod, test_reservation)
                && (is_stamped || (is_later && !has_sat(test_cluster, test_pod)))
            {
                let rank = (!is_stamped, test_pod.since, test_pod.kin.namespace(), &*test_pod.name);
                let (created, id) = age(test_reservation);
                claims.push((rank, (is_occupied(test_cluster, test_reservation), created, id), who, index));
            }
        }
    }
    claims
}

/// One slot for each pod is understood.
pub(super) fn with_slot(mut amounts: Amounts) -> Amounts {
    amounts[PODS] = 1;
    amounts
}
