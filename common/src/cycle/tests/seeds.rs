//! Small custom schedulers, rebuilt by configuration: configuration files, pods and messages of real users.

use crate::cluster::Cluster;
use crate::cluster::{Ledger, PodContext, Snapshot};
use crate::config::load;
use crate::cycle::{
    BindingDecision, Decision, decide_binding, message, run_post_bind, schedule, schedule_by_scan,
};
use crate::framework::{
    Filter, NodeFilter, Permission, Permit, Plugin, PreBind, Reason, Registry, Rejection, Verdict,
    ledger_filter,
};
use crate::model::ExtensionPoint;
use crate::model::{NodeName, PodKey};
use crate::plugins::trace::{self, Sink};
use crate::plugins::{Descriptor, Implementations, PluginList};
use crate::testing::{ClusterBuilder, PodBuilder, cluster_builder, node, now, pod};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn registry(profile: &str, plugins: &PluginList) -> Result<Registry, String> {
    let head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
    let loaded = load("file", &format!("{head}profiles: [{profile}]"), &plugins.declarations()).unwrap();
    plugins.registry(&loaded.configuration.profiles[0])
}

fn configured(profile: &str) -> Registry {
    registry(profile, &PluginList::built_in()).unwrap()
}

/// The node that the pod goes to, or the message without the part of preemption.
fn decided(cluster: &mut Cluster, pod: &PodBuilder, registry: &Registry) -> String {
    let (snapshot, pod) = (cluster.snapshot(now()), pod.build());
    let decision = schedule(&pod, &snapshot, registry);
    assert_eq!(decision, schedule_by_scan(&pod, &snapshot, registry), "one way or the other");
    match decision {
        Decision::Place { node, .. } => node.to_string(),
        Decision::NoFit(no_fit) => message(&no_fit.diagnosis),
        other => panic!("{other:?}"),
    }
}

fn said(test_cluster: ClusterBuilder, pod: &PodBuilder, profile: &str) -> String {
    decided(&mut test_cluster.cluster(), pod, &configured(profile))
}

#[test]
fn nodes_without_a_label_are_filtered_out() {
    let profile = "{schedulerName: sample-scheduler, plugins: {filter: {enabled: [{name: NodeLabel}]}, preScore: {enabled: [{name: NodeLabel}], disabled: [{name: '*'}]}}, pluginConfig: [{name: NodeLabel, args: {requiredLabels: {cpu: 'true'}}}]}";
    let (gpu2, gpu3) = (node("gpu02"), node("gpu03"));
    let expected = "0/2 nodes are available: 2 node(s) didn't have the required label(s) cpu=true.";
    assert_eq!(said(cluster_builder().node(gpu2.clone()).node(gpu3.clone()), &pod("p"), profile), expected);
    assert_eq!(
        said(cluster_builder().node(gpu2.label("cpu", "true")).node(gpu3), &pod("p"), profile),
        "gpu02"
    );
    let pre_scores: Vec<&str> = configured(profile).pre_scores.iter().map(|plugin| plugin.name()).collect();
    assert_eq!(pre_scores, ["NodeLabel"]);
}

#[test]
fn a_namespace_is_full_and_a_node_is_preferred() {
    let profile = "{plugins: {multiPoint: {enabled: [{name: PodLimit}, {name: NodePreference, weight: 50}]}}, pluginConfig: [{name: PodLimit, args: {maxPods: 6}}, {name: NodePreference, args: {nodes: {n2: 100}}}]}";
    let test_cluster = |pods: usize| {
        let nodes = cluster_builder().node(node("n1")).node(node("n2"));
        (0..pods).fold(nodes, |test_cluster, index| {
            test_cluster.pod(pod(&format!("testngx-{index}")).cpu("100m").on("n2"))
        })
    };
    assert_eq!(said(test_cluster(5), &pod("p").cpu("100m"), profile), "n2", "although n1 is empty");
    let full = "0/2 nodes are available: namespace \"default\" has 6 pods, at most 6 are allowed.";
    assert_eq!(said(test_cluster(6), &pod("p"), profile), full);
    assert_eq!(said(test_cluster(6), &pod("p").namespace("other"), profile), "n2");
}

