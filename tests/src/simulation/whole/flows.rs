//! The flows that users start, each in a full cluster where another pod waits for room. [`Flow::run`] runs one.

use super::connection::{Process, STALE};
use super::scenario::{WorkloadSpec, node};
use super::sim::Sim;
use crate::history::Counts;
use http::Method;
use kubectl_reserve::HostProgram;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// How long a cluster may take to settle.
const REST: Duration = Duration::from_secs(120);
/// How often a command that died or failed is run again, as users do.
const TRIES: usize = 3;
/// The longest life of a reservation in a flow, and the time that it may stay after its end.
pub(super) const LIFE: Duration = Duration::from_secs(60 + 90 + 40);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// `kubectl reserve pod`.
    Pod,
    /// `kubectl reserve restart`.
    Restart,
    /// `kubectl reserve drain`.
    Drain,
    /// `kubectl reserve add`, then the pod is deleted.
    Add,
    /// `kubectl reserve add`, then `release`.
    Release,
    /// A pod with `reserve/keep` is deleted.
    Keep,
}

/// All flows by name.
pub(super) const FLOWS: [(&str, Flow); 6] = [
    ("pod", Flow::Pod),
    ("restart", Flow::Restart),
    ("drain", Flow::Drain),
    ("add", Flow::Add),
    ("release", Flow::Release),
    ("keep", Flow::Keep),
];

impl Flow {
    /// Makes a full cluster, runs the flow, and waits until no reservation may be left. `must_succeed`: without faults every
    /// command has to succeed.
    pub(super) async fn run(self, sim: &Sim, must_succeed: bool) {
        let web = self.settle(sim).await;
        let Some((name, _)) = sim.pods_of("web").into_iter().next() else {
            return sim.record.fail("nothing runs".to_owned());
        };
        let line = match self {
            Self::Pod => format!("pod {name} --ttl=60s --timeout=3m"),
            Self::Restart => "restart deployment/web --ttl=60s --timeout=3m --all".to_owned(),
            Self::Drain => "drain n1 --ttl=60s --timeout=3m".to_owned(),
            Self::Add | Self::Release => format!("add --pod {name} --ttl=60s"),
            Self::Keep => String::new(),
        };
        let mut result = CommandResult { is_done: true, output: String::new() };
        if !line.is_empty() {
            result = run_command(sim, &line).await;
        }
        if self == Self::Release {
            result.is_done &=
                run_command(sim, &format!("release --pod {name} --ignore-not-found")).await.is_done;
        }
        // The command has warned that the reservation may not be enforced yet; so wait before the deletion.
        if result.output.contains("it may not be enforced yet") {
            sleep(STALE).await;
        }
        if matches!(self, Self::Add | Self::Keep) {
            delete(sim, &name);
        }
        if must_succeed && !result.is_done {
            sim.record.fail(format!("I19: {line} did not succeed"));
        }
        sleep(LIFE).await;
        self.check(sim, &web);
    }

    /// Makes a cluster without free room, in which two more pods wait.
    pub(super) async fn settle(self, sim: &Sim) -> WorkloadSpec {
        let mut web = WorkloadSpec::new("web", 2);
        web.keep = (self == Self::Keep).then_some("60s");
        let mut objects =
            vec![node("n1", 2), node("n2", 2), web.object(), WorkloadSpec::new("db", 2).object()];
        if self == Self::Drain {
            objects.push(node("n3", 2));
        }
        objects.iter().for_each(|object| drop(sim.make(object)));
        let is_settled = || sim.is_running("web", 2) && sim.is_running("db", 2);
        if !sim.wait("the scenario has come to rest", REST, is_settled).await {
            sim.record.fail("the scenario did not come to rest".to_owned());
        }
        if self != Self::Drain {
            sim.make(&WorkloadSpec::new("rival", 2).object());
            sleep(Duration::from_secs(5)).await;
        }
        web
    }

    /// Checks what must be true at the end.
    pub(super) fn check(self, sim: &Sim, web: &WorkloadSpec) {
        sim.record.count("I7", Counts::check);
        if self != Self::Release {
            sim.record.count("I16", Counts::check);
        }
        if !sim.is_running("web", web.replicas) && self != Self::Release {
            sim.record.fail(format!("I16: {:?} do not run", names(sim, "web")));
        }
        if sim.reservations() > 0 {
            sim.record.fail("I7: reservations are left".to_owned());
        }
    }
}

/// The result of a command.
pub(super) struct CommandResult {
    pub(super) is_done: bool,
    /// The output of its last run.
    output: String,
}

/// Runs a command, and again if it fails.
pub(super) async fn run_command(sim: &Sim, line: &str) -> CommandResult {
    let words: Vec<&str> = line.split(' ').chain(["--yes"]).collect();
    let mut result = CommandResult { is_done: false, output: String::new() };
    for _ in 0..TRIES {
        let host = HostProgram::default();
        let code = sim.command(&words, &Process::default(), &host).await;
        result = CommandResult { is_done: code == Some(0), output: host.output() };
        if result.is_done {
            break;
        }
        sleep(Duration::from_secs(5)).await;
    }
    result
}

pub(super) fn delete(sim: &Sim, name: &str) {
    sim.admin.ask(Method::DELETE, &format!("/api/v1/namespaces/default/pods/{name}"), &json!({}));
}

fn names(sim: &Sim, app: &str) -> Vec<String> {
    let word = |pod: &Value| format!("{} on {}", pod["status"]["phase"], pod["spec"]["nodeName"]);
    sim.pods_of(app).iter().map(|(name, pod)| format!("{name} {}", word(pod))).collect()
}
