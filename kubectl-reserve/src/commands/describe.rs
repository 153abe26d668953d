//! `kubectl reserve describe`: everything about one reservation, or about all reservations of a node or a pod.

use super::Context;
use super::change::node_selection;
use crate::api::{self, JSON};
use crate::cli::Describe;
use crate::connect::{Session, is_name};
use crate::error::{Exit, Failure};
use crate::events::{self, InvolvedObject};
use crate::print::print;
use crate::reader::readable;
use crate::render::describe::{self, ReservationDescription, ReservationEvent};
use crate::render::list::Rows;
use crate::render::wrap::fold;
use crate::replicas;
use crate::reservations::{
    self, NodeSelection, PodSelection, ReservationArg, ReservationView, Row, find, parse_arg, rows,
    waiting_pods,
};
use crate::ui::printer;
use common::api::names;
use common::cluster::Snapshot;
use common::model::{PodKey, Uid};
use serde::Deserialize;
use std::collections::BTreeMap;

const NODE: [&str; 3] = ["node", "nodes", "no"];
const POD: [&str; 3] = ["pod", "pods", "po"];

/// One argument: a node, a pod, or a reservation.
enum DescribeArg {
    Node(String),
    Pod(PodKey),
    One(ReservationArg),
}

pub(crate) async fn run(args: &Describe, context: &Context) -> Result<(), Failure> {
    let namespace = &context.session.namespace;
    let words = typed(&args.names);
    let named: Vec<DescribeArg> =
        words.iter().map(|word| named(word, namespace)).collect::<Result<_, _>>()?;
    if !args.print.output.is_table() {
        return data(&named, args, context).await;
    }
    let mut texts = Vec::new();
    for one in &named {
        texts.extend(match one {
            DescribeArg::Node(name) => vec![node(name, args, context).await?],
            DescribeArg::Pod(key) => pod(key, args, context).await?,
            DescribeArg::One(asked) => vec![self::one(asked, args, context).await?],
        });
    }
    let text = texts.join("\n\n");
    printer::out(&context.ui.width().map_or_else(|| text.clone(), |width| fold(&text, width)))
}

/// As kubectl: in `pod NAME…` and `node NAME…` the first word is the type of the others.
fn typed(words: &[String]) -> Vec<String> {
    match words {
        [kind, names @ ..] if !names.is_empty() && (NODE.contains(&&**kind) || POD.contains(&&**kind)) => {
            names.iter().map(|name| format!("{kind}/{name}")).collect()
        }
        words => words.to_vec(),
    }
}

fn named(word: &str, namespace: &str) -> Result<DescribeArg, Failure> {
    let checked = |name: &str, what: &str| match is_name(name) {
        true => Ok(name.to_owned()),
        false => Err(Failure::usage(format!("{name:?} is not the name of a {what}"))),
    };
    match word.split_once('/') {
        Some((kind, name)) if NODE.contains(&kind) => checked(name, "node").map(DescribeArg::Node),
        Some((kind, name)) if POD.contains(&kind) => {
            checked(name, "pod").map(|name| DescribeArg::Pod(PodKey::new(namespace, &*name)))
        }
        _ => parse_arg(word).map(DescribeArg::One),
    }
}

/// Prints the reservations in the same machine-readable form as `list`, each once.
async fn data(named: &[DescribeArg], args: &Describe, context: &Context) -> Result<(), Failure> {
    let session = &context.session;
    let has_pod = named.iter().any(|one| matches!(one, DescribeArg::Pod(_)));
    let pod_selection = if has_pod { PodSelection::AndWaiting } else { PodSelection::IfAllowed };
    let mut view = reservations::read(session, &NodeSelection::Reserved, pod_selection).await?;
    let now = view.now;
    let snapshot = view.snapshot();
    let all = rows(&snapshot);
    let mut chosen: Vec<Row<'_>> = Vec::new();
    for one in named {
        let found: Vec<&Row<'_>> = match one {
            DescribeArg::One(asked) => vec![find(&all, asked, Some(&session.namespace))?],
            DescribeArg::Node(name) => all.iter().filter(|row| row.node() == name).collect(),
            DescribeArg::Pod(key) => all.iter().filter(|row| concerns(row, key, &snapshot)).collect(),
        };
        if let (DescribeArg::Node(name), []) = (one, &found[..]) {
            // The node has no reservations, or it does not exist: then this fails.
            reservations::read(session, &NodeSelection::Named(vec![name.clone()]), PodSelection::IfAllowed)
                .await?;
        }
        let is_new = |row: &&Row<'_>| !chosen.iter().any(|known| known.id() == row.id());
        let new: Vec<Row<'_>> = found.into_iter().filter(is_new).cloned().collect();
        chosen.extend(new);
    }
    print(&args.print, &Rows { rows: chosen, all_namespaces: true, now, width: None })
}

