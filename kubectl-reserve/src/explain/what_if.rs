//! `--what-if`: changes as people type them, tried in the belief, and what becomes of the pod.

use super::fix::grow::{self, NEW};
use super::input::Input;
use super::judge::{self, View};
use super::trial::{Edit, Trial, taints_named};
use super::words;
use common::cluster::{Cluster, Snapshot};
use common::model::owner::OwnerKind;
use common::model::quantity::Quantity;
use common::model::taint::{Effect, Taint};
use common::model::{Labels, Node, NodeName, PodKey, ReservationId, ResourceName, Resources};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What is to be changed, as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub enum WhatIf {
    /// `requests.cpu=1500m`.
    Request(ResourceName, i64),
    /// `uncordon=NODE`.
    Uncordon(NodeName),
    /// `toleration=KEY[=VALUE][:EFFECT]`.
    Tolerate {
        /// The key.
        key: String,
        /// The value; `None` for any.
        value: Option<String>,
        /// The effect; `None` for any.
        effect: Option<Effect>,
    },
    /// `untaint=NODE:KEY[=VALUE][:EFFECT]`.
    Untaint(NodeName, String),
    /// `label=NODE:KEY=VALUE`, or `NODE:KEY-`.
    Label(NodeName, String, Option<String>),
    /// `release=NAME` or `NODE/NAME`.
    Release(String),
    /// `scale=TYPE/NAME=REPLICAS`.
    Scale(OwnerKind, String, usize),
    /// `evict=[NAMESPACE/]POD`.
    Evict(Option<String>, String),
    /// `priority=NUMBER`.
    Priority(i32),
    /// `add-node=like:NODE`.
    AddLike(NodeName),
    /// `add-node=cpu=8,memory=32Gi`.
    AddNode(Resources),
}

/// What became of the pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The nodes that could have it before.
    pub before: Vec<String>,
    /// Those that could have it after.
    pub after: Vec<String>,
    /// What the first of these has free of the first thing that the pod asks for.
    pub free: Option<(String, String)>,
    /// Why the others still cannot, with how many.
    pub still: Vec<(String, usize)>,
}

/// The words before the equals sign.
const KNOWN: [&str; 10] = [
    "requests",
    "uncordon",
    "toleration",
    "untaint",
    "label",
    "release",
    "scale",
    "evict",
    "priority",
    "add-node",
];

/// Reads an expression.
///
/// # Errors
/// When it is none, in words that say what was expected.
pub fn parse(text: &str) -> Result<WhatIf, String> {
    let (word, value) = text.split_once('=').ok_or_else(|| unknown(text))?;
    let (word, part) = word.split_once('.').map_or((word, None), |(word, part)| (word, Some(part)));
    let expected = |form: &str| format!("{text:?}: expected {form}");
    if value.is_empty() {
        return Err(format!("{text:?}: nothing follows the equals sign"));
    }
    Ok(match (word, part) {
        ("requests", Some(resource)) => {
            let quantity = Quantity::parse(value).map_err(|error| format!("{text:?}: {error}"))?;
            let mut read = Resources::default();
            read.add_quantity(resource, quantity);
            let resource = ResourceName::from(resource);
            WhatIf::Request(resource.clone(), read.get(&resource))
        }
        ("requests", None) => return Err(expected("requests.RESOURCE=AMOUNT, such as requests.cpu=1500m")),
        (_, Some(_)) => return Err(unknown(text)),
        ("uncordon", _) => WhatIf::Uncordon(value.into()),
        ("toleration", _) => toleration(value),
        ("untaint", _) => {
            let (node, taint) = value.split_once(':').ok_or_else(|| expected("untaint=NODE:KEY"))?;
            WhatIf::Untaint(node.into(), taint.to_owned())
        }
        ("label", _) => {
            let form = || expected("label=NODE:KEY=VALUE or label=NODE:KEY-");
            let (node, label) = value.split_once(':').ok_or_else(form)?;
            match (label.split_once('='), label.strip_suffix('-')) {
                (Some((key, value)), _) => WhatIf::Label(node.into(), key.to_owned(), Some(value.to_owned())),
                (None, Some(key)) => WhatIf::Label(node.into(), key.to_owned(), None),
                (None, None) => return Err(form()),
            }
        }
        ("release", _) => WhatIf::Release(value.to_owned()),
        ("scale", _) => {
            scale(value).ok_or_else(|| expected("scale=TYPE/NAME=REPLICAS, such as scale=deploy/batch=2"))?
        }
        ("evict", _) => match value.split_once('/') {
            Some((namespace, name)) => WhatIf::Evict(Some(namespace.to_owned()), name.to_owned()),
            None => WhatIf::Evict(None, value.to_owned()),
        },
        ("priority", _) => {
            WhatIf::Priority(value.parse().map_err(|_| expected("a number, such as priority=1000"))?)
        }
        ("add-node", _) => add_node(value).map_err(|why| format!("{text:?}: {why}"))?,
        _ => return Err(unknown(text)),
    })
}

