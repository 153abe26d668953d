//! A binding whose request or answer does not arrive.

use super::{SHARED_CLUSTER, behind};
use anyhow::{Result, ensure};
use reserve_tests::control_plane::deployment;
use reserve_tests::proxy::{Fault, Proxy, rule};
use reserve_tests::shared_cluster::TestNamespace;

/// A pod has trouble with its binding; others want the same room, or have nothing to do with it.
async fn binds_in_spite_of(ns: TestNamespace, fault: Fault) -> Result<()> {
    ns.node("a", "4").await?;
    let proxy = Proxy::start(ns.cluster).await?;
    let _daemon = behind(ns, &proxy)?.start(ns.cluster).await?;
    proxy.add(rule(fault).on("/binding"));
    let web = ns.deploy(deployment("web").cpu("3")).await?;
    ns.cluster
        .wait_until("the fault strikes", reserve_tests::shared_cluster::SOON, async || {
            ensure!(proxy.fault_count() == 1, "not yet");
            Ok(())
        })
        .await?;
    // As long as nobody knows what became of the binding the room is not free, and everybody else goes on. A binding that
    // was not carried out gives its room back, to whoever comes first.
    let rival = match fault {
        Fault::LoseAnswer | Fault::SwallowAnswer => {
            Some(ns.deploy_waiting(deployment("stranger").cpu("3")).await?)
        }
        Fault::LoseRequest | Fault::Swallow | Fault::Answer(_) => None,
    };
    let small = ns.deploy(deployment("small").cpu("1")).await?;
    ns.running(&small, 1).await?;
    let pods = ns.running(&web, 1).await?;
    if let Some(rival) = rival {
        ns.still_waits(&rival).await?;
    }
    let name = pods[0].metadata.name.clone().unwrap_or_default();
    let bound = ns.cluster.audit().await?.to("pods/binding").named(&name).stored();
    ensure!(bound.writes().len() == 1, "{bound:?}");
    Ok(())
}

#[test]
fn the_answer_to_a_binding_is_lost() -> Result<()> {
    SHARED_CLUSTER.run_alone("answer-lost", |ns| binds_in_spite_of(ns, Fault::LoseAnswer))
}

#[test]
fn a_binding_is_lost() -> Result<()> {
    SHARED_CLUSTER.run_alone("binding-lost", |ns| binds_in_spite_of(ns, Fault::LoseRequest))
}

#[test]
fn a_binding_is_never_answered() -> Result<()> {
    SHARED_CLUSTER.run_alone("binding-swallowed", |ns| binds_in_spite_of(ns, Fault::Swallow))
}

#[test]
fn a_binding_is_carried_out_and_never_answered() -> Result<()> {
    SHARED_CLUSTER.run_alone("answer-swallowed", |ns| binds_in_spite_of(ns, Fault::SwallowAnswer))
}

#[test]
fn a_binding_meets_an_overloaded_server() -> Result<()> {
    SHARED_CLUSTER.run_alone("binding-429", |ns| binds_in_spite_of(ns, Fault::Answer(429)))
}
