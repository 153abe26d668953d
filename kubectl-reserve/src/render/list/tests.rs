//! Golden output of `list`.

use super::{Rows, rows};
use crate::cli::Print;
use crate::print::{Output, Shown, text};
use common::api::node::node;
use common::cluster::{Cluster, Event, Seen};
use serde_json::json;

const OWNER: &str = "11111111-0000-4000-8000-000000000001";

/// One node with a reservation of every sort.
fn cluster() -> Cluster {
    let info = |expires: &str| {
        let owner = json!({ "kind": "Deployment", "namespace": "default", "name": "testngx", "uid": OWNER });
        json!({ "v": 1, "owner": owner, "replaces": { "name": "testngx-1", "uid": "gone" }, "priority": 0,
                "created": "2026-11-16T08:09:12Z", "expires": expires, "request": "r1", "by": "admin",
                "reason": "kubectl reserve pod", "placement": "wait", "resources": { "nvidia.com/gpu": "2" } })
        .to_string()
    };
    let json = json!({
        "metadata": { "name": "node-2", "uid": "n", "annotations": {
            format!("reserve.cpu/{OWNER}.7f3a0c"): "5000m",
            format!("reserve.memory/{OWNER}.7f3a0c"): "2Gi",
            format!("reserve.info/{OWNER}.7f3a0c"): info("2026-11-16T08:19:12Z"),
            format!("reserve.cpu/{OWNER}.91c0aa"): "500m",
            format!("reserve.info/{OWNER}.91c0aa"): info("2026-11-16T08:10:00Z"),
            "reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173": "500m",
            "reserve.cpu/oops": "1",
        } },
        "status": { "allocatable": { "cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "8" } },
    });
    let mut cluster = Cluster::default();
    cluster.apply(Event::Nodes(Seen::Relisted(vec![node(&json.to_string()).unwrap()])));
    cluster
}

fn with_rows(all_namespaces: bool, check: impl Fn(&Rows<'_>)) {
    let mut cluster = cluster();
    let now = "2026-11-16T08:10:00Z".parse().unwrap();
    let snapshot = cluster.snapshot(now);
    check(&Rows { rows: rows(&snapshot), all_namespaces, now });
}

#[test]
fn tables_look_like_kubectls() {
    with_rows(false, |rows| {
        insta::assert_snapshot!("list", rows.table(false, true));
        insta::assert_snapshot!("list_bare", rows.table(false, false));
    });
    with_rows(true, |rows| insta::assert_snapshot!("list_wide", rows.table(true, true)));
}

#[test]
fn documents_carry_everything() {
    with_rows(false, |rows| {
        let print = |output| text(&Print { output, ..Print::default() }, rows).unwrap();
        insta::assert_snapshot!("list_json", print(Output::Json));
        insta::assert_snapshot!("list_yaml", print(Output::Yaml));
    });
}

#[test]
fn a_reservation_for_nobody_says_how_to_remove_it() {
    with_rows(false, |rows| {
        let nobody: Vec<_> = rows.rows.iter().filter(|row| row.is_for_nobody()).collect();
        assert_eq!(nobody.len(), 1);
        assert_eq!(nobody[0].id(), "node-2/a8f6f901-47c9-4475-b1f4-cac44597e173");
        assert_eq!(nobody[0].removal(), "reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173-");
    });
}
