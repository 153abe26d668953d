//! Pods are placed where there is room, and what is said adds up.

use super::{Shape, place, pod};
use crate::error::Exit;
use crate::explain::Rules;
use crate::manifest::wanted;
use crate::print::{Shown, schema_check};
use crate::render::fit::Report;
use common::api::node::node;
use common::cluster::{Cluster, Event, Seen};
use serde_json::json;
use std::collections::BTreeMap;

fn cluster() -> Cluster {
    let mut cluster = Cluster::default();
    for (name, cpu, disk) in [("n1", "4", "ssd"), ("n2", "3", "hdd"), ("n3", "1", "ssd")] {
        let json = json!({ "metadata": { "name": name, "uid": name, "labels": { "disktype": disk } },
            "status": { "allocatable": { "cpu": cpu, "memory": "8Gi", "pods": "110" } } });
        cluster.apply(Event::Nodes(Seen::Applied(node(&json.to_string()).unwrap())));
    }
    cluster
}

fn fitted(shape: &Shape<'_>, replicas: Option<u32>) -> super::Fitted {
    let manifest = pod(shape).unwrap();
    let wanted = wanted(&[manifest], "default", &BTreeMap::new()).unwrap();
    let now = "2026-11-16T08:10:00Z".parse().unwrap();
    place(&mut cluster(), &wanted[0], replicas, &Rules::new(|_| false), now)
}

fn shape<'a>() -> Shape<'a> {
    Shape { cpu: Some("1500m"), memory: Some("1Gi"), ..Shape::default() }
}

#[test]
fn as_many_as_there_is_room_for() {
    let all = fitted(&shape(), Some(4));
    assert_eq!((all.placed, all.is_whole()), (4, true));
    let some = fitted(&shape(), Some(9));
    assert_eq!((some.placed, some.is_whole()), (4, false));
    let nodes: Vec<String> = some.nodes.iter().map(|(node, count)| format!("{node} {count}")).collect();
    assert_eq!(nodes, ["n1 2", "n2 2"]);
    assert!(some.because.as_ref().unwrap().starts_with("No node fits."), "{:?}", some.because);
    let open = fitted(&shape(), None);
    assert_eq!((open.placed, open.is_whole()), (4, true));
    let selector = ["disktype=ssd".to_owned()];
    assert_eq!(fitted(&Shape { node_selector: &selector, ..shape() }, Some(9)).placed, 2);
}

#[test]
fn the_table_and_the_document() {
    let now = "2026-11-16T08:10:00Z".parse().unwrap();
    let report = Report { fitted: vec![fitted(&shape(), Some(9)), fitted(&shape(), None)], now };
    insta::assert_snapshot!("fit", report.table(false, true));
    let document = report.document().unwrap();
    schema_check::assert_valid(&document);
    insta::assert_snapshot!("fit_json", serde_json::to_string_pretty(&document).unwrap());
}

#[test]
fn bad_flags_say_what_was_expected() {
    let resources = ["nvidia.com/gpu".to_owned()];
    for odd in
        [Shape { cpu: Some("lots"), ..Shape::default() }, Shape { resources: &resources, ..Shape::default() }]
    {
        assert_eq!(pod(&odd).unwrap_err().exit, Exit::Usage, "{odd:?}");
    }
}
