//! One fix: printed, carried out as it stands, and whether the pod is placed then.

use super::drawn::Drawn;
use super::ground::{Ground, HOSTNAME};
use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Api;
use reserve_tests::control_plane::{User, describe, name_of, node, node_of, unscheduled};
use reserve_tests::shared_cluster::SOON;
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// What came of it.
pub(super) enum Came {
    /// The pod was placed without any help.
    Placed,
    /// There is no fix of that number.
    NoMore,
    /// A fix helped, or there is a story to tell.
    Tried {
        kind: String,
        /// What went wrong.
        story: Option<String>,
        /// Whether it was the last one.
        is_last: bool,
    },
}

/// Carries the fix of that number out.
pub(super) async fn carried(ground: &Ground, drawn: &Drawn, number: usize) -> Result<Came> {
    let Some(pod) = told(ground).await? else { return Ok(Came::Placed) };
    let file = ground.cluster.dir().join(format!("{}.gz", ground.name));
    let file = file.to_str().context("an odd path")?;
    let fixes = if drawn.wants_all { "--fixes=all" } else { "--fixes=5" };
    let asked = ["reserve", "explain", name_of(&pod), "-n", &ground.name, "--exit-code=false", fixes];
    let json =
        ground.cluster.run_kubectl(&[&asked[..], &["-o", "json", "--save-snapshot", file]].concat()).await?;
    // What people would have read.
    let text = async || ground.cluster.run_kubectl(&[&asked[..], &["--snapshot", file]].concat()).await;
    let item = serde_json::from_str::<Value>(&json)?["items"][0].clone();
    if item["verdict"] != "Unschedulable" {
        // Somebody made room meanwhile, and so it must be placed.
        if let Err(error) = bound(ground, &pod).await {
            bail!("it is said to fit, but is not placed: {error:#}\n{}", text().await?);
        }
        return Ok(Came::Placed);
    }
    let all = item["fixes"].as_array().context("no fixes")?;
    if number == 0 {
        let text = text().await?;
        let hidden = all.iter().find(|fix| !is_told(&text, fix));
        ensure!(hidden.is_none(), "{hidden:?} is not in\n{text}");
    }
    let Some(fix) = all.get(number).filter(|_| number < MOST) else { return Ok(Came::NoMore) };
    let kind = fix["kind"].as_str().context("no kind")?.to_owned();
    let before = ground.described().await?;
    let mut said = Vec::new();
    let is_last = number + 1 >= all.len().min(MOST);
    let came = match carry_out(ground, fix, &mut said).await {
        Ok(()) if kind == "Move" => settled(ground).await,
        Ok(()) => bound(ground, &pod).await,
        Err(error) => Err(error),
    };
    let Err(error) = came else { return Ok(Came::Tried { kind, story: None, is_last }) };
    let (fix, said, after) = (serde_json::to_string_pretty(fix)?, said.join("\n"), ground.described().await?);
    let story = format!(
        "--- before\n{before}\n--- explained\n{}\n--- the fix\n{fix}\n--- carried out\n{said}\n\
         --- and then\n{error:#}\n{after}",
        text().await?
    );
    Ok(Came::Tried { kind, story: Some(story), is_last })
}

/// Fixes that are tried of one pod.
const MOST: usize = 8;

/// Waits until the pod was told that there is no place for it; `None` if there is one.
async fn told(ground: &Ground) -> Result<Option<Pod>> {
    let what = format!("the pod of {} is placed, or told why not", ground.name);
    ground
        .cluster
        .wait_until(&what, SOON, async || {
            let pods = ground.waiting_pods().await?;
            let pod = pods.first().context("no pod")?;
            ensure!(!node_of(pod).is_empty() || unscheduled(pod).is_some(), "{}", describe(&pods));
            Ok(Some(pod.clone()).filter(|pod| node_of(pod).is_empty()))
        })
        .await
}

/// Waits until the pod, or what its workload made in its place, has a node.
async fn bound(ground: &Ground, pod: &Pod) -> Result<()> {
    let what = format!("{} or its successor has a node", name_of(pod));
    ground
        .cluster
        .wait_until(&what, SOON, async || {
            let pods = ground.waiting_pods().await?;
            ensure!(pods.iter().any(|pod| !node_of(pod).is_empty()), "{}", describe(&pods));
            Ok(())
        })
        .await
}

