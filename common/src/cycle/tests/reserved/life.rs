//! What happens in the cluster, step by step; the cluster is told, and the cluster keeps its own record.

use super::audit::decided;
use super::drawn::{older, replacing, test_node, test_pod, test_reservation};
use super::kin::WORKLOADS;
use super::test_cluster::{Place, TestCluster, TestNode, TestPod, TestReservation, Whom, Without};
use crate::cluster::{Assumed, Event, Seen};
use crate::framework::Registry;
use crate::model::owner::OwnerKind;
use crate::testing::{Tape, at};

impl TestCluster {
    /// One thing happens.
    pub(super) fn live(&mut self, tape: &mut Tape<'_>, registry: &Registry) {
        self.version += 1;
        match tape.below(18) {
            0..=3 => {
                if let Some(newcomer) = test_pod(self, tape) {
                    let index = self.comes(newcomer);
                    self.decides(index, tape, registry);
                }
            }
            4 => self.bound_by_others(tape),
            5 => {
                let waiting = self.some(tape, |place| place == Place::Waiting);
                waiting.into_iter().for_each(|index| self.decides(index, tape, registry));
            }
            6 | 7 => self.settled(tape),
            8 => self.deleting(tape),
            9 => self.leaves(tape),
            10 | 11 => self.recreated(tape, registry),
            12 | 13 => {
                if let Some(test_reservation) = test_reservation(self, tape) {
                    self.test_reservations.push(test_reservation);
                    self.tell_node(
                        self.test_reservations
                            .last()
                            .map_or(0, |test_reservation| test_reservation.test_node),
                    );
                }
            }
            14 => self.released(tape),
            15 => self.now += tape.of(&[0, 1, 5, 20, 100]),
            16 => self.rebuilt(tape),
            _ => self.learns(tape),
        }
    }

    /// The index of a pod whose place is like that.
    fn some(&self, tape: &mut Tape<'_>, is_fit: impl Fn(Place) -> bool) -> Option<usize> {
        let fit: Vec<usize> =
            (0..self.test_pods.len()).filter(|index| is_fit(self.test_pods[*index].place)).collect();
        (!fit.is_empty()).then(|| tape.of(&fit))
    }

    fn comes(&mut self, newcomer: TestPod) -> usize {
        self.test_pods.push(newcomer);
        self.tell_pod(self.test_pods.len() - 1);
        self.test_pods.len() - 1
    }

    /// A waiting pod is decided on, and mostly assumed where it goes.
    fn decides(&mut self, index: usize, tape: &mut Tape<'_>, registry: &Registry) {
        let Some((test_node, seat)) = decided(self, index, registry) else { return };
        if tape.one_in(8) {
            return;
        }
        let (pod, node) = (self.pod(index), self.test_nodes[test_node].name.as_str().into());
        let since = at(self.now);
        self.cluster.assume(&pod.key, Assumed { uid: pod.uid, node, seat: seat.clone(), since });
        let seat = seat.map(|seat| seat.to_string());
        let test_pod = &mut self.test_pods[index];
        (test_pod.place, test_pod.seat, test_pod.since) = (Place::Assumed(test_node), seat, Some(self.now));
    }

    /// Another scheduler binds, without asking us.
    fn bound_by_others(&mut self, tape: &mut Tape<'_>) {
        if let Some(mut newcomer) = test_pod(self, tape) {
            let stamped =
                |test_reservation: &&TestReservation| Some(&test_reservation.id) == newcomer.forged.as_ref();
            let home = self
                .test_reservations
                .iter()
                .find(stamped)
                .map(|test_reservation| test_reservation.test_node);
            let anywhere = tape.below(self.test_nodes.len());
            newcomer.place = Place::Bound(home.filter(|_| tape.one_in(2)).unwrap_or(anywhere));
            newcomer.since = tape.of(&[Some(self.now), Some(self.now), None]);
            self.comes(newcomer);
        }
    }

    /// An assumption is confirmed or taken back.
    fn settled(&mut self, tape: &mut Tape<'_>) {
        let Some(index) = self.some(tape, |place| matches!(place, Place::Assumed(_))) else { return };
        let Place::Assumed(test_node) = self.test_pods[index].place else { return };
        if tape.one_in(4) {
            let pod = self.pod(index);
            self.cluster.forget(&pod.key, &pod.uid);
            let test_pod = &mut self.test_pods[index];
            (test_pod.place, test_pod.seat, test_pod.since) = (Place::Waiting, None, None);
            self.met.insert("forgotten");
        } else {
            self.test_pods[index].place = Place::Bound(test_node);
            self.tell_pod(index);
            self.met.insert("confirmed");
        }
    }

    fn deleting(&mut self, tape: &mut Tape<'_>) {
        if let Some(index) = self.some(tape, |place| matches!(place, Place::Bound(_))) {
            self.test_pods[index].deleting = true;
            self.tell_pod(index);
        }
    }

