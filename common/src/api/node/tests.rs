//! Decoding nodes: a typical node, unusual nodes, and which fields are kept.

use super::node;
use crate::model::node::Image;
use crate::model::resources::{ResourceName, Resources};
use crate::model::taint::TaintEffect;
use crate::testing;
use proptest::prelude::{any, proptest};
use serde_json::{Value, json};

const TYPICAL: &str = include_str!("../fixtures/node.json");

#[test]
fn of_a_typical_node_everything_that_decisions_read_is_kept() {
    let node = node(TYPICAL).unwrap();
    assert_eq!(node.name.as_str(), "ip-10-0-18-7.eu-central-1.compute.internal");
    assert_eq!(node.uid.to_string(), "6e0f3b1c-8d2a-4c95-9f77-30b1a2c4d5e6");
    assert_eq!(node.resource_version, 8_130_011);
    assert_eq!(node.labels.iter().count(), 13);
    assert!(!node.unschedulable);
    assert_eq!(node.taints.len(), 1);
    let taint = &node.taints[0];
    assert_eq!(
        (&*taint.key, &*taint.value, taint.effect),
        ("pool", "general", TaintEffect::PreferNoSchedule)
    );
    let amounts: Vec<String> = node.allocatable.iter().map(|(name, amount)| name.format(amount)).collect();
    assert_eq!(amounts, ["7910m", "31493216Ki", "95491281146", "58", "1"]);
    assert_eq!(node.allocatable.get(&ResourceName::from("nvidia.com/gpu")), 1);
    assert_eq!(node.problem, None);
}

#[test]
fn a_node_is_ready_unless_a_condition_says_otherwise() {
    let ready =
        |conditions: Value| testing::node("n").with("/status/conditions", conditions).build().is_ready;
    assert!(testing::node("n").build().is_ready);
    assert!(ready(
        json!([{ "type": "Ready", "status": "True" }, { "type": "MemoryPressure", "status": "False" }])
    ));
    assert!(!ready(json!([{ "type": "Ready", "status": "False" }])));
    assert!(!ready(json!([{ "type": "Ready", "status": "Unknown" }])));
}

#[test]
fn annotations_are_measured_ours_apart() {
    let size =
        testing::node("n").annotation("reserve.cpu/x", "12").annotation("other", "1234").build().annotations;
    assert_eq!((size.bytes, size.our_bytes, size.our_keys), (13 + 2 + 5 + 4, 15, 1));
    assert_eq!(testing::node("n").build().annotations, crate::model::node::AnnotationSize::default());
}

#[test]
fn of_a_typical_node_the_reservation_is_read() {
    let node = node(TYPICAL).unwrap();
    assert_eq!(node.reservations.len(), 1);
    let reservation = node.reservations[0].valid().unwrap();
    assert_eq!(reservation.id.to_string(), "2c1f7a54-6d0e-4b7e-9a43-5f1c8e1b7d20.9b1f0c523a64");
    assert_eq!((reservation.amount.cpu, reservation.amount.memory), (300, 320 << 20));
    assert_eq!(&*reservation.replaces().unwrap().name, "web-7c9d8f6b54-x2lqp");
    assert_eq!(reservation.expires().unwrap().to_string(), "2026-01-30T12:08:10Z");
}

