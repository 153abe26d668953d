//! A change in words, as a command, with who is disturbed and which rights it takes.

use super::atoms::{Atom, Released};
use super::request;
use crate::explain::input::Input;
use crate::explain::report::{Cost, Fix, Right};
use crate::explain::trial::{Edit, target};
use crate::explain::words;
use common::cluster::Cluster;
use common::model::taint::Taint;
use common::model::{NodeName, ResourceName};
use serde_json::{Value, json};

/// `kubectl …`, with the context that the caller named.
pub(super) fn kubectl(input: &Input<'_>, words: &[String]) -> Vec<String> {
    let mut all = vec!["kubectl".to_owned()];
    all.extend(words.iter().cloned());
    if let Some(context) = input.context {
        all.extend(["--context".to_owned(), context.to_owned()]);
    }
    all
}

/// The same in a namespace.
pub(super) fn kubectl_in(input: &Input<'_>, namespace: &str, words: &[String]) -> Vec<String> {
    let mut all = words.to_vec();
    all.extend(["-n".to_owned(), namespace.to_owned()]);
    kubectl(input, &all)
}

/// What is done about one thing.
struct Deed {
    kind: &'static str,
    what: String,
    disturbs: Option<String>,
    commands: Vec<Vec<String>>,
    needs: Vec<Right>,
}

/// The changes as something that people can do; `None` if there is no command for one of them.
pub(super) fn fix(cluster: &mut Cluster, input: &Input<'_>, node: &NodeName, atoms: &[&Atom]) -> Option<Fix> {
    let taints: Vec<&Taint> = atoms.iter().filter_map(|atom| tolerated(&atom.edit)).collect();
    let others = atoms.iter().filter(|atom| tolerated(&atom.edit).is_none());
    let mut deeds: Vec<Deed> = others.map(|atom| deed(cluster, input, atom)).collect::<Option<_>>()?;
    if !taints.is_empty() {
        deeds.insert(0, tolerate(input, &taints));
    }
    let kind = if let [only] = &deeds[..] { only.kind } else { super::SEVERAL };
    let mut needs: Vec<Right> = deeds.iter().flat_map(|deed| deed.needs.iter().cloned()).collect();
    needs.sort();
    needs.dedup();
    Some(Fix {
        id: String::new(),
        kind,
        target: atoms.first().map(|atom| target(&atom.edit, input.pod)).unwrap_or_default(),
        lands_on: Some(node.to_string()),
        what: deeds.iter().map(|deed| deed.what.as_str()).collect::<Vec<_>>().join(", and "),
        disturbs: deeds.iter().filter_map(|deed| deed.disturbs.clone()).collect(),
        cost: atoms.iter().map(|atom| atom.cost).max().unwrap_or(Cost::None),
        commands: deeds.into_iter().flat_map(|deed| deed.commands).collect(),
        needs,
        allowed: None,
        edits: atoms.iter().map(|atom| atom.edit.clone()).collect(),
    })
}

fn deed(cluster: &mut Cluster, input: &Input<'_>, atom: &Atom) -> Option<Deed> {
    let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let nodes = || vec![right("patch", "nodes", None)];
    Some(match &atom.edit {
        Edit::Uncordon(node) => Deed {
            kind: "Uncordon",
            what: "undo the cordon".to_owned(),
            disturbs: None,
            commands: vec![kubectl(input, &text(&["uncordon", node.as_str()]))],
            needs: nodes(),
        },
        Edit::Untaint(node, taint) => {
            let gone = format!("{}-", words::taint(taint));
            Deed {
                kind: "Untaint",
                what: format!("take the taint {} away", words::taint(taint)),
                disturbs: Some("lets other pods in too".to_owned()),
                commands: vec![kubectl(input, &text(&["taint", "nodes", node.as_str(), &gone]))],
                needs: nodes(),
            }
        }
        Edit::Label(node, labels) => label(input, node, labels),
        Edit::Release(node, _) => release(input, node, atom.reservation.as_ref()?),
        Edit::Request(amounts) => lower(cluster, input, amounts)?,
        Edit::Tolerate(_) | Edit::Priority(_) | Edit::Leave(_) | Edit::AddNode(_) => return None,
    })
}

