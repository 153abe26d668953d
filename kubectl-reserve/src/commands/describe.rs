//! `kubectl reserve describe`: everything about a reservation, or about all of a node or a pod.

use super::Context;
use super::change::which;
use crate::api::{self, JSON};
use crate::cli::Describe;
use crate::connect::{Session, is_name};
use crate::error::{Exit, Failure};
use crate::happened::{About, happened};
use crate::print::print;
use crate::render::describe::{self, Described, Happened};
use crate::render::list::Rows;
use crate::render::wrap::fold;
use crate::replicas;
use crate::reservations::{self, Asked, Pods, Row, View, Which, find, parse, rows, waiting};
use crate::ui::printer;
use common::api::names;
use common::cluster::Snapshot;
use common::model::{PodKey, Uid};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a word names.
enum Named {
    Node(String),
    Pod(PodKey),
    One(Asked),
}

pub(crate) async fn run(args: &Describe, context: &Context) -> Result<(), Failure> {
    let namespace = &context.session.namespace;
    let named: Vec<Named> = args.names.iter().map(|word| named(word, namespace)).collect::<Result<_, _>>()?;
    if !args.print.output.is_table() {
        return data(&named, args, context).await;
    }
    let mut texts = Vec::new();
    for one in &named {
        texts.extend(match one {
            Named::Node(name) => vec![node(name, args, context).await?],
            Named::Pod(key) => pod(key, args, context).await?,
            Named::One(asked) => vec![self::one(asked, args, context).await?],
        });
    }
    let text = texts.join("\n\n");
    printer::out(&context.ui.width().map_or_else(|| text.clone(), |width| fold(&text, width)))
}

fn named(word: &str, namespace: &str) -> Result<Named, Failure> {
    let checked = |name: &str, what: &str| match is_name(name) {
        true => Ok(name.to_owned()),
        false => Err(Failure::usage(format!("{name:?} is not the name of a {what}"))),
    };
    match word.split_once('/') {
        Some(("node" | "nodes" | "no", name)) => checked(name, "node").map(Named::Node),
        Some(("pod" | "pods" | "po", name)) => {
            checked(name, "pod").map(|name| Named::Pod(PodKey::new(namespace, &*name)))
        }
        _ => parse(word).map(Named::One),
    }
}

/// The same reservations as `list` prints them for programs, each once.
async fn data(named: &[Named], args: &Describe, context: &Context) -> Result<(), Failure> {
    let session = &context.session;
    let has_pod = named.iter().any(|one| matches!(one, Named::Pod(_)));
    let wish = if has_pod { Pods::AndWaiting } else { Pods::IfAllowed };
    let mut view = reservations::read(session, &Which::Reserved, wish).await?;
    let now = view.now;
    let snapshot = view.snapshot();
    let all = rows(&snapshot);
    let mut chosen: Vec<Row<'_>> = Vec::new();
    for one in named {
        let found: Vec<&Row<'_>> = match one {
            Named::One(asked) => vec![find(&all, asked, Some(&session.namespace))?],
            Named::Node(name) => all.iter().filter(|row| row.node() == name).collect(),
            Named::Pod(key) => all.iter().filter(|row| concerns(row, key, &snapshot)).collect(),
        };
        if let (Named::Node(name), []) = (one, &found[..]) {
            // Nothing is reserved there; or it is not there.
            reservations::read(session, &Which::Named(vec![name.clone()]), Pods::IfAllowed).await?;
        }
        let is_new = |row: &&Row<'_>| !chosen.iter().any(|known| known.id() == row.id());
        let new: Vec<Row<'_>> = found.into_iter().filter(is_new).cloned().collect();
        chosen.extend(new);
    }
    print(&args.print, &Rows { rows: chosen, all_namespaces: true, now, width: None })
}

/// A reservation by its name. Where it is is found first, and then only that node is looked at.
async fn one(asked: &Asked, args: &Describe, context: &Context) -> Result<String, Failure> {
    let session = &context.session;
    let mut view = reservations::read(session, &which(std::slice::from_ref(asked)), Pods::IfAllowed).await?;
    let snapshot = view.snapshot();
    let rows = rows(&snapshot);
    let row = find(&rows, asked, Some(&session.namespace))?;
    let (node, name) = (row.node().to_owned(), row.name());
    let text = in_full(&node, &name, args, context).await?;
    text.ok_or_else(|| Failure::new(format!("reservation {name} was released just now")))
}

/// Everything that has to do with a pod.
async fn pod(key: &PodKey, args: &Describe, context: &Context) -> Result<Vec<String>, Failure> {
    let session = &context.session;
    let mut view = reservations::read(session, &Which::Reserved, Pods::AndWaiting).await?;
    let snapshot = view.snapshot();
    let found: Vec<(String, String)> = rows(&snapshot)
        .iter()
        .filter(|row| concerns(row, key, &snapshot))
        .map(|row| (row.node().to_owned(), row.name()))
        .collect();
    let mut texts = Vec::new();
    for (node, name) in &found {
        texts.extend(in_full(node, name, args, context).await?);
    }
    if texts.is_empty() {
        printer::say(&format!("No reservations found for pod {key}."));
    }
    Ok(texts)
}

