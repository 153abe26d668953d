//! The daemon as a static pod, which acts as kube-scheduler: what `manifests/static-pod` gives is enough, and confined, with
//! nothing else of ours in the cluster.

use crate::records::record;
use crate::rights::{asked, may, missing};
use crate::{OWNER, SOON};
use anyhow::{Result, ensure};
use http::Method;
use kube::Client;
use reserve_tests::control_plane::{Cluster, ControlPlane, User, node, workspace_dir};
use reserve_tests::requests::{Answer, as_annotation, ask, patch};
use serde_json::{Value, json};

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

fn reserve() -> Value {
    as_annotation(&format!("reserve.cpu/{OWNER}.a"), "1")
}

fn is_refused(said: &Answer, policy: &str) -> bool {
    matches!(said.code, 403 | 422) && said.message.contains(policy)
}

/// `rbac.yaml` alone, with nothing else of ours in the cluster.
#[tokio::test(flavor = "multi_thread")]
async fn the_file_for_a_static_pod_is_enough_and_confined_by_itself() -> Result<()> {
    let cluster = ControlPlane::start("manifests_static_pod").await?;
    cluster.add_node(node("n1")).await?;
    let user = cluster.user_name(User::Scheduler);
    let lacks = missing(&cluster, &user, "kube-system").await?;
    cluster.apply_file(workspace_dir().join("manifests/static-pod/rbac.yaml")).await?;
    cluster
        .wait_until("the extra roles are in force", SOON, async || {
            let lacks = missing(&cluster, &user, "kube-system").await?;
            ensure!(lacks.is_empty(), "{lacks:?}");
            Ok(())
        })
        .await?;
    it_gives_nothing_that_kube_scheduler_has(&lacks)?;
    let scheduler = cluster.client(User::Scheduler)?;
    nodes_are_confined(&cluster, &scheduler).await?;
    leases_are_confined(&cluster, &scheduler).await?;
    // And of Leases elsewhere it may write as little as before.
    let elsewhere = asked("update", "coordination.k8s.io", "leases", Some("kube-node-lease"));
    assert!(!may(&cluster, &user, &elsewhere).await?);
    the_whole_folder_confines_values_and_kubelets(&cluster).await
}

/// Leases apart: what kube-scheduler may do with those in kube-system is another thing in each version of Kubernetes.
fn it_gives_nothing_that_kube_scheduler_has(
    lacks: &std::collections::BTreeSet<crate::rights::Asked>,
) -> Result<()> {
    let file = std::fs::read_to_string(workspace_dir().join("manifests/static-pod/rbac.yaml"))?;
    let given: Vec<Value> = serde_saphyr::from_multiple(&file)?;
    let words = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|word| Some(word.as_str()?.to_owned())).collect()
    };
    let roles = given.iter().filter(|object| object["kind"] == "ClusterRole");
    for rule in roles.flat_map(|object| object["rules"].as_array().into_iter().flatten()) {
        for resource in words(&rule["resources"]) {
            for verb in words(&rule["verbs"]) {
                let right = asked(&verb, rule["apiGroups"][0].as_str().unwrap_or_default(), &resource, None);
                ensure!(lacks.contains(&right), "it has {right:?} already");
            }
        }
    }
    Ok(())
}

