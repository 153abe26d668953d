//! NodeVolumeLimits: tables of cases.

use super::NodeVolumeLimits;
use crate::framework::{Filter, Verdict};
use crate::testing::{
    CatalogObjectBuilder, ClusterBuilder, PodBuilder, all_reasons, attachment, claim, cluster_builder,
    csi_driver, csi_node, node, now, pod, reasons, rejections, storage_class, uid, volume,
};
use serde_json::{Value, json};

const DRIVER: &str = "csi.example.com";
const TOO_MANY: &str = "node(s) exceed max volume count";

fn using(name: &str, claims: &[&str]) -> PodBuilder {
    claims.iter().enumerate().fold(pod(name), |pod, (index, claim)| {
        let source = json!({ "claimName": claim });
        pod.volume(json!({ "name": format!("v{index}"), "persistentVolumeClaim": source }))
    })
}

fn inline(name: &str, source: &Value) -> PodBuilder {
    let mut volume = source.clone();
    volume["name"] = json!("v");
    pod(name).volume(volume)
}

/// Three claims with a volume of the driver each, and one without a volume.
fn test_cluster() -> ClusterBuilder {
    let bound = |test_cluster: ClusterBuilder, name: &str| {
        let handle = format!("h-{name}");
        test_cluster.with(claim(name).bound_to(name)).with(volume(name).csi(DRIVER, &handle))
    };
    let test_cluster = ["a", "b", "c"].into_iter().fold(cluster_builder().node(node("n1")), bound);
    test_cluster.with(claim("late").class("fast")).with(storage_class("fast"))
}

fn limited(limit: u32) -> CatalogObjectBuilder {
    csi_node("n1").driver(DRIVER, limit)
}

#[test]
fn a_driver_attaches_so_many_volumes_and_no_more() {
    let there = |claims: &[&str]| test_cluster().pod(using("old", claims).on("n1"));
    let table = [
        ("no limits", there(&["a", "b"]), using("p", &["c"]), true),
        ("room", there(&["a"]).with(limited(2)), using("p", &["c"]), true),
        ("no room", there(&["a", "b"]).with(limited(2)), using("p", &["c"]), false),
        ("a limit of nothing", test_cluster().with(limited(0)), using("p", &["c"]), false),
        ("attached already", there(&["a", "b"]).with(limited(2)), using("p", &["b"]), true),
        ("over already", there(&["a", "b"]).with(limited(1)), using("p", &["b"]), true),
        ("twice the same", test_cluster().with(limited(1)), using("p", &["a", "a"]), true),
        ("two", test_cluster().with(limited(1)), using("p", &["a", "b"]), false),
        (
            "another driver's limit",
            there(&["a"]).with(csi_node("n1").driver("x", 0)),
            using("p", &["c"]),
            true,
        ),
        (
            "another node's limit",
            there(&["a"]).with(csi_node("n2").driver(DRIVER, 0)),
            using("p", &["c"]),
            true,
        ),
        ("unbound", test_cluster().with(limited(0)), using("p", &["late"]), false),
        ("unbound and there", there(&["late"]).with(limited(1)), using("p", &["late"]), true),
        ("claims of others that are gone", there(&["gone"]).with(limited(1)), using("p", &["c"]), true),
        ("no volumes", there(&["a"]).with(limited(0)), pod("p"), true),
    ];
    for (case, test_cluster, pod, fits) in table {
        let expected = if fits { vec![] } else { vec![TOO_MANY] };
        assert_eq!(reasons(&NodeVolumeLimits, test_cluster.clone(), &pod), expected, "{case}");
        let found = rejections(&NodeVolumeLimits, test_cluster, &pod);
        assert!(found.iter().all(|one| !one.reason.is_unresolvable()), "{case}: preemption could help");
    }
}

#[test]
fn what_is_attached_without_a_pod_counts() {
    let attached = |volume: &str| attachment(&format!("va-{volume}"), volume, "n1");
    let old = || test_cluster().pod(using("old", &["a"]).on("n1"));
    let table = [
        ("one pod, one attached", old().with(attached("b")).with(limited(2)), false),
        ("the pod's own", old().with(attached("a")).with(limited(2)), true),
        ("the new one's own counts twice", old().with(attached("c")).with(limited(2)), false),
        ("on another node", old().with(attachment("va", "b", "n2")).with(limited(2)), true),
        ("of no volume", old().with(attached("gone")).with(limited(2)), true),
        (
            "of another driver",
            old().with(attached("b").set("/spec/attacher", json!("x"))).with(limited(2)),
            true,
        ),
    ];
    for (case, test_cluster, fits) in table {
        let expected = if fits { vec![] } else { vec![TOO_MANY] };
        assert_eq!(reasons(&NodeVolumeLimits, test_cluster, &using("p", &["c"])), expected, "{case}");
    }
}