/// Whether the reservation is that pod's, or could become it.
fn concerns(row: &Row<'_>, key: &PodKey, snapshot: &Snapshot<'_>) -> bool {
    is_about(row, key, snapshot.pod(key).map(|pod| &pod.uid)) || may_use(row, key, snapshot)
}

fn is_about(row: &Row<'_>, key: &PodKey, uid: Option<&Uid>) -> bool {
    let Some(entry) = row.entry().filter(|_| row.is_in(&key.namespace)) else { return false };
    let replaced = entry.reservation.replaces();
    replaced.is_some_and(|pod| pod.name == key.name || Some(&pod.uid) == uid)
        || entry.taken_by.as_ref().is_some_and(|pod| pod.key == *key)
}

fn may_use(row: &Row<'_>, key: &PodKey, snapshot: &Snapshot<'_>) -> bool {
    let (Some(entry), Some(pod)) = (row.entry(), snapshot.pod(key)) else { return false };
    snapshot.pod_context(pod).may_use(&entry.reservation)
}

/// A node with all of its reservations.
async fn node(name: &str, args: &Describe, context: &Context) -> Result<String, Failure> {
    let session = &context.session;
    let which = Which::Named(vec![name.to_owned()]);
    let mut view = reservations::read(session, &which, Pods::OnNodes).await?;
    let now = view.now;
    let snapshot = view.snapshot();
    let Some(ledger) = snapshot.nodes().next() else { return Err(Failure::new("the node is gone")) };
    let events = events(session, args, &[About::Node(name.to_owned())], None).await?;
    Ok(describe::node(ledger, &rows(&snapshot), events.as_deref(), now, context.ui.width()))
}

/// One reservation on a node, in full; none if it is there no more.
async fn in_full(
    node: &str,
    name: &str,
    args: &Describe,
    context: &Context,
) -> Result<Option<String>, Failure> {
    let session = &context.session;
    let mut view = read_node(node, session).await?;
    let annotations = annotations(session, node).await?;
    let keys = std::mem::take(&mut view.waiting);
    let (now, has_pods) = (view.now, view.has_pods);
    let snapshot = view.snapshot();
    let rows = rows(&snapshot);
    let Some(row) = rows.iter().find(|row| row.name() == name) else { return Ok(None) };
    let id = row.key_name();
    let is_its = |key: &str| {
        key.starts_with(names::NODE_PREFIX) && key.split_once('/').map(|(_, name)| name) == id.as_deref()
    };
    let known = Described {
        row,
        now,
        has_pods,
        waiting: waiting(row, &snapshot, &keys),
        annotations: annotations.into_iter().filter(|(key, _)| is_its(key)).collect(),
        events: events(session, args, &about(row), id.as_deref()).await?,
        enforced_by: enforced_by(session).await,
    };
    Ok(Some(describe::reservation(&known)))
}

/// The node with its pods and those that wait; without them where the caller may not read them.
async fn read_node(node: &str, session: &Session) -> Result<View, Failure> {
    let which = Which::Named(vec![node.to_owned()]);
    match reservations::read(session, &which, Pods::AndWaiting).await {
        Err(failure) if failure.exit == Exit::Forbidden => {
            reservations::read(session, &which, Pods::IfAllowed).await
        }
        read => read,
    }
}

/// Who enforces reservations; none if the Leases cannot be read.
async fn enforced_by(session: &Session) -> Option<String> {
    let replicas = replicas::read(session).await.ok().filter(|replicas| !replicas.is_hidden)?;
    let words = replicas.words();
    Some(if words.is_empty() { "nobody: no daemon is at work".into() } else { words })
}

#[derive(Deserialize)]
struct NodeWire {
    metadata: MetaWire,
}

#[derive(Deserialize)]
struct MetaWire {
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// The node's annotations as they are.
async fn annotations(session: &Session, node: &str) -> Result<BTreeMap<String, String>, Failure> {
    let answer = api::get(session, &format!("/api/v1/nodes/{node}"), JSON).await;
    let answer = answer.map_err(|error| error.into_failure("read the node", "get nodes (cluster scope)"))?;
    let node: NodeWire = serde_json::from_str(&answer.text).map_err(Failure::new)?;
    Ok(node.metadata.annotations)
}

/// Whom events about a reservation are about: its node, its owner, the pod before and the pod after.
fn about(row: &Row<'_>) -> Vec<About> {
    let mut about = vec![About::Node(row.node().to_owned())];
    let (Some(entry), Some(owner)) = (row.entry(), row.owner()) else { return about };
    let pods = [
        entry.reservation.replaces().map(|pod| &pod.uid),
        entry.taken_by.as_ref().map(|pod| &pod.uid),
        Some(&owner.uid),
    ];
    let object = |uid: &Uid| About::Object(owner.namespace.to_string(), uid.to_string());
    about.extend(pods.into_iter().flatten().map(object));
    about
}

/// What happened, unless nobody wants to know; none if the caller may not read it.
async fn events(
    session: &Session,
    args: &Describe,
    about: &[About],
    id: Option<&str>,
) -> Result<Option<Vec<Happened>>, Failure> {
    if args.no_events {
        return Ok(Some(Vec::new()));
    }
    match happened(session, about, id).await {
        Ok(events) => Ok(Some(events)),
        Err(error) if error.code() == Some(403) => Ok(None),
        Err(error) => Err(error.into_failure("list events", "list events (all namespaces)")),
    }
}
