//! VolumeBinding: a table of cases for each extension point.

mod choices;
mod matching;
mod scores;

use super::VolumeBinding;
use crate::config::VolumeBindingArgs;
use crate::framework::{Admission, Filter, Verdict};
use crate::testing::{
    CatalogObjectBuilder, ClusterBuilder, NodeBuilder, PodBuilder, admission, all_reasons, claim,
    cluster_builder, csi_capacity, csi_driver, csi_node, node, now, pod, rejections, storage_class, uid,
    volume,
};
use serde_json::json;

pub(super) const UNREACHED: &str = "node(s) didn't match PersistentVolume's node affinity";
pub(super) const NONE: &str = "node(s) didn't find available persistent volumes to bind";
pub(super) const LITTLE: &str = "node(s) did not have enough free storage";
pub(super) const GONE: &str = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

pub(super) fn plugin() -> VolumeBinding {
    VolumeBinding::new(&VolumeBindingArgs::default())
}

pub(super) fn using(claims: &[&str]) -> PodBuilder {
    claims.iter().enumerate().fold(pod("p"), |pod, (index, claim)| {
        let source = json!({ "claimName": claim });
        pod.volume(json!({ "name": format!("v{index}"), "persistentVolumeClaim": source }))
    })
}

/// A claim of the class `late`, which waits for the first consumer.
pub(super) fn late(name: &str) -> CatalogObjectBuilder {
    claim(name).class("late")
}

/// The class `late`, without a provisioner: its volumes are created by hand.
pub(super) fn by_hand() -> CatalogObjectBuilder {
    storage_class("late").set("/provisioner", json!("kubernetes.io/no-provisioner"))
}

/// Two nodes in two zones.
pub(super) fn test_cluster() -> ClusterBuilder {
    let zoned = |name: &str, zone: &str| -> NodeBuilder { node(name).label("zone", zone) };
    cluster_builder().node(zoned("n1", "a")).node(zoned("n2", "b"))
}

