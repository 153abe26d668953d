//! A watch that breaks at the wrong moment.

use super::{TOWN, behind};
use anyhow::{Result, ensure};
use kube::api::DeleteParams;
use reserve_tests::control_plane::{deployment, stateful_set};
use reserve_tests::proxy::{Fault, Proxy, rule};
use reserve_tests::town::SOON;

#[test]
fn a_pod_comes_back_under_its_name_while_nobody_watches() -> Result<()> {
    TOWN.run_alone("same-name", async |plot| {
        plot.node("a", "4").await?;
        let proxy = Proxy::start(plot.cluster).await?;
        let _daemon = behind(plot, &proxy)?.start(plot.cluster).await?;
        let web = plot.deploy(stateful_set("web").cpu("3")).await?;
        let old = plot.running(&web, 1).await?;
        proxy.hold_watches(true);
        proxy.break_watches();
        // What was missed cannot be had any more: everything has to be read again.
        proxy.add(rule(Fault::Answer(410)).reads().on("/api/v1/pods?").times(1));
        plot.delete_with(&old[0], &DeleteParams::default().grace_period(0)).await?;
        plot.cluster
            .wait_until("it is there again", SOON, async || {
                let pods = plot.pods(&web).await?;
                ensure!(pods.iter().any(|pod| pod.metadata.uid != old[0].metadata.uid), "not yet");
                Ok(())
            })
            .await?;
        proxy.hold_watches(false);
        plot.replacement(&web, &old).await?;
        // The books are right: there is room for one more CPU and not for two.
        let two = plot.deploy_waiting(deployment("two").cpu("2")).await?;
        let one = plot.deploy(deployment("one").cpu("1")).await?;
        plot.running(&one, 1).await?;
        plot.still_waits(&two).await
    })
}

#[test]
fn watches_that_say_nothing_are_caught_up_with() -> Result<()> {
    TOWN.run_alone("held-watches", async |plot| {
        plot.node("a", "4").await?;
        let proxy = Proxy::start(plot.cluster).await?;
        let _daemon = behind(plot, &proxy)?.start(plot.cluster).await?;
        let web = plot.deploy(deployment("web").cpu("3")).await?;
        plot.running(&web, 1).await?;
        proxy.hold_watches(true);
        let late = plot.deploy(deployment("late").cpu("1")).await?;
        let other = plot.deploy(deployment("other").cpu("1")).await?;
        plot.cluster.run_kubectl(&["delete", "deployment", "other", "-n", plot.name]).await?;
        proxy.hold_watches(false);
        plot.running(&late, 1).await?;
        plot.running(&other, 0).await.map(drop)
    })
}
