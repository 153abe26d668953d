//! Pending pods by cause, as lines for people ([`table`]) and as a document ([`report`]).

use super::explain::shell;
use super::json::{ItemMetadata, Items};
use super::plural;
use super::wrap::wrap;
use crate::pending::{BlockedWorkload, CauseGroup, Causes};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;

/// The maximum width of the column of labels; longer labels push the next column to the right.
const LABEL_MAX: usize = 32;

/// A cause, which is printed on two lines.
struct Line {
    count: String,
    label: String,
    pods_and_owner: String,
    detail: String,
}

/// The headline, and a line for each cause, for a picture.
pub(crate) fn lines(causes: &Causes, namespace: Option<&str>) -> Vec<String> {
    let lines = causes.groups.iter().map(pending).chain(causes.blocked_workloads.iter().map(not_created));
    let text = |line: Line| {
        format!("{} {}: {}. {}", line.count.trim_end(), line.label, line.pods_and_owner, line.detail)
    };
    std::iter::once(headline(causes, namespace).trim_end().to_owned()).chain(lines.map(text)).collect()
}

/// The lines, wrapped at `width`: a headline, then two for each cause, then the command that shows more.
///
/// `flags` say where the pods were looked for, and are repeated in that command.
pub(crate) fn table(causes: &Causes, namespace: Option<&str>, flags: &[String], width: usize) -> String {
    let lines: Vec<Line> =
        causes.groups.iter().map(pending).chain(causes.blocked_workloads.iter().map(not_created)).collect();
    let widest = |of: fn(&Line) -> &str| lines.iter().map(|line| of(line).chars().count()).max().unwrap_or(0);
    let (counts, labels) = (widest(|line| &line.count), widest(|line| &line.label).min(LABEL_MAX));
    let mut text = headline(causes, namespace);
    for Line { count, label, pods_and_owner, detail } in &lines {
        text += &format!("  {count:>counts$}  {label:labels$}  {pods_and_owner}\n");
        if !detail.is_empty() {
            text += &wrap(&" ".repeat(counts + 4), detail, counts + 4, width);
        }
    }
    text + &details(causes, flags)
}

fn pending(one: &CauseGroup) -> Line {
    let count = pods(one.pods.len());
    Line { count, label: one.label.clone(), pods_and_owner: pods_and_owner(one), detail: one.detail.clone() }
}

fn not_created(one: &BlockedWorkload) -> Line {
    let count =
        one.missing.map_or_else(|| "pods".into(), |count| pods(count.try_into().unwrap_or(usize::MAX)));
    let pods_and_owner = format!("{}/{} ({})", one.namespace, one.name, one.kind);
    Line { count, label: format!("not created: {}", one.by), pods_and_owner, detail: one.sentence() }
}

/// A number of pods, padded so that the words are aligned.
fn pods(count: usize) -> String {
    if count == 1 { "1 pod ".into() } else { format!("{count} pods") }
}

fn headline(causes: &Causes, namespace: Option<&str>) -> String {
    let spaces: BTreeSet<&str> = causes.groups.iter().map(|one| &*one.namespace).collect();
    let place = match namespace {
        Some(namespace) => format!("in {namespace} namespace"),
        None => format!("in {}", plural(spaces.len(), "namespace")),
    };
    let mut parts = Vec::new();
    if !causes.groups.is_empty() {
        parts.push(format!(
            "{} Pending {place}, {}",
            plural(causes.pods(), "pod"),
            plural(causes.count(), "cause")
        ));
    }
    if !causes.blocked_workloads.is_empty() {
        parts.push(format!("{} cannot create pods", plural(causes.blocked_workloads.len(), "workload")));
    }
    parts.join("; ") + "\n"
}

fn pods_and_owner(one: &CauseGroup) -> String {
    let pods = format!("{}/{}", one.namespace, one.names());
    match one.owner_text() {
        Some(owner) => format!("{pods} ({owner})"),
        None => pods,
    }
}

/// The command that shows more about the largest blocked cause.
fn details(causes: &Causes, flags: &[String]) -> String {
    let first = causes.groups.iter().find(|one| one.is_blocked).map(|one| (one.subject(), &one.namespace));
    let blocked_workloads = causes.blocked_workloads.first().map(|one| (subject(one), &one.namespace));
    match first.or(blocked_workloads) {
        Some((subject, namespace)) => {
            let words = ["kubectl", "reserve", "explain", &subject, "-n", namespace].map(str::to_owned);
            format!("Details: {}\n", shell(&[&words[..], flags].concat()))
        }
        None => String::new(),
    }
}

fn subject(one: &BlockedWorkload) -> String {
    let (kind, name) = match &one.top {
        Some((kind, name)) => (*kind, name),
        None => (one.kind, &one.name),
    };
    format!("{}/{name}", kind.as_str().to_ascii_lowercase())
}

/// An item of the document: a cause, and the Pending pods that have it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    metadata: ItemMetadata,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<Owner>,
    code: String,
    cause: String,
    detail: String,
    blocked: bool,
    pods: Vec<String>,
    /// How many pods were not created, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_created: Option<u32>,
}

#[derive(Serialize)]
struct Owner {
    kind: String,
    name: String,
}

/// The document about Pending pods.
pub(crate) fn report(causes: &Causes, now: Timestamp) -> Items<Item> {
    let groups = causes.groups.iter().map(|one| Item {
        metadata: ItemMetadata { name: name(one), namespace: one.namespace.clone() },
        owner: one.owner.as_ref().map(|(kind, name)| Owner { kind: kind.clone(), name: name.to_string() }),
        code: one.code.clone(),
        cause: one.label.clone(),
        detail: one.detail.clone(),
        blocked: one.is_blocked,
        pods: one.pods.clone(),
        not_created: None,
    });
    let blocked_workloads = causes.blocked_workloads.iter().map(|one| Item {
        metadata: ItemMetadata { name: one.name.clone(), namespace: one.namespace.clone() },
        owner: Some(Owner { kind: one.kind.to_string(), name: one.name.clone() }),
        code: "FailedCreate".into(),
        cause: one.by.into(),
        detail: one.message.clone(),
        blocked: true,
        pods: Vec::new(),
        not_created: one.missing,
    });
    Items::report("PendingReport", now, groups.chain(blocked_workloads).collect())
}

/// The owner's name, or the pod's.
fn name(one: &CauseGroup) -> String {
    one.owner.as_ref().map_or_else(|| one.pods.concat(), |(_, name)| name.to_string())
}
