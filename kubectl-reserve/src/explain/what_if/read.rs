//! Parses the expressions of `--what-if`, and writes a change as such an expression.

use super::WhatIf;
use crate::amount::exact;
use crate::explain::trial::Edit;
use crate::explain::{judge, words};
use common::model::owner::OwnerKind;
use common::model::quantity::Quantity;
use common::model::taint::TaintEffect;
use common::model::{ResourceName, Resources};

/// The known words before the equals sign.
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

/// Parses an expression.
///
/// # Errors
/// If it is not valid; the message says what was expected.
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

/// The Levenshtein distance of two words.
pub(super) fn distance(one: &str, other: &str) -> usize {
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
        Some((taint, effect)) => (taint, Some(TaintEffect::from_name(effect))),
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

pub(in crate::explain) fn expression(edit: &Edit) -> Option<String> {
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
            [(resource, amount)] => format!("requests.{resource}={}", exact(resource, *amount)),
            _ => return None,
        },
        Edit::Priority(priority) => format!("priority={priority}"),
        Edit::RemovePod(key) => format!("evict={key}"),
        Edit::AddNode(_) => return None,
    })
}
