//! VolumeRestrictions: a table of cases for each rule.

use super::VolumeRestrictions;
use crate::cluster::{Event, WatchEvent};
use crate::framework::{Admission, Filter, Verdict};
use crate::testing::{
    ClusterBuilder, PodBuilder, admission, all_reasons, claim, cluster_builder, node, now, pod, reasons,
    rejections, uid,
};
use serde_json::{Value, json};

const DISK: &str = "node(s) had no available disk";
const IN_USE: &str = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already \
                      in-use by another pod";

fn with(name: &str, source: &Value) -> PodBuilder {
    let mut volume = source.clone();
    volume["name"] = json!("v");
    pod(name).volume(volume)
}

fn using(name: &str, claim: &str) -> PodBuilder {
    with(name, &json!({ "persistentVolumeClaim": { "claimName": claim } }))
}

#[test]
fn two_pods_of_a_node_cannot_have_one_disk() {
    let gce = |name: &str, reads: bool| json!({ "gcePersistentDisk": { "pdName": name, "readOnly": reads } });
    let aws =
        |id: &str, reads: bool| json!({ "awsElasticBlockStore": { "volumeID": id, "readOnly": reads } });
    let iscsi = |iqn: &str, reads: bool| json!({ "iscsi": { "iqn": iqn, "readOnly": reads } });
    let rbd = |monitors: &[&str], pool: &str, image: &str, reads: bool| json!({ "rbd": { "monitors": monitors, "pool": pool, "image": image, "readOnly": reads } });
    let table = [
        (gce("a", false), gce("a", false), true),
        (gce("a", true), gce("a", false), true),
        (gce("a", true), gce("a", true), false),
        (gce("a", false), gce("b", false), false),
        (aws("a", false), aws("a", false), true),
        (aws("a", true), aws("a", true), true),
        (aws("a", false), aws("b", false), false),
        (iscsi("a", false), iscsi("a", true), true),
        (iscsi("a", true), iscsi("a", true), false),
        (iscsi("a", false), iscsi("b", false), false),
        (rbd(&["m", "n"], "p", "i", false), rbd(&["n"], "p", "i", false), true),
        (rbd(&["m"], "p", "i", true), rbd(&["m"], "p", "i", true), false),
        (rbd(&["m"], "p", "i", false), rbd(&["n"], "p", "i", false), false),
        (rbd(&["m"], "p", "i", false), rbd(&["m"], "q", "i", false), false),
        (rbd(&["m"], "p", "i", false), rbd(&["m"], "p", "j", false), false),
        (gce("a", false), aws("a", false), false),
    ];
    for (there, comes, conflict) in table {
        let test_cluster =
            || cluster_builder().node(node("n1")).node(node("n2")).pod(with("old", &there).on("n1"));
        let found = all_reasons(&VolumeRestrictions, test_cluster(), &with("new", &comes));
        let expected = if conflict { vec![DISK] } else { vec![] };
        assert_eq!(found, [expected, vec![]], "{there} {comes}");
        let found = rejections(&VolumeRestrictions, test_cluster(), &with("new", &comes));
        assert!(found.iter().all(|one| !one.reason.is_unresolvable()), "preemption could help");
    }
}

fn test_cluster() -> ClusterBuilder {
    let test_cluster = cluster_builder().node(node("n1")).node(node("n2"));
    let test_cluster = test_cluster.with(claim("own").modes(&["ReadWriteOncePod"])).with(claim("shared"));
    test_cluster.with(claim("own").modes(&["ReadWriteOncePod"]).namespace("other"))
}

