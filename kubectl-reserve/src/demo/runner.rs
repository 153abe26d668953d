//! Runs the demo's script: prints comments, runs commands, waits for conditions, and pauses for the reader. Entry point: [`run`].
//!
//! The cluster's clock stands still during pauses, and jumps where only the cluster would be waited for. So the output is the same
//! each time.

use super::cluster::{Cluster, SEED};
use super::kubectl::{self, pod_path};
use super::objects;
use super::script::{Condition, DemoStep};
use crate::cli::Invocation;
use crate::commands::{Context, run_verb};
use crate::error::{Exit, Failure};
use crate::objects::get;
use crate::ui::{Tone, Ui, printer};
use common::api::names;
use jiff::Timestamp;
use serde_json::Value;
use std::ffi::OsString;
use std::time::Duration;

/// The time of the demo: 17 November 2026, 08:00 UTC.
const START: Timestamp = Timestamp::constant(1_794_902_400, 0);

/// The age of the workloads, and of the Pending pod, when the script starts.
const BEFORE: Duration = Duration::from_secs(4 * 60);
const WAITING: Duration = Duration::from_secs(60);

/// How long a condition may take to hold, by the cluster's clock.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// The interval between two checks of a condition.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The longest uninterrupted sleep, so that Ctrl-C is noticed soon.
const NAP: Duration = Duration::from_millis(50);

/// Runs a script in a new cluster.
pub(super) async fn run(script: &[DemoStep], ui: Ui, is_paced: bool) -> Result<(), Failure> {
    tokio::time::pause();
    let cluster = Cluster::new(START, SEED);
    // The demo has no prompts and no progress.
    let ui = Ui { can_ask: false, has_progress: false, ..ui };
    let context = Context { session: cluster.session.clone(), ui, context: None };
    let mut runner = DemoRunner { context, is_paced, last: None };
    let script_run = async {
        objects::add_nodes(&cluster, 3).await?;
        objects::add_workloads(&cluster).await?;
        tokio::time::sleep(BEFORE).await;
        objects::add_waiting_workload(&cluster).await?;
        tokio::time::sleep(WAITING).await;
        for step in script {
            runner.run_step(*step).await?;
        }
        Ok(())
    };
    cluster.run_while(script_run).await
}

struct DemoRunner {
    context: Context,
    is_paced: bool,
    /// The last step that printed something.
    last: Option<DemoStep>,
}

impl DemoRunner {
    async fn run_step(&mut self, step: DemoStep) -> Result<(), Failure> {
        self.pause(step.before()).await;
        match step {
            DemoStep::WaitUntil(condition) => return self.wait_until(condition).await,
            DemoStep::Heading(title) => self.show(step, Tone::Strong, &format!("== {title} =="))?,
            DemoStep::Comment(text) => self.show(step, Tone::Comment, &format!("# {text}"))?,
            DemoStep::Command(line) | DemoStep::FailingCommand(line, _) => {
                self.show(step, Tone::Strong, &format!("$ {line}"))?
            }
        }
        match step {
            DemoStep::Command(line) => self.run(line, None).await?,
            DemoStep::FailingCommand(line, exit) => self.run(line, Some(exit)).await?,
            _ => {}
        }
        self.pause(step.after()).await;
        Ok(())
    }

    /// Prints a line, with an empty line before it if it does not belong to the line before.
    fn show(&mut self, step: DemoStep, tone: Tone, line: &str) -> Result<(), Failure> {
        let is_close = match (self.last, step) {
            (None, _) => true,
            (Some(last), DemoStep::Comment(_)) => matches!(last, DemoStep::Comment(_) | DemoStep::Heading(_)),
            _ => false,
        };
        self.last = Some(step);
        let line = self.context.ui.paint().paint(tone, line);
        printer::out(&format!("{}{line}\n", if is_close { "" } else { "\n" }))
    }

