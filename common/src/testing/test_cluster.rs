//! A small cluster that changes at random, for tests that compare cached values with values that are computed anew.

use super::{
    NodeBuilder, PodBuilder, cluster_builder, namespace, node, now, pod, replica_set, service, workload,
};
use crate::cluster::{Cluster, Event, Ledger, PodContext, Snapshot, WatchEvent};
use crate::framework::{Filter, Verdict};
use crate::model::{CatalogKind, OwnerKind, Selector, Workload};
use serde_json::{Value, json};
use std::sync::Arc;

/// Random choices, drawn in advance by proptest so that it can shrink them.
pub(crate) struct RandomChoices<'t> {
    rest: std::slice::Iter<'t, u16>,
}

/// A cluster that changes at random.
pub(crate) struct TestCluster {
    pub(crate) cluster: Cluster,
    version: u64,
    pods: Vec<PodBuilder>,
    /// The ReplicaSet, the StatefulSet and the ReplicationController that pods may be of.
    pub(crate) sets: [Workload; 3],
}

impl<'t> RandomChoices<'t> {
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

/// Labels, each with one of these values; `-` stands for no label.
fn labels(random: &mut RandomChoices<'_>, choices: &[(&str, &[&str])]) -> Value {
    let mut labels = json!({});
    for (key, values) in choices {
        let value = random.of(values);
        if value != "-" {
            labels[*key] = json!(value);
        }
    }
    labels
}

/// A value, or null.
pub(crate) fn maybe(
    random: &mut RandomChoices<'_>,
    value: impl FnOnce(&mut RandomChoices<'_>) -> Value,
) -> Value {
    if random.one_in(2) { value(random) } else { Value::Null }
}

/// The verdict of a filter about every node: its text, and whether preempting pods does not help; `None` if the filter does not
/// apply to the pod.
pub(crate) fn verdicts(
    filter: &dyn Filter,
    context: &PodContext<'_>,
    snapshot: &Snapshot<'_>,
) -> Option<Vec<Option<(String, bool)>>> {
    let ask = filter.prepare(context, snapshot)?;
    let verdict = |ledger: &Ledger| match ask(ledger.id) {
        Verdict::Fits => None,
        Verdict::Rejects(all) => Some((all[0].reason.to_string(), all[0].reason.is_unresolvable())),
        Verdict::RejectsStatic { reason, .. } => Some((reason.text.to_owned(), reason.kind.is_unresolvable)),
        Verdict::Fails(why) => panic!("{why}"),
    };
    Some(snapshot.nodes().map(verdict).collect())
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
        let namespaces = [("default", "a"), ("other", "b"), ("third", "")];
        let start = sets.iter().fold(cluster_builder(), |builder, set| builder.workload(set));
        let start = namespaces
            .iter()
            .fold(start, |builder, (name, team)| builder.with(namespace(name).label("team", team)));
        Self { cluster: start.cluster(), version: 1, pods: Vec::new(), sets }
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot<'_> {
        self.cluster.snapshot(now())
    }

    /// Applies one random event.
    pub(crate) fn step(
        &mut self,
        random: &mut RandomChoices<'_>,
        pod: impl Fn(PodBuilder, &mut RandomChoices<'_>) -> PodBuilder,
    ) {
        self.version += 1;
        let event = match random.below(12) {
            0..=2 => Event::Nodes(WatchEvent::Applied(some_node(random).version(self.version).build())),
            3 => Event::Nodes(WatchEvent::Deleted(some_node(random).build())),
            4 => {
                let space = namespace(random.of(&["default", "other"])).label("team", random.of(&["a", "b"]));
                Event::CatalogObjects(
                    CatalogKind::Namespace,
                    WatchEvent::Applied(space.version(self.version).into()),
                )
            }
            5 => {
                let name = random.of(&["s1", "s2"]);
                let some = [[("app", "a")], [("tier", "x")], [("app", "c")]];
                let service = service(name).selector(random.of(&some)).version(self.version);
                let event = if random.one_in(2) { WatchEvent::Applied } else { WatchEvent::Deleted };
                Event::CatalogObjects(CatalogKind::Service, event(service.into()))
            }
            6 if !self.pods.is_empty() => {
                let gone = self.pods.swap_remove(random.below(self.pods.len()));
                Event::Pods(WatchEvent::Deleted(gone.build()))
            }
            7 if !self.pods.is_empty() => {
                let going = random.of(&self.pods).terminating().version(self.version);
                Event::Pods(WatchEvent::Applied(going.build()))
            }
            _ => {
                let name = format!("p{}", self.version);
                let pod = some_pod(&name, random, &pod).on(&format!("n{}", random.below(6)));
                self.pods.push(pod.clone());
                Event::Pods(WatchEvent::Applied(pod.build()))
            }
        };
        self.cluster.apply(event);
    }

    /// The ledger of a random node without some of its pods and with other pods.
    pub(crate) fn supposed(
        snapshot: &Snapshot<'_>,
        random: &mut RandomChoices<'_>,
        pod: impl Fn(PodBuilder, &mut RandomChoices<'_>) -> PodBuilder,
    ) -> Option<Ledger> {
        let count = snapshot.len();
        let mut ledger = snapshot.nodes().nth(random.below(count.max(1)))?.clone();
        for known in ledger.pods.clone() {
            if random.one_in(2) {
                ledger.remove(&known.uid);
            }
        }
        for number in 0..random.below(3) {
            let name = ledger.node.name.to_string();
            let pod = some_pod(&format!("supposed{number}"), random, &pod).on(&name);
            ledger.add(Arc::new(pod.build()));
        }
        Some(ledger)
    }
}

fn some_node(random: &mut RandomChoices<'_>) -> NodeBuilder {
    let name = format!("n{}", random.below(6));
    let labels = labels(
        random,
        &[
            ("topology.kubernetes.io/zone", &["a", "b", "c", "", "-"]),
            ("kubernetes.io/hostname", &[&name, &name, &name, "shared", "-"]),
            ("rack", &["x", "y", "-"]),
        ],
    );
    let node = node(&name).with("/metadata/labels", labels);
    if random.one_in(3) { node.taint("dirty:NoSchedule") } else { node }
}

/// A pod with random labels and namespace, completed by `finish`.
pub(crate) fn some_pod(
    name: &str,
    random: &mut RandomChoices<'_>,
    finish: impl Fn(PodBuilder, &mut RandomChoices<'_>) -> PodBuilder,
) -> PodBuilder {
    let choices: [(&str, &[&str]); 3] =
        [("app", &["a", "b", "c", "-"]), ("tier", &["x", "y", "-"]), ("serial", &[name])];
    let space = random.of(&["default", "default", "default", "other", "third", "unknown"]);
    let pod = pod(name).with("/metadata/labels", labels(random, &choices)).namespace(space);
    finish(pod, random)
}
