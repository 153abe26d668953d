//! A meter receives each extension point that a pod passes once, with its status.

use super::nodes;
use crate::cycle::{
    BindingDecision, Decision, decide_binding, run_post_bind, run_unreserve, schedule, schedule_by_scan,
};
use crate::framework::{Meter, Registry, Status};
use crate::model::ExtensionPoint;
use crate::plugins::default_registry;
use crate::testing::{ClusterBuilder, PodBuilder, cluster_builder, node, now, pod};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A meter whose clock advances by a second at every read; it stores what it receives.
#[derive(Default)]
struct RecordingMeter {
    seconds: AtomicU64,
    extension_points: Mutex<Vec<String>>,
    plugins: Mutex<Vec<String>>,
}

impl Meter for RecordingMeter {
    fn now(&self) -> Duration {
        Duration::from_secs(self.seconds.fetch_add(1, Ordering::Relaxed))
    }

    fn record_extension_point(&self, extension_point: ExtensionPoint, status: Status, took: Duration) {
        assert!(took > Duration::ZERO, "{extension_point:?}");
        self.extension_points.lock().unwrap().push(format!("{} {}", extension_point.name(), status.name()));
    }

    fn record_plugin(
        &self,
        plugin: &'static str,
        extension_point: ExtensionPoint,
        status: Status,
        took: Duration,
    ) {
        assert_eq!(took, Duration::from_secs(1), "{plugin}");
        self.plugins.lock().unwrap().push(format!("{plugin} {} {}", extension_point.name(), status.name()));
    }
}

fn measured() -> (Registry, Arc<RecordingMeter>) {
    let meter = Arc::new(RecordingMeter::default());
    let mut registry = default_registry();
    registry.meter = Some(Arc::clone(&meter) as Arc<dyn Meter>);
    (registry, meter)
}

/// The extension points that the meter receives for the pod, the same for [`schedule`] and [`schedule_by_scan`].
fn recorded(test_cluster: &ClusterBuilder, pod: &PodBuilder) -> Vec<String> {
    let mut all = Vec::new();
    for way in [schedule, schedule_by_scan] {
        let (registry, meter) = measured();
        let mut cluster = test_cluster.clone().cluster();
        way(&pod.build(), &cluster.snapshot(now()), &registry);
        all.push(meter.extension_points.lock().unwrap().clone());
    }
    assert_eq!(all[0], all[1]);
    all.remove(0)
}

#[test]
fn a_pod_that_is_placed_passes_each_extension_point_once() {
    let spread = pod("p").cpu("1").with("/metadata/labels", json!({"app": "a"})).with(
        "/spec/topologySpreadConstraints",
        json!([{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "a"}}}]),
    );
    let way =
        ["PreEnqueue Success", "PreFilter Success", "Score Success", "Filter Success", "Reserve Success"];
    for pod in [pod("p").cpu("1"), spread] {
        assert_eq!(recorded(&nodes(3), &pod), way);
    }
}

#[test]
fn what_came_of_it_is_heard_too() {
    let full = cluster_builder().node(node("n1")).pod(pod("low").on("n1").cpu("4"));
    let begin = ["PreEnqueue Success", "PreFilter Success", "Filter Success"];
    for (priority, end) in [(0, "PostFilter Unschedulable"), (10, "PostFilter Success")] {
        assert_eq!(recorded(&full, &pod("p").cpu("2").priority(priority)), [&begin[..], &[end]].concat());
    }
    let gated = pod("p").with("/spec/schedulingGates", json!([{"name": "g"}]));
    assert_eq!(recorded(&nodes(1), &gated), ["PreEnqueue UnschedulableAndUnresolvable"]);
    let claim = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "nope"}}]);
    let lost = recorded(&nodes(1), &pod("p").with("/spec/volumes", claim));
    assert_eq!(lost[1], "PreFilter UnschedulableAndUnresolvable");
}

#[test]
fn so_is_the_rest_of_the_way() {
    let (registry, meter) = measured();
    let (mut cluster, pod) = (nodes(1).cluster(), pod("p").build());
    let snapshot = cluster.snapshot(now());
    let Decision::Place { node, .. } = schedule(&pod, &snapshot, &registry) else { panic!("no place") };
    meter.extension_points.lock().unwrap().clear();
    assert_eq!(decide_binding(&pod, &node, &snapshot, &registry), BindingDecision::Granted);
    run_post_bind(&pod, &node, &snapshot, &registry);
    run_unreserve(&pod, &node, &None.into(), &snapshot, &registry);
    let mut passed = meter.extension_points.lock().unwrap().clone();
    passed.retain(|extension_point| !extension_point.starts_with("PreBind"));
    assert_eq!(passed, ["Permit Success", "PostBind Success", "Unreserve Success"]);
    let asked = meter.plugins.lock().unwrap();
    assert!(asked.iter().any(|asked| asked == "VolumeBinding Reserve Success"), "{asked:?}");
}
