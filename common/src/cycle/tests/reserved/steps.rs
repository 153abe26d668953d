//! The steps of a random history. Each step changes the test's own record, and sends the same change to `Cluster`.

use super::check::check_decision;
use super::pod_owner::WORKLOADS;
use super::random::{older, replacing, test_node, test_pod, test_reservation};
use super::test_cluster::{
    Omission, PodLocation, ReservationOwner, TestCluster, TestNode, TestPod, TestReservation,
};
use crate::cluster::{Assumption, Event, WatchEvent};
use crate::framework::Registry;
use crate::model::owner::OwnerKind;
use crate::testing::{RandomChoices, at};

impl TestCluster {
    /// Runs one random step.
    pub(super) fn step(&mut self, random: &mut RandomChoices<'_>, registry: &Registry) {
        self.version += 1;
        match random.below(18) {
            0..=3 => {
                if let Some(new_pod) = test_pod(self, random) {
                    let index = self.add_pod(new_pod);
                    self.schedule_pod(index, random, registry);
                }
            }
            4 => self.bind_by_other_scheduler(random),
            5 => {
                let waiting = self.some(random, |location| location == PodLocation::Waiting);
                waiting.into_iter().for_each(|index| self.schedule_pod(index, random, registry));
            }
            6 | 7 => self.confirm_or_forget(random),
            8 => self.start_deletion(random),
            9 => self.remove_pod(random),
            10 | 11 => self.recreate(random, registry),
            12 | 13 => {
                if let Some(test_reservation) = test_reservation(self, random) {
                    self.test_reservations.push(test_reservation);
                    self.send_node(
                        self.test_reservations
                            .last()
                            .map_or(0, |test_reservation| test_reservation.test_node),
                    );
                }
            }
            14 => self.release(random),
            15 => self.now += random.of(&[0, 1, 5, 20, 100]),
            16 => self.change_node(random),
            _ => self.read_owner(random),
        }
    }

    /// The index of a random pod whose location `is_fit` accepts.
    fn some(&self, random: &mut RandomChoices<'_>, is_fit: impl Fn(PodLocation) -> bool) -> Option<usize> {
        let fit: Vec<usize> =
            (0..self.test_pods.len()).filter(|index| is_fit(self.test_pods[*index].location)).collect();
        (!fit.is_empty()).then(|| random.of(&fit))
    }

    fn add_pod(&mut self, new_pod: TestPod) -> usize {
        self.test_pods.push(new_pod);
        self.send_pod(self.test_pods.len() - 1);
        self.test_pods.len() - 1
    }

    /// Schedules a waiting pod, and usually assumes it on its node.
    fn schedule_pod(&mut self, index: usize, random: &mut RandomChoices<'_>, registry: &Registry) {
        let Some((test_node, seat)) = check_decision(self, index, registry) else { return };
        if random.one_in(8) {
            return;
        }
        let (pod, node) = (self.pod(index), self.test_nodes[test_node].name.as_str().into());
        let since = at(self.now);
        self.cluster.assume(&pod.key, Assumption { uid: pod.uid, node, claims: seat.clone().into(), since });
        let seat = seat.map(|seat| seat.to_string());
        let test_pod = &mut self.test_pods[index];
        (test_pod.location, test_pod.seat, test_pod.since) =
            (PodLocation::Assumed(test_node), seat, Some(self.now));
    }

    /// Another scheduler binds a new pod.
    fn bind_by_other_scheduler(&mut self, random: &mut RandomChoices<'_>) {
        if let Some(mut new_pod) = test_pod(self, random) {
            let stamped =
                |test_reservation: &&TestReservation| Some(&test_reservation.id) == new_pod.forged.as_ref();
            let reserved_node = self
                .test_reservations
                .iter()
                .find(stamped)
                .map(|test_reservation| test_reservation.test_node);
            let anywhere = random.below(self.test_nodes.len());
            new_pod.location =
                PodLocation::Bound(reserved_node.filter(|_| random.one_in(2)).unwrap_or(anywhere));
            new_pod.since = random.of(&[Some(self.now), Some(self.now), None]);
            self.add_pod(new_pod);
        }
    }

    /// The binding of an assumed pod is confirmed, or the pod is forgotten.
    fn confirm_or_forget(&mut self, random: &mut RandomChoices<'_>) {
        let Some(index) = self.some(random, |location| matches!(location, PodLocation::Assumed(_))) else {
            return;
        };
        let PodLocation::Assumed(test_node) = self.test_pods[index].location else { return };
        if random.one_in(4) {
            let pod = self.pod(index);
            self.cluster.forget(&pod.key, &pod.uid);
            let test_pod = &mut self.test_pods[index];
            (test_pod.location, test_pod.seat, test_pod.since) = (PodLocation::Waiting, None, None);
            self.covered.insert("forgotten");
        } else {
            self.test_pods[index].location = PodLocation::Bound(test_node);
            self.send_pod(index);
            self.covered.insert("confirmed");
        }
    }

    fn start_deletion(&mut self, random: &mut RandomChoices<'_>) {
        if let Some(index) = self.some(random, |location| matches!(location, PodLocation::Bound(_))) {
            self.test_pods[index].deleting = true;
            self.send_pod(index);
        }
    }

