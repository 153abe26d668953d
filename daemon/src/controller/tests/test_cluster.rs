//! A small cluster around the whole state machine: a Deployment with `reserve/keep`, a rival pod of the same size, nodes with room
//! for one pod each, and an API server that carries out the effects.

use crate::effects::StoredNode;
use crate::queue::Backoff;
use crate::state::{AnnotationOutcome, BindingOutcome, Effect, Input, Now, ObjectEvent, State, WriteRefusal};
use common::api::{namespace, node, pod, workload};
use common::cluster::{Event, WatchEvent};
use common::model::owner::OwnerKind;
use common::model::{CatalogKind, CatalogObject, Node, Pod, PodKey, Replica, Reservation, Uid};
use common::plugins::default_registry;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

pub(super) const DEPLOYMENT: &str = "2c1f7a54-6d0e-4b7e-9a43-5f1c8e1b7d20";
const SET: &str = "3d1f7a54-6d0e-4b7e-9a43-5f1c8e1b7d20";

/// A pod of the cluster.
#[derive(Clone, Debug)]
pub(super) struct TestPod {
    pub(super) uid: String,
    pub(super) is_web: bool,
    pub(super) node: Option<String>,
    pub(super) stamp: Option<String>,
    /// When its grace period ends.
    pub(super) leaves: Option<u64>,
    phase: &'static str,
    since: Option<u64>,
    pub(super) priority: i32,
    keep: Option<&'static str>,
    version: u64,
}

/// A fault of writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WriteFault {
    /// No fault.
    None,
    /// The write is done, and its answer is lost.
    AnswerLost,
    /// The write is not done, and there is no answer.
    RequestLost,
    /// The write is refused by RBAC.
    Forbidden,
}

pub(super) struct TestCluster {
    pub(super) states: Vec<State>,
    pub(super) nodes: BTreeMap<String, StoredNode>,
    pub(super) test_pods: BTreeMap<String, TestPod>,
    pub(super) replicas: u32,
    pub(super) keep: Option<&'static str>,
    pub(super) written_events: Vec<ObjectEvent>,
    pub(super) write_fault: WriteFault,
    /// Whether watches do not show changes of nodes.
    pub(super) are_node_events_lost: bool,
    pending: VecDeque<(usize, Effect)>,
    version: u64,
    pods_created: u32,
    pub(super) seconds: u64,
    /// The milliseconds beyond `seconds`.
    millis: u64,
}

pub(super) fn time(seconds: u64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + i64::try_from(seconds).unwrap()).unwrap()
}

impl TestCluster {
    /// A cluster with these nodes, this many daemons that all lead, and a Deployment with this many replicas.
    pub(super) fn new(nodes: &[&str], states: usize, replicas: u32) -> Self {
        let server = |index: usize| StoredNode {
            uid: format!("6e0f3b1c-8d2a-4c95-9f77-30b1a2c4d{index:03}"),
            ..StoredNode::new(&[])
        };
        let mut test_cluster = Self {
            states: Vec::new(),
            nodes: nodes
                .iter()
                .enumerate()
                .map(|(index, name)| ((*name).to_owned(), server(index)))
                .collect(),
            test_pods: BTreeMap::new(),
            replicas,
            keep: Some("true"),
            written_events: Vec::new(),
            write_fault: WriteFault::None,
            are_node_events_lost: false,
            pending: VecDeque::new(),
            version: 100,
            pods_created: 0,
            seconds: 0,
            millis: 0,
        };
        for _ in 0..states {
            let state = test_cluster.started(0);
            test_cluster.states.push(state);
        }
        test_cluster
    }

    /// A state that has just listed everything.
    fn started(&mut self, index: usize) -> State {
        let profiles = [("reserve-scheduler".into(), default_registry())].into();
        let mut state = State::new(profiles, Backoff::default());
        let mut effects = Vec::new();
        let mut learn = |event| effects.extend(state.handle(Input::Cluster(Box::new(event)), self.now()));
        for kind in OwnerKind::ALL {
            let live = self.workloads().into_iter().filter(|(of, _)| *of == kind).map(|(_, one)| one);
            learn(Event::Workloads(kind, WatchEvent::Relisted(live.collect())));
        }
        for kind in CatalogKind::ALL {
            let live = if kind == CatalogKind::Namespace { vec![default_namespace()] } else { vec![] };
            learn(Event::CatalogObjects(kind, WatchEvent::Relisted(live)));
        }
        let nodes: Vec<Node> = self.nodes.keys().map(|name| self.node(name)).collect();
        learn(Event::Nodes(WatchEvent::Relisted(nodes)));
        let pods: Vec<Pod> = self.test_pods.keys().map(|name| self.pod(name)).collect();
        learn(Event::Pods(WatchEvent::Relisted(pods)));
        self.pending.extend(effects.into_iter().map(|effect| (index, effect)));
        state
    }

