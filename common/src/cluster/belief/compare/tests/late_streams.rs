//! Under load the list and the watch events arrive late and in any order: a comparison must not find a difference then.
//!
//! The objects of an API server change at random. The belief receives nodes and pods by one stream each, in order but late, and
//! bookmarks and lists. A comparison lists both kinds at one moment and gets the answer at another one.

use super::{Comparison, ListedObjects, Listing};
use crate::cluster::{Assumption, Cluster, Event, WatchEvent};
use crate::model::{Node, Pod};
use crate::testing::{at, cluster_builder, deployment, node, pod, replica_set, reservation};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use std::collections::BTreeMap;

/// The indexes of the streams.
const NODES: usize = 0;
const PODS: usize = 1;

/// One step of a history. Numbers choose names; a step that is impossible does nothing.
#[derive(Clone, Copy, Debug)]
enum Step {
    ApplyNode {
        name: u8,
        cpu: u8,
        seats: u8,
    },
    DeleteNode(u8),
    CreatePod {
        name: u8,
        node: Option<u8>,
    },
    BindPod {
        name: u8,
        node: u8,
    },
    MarkPodDeleting(u8),
    DeletePod(u8),
    Assume {
        name: u8,
        node: u8,
    },
    Forget(u8),
    Nominate {
        name: u8,
        node: u8,
    },
    Receive {
        stream: usize,
        events: u8,
    },
    Bookmark(usize),
    ListAgain(usize),
    AdvanceTime(u8),
    /// A comparison begins, the API server answers, the answer arrives.
    Begin,
    Answer,
    Arrive,
}

/// An event in the log of its kind, with its version.
type LoggedEvent = (u64, Event);

struct TestCluster {
    revision: u64,
    now: i64,
    nodes: BTreeMap<u8, Node>,
    pods: BTreeMap<u8, Pod>,
    /// All events, by stream; `received` says how many of them the belief has.
    logs: [Vec<LoggedEvent>; 2],
    received: [usize; 2],
    cluster: Cluster,
    is_list_requested: bool,
    answer: Option<Listing>,
    comparison: Option<Comparison>,
    /// How many comparisons ended, and how many steps a comparison had to wait.
    ended: usize,
    waited: usize,
}

impl TestCluster {
    fn new() -> Self {
        let set = replica_set("web-1").of(&deployment("web"));
        Self {
            revision: 1,
            now: 0,
            nodes: BTreeMap::new(),
            pods: BTreeMap::new(),
            logs: [Vec::new(), Vec::new()],
            received: [0, 0],
            cluster: cluster_builder().workload(&deployment("web")).workload(&set).cluster(),
            is_list_requested: false,
            answer: None,
            comparison: None,
            ended: 0,
            waited: 0,
        }
    }

    fn apply_step(&mut self, step: Step) {
        self.revision += 1;
        match step {
            Step::ApplyNode { name, cpu, seats } => self.node(name, cpu, seats),
            Step::DeleteNode(name) => {
                if let Some(node) = self.nodes.remove(&name) {
                    let gone = Node { resource_version: self.revision, ..node };
                    self.log(NODES, Event::Nodes(WatchEvent::Deleted(gone)));
                }
            }
            Step::CreatePod { name, node } if !self.pods.contains_key(&name) => {
                let set = replica_set("web-1").of(&deployment("web"));
                let built = pod(&format!("p{name}")).uid(&format!("p{name} {}", self.revision)).cpu("500m");
                let built = built.owned_by(&set);
                let built = node.iter().fold(built, |built, node| built.on(&format!("n{node}")));
                self.pod(name, built.build());
            }
            Step::BindPod { name, node } => self.change_pod(name, |pod| {
                pod.node.get_or_insert_with(|| format!("n{node}").as_str().into());
            }),
            Step::MarkPodDeleting(name) => self.change_pod(name, |pod| pod.deleting = true),
            Step::DeletePod(name) => {
                if let Some(pod) = self.pods.remove(&name) {
                    let gone = Pod { resource_version: self.revision, ..pod };
                    self.log(PODS, Event::Pods(WatchEvent::Deleted(gone)));
                }
            }
            Step::CreatePod { .. } => {}
            _ => self.apply_to_belief(step),
        }
        self.continue_comparison();
    }