#[test]
fn a_node_may_be_almost_empty() {
    let bare = node(r#"{"metadata":{"name":"n"}}"#).unwrap();
    assert_eq!((bare.allocatable.clone(), bare.problem.clone()), (Resources::default(), None));
    let nulls = r#"{"metadata":{"name":"n","labels":null,"annotations":null,"managedFields":null},
        "spec":{"taints":null,"unschedulable":null},"status":{"allocatable":null,"images":null}}"#;
    assert_eq!(node(nulls).unwrap(), bare);
    assert_eq!(node(r#"{"metadata":{"name":"n"},"spec":null,"status":null}"#).unwrap(), bare);
}

#[test]
fn unknown_fields_and_effects_change_nothing_else() {
    let mut json: Value = serde_json::from_str(TYPICAL).unwrap();
    for part in ["/metadata", "/spec", "/status", "/spec/taints/0"] {
        json.pointer_mut(part).unwrap()["fieldOfTomorrow"] = json!({ "deep": [1, null] });
    }
    assert_eq!(node(&json.to_string()).unwrap(), node(TYPICAL).unwrap());
    let odd = testing::node("n").taint("a=b:NoAdmit").build();
    assert_eq!(odd.taints[0].effect, TaintEffect::Other);
    assert!(!odd.taints[0].effect.repels());
}

#[test]
fn an_unreadable_amount_is_named_and_leaves_nothing_to_give() {
    let odd = testing::node("n").cpu("four").build();
    assert_eq!(
        odd.problem.as_deref(),
        Some("status.allocatable[\"cpu\"]: `four` is not a quantity: unexpected `f`")
    );
    assert_eq!(odd.allocatable, Resources::default());
    let long = testing::node("n").has(&"x\0".repeat(1000), &"y\u{202e}".repeat(1000)).build();
    assert!(long.problem.unwrap().len() < 250);
}

#[test]
fn astronomical_missing_and_zero_amounts_are_amounts() {
    let huge = testing::node("n").cpu("10e99").memory("0").build();
    assert_eq!((huge.problem.clone(), huge.allocatable.cpu, huge.allocatable.memory), (None, i64::MAX, 0));
    let json = r#"{"metadata":{"name":"n"},"status":{"allocatable":{"memory":"1Gi","foo":"3"}}}"#;
    let partial = node(json).unwrap().allocatable;
    assert_eq!((partial.cpu, partial.memory, partial.pods), (0, 1 << 30, 0));
    assert_eq!(partial.get(&ResourceName::from("foo")), 0, "not a name that the scheduler counts");
}

#[test]
fn hundreds_of_taints_and_a_cordon_are_read() {
    let tainted = (0..300).fold(testing::node("n"), |node, index| node.taint(&format!("t{index}:NoExecute")));
    let node = tainted.cordoned().build();
    assert_eq!((node.taints.len(), node.unschedulable), (300, true));
    assert!(node.taints.iter().all(|taint| taint.effect == TaintEffect::NoExecute && taint.value.is_empty()));
}

#[test]
fn images_labels_and_declared_features_are_read() {
    let node = testing::node("n")
        .label("zone", "a")
        .image(&["nginx:1", "nginx@sha256:00"], 7)
        .image(&[], 0)
        .declares("b")
        .declares("a")
        .build();
    assert_eq!(node.labels.get("zone"), Some("a"));
    let image = Image { names: ["nginx:1", "nginx@sha256:00"].map(Into::into).into(), size: 7 };
    assert_eq!((node.images.len(), &*node.images[0]), (2, &image));
    assert_eq!(*node.features, ["a".into(), "b".into()]);
    assert!(node.declares(&[]) && node.declares(&["b".into()]) && !node.declares(&["a".into(), "c".into()]));
    let nulls = json!({ "metadata": {}, "status": {
        "images": [null, { "names": null, "sizeBytes": null }], "declaredFeatures": null,
    } });
    let nulls = super::node(&nulls.to_string()).unwrap();
    assert_eq!((nulls.images.len(), nulls.features.len(), nulls.problem), (2, 0, None));
}

#[test]
fn what_a_node_has_makes_a_difference_to_pods() {
    let plain = || testing::node("n");
    let is_same_for_scheduling =
        |other: testing::NodeBuilder| plain().build().is_same_for_scheduling(&other.build());
    assert!(is_same_for_scheduling(plain().version(9)));
    assert!(!is_same_for_scheduling(plain().label("zone", "a")));
    assert!(!is_same_for_scheduling(plain().image(&["nginx:1"], 7)));
    assert!(!is_same_for_scheduling(plain().declares("a")));
}

#[test]
fn foreign_annotations_leave_nothing_behind() {
    let large = testing::node("n").annotation("notes", &"x".repeat(1 << 18));
    let mut large = large.build();
    large.annotations = crate::model::node::AnnotationSize::default();
    assert_eq!(large, testing::node("n").build());
}

#[test]
fn a_node_that_cannot_be_understood_is_still_there_and_says_why() {
    let odd = node(r#"{"metadata":{"name":"n1","uid":"u"},"spec":{"taints":{}}}"#).unwrap();
    assert_eq!((odd.name.as_str(), odd.allocatable.is_zero()), ("n1", true));
    assert!(odd.problem.unwrap().contains("expected a sequence"));
}

#[test]
fn what_is_no_node_is_an_error_that_says_where() {
    for json in ["", "{", "[]", "null", r#"{"status":{}}"#] {
        let error = node(json).err().unwrap();
        assert_eq!(error.to_string(), "decode Node");
        assert!(error.source.to_string().contains("line 1"), "{json}: {error:?}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), at in 0..TYPICAL.len()) {
        let _ = node(&text);
        if TYPICAL.is_char_boundary(at) {
            let _ = node(&format!("{}{text}{}", &TYPICAL[..at], &TYPICAL[at..]));
        }
    }
}