fn label(input: &Input<'_>, node: &NodeName, labels: &[(String, Option<String>)]) -> Deed {
    let shown = |(key, value): &(String, Option<String>)| match value {
        Some(value) => format!("{key}={value}"),
        None => format!("{key}-"),
    };
    let all: Vec<String> = labels.iter().map(shown).collect();
    let mut words = vec!["label".to_owned(), "node".to_owned(), node.to_string()];
    words.extend(all.iter().cloned());
    words.push("--overwrite".to_owned());
    Deed {
        kind: "Label",
        what: format!("correct the label, if the node really is {}", all.join(" ")),
        disturbs: None,
        commands: vec![kubectl(input, &words)],
        needs: vec![right("patch", "nodes", None)],
    }
}

fn tolerated(edit: &Edit) -> Option<&Taint> {
    if let Edit::Tolerate(taint) = edit { Some(taint) } else { None }
}

/// A pod may be given more tolerations at any time; of this one alone, which a template would not be.
fn tolerate(input: &Input<'_>, taints: &[&Taint]) -> Deed {
    let toleration = |taint: &&Taint| match &*taint.value {
        "" => json!({ "key": &*taint.key, "operator": "Exists", "effect": taint.effect.as_str() }),
        value => json!({ "key": &*taint.key, "value": value, "effect": taint.effect.as_str() }),
    };
    let all: Vec<Value> = taints.iter().map(toleration).collect();
    let patch: Vec<Value> = if input.pod.spec.tolerations.is_empty() {
        vec![json!({ "op": "add", "path": "/spec/tolerations", "value": all })]
    } else {
        let add = |one: Value| json!({ "op": "add", "path": "/spec/tolerations/-", "value": one });
        all.into_iter().map(add).collect()
    };
    let patch = Value::from(patch).to_string();
    let words = ["patch", "pod", &*input.pod.key.name, "--type=json", "-p", &patch].map(str::to_owned);
    let namespace = &*input.pod.key.namespace;
    let names: Vec<String> = taints.iter().map(|taint| words::taint(taint)).collect();
    Deed {
        kind: "Tolerate",
        what: format!("let this pod tolerate {}", names.join(" and ")),
        disturbs: None,
        commands: vec![kubectl_in(input, namespace, &words)],
        needs: vec![right("patch", "pods", Some(namespace))],
    }
}

fn release(input: &Input<'_>, node: &NodeName, released: &Released) -> Deed {
    let until = released.expires.map_or_else(
        || "no expiry".to_owned(),
        |expires| format!("{} left", crate::render::time::between(input.now, expires)),
    );
    let (whose, disturbs) = match &released.owner {
        Some(owner) => (
            format!("kept for {}/{}, {until}", owner.kind, owner.name),
            Some(format!("{}/{} may lose its place", owner.kind, owner.name)),
        ),
        None => (format!("kept for an owner that was not found, {until}"), None),
    };
    // A name alone means something only beside the namespace of its owner.
    let name = match (&released.owner, released.is_manual) {
        (Some(_), false) => released.name.clone(),
        _ => format!("{node}/{}", released.name),
    };
    let words = ["reserve".to_owned(), "release".to_owned(), name];
    let command = match &released.owner {
        Some(owner) => kubectl_in(input, &owner.namespace, &words),
        None => kubectl(input, &words),
    };
    Deed {
        kind: "Release",
        what: format!("release {} ({whose})", released.name),
        disturbs,
        commands: vec![command],
        needs: vec![right("patch", "nodes", None)],
    }
}

fn lower(cluster: &mut Cluster, input: &Input<'_>, amounts: &[(ResourceName, i64)]) -> Option<Deed> {
    let snapshot = cluster.snapshot(input.now);
    let lowered = request::command(input, &snapshot, amounts)?;
    let shown: Vec<String> =
        amounts.iter().map(|(resource, amount)| format!("{resource} {}", resource.format(*amount))).collect();
    Some(Deed {
        kind: request::KIND,
        what: format!("ask for less: {} is the most that fits now", shown.join(", ")),
        disturbs: Some(format!("rolls {}/{}", lowered.rolls.kind, lowered.rolls.name)),
        commands: lowered.commands,
        needs: lowered.needs,
    })
}

/// A right.
pub(super) fn right(verb: &'static str, resource: &str, namespace: Option<&str>) -> Right {
    Right { verb, group: "", resource: resource.to_owned(), namespace: namespace.map(str::to_owned) }
}
