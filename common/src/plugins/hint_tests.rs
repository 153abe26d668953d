//! The hints of plugins that kube-scheduler does not have, and those that we mean to give otherwise. All others are compared with
//! kube-scheduler's own: see `docs/conformance.md`.

use super::{PluginList, default_registry};
use crate::cluster::{Change, ClusterChange, Event, WatchEvent};
use crate::config::{EnabledPlugin, RawArgs};
use crate::framework::Registry;
use crate::model::{CatalogKind, CatalogObject, ExtensionPoint, Pod};
use crate::testing::{
    CatalogObjectBuilder, ClusterBuilder, NodeBuilder, PodBuilder, claim, cluster_builder, csi_driver,
    csi_node, deployment, namespace, node, now, pod, reservation, service, volume,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn gone(pod: &PodBuilder) -> Event {
    Event::Pods(WatchEvent::Deleted(pod.build()))
}

fn pod_is(pod: &PodBuilder) -> Event {
    Event::Pods(WatchEvent::Applied(pod.build()))
}

fn node_is(node: &NodeBuilder) -> Event {
    Event::Nodes(WatchEvent::Applied(node.build()))
}

fn object_is(kind: CatalogKind, object: &CatalogObjectBuilder) -> Event {
    Event::CatalogObjects(kind, WatchEvent::Applied(object.build::<CatalogObject>()))
}

/// Whether the event may help the pod, which this plugin refused, in this cluster.
fn helps(
    plugin: &'static str,
    registry: &Registry,
    before: ClusterBuilder,
    pod: &PodBuilder,
    event: Event,
) -> bool {
    let mut cluster = before.pod(pod.clone()).cluster();
    let changes = cluster.apply(event);
    let world = cluster.snapshot(now());
    let pod: Arc<Pod> = Arc::clone(world.pod(&pod.build().key).unwrap());
    let mut changes = changes.into_iter().filter_map(|change| match change {
        Change::Cluster(change) => Some(change),
        _ => None,
    });
    changes.any(|change: Arc<ClusterChange>| {
        registry.is_worth_requeuing(&pod, &[plugin].into(), &change, &world)
    })
}

fn built_in(plugin: &'static str, before: ClusterBuilder, pod: &PodBuilder, event: Event) -> bool {
    helps(plugin, &default_registry(), before, pod, event)
}

/// The default profile with one more plugin.
fn with(plugin: &str, args: &Value) -> Registry {
    let made = PluginList::built_in().find(plugin).unwrap().make(args).unwrap();
    let mut registry = default_registry();
    let enabled = EnabledPlugin { name: plugin.to_owned(), weight: 0 };
    made.add_to(&mut registry, ExtensionPoint::Filter, &enabled);
    registry
}

#[test]
fn each_plugin_that_can_refuse_says_what_helps() {
    for plugin in
        PluginList::built_in().0.iter().filter(|plugin| plugin.is_supported() && plugin.name() != "Trace")
    {
        let made = plugin.make(&RawArgs::default()).unwrap();
        let refuses = made.filter.is_some() || made.pre_filter.is_some() || made.pre_enqueue.is_some();
        assert_eq!(made.enqueue_extensions.is_some(), refuses, "{}", plugin.name());
    }
}

#[test]
fn freed_room_helps_who_fits_it_then() {
    let full = |priority| {
        let large = pod("large").cpu("3").on("n1").priority(priority);
        cluster_builder().node(node("n1")).pod(large).pod(pod("small").cpu("1").on("n1"))
    };
    let fit =
        |before, asks: &PodBuilder| built_in("NodeResourcesFit", before, asks, gone(&pod("small").on("n1")));
    assert!(fit(full(0), &pod("p").cpu("1")));
    assert!(!fit(full(0), &pod("p").cpu("2")), "it is still too little");
    assert!(fit(full(-1), &pod("p").cpu("2")), "the rest can be preempted");
    assert!(!fit(full(-1), &pod("p").cpu("5")), "even then it is too little");
    let never = pod("p").cpu("2").with("/spec/preemptionPolicy", json!("Never"));
    assert!(!fit(full(-1), &never));
    let shrunk = |cpu| pod_is(&pod("large").cpu(cpu).on("n1").version(2));
    assert!(built_in("NodeResourcesFit", full(0), &pod("p").cpu("2"), shrunk("1")));
    assert!(!built_in("NodeResourcesFit", full(0), &pod("p").cpu("2"), shrunk("2900m")));
}

#[test]
fn a_reservation_that_ends_helps_who_fits_beside_the_others() {
    let web = deployment("web");
    let kept = |cpu: &str| node("n1").reserves(reservation(&web).cpu(cpu));
    let release = || node_is(&node("n1").version(2));
    let before = || cluster_builder().workload(&web).node(kept("4")).node(node("n2").cpu("1"));
    assert!(built_in("Reservation", before(), &pod("p").cpu("2"), release()));
    assert!(!built_in(
        "Reservation",
        before(),
        &pod("p").cpu("2"),
        node_is(&node("n2").cpu("1").label("a", "b").version(2))
    ));
    assert!(!built_in("Reservation", before(), &pod("p").cpu("2"), node_is(&kept("3").version(2))));
    assert!(built_in("Reservation", before(), &pod("p").cpu("1"), node_is(&kept("3").version(2))));
    assert!(
        !built_in("NodeResourcesFit", before(), &pod("p").cpu("2"), release()),
        "only pods count for that plugin"
    );
}

#[test]
fn labels_help_where_a_configured_label_kept_pods_out() {
    let required = with("NodeLabel", &json!({ "requiredLabels": { "disk": "" } }));
    let before = || cluster_builder().node(node("n1"));
    let labelled = |key| node_is(&node("n1").label(key, "x").version(2));
    assert!(helps("NodeLabel", &required, before(), &pod("p"), labelled("disk")));
    assert!(!helps("NodeLabel", &required, before(), &pod("p"), labelled("other")));
    let gate = with("LabelGate", &json!({ "podLabel": "hold", "nodeLabel": "shut" }));
    let shut = || cluster_builder().node(node("n1").label("shut", "x"));
    assert!(helps("LabelGate", &gate, shut(), &pod("p"), labelled("other")));
    assert!(!helps("LabelGate", &gate, shut(), &pod("p"), labelled("shut")));
    let held = || pod("p").labels([("hold", "")]);
    assert!(helps("LabelGate", &gate, before(), &held(), pod_is(&pod("p").version(2))));
    assert!(!helps(
        "LabelGate",
        &gate,
        before(),
        &held(),
        pod_is(&pod("p").labels([("hold", ""), ("a", "b")]).version(2))
    ));
    let limit = with("PodLimit", &json!({ "maxPods": 1 }));
    let other = pod("other").on("n1");
    let two = || before().pod(other.clone()).pod(other.clone().namespace("far"));
    assert!(helps("PodLimit", &limit, two(), &pod("p"), gone(&other)));
    assert!(!helps("PodLimit", &limit, two(), &pod("p"), gone(&other.clone().namespace("far"))));
}

/// Bugs of the first version: such pods waited for five minutes.
#[test]
fn a_volume_that_moves_helps_whom_its_zone_or_its_nodes_kept_out() {
    let zoned = |zone| volume("pv").label("topology.kubernetes.io/zone", zone);
    let before = || cluster_builder().node(node("n1")).with(claim("data").bound_to("pv")).with(zoned("a"));
    let asks = pod("p").volume(json!({ "name": "v", "persistentVolumeClaim": { "claimName": "data" } }));
    let volume_is =
        |object: &CatalogObjectBuilder| object_is(CatalogKind::PersistentVolume, &object.clone().version(2));
    for plugin in ["VolumeZone", "VolumeBinding"] {
        assert!(built_in(plugin, before(), &asks, volume_is(&zoned("b"))), "{plugin}");
        let bound =
            object_is(CatalogKind::PersistentVolumeClaim, &claim("data").bound_to("other").version(2));
        assert!(built_in(plugin, before(), &asks, bound), "{plugin}");
        let unknown = object_is(CatalogKind::PersistentVolumeClaim, &claim("unknown").version(2));
        assert!(!built_in(plugin, before(), &asks, unknown), "{plugin}");
    }
    let nodes = zoned("a").on_nodes("rack", "7");
    assert!(built_in("VolumeBinding", before(), &asks, volume_is(&nodes)));
    assert!(!built_in("VolumeZone", before(), &asks, volume_is(&nodes)));
}

/// What upstream's hints miss, so that the pod waits for five minutes.
#[test]
fn hints_that_upstream_does_not_give() {
    let disk = json!({ "name": "d", "gcePersistentDisk": { "pdName": "shared" } });
    let far = pod("far").namespace("far").volume(disk.clone()).on("n1");
    let before = cluster_builder().node(node("n1")).pod(far.clone());
    assert!(
        built_in("VolumeRestrictions", before, &pod("p").volume(disk), gone(&far)),
        "disks have no namespace"
    );

    let asks = || pod("p").volume(json!({ "name": "v", "persistentVolumeClaim": { "claimName": "data" } }));
    let limits = |before: CatalogObjectBuilder, after: CatalogObjectBuilder| {
        let changed = object_is(CatalogKind::CsiNode, &after.version(2));
        built_in("NodeVolumeLimits", cluster_builder().node(node("n1")).with(before), &asks(), changed)
    };
    let unlimited = || csi_node("n1").set("/spec/drivers", json!([{ "name": "d", "nodeID": "n1" }]));
    assert!(limits(csi_node("n1"), unlimited()), "the driver was installed");
    assert!(limits(csi_node("n1").driver("d", 3), unlimited()), "it has no limit any more");
    assert!(!limits(unlimited(), csi_node("n1").driver("d", 3)));
    let driver = |required: bool, capacity: bool| {
        csi_driver("d")
            .set("/spec/preventPodSchedulingIfMissing", json!(required))
            .set("/spec/storageCapacity", json!(capacity))
    };
    let driver_is = |plugin, before, after: CatalogObjectBuilder| {
        let changed = object_is(CatalogKind::CsiDriver, &after.version(2));
        built_in(plugin, cluster_builder().node(node("n1")).with(before), &asks(), changed)
    };
    assert!(driver_is("NodeVolumeLimits", driver(true, false), driver(false, false)));
    assert!(!driver_is("NodeVolumeLimits", driver(false, false), driver(true, false)));
    assert!(
        driver_is("VolumeBinding", driver(false, true), driver(false, false)),
        "capacity is no longer checked"
    );
    assert!(!driver_is("VolumeBinding", driver(false, false), driver(false, true)));
}

#[test]
fn terms_of_others_and_namespaces_and_services_count_for_hints() {
    let one = || cluster_builder().node(node("n1"));
    let second = || node_is(&node("n2"));
    assert!(built_in("InterPodAffinity", one(), &pod("p"), second()), "terms of others may not reach it");
    let labelled = node_is(&node("n1").label("zone", "b").version(2));
    assert!(built_in("InterPodAffinity", one(), &pod("p"), labelled));
    let team = json!({ "podAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{ "topologyKey": "kubernetes.io/hostname",
        "labelSelector": { "matchLabels": { "app": "db" } }, "namespaceSelector": { "matchLabels": { "team": "a" } } }] } });
    let (asks, db) = (pod("p").affinity(team), pod("db").namespace("far").labels([("app", "db")]).on("n1"));
    let far = || one().with(namespace("far").label("team", "a")).with(namespace("default"));
    assert!(built_in("InterPodAffinity", far(), &asks, pod_is(&db)), "the labels of its namespace are known");
    let other = one().with(namespace("far").label("team", "b")).with(namespace("default"));
    assert!(!built_in("InterPodAffinity", other, &asks, pod_is(&db)));
    let renamed = object_is(CatalogKind::Namespace, &namespace("far").label("team", "b").version(2));
    assert!(built_in("InterPodAffinity", far(), &asks, renamed));
    assert!(built_in(
        "PodTopologySpread",
        one().with(service("a")),
        &pod("p"),
        object_is(CatalogKind::Service, &service("b"))
    ));
}
