//! The simulated cluster: its nodes and workloads, the kubelets that start, stop and refuse pods, and a scheduler that knows
//! nothing of reservations.

use super::api::Actor;
use super::faults::RequestOutcome;
use super::foreign::ForeignOwner;
use super::sim::{Action, Sim};
use common::api::names::{DEFAULT_SCHEDULER_NAME, SCHEDULER_NAME};
use common::api::{node, pod};
use common::cluster::{Event, WatchEvent};
use common::model::pod::{Feature, Phase};
use common::model::{
    ControllerRef, HostPort, Keep, Labels, Node, NodeName, OwnerKind, Pod, PodKey, Uid, Workload,
};
use kubectl_reserve::flow::recreate::Request;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// A grace period that is longer than a simulation.
const LONG: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);

/// CPU requests of pods.
const SIZES: [&str; 3] = ["500m", "1", "2"];

/// One pod of each size, for our scheduler and for the other one.
static PODS: LazyLock<Vec<[Pod; 2]>> = LazyLock::new(|| {
    let decoded = |size: &str, scheduler: &str| {
        let json = json!({
            "metadata": { "name": "x", "namespace": "shop", "uid": "x", "resourceVersion": "1" },
            "spec": { "schedulerName": scheduler,
                      "containers": [{ "name": "c", "resources": { "requests": { "cpu": size, "memory": "64Mi" } } }] },
            "status": { "phase": "Pending" },
        });
        pod::pod(&json.to_string()).unwrap_or_else(|error| unreachable!("a pod of ours: {error}"))
    };
    SIZES.iter().map(|size| [decoded(size, SCHEDULER_NAME), decoded(size, DEFAULT_SCHEDULER_NAME)]).collect()
});

/// The parameters and the bookkeeping of a simulation besides the objects.
#[derive(Default)]
pub(super) struct Scenario {
    /// From then on there are no more activities.
    pub(super) activity_end: Duration,
    pub(super) grace: Duration,
    /// A disruption budget blocks an eviction one time in so many.
    pub(super) budget_blocks: u32,
    pub(super) automatic_max: usize,
    /// Whether reservations of the command are short-lived.
    pub(super) has_short_reservations: bool,
    /// Whether there is an election, and the fence that goes with it.
    pub(super) is_elected: bool,
    /// How far the fence is behind: it judges by the Lease as it was so long ago.
    pub(super) fence_lag: Duration,
    /// An owner of a kind that the daemons do not watch.
    pub(super) foreign_owner: Option<ForeignOwner>,
    /// The enabled activities: one bit for each kind.
    pub(super) activities: u32,
    /// The revision up to which controllers and kubelets have been scheduled.
    pub(super) handled_revision: u64,
    /// The same as a position in the log of pods.
    pub(super) handled_pods: usize,
    /// The pod template of each workload.
    pub(super) templates: BTreeMap<Uid, Pod>,
    /// The next request of each run of the command, by run and token.
    pub(super) next_requests: BTreeMap<(usize, u64), Request>,
    /// The process that dies when its current write has arrived or is lost.
    pub(super) crash_after_write: Option<Actor>,
    pub(super) command_writes: usize,
    pub(super) daemon_writes: usize,
    /// How many pods each owner had when the command evicted one of them.
    pub(super) pods_before_eviction: BTreeMap<Uid, usize>,
}

/// A pod template. `size` is an index of `SIZES`.
pub(super) fn template(size: usize, app: &str, priority: i32, is_ours: bool) -> Pod {
    let base = &PODS[size][usize::from(!is_ours)];
    let mut spec = (*base.spec).clone();
    spec.priority = priority;
    Pod { labels: Arc::new(Labels::new([("app", app)])), spec: Arc::new(spec), ..base.clone() }
}

/// The same template with host ports, each with its address.
pub(super) fn with_ports(like: &Pod, ports: Vec<(u16, String)>) -> Pod {
    let mut spec = (*like.spec).clone();
    let port = |(port, ip): (u16, String)| HostPort { protocol: "TCP".into(), ip: ip.into(), port };
    spec.ports = ports.into_iter().map(port).collect();
    spec.features.insert_if(true, Feature::NodePorts);
    Pod { spec: Arc::new(spec), ..like.clone() }
}

impl Sim {
    pub(super) fn add_node(&mut self, name: &str, cpus: u32) {
        let json = json!({
            "metadata": { "name": name, "uid": "x", "resourceVersion": "1" },
            "status": { "allocatable": { "cpu": cpus.to_string(), "memory": "8Gi", "pods": "110" } },
        });
        let Ok(node) = node::node(&json.to_string()) else { return };
        let uid = self.api.uid();
        self.api.note(format_args!("node {name} with {cpus} cpus"));
        self.api.put_node(Actor::Other, Node { uid, ..node });
    }

    /// Creates a workload, with the controller `above` or none.
    pub(super) fn add_workload(
        &mut self,
        kind: OwnerKind,
        name: &str,
        wanted: u32,
        above: Option<&Workload>,
        keep: Option<Keep>,
    ) -> Workload {
        let controller = above.map(|above| ControllerRef {
            kind: Some(above.kind),
            foreign: None,
            name: above.name.clone(),
            uid: above.uid.clone(),
        });
        let workload = Workload {
            kind,
            foreign: None,
            namespace: "shop".into(),
            name: name.into(),
            uid: self.api.uid(),
            resource_version: 0,
            controller,
            selector: None,
            desired_pods: Some(wanted),
            is_deleting: false,
            keep,
            daemon: None,
        };
        self.api.note(format_args!("{kind} {name} wants {wanted}"));
        self.api.put_workload(workload.clone());
        workload
    }