    /// Runs a command. It must succeed, or end with the exit code `exit` and no message.
    async fn run(&self, line: &str, exit: Option<Exit>) -> Result<(), Failure> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let done = match words.as_slice() {
            ["kubectl", "reserve", words @ ..] => self.reserve(words).await,
            ["kubectl", words @ ..] => kubectl::run(&self.context.session, words).await,
            _ => Err(Failure::new("no command")),
        };
        match (done, exit) {
            (Ok(()), None) => Ok(()),
            (Err(failure), Some(exit)) if failure.exit == exit && failure.message.is_none() => Ok(()),
            (Ok(()), Some(exit)) => Err(Failure::new(format!("`{line}` did not end with {}", exit as u8))),
            (Err(failure), _) => {
                let why = failure.message.unwrap_or_else(|| format!("exit code {}", failure.exit as u8));
                Err(Failure { message: Some(format!("`{line}`: {why}")), ..failure })
            }
        }
    }

    /// Parses and runs a command of ours as if it had been typed.
    async fn reserve(&self, words: &[&str]) -> Result<(), Failure> {
        let words = ["kubectl-reserve"].iter().chain(words).map(OsString::from).collect();
        let cli = Invocation::new(words).parse().map_err(|error| Failure::usage(error.to_string()))?;
        let command = cli.command.ok_or_else(|| Failure::usage("no verb"))?;
        let ui = Ui { is_agreed: cli.terminal.yes, ..self.context.ui.clone() };
        let context = Context { session: self.context.session.clone(), ui, context: None };
        Box::pin(run_verb(command, &context, None)).await
    }

    /// Waits until the condition holds, by the cluster's clock.
    async fn wait_until(&self, condition: Condition) -> Result<(), Failure> {
        let polled = async {
            while !self.holds(condition).await? {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            Ok(())
        };
        let timed_out = |_| {
            Failure::new(format!(
                "the demo went wrong: in two minutes it did not come about that {}",
                condition.words()
            ))
        };
        tokio::time::timeout(WAIT_MAX, polled).await.map_err(timed_out)?
    }

    async fn holds(&self, condition: Condition) -> Result<bool, Failure> {
        let (Condition::PodRuns(pod, _) | Condition::PodWaits(pod)) = condition else {
            return self.holds_on_node(condition).await;
        };
        let session = &self.context.session;
        let pod = match get(session, &pod_path(pod)).await {
            // There is no pod of this name between the old and the new one.
            Err(error) if error.code() == Some(404) => return Ok(false),
            other => other.map_err(|error| error.into_failure("look at the pod", ""))?,
        };
        let is_deleting = !pod["metadata"]["deletionTimestamp"].is_null();
        let says = |field: &str| pod.pointer(field).and_then(Value::as_str).unwrap_or_default();
        Ok(!is_deleting
            && match condition {
                Condition::PodRuns(_, node) => {
                    says("/status/phase") == "Running" && says("/spec/nodeName") == node
                }
                _ => {
                    says("/spec/nodeName").is_empty()
                        && says("/status/conditions/0/reason") == "Unschedulable"
                }
            })
    }

    async fn holds_on_node(&self, condition: Condition) -> Result<bool, Failure> {
        let (Condition::NodeReserved(node)
        | Condition::NodeFree(node)
        | Condition::PodRuns(node, _)
        | Condition::PodWaits(node)) = condition;
        let node = get(&self.context.session, &format!("/api/v1/nodes/{node}")).await;
        let node = node.map_err(|error| error.into_failure("look at the node", ""))?;
        let annotations = node["metadata"]["annotations"].as_object();
        let is_reserved = annotations.is_some_and(|all| all.keys().any(|key| key.starts_with(names::INFO)));
        Ok(is_reserved == matches!(condition, Condition::NodeReserved(_)))
    }

    /// Pauses for the reader. The cluster's clock stands still meanwhile: tokio's paused clock does not advance while a blocking
    /// task runs.
    async fn pause(&self, time: Duration) {
        if !self.is_paced {
            return;
        }
        for _ in 0..time.as_millis() / NAP.as_millis() {
            let _ = tokio::task::spawn_blocking(|| std::thread::sleep(NAP)).await;
        }
    }
}
