//! `kubectl reserve sandbox` and real kubectl: the file that it writes, what can be done there, and how it ends.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::Binaries;
use reserve_tests::programs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A sandbox that runs, and a home of its own for it and for kubectl.
struct Sandbox {
    child: Child,
    home: TempDir,
    kubeconfig: PathBuf,
}

impl Sandbox {
    /// Starts one, and waits until it says how it is reached.
    fn start(home: TempDir, arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(programs::build()?.join("kubectl-reserve"));
        command.env_clear().env("HOME", home.path()).current_dir(home.path());
        command.arg("sandbox").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("start the sandbox")?;
        let mut lines = BufReader::new(child.stdout.as_mut().context("no stdout")?).lines();
        let mut export = lines.next().context("it said nothing")??;
        let kubeconfig = export.split_off(export.find('=').context("no KUBECONFIG")? + 1).into();
        ensure!(export == "  export KUBECONFIG=", "{export}");
        Ok(Self { child, home, kubeconfig })
    }

    /// Types a kubectl command. Returns what it printed on both streams, and its exit code.
    fn kubectl(&self, line: &str) -> Result<(String, Option<i32>)> {
        let mut command = Command::new(Binaries::locate()?.path("kubectl")?);
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", programs::build()?)
            .env("KUBERC", "off");
        command.env("KUBECONFIG", &self.kubeconfig).args(line.split(' ')).stdin(Stdio::null());
        let output = command.output().with_context(|| format!("kubectl {line}"))?;
        let said = [output.stdout, output.stderr].concat();
        Ok((String::from_utf8(said)?, output.status.code()))
    }

    fn says(&self, line: &str, word: &str) -> Result<String> {
        let (said, code) = self.kubectl(line)?;
        ensure!(
            code == Some(0) && said.contains(word),
            "kubectl {line}: exit {code:?}, no {word:?} in\n{said}"
        );
        Ok(said)
    }

    /// Types it until it says so.
    fn until(&self, line: &str, word: &str) -> Result<String> {
        for _ in 0..300 {
            if let Ok(said) = self.says(line, word) {
                return Ok(said);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        self.says(line, word)
    }

    /// Presses Ctrl-C. Returns what it said in the end.
    fn stop(mut self) -> Result<String> {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status()?;
        ensure!(sent.success(), "kill failed");
        let status = self.child.wait()?;
        let mut talk = String::new();
        self.child.stderr.take().context("no stderr")?.read_to_string(&mut talk)?;
        ensure!(status.success(), "{status}: {talk}");
        ensure!(!self.kubeconfig.exists(), "{} is still there", self.kubeconfig.display());
        Ok(talk)
    }
}

/// A test that fails leaves nothing running.
impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn real_kubectl_is_at_home_in_it() -> Result<()> {
    let sandbox = Sandbox::start(tempfile::tempdir()?, &[])?;
    ensure!(sandbox.kubeconfig.starts_with(sandbox.home.path()), "{}", sandbox.kubeconfig.display());
    let mode = std::fs::metadata(&sandbox.kubeconfig)?.permissions().mode();
    ensure!(mode & 0o777 == 0o600, "{mode:o}");
    let nodes = sandbox.says("get nodes", "Ready")?;
    ensure!(nodes.lines().count() == 4, "{nodes}");
    sandbox.until("get pod db-0 -o wide", "node-3")?;
    sandbox.until("get pod shop-0", "Running")?;
    sandbox.until("get pod batch-0", "Pending")?;

    let done = sandbox.says("reserve pod shop-0 --yes", "pod/shop-0 recreated on node-2")?;
    ensure!(done.contains("could take its place") && done.contains("(same node)"), "{done}");
    let (explained, code) = sandbox.kubectl("reserve explain batch-0")?;
    ensure!(code == Some(10) && explained.contains("VERDICT  No node fits"), "{code:?} {explained}");

    // What the demo says in kubectl's place.
    sandbox.says("annotate statefulset db reserve/keep=true", "statefulset.apps/db annotated\n")?;
    sandbox.says("delete pod db-0 --wait=false", "pod \"db-0\" deleted from default namespace\n")?;
    sandbox.until("reserve list", "StatefulSet/db")?;
    sandbox.until("get pod db-0 -o wide", "node-3")?;
    sandbox.says("scale statefulset/batch --replicas=0 -n default", "statefulset.apps/batch scaled\n")?;

    sandbox.says("annotate node node-1 reserve.cpu/11111111-1111-4111-8111-111111111111=1", "annotated")?;
    sandbox.says("reserve list", "11111111-1111-4111-8111-111111111111")?;
    sandbox.says("reserve status", "1 of 1 replica live")?;
    let talk = sandbox.stop()?;
    ensure!(
        talk.contains("In another terminal:") && talk.ends_with("and its kubeconfig with it.\n"),
        "{talk}"
    );
    Ok(())
}

#[test]
fn files_of_others_stay_and_flags_are_heeded() -> Result<()> {
    let home = tempfile::tempdir()?;
    let taken = home.path().join("mine");
    std::fs::write(&taken, "apiVersion: v1\n")?;
    let mut command = Command::new(programs::build()?.join("kubectl-reserve"));
    let refused = command.args(["sandbox", "--kubeconfig-out"]).arg(&taken).output()?;
    let talk = String::from_utf8(refused.stderr)?;
    ensure!(refused.status.code() == Some(2) && talk.contains("no sandbox wrote it"), "{talk}");
    ensure!(std::fs::read_to_string(&taken)? == "apiVersion: v1\n", "it was overwritten");

    let arguments = ["--nodes", "1", "--empty", "--kubeconfig-out", "here"];
    let sandbox = Sandbox::start(home, &arguments)?;
    ensure!(
        sandbox.kubeconfig == sandbox.home.path().canonicalize()?.join("here"),
        "{:?}",
        sandbox.kubeconfig
    );
    let nodes = sandbox.says("get nodes -o name", "node/node-1\n")?;
    ensure!(nodes.lines().count() == 1, "{nodes}");
    sandbox.says("get pods -A", "No resources found")?;
    // No scheduler is named, and there is no other one.
    sandbox.says("run web --image=web", "pod/web created")?;
    sandbox.until("get pod web", "Running")?;
    sandbox.stop().map(drop)
}
