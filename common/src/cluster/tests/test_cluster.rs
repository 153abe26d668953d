//! A cluster with one node, one owner and some pods of other owners, which changes at random. It sends each step to the belief, and
//! keeps its own record of what is really so, from which [`super::expected_states`] computes the expected states.

use crate::cluster::{Assumption, Cluster, Event, WatchEvent};
use crate::model::owner::{OwnerKind, Workload};
use crate::model::reservation::Seat;
use crate::model::{Pod, ReservationId};
use crate::testing::{
    PodBuilder, ReservationBuilder, at, bare_reservation, cluster_builder, deployment, node, pod,
    replica_set, reservation, uid, workload,
};
use serde_json::json;

/// The kind of the owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Family {
    Deployment,
    StatefulSet,
    Bare,
}

/// Which stamp a new pod has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StampKind {
    None,
    /// The stamp of one of all reservations ever made, including removed ones.
    Ours(usize),
    Foreign,
}

/// One step of a history. Numbers choose among the existing pods or reservations; without any, the step does nothing.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Create { related: bool, stamp_kind: StampKind, cpu: i64, assumed: bool, scheduled: bool },
    Confirm(usize),
    Forget(usize),
    Reserve { test_pod: usize, life: i64 },
    Add { cpu: i64, life: i64 },
    MarkDeleting(usize),
    Delete(usize),
    End(usize),
    Remove(usize),
    AdvanceTime(i64),
    Relist,
}

/// A pod as it really is.
#[derive(Clone, Debug)]
pub(super) struct TestPod {
    pub(super) name: String,
    pub(super) related: bool,
    pub(super) stamp: Option<String>,
    /// Whether the stamp names a seat of the pod's owner.
    pub(super) has_own_stamp: bool,
    pub(super) cpu: i64,
    pub(super) since: Option<i64>,
    pub(super) phase: TestPodPhase,
    deleting: bool,
    number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TestPodPhase {
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
        matches!(self.phase, TestPodPhase::Assumed | TestPodPhase::Bound)
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
        let cluster = cluster_builder().workload(&owner(family)).workload(&set()).node(node("n1")).cluster();
        Self { family, now: 0, test_pods: Vec::new(), test_reservations: Vec::new(), cluster, version: 1 }
    }

    pub(super) fn apply_step(&mut self, step: &Step) {
        self.version += 1;
        match *step {
            Step::Create { related, stamp_kind, cpu, assumed, scheduled } => {
                if let Some(test_pod) = self.test_pod(related, stamp_kind, cpu, scheduled || assumed) {
                    self.create(test_pod, assumed);
                }
            }
            Step::Confirm(choice) => self.move_pod(choice, &[TestPodPhase::Assumed], TestPodPhase::Bound),
            Step::Forget(choice) => self.forget(choice),
            Step::Reserve { test_pod, life } => self.reserve(test_pod, life),
            Step::Add { cpu, life } if self.family != Family::Bare => {
                let seat = format!("add{}", self.test_reservations.len());
                self.add_reservation(reservation(&owner(self.family)).seat(&seat), None, cpu, life);
            }
            Step::Add { .. } => {}
            Step::MarkDeleting(choice) => self.mark_deleting(choice),
            Step::Delete(choice) => {
                self.move_pod(
                    choice,
                    &[TestPodPhase::Waiting, TestPodPhase::Assumed, TestPodPhase::Bound, TestPodPhase::Ended],
                    TestPodPhase::Gone,
                );
            }
            Step::End(choice) => self.move_pod(choice, &[TestPodPhase::Bound], TestPodPhase::Ended),
            Step::Remove(choice) => {
                if let Some(test_reservation) =
                    pick(&mut self.test_reservations, choice, |test_reservation| !test_reservation.removed)
                {
                    self.test_reservations[test_reservation].removed = true;
                    self.send_node();
                }
            }
            Step::AdvanceTime(seconds) => self.now += seconds,
            Step::Relist => self.relist(),
        }
    }

    /// A new pod, unless all the names that the owner gives are in use.
    fn test_pod(&self, related: bool, stamp_kind: StampKind, cpu: i64, scheduled: bool) -> Option<TestPod> {
        let number = self.test_pods.len();
        let present =
            |name: &String| self.test_pods.iter().any(|g| g.name == *name && g.phase != TestPodPhase::Gone);
        let names = match (related, self.family) {
            (false, _) => vec![format!("x-{number}")],
            (true, Family::Deployment) => vec![format!("web-{number}")],
            (true, Family::StatefulSet) => vec!["db-0".into(), "db-1".into(), "db-2".into()],
            (true, Family::Bare) => vec!["tool".into()],
        };
        let name = names.into_iter().find(|name| !present(name))?;
        let stamp = match stamp_kind {
            StampKind::Ours(choice) if !self.test_reservations.is_empty() => {
                Some(self.test_reservations[choice % self.test_reservations.len()].id.to_string())
            }
            StampKind::Foreign => Some(format!("{}.a", uid("somebody else"))),
            StampKind::Ours(_) | StampKind::None => None,
        };
        let ours = matches!(stamp_kind, StampKind::Ours(_)) || self.family == Family::Bare;
        let (has_own_stamp, since) = (stamp.is_some() && ours, scheduled.then_some(self.now));
        let phase = TestPodPhase::Waiting;
        Some(TestPod { name, related, stamp, has_own_stamp, cpu, since, phase, deleting: false, number })
    }

