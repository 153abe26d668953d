//! Proof that nothing of a control plane outlives its test: a panic, Ctrl-C and `kill -9` included.

use std::io::{BufRead as _, BufReader};
use std::panic::AssertUnwindSafe;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use reserve_tests::control_plane::ControlPlane;

/// Gone within seconds, whatever happened; later where much else is going on.
const GONE_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(100);

/// `control-plane run` with a cluster up, and the process ids of its programs.
struct Run {
    child: Child,
    pids: Vec<u32>,
}

impl Drop for Run {
    fn drop(&mut self) {
        // For a test that failed; otherwise it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(name: &str) -> Result<Run> {
    let child = Command::new(env!("CARGO_BIN_EXE_control-plane"))
        .args(["run", "--name", name, "--nodes", "1", "--scheduler"])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut run = Run { child, pids: vec![] };
    for line in BufReader::new(run.child.stdout.take().context("no standard output")?).lines() {
        let line = line?;
        if let Some((_, pid)) = line.split_once(" runs as ") {
            run.pids.push(pid.parse()?);
        }
        if line.contains("Ctrl-C ends it") {
            ensure!(run.pids.len() == 5, "not five programs: {:?}", run.pids);
            ensure!(run.pids.iter().all(|pid| is_alive(*pid)), "not all alive: {:?}", run.pids);
            return Ok(run);
        }
    }
    bail!("no cluster: {:?}", run.child.wait())
}

fn is_alive(pid: u32) -> bool {
    signal("-0", pid)
}

fn signal(signal: &str, pid: u32) -> bool {
    let kill = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
    kill.is_ok_and(|status| status.success())
}

#[test]
fn kill_nine_leaves_nothing_running() -> Result<()> {
    let mut run = run("kill_nine")?;
    assert!(signal("-KILL", run.child.id()));
    assert!(!run.child.wait()?.success());
    let mut waited = Duration::ZERO;
    while run.pids.iter().any(|pid| is_alive(*pid)) {
        assert!(waited < GONE_MAX, "still alive after {waited:?}: {:?}", run.pids);
        std::thread::sleep(POLL);
        waited += POLL;
    }
    Ok(())
}

#[test]
fn ctrl_c_ends_everything_before_the_program_returns() -> Result<()> {
    let mut run = run("ctrl_c")?;
    assert!(signal("-INT", run.child.id()));
    assert!(run.child.wait()?.success());
    assert!(!run.pids.iter().any(|pid| is_alive(*pid)), "{:?}", run.pids);
    Ok(())
}

#[test]
fn a_panic_ends_everything_and_keeps_the_logs() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (mut pids, mut dir) = (vec![], None);
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let cluster = ControlPlane::start("a_panic").await.unwrap();
            pids.extend(cluster.processes().into_iter().map(|(_, pid)| pid));
            dir = Some(cluster.dir().to_owned());
            panic!("on purpose");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(pids.len(), 4);
    assert!(!pids.iter().any(|pid| is_alive(*pid)), "{pids:?}");
    let dir = dir.unwrap();
    for file in ["kube-apiserver.log", "kube-controller-manager.log", "kwok.log", "etcd.log", "audit.log"] {
        assert!(dir.join(file).is_file(), "{file} is gone");
    }
    assert!(!dir.join("etcd-data").exists(), "the data is of no use and large");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_dies_is_reported_with_its_last_words() {
    let started = ControlPlane::start("a_program_dies").with_scheduler_configuration("nonsense: true").await;
    // It dies while the others start, or a moment later; either way nobody waits in vain.
    let error = match started {
        Err(error) => error,
        Ok(cluster) => {
            let wait = cluster.wait_until("the end of time", GONE_MAX, async || bail!("not yet"));
            let ended: Result<()> = wait.await;
            ended.unwrap_err()
        }
    };
    let error = format!("{error:#}");
    assert!(error.contains("kube-scheduler ended by itself") && error.contains("unknown field"), "{error}");
}
