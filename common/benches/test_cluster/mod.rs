//! Clusters for benchmarks: nodes and pods as JSON of the API server, decoded by the product's decoders.

use common::api;
use common::cluster::{Assumption, Cluster, Event, WatchEvent};
use common::cycle::{Decision, schedule};
use common::framework::Registry;
use common::model::{CatalogKind, Node, OwnerKind, Pod, Workload};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// The time of all benchmarks.
pub(crate) const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// How many pods each node has.
pub(crate) const PODS_PER_NODE: usize = 10;

/// The CPU time of this thread; other processes on the machine do not count.
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Whether `cargo bench` runs this program. In `cargo test --benches` it does nothing, because it would take minutes.
pub(crate) fn is_bench_run() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// A UID that is always the same for `kind` and `number`.
pub(crate) fn uid(kind: u32, number: usize) -> String {
    format!("{kind:08x}-0000-4000-8000-{number:012x}")
}

/// A node like those of a cloud: one of several sizes and pools, in one of eight zones.
pub(crate) fn node(number: usize) -> Node {
    let (size, zone, pool) = (number % 4, number % 8, number % 16);
    let cpu = [4, 8, 16, 32][size];
    let taint = if pool == 15 { r#"{"key":"dedicated","value":"batch","effect":"NoSchedule"}"# } else { "" };
    let soft = if pool == 14 { r#"{"key":"spot","value":"true","effect":"PreferNoSchedule"}"# } else { "" };
    let json = format!(
        r#"{{"metadata":{{"name":"node-{number:06}","uid":"{uid}","resourceVersion":"{version}","labels":{{
        "kubernetes.io/hostname":"node-{number:06}","kubernetes.io/os":"linux","kubernetes.io/arch":"amd64",
        "beta.kubernetes.io/os":"linux","beta.kubernetes.io/arch":"amd64",
        "topology.kubernetes.io/zone":"zone-{zone}","topology.kubernetes.io/region":"region-1",
        "failure-domain.beta.kubernetes.io/zone":"zone-{zone}","failure-domain.beta.kubernetes.io/region":"region-1",
        "node.kubernetes.io/instance-type":"size-{size}","beta.kubernetes.io/instance-type":"size-{size}",
        "pool":"pool-{pool}","cloud.example.com/generation":"g7"}}}},
        "spec":{{"taints":[{taint}{soft}]}},
        "status":{{"allocatable":{{"cpu":"{cpu}","memory":"{memory}Gi","ephemeral-storage":"100Gi","pods":"110"}},
        "images":[{{"names":["registry.example.com/base:1"],"sizeBytes":52428800}},
                  {{"names":["registry.example.com/app-{app}:1"],"sizeBytes":209715200}}]}}}}"#,
        uid = uid(1, number),
        version = number + 1,
        memory = cpu * 4,
        app = number % 5,
    );
    api::node::node(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// A waiting pod of the given shape. Its owner is a custom resource.
pub(crate) fn pod(number: usize, shape: usize) -> Pod {
    let (cpu, memory) = (50 + 10 * (shape % 8), 64 + 32 * (shape % 5));
    let tolerations = match shape % 4 {
        3 => r#"{"key":"dedicated","operator":"Exists"},{"key":"spot","operator":"Exists"}"#,
        2 => r#"{"key":"spot","operator":"Equal","value":"true","effect":"PreferNoSchedule"}"#,
        _ => "",
    };
    let selector =
        if shape % 8 == 5 { r#""nodeSelector":{"topology.kubernetes.io/zone":"zone-3"},"# } else { "" };
    let json = format!(
        r#"{{"metadata":{{"name":"shape-{shape}-7c9d5b5f8-{number:08x}","namespace":"namespace-{ns}","uid":"{uid}",
        "resourceVersion":"{version}","creationTimestamp":"2026-01-31T12:00:00Z",
        "labels":{{"app":"shape-{shape}","pod-template-hash":"7c9d5b5f8","team":"team-{ns}"}},
        "ownerReferences":[{{"apiVersion":"example.com/v1","kind":"Fleet","name":"shape-{shape}",
        "uid":"{owner}","controller":true}}]}},
        "spec":{{"schedulerName":"reserve-scheduler","priority":0,{selector}"tolerations":[{tolerations}],
        "containers":[{{"name":"main","image":"registry.example.com/app-{shape}:1",
        "resources":{{"requests":{{"cpu":"{cpu}m","memory":"{memory}Mi"}}}}}}]}},"status":{{"phase":"Pending"}}}}"#,
        ns = shape % 16,
        uid = uid(2, number),
        owner = uid(3, shape),
        version = number + 1,
    );
    api::pod::pod(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// The same pod, bound to the node of that number.
pub(crate) fn bound(number: usize, shape: usize, node: usize) -> Pod {
    pod(number, shape).bound(format!("node-{node:06}").as_str().into(), None, Some(NOW))
}

/// A cluster of `nodes` nodes without pods.
pub(crate) fn empty(nodes: usize) -> Cluster {
    let mut cluster = Cluster::default();
    for kind in OwnerKind::ALL {
        let live = if kind == OwnerKind::ReplicaSet { vec![replica_set()] } else { Vec::new() };
        cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(live)));
    }
    for kind in CatalogKind::ALL {
        cluster.apply(Event::CatalogObjects(kind, WatchEvent::Relisted(Vec::new())));
    }
    cluster.apply(Event::Nodes(WatchEvent::Relisted((0..nodes).map(node).collect())));
    cluster.apply(Event::Pods(WatchEvent::Relisted(Vec::new())));
    cluster
}

