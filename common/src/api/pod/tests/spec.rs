//! The fields of a pod besides requests: each from its JSON, with its defaults.

use crate::model::affinity::{NodeSelectorRequirement, PodAffinityTerm};
use crate::model::port::HostPort;
use crate::model::requirement::Operator;
use crate::model::selector::Selector;
use crate::model::spread::TopologySpreadConstraint;
use crate::testing::{at, pod};
use serde_json::json;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

#[test]
fn node_affinity_is_read() {
    let term = json!({
        "matchExpressions": [{ "key": "zone", "operator": "In", "values": ["a", "b"] }],
        "matchFields": [{ "key": "metadata.name", "operator": "NotIn", "values": ["n1"] }],
    });
    let affinity = json!({ "nodeAffinity": {
        REQUIRED: { "nodeSelectorTerms": [term, {}, { "matchExpressions": [{ "key": "x", "operator": "Newer" }] }] },
        PREFERRED: [{ "weight": 7, "preference": term }],
    } });
    let spec = pod("p").affinity(affinity).build().spec;
    let node = spec.affinity.as_ref().unwrap().node.as_ref().unwrap();
    let terms = &node.required.as_ref().unwrap().terms;
    let requirement = NodeSelectorRequirement {
        key: "zone".into(),
        operator: Operator::In,
        values: ["a", "b"].map(Into::into).into(),
    };
    assert_eq!((terms.len(), terms[0].expressions(), terms[0].fields().len()), (3, &[requirement][..], 1));
    assert!(terms[1].is_empty());
    assert_eq!(terms[2].expressions()[0].operator, Operator::Other);
    assert_eq!(*node.preferred, [(7, terms[0].clone())]);
}

#[test]
fn affinity_between_pods_is_read() {
    let term = json!({
        "labelSelector": {
            "matchLabels": { "app": "web" },
            "matchExpressions": [{ "key": "canary", "operator": "DoesNotExist" }],
        },
        "namespaces": ["a", "b"], "namespaceSelector": {}, "topologyKey": "zone",
        "matchLabelKeys": ["pod-template-hash"],
    });
    let affinity = json!({
        "podAffinity": { REQUIRED: [term, {}] },
        "podAntiAffinity": { PREFERRED: [{ "weight": 3, "podAffinityTerm": term }, { "weight": 5 }] },
    });
    let affinity = pod("p").affinity(affinity).build().spec.affinity.clone().unwrap();
    let absent =
        NodeSelectorRequirement { key: "canary".into(), operator: Operator::DoesNotExist, values: [].into() };
    let full = PodAffinityTerm {
        selector: Some(Selector::from_pairs([("app", "web")]).and(&Selector::new([absent]))),
        namespaces: ["a", "b"].map(Into::into).into(),
        namespace_selector: Some(Selector::default()),
        topology_key: "zone".into(),
    };
    assert_eq!(*affinity.pod.required, [full.clone(), PodAffinityTerm::default()]);
    assert_eq!(*affinity.anti.preferred, [(3, full), (5, PodAffinityTerm::default())]);
    assert!(
        affinity.node.is_none() && affinity.pod.preferred.is_empty() && affinity.anti.required.is_empty()
    );
}

#[test]
fn spreading_is_read_with_its_defaults() {
    let full = json!({
        "maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3,
        "labelSelector": { "matchLabels": { "app": "web" } }, "matchLabelKeys": ["hash"],
        "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor",
    });
    let bare = json!({ "maxSkew": 1, "topologyKey": "host", "whenUnsatisfiable": "ScheduleAnyway" });
    let spec = pod("p").spread(full).spread(bare).build().spec;
    let expected = [
        TopologySpreadConstraint {
            max_skew: 2,
            topology_key: "zone".into(),
            do_not_schedule: true,
            selector: Some(Selector::from_pairs([("app", "web")])),
            match_label_keys: ["hash".into()].into(),
            min_domains: Some(3),
            honours_affinity: false,
            honours_taints: true,
        },
        TopologySpreadConstraint {
            max_skew: 1,
            topology_key: "host".into(),
            do_not_schedule: false,
            selector: None,
            match_label_keys: [].into(),
            min_domains: None,
            honours_affinity: true,
            honours_taints: false,
        },
    ];
    assert_eq!(*spec.spread, expected);
}

