//! Completion through kubectl, which runs the link that `completion install` made, with names from the cluster.

use super::{SHARED_CLUSTER, Said, kubectl};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{User, deployment};
use reserve_tests::programs;
use reserve_tests::shared_cluster::TestNamespace;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a busy machine may take until it has answered within a second.
const LONG: Duration = Duration::from_secs(120);

/// A folder with the plugin alone, as krew has it.
fn plugin_dir(ns: &TestNamespace) -> Result<PathBuf> {
    let dir = ns.cluster.dir().join(format!("plugin-{}", ns.name));
    fs::create_dir_all(&dir)?;
    std::os::unix::fs::symlink(programs::build()?.join("kubectl-reserve"), dir.join("kubectl-reserve"))?;
    Ok(dir)
}

/// kubectl with that folder before all others.
fn with(ns: &TestNamespace, dir: &Path, words: &[&str]) -> Result<Said> {
    let mut command = ns.cluster.kubectl(User::Admin)?;
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    let path = path.context("no PATH")?.to_owned();
    let dirs = std::iter::once(dir.to_owned()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(dirs)?).args(words);
    Said::new(command.output()?)
}

/// What kubectl offers for these words, without descriptions; its own last lines are on stderr.
fn offered(ns: &TestNamespace, dir: &Path, words: &[&str]) -> Result<Vec<String>> {
    let out = with(ns, dir, &[&["__complete", "reserve"][..], words].concat())?.well()?;
    Ok(out.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect())
}

#[test]
fn kubectl_completes_with_names_of_the_cluster() -> Result<()> {
    SHARED_CLUSTER.run("completing", async |ns| {
        let dir = plugin_dir(&ns)?;
        let installed = with(&ns, &dir, &["reserve", "completion", "install"])?.well()?;
        assert!(installed.contains("kubectl_complete-reserve created"), "{installed}");
        let again = with(&ns, &dir, &["reserve", "completion", "install"])?.well()?;
        assert!(again.contains("is there already"), "{again}");

        let node = ns.node("n1", "4").await?;
        ns.cluster
            .annotate_node(&node, "reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173", Some("1"))
            .await?;
        ns.deploy(deployment("web").replicas(1)).await?;
        let verbs = offered(&ns, &dir, &[""])?;
        ensure!(verbs.contains(&"list".into()) && verbs.contains(&"explain".into()), "{verbs:?}");
        assert_eq!(verbs.last().map(String::as_str), Some(":4"));
        // On a machine that is busy a second may pass without an answer.
        let has = async |words: &[&str], wanted: &str| {
            ns.cluster
                .wait_until("a name is offered", LONG, async || {
                    let offered = offered(&ns, &dir, words)?;
                    ensure!(offered.iter().any(|line| line.starts_with(wanted)), "{words:?}: {offered:?}");
                    Ok(())
                })
                .await
        };
        has(&["list", "-n", ""], ns.name).await?;
        has(&["list", "--namespace", "comp"], ns.name).await?;
        has(&["list", "--context", ""], "test").await?;
        has(&["list", "--cluster", ""], "test").await?;
        has(&["list", "--user", ""], "admin").await?;
        has(&["list", ""], "a8f6f901-47c9-4475-b1f4-cac44597e173").await?;
        has(&["explain", "-n", ns.name, "deploy/"], "deploy/web").await?;
        has(&["explain", "-n", ns.name, "web"], "web-").await?;
        has(&["list", "--no-h"], "--no-headers").await?;
        ns.cluster.annotate_node(&node, "reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173", None).await?;
        Ok(())
    })
}

#[test]
fn without_a_cluster_there_is_an_answer_in_time_and_no_error() -> Result<()> {
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let program = programs::build()?.join("kubectl-reserve");
    let begin = Instant::now();
    let words = ["__complete", "list", "-n", ""];
    let mut command = Command::new(&program);
    command.args(["__complete", "--server", &format!("http://{}", silent.local_addr()?)]).args(&words[1..]);
    let said = Said::new(command.env("KUBECONFIG", "/no/such/file").output()?)?;
    assert_eq!((said.out.as_str(), said.talk.as_str(), said.code), (":4\n", "", Some(0)));
    // A second and the machine's own slowness.
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    let broken = Command::new(program).args(words).env("KUBECONFIG", "Cargo.toml").output()?;
    assert_eq!(String::from_utf8(broken.stdout)?, ":4\n");
    Ok(())
}

#[test]
fn bash_completes_the_program_by_its_own_name() -> Result<()> {
    SHARED_CLUSTER.run("bash", async |ns| {
        let script = kubectl(ns.cluster, &[], &["reserve", "completion", "bash"])?.well()?;
        let dir = plugin_dir(&ns)?;
        let test = format!(
            "{script}\ncompopt() {{ echo \"compopt $*\"; }}\n\
             COMP_WORDS=({0}/kubectl-reserve list --color = al) COMP_CWORD=4; _kubectl_reserve; echo \"${{COMPREPLY[@]}}\"\n\
             COMP_WORDS=({0}/kubectl-reserve lis) COMP_CWORD=1; _kubectl_reserve; echo \"${{COMPREPLY[@]}}\"\n\
             COMP_WORDS=({0}/kubectl-reserve list -o jsonp) COMP_CWORD=3; _kubectl_reserve; echo \"${{COMPREPLY[@]}}\"\n",
            dir.display()
        );
        let said = Said::new(Command::new("bash").arg("-c").arg(test).output()?)?;
        assert_eq!(said.well()?, "always\nlist\ncompopt -o nospace\njsonpath=\n");
        Ok(())
    })
}
