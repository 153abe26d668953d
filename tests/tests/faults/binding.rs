//! A binding whose request or answer does not arrive.

use super::{TOWN, behind};
use anyhow::{Result, ensure};
use reserve_tests::control_plane::deployment;
use reserve_tests::proxy::{Fault, Proxy, rule};
use reserve_tests::town::Plot;

/// A pod has trouble with its binding; others want the same room, or have nothing to do with it.
async fn binds_in_spite_of(plot: Plot, fault: Fault) -> Result<()> {
    plot.node("a", "4").await?;
    let proxy = Proxy::start(plot.cluster).await?;
    let _daemon = behind(plot, &proxy)?.start(plot.cluster).await?;
    proxy.add(rule(fault).on("/binding"));
    let web = plot.deploy(deployment("web").cpu("3")).await?;
    plot.cluster
        .wait_until("the fault strikes", reserve_tests::town::SOON, async || {
            ensure!(proxy.struck() == 1, "not yet");
            Ok(())
        })
        .await?;
    // As long as nobody knows what became of the binding the room is not free, and everybody else goes on. A binding that
    // was not carried out gives its room back, to whoever comes first.
    let rival = match fault {
        Fault::LoseAnswer | Fault::SwallowAnswer => {
            Some(plot.deploy_waiting(deployment("stranger").cpu("3")).await?)
        }
        Fault::LoseRequest | Fault::Swallow | Fault::Answer(_) => None,
    };
    let small = plot.deploy(deployment("small").cpu("1")).await?;
    plot.running(&small, 1).await?;
    let pods = plot.running(&web, 1).await?;
    if let Some(rival) = rival {
        plot.still_waits(&rival).await?;
    }
    let name = pods[0].metadata.name.clone().unwrap_or_default();
    let bound = plot.cluster.audit().await?.to("pods/binding").named(&name).stored();
    ensure!(bound.writes().len() == 1, "{bound:?}");
    Ok(())
}

#[test]
fn the_answer_to_a_binding_is_lost() -> Result<()> {
    TOWN.run_alone("answer-lost", |plot| binds_in_spite_of(plot, Fault::LoseAnswer))
}

#[test]
fn a_binding_is_lost() -> Result<()> {
    TOWN.run_alone("binding-lost", |plot| binds_in_spite_of(plot, Fault::LoseRequest))
}

#[test]
fn a_binding_is_never_answered() -> Result<()> {
    TOWN.run_alone("binding-swallowed", |plot| binds_in_spite_of(plot, Fault::Swallow))
}

#[test]
fn a_binding_is_carried_out_and_never_answered() -> Result<()> {
    TOWN.run_alone("answer-swallowed", |plot| binds_in_spite_of(plot, Fault::SwallowAnswer))
}

#[test]
fn a_binding_meets_an_overloaded_server() -> Result<()> {
    TOWN.run_alone("binding-429", |plot| binds_in_spite_of(plot, Fault::Answer(429)))
}