#[test]
fn a_selector_that_cannot_be_understood_is_a_problem_and_keeps_the_amounts() {
    let selector = |operator: &str| json!({ "matchExpressions": [{ "key": "a", "operator": operator, "values": ["1"] }] });
    let spread = pod("p").cpu("1").spread(json!({ "labelSelector": selector("Gt") })).build();
    let says = "spec.topologySpreadConstraints[0]: \"Gt\" is not a valid label selector operator";
    assert_eq!((spread.problem.as_deref(), spread.spec.requests.incoming.cpu), (Some(says), 1000));
    let term = json!([{ "topologyKey": "zone", "labelSelector": selector("Exists") }]);
    let near = pod("p").affinity(json!({ "podAntiAffinity": { REQUIRED: term } })).build();
    assert_eq!(
        near.problem.as_deref(),
        Some(
            "spec.affinity.podAntiAffinity: values: Invalid value: [\"1\"]: values set must be empty for exists \
             and does not exist"
        )
    );
}

#[test]
fn host_ports_are_those_that_stay_open() {
    let port = |protocol: &str, ip: &str, port| HostPort { protocol: protocol.into(), ip: ip.into(), port };
    let init = json!([
        { "name": "a", "ports": [{ "hostPort": 1 }] },
        { "name": "b", "restartPolicy": "Always", "ports": [{ "hostPort": 2, "hostIP": "::", "protocol": "UDP" }] },
    ]);
    let second = json!({ "name": "c", "ports": [
        { "hostPort": 3, "hostIP": "", "protocol": "" }, { "hostPort": 0 }, { "hostPort": -1 }, { "containerPort": 9 },
    ] });
    let first = json!({ "name": "main" });
    let pod = pod("p").with("/spec/initContainers", init).with("/spec/containers", json!([first, second]));
    let expected = [port("UDP", "::", 2), port("TCP", "0.0.0.0", 8080), port("TCP", "0.0.0.0", 3)];
    assert_eq!(*pod.port(8080).build().spec.ports, expected);
}

#[test]
fn images_get_a_tag_where_they_have_none() {
    let tagged = |image: &str| pod("p").image(image).build().spec.images[0].to_string();
    for (image, expected) in [
        ("nginx", "nginx:latest"),
        ("nginx:1", "nginx:1"),
        ("reg:5000/nginx", "reg:5000/nginx:latest"),
        ("reg:5000/nginx:1", "reg:5000/nginx:1"),
        ("nginx@sha256:00", "nginx@sha256:00"),
        ("", ":latest"),
    ] {
        assert_eq!(tagged(image), expected, "{image}");
    }
    let all = pod("p")
        .image("main")
        .with(
            "/spec/initContainers",
            json!([{ "name": "i", "image": "init" }, { "name": "j", "image": "main" }]),
        )
        .volume(json!({ "name": "v", "image": { "reference": "model:7" } }))
        .volume(json!({ "name": "w", "emptyDir": {} }));
    let images: Vec<String> = all.build().spec.images.iter().map(ToString::to_string).collect();
    assert_eq!(images, ["init:latest", "main:latest", "main:latest", "model:7"]);
}

