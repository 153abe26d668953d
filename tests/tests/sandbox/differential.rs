//! The same requests, made of the sandbox and of the real API server, get the same answers.

use crate::place::start;
use crate::script;
use crate::steps::Side;
use anyhow::Result;
use reserve_tests::control_plane::{Cluster, ControlPlane};
use sandbox::{Config, Sandbox};

/// What a bare API server does not fill in; see the scenarios.
const PRIORITIES: &[&str] = &["priority", "preemptionPolicy"];

/// The real API server, and a sandbox.
pub(crate) fn sides(cluster: &Cluster) -> (Side, Side) {
    let sandbox = Sandbox::new(&Config::starting_at(start(), 7));
    let ours = Side::new(kube::Client::new(sandbox.api(), "default"), PRIORITIES);
    (Side::new(cluster.admin(), PRIORITIES), ours)
}

/// Nobody but us writes: no controllers, no kubelets.
#[tokio::test]
async fn the_same_requests_get_the_same_answers() -> Result<()> {
    let cluster = ControlPlane::start("sandbox").bare().await?;
    let (mut real, mut ours) = sides(&cluster);
    let mut differences = String::new();
    for step in script::all() {
        let (expected, found) = (real.make(&step).await?, ours.make(&step).await?);
        differences.push_str(&difference(&expected, &found));
    }
    assert!(differences.is_empty(), "{differences}");
    Ok(())
}

/// The request, and the lines that are not the same; nothing if all are.
pub(crate) fn difference(real: &str, ours: &str) -> String {
    if real == ours {
        return String::new();
    }
    let count = real.lines().count().max(ours.lines().count());
    let line = |text: &str, at: usize| text.lines().nth(at).unwrap_or("(nothing)").to_owned();
    let pairs = (0..count).map(|at| (line(real, at), line(ours, at))).filter(|(real, ours)| real != ours);
    let pairs: Vec<String> = pairs.map(|(real, ours)| format!("  real {real}\n  ours {ours}\n")).collect();
    format!("{}\n{}\n", line(real, 0), pairs.concat())
}
