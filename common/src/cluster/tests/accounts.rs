//! The books done another way: from what really happened in a [`TestCluster`], by listing every possible claim and going
//! through them in order of precedence. Shares no code with the ledger.

use super::history::{Family, TestCluster, TestPod, TestReservation};

/// What has become of a reservation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Occupied,
    Held,
    /// By the pod with this index.
    Taken(usize),
    Expired,
}

/// What has become of each reservation that was not removed, by its place in the list.
pub(super) fn fates(test_cluster: &TestCluster) -> Vec<(usize, Fate)> {
    let takers = takers(test_cluster);
    let there = test_cluster
        .test_reservations
        .iter()
        .enumerate()
        .filter(|(_, test_reservation)| !test_reservation.removed);
    let fate = |(index, test_reservation): (usize, &TestReservation)| {
        let taker = takers.iter().find(|(test_reservation, _)| *test_reservation == index);
        let fate = match taker {
            _ if !is_live(test_cluster, test_reservation) => Fate::Expired,
            _ if is_occupied(test_cluster, test_reservation) => Fate::Occupied,
            Some((_, test_pod)) => Fate::Taken(*test_pod),
            None => Fate::Held,
        };
        (index, fate)
    };
    there.map(fate).collect()
}

/// The cpu of all pods that are there.
pub(super) fn used(test_cluster: &TestCluster) -> i64 {
    test_cluster.test_pods.iter().filter(|test_pod| test_pod.is_counted()).map(|test_pod| test_pod.cpu).sum()
}

fn is_live(test_cluster: &TestCluster, test_reservation: &TestReservation) -> bool {
    !test_reservation.removed && test_cluster.now < test_reservation.expires
}

fn is_occupied(test_cluster: &TestCluster, test_reservation: &TestReservation) -> bool {
    test_reservation.replaces.is_some_and(|test_pod| test_cluster.test_pods[test_pod].is_counted())
}

fn may_use(test_cluster: &TestCluster, test_pod: &TestPod, test_reservation: &TestReservation) -> bool {
    let named = test_reservation
        .replaces
        .is_none_or(|replaced| test_cluster.test_pods[replaced].name == test_pod.name);
    test_pod.related && (test_cluster.family != Family::StatefulSet || named)
}

/// A claim of a pod to a promise; the smaller goes first. Those with a stamp go before those without; then who came
/// first; then, for each, the empty before the occupied, and the old before the new.
type Claim = ((bool, Option<i64>, String), (bool, i64, String), usize, usize);

fn takers(test_cluster: &TestCluster) -> Vec<(usize, usize)> {
    let mut claims: Vec<Claim> = Vec::new();
    for (seat, test_reservation) in test_cluster
        .test_reservations
        .iter()
        .enumerate()
        .filter(|(_, test_reservation)| is_live(test_cluster, test_reservation))
    {
        for (index, test_pod) in
            test_cluster.test_pods.iter().enumerate().filter(|(_, test_pod)| test_pod.is_counted())
        {
            if test_reservation.replaces == Some(index) || !may_use(test_cluster, test_pod, test_reservation)
            {
                continue;
            }
            let id = test_reservation.id.to_string();
            let is_stamped = test_pod.stamp.as_ref() == Some(&id);
            let came_after = test_pod.since.is_some_and(|since| since >= test_reservation.created);
            if is_stamped || (!test_pod.sat && came_after) {
                let who = (!is_stamped, test_pod.since, test_pod.name.clone());
                claims.push((
                    who,
                    (is_occupied(test_cluster, test_reservation), test_reservation.created, id),
                    index,
                    seat,
                ));
            }
        }
    }
    claims.sort();
    let mut takers: Vec<(usize, usize)> = Vec::new();
    for (_, _, test_pod, seat) in claims {
        if takers.iter().all(|(taken, by)| *taken != seat && *by != test_pod) {
            takers.push((seat, test_pod));
        }
    }
    takers
}