    fn remove_pod(&mut self, random: &mut RandomChoices<'_>) {
        let Some(index) = self.some(random, |location| location != PodLocation::Gone) else { return };
        self.test_pods[index].location = match self.test_pods[index].location {
            PodLocation::Bound(test_node) if random.one_in(3) => PodLocation::Ended(test_node),
            _ => PodLocation::Gone,
        };
        self.send_pod(index);
    }

    /// A reservation is created for a pod; then, usually, the pod is removed and its replacement is created.
    fn recreate(&mut self, random: &mut RandomChoices<'_>, registry: &Registry) {
        let Some(index) =
            self.some(random, |location| matches!(location, PodLocation::Bound(_) | PodLocation::Assumed(_)))
        else {
            return;
        };
        let (PodLocation::Bound(test_node) | PodLocation::Assumed(test_node)) =
            self.test_pods[index].location
        else {
            return;
        };
        let kept = self.test_reservations.iter().any(|one| one.replaces == Some(index) && !one.removed);
        let Some(test_reservation) = replacing(self, test_node, index, random).filter(|_| !kept) else {
            return;
        };
        // Sometimes an older reservation of the same owner, which replaces no pod, is created too.
        let older = older(self, &test_reservation);
        self.test_reservations.push(test_reservation);
        self.test_reservations.extend(random.one_in(3).then_some(older));
        self.send_node(test_node);
        if random.one_in(3) {
            return;
        }
        self.test_pods[index].location = PodLocation::Gone;
        self.send_pod(index);
        let uid = self.fresh_uid();
        let old = self.test_pods[index].clone();
        let name = old.pod_owner.names(self.test_pods.len()).into_iter().find(|name| *name == old.name);
        let name = name.unwrap_or_else(|| format!("p-{}", self.test_pods.len()));
        let (location, seat, since) = (PodLocation::Waiting, None, None);
        let new_pod = self.add_pod(TestPod { name, uid, location, seat, since, deleting: false, ..old });
        self.schedule_pod(new_pod, random, registry);
    }

    fn release(&mut self, random: &mut RandomChoices<'_>) {
        let there: Vec<usize> = (0..self.test_reservations.len())
            .filter(|test_reservation| !self.test_reservations[*test_reservation].removed)
            .collect();
        if !there.is_empty() {
            let test_reservation = random.of(&there);
            self.test_reservations[test_reservation].removed = true;
            self.send_node(self.test_reservations[test_reservation].test_node);
        }
    }

    /// A node changes, is removed or is added again.
    fn change_node(&mut self, random: &mut RandomChoices<'_>) {
        let number = random.below(self.test_nodes.len());
        let there = !random.one_in(4);
        if self.test_nodes[number].there && !there {
            let node = self.node(number, Omission::Nothing);
            self.cluster.apply(Event::Nodes(WatchEvent::Deleted(node)));
        }
        self.test_nodes[number] = TestNode { there, ..test_node(number, random) };
        self.send_node(number);
    }

    /// An owner is read or deleted; or everything is listed again.
    fn read_owner(&mut self, random: &mut RandomChoices<'_>) {
        if random.one_in(4) {
            return self.relist();
        }
        let unread: Vec<usize> = (0..WORKLOADS).filter(|index| !self.read[*index]).collect();
        let index = if unread.is_empty() { random.below(WORKLOADS) } else { random.of(&unread) };
        self.read[index] = !self.read[index];
        let workload = self.workloads[index].clone();
        let (kind, is_read) = (workload.kind, self.read[index]);
        let kept = |test_reservation: &TestReservation| {
            test_reservation.reservation_owner == ReservationOwner::Workload(index)
        };
        if is_read && self.test_reservations.iter().any(kept) {
            self.covered.insert("owner read later");
        }
        let seen = if is_read { WatchEvent::Applied(workload) } else { WatchEvent::Deleted(workload) };
        self.cluster.apply(Event::Workloads(kind, seen));
    }

    fn relist(&mut self) {
        for kind in OwnerKind::ALL {
            let read = self.workloads.iter().zip(self.read).filter(|(one, read)| *read && one.kind == kind);
            let live = read.map(|(one, _)| one.clone()).collect();
            self.cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(live)));
        }
        let there = (0..self.test_nodes.len()).filter(|test_node| self.test_nodes[*test_node].there);
        let nodes = there.map(|test_node| self.node(test_node, Omission::Nothing)).collect();
        self.cluster.apply(Event::Nodes(WatchEvent::Relisted(nodes)));
        let here = (0..self.test_pods.len())
            .filter(|test_pod| self.test_pods[*test_pod].location != PodLocation::Gone);
        let pods = here.map(|test_pod| self.pod(test_pod)).collect();
        self.cluster.apply(Event::Pods(WatchEvent::Relisted(pods)));
    }

    fn send_pod(&mut self, index: usize) {
        let pod = self.pod(index);
        let gone = self.test_pods[index].location == PodLocation::Gone;
        self.cluster.apply(Event::Pods(if gone {
            WatchEvent::Deleted(pod)
        } else {
            WatchEvent::Applied(pod)
        }));
    }

    fn send_node(&mut self, test_node: usize) {
        if self.test_nodes[test_node].there {
            let node = self.node(test_node, Omission::Nothing);
            self.cluster.apply(Event::Nodes(WatchEvent::Applied(node)));
        }
    }
}