#[test]
fn claims_must_be_far_enough() {
    let test_cluster = || {
        let owner = json!([{ "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid("p").to_string(), "controller": true }]);
        test_cluster()
            .with(storage_class("late"))
            .with(storage_class("soon").set("/volumeBindingMode", json!("Immediate")))
            .with(storage_class("odd").set("/volumeBindingMode", json!(null)))
            .with(claim("lost").bound_to("pv").set("/status/phase", json!("Lost")))
            .with(claim("leaving").bound_to("pv").terminating())
            .with(claim("classless"))
            .with(claim("unknown").class("unknown"))
            .with(claim("soon").class("soon"))
            .with(claim("prebound").class("late").set("/spec/volumeName", json!("pv")))
            .with(claim("incomplete").class("late").annotation("pv.kubernetes.io/bind-completed", ""))
            .with(claim("odd").class("odd"))
            .with(claim("p-strange").class("late"))
            .with(claim("p-own").class("late").set("/metadata/ownerReferences", owner))
    };
    let ephemeral = |name: &str| pod("p").volume(json!({ "name": name, "ephemeral": {} }));
    let unbound = "pod has unbound immediate PersistentVolumeClaims";
    let table = [
        (using(&["gone"]), "persistentvolumeclaim \"gone\" not found"),
        (using(&[""]), "persistentvolumeclaim \"\" not found"),
        (
            ephemeral("v"),
            "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\"",
        ),
        (using(&["lost"]), "persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"pv\""),
        (using(&["leaving"]), "persistentvolumeclaim \"leaving\" is being deleted"),
        (ephemeral("strange"), "PVC default/p-strange was not created for pod default/p (pod is not owner)"),
        (using(&["classless"]), unbound),
        (using(&["unknown"]), unbound),
        (using(&["soon"]), unbound),
        (using(&["prebound"]), unbound),
        (using(&["soon", "gone"]), "persistentvolumeclaim \"gone\" not found"),
    ];
    for (pod, expected) in table {
        match admission(&plugin(), test_cluster(), &pod) {
            Admission::Rejects(found) => {
                assert_eq!(found[0].reason.to_string(), expected);
                assert!(found[0].reason.is_unresolvable());
            }
            other => panic!("{expected}: {other:?}"),
        }
        assert!(
            all_reasons(&plugin(), test_cluster(), &pod).concat().is_empty(),
            "{expected}: nothing to add"
        );
    }
    for fine in [using(&["incomplete"]), ephemeral("own"), pod("p")] {
        assert_eq!(admission(&plugin(), test_cluster(), &fine), Admission::All);
    }
    let fails = Admission::Fails("VolumeBindingMode not set for StorageClass \"odd\"".into());
    assert_eq!(admission(&plugin(), test_cluster(), &using(&["odd"])), fails);
    assert_eq!(admission(&plugin(), test_cluster(), &using(&["soon", "odd"])), fails, "errors go first");
}

#[test]
fn volumes_that_a_pod_has_must_be_in_reach() {
    let test_cluster = || {
        test_cluster()
            .with(claim("a").bound_to("pv-a"))
            .with(volume("pv-a").on_nodes("zone", "a"))
            .with(claim("b").bound_to("pv-b"))
            .with(volume("pv-b").on_nodes("zone", "b"))
            .with(claim("any").bound_to("pv-any"))
            .with(volume("pv-any"))
            .with(claim("gone").bound_to("pv-gone"))
            .with(late("none"))
            .with(by_hand())
    };
    let table: [(&[&str], [&[&str]; 2]); 7] = [
        (&["a"], [&[], &[UNREACHED]]),
        (&["any"], [&[], &[]]),
        (&["a", "b"], [&[UNREACHED], &[UNREACHED]]),
        (&["gone"], [&[GONE], &[GONE]]),
        (&["a", "gone"], [&[GONE], &[UNREACHED]]),
        (&["a", "none"], [&[NONE], &[UNREACHED, NONE]]),
        (&["none", "gone"], [&[NONE, GONE], &[NONE, GONE]]),
    ];
    for (claims, expected) in table {
        assert_eq!(all_reasons(&plugin(), test_cluster(), &using(claims)), expected, "{claims:?}");
        let found = rejections(&plugin(), test_cluster(), &using(claims));
        assert!(found.iter().all(|one| one.reason.is_unresolvable()));
    }
    assert!(all_reasons(&plugin(), test_cluster(), &pod("p")).concat().is_empty());
}

#[test]
fn where_a_driver_took_over_its_labels_count() {
    let disk = |id: &str| {
        let aws = volume("pv").set("/spec/awsElasticBlockStore", json!({ "volumeID": id }));
        aws.on_nodes("topology.kubernetes.io/zone", "z")
    };
    let key = "storage.alpha.kubernetes.io/migrated-plugins";
    let migrated = || csi_node("n1").annotation(key, "kubernetes.io/gce-pd,kubernetes.io/aws-ebs");
    let of =
        |label: &str| cluster_builder().node(node("n1").label(label, "z")).with(claim("data").bound_to("pv"));
    let (driver, plain) = ("topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone");
    let table = [
        (of(plain).with(disk("vol-1")), true),
        (of(plain).with(disk("vol-1")).with(csi_node("n1")), true),
        (of(plain).with(disk("vol-1")).with(migrated()), false),
        (of(driver).with(disk("vol-1")).with(migrated()), true),
        (of(driver).with(disk("vol-1")), false),
    ];
    for (index, (test_cluster, fits)) in table.into_iter().enumerate() {
        let expected: &[&str] = if fits { &[] } else { &[UNREACHED] };
        assert_eq!(all_reasons(&plugin(), test_cluster, &using(&["data"])), [expected], "{index}");
    }
    let words = "could not translate pv: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS \
                 volume (aws://z/x)";
    let mut cluster = of(driver).with(disk("aws://z/x")).with(migrated()).cluster();
    let (snapshot, pod) = (cluster.snapshot(now()), using(&["data"]).build());
    let context = snapshot.context(&pod);
    let (id, plugin) = (snapshot.nodes().next().unwrap().id, plugin());
    let ask = plugin.prepare(&context, &snapshot).unwrap();
    assert_eq!(ask(id), Verdict::Fails(words.into()));
}

#[test]
fn volumes_are_made_where_they_can_be() {
    let topologies = json!([{ "matchLabelExpressions": [{ "key": "zone", "values": ["a"] }] }]);
    let class = || storage_class("late");
    let driver = || csi_driver("csi.example.com").set("/spec/storageCapacity", json!(true));
    let left = |size: &str| csi_capacity("c", "late").size(size);
    let of = || test_cluster().with(late("data"));
    let only_a = json!({ "matchLabels": { "zone": "a" } });
    let selected = late("data").annotation("volume.kubernetes.io/selected-node", "n2");
    let table: [(&str, ClusterBuilder, [&[&str]; 2]); 14] = [
        ("anywhere", of().with(class()), [&[], &[]]),
        ("by hand", of().with(by_hand()), [&[NONE], &[NONE]]),
        ("nobody", of().with(class().set("/provisioner", json!(""))), [&[NONE], &[NONE]]),
        ("zone a", of().with(class().set("/allowedTopologies", topologies)), [&[], &[NONE]]),
        ("no account", of().with(class()).with(csi_driver("csi.example.com")), [&[], &[]]),
        ("nothing left", of().with(class()).with(driver()), [&[LITTLE], &[LITTLE]]),
        ("enough", of().with(class()).with(driver()).with(left("1Gi")), [&[], &[]]),
        ("too little", of().with(class()).with(driver()).with(left("1023Mi")), [&[LITTLE], &[LITTLE]]),
        (
            "of another class",
            of().with(class()).with(driver()).with(csi_capacity("c", "x")),
            [&[LITTLE], &[LITTLE]],
        ),
        (
            "in zone a",
            of().with(class()).with(driver()).with(left("9Gi").set("/nodeTopology", only_a)),
            [&[], &[LITTLE]],
        ),
        (
            "nowhere",
            of().with(class()).with(driver()).with(left("9Gi").set("/nodeTopology", json!(null))),
            [&[LITTLE], &[LITTLE]],
        ),
        (
            "one volume",
            of().with(class()).with(driver()).with(left("1Mi").set("/maximumVolumeSize", json!("2Gi"))),
            [&[], &[]],
        ),
        (
            "small volumes",
            of().with(class()).with(driver()).with(left("9Gi").set("/maximumVolumeSize", json!("1Mi"))),
            [&[LITTLE], &[LITTLE]],
        ),
        ("being made", test_cluster().with(selected).with(class()), [&[NONE], &[]]),
    ];
    for (case, test_cluster, expected) in table {
        assert_eq!(all_reasons(&plugin(), test_cluster, &using(&["data"])), expected, "{case}");
    }
    let unsized_claim = late("data").set("/spec/resources", json!({}));
    let test_cluster = test_cluster().with(unsized_claim).with(class()).with(driver());
    assert_eq!(
        all_reasons(&plugin(), test_cluster, &using(&["data"])).concat(),
        [""; 0],
        "nothing is always enough"
    );
}
