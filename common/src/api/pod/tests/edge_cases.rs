//! Unusual pods: nulls, values of a newer API, absurd times and amounts.

use super::super::pod;
use super::TYPICAL;
use crate::model::pod::Phase;
use crate::testing;
use proptest::prelude::{any, proptest};
use serde_json::{Value, json};

#[test]
fn a_pod_may_be_almost_empty() {
    let bare = pod(r#"{"metadata":{"name":"p"}}"#).unwrap();
    assert_eq!((bare.phase, bare.resource_version, bare.spec.priority), (Phase::Pending, 0, 0));
    assert_eq!((bare.spec.requests.incoming.pods, bare.spec.requests.incoming.cpu), (1, 0));
    assert!(bare.is_waiting());
}

#[test]
fn null_means_not_there() {
    let nulls = |fields: &str| -> Value {
        fields.split_whitespace().map(|field| (field.to_owned(), Value::Null)).collect()
    };
    let metadata =
        "labels annotations ownerReferences creationTimestamp deletionTimestamp managedFields generateName";
    let spec = "nodeName schedulerName priority tolerations containers initContainers overhead resources \
        nodeSelector affinity volumes topologySpreadConstraints resourceClaims schedulingGates schedulingGroup \
        preemptionPolicy hostNetwork hostUsers";
    let status = "phase conditions containerStatuses initContainerStatuses resources allocatedResources startTime \
        nominatedNodeName";
    let json = json!({ "metadata": nulls(metadata), "spec": nulls(spec), "status": nulls(status) });
    assert_eq!(pod(&json.to_string()).unwrap(), pod(r#"{"metadata":{}}"#).unwrap());
}

#[test]
fn null_inside_of_lists_means_not_there() {
    let inner = json!({ "metadata": {}, "spec": {
        "containers": [{ "name": "a", "resources": null, "ports": null }, { "resources": { "requests": null } }],
    }, "status": { "containerStatuses": [{ "allocatedResources": null, "resources": null }], "conditions": [
        { "type": "PodScheduled", "status": "True", "lastTransitionTime": null, "reason": null, "message": null },
    ] } });
    let inner = pod(&inner.to_string()).unwrap();
    assert_eq!((inner.problem.clone(), inner.scheduled_at()), (None, None));
    assert_eq!(
        pod(r#"{"metadata":{},"spec":null,"status":null}"#).unwrap(),
        pod(r#"{"metadata":{}}"#).unwrap()
    );
}

#[test]
fn null_inside_of_the_spec_means_not_there() {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    let selector = json!({ "matchLabels": null, "matchExpressions": null });
    let term = json!({ "labelSelector": selector, "namespaces": null, "namespaceSelector": null, "topologyKey": null });
    let requirement = json!({ "key": "a", "operator": "Exists", "values": null });
    let node_term = json!({ "matchExpressions": [requirement], "matchFields": null });
    let container = json!({ "name": "c", "image": null, "env": [null, { "name": null, "value": null }],
        "ports": [null, { "hostPort": null }], "restartPolicyRules": [null], "volumeMounts": [null] });
    let with = json!({ "metadata": {}, "spec": { "containers": [container], "affinity": {
        "nodeAffinity": { required: { "nodeSelectorTerms": [null, node_term] }, preferred: [null, { "preference": null }] },
        "podAffinity": { required: null, preferred: null },
        "podAntiAffinity": { required: [null, term], preferred: [{ "weight": null, "podAffinityTerm": null }] },
    }, "topologySpreadConstraints": [null, { "labelSelector": null, "matchLabelKeys": null, "minDomains": null }],
        "volumes": [null, { "name": null, "rbd": { "monitors": null, "readOnly": null } }],
        "schedulingGates": [null, { "name": null }],
    } });
    let read = pod(&with.to_string()).unwrap();
    assert_eq!(read.problem, None);
    let (spec, affinity) = (&read.spec, read.spec.affinity.as_ref().unwrap());
    assert_eq!((affinity.anti.required.len(), affinity.anti.preferred.len()), (2, 1));
    assert_eq!(affinity.node.as_ref().unwrap().preferred.len(), 2);
    assert_eq!((spec.spread.len(), spec.volumes.len(), spec.gates.len(), spec.ports.len()), (2, 1, 2, 0));
    assert!(affinity.anti.required[1].selector.as_ref().unwrap().is_empty());
}

#[test]
fn unknown_fields_change_nothing() {
    let mut json: Value = serde_json::from_str(TYPICAL).unwrap();
    for part in ["/metadata", "/spec", "/status", "/spec/containers/0", "/spec/containers/0/resources"] {
        let place = json.pointer_mut(part).unwrap();
        place["fieldOfTomorrow"] = json!([{ "deep": { "er": [1, "2", null, true] } }]);
    }
    assert_eq!(pod(&json.to_string()).unwrap(), pod(TYPICAL).unwrap());
}

#[test]
fn absurd_times_hide_no_pod() {
    let created = |time: &str| {
        testing::pod("p")
            .with("/metadata/creationTimestamp", json!(time))
            .build()
            .created
            .map(|t| t.to_string())
    };
    assert_eq!(created("0001-01-01T00:00:00Z").as_deref(), Some("0001-01-01T00:00:00Z"));
    assert_eq!(created("9999-12-30T00:00:00Z").as_deref(), Some("9999-12-30T00:00:00Z"));
    for unreadable in ["9999-12-31T23:59:59Z", "yesterday", "", "2026-01-31T12:00:00"] {
        assert_eq!(created(unreadable), None, "{unreadable}");
    }
    let deleting =
        testing::pod("p").with("/metadata/deletionTimestamp", json!("9999-12-31T23:59:59Z")).build();
    assert!(deleting.deleting, "that it is being deleted does not depend on when");
}

#[test]
fn an_unreadable_amount_is_named_with_its_path_and_fits_nowhere() {
    let problem = |pointer: &str, amount: &str| {
        let pod = testing::pod("p").with(pointer, json!(amount)).build();
        assert_eq!(
            (pod.spec.requests.counted().cpu, pod.spec.requests.incoming.memory),
            (i64::MAX, i64::MAX)
        );
        assert_eq!(pod.spec.requests.counted().pods, 1);
        pod.problem.unwrap().to_string()
    };
    assert_eq!(
        problem("/spec/containers/0/resources/requests/cpu", "1,5"),
        "spec.containers[0].resources.requests[\"cpu\"]: `1,5` is not a quantity: unexpected `,`"
    );
    assert_eq!(
        problem("/spec/overhead/memory", "lots"),
        "spec.overhead[\"memory\"]: `lots` is not a quantity: unexpected `l`"
    );
    assert_eq!(
        problem("/spec/resources/requests/cpu", ""),
        "spec.resources.requests[\"cpu\"]: `` is not a quantity: it is empty"
    );
    let long = problem("/spec/containers/0/resources/requests/memory", &"9x\0".repeat(100_000));
    assert!(long.len() < 250, "{long}");
}

#[test]
fn an_astronomical_amount_is_readable_and_fits_nowhere() {
    for amount in ["10e99", "1e2147483647", "2000E", "99999999999999999999999"] {
        let pod = testing::pod("p").cpu(amount).memory(amount).build();
        assert_eq!((pod.problem.clone(), pod.spec.requests.incoming.memory), (None, i64::MAX), "{amount}");
    }
}

#[test]
fn annotations_of_a_mebibyte_leave_nothing_behind() {
    let large = testing::pod("p").with("/metadata/annotations/notes", json!("x".repeat(1 << 20)));
    assert_eq!(large.build(), testing::pod("p").build());
}

#[test]
fn hundreds_of_containers_are_all_counted() {
    let container = json!({ "name": "c", "resources": { "requests": { "cpu": "1m", "memory": "1Mi" } } });
    let pod = testing::pod("p").with("/spec/containers", json!(vec![container; 500])).build();
    assert_eq!((pod.spec.requests.incoming.cpu, pod.spec.requests.incoming.memory), (500, 500 << 20));
}

#[test]
fn the_stamp_is_kept_as_it_is_and_judged_later() {
    for stamp in ["", "a\0b", "../..", &"x".repeat(100)] {
        assert_eq!(testing::pod("p").stamp(stamp).build().stamp.as_deref(), Some(stamp));
    }
}

#[test]
fn a_pod_that_cannot_be_understood_still_takes_its_room() {
    let json = r#"{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"nodeName":"n1","containers":{"a":1}}}"#;
    let odd = pod(json).unwrap();
    assert_eq!((&*odd.key.name, odd.node.as_ref().map(|node| node.as_str())), ("p", Some("n1")));
    assert_eq!((odd.is_counted(), odd.spec.requests.counted().cpu), (true, i64::MAX));
    assert!(odd.problem.unwrap().contains("expected a sequence"));
}

#[test]
fn fields_of_another_type_make_a_stub() {
    for (pointer, value) in [
        ("/spec/affinity", json!("zone")),
        ("/spec/affinity/nodeAffinity", json!("zone")),
        ("/spec/nodeSelector", json!({ "a": 1 })),
        ("/spec/topologySpreadConstraints", json!([{ "maxSkew": "1" }])),
        ("/spec/topologySpreadConstraints", json!([{ "labelSelector": { "matchLabels": [] } }])),
        ("/spec/volumes", json!([{ "name": "v", "persistentVolumeClaim": { "claimName": 7 } }])),
        ("/spec/containers/0/ports", json!([{ "hostPort": "80" }])),
        ("/spec/schedulingGates", json!("g")),
        ("/status/startTime", json!(7)),
    ] {
        let odd = testing::pod("p").on("n1").with(pointer, value.clone()).build();
        let is_stub =
            odd.problem.is_some() && odd.is_counted() && odd.spec.requests.counted().cpu == i64::MAX;
        assert!(is_stub, "{pointer}: {value}");
    }
}

#[test]
fn what_is_no_pod_is_an_error_that_says_where() {
    for json in ["", "{", "[]", "null", r#"{"spec":{}}"#, r#"{"metadata":{"labels":{"a":1}}}"#] {
        let error = pod(json).err().unwrap();
        assert_eq!(error.to_string(), "decode Pod");
        assert!(error.source.to_string().contains("line 1"), "{json}: {error:?}");
    }
    for cut in (0..TYPICAL.len() - 2).step_by(97) {
        assert!(pod(&TYPICAL[..cut]).is_err(), "{cut}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), at in 0..TYPICAL.len()) {
        let _ = pod(&text);
        if TYPICAL.is_char_boundary(at) {
            let _ = pod(&format!("{}{text}{}", &TYPICAL[..at], &TYPICAL[at..]));
        }
    }
}
