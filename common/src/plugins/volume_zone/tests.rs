//! VolumeZone: a table of cases for each extension point.

use super::VolumeZone;
use crate::framework::Admission;
use crate::testing::{
    ClusterBuilder, NodeBuilder, PodBuilder, admission, claim, cluster_builder, node, pod, reasons,
    rejections, storage_class, volume,
};
use serde_json::json;

const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
const OLD_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const OLD_REGION: &str = "failure-domain.beta.kubernetes.io/region";

type Labels<'a> = &'a [(&'a str, &'a str)];

fn using(claim: &str) -> PodBuilder {
    pod("p").volume(json!({ "name": "v", "persistentVolumeClaim": { "claimName": claim } }))
}

fn labelled(labels: &[(&str, &str)]) -> NodeBuilder {
    labels.iter().fold(node("n1"), |node, (key, value)| node.label(key, value))
}

fn test_cluster(volume_labels: &[(&str, &str)]) -> ClusterBuilder {
    let volume = volume_labels.iter().fold(volume("pv"), |pv, (key, value)| pv.label(key, value));
    cluster_builder().with(claim("data").bound_to("pv")).with(volume)
}

#[test]
fn a_node_must_be_where_the_volume_is() {
    let table: [(Labels<'_>, Labels<'_>, bool); 15] = [
        (&[(ZONE, "a")], &[], true),
        (&[(ZONE, "a")], &[("other", "x")], true),
        (&[(ZONE, "a")], &[(ZONE, "a")], true),
        (&[(ZONE, "a")], &[(ZONE, "b")], false),
        (&[(ZONE, "a")], &[(REGION, "r")], false),
        (&[(ZONE, "a__b")], &[(ZONE, "b")], true),
        (&[(ZONE, "a__ b ")], &[(ZONE, "b")], true),
        (&[(ZONE, "a__b")], &[(ZONE, "c")], false),
        (&[(ZONE, "a__")], &[(ZONE, "c")], true),
        (&[(ZONE, "")], &[(ZONE, "c")], true),
        (&[(OLD_ZONE, "a")], &[(ZONE, "a")], true),
        (&[(OLD_ZONE, "a")], &[(OLD_ZONE, "b"), (ZONE, "a")], false),
        (&[(ZONE, "a")], &[(OLD_ZONE, "a")], false),
        (&[(OLD_REGION, "r"), (ZONE, "a")], &[(REGION, "r"), (ZONE, "a")], true),
        (&[(REGION, "r"), (ZONE, "a")], &[(REGION, "r"), (ZONE, "b")], false),
    ];
    for (volume, node, fits) in table {
        let found = reasons(&VolumeZone, test_cluster(volume).node(labelled(node)), &using("data"));
        let expected = if fits { vec![] } else { vec!["node(s) had no available volume zone"] };
        assert_eq!(found, expected, "{volume:?} {node:?}");
    }
    let test_cluster = test_cluster(&[(ZONE, "a")]).node(labelled(&[(ZONE, "b")]));
    assert!(rejections(&VolumeZone, test_cluster, &using("data"))[0].reason.is_unresolvable());
}

#[test]
fn claims_must_be_far_enough() {
    let test_cluster = || {
        cluster_builder()
            .node(node("n1"))
            .with(claim("lost").bound_to("nowhere"))
            .with(claim("classless"))
            .with(claim("unknown").class("unknown"))
            .with(claim("late").class("late"))
            .with(claim("soon").class("soon"))
            .with(claim("odd").class("odd"))
            .with(storage_class("late"))
            .with(storage_class("soon").set("/volumeBindingMode", json!("Immediate")))
            .with(storage_class("odd").set("/volumeBindingMode", json!(null)))
    };
    let table = [
        ("", "PersistentVolumeClaim had no name"),
        ("gone", "persistentvolumeclaim \"gone\" not found"),
        ("lost", "persistentvolume \"nowhere\" not found"),
        ("classless", "PersistentVolumeClaim had no pv name and storageClass name"),
        ("unknown", "storageclass.storage.k8s.io \"unknown\" not found"),
        ("soon", "PersistentVolume had no name"),
        ("odd", "VolumeBindingMode not set for StorageClass \"odd\""),
    ];
    for (claim, expected) in table {
        match admission(&VolumeZone, test_cluster(), &using(claim)) {
            Admission::Rejects(found) => {
                assert_eq!(found[0].reason.to_string(), expected);
                assert!(found[0].reason.is_unresolvable());
            }
            other => panic!("{claim}: {other:?}"),
        }
        assert!(
            reasons(&VolumeZone, test_cluster(), &using(claim)).is_empty(),
            "the filter has nothing to add"
        );
    }
    assert_eq!(admission(&VolumeZone, test_cluster(), &using("late")), Admission::All);
    assert_eq!(admission(&VolumeZone, test_cluster(), &pod("p")), Admission::All);
    let ephemeral = pod("p").volume(json!({ "name": "v", "ephemeral": {} }));
    assert_eq!(
        admission(&VolumeZone, test_cluster(), &ephemeral),
        Admission::All,
        "only claims by name count"
    );
}

#[test]
fn a_refusal_is_for_good() {
    let found = admission(&VolumeZone, cluster_builder(), &using("gone"));
    let Admission::Rejects(found) = found else { panic!("{found:?}") };
    assert!(found[0].reason.is_unresolvable());
}
