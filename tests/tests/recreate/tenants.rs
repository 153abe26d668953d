//! Somebody without any right on nodes: the pod wishes that its room be kept, and the daemon says when it is.

use crate::typed::{typed_as, writes};
use crate::{SHARED_CLUSTER, stranger, web};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{User, name_of, node_of, workspace_dir};
use reserve_tests::shared_cluster::{SOON, TestNamespace};

#[test]
fn a_tenant_recreates_a_pod_through_its_wish() -> Result<()> {
    SHARED_CLUSTER.run("tenant", async |ns| {
        let node = ns.node("n1", "4").await?;
        ns.cluster.let_tenant_edit(ns.name).await?;
        let web = ns.deploy(web()).await?;
        let old = ns.running(&web, 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let done = typed_as(&ns, User::Tenant, &["pod", name_of(&old[0]), "--yes"]).await?.ended(0)?;
        done.says(&["reserve/keep", "acknowledged  by the daemon", "evicted", "bound", "ready"])?;
        ensure!(node_of(&ns.replacement(&web, &old).await?) == node);
        ns.still_waits(&stranger).await?;
        let written: Vec<String> =
            writes(&ns).await?.iter().map(|write| format!("{} {}", write.verb, write.resource)).collect();
        ensure!(written == ["patch pods", "create pods/eviction"], "{written:?}");
        ns.reserved(&node, 0).await?;
        Ok(())
    })
}

/// What the daemon said to the pod once is gone after an hour, as all events are: whoever wishes it anew is told anew.
#[test]
fn a_tenant_recreates_a_pod_that_wishes_it_by_itself() -> Result<()> {
    SHARED_CLUSTER.run("wishes", async |ns| {
        let node = ns.node("n1", "4").await?;
        ns.cluster.let_tenant_edit(ns.name).await?;
        let web = ns.deploy(web()).await?;
        let old = ns.running(&web, 1).await?;
        let (pod, kubectl) = (name_of(&old[0]), async |arguments: &[&str]| {
            ns.cluster.run_kubectl(&[arguments, &["-n", ns.name][..]].concat()).await
        });
        kubectl(&["annotate", "pod", pod, "reserve/keep=true"]).await?;
        ns.cluster
            .wait_until("the pod is told", SOON, async || {
                let events =
                    kubectl(&["get", "events", "--field-selector=reason=Reserved", "-o=name"]).await?;
                ensure!(!events.is_empty(), "nothing was said");
                Ok(())
            })
            .await?;
        kubectl(&["delete", "events", "--all"]).await?;
        let done = typed_as(&ns, User::Tenant, &["pod", pod, "--yes"]).await?.ended(0)?;
        done.says(&["acknowledged  by the daemon", "evicted", "bound", "ready"])?;
        ensure!(node_of(&ns.replacement(&web, &old).await?) == node);
        ns.reserved(&node, 0).await?;
        Ok(())
    })
}

/// Who has the shipped roles and nothing else: everywhere, with a reservation of their own; in one namespace, by the pod's wish.
#[test]
fn the_shipped_roles_are_enough() -> Result<()> {
    SHARED_CLUSTER.run_alone("operator", async |ns| {
        let node = ns.node("n1", "4").await?;
        let web = ns.deploy(web()).await?;
        let old = ns.running(&web, 1).await?;
        let name = name_of(&old[0]);
        let refused = typed_as(&ns, User::Tenant, &["pod", name, "--yes"]).await?;
        ensure!(
            refused.code == Some(14) && refused.talk.contains("get pods in namespace operator"),
            "{refused:#?}"
        );
        ns.cluster.grant(User::Tenant, "view", Some(ns.name)).await?;
        let refused =
            typed_as(&ns, User::Tenant, &["restart", "deployment/web", "--yes"]).await?.ended(14)?;
        refused.says(&["Nothing was changed.", "create pods/eviction (namespace operator)"])?;
        ensure!(writes(&ns).await?.is_empty());
        revoke(&ns, "rolebinding", "view").await?;

        ns.cluster.grant(User::Tenant, "reserve-operator", Some(ns.name)).await?;
        let done = typed_as(&ns, User::Tenant, &["pod", name, "--yes"]).await?.ended(0)?;
        done.says(&["reserve/keep", "acknowledged  by the daemon", "evicted", "bound", "ready"])?;
        revoke(&ns, "rolebinding", "reserve-operator").await?;

        let old = ns.running(&web, 1).await?;
        ns.reserved(&node, 0).await?;
        ns.cluster.grant(User::Tenant, "reserve-viewer", None).await?;
        ns.cluster.grant(User::Tenant, "reserve-operator", None).await?;
        // This daemon keeps its Leases in kube-system, as a static pod does.
        let unknown = typed_as(&ns, User::Tenant, &["pod", "web", "--yes"]).await?.ended(15)?;
        unknown.says(&[
            "it is unknown whether that enforces reservations",
            "list leases.coordination.k8s.io (namespace kube-reserve)",
        ])?;
        let rbac = std::fs::read_to_string(workspace_dir().join("manifests/static-pod/rbac.yaml"))?;
        let is_role =
            |text: &&str| text.contains("kind: Role\n") && text.contains("name: reserve-replicas\n");
        let role = rbac.split("---\n").find(is_role).context("no Role")?;
        ns.cluster.apply(role).await?;
        let bind =
            ["create", "rolebinding", "reserve-replicas", "-n", "kube-system", "--role=reserve-replicas"];
        ns.cluster.run_kubectl(&[&bind[..], &["--user=tenant"]].concat()).await?;
        // The authorizer learns of the binding by a watch of its own.
        let can = ["auth", "can-i", "list", "leases.coordination.k8s.io", "-n", "kube-system", "--as=tenant"];
        let in_force = async || ns.cluster.run_kubectl(&can).await.map(drop);
        ns.cluster.wait_until("the Role is in force", SOON, in_force).await?;
        let done = typed_as(&ns, User::Tenant, &["pod", "web", "--yes"]).await?.ended(0)?;
        done.says(&[
            "enforces reservations (it is the daemon)",
            "reserved",
            "acknowledged  by 1 replica",
            "evicted",
            "released",
        ])?;
        ensure!(node_of(&ns.replacement(&web, &old).await?) == node);
        let told = typed_as(&ns, User::Tenant, &["explain"]).await?.ended(0)?;
        ensure!(told.talk.starts_with("No pending pods found in operator namespace."), "{told:#?}");
        ns.cluster.run_kubectl(&["delete", "rolebinding", "reserve-replicas", "-n", "kube-system"]).await?;
        revoke(&ns, "clusterrolebinding", "reserve-viewer").await?;
        revoke(&ns, "clusterrolebinding", "reserve-operator").await
    })
}

async fn revoke(ns: &TestNamespace, kind: &str, role: &str) -> Result<()> {
    let name = format!("tenant-{role}");
    ns.cluster.run_kubectl(&["delete", kind, &name, "-n", ns.name]).await.map(drop)
}
