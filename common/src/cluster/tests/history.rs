//! A cluster with one node, one owner and some strangers, to which anything can happen. It tells the cluster about each
//! step, and keeps its own record of what is really so, from which [`super::accounts`] does the books another way.

use crate::cluster::{Assumed, Cluster, Event, Seen};
use crate::model::owner::{OwnerKind, Workload};
use crate::model::reservation::Seat;
use crate::model::{Pod, ReservationId};
use crate::testing::{
    PodBuilder, ReservationBuilder, at, bare_reservation, deployment, node, pod, replica_set, reservation,
    uid, workload, world,
};
use serde_json::json;

/// What kind of owner the cluster has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Family {
    Deployment,
    StatefulSet,
    Bare,
}

/// The stamp with which a pod comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    None,
    /// That of one of the reservations ever made, whatever became of it.
    Ours(usize),
    Foreign,
}

/// Something that happens. Numbers choose among what there is; if there is nothing, nothing happens.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Comes { related: bool, mark: Mark, cpu: i64, assumed: bool, scheduled: bool },
    Confirmed(usize),
    Forgotten(usize),
    Reserved { test_pod: usize, life: i64 },
    Added { cpu: i64, life: i64 },
    Deleting(usize),
    Gone(usize),
    Ended(usize),
    Removed(usize),
    TimePasses(i64),
    Relisted,
}

/// A pod as it really is.
#[derive(Clone, Debug)]
pub(super) struct TestPod {
    pub(super) name: String,
    pub(super) related: bool,
    pub(super) stamp: Option<String>,
    /// Its stamp is one of its owner's.
    pub(super) sat: bool,
    pub(super) cpu: i64,
    pub(super) since: Option<i64>,
    pub(super) place: Place,
    deleting: bool,
    number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Waiting,
    Assumed,
    Bound,
    Ended,
    Gone,
}

/// A reservation as it really is.
pub(super) struct TestReservation {
    pub(super) builder: ReservationBuilder,
    pub(super) id: ReservationId,
    /// The index of the pod that it replaces.
    pub(super) replaces: Option<usize>,
    pub(super) cpu: i64,
    pub(super) created: i64,
    pub(super) expires: i64,
    pub(super) removed: bool,
}

pub(super) struct TestCluster {
    pub(super) family: Family,
    pub(super) now: i64,
    pub(super) test_pods: Vec<TestPod>,
    pub(super) test_reservations: Vec<TestReservation>,
    pub(super) cluster: Cluster,
    version: u64,
}

impl TestPod {
    pub(super) fn is_counted(&self) -> bool {
        matches!(self.place, Place::Assumed | Place::Bound)
    }
}

fn owner(family: Family) -> Workload {
    match family {
        Family::StatefulSet => workload(OwnerKind::StatefulSet, "db"),
        Family::Deployment | Family::Bare => deployment("web"),
    }
}

fn set() -> Workload {
    replica_set("web-7c9d").of(&deployment("web"))
}

impl TestCluster {
    pub(super) fn new(family: Family) -> Self {
        let cluster = world().workload(&owner(family)).workload(&set()).node(node("n1")).cluster();
        Self { family, now: 0, test_pods: Vec::new(), test_reservations: Vec::new(), cluster, version: 1 }
    }

    pub(super) fn live(&mut self, step: &Step) {
        self.version += 1;
        match *step {
            Step::Comes { related, mark, cpu, assumed, scheduled } => {
                if let Some(test_pod) = self.test_pod(related, mark, cpu, scheduled || assumed) {
                    self.comes(test_pod, assumed);
                }
            }
            Step::Confirmed(choice) => self.moves(choice, &[Place::Assumed], Place::Bound),
            Step::Forgotten(choice) => self.forgotten(choice),
            Step::Reserved { test_pod, life } => self.reserved(test_pod, life),
            Step::Added { cpu, life } if self.family != Family::Bare => {
                let seat = format!("add{}", self.test_reservations.len());
                self.test_reservations(reservation(&owner(self.family)).seat(&seat), None, cpu, life);
            }
            Step::Added { .. } => {}
            Step::Deleting(choice) => self.deleting(choice),
            Step::Gone(choice) => {
                self.moves(
                    choice,
                    &[Place::Waiting, Place::Assumed, Place::Bound, Place::Ended],
                    Place::Gone,
                );
            }
            Step::Ended(choice) => self.moves(choice, &[Place::Bound], Place::Ended),
            Step::Removed(choice) => {
                if let Some(test_reservation) =
                    pick(&mut self.test_reservations, choice, |test_reservation| !test_reservation.removed)
                {
                    self.test_reservations[test_reservation].removed = true;
                    self.tell_node();
                }
            }
            Step::TimePasses(seconds) => self.now += seconds,
            Step::Relisted => self.relisted(),
        }
    }