fn unknown(text: &str) -> String {
    let word = text.split(['=', '.']).next().unwrap_or(text);
    let nearest = KNOWN.iter().min_by_key(|known| distance(known, word));
    let near = nearest.filter(|known| distance(known, word) <= 3);
    let hint = near.map_or_else(String::new, |known| format!("; did you mean {known}?"));
    format!("{text:?} is no change that can be tried{hint} (known: {})", KNOWN.join(", "))
}

/// How many letters have to be changed, added or taken away to make one of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = at + 1;
        for (index, theirs) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != *theirs);
            corner = row[index + 1];
            row[index + 1] = changed.min(row[index] + 1).min(corner + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

fn toleration(value: &str) -> WhatIf {
    let (taint, effect) = match value.rsplit_once(':') {
        Some((taint, effect)) => (taint, Some(Effect::from_name(effect))),
        None => (value, None),
    };
    let (key, value) = taint.split_once('=').map_or((taint, None), |(key, value)| (key, Some(value)));
    WhatIf::Tolerate { key: key.to_owned(), value: value.map(str::to_owned), effect }
}

fn scale(value: &str) -> Option<WhatIf> {
    let (reference, replicas) = value.rsplit_once('=')?;
    let (kind, name) = reference.split_once('/')?;
    let kind = match kind.to_lowercase().trim_end_matches(".apps") {
        "deploy" | "deployment" | "deployments" => OwnerKind::Deployment,
        "sts" | "statefulset" | "statefulsets" => OwnerKind::StatefulSet,
        "rs" | "replicaset" | "replicasets" => OwnerKind::ReplicaSet,
        "rc" | "replicationcontroller" | "replicationcontrollers" => OwnerKind::ReplicationController,
        "job" | "jobs" => OwnerKind::Job,
        _ => return None,
    };
    Some(WhatIf::Scale(kind, name.to_owned(), replicas.parse().ok()?))
}

fn add_node(value: &str) -> Result<WhatIf, String> {
    if let Some(model) = value.strip_prefix("like:") {
        return Ok(WhatIf::AddLike(model.into()));
    }
    let mut has = Resources::default();
    for part in value.split(',') {
        let form = || "expected add-node=like:NODE or add-node=cpu=8,memory=32Gi".to_owned();
        let (resource, amount) = part.split_once('=').ok_or_else(form)?;
        has.add_quantity(resource, Quantity::parse(amount).map_err(|error| error.to_string())?);
    }
    if has.pods == 0 {
        has.pods = 110;
    }
    Ok(WhatIf::AddNode(has))
}

/// A change as it would be typed.
pub(super) fn expression(edit: &Edit) -> Option<String> {
    Some(match edit {
        Edit::Uncordon(node) => format!("uncordon={node}"),
        Edit::Untaint(node, taint) => format!("untaint={node}:{}", words::taint(taint)),
        Edit::Tolerate(taint) => format!("toleration={}", words::taint(taint)),
        Edit::Label(node, labels) => match &labels[..] {
            [(key, Some(value))] => format!("label={node}:{key}={value}"),
            [(key, None)] => format!("label={node}:{key}-"),
            _ => return None,
        },
        Edit::Release(node, id) => format!("release={node}/{}", judge::reservation_name(id)),
        Edit::Request(amounts) => match &amounts[..] {
            [(resource, amount)] => format!("requests.{resource}={}", resource.format(*amount)),
            _ => return None,
        },
        Edit::Priority(priority) => format!("priority={priority}"),
        Edit::Leave(key) => format!("evict={key}"),
        Edit::AddNode(_) => return None,
    })
}

/// Tries all changes together.
///
/// # Errors
/// When one of them is about something that is not there, or a filter cannot say.
pub fn what_if(cluster: &mut Cluster, input: &Input<'_>, changes: &[WhatIf]) -> Result<Outcome, String> {
    let before = judge::look(cluster, input)?;
    let mut trial = Trial::new(cluster, input.pod, input.now);
    for change in changes {
        for edit in edits(&trial.cluster().snapshot(input.now), input, change)? {
            trial.apply(&edit)?;
        }
    }
    let pod = trial.pod.clone();
    let changed = Input { pod: &pod, ..*input };
    let after = judge::look(trial.cluster(), &changed)?;
    let names = |views: &[View]| -> Vec<String> {
        views.iter().filter(|view| view.fits()).map(|view| view.name.to_string()).collect()
    };
    let first = after.views.iter().find(|view| view.fits()).and_then(|view| view.figures.first());
    let mut still: BTreeMap<String, usize> = BTreeMap::new();
    for view in after.views.iter().filter(|view| !view.fits()) {
        *still.entry(super::group::label(view)).or_default() += 1;
    }
    let mut still: Vec<(String, usize)> = still.into_iter().collect();
    still.sort_by_key(|(_, count)| Reverse(*count));
    Ok(Outcome {
        before: names(&before.views),
        after: names(&after.views),
        free: first.map(|one| (one.resource.to_string(), one.show(one.free()))),
        still,
    })
}

/// The changes that one expression comes to.
fn edits(snapshot: &Snapshot<'_>, input: &Input<'_>, change: &WhatIf) -> Result<Vec<Edit>, String> {
    let find = |name: &NodeName| {
        let ledger = snapshot.find(name).and_then(|id| snapshot.ledger(id));
        ledger.ok_or_else(|| format!("there is no node {name}"))
    };
    Ok(match change {
        WhatIf::Request(resource, amount) => vec![Edit::Request(vec![(resource.clone(), *amount)])],
        WhatIf::Uncordon(node) => vec![Edit::Uncordon(find(node)?.node.name.clone())],
        WhatIf::Tolerate { key, value, effect } => tolerations(key, value.as_deref(), *effect),
        WhatIf::Untaint(node, text) => {
            let found = taints_named(&find(node)?.node, text);
            if found.is_empty() {
                return Err(format!("node {node} has no taint {text}"));
            }
            found.into_iter().map(|taint| Edit::Untaint(node.clone(), taint.clone())).collect()
        }
        WhatIf::Label(node, key, value) => {
            vec![Edit::Label(find(node)?.node.name.clone(), vec![(key.clone(), value.clone())])]
        }
        WhatIf::Release(name) => {
            let (node, id) = reservation(snapshot, name)?;
            vec![Edit::Release(node, id)]
        }
        WhatIf::Scale(kind, name, replicas) => scaled(snapshot, input, *kind, name, *replicas)?,
        WhatIf::Evict(namespace, name) => {
            let namespace = namespace.as_deref().unwrap_or(&input.pod.key.namespace);
            vec![Edit::Leave(PodKey::new(namespace, name.as_str()))]
        }
        WhatIf::Priority(priority) => vec![Edit::Priority(*priority)],
        WhatIf::AddLike(model) => {
            find(model)?;
            let node = grow::like(snapshot, model, NEW, None);
            node.map(|node| Edit::AddNode(Box::new(node))).into_iter().collect()
        }
        WhatIf::AddNode(has) => vec![Edit::AddNode(Box::new(bare(has)))],
    })
}

fn tolerations(key: &str, value: Option<&str>, effect: Option<Effect>) -> Vec<Edit> {
    let effects = effect.map_or_else(|| vec![Effect::NoSchedule, Effect::NoExecute], |effect| vec![effect]);
    let taint = |effect| Taint { key: key.into(), value: value.unwrap_or_default().into(), effect };
    effects.into_iter().map(|effect| Edit::Tolerate(taint(effect))).collect()
}

/// A node of which nothing is known but what it has.
fn bare(has: &Resources) -> Node {
    Node {
        name: NEW.into(),
        uid: NEW.into(),
        resource_version: 0,
        labels: Labels::new([(grow::HOSTNAME, NEW)]),
        taints: Box::default(),
        unschedulable: false,
        is_ready: true,
        allocatable: has.clone(),
        images: Box::default(),
        features: Box::default(),
        reservations: Box::default(),
        annotations: common::model::node::AnnotationSize::default(),
        problem: None,
    }
}

/// The reservation that `name`, or `NODE/NAME`, means.
fn reservation(snapshot: &Snapshot<'_>, name: &str) -> Result<(NodeName, ReservationId), String> {
    let (node, wanted) = name.split_once('/').map_or((None, name), |(node, name)| (Some(node), name));
    let mut found = Vec::new();
    for ledger in
        snapshot.reserved().filter(|ledger| node.is_none_or(|node| ledger.node.name.as_str() == node))
    {
        let own = ledger.entries.iter().map(|entry| &entry.reservation.id);
        let named = own.filter(|id| judge::reservation_name(id) == wanted || id.to_string() == wanted);
        found.extend(named.map(|id| (ledger.node.name.clone(), id.clone())));
    }
    match &found[..] {
        [only] => Ok(only.clone()),
        [] => Err(format!("there is no reservation {name}")),
        several => {
            let all: Vec<String> = several.iter().map(|(node, _)| format!("{node}/{wanted}")).collect();
            Err(format!("{name} is the name of several reservations: {}", all.join(", ")))
        }
    }
}

/// The pods that would go: those that wait, then of a StatefulSet the last, of others the newest of those that share a node.
fn scaled(
    snapshot: &Snapshot<'_>,
    input: &Input<'_>,
    kind: OwnerKind,
    name: &str,
    replicas: usize,
) -> Result<Vec<Edit>, String> {
    let namespace = input.pod.key.namespace.clone();
    let top = snapshot.owners().named(kind, &namespace, &name.into());
    let top = top.ok_or_else(|| format!("there is no {kind} {name} in {namespace}"))?;
    let is_own = |pod: &common::model::Pod| snapshot.asker(pod).is_owned_by(&top.uid);
    let bound = snapshot.nodes().flat_map(|ledger| &ledger.pods).filter(|pod| pod.key.namespace == namespace);
    let mut pods: Vec<_> = bound.filter(|pod| is_own(pod)).collect();
    let waiting: Vec<_> = snapshot.waiting_in(&namespace).filter(|pod| is_own(pod)).collect();
    let mut shared: BTreeMap<&NodeName, usize> = BTreeMap::new();
    pods.iter().filter_map(|pod| pod.node.as_ref()).for_each(|node| *shared.entry(node).or_default() += 1);
    let number =
        |pod: &common::model::Pod| pod.key.name.rsplit('-').next().and_then(|text| text.parse::<u64>().ok());
    pods.sort_by_key(|pod| {
        let beside = pod.node.as_ref().and_then(|node| shared.get(node)).copied();
        let by_number = Reverse(number(pod).filter(|_| kind == OwnerKind::StatefulSet));
        (by_number, Reverse(beside), Reverse(pod.created), pod.key.clone())
    });
    let all = pods.len() + waiting.len();
    let going = all.saturating_sub(replicas);
    let order = waiting.into_iter().chain(pods).filter(|pod| pod.uid != input.pod.uid);
    Ok(order.take(going).map(|pod| Edit::Leave(pod.key.clone())).collect())
}

#[cfg(test)]
mod tests;