    fn create(&mut self, test_pod: TestPod, assumed: bool) {
        let index = self.test_pods.len();
        self.test_pods.push(test_pod);
        if assumed {
            self.send_pod(index);
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
            // Our scheduler never assumes a pod on the seat of another owner.
            test_pod.stamp = seat.as_ref().map(ToString::to_string);
            (test_pod.has_own_stamp, test_pod.phase) = (seat.is_some(), TestPodPhase::Assumed);
            self.cluster.assume(
                &pod.key,
                Assumption { uid: pod.uid, node: "n1".into(), claims: seat.into(), since: at(self.now) },
            );
        } else {
            self.test_pods[index].phase = TestPodPhase::Bound;
            self.send_pod(index);
        }
    }

    fn forget(&mut self, choice: usize) {
        if let Some(index) =
            pick(&mut self.test_pods, choice, |test_pod| test_pod.phase == TestPodPhase::Assumed)
        {
            let pod = self.pod(index).build();
            self.cluster.forget(&pod.key, &pod.uid);
            self.test_pods[index].phase = TestPodPhase::Waiting;
        }
    }

    fn mark_deleting(&mut self, choice: usize) {
        if let Some(index) =
            pick(&mut self.test_pods, choice, |test_pod| test_pod.phase == TestPodPhase::Bound)
        {
            self.test_pods[index].deleting = true;
            self.send_pod(index);
        }
    }

    fn move_pod(&mut self, choice: usize, from: &[TestPodPhase], to: TestPodPhase) {
        if let Some(index) = pick(&mut self.test_pods, choice, |test_pod| from.contains(&test_pod.phase)) {
            self.test_pods[index].phase = to;
            self.send_pod(index);
        }
    }

    fn reserve(&mut self, choice: usize, life: i64) {
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
        self.add_reservation(builder.seat(seat.as_str()), Some(index), self.test_pods[index].cpu, life);
    }

    fn add_reservation(&mut self, builder: ReservationBuilder, replaces: Option<usize>, cpu: i64, life: i64) {
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
        self.send_node();
    }

    fn relist(&mut self) {
        let here =
            (0..self.test_pods.len()).filter(|index| self.test_pods[*index].phase != TestPodPhase::Gone);
        let pods: Vec<Pod> = here.map(|index| self.pod(index).build()).collect();
        self.cluster.apply(Event::Pods(WatchEvent::Relisted(pods)));
        self.cluster.apply(Event::Nodes(WatchEvent::Relisted(vec![self.node().build()])));
    }

    fn send_pod(&mut self, index: usize) {
        let pod = self.pod(index).build();
        let gone = self.test_pods[index].phase == TestPodPhase::Gone;
        self.cluster.apply(Event::Pods(if gone {
            WatchEvent::Deleted(pod)
        } else {
            WatchEvent::Applied(pod)
        }));
    }

    fn send_node(&mut self) {
        let node = self.node().build();
        self.cluster.apply(Event::Nodes(WatchEvent::Applied(node)));
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
            // A pod of another owner that names the UID of this owner with a wrong name.
            (false, family) => pod.owned_by(&Workload { name: "liar".into(), ..owner(family) }),
        };
        if matches!(test_pod.phase, TestPodPhase::Waiting | TestPodPhase::Assumed) {
            return pod;
        }
        pod = pod.on("n1");
        pod = test_pod.stamp.iter().fold(pod, |pod, stamp| pod.stamp(stamp));
        pod = test_pod.since.iter().fold(pod, |pod, since| pod.scheduled_at(at(*since)));
        pod = if test_pod.deleting { pod.terminating() } else { pod };
        if test_pod.phase == TestPodPhase::Ended { pod.with("/status/phase", json!("Failed")) } else { pod }
    }
}

/// The index of one of the elements that `fit`.
fn pick<T>(all: &mut [T], choice: usize, fit: impl Fn(&T) -> bool) -> Option<usize> {
    let fitting: Vec<usize> = (0..all.len()).filter(|index| fit(&all[*index])).collect();
    fitting.get(choice % fitting.len().max(1)).copied()
}
