//! The meter is told once of each extension point that a pod passes, with the result.

use super::nodes;
use crate::cycle::{Clearance, Decision, bound, clear, not_bound, schedule, schedule_by_scan};
use crate::framework::{Meter, Registry, Status};
use crate::model::ExtensionPoint;
use crate::plugins::default_registry;
use crate::testing::{PodBuilder, World, node, now, pod, world};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A clock that goes on by a second whenever somebody looks, and what was heard.
#[derive(Default)]
struct Watch {
    seconds: AtomicU64,
    passed: Mutex<Vec<String>>,
    asked: Mutex<Vec<String>>,
}

impl Meter for Watch {
    fn now(&self) -> Duration {
        Duration::from_secs(self.seconds.fetch_add(1, Ordering::Relaxed))
    }

    fn passed(&self, extension_point: ExtensionPoint, status: Status, took: Duration) {
        assert!(took > Duration::ZERO, "{extension_point:?}");
        self.passed.lock().unwrap().push(format!("{} {}", extension_point.name(), status.name()));
    }

    fn asked(&self, plugin: &'static str, extension_point: ExtensionPoint, status: Status, took: Duration) {
        assert_eq!(took, Duration::from_secs(1), "{plugin}");
        self.asked.lock().unwrap().push(format!("{plugin} {} {}", extension_point.name(), status.name()));
    }
}

fn measured() -> (Registry, Arc<Watch>) {
    let watch = Arc::new(Watch::default());
    let mut registry = default_registry();
    registry.meter = Some(Arc::clone(&watch) as Arc<dyn Meter>);
    (registry, watch)
}

/// What is heard when the pod is decided on, the same in both ways.
fn heard(test_cluster: &World, pod: &PodBuilder) -> Vec<String> {
    let mut all = Vec::new();
    for way in [schedule, schedule_by_scan] {
        let (registry, watch) = measured();
        let mut cluster = test_cluster.clone().cluster();
        way(&pod.build(), &cluster.snapshot(now()), &registry);
        all.push(watch.passed.lock().unwrap().clone());
    }
    assert_eq!(all[0], all[1]);
    all.remove(0)
}

#[test]
fn a_pod_that_is_placed_passes_each_station_once() {
    let spread = pod("p").cpu("1").with("/metadata/labels", json!({"app": "a"})).with(
        "/spec/topologySpreadConstraints",
        json!([{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "a"}}}]),
    );
    let way =
        ["PreEnqueue Success", "PreFilter Success", "Score Success", "Filter Success", "Reserve Success"];
    for pod in [pod("p").cpu("1"), spread] {
        assert_eq!(heard(&nodes(3), &pod), way);
    }
}

#[test]
fn what_came_of_it_is_heard_too() {
    let full = world().node(node("n1")).pod(pod("low").on("n1").cpu("4"));
    let begin = ["PreEnqueue Success", "PreFilter Success", "Filter Success"];
    for (priority, end) in [(0, "PostFilter Unschedulable"), (10, "PostFilter Success")] {
        assert_eq!(heard(&full, &pod("p").cpu("2").priority(priority)), [&begin[..], &[end]].concat());
    }
    let gated = pod("p").with("/spec/schedulingGates", json!([{"name": "g"}]));
    assert_eq!(heard(&nodes(1), &gated), ["PreEnqueue UnschedulableAndUnresolvable"]);
    let claim = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "nope"}}]);
    let lost = heard(&nodes(1), &pod("p").with("/spec/volumes", claim));
    assert_eq!(lost[1], "PreFilter UnschedulableAndUnresolvable");
}

#[test]
fn so_is_the_rest_of_the_way() {
    let (registry, watch) = measured();
    let (mut cluster, pod) = (nodes(1).cluster(), pod("p").build());
    let snapshot = cluster.snapshot(now());
    let Decision::Place { node, .. } = schedule(&pod, &snapshot, &registry) else { panic!("no place") };
    watch.passed.lock().unwrap().clear();
    assert_eq!(clear(&pod, &node, &snapshot, &registry), Clearance::Granted);
    bound(&pod, &node, &snapshot, &registry);
    not_bound(&pod, &node, &snapshot, &registry);
    let mut passed = watch.passed.lock().unwrap().clone();
    passed.retain(|extension_point| !extension_point.starts_with("PreBind"));
    assert_eq!(passed, ["Permit Success", "PostBind Success", "Unreserve Success"]);
    let asked = watch.asked.lock().unwrap();
    assert!(asked.iter().any(|asked| asked == "VolumeBinding Reserve Success"), "{asked:?}");
}