    /// Somebody new, unless all the names that the owner gives are in use.
    fn test_pod(&self, related: bool, mark: Mark, cpu: i64, scheduled: bool) -> Option<TestPod> {
        let number = self.test_pods.len();
        let present =
            |name: &String| self.test_pods.iter().any(|g| g.name == *name && g.place != Place::Gone);
        let names = match (related, self.family) {
            (false, _) => vec![format!("x-{number}")],
            (true, Family::Deployment) => vec![format!("web-{number}")],
            (true, Family::StatefulSet) => vec!["db-0".into(), "db-1".into(), "db-2".into()],
            (true, Family::Bare) => vec!["tool".into()],
        };
        let name = names.into_iter().find(|name| !present(name))?;
        let stamp = match mark {
            Mark::Ours(choice) if !self.test_reservations.is_empty() => {
                Some(self.test_reservations[choice % self.test_reservations.len()].id.to_string())
            }
            Mark::Foreign => Some(format!("{}.a", uid("somebody else"))),
            Mark::Ours(_) | Mark::None => None,
        };
        let ours = matches!(mark, Mark::Ours(_)) || self.family == Family::Bare;
        let (sat, since) = (stamp.is_some() && ours, scheduled.then_some(self.now));
        let place = Place::Waiting;
        Some(TestPod { name, related, stamp, sat, cpu, since, place, deleting: false, number })
    }

    fn comes(&mut self, test_pod: TestPod, assumed: bool) {
        let index = self.test_pods.len();
        self.test_pods.push(test_pod);
        if assumed {
            self.tell_pod(index);
            let pod = self.pod(index).build();
            let test_pod = &mut self.test_pods[index];
            let stamped = |test_reservation: &&TestReservation| {
                test_pod.stamp.as_deref() == Some(&test_reservation.id.to_string())
            };
            let seat = self
                .test_reservations
                .iter()
                .find(stamped)
                .map(|test_reservation| test_reservation.id.clone());
            // We never assume a pod on the seat of others.
            test_pod.stamp = seat.as_ref().map(ToString::to_string);
            (test_pod.sat, test_pod.place) = (seat.is_some(), Place::Assumed);
            self.cluster
                .assume(&pod.key, Assumed { uid: pod.uid, node: "n1".into(), seat, since: at(self.now) });
        } else {
            self.test_pods[index].place = Place::Bound;
            self.tell_pod(index);
        }
    }

    fn forgotten(&mut self, choice: usize) {
        if let Some(index) = pick(&mut self.test_pods, choice, |test_pod| test_pod.place == Place::Assumed) {
            let pod = self.pod(index).build();
            self.cluster.forget(&pod.key, &pod.uid);
            self.test_pods[index].place = Place::Waiting;
        }
    }

    fn deleting(&mut self, choice: usize) {
        if let Some(index) = pick(&mut self.test_pods, choice, |test_pod| test_pod.place == Place::Bound) {
            self.test_pods[index].deleting = true;
            self.tell_pod(index);
        }
    }

    fn moves(&mut self, choice: usize, from: &[Place], to: Place) {
        if let Some(index) = pick(&mut self.test_pods, choice, |test_pod| from.contains(&test_pod.place)) {
            self.test_pods[index].place = to;
            self.tell_pod(index);
        }
    }