#[test]
fn labels_keep_out_and_chance_decides_and_builds_go_where_their_image_is() {
    let gate = "{plugins: {multiPoint: {enabled: [{name: LabelGate}]}}, pluginConfig: [{name: LabelGate, args: {podLabel: hold, nodeLabel: closed}}]}";
    let test_cluster = || {
        cluster_builder()
            .node(node("n1").label("closed", ""))
            .node(node("n2").image(&["torch:2"], 1))
            .node(node("n3"))
    };
    assert_eq!(said(test_cluster(), &pod("p"), gate), "n2");
    let held = pod("p").labels([("hold", "")]);
    assert_eq!(said(test_cluster(), &held, gate), "0/3 nodes are available: pods with hold are kept out.");
    let chance = configured("{plugins: {score: {enabled: [{name: RandomScore, weight: 300}]}}}");
    let mut cluster = test_cluster().cluster();
    let mut places: Vec<String> =
        (0..20).map(|index| decided(&mut cluster, &pod(&format!("p{index}")), &chance)).collect();
    places.sort();
    places.dedup();
    assert_eq!(places, ["n1", "n2", "n3"], "each gets some");
    let build = "{plugins: {score: {enabled: [{name: BuildImageLocality, weight: 10}]}}}";
    let builds = |image: &str| {
        pod("p").cpu("1").with("/spec/containers/0/env", json!([{ "name": "BUILD_IMAGE", "value": image }]))
    };
    assert_eq!(said(test_cluster(), &builds("torch:2"), build), "n2");
    assert_eq!(said(test_cluster(), &builds("torch"), build), "n1", "another one");
}

/// A sink that stores what it receives.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Sink for Notes {
    fn record(&self, point: &'static str, pod: &PodKey, node: Option<&NodeName>) {
        let node = node.map_or_else(String::new, |node| format!(" {node}"));
        self.0.lock().unwrap().push(format!("{point} {}{node}", pod.name));
    }
}

#[test]
fn trace_tells_every_point_in_order() {
    let notes = Notes::default();
    let plugins = PluginList::built_in().with(trace::descriptor(notes.clone()));
    let registry = registry("{plugins: {multiPoint: {enabled: [{name: Trace}]}}}", &plugins).unwrap();
    let mut cluster =
        cluster_builder().node(node("n1")).node(node("n2")).node(node("n3").cordoned()).cluster();
    let snapshot = cluster.snapshot(now());
    let test = pod("test").cpu("1").build();
    let Decision::Place { node, .. } = schedule(&test, &snapshot, &registry) else { panic!("it fits") };
    assert_eq!(
        decide_binding(&test, &node, &snapshot, &registry),
        BindingDecision::Granted,
        "DefaultBinder binds"
    );
    run_post_bind(&test, &node, &snapshot, &registry);
    let expected = "PreEnqueue test, PreFilter test, Filter test n1, Filter test n2, PreScore test, \
                    PreScore test n1, PreScore test n2, Score test n1, Score test n2, NormalizeScore test, \
                    Reserve test n1, Permit test n1, PreBind test n1, PostBind test n1";
    assert_eq!(notes.0.lock().unwrap().join(", "), expected);
    notes.0.lock().unwrap().clear();
    schedule(&pod("big").cpu("64").build(), &snapshot, &registry);
    assert_eq!(*notes.0.lock().unwrap(), ["PreEnqueue big", "PreFilter big", "PostFilter big"]);
}

/// A plugin of the caller: it rejects one node, and decides in Permit and PreBind as it was told.
struct Picky {
    avoids: String,
    permission: Permission,
    ready: bool,
}

impl Plugin for Picky {
    fn name(&self) -> &'static str {
        "Picky"
    }
}

impl Filter for Picky {
    fn prepare<'c>(
        &'c self,
        _context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        ledger_filter(world, |ledger| {
            if ledger.node.name.as_str() != self.avoids {
                return Verdict::Fits;
            }
            Verdict::rejects("Picky", Reason::message("node(s) were not to its taste"))
        })
    }
}

