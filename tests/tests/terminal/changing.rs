//! The verbs that change something: prompts answered with yes, no, a choice and Ctrl-C; and what is said where nobody can
//! answer.

use crate::alive::{first, settled, shared_cluster, strict_budget};
use crate::command::Person;
use crate::golden::{Times, golden, wide};
use crate::still::{self, node};
use anyhow::{Result, ensure};

const CTRL_C: &str = "\u{3}";
const DOWN: &str = "\u{1b}[B";
const ENTER: &str = "\r";
const ESCAPE: &str = "\u{1b}";

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

#[test]
fn reservations_are_made_extended_and_released() -> Result<()> {
    let shared_cluster = still::shared_cluster()?;
    let mut person = Person::at(&shared_cluster.cluster);
    for line in [
        "add --node node-2 --for deploy/web --cpu 500m --ttl 20m --reason 'just in case'",
        "add --node node-1 --for deploy/web --cpu 9",
        "add --node node-1 --for deploy/nobody --cpu 1",
        "extend 7f3a0c --ttl 30m",
        "extend 7f3a0c --ttl 1s",
        "extend 7f3a0c --ttl soon",
        "release 0ld5ea7 --dry-run",
        "release nope",
        "release node-3/reserve.cpu/oops",
    ] {
        person.types(line)?;
    }
    let asked = "Release 4 reservations in all namespaces?";
    person.types_and("release --node node-1 --expired", |_| Ok(()))?;
    person.types_and("release --all -A", |terminal| terminal.answers(asked, CTRL_C))?;
    person.types_and("release --all -A", |terminal| terminal.answers(asked, ENTER))?;
    person.types_and("release --all -A", |terminal| terminal.answers(asked, "n\r"))?;
    person.types_and("release --all -A", |terminal| terminal.answers(asked, "y\r"))?;
    person.types("release --all -A")?;
    let transcript = person.transcript();
    ensure!(wide(&transcript).is_empty(), "{:#?}", wide(&transcript));
    golden("terminal-by-hand", &transcript, Times::Shown);
    Ok(())
}

#[test]
fn nobody_is_asked_in_a_pipe() -> Result<()> {
    let shared_cluster = still::shared_cluster()?;
    let mut person = Person::at(&shared_cluster.cluster);
    for line in [
        "add --node node-2 --for deploy/web --cpu 500m --ttl 20m",
        "extend 7f3a0c --ttl 30m",
        "release --all",
        "release --all --yes",
        "pod db-0 -n data",
        "pod db-0 -n data --dry-run",
        "drain node-1",
        "drain node-4 --dry-run",
        "install --dry-run -o name",
        "uninstall",
    ] {
        let piped = person.pipes(line)?;
        ensure!(!piped.out.contains('\u{1b}') && !piped.talk.contains('\u{1b}'), "{line}");
    }
    golden("pipe-changing", &person.transcript(), Times::Shown);
    Ok(())
}

#[test]
fn a_pod_is_chosen_and_recreated() -> Result<()> {
    let cluster = shared_cluster()?;
    let mut person = Person::at(&cluster);
    let (which, now) = ("which one?", "Recreate it now?");
    person.types_and("pod web", |terminal| terminal.answers(which, CTRL_C))?;
    person.types_and("pod web", |terminal| terminal.answers(which, ESCAPE))?;
    person.types_and("pod web", |terminal| {
        terminal.answers(which, &format!("{DOWN}{ENTER}"))?;
        terminal.answers(now, CTRL_C)
    })?;
    person.types_and("pod db-0", |terminal| terminal.answers(now, "n\r"))?;
    person.types_and("pod db-0", |terminal| terminal.answers(now, "y\r"))?;
    settled(&cluster)?;
    person.types_and("pod web", |terminal| {
        terminal.answers(which, &format!("{DOWN}{DOWN}{ENTER}"))?;
        terminal.answers(now, "y\r")
    })?;
    settled(&cluster)?;
    person.types("pod db-0 --dry-run=server")?;
    person.types("pod nobody")?;
    cluster.create(BUDGETS, &strict_budget("db", 1))?;
    cluster.wait("the budget is seen", || {
        Ok(cluster.read(&format!("{BUDGETS}/db-budget"))?["status"]["currentHealthy"] == 1)
    })?;
    person.types("pod db-0 --yes")?;
    let transcript = person.transcript();
    ensure!(wide(&transcript).is_empty(), "{:#?}", wide(&transcript));
    golden("terminal-pod", &transcript, Times::Covered);
    Ok(())
}

#[test]
fn a_workload_is_restarted() -> Result<()> {
    let cluster = shared_cluster()?;
    let mut person = Person::at(&cluster);
    let asked = "Recreate";
    person.types_and("restart deploy/web", |terminal| terminal.answers(asked, CTRL_C))?;
    person.types_and("restart deploy/web", |terminal| terminal.answers(asked, "n\r"))?;
    person.types_and("restart deploy/web", |terminal| terminal.answers(asked, "y\r"))?;
    settled(&cluster)?;
    person.types("restart deploy/web --dry-run")?;
    person.types("restart deploy/nobody")?;
    let transcript = person.transcript();
    ensure!(wide(&transcript).is_empty(), "{:#?}", wide(&transcript));
    golden("terminal-restart", &transcript, Times::Covered);
    person.pipes("pod web")?;
    person.pipes("restart deploy/web")?;
    person.pipes("restart sts/db --yes")?;
    settled(&cluster)?;
    person.pipes(&format!("pod {} --yes", first(&cluster)?))?;
    golden("pipe-restart", &person.transcript(), Times::Covered);
    Ok(())
}

#[test]
fn a_node_is_drained() -> Result<()> {
    let cluster = shared_cluster()?;
    let mut person = Person::at(&cluster);
    person.types("drain node-1")?;
    cluster.create("/api/v1/nodes", &node("node-2", "4", "a"))?;
    let asked = "one after the other?";
    person.types_and("drain node-1", |terminal| terminal.answers(asked, CTRL_C))?;
    person.types_and("drain node-1", |terminal| terminal.answers(asked, "n\r"))?;
    person.types_and("drain node-1", |terminal| terminal.answers(asked, "y\r"))?;
    settled(&cluster)?;
    person.types("drain node-1")?;
    let transcript = person.transcript();
    ensure!(wide(&transcript).is_empty(), "{:#?}", wide(&transcript));
    // A replacement elsewhere need not wait until the pod is gone: whether that is told is chance.
    let told: Vec<&str> = transcript.lines().filter(|line| !line.ends_with("  gone")).collect();
    golden("terminal-drain", &told.join("\n"), Times::Covered);
    Ok(())
}

#[test]
fn the_daemon_is_installed_only_when_somebody_says_so() -> Result<()> {
    let shared_cluster = still::shared_cluster()?;
    let mut person = Person::at(&shared_cluster.cluster);
    // The sandbox cannot apply; the rest of `install` is for the real control plane (tests/install_verb).
    person.types("install --dry-run -o name")?;
    person.types("uninstall")?;
    let asked = "Remove all of this?";
    person.types_and("uninstall --force", |terminal| terminal.answers(asked, CTRL_C))?;
    person.types_and("uninstall --force", |terminal| terminal.answers(asked, "n\r"))?;
    person.types("uninstall --force --dry-run")?;
    let transcript = person.transcript();
    ensure!(wide(&transcript).is_empty(), "{:#?}", wide(&transcript));
    golden("terminal-install", &transcript, Times::Shown);
    Ok(())
}