    fn apply_to_belief(&mut self, step: Step) {
        match step {
            Step::Assume { name, node } => {
                if let Some(pod) = self.believed(name) {
                    let node = format!("n{node}").as_str().into();
                    let assumed = Assumption { uid: pod.uid, node, claims: None.into(), since: at(self.now) };
                    self.cluster.assume(&pod.key, assumed);
                }
            }
            Step::Forget(name) => {
                if let Some(pod) = self.believed(name) {
                    self.cluster.forget(&pod.key, &pod.uid);
                }
            }
            Step::Nominate { name, node } => {
                if let Some(pod) = self.believed(name) {
                    let node = Some(format!("n{node}").as_str().into());
                    self.cluster.nominate_to(&pod.key, &pod.uid, node);
                }
            }
            Step::Receive { stream, events } => self.receive(stream, usize::from(events)),
            Step::Bookmark(stream) => self.bookmark(stream),
            Step::ListAgain(stream) => self.list_again(stream),
            Step::AdvanceTime(seconds) => {
                self.now += i64::from(seconds);
                self.cluster.advance(at(self.now));
            }
            Step::Begin if !self.is_list_requested && self.answer.is_none() && self.comparison.is_none() => {
                self.cluster.begin_comparison();
                self.is_list_requested = true;
            }
            Step::Answer if std::mem::take(&mut self.is_list_requested) => self.answer = Some(self.listing()),
            Step::Arrive => {
                if let Some(listing) = self.answer.take() {
                    self.comparison = Some(Comparison::new(listing));
                }
            }
            _ => {}
        }
    }

    /// Creates or changes a node.
    fn node(&mut self, name: u8, cpu: u8, seats: u8) {
        let uid = self.nodes.get(&name).map(|node| node.uid.clone());
        let built = node(&format!("n{name}")).version(self.revision).cpu(&cpu.to_string());
        let built = (0..seats).fold(built, |built, seat| {
            let ends = at(self.now + 5 * i64::from(seat + 1));
            let kept = reservation(&deployment("web")).seat(&format!("s{seat}")).cpu("500m");
            built.reserves(kept.created(at(self.now)).expires(ends).build())
        });
        let mut built = built.uid(&format!("n{name} {}", self.revision)).build();
        built.uid = uid.unwrap_or(built.uid);
        self.nodes.insert(name, built.clone());
        self.log(NODES, Event::Nodes(WatchEvent::Applied(built)));
    }

    fn pod(&mut self, name: u8, pod: Pod) {
        let pod = Pod { resource_version: self.revision, ..pod };
        self.pods.insert(name, pod.clone());
        self.log(PODS, Event::Pods(WatchEvent::Applied(pod)));
    }

    fn change_pod(&mut self, name: u8, change: impl FnOnce(&mut Pod)) {
        if let Some(mut pod) = self.pods.get(&name).cloned() {
            change(&mut pod);
            self.pod(name, pod);
        }
    }

    fn log(&mut self, stream: usize, event: Event) {
        self.logs[stream].push((self.revision, event));
    }

    fn believed(&self, name: u8) -> Option<Pod> {
        self.cluster.pod(&pod(&format!("p{name}")).build().key).map(|pod| Pod::clone(pod))
    }

    fn receive(&mut self, stream: usize, events: usize) {
        for _ in 0..events {
            let Some((_, event)) = self.logs[stream].get(self.received[stream]) else { return };
            self.received[stream] += 1;
            self.cluster.apply(event.clone());
        }
    }

    /// The API server sends a bookmark with the version up to which the stream is complete.
    fn bookmark(&mut self, stream: usize) {
        let next = self.logs[stream].get(self.received[stream]);
        let version = next.map_or(self.revision, |(version, _)| version - 1);
        self.cluster.apply(match stream {
            NODES => Event::NodesUpTo(version),
            _ => Event::PodsUpTo(version),
        });
    }

    /// The watch broke, and everything is listed again.
    fn list_again(&mut self, stream: usize) {
        self.received[stream] = self.logs[stream].len();
        self.cluster.apply(match stream {
            NODES => Event::Nodes(WatchEvent::Relisted(self.nodes.values().cloned().collect())),
            _ => Event::Pods(WatchEvent::Relisted(self.pods.values().cloned().collect())),
        });
        self.bookmark(stream);
    }

    fn listing(&self) -> Listing {
        let version = self.revision;
        Listing {
            nodes: ListedObjects { objects: self.nodes.values().cloned().collect(), version },
            pods: ListedObjects { objects: self.pods.values().cloned().collect(), version },
        }
    }

