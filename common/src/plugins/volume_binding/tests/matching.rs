//! Which volume a claim gets.

use super::{NONE, by_hand, late, plugin, test_cluster, using};
use crate::framework::Reserve;
use crate::model::Claims;
use crate::model::storage::{ChosenVolume, VolumeChoice};
use crate::testing::{
    CatalogObjectBuilder, ClusterBuilder, PodBuilder, all_reasons, now, storage_class, volume,
};
use serde_json::json;

/// A volume of the class `late`.
fn free(name: &str) -> CatalogObjectBuilder {
    volume(name).class("late")
}

/// What the pod's claims get on the node at this index.
pub(super) fn chosen(test_cluster: ClusterBuilder, pod: &PodBuilder, node: usize) -> Vec<String> {
    let mut cluster = test_cluster.cluster();
    let (snapshot, pod) = (cluster.snapshot(now()), pod.build());
    let ledger = snapshot.nodes().nth(node).unwrap();
    let reserved = plugin().reserve(&snapshot.context(&pod), ledger, &snapshot).unwrap();
    Claims(reserved).volumes().map(shown).collect()
}

fn shown(choice: &VolumeChoice) -> String {
    match &choice.volume {
        ChosenVolume::Existing { name, .. } => format!("{}={name}", choice.claim.name),
        ChosenVolume::Provisioned => format!("{} made", choice.claim.name),
    }
}

#[test]
fn a_volume_must_suit_the_claim() {
    let claim = || late("data");
    let labelled = json!({ "matchLabels": { "disk": "ssd" } });
    let table: [(&str, CatalogObjectBuilder, CatalogObjectBuilder, bool); 19] = [
        ("fits", claim(), free("pv"), true),
        ("too small", claim().size("2Gi"), free("pv"), false),
        ("larger", claim(), free("pv").size("2Gi"), true),
        ("any size", claim().set("/spec/resources", json!({})), free("pv").size("1"), true),
        ("another class", claim(), volume("pv").class("other"), false),
        ("no class", claim(), volume("pv"), false),
        ("another mode", claim().set("/spec/volumeMode", json!("Block")), free("pv"), false),
        ("the default mode", claim().set("/spec/volumeMode", json!("Filesystem")), free("pv"), true),
        ("attributes", claim().set("/spec/volumeAttributesClassName", json!("gold")), free("pv"), false),
        ("its attributes", claim(), free("pv").set("/spec/volumeAttributesClassName", json!("gold")), false),
        ("leaving", claim(), free("pv").terminating(), false),
        ("not ready", claim(), free("pv").set("/status/phase", json!("Pending")), false),
        ("released", claim(), free("pv").set("/status/phase", json!("Released")), false),
        ("selected", claim().set("/spec/selector", labelled.clone()), free("pv").label("disk", "ssd"), true),
        ("not selected", claim().set("/spec/selector", labelled), free("pv"), false),
        ("used otherwise", claim().modes(&["ReadWriteMany"]), free("pv"), false),
        ("used so too", claim(), free("pv").modes(&["ReadOnlyMany", "ReadWriteOnce"]), true),
        ("somebody's", claim(), free("pv").claimed_by("other"), false),
        ("its own, whatever its phase", claim(), free("pv").claimed_by("data"), true),
    ];
    for (case, claim, volume, fits) in table {
        let expected: &[&str] = if fits { &[] } else { &[NONE] };
        let test_cluster = test_cluster().with(by_hand()).with(claim).with(volume);
        assert_eq!(all_reasons(&plugin(), test_cluster, &using(&["data"])), [expected, expected], "{case}");
    }
}

#[test]
fn the_smallest_volume_in_reach_is_taken() {
    let choice = || {
        let test_cluster = test_cluster().with(by_hand()).with(late("data"));
        let test_cluster = test_cluster.with(free("big").size("9Gi")).with(free("mid").size("5Gi"));
        test_cluster.with(free("small").size("2Gi").on_nodes("zone", "a")).with(free("tiny").size("1Mi"))
    };
    let pod = using(&["data"]);
    assert_eq!(chosen(choice(), &pod, 0), ["data=small"]);
    assert_eq!(chosen(choice(), &pod, 1), ["data=mid"]);
    let kept = choice().with(free("own").size("50Gi").claimed_by("data"));
    assert_eq!(chosen(kept, &pod, 0), ["data=own"], "what is kept for it goes first");
    let out_of_reach = choice().with(free("own").claimed_by("data").on_nodes("zone", "b"));
    let reasons = all_reasons(&plugin(), out_of_reach, &pod);
    assert_eq!(reasons, [vec![NONE], vec![]], "and then nothing else will do");
    let too_small = choice().with(free("own").size("1Mi").claimed_by("data"));
    assert_eq!(chosen(too_small, &pod, 0), ["data=small"], "unless it would not do anywhere");
}

#[test]
fn small_claims_choose_first_and_no_volume_is_taken_twice() {
    let claims = || test_cluster().with(late("big").size("4Gi")).with(late("small"));
    let volumes = |test_cluster: ClusterBuilder| {
        test_cluster.with(free("pv1").size("5Gi")).with(free("pv2").size("6Gi"))
    };
    let pod = using(&["big", "small"]);
    assert_eq!(chosen(volumes(claims().with(by_hand())), &pod, 0), ["small=pv1", "big=pv2"]);
    let one = claims().with(by_hand()).with(free("pv1").size("5Gi"));
    assert_eq!(all_reasons(&plugin(), one, &pod), [[NONE], [NONE]]);
    let made = claims().with(storage_class("late")).with(free("pv1").size("5Gi"));
    assert_eq!(chosen(made, &pod, 0), ["small=pv1", "big made"], "what finds none is made");
    let twice = using(&["small", "small"]);
    assert_eq!(
        chosen(volumes(claims().with(by_hand())), &twice, 0),
        ["small=pv1", "small=pv2"],
        "as upstream"
    );
    let being_made = late("first").annotation("volume.kubernetes.io/selected-node", "n1");
    let test_cluster = claims().with(storage_class("late")).with(being_made);
    assert_eq!(
        chosen(test_cluster, &using(&["big", "small", "first"]), 0),
        ["first made", "small made", "big made"]
    );
}
