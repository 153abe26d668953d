//! Everything that waits, by cause: as lines for people, and as a document.

use super::json::{API_VERSION, Generated, Named};
use super::plural;
use super::wrap::{WIDTH, wrap};
use crate::pending::{Causes, Folded, Unmade};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;

/// Longer labels push what follows to the right.
const LABEL_MAX: usize = 32;

/// One cause on two lines.
struct Line {
    count: String,
    label: String,
    whose: String,
    detail: String,
}

/// The lines: a headline, then two for each cause, and whom to ask for more.
pub(crate) fn table(causes: &Causes, namespace: Option<&str>) -> String {
    let lines: Vec<Line> =
        causes.folded.iter().map(waiting).chain(causes.unmade.iter().map(not_made)).collect();
    let widest = |of: fn(&Line) -> &str| lines.iter().map(|line| of(line).chars().count()).max().unwrap_or(0);
    let (counts, labels) = (widest(|line| &line.count), widest(|line| &line.label).min(LABEL_MAX));
    let mut text = headline(causes, namespace);
    for Line { count, label, whose, detail } in &lines {
        text += &format!("  {count:>counts$}  {label:labels$}  {whose}\n");
        if !detail.is_empty() {
            text += &wrap(&" ".repeat(counts + 4), detail, counts + 4, WIDTH);
        }
    }
    text + &details(causes)
}

fn waiting(one: &Folded) -> Line {
    let count = pods(one.pods.len());
    Line { count, label: one.label.clone(), whose: whose(one), detail: one.detail.clone() }
}

fn not_made(one: &Unmade) -> Line {
    let count =
        one.missing.map_or_else(|| "pods".into(), |count| pods(count.try_into().unwrap_or(usize::MAX)));
    let whose = format!("{}/{} ({})", one.namespace, one.name, one.kind);
    Line { count, label: format!("not created: {}", one.by), whose, detail: one.sentence() }
}

/// So many, with the word at its place.
fn pods(count: usize) -> String {
    if count == 1 { "1 pod ".into() } else { format!("{count} pods") }
}

fn headline(causes: &Causes, namespace: Option<&str>) -> String {
    let spaces: BTreeSet<&str> = causes.folded.iter().map(|one| &*one.namespace).collect();
    let place = match namespace {
        Some(namespace) => format!("in {namespace} namespace"),
        None => format!("in {}", plural(spaces.len(), "namespace")),
    };
    let mut parts = Vec::new();
    if !causes.folded.is_empty() {
        parts.push(format!(
            "{} Pending {place}, {}",
            plural(causes.pods(), "pod"),
            plural(causes.folded.len(), "cause")
        ));
    }
    if !causes.unmade.is_empty() {
        parts.push(format!("{} cannot create pods", plural(causes.unmade.len(), "workload")));
    }
    parts.join("; ") + "\n"
}

fn whose(one: &Folded) -> String {
    let pods = format!("{}/{}", one.namespace, one.names());
    match one.whose() {
        Some(owner) => format!("{pods} ({owner})"),
        None => pods,
    }
}

/// Whom to ask for more: the largest cause.
fn details(causes: &Causes) -> String {
    let first = causes.folded.iter().find(|one| one.is_blocked).map(|one| (one.subject(), &one.namespace));
    let unmade = causes.unmade.first().map(|one| (subject(one), &one.namespace));
    match first.or(unmade) {
        Some((subject, namespace)) => format!("Details: kubectl reserve explain {subject} -n {namespace}\n"),
        None => String::new(),
    }
}

fn subject(one: &Unmade) -> String {
    let (kind, name) = match &one.top {
        Some((kind, name)) => (*kind, name),
        None => (one.kind, &one.name),
    };
    format!("{}/{name}", kind.as_str().to_ascii_lowercase())
}

/// Everything that waits.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PendingReport {
    api_version: &'static str,
    kind: &'static str,
    metadata: Generated,
    items: Vec<Item>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    metadata: Named,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<Owner>,
    code: String,
    cause: String,
    detail: String,
    blocked: bool,
    pods: Vec<String>,
    /// Pods that were never made, if that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_created: Option<u32>,
}

#[derive(Serialize)]
struct Owner {
    kind: String,
    name: String,
}

/// The document.
pub(crate) fn report(causes: &Causes, now: Timestamp) -> PendingReport {
    let folded = causes.folded.iter().map(|one| Item {
        metadata: Named { name: name(one), namespace: one.namespace.clone() },
        owner: one.owner.as_ref().map(|(kind, name)| Owner { kind: kind.clone(), name: name.to_string() }),
        code: one.code.clone(),
        cause: one.label.clone(),
        detail: one.detail.clone(),
        blocked: one.is_blocked,
        pods: one.pods.clone(),
        not_created: None,
    });
    let unmade = causes.unmade.iter().map(|one| Item {
        metadata: Named { name: one.name.clone(), namespace: one.namespace.clone() },
        owner: Some(Owner { kind: one.kind.to_string(), name: one.name.clone() }),
        code: "FailedCreate".into(),
        cause: one.by.into(),
        detail: one.message.clone(),
        blocked: true,
        pods: Vec::new(),
        not_created: one.missing,
    });
    PendingReport {
        api_version: API_VERSION,
        kind: "PendingReport",
        metadata: Generated::at(now),
        items: folded.chain(unmade).collect(),
    }
}

/// The owner's name, or the pod's.
fn name(one: &Folded) -> String {
    one.owner.as_ref().map_or_else(|| one.pods.concat(), |(_, name)| name.to_string())
}