/// The ReplicaSet `web`, whose pods get the default spread constraints.
fn replica_set() -> Workload {
    let json = format!(
        r#"{{"metadata":{{"name":"web","namespace":"namespace-0","uid":"{}","resourceVersion":"1"}},
        "spec":{{"selector":{{"matchLabels":{{"app":"web"}}}}}}}}"#,
        uid(4, 0)
    );
    api::workload::workload(OwnerKind::ReplicaSet, &json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// Places pods one after the other, and removes the oldest, so that the cluster stays equally full.
pub(crate) struct PodStream {
    pub(crate) cluster: Cluster,
    pub(crate) registry: Registry,
    placed: std::collections::VecDeque<Arc<Pod>>,
    next: usize,
}

/// How many placed pods stay in the cluster.
const STAYING: usize = 2_000;

impl PodStream {
    pub(crate) fn new(cluster: Cluster, registry: Registry) -> Self {
        Self { cluster, registry, placed: std::collections::VecDeque::new(), next: 1 << 32 }
    }

    /// Places the pod that `make` makes from its number. Returns the CPU time of the decision and of the assumption.
    pub(crate) fn place(
        &mut self,
        make: impl Fn(usize) -> Pod,
        check: impl FnOnce(&mut Cluster, &Pod, &Decision),
    ) -> Duration {
        self.next += 1;
        let key = make(self.next).key;
        self.cluster.apply(Event::Pods(WatchEvent::Applied(make(self.next))));
        let pod = Arc::clone(self.cluster.pod(&key).unwrap_or_else(|| panic!("{key} is not there")));
        let before = cpu_time();
        let decision = schedule(&pod, &self.cluster.snapshot(NOW), &self.registry);
        let decided = cpu_time();
        check(&mut self.cluster, &pod, &decision);
        let Decision::Place { node, claims } = decision else { panic!("{decision:?}") };
        let again = cpu_time();
        self.cluster.assume(&key, Assumption { uid: pod.uid.clone(), node, claims, since: NOW });
        let took = decided.saturating_sub(before) + cpu_time().saturating_sub(again);
        self.placed.push_back(pod);
        if self.placed.len() > STAYING
            && let Some(oldest) = self.placed.pop_front()
        {
            self.cluster.apply(Event::Pods(WatchEvent::Deleted((*oldest).clone())));
        }
        took
    }
}
