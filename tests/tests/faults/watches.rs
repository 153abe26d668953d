//! A watch that breaks at the wrong moment.

use super::{SHARED_CLUSTER, behind};
use anyhow::{Result, ensure};
use kube::api::DeleteParams;
use reserve_tests::control_plane::{deployment, stateful_set};
use reserve_tests::proxy::{Fault, Proxy, rule};
use reserve_tests::shared_cluster::SOON;

#[test]
fn a_pod_comes_back_under_its_name_while_nobody_watches() -> Result<()> {
    SHARED_CLUSTER.run_alone("same-name", async |ns| {
        ns.node("a", "4").await?;
        let proxy = Proxy::start(ns.cluster).await?;
        let _daemon = behind(ns, &proxy)?.start(ns.cluster).await?;
        let web = ns.deploy(stateful_set("web").cpu("3")).await?;
        let old = ns.running(&web, 1).await?;
        proxy.hold_watches(true);
        proxy.break_watches();
        // What was missed cannot be had any more: everything has to be read again.
        proxy.add(rule(Fault::Answer(410)).reads().on("/api/v1/pods?").times(1));
        ns.delete_with(&old[0], &DeleteParams::default().grace_period(0)).await?;
        ns.cluster
            .wait_until("it is there again", SOON, async || {
                let pods = ns.pods(&web).await?;
                ensure!(pods.iter().any(|pod| pod.metadata.uid != old[0].metadata.uid), "not yet");
                Ok(())
            })
            .await?;
        proxy.hold_watches(false);
        ns.replacement(&web, &old).await?;
        // The books are right: there is room for one more CPU and not for two.
        let two = ns.deploy_waiting(deployment("two").cpu("2")).await?;
        let one = ns.deploy(deployment("one").cpu("1")).await?;
        ns.running(&one, 1).await?;
        ns.still_waits(&two).await
    })
}

#[test]
fn watches_that_say_nothing_are_caught_up_with() -> Result<()> {
    SHARED_CLUSTER.run_alone("held-watches", async |ns| {
        ns.node("a", "4").await?;
        let proxy = Proxy::start(ns.cluster).await?;
        let _daemon = behind(ns, &proxy)?.start(ns.cluster).await?;
        let web = ns.deploy(deployment("web").cpu("3")).await?;
        ns.running(&web, 1).await?;
        proxy.hold_watches(true);
        let late = ns.deploy(deployment("late").cpu("1")).await?;
        let other = ns.deploy(deployment("other").cpu("1")).await?;
        ns.cluster.run_kubectl(&["delete", "deployment", "other", "-n", ns.name]).await?;
        proxy.hold_watches(false);
        ns.running(&late, 1).await?;
        ns.running(&other, 0).await.map(drop)
    })
}