/// Describes a reservation by its name. First its node is found, and then only that node is read.
async fn one(asked: &ReservationArg, args: &Describe, context: &Context) -> Result<String, Failure> {
    let session = &context.session;
    let mut view =
        reservations::read(session, &node_selection(std::slice::from_ref(asked)), PodSelection::IfAllowed)
            .await?;
    let snapshot = view.snapshot();
    let rows = rows(&snapshot);
    let row = find(&rows, asked, Some(&session.namespace))?;
    let (node, name) = (row.node().to_owned(), row.name());
    let text = in_full(&node, &name, args, context).await?;
    text.ok_or_else(|| Failure::new(format!("reservation {name} was released just now")))
}

/// Describes all reservations that concern a pod.
async fn pod(key: &PodKey, args: &Describe, context: &Context) -> Result<Vec<String>, Failure> {
    let session = &context.session;
    let mut view = reservations::read(session, &NodeSelection::Reserved, PodSelection::AndWaiting).await?;
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

/// Whether the reservation replaces the pod, or was taken by it, or the pod may use it.
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
    snapshot.context(pod).may_use(&entry.reservation)
}

async fn node(name: &str, args: &Describe, context: &Context) -> Result<String, Failure> {
    let session = &context.session;
    let node_selection = NodeSelection::Named(vec![name.to_owned()]);
    let mut view = reservations::read(session, &node_selection, PodSelection::OnNodes).await?;
    let now = view.now;
    let snapshot = view.snapshot();
    let Some(ledger) = snapshot.nodes().next() else { return Err(Failure::new("the node is gone")) };
    let events = events(session, args, &[InvolvedObject::Node(name.to_owned())], None).await?;
    Ok(describe::node(ledger, &rows(&snapshot), events.as_deref(), now, context.ui.width()))
}

/// Describes one reservation on a node; `None` if it does not exist any more.
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
    let known = ReservationDescription {
        row,
        now,
        has_pods,
        waiting: waiting_pods(row, &snapshot, &keys),
        annotations: annotations.into_iter().filter(|(key, _)| is_its(key)).collect(),
        events: events(session, args, &about(row), id.as_deref()).await?,
        enforced_by: enforced_by(session).await,
    };
    Ok(Some(describe::reservation(&known)))
}

/// Reads the node with its pods and all waiting pods; without pods if the caller may not list them.
async fn read_node(node: &str, session: &Session) -> Result<ReservationView, Failure> {
    let node_selection = NodeSelection::Named(vec![node.to_owned()]);
    match reservations::read(session, &node_selection, PodSelection::AndWaiting).await {
        Err(failure) if failure.exit == Exit::Forbidden => {
            reservations::read(session, &node_selection, PodSelection::IfAllowed).await
        }
        read => read,
    }
}

/// The schedulers that enforce reservations, in words; `None` if the Leases cannot be read.
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

async fn annotations(session: &Session, node: &str) -> Result<BTreeMap<String, String>, Failure> {
    let answer = api::get(session, &format!("/api/v1/nodes/{node}"), JSON).await;
    let answer = answer.map_err(|error| error.into_failure("read the node", "get nodes (cluster scope)"))?;
    let node: NodeWire = serde_json::from_str(&answer.text)
        .map_err(|error| api::broken(error).into_failure("read the node", ""))?;
    Ok(node.metadata.annotations)
}

/// The objects that have events about a reservation: its node, its owner, the replaced pod, and the pod that took it.
fn about(row: &Row<'_>) -> Vec<InvolvedObject> {
    let mut about = vec![InvolvedObject::Node(row.node().to_owned())];
    let (Some(entry), Some(owner)) = (row.entry(), row.owner()) else { return about };
    let pods = [
        entry.reservation.replaces().map(|pod| &pod.uid),
        entry.taken_by.as_ref().map(|pod| &pod.uid),
        Some(&owner.uid),
    ];
    let object = |uid: &Uid| InvolvedObject::Object(owner.namespace.to_string(), uid.to_string());
    about.extend(pods.into_iter().flatten().map(object));
    about
}

/// The events about these objects; empty with `--no-events`, `None` if the caller may not list events.
async fn events(
    session: &Session,
    args: &Describe,
    about: &[InvolvedObject],
    id: Option<&str>,
) -> Result<Option<Vec<ReservationEvent>>, Failure> {
    if args.no_events {
        return Ok(Some(Vec::new()));
    }
    let events = readable(events::read(session, about, id).await);
    events.map_err(|error| error.into_failure("list events", "list events (all namespaces)"))
}
