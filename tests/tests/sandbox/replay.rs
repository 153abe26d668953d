//! What our programs asked the sandbox once, asked again of the sandbox and of the real API server: both answer the same.
//! The recording is in `recorded`; `make recording` writes it anew.

use crate::differential::{difference, sides};
use crate::flows;
use crate::place::Site;
use crate::recording;
use crate::steps::{Side, Step};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Cluster, ControlPlane, workspace_dir};
use std::path::PathBuf;

/// When this is set, the recording is written instead of compared.
const RECORD: &str = "RESERVE_RECORD";

fn file() -> PathBuf {
    workspace_dir().join("tests/tests/sandbox/recorded/programs.jsonl")
}

#[test]
fn the_recording_is_what_our_programs_ask() -> Result<()> {
    let told = flows::record()?;
    if std::env::var_os(RECORD).is_some() {
        return std::fs::write(file(), told).context("write the recording");
    }
    let recorded = std::fs::read_to_string(file()).context("run `make recording`")?;
    let difference = recorded.lines().zip(told.lines()).find(|(recorded, told)| recorded != told);
    ensure!(recorded == told, "run `make recording`; the first difference: {difference:#?}");
    Ok(())
}

/// In the order of the recording. Watches are asked for last, from the versions where they began: they tell all at once.
#[tokio::test]
async fn what_our_programs_ask_is_answered_the_same() -> Result<()> {
    let recorded = recording::read(&std::fs::read_to_string(file()).context("run `make recording`")?)?;
    let cluster = ControlPlane::start("sandbox_replay").bare().await?;
    settled(&cluster).await?;
    let (mut real, mut ours) = sides(&cluster);
    let (mut differences, mut watches) = (String::new(), Vec::new());
    for line in recorded {
        let step = line.step()?;
        if step.is_watch() {
            watches.push(shortened(step));
            continue;
        }
        let (expected, found) = (real.make(&step).await?, ours.make(&step).await?);
        differences.push_str(&difference(&expected, &found));
        // What is answered otherwise than it was is not the request that our programs made.
        if !expected.contains(&format!(" -> {}", line.code)) {
            differences.push_str(&format!("{} was answered then: {expected}\n", line.code));
        }
    }
    differences.push_str(&watched(&real, &ours, &watches).await?);
    ensure!(differences.is_empty(), "{differences}");
    Ok(())
}

/// Waits until a real server has made what it makes for itself, some time after it says that it is ready.
async fn settled(cluster: &Cluster) -> Result<()> {
    let site = Site { client: cluster.admin() };
    let all = ["kube-node-lease", "kube-public", "kube-system", "default/services/kubernetes"];
    let is_there = async |path: &&str| site.read(&format!("/api/v1/namespaces/{path}")).await.is_ok();
    site.wait("the server has settled", async || {
        let found = futures::future::join_all(all.iter().map(is_there)).await;
        Ok(found.iter().all(|one| *one).then_some(()))
    })
    .await
}

/// Watches both, and says what differs.
async fn watched(real: &Side, ours: &Side, watches: &[Step]) -> Result<String> {
    let mut differences = String::new();
    // A real server tells from a cache, which may be late.
    for _ in 0..3 {
        let both = watches.iter().map(async |step| {
            let (expected, found) = futures::future::try_join(real.watch(step), ours.watch(step)).await?;
            anyhow::Ok(difference(&expected, &found))
        });
        differences = futures::future::try_join_all(both).await?.concat();
        if differences.is_empty() {
            break;
        }
    }
    Ok(differences)
}

/// A watch that ends.
fn shortened(step: Step) -> Step {
    let path = step.path.replace("timeoutSeconds=300", "timeoutSeconds=1");
    Step { path, ..step }
}
