//! `kubectl reserve restart`: checked as a whole before it begins, and gone on with after it was stopped.

use crate::typed::{begin, evictions, typed, writes};
use crate::{SHARED_CLUSTER, web};
use anyhow::{Result, ensure};
use reserve_tests::control_plane::{deployment, name_of};
use serde_json::json;

#[test]
fn a_rerun_goes_on_where_it_was_interrupted() -> Result<()> {
    SHARED_CLUSTER.run("rerun", async |ns| {
        ns.node("n1", "12").await?;
        let web = ns.deploy(web().replicas(3)).await?;
        let old = ns.running(&web, 3).await?;
        let mut run = begin(&ns, &["restart", "deployment/web", "--yes"])?;
        tokio::task::block_in_place(|| run.hear("(2 of 3)"))?;
        run.signal("INT")?;
        let stopped = tokio::task::block_in_place(|| run.end())?.ended(130)?;
        stopped
            .says(&["interrupted", "of 3 pods are left: kubectl reserve restart deployment/web -n rerun"])?;
        let gone = evictions(&ns).await?.iter().filter(|write| write.is_stored()).count();
        ensure!(gone == 1 || gone == 2, "{gone} of 3 were evicted before it stopped");
        ns.running(&web, 3).await?;
        let again = typed(&ns, &["restart", "deployment/web", "--yes"]).await?.ended(0)?;
        let again = again.says(&["going on with the restart"])?;
        ensure!(again.out.contains("deployment/web restarted"), "{again:#?}");
        let new = ns.running(&web, 3).await?;
        ensure!(new.iter().all(|pod| !old.iter().any(|old| name_of(old) == name_of(pod))), "{again:#?}");
        let stored: Vec<String> = evictions(&ns)
            .await?
            .into_iter()
            .filter(|write| write.is_stored())
            .map(|write| write.name)
            .collect();
        let mut names: Vec<&String> = stored.iter().collect();
        names.sort();
        names.dedup();
        ensure!(stored.len() == 3 && names.len() == 3, "each once: {stored:?}");
        // And the next one begins anew.
        let next = typed(&ns, &["restart", "deployment/web", "--dry-run"]).await?.ended(0)?;
        ensure!(!next.talk.contains("going on"), "{next:#?}");
        Ok(())
    })
}

#[test]
fn what_one_pod_is_refused_for_is_said_before_the_first_goes() -> Result<()> {
    SHARED_CLUSTER.run("checked", async |ns| {
        ns.node("n1", "8").await?;
        let good = ns.deploy(deployment("good").cpu("1")).await?;
        let data = json!([{ "name": "scratch", "emptyDir": {} }]);
        let local = ns.deploy(deployment("local").cpu("1").pod_field("volumes", data)).await?;
        ns.running(&good, 1).await?;
        ns.running(&local, 1).await?;
        let refused =
            typed(&ns, &["restart", "deployment/good", "deployment/local", "--yes"]).await?.ended(15)?;
        refused.says(&["Nothing was changed.", "cannot delete Pods with local storage", "checked/local-"])?;
        ensure!(writes(&ns).await?.is_empty() && evictions(&ns).await?.is_empty());
        Ok(())
    })
}