impl Permit for Picky {
    fn permit(&self, _context: &PodContext<'_>, _ledger: &Ledger) -> Permission {
        self.permission.clone()
    }
}

impl PreBind for Picky {
    fn pre_bind(&self, _context: &PodContext<'_>, _ledger: &Ledger) -> Result<(), Rejection> {
        if self.ready { Ok(()) } else { Err(no("not ready")) }
    }
}

fn no(words: &'static str) -> Rejection {
    Rejection::new("Picky", Reason::message(words))
}

fn picky(permission: Permission, ready: bool) -> PluginList {
    let points = [ExtensionPoint::Filter, ExtensionPoint::Permit, ExtensionPoint::PreBind];
    PluginList::built_in().with(Descriptor::new("Picky", &points, move |args| {
        let avoids = args.get("avoids").and_then(|name| name.as_str()).ok_or("avoids is missing")?.to_owned();
        let plugin = Arc::new(Picky { avoids, permission: permission.clone(), ready });
        Ok(Implementations {
            filter: Some(plugin.clone()),
            permit: Some(plugin.clone()),
            pre_bind: Some(plugin),
            ..Implementations::default()
        })
    }))
}

const WITH_PICKY: &str = "{schedulerName: s, plugins: {filter: {enabled: [{name: Picky}]}, permit: {enabled: [{name: Picky}]}, preBind: {enabled: [{name: Picky}]}}, pluginConfig: [{name: Picky, args: {avoids: n1}}]}";

#[test]
fn a_plugin_of_the_caller_is_placed_by_the_file() {
    let plugins = picky(Permission::Granted, true);
    let with = registry(WITH_PICKY, &plugins).unwrap();
    assert_eq!(with.filters.last().map(|plugin| plugin.name()), Some("Picky"));
    let test_cluster = || cluster_builder().node(node("n1")).node(node("n2"));
    assert_eq!(decided(&mut test_cluster().cluster(), &pod("p"), &with), "n2");
    assert_eq!(decided(&mut test_cluster().cluster(), &pod("p"), &registry("{}", &plugins).unwrap()), "n1");
    let message = "0/1 nodes are available: 1 node(s) were not to its taste.";
    assert_eq!(decided(&mut cluster_builder().node(node("n1")).cluster(), &pod("p"), &with), message);
    let without_args =
        registry("{schedulerName: s, plugins: {filter: {enabled: [{name: Picky}]}}}", &plugins);
    assert_eq!(without_args.err().as_deref(), Some("plugin Picky in profile s: avoids is missing"));
    let text = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{WITH_PICKY}]"
    );
    let loaded = load("file", &text, &plugins.declarations()).unwrap();
    let missing = PluginList::built_in().registry(&loaded.configuration.profiles[0]);
    let expected = "plugin Picky in profile s: nobody has brought it along";
    assert_eq!(missing.err().as_deref(), Some(expected));
}

#[test]
fn a_plugin_can_stop_a_pod_that_has_a_node() {
    let said = |permission: Permission, ready: bool| {
        let with = registry(WITH_PICKY, &picky(permission, ready)).unwrap();
        let mut cluster = cluster_builder().node(node("n2")).cluster();
        match decide_binding(&pod("p").build(), &"n2".into(), &cluster.snapshot(now()), &with) {
            BindingDecision::Denied(no_fit) => format!("denied: {}", no_fit.message()),
            BindingDecision::PreBindFailed(no_fit) => format!("unready: {}", no_fit.message()),
            other => format!("{other:?}"),
        }
    };
    let wait = Permission::Wait(Duration::from_secs(3));
    assert_eq!(said(Permission::Granted, true), "Granted");
    assert_eq!(
        said(Permission::Denied(no("not today")), true),
        "denied: 0/1 nodes are available: 1 not today."
    );
    assert_eq!(said(wait, true), "Waits([(\"Picky\", 3s)])");
    assert_eq!(said(Permission::Granted, false), "unready: 0/1 nodes are available: 1 not ready.");
}
