//! Tells the story: shows and runs what is typed, waits for what must come of it, and gives the reader time.
//!
//! The cluster's clock stands while the reader reads, and jumps where only the cluster would have to be waited for. So the
//! story is the same each time, to the last digit.

use super::cluster::Cluster;
use super::kubectl::{self, pod_path};
use super::objects;
use super::story::{Fact, Step};
use crate::cli::Invocation;
use crate::commands::{Context, act};
use crate::error::{Exit, Failure};
use crate::objects::get;
use crate::ui::{Tone, Ui, printer};
use common::api::names;
use jiff::Timestamp;
use serde_json::Value;
use std::ffi::OsString;
use std::time::Duration;

/// When the story happens: 17 November 2026, 08:00 UTC.
const START: Timestamp = Timestamp::constant(1_794_902_400, 0);

/// How long the cluster has been full when the story begins, and how long somebody has been waiting then.
const BEFORE: Duration = Duration::from_secs(4 * 60);
const WAITING: Duration = Duration::from_secs(60);

/// How long something may take to come about, by the cluster's clock.
const PATIENCE: Duration = Duration::from_secs(120);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// How long Ctrl-C may have to wait to be heard.
const NAP: Duration = Duration::from_millis(50);

/// Tells a story from its beginning.
pub(super) async fn tell(story: &[Step], ui: Ui, is_paced: bool) -> Result<(), Failure> {
    tokio::time::pause();
    let cluster = Cluster::new(START);
    // Questions and things that move are no part of it.
    let ui = Ui { can_ask: false, has_progress: false, ..ui };
    let context = Context { session: cluster.session.clone(), ui, context: None };
    let mut stage = Stage { context, is_paced, last: None };
    let told = async {
        objects::add_nodes(&cluster, 3).await?;
        objects::fill(&cluster).await?;
        tokio::time::sleep(BEFORE).await;
        objects::crowd(&cluster).await?;
        tokio::time::sleep(WAITING).await;
        for step in story {
            stage.play(*step).await?;
        }
        Ok(())
    };
    cluster.live(told).await
}

struct Stage {
    context: Context,
    is_paced: bool,
    /// What was shown before.
    last: Option<Step>,
}

impl Stage {
    async fn play(&mut self, step: Step) -> Result<(), Failure> {
        self.rest(step.before()).await;
        match step {
            Step::Until(fact) => return self.until(fact).await,
            Step::Part(title) => self.show(step, Tone::Strong, &format!("== {title} =="))?,
            Step::Say(text) => self.show(step, Tone::Told, &format!("# {text}"))?,
            Step::Type(line) | Step::TypeFor(line, _) => {
                self.show(step, Tone::Strong, &format!("$ {line}"))?
            }
        }
        match step {
            Step::Type(line) => self.run(line, None).await?,
            Step::TypeFor(line, exit) => self.run(line, Some(exit)).await?,
            _ => {}
        }
        self.rest(step.after()).await;
        Ok(())
    }

    /// Prints a line, with an empty one before it where something else begins.
    fn show(&mut self, step: Step, tone: Tone, line: &str) -> Result<(), Failure> {
        let is_close = match (self.last, step) {
            (None, _) => true,
            (Some(last), Step::Say(_)) => matches!(last, Step::Say(_) | Step::Part(_)),
            _ => false,
        };
        self.last = Some(step);
        let line = self.context.ui.paint().paint(tone, line);
        printer::out(&format!("{}{line}\n", if is_close { "" } else { "\n" }))
    }

    /// Runs a command. It must end well, or with this exit code and nothing more to say.
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

    /// A command of ours: read and done as if it had been typed.
    async fn reserve(&self, words: &[&str]) -> Result<(), Failure> {
        let words = ["kubectl-reserve"].iter().chain(words).map(OsString::from).collect();
        let cli = Invocation::new(words).parse().map_err(|error| Failure::usage(error.to_string()))?;
        let command = cli.command.ok_or_else(|| Failure::usage("no verb"))?;
        let ui = Ui { is_agreed: cli.talk.yes, ..self.context.ui.clone() };
        let context = Context { session: self.context.session.clone(), ui, context: None };
        Box::pin(act(command, &context, None)).await
    }

    /// Waits until it is so, by the cluster's clock.
    async fn until(&self, fact: Fact) -> Result<(), Failure> {
        let looked = async {
            while !self.is_so(fact).await? {
                tokio::time::sleep(LOOK).await;
            }
            Ok(())
        };
        let never = |_| {
            Failure::new(format!(
                "the demo went wrong: in two minutes it did not come about that {}",
                fact.words()
            ))
        };
        tokio::time::timeout(PATIENCE, looked).await.map_err(never)?
    }

    async fn is_so(&self, fact: Fact) -> Result<bool, Failure> {
        let (Fact::Runs(pod, _) | Fact::Waits(pod)) = fact else { return self.is_node_so(fact).await };
        let session = &self.context.session;
        let pod = match get(session, &pod_path(pod)).await {
            // Between two pods of one name there is none.
            Err(error) if error.code() == Some(404) => return Ok(false),
            other => other.map_err(|error| error.into_failure("look at the pod", ""))?,
        };
        let is_deleting = !pod["metadata"]["deletionTimestamp"].is_null();
        let says = |field: &str| pod.pointer(field).and_then(Value::as_str).unwrap_or_default();
        Ok(!is_deleting
            && match fact {
                Fact::Runs(_, node) => says("/status/phase") == "Running" && says("/spec/nodeName") == node,
                _ => {
                    says("/spec/nodeName").is_empty()
                        && says("/status/conditions/0/reason") == "Unschedulable"
                }
            })
    }

    async fn is_node_so(&self, fact: Fact) -> Result<bool, Failure> {
        let (Fact::Reserved(node) | Fact::Free(node) | Fact::Runs(node, _) | Fact::Waits(node)) = fact;
        let node = get(&self.context.session, &format!("/api/v1/nodes/{node}")).await;
        let node = node.map_err(|error| error.into_failure("look at the node", ""))?;
        let annotations = node["metadata"]["annotations"].as_object();
        let is_reserved = annotations.is_some_and(|all| all.keys().any(|key| key.starts_with(names::INFO)));
        Ok(is_reserved == matches!(fact, Fact::Reserved(_)))
    }

    /// Gives the reader time. The cluster's clock stands meanwhile: it only moves when nothing else is under way.
    async fn rest(&self, time: Duration) {
        if !self.is_paced {
            return;
        }
        for _ in 0..time.as_millis() / NAP.as_millis() {
            let _ = tokio::task::spawn_blocking(|| std::thread::sleep(NAP)).await;
        }
    }
}
