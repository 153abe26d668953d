//! Who may change which part of a node: kubelets, operators, the daemon.

use crate::records::record;
use crate::{OWNER, SharedCluster, shared_cluster};
use anyhow::Result;
use http::Method;
use kube::Client;
use reserve_tests::control_plane::User;
use reserve_tests::requests::{as_annotation, ask, patch};
use serde_json::{Value, json};

/// A patch, and the code of the answer to it.
type Case = (&'static str, &'static str, Value, u16);

async fn hold(client: &Client, who: &str, cases: &[Case]) -> Result<()> {
    for (what, path, change, code) in cases {
        let said = patch(client, path, change).await?;
        assert_eq!(said.code, *code, "{who}: {what}: {}", said.message);
    }
    Ok(())
}

fn reserved(value: Option<&str>) -> Value {
    json!({"metadata": {"annotations": {format!("reserve.cpu/{OWNER}"): value}}})
}

fn recorded() -> Value {
    as_annotation(&format!("reserve.info/{OWNER}.a"), &record(1).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_may_update_reservations_changes_them_and_the_daemon_nothing_else() -> Result<()> {
    let shared_cluster = shared_cluster("manifests_nodes").await?;
    a_kubelet_cannot_forge(&shared_cluster).await?;
    an_operator_without_the_right_cannot_reserve(&shared_cluster).await?;
    the_daemon_is_confined(&shared_cluster).await
}

/// `n3` is the kubelet's own node: it registers it, reports on it, and has no say in what is reserved there.
async fn a_kubelet_cannot_forge(shared_cluster: &SharedCluster) -> Result<()> {
    let kubelet = shared_cluster.cluster.client(User::Kubelet)?;
    let register = |annotations: Value| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3", "annotations": annotations},
               "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}})
    };
    let forged = register(json!({format!("reserve.cpu/{OWNER}"): "1"}));
    let said = ask(&kubelet, Method::POST, "/api/v1/nodes", &forged).await?;
    assert_eq!(said.code, 403, "registers with a reservation: {}", said.message);
    let said = ask(&kubelet, Method::POST, "/api/v1/nodes", &register(json!({"theirs": "1"}))).await?;
    assert_eq!(said.code, 200, "registers: {}", said.message);

    let (whole, status) = ("/api/v1/nodes/n3", "/api/v1/nodes/n3/status");
    hold(
        &kubelet,
        "kubelet",
        &[
            ("forges", whole, reserved(Some("1")), 403),
            ("forges through its status", status, reserved(Some("1")), 403),
            ("forges a record", whole, recorded(), 403),
            ("annotates", whole, as_annotation("volumes.example.com/attach", "true"), 200),
            ("has a domain like ours", whole, as_annotation("reserve.example.com/mine", "1"), 200),
            ("reports", status, json!({"status": {"phase": "Running"}}), 200),
        ],
    )
    .await?;
    // Two policies refuse it, and the answer names either.
    let said = patch(&kubelet, status, &as_annotation("reserve.cpu", "1")).await?;
    assert!(matches!(said.code, 403 | 422), "forges what is malformed: {} {}", said.code, said.message);
    hold(&shared_cluster.cluster.admin(), "admin", &[("reserves", whole, reserved(Some("2")), 200)]).await?;
    hold(
        &kubelet,
        "kubelet",
        &[
            ("erases", whole, reserved(None), 403),
            ("erases through its status", status, reserved(None), 403),
            ("changes", whole, reserved(Some("1")), 403),
            ("erases everything", whole, json!({"metadata": {"annotations": null}}), 403),
            ("reports on", status, json!({"status": {"phase": "Running"}}), 200),
        ],
    )
    .await
}

async fn an_operator_without_the_right_cannot_reserve(shared_cluster: &SharedCluster) -> Result<()> {
    let (client, path) = (shared_cluster.cluster.client(User::Tenant)?, "/api/v1/nodes/n2");
    let forbidden = patch(&client, path, &reserved(Some("1"))).await?;
    assert!(
        forbidden.message.contains("nodes/reservations"),
        "it says what is missing: {}",
        forbidden.message
    );
    let cases = [
        ("reserves", path, reserved(Some("1")), 403),
        ("labels", path, json!({"metadata": {"labels": {"disk": "ssd"}}}), 200),
        ("cordons", path, json!({"spec": {"unschedulable": true}}), 200),
        ("uncordons", path, json!({"spec": {"unschedulable": null}}), 200),
    ];
    hold(&client, "operator", &cases).await?;
    shared_cluster.cluster.grant(User::Tenant, "reserve-operator", None).await?;
    let allowed = [("reserves", path, reserved(Some("1")), 200), ("releases", path, reserved(None), 200)];
    hold(&client, "operator with reserve-operator", &allowed).await
}

fn seated(word: &str, value: &str) -> Value {
    as_annotation(&format!("reserve.{word}/{OWNER}.a"), value)
}

async fn the_daemon_is_confined(shared_cluster: &SharedCluster) -> Result<()> {
    shared_cluster.elect(Some(&shared_cluster.first)).await?;
    let (client, path) = (shared_cluster.cluster.client_of(&shared_cluster.first)?, "/api/v1/nodes/n1");
    shared_cluster
        .cluster
        .wait_until("the leader may reserve", crate::SOON, async || {
            let said = patch(&client, path, &seated("cpu", "1")).await?;
            anyhow::ensure!(said.code == 200, "{said:?}");
            Ok(())
        })
        .await?;
    let taint = json!({"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}});
    hold(
        &shared_cluster.cluster.admin(),
        "admin",
        &[("reserves without an end", path, reserved(Some("1")), 200)],
    )
    .await?;
    let cases = [
        ("reserves with a seat", path, seated("memory", "1Gi"), 200),
        ("writes a record", path, recorded(), 200),
        ("reserves without an end", "/api/v1/nodes/n2", reserved(Some("1")), 422),
        ("reserves more without an end", path, reserved(Some("2")), 422),
        ("releases what has no end", path, reserved(None), 422),
        (
            "releases",
            path,
            json!({"metadata": {"annotations": {format!("reserve.memory/{OWNER}.a"): null}}}),
            200,
        ),
        ("taints", path, taint, 422),
        ("cordons", path, json!({"spec": {"unschedulable": true}}), 422),
        ("labels", path, json!({"metadata": {"labels": {"disk": "ssd"}}}), 422),
        ("unlabels", path, json!({"metadata": {"labels": {"kubernetes.io/hostname": null}}}), 422),
        ("annotates", path, as_annotation("theirs", "1"), 422),
        ("annotates a domain like ours", path, as_annotation("reserve.example.com/mine", "1"), 422),
        ("clears managedFields", path, json!({"metadata": {"managedFields": [{}]}}), 422),
        ("finalizes", path, json!({"metadata": {"finalizers": ["example.com/stay"]}}), 422),
        (
            "owns",
            path,
            json!({"metadata": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "n2", "uid": OWNER}]}}),
            422,
        ),
        ("reports", "/api/v1/nodes/n1/status", json!({"status": {"phase": "Running"}}), 403),
    ];
    hold(&client, "daemon", &cases).await
}