#[test]
fn disks_of_old_plugins_count_where_there_are_drivers() {
    let disk = |id: &str| json!({ "awsElasticBlockStore": { "volumeID": id } });
    let aws = |limit: u32| csi_node("n1").driver("ebs.csi.aws.com", limit);
    let class = |provisioner: &str| storage_class("old").set("/provisioner", json!(provisioner));
    let old = || cluster_builder().node(node("n1")).pod(inline("old", &disk("vol-1")).on("n1"));
    let unbound = || old().with(claim("data").class("old"));
    let bound = volume("pv").set("/spec/awsElasticBlockStore", json!({ "volumeID": "aws://z/vol-1" }));
    let bound = || old().with(claim("data").bound_to("pv")).with(bound.clone());
    let claims = using("p", &["data"]);
    let table = [
        ("inline", old().with(aws(1)), inline("p", &disk("vol-2")), false),
        ("inline, the same", old().with(aws(1)), inline("p", &disk("aws://z/vol-1")), true),
        ("inline, no CSINode", old(), inline("p", &disk("vol-2")), true),
        ("iscsi is nobody's", old().with(aws(0)), inline("p", &json!({ "iscsi": { "iqn": "i" } })), true),
        ("claim, the same", bound().with(aws(1)), claims.clone(), true),
        ("unbound", unbound().with(class("kubernetes.io/aws-ebs")).with(aws(1)), claims.clone(), false),
        (
            "unbound, file",
            unbound()
                .with(class("kubernetes.io/azure-file"))
                .with(csi_node("n1").driver("kubernetes.io/azure-file", 0)),
            claims.clone(),
            true,
        ),
        ("no class", unbound().with(aws(0)), claims, true),
    ];
    for (case, test_cluster, pod, fits) in table {
        let expected = if fits { vec![] } else { vec![TOO_MANY] };
        assert_eq!(reasons(&NodeVolumeLimits, test_cluster, &pod), expected, "{case}");
    }
}

#[test]
fn a_driver_may_have_to_be_there() {
    let required = || csi_driver(DRIVER).set("/spec/preventPodSchedulingIfMissing", json!(true));
    let words = "csi.example.com CSI driver is not installed on the node";
    let table = [
        (test_cluster().with(required()), true),
        (test_cluster().with(required()).with(csi_node("n1")), true),
        (test_cluster().with(required()).with(csi_node("n1").driver("x", 1)), true),
        (test_cluster().with(required()).with(limited(9)), false),
        (test_cluster().with(csi_driver(DRIVER)), false),
        (test_cluster(), false),
    ];
    for (index, (test_cluster, kept_off)) in table.into_iter().enumerate() {
        let expected = if kept_off { vec![words] } else { vec![] };
        assert_eq!(reasons(&NodeVolumeLimits, test_cluster, &using("p", &["a"])), expected, "{index}");
    }
}

#[test]
fn claims_of_a_new_pod_must_be_there() {
    let found = all_reasons(&NodeVolumeLimits, test_cluster(), &using("p", &["gone"]));
    assert_eq!(found, [["looking up PVC default/gone: persistentvolumeclaim \"gone\" not found"]]);
    assert!(
        rejections(&NodeVolumeLimits, test_cluster(), &using("p", &["gone"]))[0].reason.is_unresolvable()
    );
}

fn verdict(test_cluster: ClusterBuilder, pod: &PodBuilder) -> Verdict {
    let (mut cluster, pod) = (test_cluster.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    let context = snapshot.context(&pod);
    let id = snapshot.nodes().next().unwrap().id;
    NodeVolumeLimits.prepare(&context, &snapshot).map_or(Verdict::Fits, |ask| ask(id))
}

#[test]
fn what_is_wrong_ends_it_all() {
    let ephemeral = |name: &str| pod(name).volume(json!({ "name": "v", "ephemeral": {} }));
    let owned = |name: &str| {
        let owner = json!([{ "uid": uid("p").to_string(), "controller": true, "kind": "Pod", "name": "p", "apiVersion": "v1" }]);
        claim(name).bound_to("a").set("/metadata/ownerReferences", owner)
    };
    assert_eq!(verdict(test_cluster().with(owned("p-v")), &ephemeral("p")), Verdict::Fits);
    let fails = |words: &str| Verdict::Fails(words.into());
    let words = "PVC default/p-v was not created for pod default/p (pod is not owner)";
    assert_eq!(verdict(test_cluster().with(claim("p-v").bound_to("a")), &ephemeral("p")), fails(words));
    let words = "PVC default/q-v was not created for pod default/q (pod is not owner)";
    let there = || test_cluster().with(owned("q-v")).pod(ephemeral("q").on("n1"));
    assert_eq!(verdict(there().with(limited(9)), &using("p", &["a"])), fails(words));
    assert_eq!(verdict(there(), &using("p", &["a"])), Verdict::Fits, "nobody counts without limits");
    assert_eq!(verdict(test_cluster(), &using("p", &[""])), fails("PersistentVolumeClaim had no name"));
    let azure = json!({ "azureDisk": { "diskURI": "/u", "kind": "Shared" } });
    let words = "converting volume(v) from inline to csi: kind(Shared) is not supported in csi migration";
    assert_eq!(verdict(test_cluster().with(csi_node("n1")), &inline("p", &azure)), fails(words));
    assert_eq!(verdict(test_cluster(), &inline("p", &azure)), Verdict::Fits);
}
