//! The expected states of reservations, computed from what really happened in a [`TestCluster`]: lists every possible claim of a
//! pod to a reservation and goes through them in order of precedence. Must not share code with the ledger.

use super::test_cluster::{Family, TestCluster, TestPod, TestReservation};

/// The state that a reservation should have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ExpectedState {
    Occupied,
    Held,
    /// By the pod with this index.
    Taken(usize),
    Expired,
}

/// The expected state of each reservation that was not removed, with its index.
pub(super) fn expected_states(test_cluster: &TestCluster) -> Vec<(usize, ExpectedState)> {
    let takers = takers(test_cluster);
    let there = test_cluster
        .test_reservations
        .iter()
        .enumerate()
        .filter(|(_, test_reservation)| !test_reservation.removed);
    let state = |(index, test_reservation): (usize, &TestReservation)| {
        let taker = takers.iter().find(|(test_reservation, _)| *test_reservation == index);
        let state = match taker {
            _ if !is_live(test_cluster, test_reservation) => ExpectedState::Expired,
            _ if is_occupied(test_cluster, test_reservation) => ExpectedState::Occupied,
            Some((_, test_pod)) => ExpectedState::Taken(*test_pod),
            None => ExpectedState::Held,
        };
        (index, state)
    };
    there.map(state).collect()
}

/// The cpu of all counted pods.
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

/// A claim of a pod to a reservation, in order of precedence: pods with a stamp before pods without one, then pods that were
/// scheduled earlier; for each pod, empty reservations before occupied ones, then old ones before new ones. Then the indexes of the
/// pod and of the reservation.
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
            if is_stamped || (!test_pod.has_own_stamp && came_after) {
                let pod_order = (!is_stamped, test_pod.since, test_pod.name.clone());
                claims.push((
                    pod_order,
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