#[test]
fn what_the_node_must_declare_follows_from_the_spec() {
    let needs = |pointer: &str, value| {
        let pod = pod("p").with("/spec/hostUsers", json!(false)).with(pointer, value).build();
        pod.spec.needs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    let rules = json!([{ "action": "Restart" }, { "action": "RestartAllContainers" }]);
    assert_eq!(
        needs("/spec/containers/0/restartPolicyRules", rules.clone()),
        "RestartAllContainersOnContainerExits"
    );
    let init = json!([{ "name": "i", "restartPolicyRules": rules }]);
    assert_eq!(needs("/spec/initContainers", init), "RestartAllContainersOnContainerExits");
    assert_eq!(needs("/spec/hostNetwork", json!(true)), "UserNamespacesHostNetworkSupport");
    assert_eq!(needs("/spec/hostNetwork", json!(false)), "");
    let mounts = json!([{ "name": "v", "bindMountOptions": ["noexec"] }]);
    assert_eq!(needs("/spec/containers/0/volumeMounts", mounts), "VolumeBindMountOptions");
}

#[test]
fn of_the_environment_only_written_out_images_are_kept() {
    let from = json!({ "fieldRef": { "fieldPath": "metadata.name" } });
    let mut env = vec![
        json!({ "name": "BUILD_IMAGE", "value": "builder:1" }),
        json!({ "name": "baseImage", "value": "base" }),
        json!({ "name": "LOG_LEVEL", "value": "info" }),
        json!({ "name": "IMAGE_FROM", "valueFrom": from }),
        json!({ "name": "IMAGE_NONE" }),
        json!({ "name": "IMAGE_LONG", "value": "x".repeat(257) }),
    ];
    let read = |env: &[serde_json::Value]| {
        pod("p").with("/spec/containers/0/env", json!(env)).build().spec.env.clone()
    };
    let kept = [("BUILD_IMAGE", "builder:1"), ("baseImage", "base")];
    assert_eq!(*read(&env), kept.map(|(name, value)| (name.into(), value.into())));
    env.extend(vec![json!({ "name": "IMAGE", "value": "y" }); 100]);
    assert_eq!(read(&env).len(), 16);
}

#[test]
fn the_rest_of_a_spec_is_read_with_its_defaults() {
    let bare = pod("p").build().spec;
    assert!(bare.preempts && bare.node_selector.is_none() && bare.gates.is_empty() && !bare.claims_devices);
    let full = pod("p")
        .with("/spec/preemptionPolicy", json!("Never"))
        .with("/spec/nodeSelector", json!({ "disk": "ssd" }))
        .with("/spec/schedulingGates", json!([{ "name": "b" }, { "name": "a" }]))
        .with("/spec/resourceClaims", json!([{ "name": "gpu" }]));
    let full = full.build().spec;
    assert!(!full.preempts && full.claims_devices);
    assert_eq!(full.node_selector.as_ref().unwrap().get("disk"), Some("ssd"));
    assert_eq!(*full.gates, ["b".into(), "a".into()]);
    assert_eq!(pod("p").with("/spec/nodeSelector", json!({})).build().spec.node_selector, None);
}

#[test]
fn status_says_where_room_is_made_and_who_has_to_go() {
    let bare = pod("p").build();
    assert!(bare.started.is_none() && bare.nominated_node.is_none() && !bare.preempted);
    let pod = pod("p").labels([("app", "web")]).nominated("n1").started(at(7));
    let read = pod.build();
    assert_eq!(read.labels.get("app"), Some("web"));
    assert_eq!(read.nominated_node.as_deref().map(|node| node.as_str()), Some("n1"));
    assert_eq!(read.started.map(|moment| moment.time()), Some(at(7)));
    let target = |status: &str, reason: &str| {
        let condition = json!({ "type": "DisruptionTarget", "status": status, "reason": reason });
        pod.clone().with("/status/conditions", json!([condition]))
    };
    let victim = target("True", "PreemptionByScheduler");
    assert!(
        victim.build().preempted && !victim.build().is_victim() && victim.terminating().build().is_victim()
    );
    assert!(!target("False", "PreemptionByScheduler").build().preempted);
    assert!(!target("True", "EvictionByEvictionAPI").build().preempted);
}

#[test]
fn status_of_a_waiting_pod_makes_no_difference_for_scheduling() {
    let waiting = pod("p").build();
    let updated = pod("p").version(9).nominated("n1").started(at(1)).build();
    assert!(waiting.is_same_for_scheduling(&updated));
    assert!(!waiting.is_same_for_scheduling(&pod("p").port(80).build()));
    assert!(!waiting.is_same_for_scheduling(&pod("p").labels([("a", "b")]).build()));
}

#[test]
fn the_image_to_build_on_is_kept_unless_it_is_empty() {
    let named =
        |image: &str| pod("p").with("/metadata/annotations/reserve~1build-image", json!(image)).build();
    assert_eq!(named("builder:1").build_image().map(|image| &**image), Some("builder:1"));
    assert_eq!(named("").build_image(), None);
}
