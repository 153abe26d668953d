//! The kept answers for a class of pods equal those of a scan of all nodes, also after nodes were added, changed and removed.

use crate::cluster::{Event, WatchEvent};
use crate::cycle::{Decision, schedule, schedule_by_scan};
use crate::model::Pod;
use crate::plugins::default_registry;
use crate::testing::{NodeBuilder, PodBuilder, cluster_builder, node, now, pod};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use serde_json::{Value, json};

const MIB: i64 = 1024 * 1024;

/// A random change.
#[derive(Clone, Debug)]
enum Step {
    /// A node is added or changed: its number, its zone, its images with their sizes in MiB.
    Node(u8, u8, Vec<(u8, i64)>),
    /// A node is removed.
    Gone(u8),
    /// A pod of this template is scheduled and bound.
    Place(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let images = prop::collection::vec((0..8_u8, prop_oneof![Just(200), Just(600), 20..60_i64]), 0..4);
    prop_oneof![
        3 => (0..6_u8, 0..3_u8, images).prop_map(|(number, zone, images)| Step::Node(number, zone, images)),
        1 => (0..6_u8).prop_map(Step::Gone),
        6 => (0..6_u8).prop_map(Step::Place),
    ]
}

fn built(number: u8, zone: u8, images: &[(u8, i64)]) -> NodeBuilder {
    let image =
        |(image, size): &(u8, i64)| json!({ "names": [format!("i{image}:latest")], "sizeBytes": size * MIB });
    node(&format!("n{number}"))
        .cpu("2")
        .with("/metadata/labels", json!({ "zone": format!("z{zone}") }))
        .with("/status/images", images.iter().map(image).collect::<Value>())
}

fn template(number: u8, name: &str) -> PodBuilder {
    let pod = pod(name).with("/spec/containers/0/image", json!("i0"));
    let zone = |zone: &str| json!([{ "key": "zone", "operator": "In", "values": [zone] }]);
    match number {
        0 => pod.cpu("300m").memory("1Gi"),
        1 => pod.with("/spec/containers/0/ports", json!([{ "hostPort": 80, "containerPort": 80 }])),
        2 => pod.cpu("100m").with("/spec/nodeSelector", json!({ "zone": "z0" })),
        3 => pod.with(
            "/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution",
            json!([
                { "weight": 5, "preference": { "matchExpressions": zone("z1") } },
                { "weight": 9, "preference": { "matchExpressions": zone("z2") } },
            ]),
        ),
        4 => pod.memory("2Gi").with("/spec/containers/1", json!({ "name": "b", "image": "i1" })),
        _ => (1..8).fold(pod.cpu("50m"), |pod, image| {
            let container = json!({ "name": format!("c{image}"), "image": format!("i{image}") });
            pod.with(&format!("/spec/containers/{image}"), container)
        }),
    }
}

proptest! {
    #[test]
    fn what_is_kept_is_what_would_be_said(steps in prop::collection::vec(step(), 1..40), spread in any::<bool>()) {
        let registry = default_registry();
        let mut cluster = cluster_builder().node(built(0, 0, &[])).cluster();
        for (version, step) in (2..).zip(steps) {
            match step {
                Step::Node(number, zone, images) => {
                    let node = built(number, if spread { zone } else { 0 }, &images).version(version).build();
                    cluster.apply(Event::Nodes(WatchEvent::Applied(node)));
                }
                Step::Gone(number) => {
                    let node = built(number, 0, &[]).version(version).build();
                    cluster.apply(Event::Nodes(WatchEvent::Deleted(node)));
                }
                Step::Place(number) => {
                    let waiting = template(number, &format!("p{version}"));
                    cluster.apply(Event::Pods(WatchEvent::Applied(waiting.build())));
                    let snapshot = cluster.snapshot(now());
                    // The stored pod, with the spec that all pods of its template share.
                    let pod: Pod = (**snapshot.pod(&waiting.build().key).unwrap()).clone();
                    let decision = schedule(&pod, &snapshot, &registry);
                    assert_eq!(decision, schedule_by_scan(&pod, &snapshot, &registry));
                    if let Decision::Place { node, .. } = decision {
                        let bound = waiting.on(node.as_str()).version(version + 1_000).build();
                        cluster.apply(Event::Pods(WatchEvent::Applied(bound)));
                    }
                }
            }
        }
    }
}