#[test]
fn a_claim_for_one_pod_is_had_by_one_pod() {
    let kept_off = |test_cluster: ClusterBuilder, pod: PodBuilder| {
        let found = all_reasons(&VolumeRestrictions, test_cluster, &pod);
        assert!(found.iter().all(|words| words.is_empty() || words == &[IN_USE]));
        found.iter().filter(|words| !words.is_empty()).count()
    };
    assert_eq!(kept_off(test_cluster(), using("p", "own")), 0);
    assert_eq!(
        kept_off(test_cluster().pod(using("q", "own")), using("p", "own")),
        0,
        "a waiting pod has nothing"
    );
    assert_eq!(
        kept_off(test_cluster().pod(using("q", "own").on("n2")), using("p", "own")),
        2,
        "on every node"
    );
    assert_eq!(kept_off(test_cluster().pod(using("q", "shared").on("n2")), using("p", "shared")), 0);
    let other = using("q", "own").namespace("other").on("n2");
    assert_eq!(
        kept_off(test_cluster().pod(other), using("p", "own")),
        0,
        "another namespace is another claim"
    );
    let both = using("p", "own").volume(json!({ "name": "w", "awsElasticBlockStore": { "volumeID": "a" } }));
    let disk = with("r", &json!({ "awsElasticBlockStore": { "volumeID": "a" } })).on("n1");
    let test_cluster = test_cluster().pod(using("q", "own").on("n2")).pod(disk);
    let found = all_reasons(&VolumeRestrictions, test_cluster, &both);
    assert_eq!(found, [vec![DISK], vec![IN_USE]], "the disk is looked at first");
}

#[test]
fn suppositions_count() {
    let fits = |leaving: &[&str], extra: Vec<PodBuilder>| {
        let test_cluster =
            extra.into_iter().fold(test_cluster().pod(using("q", "own").on("n1")), ClusterBuilder::pod);
        let (mut cluster, pod) = (test_cluster.cluster(), using("p", "own").build());
        let snapshot = cluster.snapshot(now());
        let context = snapshot.context(&pod);
        let mut ledger = snapshot.nodes().next().unwrap().clone();
        leaving.iter().for_each(|name| drop(ledger.remove(&uid(name))));
        let id = ledger.id;
        let supposed = snapshot.suppose(ledger);
        VolumeRestrictions.prepare(&context, &supposed).is_none_or(|ask| ask(id) == Verdict::Fits)
    };
    assert!(!fits(&[], vec![]));
    assert!(fits(&["q"], vec![]), "nobody else uses it then");
    assert!(!fits(&["r"], vec![using("r", "shared").on("n1")]));
    let elsewhere = || vec![using("r", "own").namespace("other").on("n1")];
    assert!(fits(&["r"], elsewhere()), "upstream does not look at the namespace of who leaves");
}

#[test]
fn what_comes_and_goes_is_noticed() {
    let mut cluster = test_cluster().cluster();
    let pod = using("p", "own").build();
    let is_in_use = |cluster: &mut crate::cluster::Cluster| {
        let snapshot = cluster.snapshot(now());
        let context = snapshot.context(&pod);
        VolumeRestrictions.prepare(&context, &snapshot).is_some()
    };
    assert!(!is_in_use(&mut cluster));
    for _ in 0..2 {
        let user = using("q", "own").on("n1").build();
        cluster.apply(Event::Pods(WatchEvent::Applied(user.clone())));
        assert!(is_in_use(&mut cluster));
        cluster.apply(Event::Pods(WatchEvent::Deleted(user)));
        assert!(!is_in_use(&mut cluster));
    }
}

#[test]
fn every_claim_must_be_there() {
    let found = admission(&VolumeRestrictions, test_cluster(), &using("p", "gone"));
    let Admission::Rejects(found) = found else { panic!("{found:?}") };
    assert_eq!(found[0].reason.to_string(), "persistentvolumeclaim \"gone\" not found");
    assert!(found[0].reason.is_unresolvable());
    assert_eq!(admission(&VolumeRestrictions, test_cluster(), &using("p", "own")), Admission::All);
    assert!(reasons(&VolumeRestrictions, test_cluster(), &using("p", "gone")).is_empty());
    assert_eq!(admission(&VolumeRestrictions, test_cluster(), &pod("p")), Admission::All);
}