    /// One of the daemons dies together with its pending effects, and a new one starts.
    pub(super) fn crash(&mut self, index: usize) {
        self.pending.retain(|(of, _)| *of != index);
        let state = self.started(index);
        self.states[index] = state;
    }

    pub(super) fn now(&self) -> Now {
        Now { wall: time(self.seconds), elapsed: Duration::from_millis(self.seconds * 1000 + self.millis) }
    }

    fn workloads(&self) -> Vec<(OwnerKind, common::model::Workload)> {
        let annotations = self.keep.map(|keep| json!({ "reserve/keep": keep }));
        let spec = json!({ "replicas": self.replicas });
        let version = self.version.to_string();
        let deployment = json!({ "spec": spec, "metadata": {
            "name": "web", "namespace": "default", "uid": DEPLOYMENT, "resourceVersion": version, "annotations": annotations } });
        let set = json!({ "spec": spec, "metadata": {
            "name": "web-1", "namespace": "default", "uid": SET, "resourceVersion": version,
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": DEPLOYMENT, "controller": true }] } });
        [(OwnerKind::Deployment, deployment), (OwnerKind::ReplicaSet, set)]
            .into_iter()
            .map(|(kind, json)| (kind, workload::workload(kind, &json.to_string()).unwrap()))
            .collect()
    }

    fn node(&self, name: &str) -> Node {
        let server = &self.nodes[name];
        let json = json!({
            "metadata": { "name": name, "uid": server.uid, "resourceVersion": server.version.to_string(), "annotations": server.annotations },
            "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "110" } },
        });
        node::node(&json.to_string()).unwrap()
    }

    pub(super) fn pod(&self, name: &str) -> Pod {
        let test_pod = &self.test_pods[name];
        let mut json = json!({
            "metadata": { "name": name, "namespace": "default", "uid": test_pod.uid, "resourceVersion": test_pod.version.to_string() },
            "spec": { "schedulerName": "reserve-scheduler", "priority": test_pod.priority,
                      "containers": [{ "name": "c", "resources": { "requests": { "cpu": "3" } } }] },
            "status": { "phase": test_pod.phase },
        });
        if test_pod.is_web {
            json["metadata"]["ownerReferences"] = json!([
                { "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": SET, "controller": true }]);
        }
        let mut set = |pointer: [&str; 2], value: Value| json[pointer[0]][pointer[1]] = value;
        if let Some(node) = &test_pod.node {
            set(["spec", "nodeName"], json!(node));
        }
        if let Some(leaves) = test_pod.leaves {
            set(["metadata", "deletionTimestamp"], json!(time(leaves).to_string()));
        }
        if let Some(since) = test_pod.since {
            let condition = json!({ "type": "PodScheduled", "status": "True", "lastTransitionTime": time(since).to_string() });
            set(["status", "conditions"], json!([condition]));
        }
        let mut annotations = serde_json::Map::new();
        annotations.extend(test_pod.stamp.as_ref().map(|stamp| ("reserve/seat".to_owned(), json!(stamp))));
        annotations.extend(test_pod.keep.map(|keep| ("reserve/keep".to_owned(), json!(keep))));
        set(["metadata", "annotations"], Value::Object(annotations));
        pod::pod(&json.to_string()).unwrap()
    }

    fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// All daemons learn the event.
    pub(super) fn learn(&mut self, event: &Event) {
        for index in 0..self.states.len() {
            self.handle(index, Input::Cluster(Box::new(event.clone())));
        }
    }

    pub(super) fn handle(&mut self, index: usize, input: Input) {
        let now = self.now();
        let effects = self.states[index].handle(input, now);
        self.pending.extend(effects.into_iter().map(|effect| (index, effect)));
    }

    /// Creates a pod without a node.
    pub(super) fn create_pod(&mut self, is_web: bool, priority: i32, keep: Option<&'static str>) -> String {
        self.pods_created += 1;
        let name = format!("{}-{}", if is_web { "web" } else { "rival" }, self.pods_created);
        let uid = format!("aaaaaaaa-bbbb-cccc-dddd-{:012}", self.pods_created);
        // The seat is made of the first digits.
        let uid = format!("{:08x}{}", self.pods_created, &uid[8..]);
        let version = self.next_version();
        let test_pod = TestPod {
            uid,
            is_web,
            node: None,
            stamp: None,
            leaves: None,
            phase: "Pending",
            since: None,
            priority,
            keep,
            version,
        };
        self.test_pods.insert(name.clone(), test_pod);
        self.send_pod(&name);
        name
    }

    /// Sends the pod as it is now to all daemons.
    pub(super) fn send_pod(&mut self, name: &str) {
        let version = self.next_version();
        if let Some(test_pod) = self.test_pods.get_mut(name) {
            test_pod.version = version;
            let pod = self.pod(name);
            self.learn(&Event::Pods(WatchEvent::Applied(pod)));
        }
    }

    pub(super) fn send_node(&mut self, name: &str) {
        let version = self.next_version();
        if let Some(server) = self.nodes.get_mut(name) {
            server.version = version;
            let node = self.node(name);
            if !self.are_node_events_lost {
                self.learn(&Event::Nodes(WatchEvent::Applied(node)));
            }
        }
    }

    pub(super) fn send_workloads(&mut self) {
        self.next_version();
        for (kind, workload) in self.workloads() {
            self.learn(&Event::Workloads(kind, WatchEvent::Applied(workload)));
        }
    }

    /// Deletes a pod with a grace period in seconds.
    pub(super) fn delete(&mut self, name: &str, grace: u64) {
        let leaves = self.seconds + grace;
        if let Some(test_pod) = self.test_pods.get_mut(name).filter(|test_pod| test_pod.leaves.is_none()) {
            test_pod.leaves = Some(leaves);
            let is_bound = test_pod.node.is_some();
            self.send_pod(name);
            if !is_bound || grace == 0 {
                self.vanish(name);
            }
        }
    }

    /// Removes a pod that was deleted.
    pub(super) fn vanish(&mut self, name: &str) {
        if self.test_pods.get(name).is_some_and(|test_pod| test_pod.leaves.is_some()) {
            let version = self.next_version();
            if let Some(test_pod) = self.test_pods.get_mut(name) {
                test_pod.version = version;
            }
            let pod = self.pod(name);
            self.test_pods.remove(name);
            self.learn(&Event::Pods(WatchEvent::Deleted(pod)));
        }
    }

    /// The kubelet starts all bound pods.
    pub(super) fn start_all(&mut self) {
        let bound = |test_pod: &TestPod| {
            test_pod.node.is_some() && test_pod.phase == "Pending" && test_pod.leaves.is_none()
        };
        let names: Vec<String> = self
            .test_pods
            .iter()
            .filter(|(_, test_pod)| bound(test_pod))
            .map(|(name, _)| name.clone())
            .collect();
        for name in names {
            if let Some(test_pod) = self.test_pods.get_mut(&name) {
                test_pod.phase = "Running";
            }
            self.send_pod(&name);
        }
    }

    /// The kubelet reports that a pod runs, even if it is being deleted.
    pub(super) fn runs(&mut self, name: &str) {
        if let Some(test_pod) = self.test_pods.get_mut(name) {
            test_pod.phase = "Running";
        }
        self.send_pod(name);
    }

    /// What the controllers of Kubernetes do: create and delete pods until the number is right.
    pub(super) fn reconcile(&mut self) {
        let web: Vec<String> = self
            .test_pods
            .iter()
            .filter(|(_, test_pod)| test_pod.is_web && test_pod.leaves.is_none())
            .map(|(name, _)| name.clone())
            .collect();
        for _ in web.len()..self.replicas as usize {
            self.create_pod(true, 0, None);
        }
        for name in web.iter().rev().take(web.len().saturating_sub(self.replicas as usize)) {
            self.delete(name, 30);
        }
    }

    pub(super) fn set_keep(&mut self, name: &str, keep: Option<&'static str>) {
        if let Some(test_pod) = self.test_pods.get_mut(name) {
            test_pod.keep = keep;
        }
        self.send_pod(name);
    }

    /// Another scheduler binds the pod, without a stamp.
    pub(super) fn bind_elsewhere(&mut self, name: &str, node: &str) {
        let seconds = self.seconds;
        if let Some(test_pod) = self.test_pods.get_mut(name) {
            (test_pod.node, test_pod.since) = (Some(node.to_owned()), Some(seconds));
        }
        self.send_pod(name);
    }

    /// Carries out the next effect; false if there is none.
    pub(super) fn run_one(&mut self) -> bool {
        let Some((index, effect)) = self.pending.pop_front() else { return false };
        match effect {
            Effect::Annotate(annotation) => {
                let outcome = self.annotate(&annotation);
                self.handle(index, Input::Annotated { annotation, outcome });
            }
            Effect::Bind { pod, uid, node, seat } => {
                let outcome = self.bind(&pod, &uid, node.as_str(), seat.map(|seat| seat.to_string()));
                self.handle(index, Input::Binding { pod, uid, outcome });
            }
            Effect::WriteEvent(event) => self.written_events.push(*event),
            _ => {}
        }
        true
    }

    pub(super) fn run(&mut self) {
        for _ in 0..10_000 {
            if !self.run_one() {
                return;
            }
        }
        panic!("it never comes to rest: {:?}", self.pending.iter().take(3).collect::<Vec<_>>());
    }

    fn annotate(&mut self, annotation: &crate::state::AnnotationWrite) -> AnnotationOutcome {
        let forbidden =
            AnnotationOutcome::Refused { why: "forbidden".into(), refusal: WriteRefusal::NotAllowed };
        let unknown = AnnotationOutcome::Unknown { why: "no answer".into() };
        match self.write_fault {
            WriteFault::Forbidden => return forbidden,
            WriteFault::RequestLost => return unknown,
            WriteFault::None | WriteFault::AnswerLost => {}
        }
        let (name, now) = (annotation.node.to_string(), self.now().wall);
        let Some(server) = self.nodes.get_mut(&name) else {
            return AnnotationOutcome::Refused { why: "gone".into(), refusal: WriteRefusal::Final };
        };
        let before = server.annotations.clone();
        let done = server.annotate(annotation, now);
        if server.annotations != before {
            self.send_node(&name);
        }
        match done {
            Ok(()) if self.write_fault == WriteFault::AnswerLost => unknown,
            Ok(()) => {
                AnnotationOutcome::Done { version: self.nodes.get(&name).map_or(0, |server| server.version) }
            }
            Err(why) => AnnotationOutcome::Refused { why, refusal: WriteRefusal::Final },
        }
    }

    fn bind(&mut self, key: &PodKey, uid: &Uid, node: &str, stamp: Option<String>) -> BindingOutcome {
        let seconds = self.seconds;
        let test_pod = self.test_pods.get_mut(&*key.name);
        match test_pod.filter(|test_pod| test_pod.node.is_none() && test_pod.uid == uid.to_string()) {
            Some(test_pod) => {
                (test_pod.node, test_pod.stamp, test_pod.since) =
                    (Some(node.to_owned()), stamp, Some(seconds));
                self.send_pod(&key.name);
                BindingOutcome::Bound
            }
            None => BindingOutcome::Lost,
        }
    }

    /// Lets time pass, second by second.
    pub(super) fn wait(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.pass(1000);
        }
    }

    /// Lets this much time pass at once.
    pub(super) fn pass(&mut self, millis: u64) {
        let millis = self.seconds * 1000 + self.millis + millis;
        (self.seconds, self.millis) = (millis / 1000, millis % 1000);
        let is_due = |index: &usize| {
            let now = self.now();
            self.states[*index].next_tick(now).is_some_and(|at| at <= now.elapsed)
        };
        let due: Vec<usize> = (0..self.states.len()).filter(is_due).collect();
        due.into_iter().for_each(|index| self.handle(index, Input::Tick));
        self.run();
    }

    /// Another replica's Lease changes.
    pub(super) fn update_replica(&mut self, replica: Replica) {
        self.learn(&Event::Replicas(WatchEvent::Applied(replica)));
    }

    /// All reservations of the cluster, by node.
    pub(super) fn reservations(&self) -> Vec<(String, Reservation)> {
        let of = |(name, server): (&String, &StoredNode)| {
            server.reservations().into_iter().map(|one| (name.clone(), one)).collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(of).collect()
    }

    /// The bound pods and their nodes: `web-1 n1`.
    pub(super) fn places(&self) -> Vec<String> {
        let place = |(name, test_pod): (&String, &TestPod)| {
            test_pod.node.as_ref().map(|node| format!("{name} {node}"))
        };
        self.test_pods.iter().filter_map(place).collect()
    }

    /// The reason and the object of each event that was written.
    pub(super) fn events(&self) -> Vec<(&str, &str)> {
        self.written_events.iter().map(|event| (event.reason, &*event.about.name)).collect()
    }
}

fn default_namespace() -> CatalogObject {
    CatalogObject::from(namespace::namespace(r#"{"metadata":{"name":"default","uid":"d"}}"#).unwrap())
}
