//! Disruption budgets: who blocks, with both numbers, and that nothing is reserved meanwhile.

use crate::typed::{evictions, typed, writes};
use crate::{SHARED_CLUSTER, web};
use anyhow::{Result, ensure};
use reserve_tests::control_plane::{name_of, node_of};
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::json;

async fn budget(ns: &TestNamespace, name: &str, rule: serde_json::Value, expected: i64) -> Result<()> {
    let mut spec = json!({ "selector": { "matchLabels": { "app": "web" } } });
    for (key, value) in rule.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                         "metadata": { "name": name, "namespace": ns.name }, "spec": spec });
    ns.cluster.apply(&budget.to_string()).await?;
    ns.cluster
        .wait_until("the budget is worked out", SOON, async || {
            let path = "jsonpath={.status.expectedPods}/{.status.currentHealthy}";
            let said = ns.cluster.run_kubectl(&["get", "pdb", name, "-n", ns.name, "-o", path]).await?;
            ensure!(said == format!("{expected}/{expected}"), "{said}");
            Ok(())
        })
        .await
}

#[test]
fn a_budget_that_never_allows_it_is_recognised_at_once() -> Result<()> {
    SHARED_CLUSTER.run("never", async |ns| {
        let node = ns.node("n1", "4").await?;
        let web = ns.deploy(web()).await?;
        let old = ns.running(&web, 1).await?;
        budget(&ns, "web-pdb", json!({ "minAvailable": 1 }), 1).await?;
        let refused = typed(&ns, &["pod", name_of(&old[0]), "--yes"]).await?.ended(11)?;
        refused.says(&[
            "PodDisruptionBudget never/web-pdb needs 1 healthy pod and has 1 (minAvailable 1)",
            "This budget never allows a disruption",
            "kubectl patch pdb web-pdb -n never",
            "--ignore-pdb",
            "Nothing was changed. No reservation was placed.",
        ])?;
        ensure!(evictions(&ns).await?.len() == 1, "one try is enough");
        ensure!(writes(&ns).await?.is_empty() && ns.reservations(&node).await?.is_empty());
        // A dry run ends as the real one does.
        for dry_run in ["--dry-run", "--dry-run=server"] {
            let refused = typed(&ns, &["pod", name_of(&old[0]), dry_run]).await?.ended(11)?;
            refused.says(&[
                "never/web-pdb needs 1 healthy pod and has 1",
                "This budget never allows a disruption",
            ])?;
        }
        let rehearsed =
            typed(&ns, &["pod", name_of(&old[0]), "--ignore-pdb", "--dry-run=server"]).await?.ended(0)?;
        ensure!(rehearsed.out.contains(" deleted (server dry run)\n"), "{rehearsed:#?}");
        ensure!(name_of(&ns.running(&web, 1).await?[0]) == name_of(&old[0]), "it was really deleted");
        // Whoever insists can have it deleted, and its place is kept all the same.
        let done = typed(&ns, &["pod", name_of(&old[0]), "--yes", "--ignore-pdb"]).await?.ended(0)?;
        ensure!(done.says(&["  deleted  "])?.talk.find("evicted").is_none(), "it was not evicted");
        ensure!(node_of(&ns.replacement(&web, &old).await?) == node);
        Ok(())
    })
}

#[test]
fn a_budget_that_blocks_is_waited_for_without_keeping_room() -> Result<()> {
    SHARED_CLUSTER.run("blocked", async |ns| {
        let node = ns.node("n1", "8").await?;
        let web = ns.deploy(web().replicas(2)).await?;
        let old = ns.running(&web, 2).await?;
        budget(&ns, "web-pdb", json!({ "maxUnavailable": 1 }), 2).await?;
        // One is not well, which is all that the budget allows.
        let name = name_of(&old[1]);
        let unready = r#"{"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#;
        ns.cluster
            .run_kubectl(&["patch", "pod", name, "-n", ns.name, "--subresource=status", "-p", unready])
            .await?;
        let path = "jsonpath={.status.currentHealthy}";
        ns.cluster
            .wait_until("the budget has seen it", SOON, async || {
                let said =
                    ns.cluster.run_kubectl(&["get", "pdb", "web-pdb", "-n", ns.name, "-o", path]).await?;
                ensure!(said == "1", "{said}");
                Ok(())
            })
            .await?;
        let refused = typed(&ns, &["pod", name_of(&old[0]), "--yes", "--timeout=12s"]).await?.ended(11)?;
        refused.says(&[
            "blocked/web-pdb needs 1 healthy pod and has 1 (maxUnavailable 1)",
            "(will retry after 5s)",
            &format!("Not ready: {name}"),
        ])?;
        let tries = evictions(&ns).await?;
        ensure!((2..=3).contains(&tries.len()), "{tries:#?}");
        let pauses = tries.windows(2).map(|pair| pair[1].at.duration_since(pair[0].at).as_secs_f64());
        ensure!(pauses.clone().all(|pause| pause > 4.9), "{:?}", pauses.collect::<Vec<_>>());
        ensure!(writes(&ns).await?.is_empty() && ns.reservations(&node).await?.is_empty());
        Ok(())
    })
}

#[test]
fn two_budgets_are_named_and_not_waited_for() -> Result<()> {
    SHARED_CLUSTER.run("two-budgets", async |ns| {
        ns.node("n1", "4").await?;
        let web = ns.deploy(web()).await?;
        let old = ns.running(&web, 1).await?;
        budget(&ns, "one", json!({ "maxUnavailable": 1 }), 1).await?;
        budget(&ns, "two", json!({ "maxUnavailable": 1 }), 1).await?;
        let refused = typed(&ns, &["pod", name_of(&old[0]), "--yes"]).await?.ended(11)?;
        refused.says(&["two-budgets/one", "two-budgets/two", "Waiting will not help"])?;
        ensure!(evictions(&ns).await?.len() == 1 && writes(&ns).await?.is_empty());
        Ok(())
    })
}
