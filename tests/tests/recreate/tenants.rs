//! Somebody without any right on nodes: the pod wishes that its room be kept, and the daemon says when it is.

use crate::typed::{typed_as, writes};
use crate::{TOWN, stranger, web};
use anyhow::{Result, ensure};
use reserve_tests::control_plane::{User, name_of, node_of};

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