async fn nodes_are_confined(cluster: &Cluster, scheduler: &Client) -> Result<()> {
    let path = "/api/v1/nodes/n1";
    let taint = json!({"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}});
    cluster
        .wait_until("the policy is in force", SOON, async || {
            let said = patch(scheduler, &format!("{path}?dryRun=All"), &taint).await?;
            ensure!(is_refused(&said, "reserve-static-pod-nodes"), "{said:?}");
            Ok(())
        })
        .await?;
    let plain = format!("reserve.memory/{OWNER}");
    cluster.annotate_node("n1", &plain, Some("1Gi")).await?;
    let cases = [
        ("releases what has no end", json!({"metadata": {"annotations": {plain: null}}}), false),
        ("taints", taint, false),
        ("cordons", json!({"spec": {"unschedulable": true}}), false),
        ("labels", json!({"metadata": {"labels": {"disk": "ssd"}}}), false),
        ("annotates", as_annotation("theirs", "1"), false),
        ("reserves without an end", as_annotation(&format!("reserve.cpu/{OWNER}"), "1"), false),
        ("reserves", reserve(), true),
        ("releases", json!({"metadata": {"annotations": {format!("reserve.cpu/{OWNER}.a"): null}}}), true),
    ];
    for (what, change, is_allowed) in cases {
        let said = patch(scheduler, path, &change).await?;
        assert_eq!(said.code == 200, is_allowed, "{what}: {said:?}");
    }
    Ok(())
}

async fn leases_are_confined(cluster: &Cluster, scheduler: &Client) -> Result<()> {
    let lease = |name: &str| {
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
               "metadata": {"name": name, "namespace": "kube-system"}, "spec": {"holderIdentity": "mine"}})
    };
    cluster.apply(&lease("kube-controller-manager").to_string()).await?;
    let theirs = format!("{LEASES}/kube-controller-manager");
    let stolen = json!({"spec": {"holderIdentity": "evil"}});
    cluster
        .wait_until("another's Lease is out of reach", SOON, async || {
            let said = patch(scheduler, &format!("{theirs}?dryRun=All"), &stolen).await?;
            ensure!(is_refused(&said, "reserve-static-pod-leases"), "{said:?}");
            Ok(())
        })
        .await?;
    let said = ask(scheduler, Method::DELETE, &theirs, &json!({})).await?;
    assert!(is_refused(&said, "reserve-static-pod-leases"), "{said:?}");
    let said = ask(scheduler, Method::POST, LEASES, &lease("mine")).await?;
    assert!(is_refused(&said, "reserve-static-pod-leases"), "{said:?}");
    for name in ["kube-scheduler", "reserve-host-1"] {
        let said = ask(scheduler, Method::POST, LEASES, &lease(name)).await?;
        assert_eq!(said.code, 200, "{name}: {said:?}");
        let path = format!("{LEASES}/{name}");
        let said = patch(scheduler, &path, &stolen).await?;
        assert_eq!(said.code, 200, "{name}: {said:?}");
        let said = ask(scheduler, Method::DELETE, &path, &json!({})).await?;
        assert_eq!(said.code, 200, "{name}: {said:?}");
    }
    Ok(())
}

/// `kubectl apply -k` adds the policies about reservations themselves: who may write them, and for how long.
async fn the_whole_folder_confines_values_and_kubelets(cluster: &Cluster) -> Result<()> {
    let folder = workspace_dir().join("manifests/static-pod");
    cluster.run_kubectl(&["apply", "-k", &folder.to_string_lossy()]).await?;
    let (kubelet, scheduler) = (cluster.client(User::Kubelet)?, cluster.client(User::Scheduler)?);
    let dry = "/api/v1/nodes/n1?dryRun=All";
    let recorded = |hours| as_annotation(&format!("reserve.info/{OWNER}.a"), &record(hours).to_string());
    let attempts = [
        ("reserve-writers", "a kubelet reserves", &kubelet, reserve()),
        ("reserve-values", "kube-scheduler reserves for ten years", &scheduler, recorded(87_600)),
    ];
    for (policy, what, client, change) in attempts {
        cluster
            .wait_until(&format!("{policy} refuses: {what}"), SOON, async || {
                let said = patch(client, dry, &change).await?;
                ensure!(is_refused(&said, policy), "{said:?}");
                Ok(())
            })
            .await?;
    }
    let endless = as_annotation(&format!("reserve.info/{OWNER}.a"), r#"{"v":2}"#);
    let said = patch(&scheduler, dry, &endless).await?;
    assert!(is_refused(&said, "reserve-values"), "{said:?}");
    for change in [reserve(), recorded(1)] {
        let said = patch(&scheduler, "/api/v1/nodes/n1", &change).await?;
        assert_eq!(said.code, 200, "{said:?}");
    }
    Ok(())
}