    /// Continues the comparison after each step; it must not find a difference.
    fn continue_comparison(&mut self) {
        let Some(comparison) = &mut self.comparison else { return };
        match comparison.step(&self.cluster) {
            None => self.waited += 1,
            Some(differences) => {
                assert_eq!(differences, []);
                self.comparison = None;
                self.cluster.end_comparison();
                self.ended += 1;
            }
        }
    }

    /// Delivers everything that is under way.
    fn deliver_everything(&mut self) {
        for step in [Step::Answer, Step::Arrive, Step::Receive { stream: NODES, events: 255 }] {
            self.apply_step(step);
        }
        for step in [Step::Receive { stream: PODS, events: 255 }, Step::Bookmark(NODES), Step::Bookmark(PODS)]
        {
            self.apply_step(step);
        }
        assert!(self.comparison.is_none(), "it does not come to an end");
    }

    /// A whole comparison without steps in between.
    fn compare_now(&mut self) -> Vec<super::Difference> {
        self.cluster.begin_comparison();
        let mut comparison = Comparison::new(self.listing());
        self.bookmark(NODES);
        self.bookmark(PODS);
        let differences = comparison.step(&self.cluster).unwrap();
        self.cluster.end_comparison();
        differences
    }
}

fn step() -> impl Strategy<Value = Step> {
    let pod = || 0..5_u8;
    let host = || 0..3_u8;
    let stream = || NODES..=PODS;
    prop_oneof![
        4 => (host(), 1..4_u8, 0..3_u8).prop_map(|(name, cpu, seats)| Step::ApplyNode { name, cpu, seats }),
        1 => host().prop_map(Step::DeleteNode),
        5 => (pod(), prop::option::of(host())).prop_map(|(name, node)| Step::CreatePod { name, node }),
        3 => (pod(), host()).prop_map(|(name, node)| Step::BindPod { name, node }),
        2 => pod().prop_map(Step::MarkPodDeleting),
        4 => pod().prop_map(Step::DeletePod),
        2 => (pod(), host()).prop_map(|(name, node)| Step::Assume { name, node }),
        1 => pod().prop_map(Step::Forget),
        1 => (pod(), host()).prop_map(|(name, node)| Step::Nominate { name, node }),
        10 => (stream(), 1..4_u8).prop_map(|(stream, events)| Step::Receive { stream, events }),
        1 => stream().prop_map(Step::Bookmark),
        1 => stream().prop_map(Step::ListAgain),
        2 => (0..8_u8).prop_map(Step::AdvanceTime),
        4 => any::<()>().prop_map(|()| Step::Begin),
        4 => any::<()>().prop_map(|()| Step::Answer),
        4 => any::<()>().prop_map(|()| Step::Arrive),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn streams_that_are_late_are_no_difference(steps in prop::collection::vec(step(), 1..80)) {
        let mut test_cluster = TestCluster::new();
        steps.into_iter().for_each(|step| test_cluster.apply_step(step));
        test_cluster.deliver_everything();
        assert_eq!(test_cluster.compare_now(), []);
    }

    #[test]
    fn what_the_belief_lost_or_made_up_is_found_after_any_history(
        steps in prop::collection::vec(step(), 1..60),
        is_lost in any::<bool>(),
    ) {
        let mut test_cluster = TestCluster::new();
        steps.into_iter().for_each(|step| test_cluster.apply_step(step));
        test_cluster.deliver_everything();
        let lost = test_cluster.pods.values().next().filter(|_| is_lost).cloned();
        test_cluster.cluster.apply(Event::Pods(match lost {
            Some(lost) => WatchEvent::Deleted(lost),
            None => WatchEvent::Applied(pod("made-up").version(test_cluster.revision).on("n1").build()),
        }));
        let differences = test_cluster.compare_now();
        assert_eq!(differences.len(), 1, "{differences:?}");
    }
}

/// The random histories contain comparisons that have to wait, and many that end.
#[test]
fn histories_reach_comparisons_that_wait() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut ended, mut waited) = (0, 0);
    for _ in 0..100 {
        let steps = prop::collection::vec(step(), 60).new_tree(&mut runner).unwrap().current();
        let mut test_cluster = TestCluster::new();
        steps.into_iter().for_each(|step| test_cluster.apply_step(step));
        test_cluster.deliver_everything();
        (ended, waited) = (ended + test_cluster.ended, waited + test_cluster.waited);
    }
    assert!(ended > 100 && waited > 100, "{ended} ended, {waited} waited");
}
