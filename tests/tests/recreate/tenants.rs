//! Somebody without any right on nodes: the pod wishes that its room be kept, and the daemon says when it is.

use crate::typed::{typed_as, writes};
use crate::{TOWN, stranger, web};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{User, name_of, node_of, workspace_dir};
use reserve_tests::town::{Plot, SOON};

#[test]
fn a_tenant_recreates_a_pod_through_its_wish() -> Result<()> {
    TOWN.run("tenant", async |plot| {
        let node = plot.node("n1", "4").await?;
        plot.cluster.let_tenant_edit(plot.name).await?;
        let web = plot.deploy(web()).await?;
        let old = plot.running(&web, 1).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        let done = typed_as(&plot, User::Tenant, &["pod", name_of(&old[0]), "--yes"]).await?.ended(0)?;
        done.says(&["reserve/keep", "acknowledged  by the daemon", "evicted", "bound", "ready"])?;
        ensure!(node_of(&plot.replacement(&web, &old).await?) == node);
        plot.still_waits(&stranger).await?;
        let written: Vec<String> =
            writes(&plot).await?.iter().map(|write| format!("{} {}", write.verb, write.resource)).collect();
        ensure!(written == ["patch pods", "create pods/eviction"], "{written:?}");
        plot.reserved(&node, 0).await?;
        Ok(())
    })
}

/// What the daemon said to the pod once is gone after an hour, as all events are: whoever wishes it anew is told anew.
#[test]
fn a_tenant_recreates_a_pod_that_wishes_it_by_itself() -> Result<()> {
    TOWN.run("wishes", async |plot| {
        let node = plot.node("n1", "4").await?;
        plot.cluster.let_tenant_edit(plot.name).await?;
        let web = plot.deploy(web()).await?;
        let old = plot.running(&web, 1).await?;
        let (pod, kubectl) = (name_of(&old[0]), async |arguments: &[&str]| {
            plot.cluster.run_kubectl(&[arguments, &["-n", plot.name][..]].concat()).await
        });
        kubectl(&["annotate", "pod", pod, "reserve/keep=true"]).await?;
        plot.cluster
            .wait_until("the pod is told", SOON, async || {
                let events =
                    kubectl(&["get", "events", "--field-selector=reason=Reserved", "-o=name"]).await?;
                ensure!(!events.is_empty(), "nothing was said");
                Ok(())
            })
            .await?;
        kubectl(&["delete", "events", "--all"]).await?;
        let done = typed_as(&plot, User::Tenant, &["pod", pod, "--yes"]).await?.ended(0)?;
        done.says(&["acknowledged  by the daemon", "evicted", "bound", "ready"])?;
        ensure!(node_of(&plot.replacement(&web, &old).await?) == node);
        plot.reserved(&node, 0).await?;
        Ok(())
    })
}

/// Who has the shipped roles and nothing else: everywhere, with a reservation of their own; in one namespace, by the pod's wish.
#[test]
fn the_shipped_roles_are_enough() -> Result<()> {
    TOWN.run_alone("operator", async |plot| {
        let node = plot.node("n1", "4").await?;
        let web = plot.deploy(web()).await?;
        let old = plot.running(&web, 1).await?;
        let name = name_of(&old[0]);
        let refused = typed_as(&plot, User::Tenant, &["pod", name, "--yes"]).await?;
        ensure!(
            refused.code == Some(14) && refused.talk.contains("get pods in namespace operator"),
            "{refused:#?}"
        );
        plot.cluster.grant(User::Tenant, "view", Some(plot.name)).await?;
        let refused =
            typed_as(&plot, User::Tenant, &["restart", "deployment/web", "--yes"]).await?.ended(14)?;
        refused.says(&["Nothing was changed.", "create pods/eviction (namespace operator)"])?;
        ensure!(writes(&plot).await?.is_empty());
        revoke(&plot, "rolebinding", "view").await?;

        plot.cluster.grant(User::Tenant, "reserve-operator", Some(plot.name)).await?;
        let done = typed_as(&plot, User::Tenant, &["pod", name, "--yes"]).await?.ended(0)?;
        done.says(&["reserve/keep", "acknowledged  by the daemon", "evicted", "bound", "ready"])?;
        revoke(&plot, "rolebinding", "reserve-operator").await?;

        let old = plot.running(&web, 1).await?;
        plot.reserved(&node, 0).await?;
        plot.cluster.grant(User::Tenant, "reserve-viewer", None).await?;
        plot.cluster.grant(User::Tenant, "reserve-operator", None).await?;
        // This daemon keeps its Leases in kube-system, as a static pod does.
        let unknown = typed_as(&plot, User::Tenant, &["pod", "web", "--yes"]).await?.ended(15)?;
        unknown
            .says(&["you may not see whether", "list leases.coordination.k8s.io (namespace kube-reserve)"])?;
        let rbac = std::fs::read_to_string(workspace_dir().join("manifests/static-pod/rbac.yaml"))?;
        let is_role =
            |text: &&str| text.contains("kind: Role\n") && text.contains("name: reserve-replicas\n");
        let role = rbac.split("---\n").find(is_role).context("no Role")?;
        plot.cluster.apply(role).await?;
        let bind =
            ["create", "rolebinding", "reserve-replicas", "-n", "kube-system", "--role=reserve-replicas"];
        plot.cluster.run_kubectl(&[&bind[..], &["--user=tenant"]].concat()).await?;
        // The authorizer learns of the binding by a watch of its own.
        let can = ["auth", "can-i", "list", "leases.coordination.k8s.io", "-n", "kube-system", "--as=tenant"];
        let in_force = async || plot.cluster.run_kubectl(&can).await.map(drop);
        plot.cluster.wait_until("the Role is in force", SOON, in_force).await?;
        let done = typed_as(&plot, User::Tenant, &["pod", "web", "--yes"]).await?.ended(0)?;
        done.says(&[
            "obeys reservations (it is the daemon)",
            "reserved",
            "acknowledged  by 1 replica",
            "evicted",
            "released",
        ])?;
        ensure!(node_of(&plot.replacement(&web, &old).await?) == node);
        let told = typed_as(&plot, User::Tenant, &["explain"]).await?.ended(0)?;
        ensure!(told.talk.trim() == "No pending pods found in operator namespace.", "{told:#?}");
        plot.cluster.run_kubectl(&["delete", "rolebinding", "reserve-replicas", "-n", "kube-system"]).await?;
        revoke(&plot, "clusterrolebinding", "reserve-viewer").await?;
        revoke(&plot, "clusterrolebinding", "reserve-operator").await
    })
}

async fn revoke(plot: &Plot, kind: &str, role: &str) -> Result<()> {
    let name = format!("tenant-{role}");
    plot.cluster.run_kubectl(&["delete", kind, &name, "-n", plot.name]).await.map(drop)
}