/// Waits until everybody has a node: those that were moved, too.
async fn settled(ground: &Ground) -> Result<()> {
    let what = format!("every pod of {} has a node", ground.name);
    ground
        .cluster
        .wait_until(&what, SOON, async || {
            let pods = ground.cluster.pods_in(&ground.name, "").await?;
            ensure!(pods.iter().all(|pod| !node_of(pod).is_empty()), "{}", describe(&pods));
            Ok(())
        })
        .await
}

/// Whether people read the same command.
fn is_told(text: &str, fix: &Value) -> bool {
    let squeeze =
        |text: &str| text.chars().filter(|one| !one.is_whitespace() && *one != '\\').collect::<String>();
    let text = squeeze(text);
    commands(fix).iter().all(|command| text.contains(&squeeze(command)))
}

/// The commands of a fix, as one would type them.
fn commands(fix: &Value) -> Vec<String> {
    let line = |words: &Value| {
        let words = words.as_array().into_iter().flatten().filter_map(Value::as_str);
        words.map(quoted).collect::<Vec<_>>().join(" ")
    };
    fix["commands"].as_array().into_iter().flatten().map(line).collect()
}

fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_=./:,@%+".contains(one);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{word}'") }
}

async fn carry_out(ground: &Ground, fix: &Value, said: &mut Vec<String>) -> Result<()> {
    if fix["kind"] == "AddNode" {
        return add_node(ground, fix["description"].as_str().unwrap_or_default()).await;
    }
    let commands = commands(fix);
    ensure!(!commands.is_empty(), "there is no command");
    for line in commands {
        let (is_done, text) = type_in(ground, &line).await?;
        said.push(format!("$ {line}\n{text}"));
        ensure!(is_done, "the command failed");
    }
    Ok(())
}

/// Types a line into a terminal, and answers yes to whatever is asked.
async fn type_in(ground: &Ground, line: &str) -> Result<(bool, String)> {
    let kubectl = ground.cluster.kubectl(User::Admin)?;
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--flush", "--command", line, "/dev/null"]);
    for (name, value) in kubectl.get_envs() {
        match value {
            Some(value) => terminal.env(name, value),
            None => terminal.env_remove(name),
        };
    }
    terminal
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .current_dir(ground.cluster.dir());
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = tokio::task::spawn_blocking(move || -> Result<(bool, String)> {
        let mut child = terminal.spawn().context("start a terminal (script, of util-linux)")?;
        let mut keyboard = child.stdin.take().context("no keyboard")?;
        keyboard.write_all(b"y\n")?;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut child.stdout.take().context("no screen")?, &mut text)?;
        drop(keyboard);
        Ok((child.wait()?.success(), text))
    });
    ran.await?
}

/// Adds the node that the words ask for: `add a node like X with cpu >= 4, memory >= 8Gi allocatable (…)`.
async fn add_node(ground: &Ground, words: &str) -> Result<()> {
    let rest = words.strip_prefix("add a node like ").context("what node?")?;
    let (like, rest) = rest.split_once(" with ").context("no amounts")?;
    let (amounts, _) = rest.split_once(" allocatable").context("no end of the amounts")?;
    let nodes: Api<Node> = Api::all(ground.cluster.admin());
    let model = nodes.get(like).await?;
    let name = format!("{}-new", ground.name);
    let mut shape = node(&name);
    for (key, value) in model.metadata.labels.iter().flatten().filter(|(key, _)| *key != HOSTNAME) {
        shape = shape.label(key, value);
    }
    let taints = model.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    for taint in taints.filter(|taint| !taint.key.starts_with("node.kubernetes.io/")) {
        shape = shape.taint(&taint.key, taint.value.as_deref().unwrap_or_default(), &taint.effect);
    }
    for amount in amounts.split(", ") {
        let Some((resource, quantity)) = amount.split_once(" >= ") else { bail!("{amount:?} is no amount") };
        shape = shape.resource(resource, quantity);
    }
    ground.cluster.add_node(shape).await.map(drop)
}