    fn leaves(&mut self, tape: &mut Tape<'_>) {
        let Some(index) = self.some(tape, |place| place != Place::Gone) else { return };
        self.test_pods[index].place = match self.test_pods[index].place {
            Place::Bound(test_node) if tape.one_in(3) => Place::Ended(test_node),
            _ => Place::Gone,
        };
        self.tell_pod(index);
    }

    /// A pod's room is kept, the pod is removed (or not yet), and one like it comes.
    fn recreated(&mut self, tape: &mut Tape<'_>, registry: &Registry) {
        let Some(index) = self.some(tape, |place| matches!(place, Place::Bound(_) | Place::Assumed(_)))
        else {
            return;
        };
        let (Place::Bound(test_node) | Place::Assumed(test_node)) = self.test_pods[index].place else {
            return;
        };
        let kept = self.test_reservations.iter().any(|one| one.replaces == Some(index) && !one.removed);
        let Some(test_reservation) = replacing(self, test_node, index, tape).filter(|_| !kept) else {
            return;
        };
        // Perhaps there is an older one of the same owner that replaces nobody.
        let older = older(self, &test_reservation);
        self.test_reservations.push(test_reservation);
        self.test_reservations.extend(tape.one_in(3).then_some(older));
        self.tell_node(test_node);
        if tape.one_in(3) {
            return;
        }
        self.test_pods[index].place = Place::Gone;
        self.tell_pod(index);
        let uid = self.fresh_uid();
        let old = self.test_pods[index].clone();
        let name = old.kin.names(self.test_pods.len()).into_iter().find(|name| *name == old.name);
        let name = name.unwrap_or_else(|| format!("p-{}", self.test_pods.len()));
        let (place, seat, since) = (Place::Waiting, None, None);
        let newcomer = self.comes(TestPod { name, uid, place, seat, since, deleting: false, ..old });
        self.decides(newcomer, tape, registry);
    }

    fn released(&mut self, tape: &mut Tape<'_>) {
        let there: Vec<usize> = (0..self.test_reservations.len())
            .filter(|test_reservation| !self.test_reservations[*test_reservation].removed)
            .collect();
        if !there.is_empty() {
            let test_reservation = tape.of(&there);
            self.test_reservations[test_reservation].removed = true;
            self.tell_node(self.test_reservations[test_reservation].test_node);
        }
    }

    /// A node changes, vanishes or comes back.
    fn rebuilt(&mut self, tape: &mut Tape<'_>) {
        let number = tape.below(self.test_nodes.len());
        let there = !tape.one_in(4);
        if self.test_nodes[number].there && !there {
            let node = self.node(number, Without::Nothing);
            self.cluster.apply(Event::Nodes(Seen::Deleted(node)));
        }
        self.test_nodes[number] = TestNode { there, ..test_node(number, tape) };
        self.tell_node(number);
    }

    /// An owner is read, or gone; or everything is listed again.
    fn learns(&mut self, tape: &mut Tape<'_>) {
        if tape.one_in(4) {
            return self.relisted();
        }
        let unread: Vec<usize> = (0..WORKLOADS).filter(|place| !self.read[*place]).collect();
        let place = if unread.is_empty() { tape.below(WORKLOADS) } else { tape.of(&unread) };
        self.read[place] = !self.read[place];
        let workload = self.workloads[place].clone();
        let (kind, is_read) = (workload.kind, self.read[place]);
        let kept = |test_reservation: &TestReservation| test_reservation.whom == Whom::Workload(place);
        if is_read && self.test_reservations.iter().any(kept) {
            self.met.insert("owner read later");
        }
        let seen = if is_read { Seen::Applied(workload) } else { Seen::Deleted(workload) };
        self.cluster.apply(Event::Workloads(kind, seen));
    }

    fn relisted(&mut self) {
        for kind in OwnerKind::ALL {
            let read = self.workloads.iter().zip(self.read).filter(|(one, read)| *read && one.kind == kind);
            let live = read.map(|(one, _)| one.clone()).collect();
            self.cluster.apply(Event::Workloads(kind, Seen::Relisted(live)));
        }
        let there = (0..self.test_nodes.len()).filter(|test_node| self.test_nodes[*test_node].there);
        let nodes = there.map(|test_node| self.node(test_node, Without::Nothing)).collect();
        self.cluster.apply(Event::Nodes(Seen::Relisted(nodes)));
        let here =
            (0..self.test_pods.len()).filter(|test_pod| self.test_pods[*test_pod].place != Place::Gone);
        let pods = here.map(|test_pod| self.pod(test_pod)).collect();
        self.cluster.apply(Event::Pods(Seen::Relisted(pods)));
    }

    fn tell_pod(&mut self, index: usize) {
        let pod = self.pod(index);
        let gone = self.test_pods[index].place == Place::Gone;
        self.cluster.apply(Event::Pods(if gone { Seen::Deleted(pod) } else { Seen::Applied(pod) }));
    }

    fn tell_node(&mut self, test_node: usize) {
        if self.test_nodes[test_node].there {
            let node = self.node(test_node, Without::Nothing);
            self.cluster.apply(Event::Nodes(Seen::Applied(node)));
        }
    }
}
