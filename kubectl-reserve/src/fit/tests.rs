//! Pods are placed where there is room, and the counts in the output add up.

use super::{PodFlags, place, pod_manifest};
use crate::error::Exit;
use crate::explain::Rules;
use crate::manifest::manifest_pods;
use crate::print::{Printable, schema_check};
use crate::render::fit::FitReport;
use common::api::node::node;
use common::cluster::{Cluster, Event, WatchEvent};
use serde_json::json;
use std::collections::BTreeMap;

fn cluster() -> Cluster {
    let mut cluster = Cluster::default();
    for (name, cpu, disk) in [("n1", "4", "ssd"), ("n2", "3", "hdd"), ("n3", "1", "ssd")] {
        let json = json!({ "metadata": { "name": name, "uid": name, "labels": { "disktype": disk } },
            "status": { "allocatable": { "cpu": cpu, "memory": "8Gi", "pods": "110" } } });
        cluster.apply(Event::Nodes(WatchEvent::Applied(node(&json.to_string()).unwrap())));
    }
    cluster
}

fn fit_result(pod_flags: &PodFlags<'_>, replicas: Option<u32>) -> super::FitResult {
    let manifest = pod_manifest(pod_flags).unwrap();
    let manifest_pods = manifest_pods(&[manifest], "default", &BTreeMap::new()).unwrap();
    let now = "2026-11-16T08:10:00Z".parse().unwrap();
    place(&mut cluster(), &manifest_pods[0], replicas, &Rules::new(|_| false), now)
}

fn pod_flags<'a>() -> PodFlags<'a> {
    PodFlags { cpu: Some("1500m"), memory: Some("1Gi"), ..PodFlags::default() }
}

#[test]
fn as_many_as_there_is_room_for() {
    let all = fit_result(&pod_flags(), Some(4));
    assert_eq!((all.placed, all.is_complete()), (4, true));
    let some = fit_result(&pod_flags(), Some(9));
    assert_eq!((some.placed, some.is_complete()), (4, false));
    let nodes: Vec<String> = some.nodes.iter().map(|(node, count)| format!("{node} {count}")).collect();
    assert_eq!(nodes, ["n1 2", "n2 2"]);
    assert!(some.because.as_ref().unwrap().starts_with("No node fits."), "{:?}", some.because);
    let open = fit_result(&pod_flags(), None);
    assert_eq!((open.placed, open.is_complete()), (4, true));
    let none = fit_result(&PodFlags { cpu: Some("9"), ..pod_flags() }, None);
    assert_eq!((none.placed, none.is_complete()), (0, false));
    let selector = ["disktype=ssd".to_owned()];
    assert_eq!(fit_result(&PodFlags { node_selector: &selector, ..pod_flags() }, Some(9)).placed, 2);
}

#[test]
fn the_table_and_the_document() {
    let now = "2026-11-16T08:10:00Z".parse().unwrap();
    let report =
        FitReport { results: vec![fit_result(&pod_flags(), Some(9)), fit_result(&pod_flags(), None)], now };
    insta::assert_snapshot!("fit", report.table(false, true));
    let document = report.document().unwrap();
    schema_check::assert_valid(&document);
    insta::assert_snapshot!("fit_json", serde_json::to_string_pretty(&document).unwrap());
}

#[test]
fn what_is_not_known_about_the_scheduler_is_said_to_be_unknown() {
    let now = "2026-11-16T08:10:00Z".parse().unwrap();
    let words = |is_enforced| {
        let result = super::FitResult { is_enforced, ..fit_result(&pod_flags(), None) };
        FitReport { results: vec![result], now }
            .table(false, true)
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(words(Some(false)), "Their scheduler does not enforce reservations.");
    assert_eq!(words(None), "It is unknown whether their scheduler enforces reservations.");
    let manifests =
        manifest_pods(&[pod_manifest(&pod_flags()).unwrap()], "default", &BTreeMap::new()).unwrap();
    let rules = |enforces: bool, known| Rules::new(move |_| enforces).known(known);
    let result = |rules: Rules| place(&mut cluster(), &manifests[0], Some(1), &rules, now).is_enforced;
    assert_eq!(result(rules(false, false)), None);
    assert_eq!((result(rules(false, true)), result(rules(true, false))), (Some(false), Some(true)));
}

#[test]
fn without_room_it_is_told_why_although_no_number_was_asked_for() {
    let now = "2026-11-16T08:10:00Z".parse().unwrap();
    let results = vec![fit_result(&PodFlags { cpu: Some("9"), ..pod_flags() }, None)];
    let text = FitReport { results, now }.table(false, true);
    assert!(text.starts_with("0 pods fit now (cpu 9, memory 1Gi each).\nNo node fits. "), "{text}");
}

#[test]
fn bad_flags_say_what_was_expected() {
    let resources = ["nvidia.com/gpu".to_owned()];
    for odd in [
        PodFlags { cpu: Some("lots"), ..PodFlags::default() },
        PodFlags { resources: &resources, ..PodFlags::default() },
    ] {
        assert_eq!(pod_manifest(&odd).unwrap_err().exit, Exit::Usage, "{odd:?}");
    }
}
