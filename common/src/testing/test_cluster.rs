//! A small cluster that changes at random, for tests that compare what is kept with what is worked out anew.

use super::{NodeBuilder, PodBuilder, namespace, node, now, pod, replica_set, service, workload, world};
use crate::cluster::{Cluster, Event, Ledger, PodContext, Seen, Snapshot};
use crate::framework::{Filter, Verdict};
use crate::model::other::OtherKind;
use crate::model::owner::{OwnerKind, Workload};
use crate::model::selector::Selector;
use serde_json::{Value, json};
use std::sync::Arc;

/// Choices, made beforehand so that proptest can make do with fewer.
pub(crate) struct Tape<'t> {
    rest: std::slice::Iter<'t, u16>,
}

/// The cluster.
pub(crate) struct TestCluster {
    pub(crate) cluster: Cluster,
    version: u64,
    pods: Vec<PodBuilder>,
    /// The ReplicaSet, the StatefulSet and the ReplicationController that pods may be of.
    pub(crate) sets: [Workload; 3],
}

impl<'t> Tape<'t> {
    pub(crate) fn new(choices: &'t [u16]) -> Self {
        Self { rest: choices.iter() }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.rest.len() == 0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.rest.next().copied().unwrap_or(0)) % limit
    }

    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == many - 1
    }

    pub(crate) fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// A label with one of these values, or without: `-` stands for no label.
fn labels(tape: &mut Tape<'_>, choices: &[(&str, &[&str])]) -> Value {
    let mut labels = json!({});
    for (key, values) in choices {
        let value = tape.of(values);
        if value != "-" {
            labels[*key] = json!(value);
        }
    }
    labels
}

/// Something, or null.
pub(crate) fn maybe(tape: &mut Tape<'_>, value: impl FnOnce(&mut Tape<'_>) -> Value) -> Value {
    if tape.one_in(2) { value(tape) } else { Value::Null }
}

/// What a filter says about every node: the words, and whether preempting pods is no use; `None` if it need not be asked.
pub(crate) fn verdicts(
    filter: &dyn Filter,
    pod_context: &PodContext<'_>,
    world: &Snapshot<'_>,
) -> Option<Vec<Option<(String, bool)>>> {
    let ask = filter.prepare(pod_context, world)?;
    let said = |ledger: &Ledger| match ask(ledger.id) {
        Verdict::Fits => None,
        Verdict::Rejects(all) => Some((all[0].reason.to_string(), all[0].reason.is_unresolvable())),
        Verdict::Says(phrase) => Some((phrase.words.to_owned(), phrase.unresolvable)),
        Verdict::Fails(why) => panic!("{why}"),
    };
    Some(world.nodes().map(said).collect())
}

impl TestCluster {
    pub(crate) fn new() -> Self {
        let selecting = |mut set: Workload, labels: &[(&'static str, &'static str)]| {
            set.selector = Some(Selector::from_pairs(labels.iter().copied()));
            set
        };
        let sets = [
            selecting(replica_set("rs"), &[("app", "a")]),
            selecting(workload(OwnerKind::StatefulSet, "ss"), &[]),
            selecting(workload(OwnerKind::ReplicationController, "rc"), &[("app", "b"), ("tier", "x")]),
        ];
        let spaces = [("default", "a"), ("other", "b"), ("third", "")];
        let start = sets.iter().fold(world(), |world, set| world.workload(set));
        let start =
            spaces.iter().fold(start, |world, (name, team)| world.with(namespace(name).label("team", team)));
        Self { cluster: start.cluster(), version: 1, pods: Vec::new(), sets }
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot<'_> {
        self.cluster.snapshot(now())
    }

    /// Something happens.
    pub(crate) fn step(
        &mut self,
        tape: &mut Tape<'_>,
        pod: impl Fn(PodBuilder, &mut Tape<'_>) -> PodBuilder,
    ) {
        self.version += 1;
        let event = match tape.below(12) {
            0..=2 => Event::Nodes(Seen::Applied(some_node(tape).version(self.version).build())),
            3 => Event::Nodes(Seen::Deleted(some_node(tape).build())),
            4 => {
                let space = namespace(tape.of(&["default", "other"])).label("team", tape.of(&["a", "b"]));
                Event::Others(OtherKind::Namespace, Seen::Applied(space.version(self.version).into()))
            }
            5 => {
                let name = tape.of(&["s1", "s2"]);
                let some = [[("app", "a")], [("tier", "x")], [("app", "c")]];
                let service = service(name).selector(tape.of(&some)).version(self.version);
                let seen = if tape.one_in(2) { Seen::Applied } else { Seen::Deleted };
                Event::Others(OtherKind::Service, seen(service.into()))
            }
            6 if !self.pods.is_empty() => {
                let gone = self.pods.swap_remove(tape.below(self.pods.len()));
                Event::Pods(Seen::Deleted(gone.build()))
            }
            7 if !self.pods.is_empty() => {
                let going = tape.of(&self.pods).terminating().version(self.version);
                Event::Pods(Seen::Applied(going.build()))
            }
            _ => {
                let name = format!("p{}", self.version);
                let pod = some_pod(&name, tape, &pod).on(&format!("n{}", tape.below(6)));
                self.pods.push(pod.clone());
                Event::Pods(Seen::Applied(pod.build()))
            }
        };
        self.cluster.apply(event);
    }

    /// Books of some node without some of its pods, and with others.
    pub(crate) fn supposed(
        world: &Snapshot<'_>,
        tape: &mut Tape<'_>,
        pod: impl Fn(PodBuilder, &mut Tape<'_>) -> PodBuilder,
    ) -> Option<Ledger> {
        let count = world.len();
        let mut ledger = world.nodes().nth(tape.below(count.max(1)))?.clone();
        for known in ledger.pods.clone() {
            if tape.one_in(2) {
                ledger.remove(&known.uid);
            }
        }
        for number in 0..tape.below(3) {
            let name = ledger.node.name.to_string();
            let pod = some_pod(&format!("supposed{number}"), tape, &pod).on(&name);
            ledger.add(Arc::new(pod.build()));
        }
        Some(ledger)
    }
}

fn some_node(tape: &mut Tape<'_>) -> NodeBuilder {
    let name = format!("n{}", tape.below(6));
    let labels = labels(
        tape,
        &[
            ("topology.kubernetes.io/zone", &["a", "b", "c", "", "-"]),
            ("kubernetes.io/hostname", &[&name, &name, &name, "shared", "-"]),
            ("rack", &["x", "y", "-"]),
        ],
    );
    let node = node(&name).with("/metadata/labels", labels);
    if tape.one_in(3) { node.taint("dirty:NoSchedule") } else { node }
}

/// A pod with labels, in some namespace, as `finish` finishes it.
pub(crate) fn some_pod(
    name: &str,
    tape: &mut Tape<'_>,
    finish: impl Fn(PodBuilder, &mut Tape<'_>) -> PodBuilder,
) -> PodBuilder {
    let choices: [(&str, &[&str]); 3] =
        [("app", &["a", "b", "c", "-"]), ("tier", &["x", "y", "-"]), ("serial", &[name])];
    let space = tape.of(&["default", "default", "default", "other", "third", "unknown"]);
    let pod = pod(name).with("/metadata/labels", labels(tape, &choices)).namespace(space);
    finish(pod, tape)
}