    fn reserved(&mut self, choice: usize, life: i64) {
        let Some(index) =
            pick(&mut self.test_pods, choice, |test_pod| test_pod.related && test_pod.is_counted())
        else {
            return;
        };
        let kept = |test_reservation: &TestReservation| {
            test_reservation.replaces == Some(index) && !test_reservation.removed
        };
        if self.test_reservations.iter().any(kept) {
            return;
        }
        let pod = self.pod(index).build();
        let seat = Seat::for_replaced(&pod.uid).unwrap();
        let builder = match self.family {
            Family::Bare => bare_reservation(&pod),
            _ => reservation(&owner(self.family)).replaces(&pod),
        };
        self.test_reservations(builder.seat(seat.as_str()), Some(index), self.test_pods[index].cpu, life);
    }

    fn test_reservations(
        &mut self,
        builder: ReservationBuilder,
        replaces: Option<usize>,
        cpu: i64,
        life: i64,
    ) {
        let (created, expires) = (self.now, self.now + life);
        let builder = builder.cpu(&format!("{cpu}m")).created(at(created)).expires(at(expires));
        let id = builder.id();
        self.test_reservations.push(TestReservation {
            builder,
            id,
            replaces,
            cpu,
            created,
            expires,
            removed: false,
        });
        self.tell_node();
    }

    fn relisted(&mut self) {
        let here = (0..self.test_pods.len()).filter(|index| self.test_pods[*index].place != Place::Gone);
        let pods: Vec<Pod> = here.map(|index| self.pod(index).build()).collect();
        self.cluster.apply(Event::Pods(Seen::Relisted(pods)));
        self.cluster.apply(Event::Nodes(Seen::Relisted(vec![self.node().build()])));
    }

    fn tell_pod(&mut self, index: usize) {
        let pod = self.pod(index).build();
        let gone = self.test_pods[index].place == Place::Gone;
        self.cluster.apply(Event::Pods(if gone { Seen::Deleted(pod) } else { Seen::Applied(pod) }));
    }

    fn tell_node(&mut self) {
        let node = self.node().build();
        self.cluster.apply(Event::Nodes(Seen::Applied(node)));
    }

    fn node(&self) -> crate::testing::NodeBuilder {
        let kept = self.test_reservations.iter().filter(|test_reservation| !test_reservation.removed);
        kept.fold(node("n1").version(self.version), |node, test_reservation| {
            node.reserves(test_reservation.builder.build())
        })
    }

    fn pod(&self, index: usize) -> PodBuilder {
        let test_pod = &self.test_pods[index];
        let mut pod = pod(&test_pod.name).uid(&format!("test_pod {}", test_pod.number)).version(self.version);
        pod = pod.cpu(&format!("{}m", test_pod.cpu));
        pod = match (test_pod.related, self.family) {
            (true, Family::Bare) => pod,
            (true, Family::StatefulSet) => pod.owned_by(&owner(self.family)),
            (true, Family::Deployment) => pod.owned_by(&set()),
            // A stranger that claims the owner's UID under a name that does not bear it out.
            (false, family) => pod.owned_by(&Workload { name: "liar".into(), ..owner(family) }),
        };
        if matches!(test_pod.place, Place::Waiting | Place::Assumed) {
            return pod;
        }
        pod = pod.on("n1");
        pod = test_pod.stamp.iter().fold(pod, |pod, stamp| pod.stamp(stamp));
        pod = test_pod.since.iter().fold(pod, |pod, since| pod.scheduled_at(at(*since)));
        pod = if test_pod.deleting { pod.terminating() } else { pod };
        if test_pod.place == Place::Ended { pod.with("/status/phase", json!("Failed")) } else { pod }
    }
}

/// The index of one of those that `fit`.
fn pick<T>(all: &mut [T], choice: usize, fit: impl Fn(&T) -> bool) -> Option<usize> {
    let fitting: Vec<usize> = (0..all.len()).filter(|index| fit(&all[*index])).collect();
    fitting.get(choice % fitting.len().max(1)).copied()
}