    /// Creates a pod from a template. Returns its UID.
    pub(super) fn make_pod(&mut self, like: &Pod, name: &str, owner: Option<&Workload>) -> Uid {
        let uid = self.api.uid();
        let controller = owner.map(|owner| {
            Arc::new(ControllerRef {
                foreign: None,
                kind: Some(owner.kind),
                name: owner.name.clone(),
                uid: owner.uid.clone(),
            })
        });
        let namespace = owner.map_or_else(|| like.key.namespace.clone(), |owner| owner.namespace.clone());
        let created = Some(self.api.wall().into());
        let key = PodKey::new(namespace, name);
        self.api.note(format_args!("made: {key}"));
        self.api.put_pod(Pod { key, uid: uid.clone(), controller, created, ..like.clone() });
        uid
    }

    /// Schedules the controllers, the other scheduler and the kubelets after a write.
    pub(super) fn schedule_reactions(&mut self) {
        if !std::mem::replace(&mut self.is_reconciling, true) {
            let pause = self.millis(20..1_000);
            self.after(pause, Action::Reconcile);
        }
        if !std::mem::replace(&mut self.is_scheduling, true) {
            let pause = self.millis(20..1_500);
            self.after(pause, Action::Schedule);
        }
        let fresh: Vec<Uid> = self.api.logs[1][self.scenario.handled_pods..]
            .iter()
            .filter_map(|(_, event)| match event {
                Event::Pods(WatchEvent::Applied(pod)) if pod.node.is_some() => Some(pod.uid.clone()),
                _ => None,
            })
            .collect();
        self.scenario.handled_pods = self.api.logs[1].len();
        for uid in fresh {
            let pause = self.millis(300..4_000);
            self.after(pause, Action::Kubelet(uid));
        }
    }

    /// A kubelet handles a pod: it removes, starts or refuses it.
    pub(super) fn kubelet(&mut self, uid: &Uid) {
        let Some(pod) = self.api.state.pods.get(uid).cloned() else { return };
        let Some(node) = pod.node.as_ref().and_then(|name| self.api.state.nodes.get(name)).cloned() else {
            return;
        };
        if !node.is_ready {
            return self.after(Duration::from_secs(3), Action::Kubelet(uid.clone()));
        }
        if pod.deleting {
            // A pod with a grace period of years mostly goes on terminating.
            let is_long =
                pod.deletion_timestamp().is_some_and(|by| by.duration_since(self.api.wall()) > LONG);
            if is_long && self.api.now < self.scenario.activity_end && !self.one_in(6) {
                let pause = self.millis(500..6_000);
                return self.after(pause, Action::Kubelet(uid.clone()));
            }
            let is_slow = self.api.now < self.scenario.activity_end && self.one_in(4);
            if is_slow {
                let pause =
                    self.millis(500..u64::try_from(self.scenario.grace.as_millis()).unwrap_or(1_000) + 501);
                return self.after(pause, Action::Kubelet(uid.clone()));
            }
            return self.api.remove_pod(uid);
        }
        if pod.phase != Phase::Pending {
            return;
        }
        let mut used = common::model::Resources::default();
        let older = self.api.state.counted(&node.name).filter(|one| one.phase == Phase::Running);
        older.for_each(|one| used.add_assign(one.spec.requests.counted()));
        let is_full = used.cpu + pod.spec.requests.counted().cpu > node.allocatable.cpu;
        let (outcome, ..) =
            if is_full { (RequestOutcome::Good, (), ()) } else { (self.kubelet_outcome(), (), ()) };
        let is_refused = is_full || outcome != RequestOutcome::Good;
        let phase = if is_refused { Phase::Failed } else { Phase::Running };
        self.api.note(format_args!("kubelet of {}: {} {phase:?}", node.name, pod.key));
        self.api.put_pod(Pod { phase, started: Some(self.api.wall().into()), ..Pod::clone(&pod) });
    }

    /// Whether a kubelet refuses a pod although it fits.
    fn kubelet_outcome(&mut self) -> RequestOutcome {
        let is_odd =
            self.api.now < self.scenario.activity_end && self.scenario.activities & 1 != 0 && self.one_in(30);
        if is_odd { RequestOutcome::Refused(0) } else { RequestOutcome::Good }
    }

    /// The scheduler that knows nothing of reservations: it counts only pods.
    pub(super) fn schedule(&mut self) {
        self.is_scheduling = false;
        let is_its =
            |pod: &&Arc<Pod>| pod.is_waiting() && &*pod.spec.scheduler_name == DEFAULT_SCHEDULER_NAME;
        let waiting: Vec<Arc<Pod>> = self.api.state.pods.values().filter(is_its).cloned().collect();
        for pod in waiting {
            let nodes: Vec<NodeName> = self.api.state.nodes.values().map(|node| node.name.clone()).collect();
            let fits = |name: &&NodeName| {
                let Some(node) = self.api.state.nodes.get(*name) else { return false };
                let used: i64 = self.api.state.counted(name).map(|pod| pod.spec.requests.counted().cpu).sum();
                !node.unschedulable
                    && node.is_ready
                    && used + pod.spec.requests.counted().cpu <= node.allocatable.cpu
            };
            if let Some(node) = nodes.iter().find(fits) {
                let _ = self.api.bind(Actor::Other, (&pod.key, &pod.uid), node, None);
            }
        }
    }
}
