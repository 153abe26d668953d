//! Makes a [`Fix`] from proposals: text, commands, required rights, and which pods are disturbed. Entry point: [`fix`].

use super::proposals::{Proposal, ReleaseDetails};
use super::{request, template};
use crate::amount::shown;
use crate::explain::input::Input;
use crate::explain::report::{Cost, Fix, OwnerName, RequiredRight};
use crate::explain::trial::{Edit, target};
use crate::explain::words;
use common::cluster::Cluster;
use common::model::owner::OwnerKind;
use common::model::taint::Taint;
use common::model::{NodeName, ResourceName};
use serde_json::{Value, json};

/// A kubectl command, with the caller's `--context`.
pub(super) fn kubectl(input: &Input<'_>, words: &[String]) -> Vec<String> {
    let mut all = vec!["kubectl".to_owned()];
    all.extend(words.iter().cloned());
    if let Some(context) = input.context {
        all.extend(["--context".to_owned(), context.to_owned()]);
    }
    all
}

/// A kubectl command in a namespace, with the caller's `--context`.
pub(super) fn kubectl_in(input: &Input<'_>, namespace: &str, words: &[String]) -> Vec<String> {
    let mut all = words.to_vec();
    all.extend(["-n".to_owned(), namespace.to_owned()]);
    kubectl(input, &all)
}

struct FixPart {
    kind: &'static str,
    description: String,
    disturbs: Option<String>,
    commands: Vec<Vec<String>>,
    needs: Vec<RequiredRight>,
}

/// A fix that consists of these changes; `None` if there is no command for one of them.
pub(super) fn fix(
    cluster: &mut Cluster,
    input: &Input<'_>,
    node: &NodeName,
    proposals: &[&Proposal],
) -> Option<Fix> {
    let taints: Vec<&Taint> = proposals.iter().filter_map(|proposal| tolerated(&proposal.edit)).collect();
    let others = proposals.iter().filter(|proposal| tolerated(&proposal.edit).is_none());
    let mut parts: Vec<FixPart> =
        others.map(|proposal| part(cluster, input, proposal)).collect::<Option<_>>()?;
    if !taints.is_empty() {
        parts.insert(0, tolerate(cluster, input, &taints)?);
    }
    let kind = if let [only] = &parts[..] { only.kind } else { super::SEVERAL };
    let mut needs: Vec<RequiredRight> = parts.iter().flat_map(|part| part.needs.iter().cloned()).collect();
    needs.sort();
    needs.dedup();
    Some(Fix {
        id: String::new(),
        kind,
        target: proposals.first().map(|proposal| target(&proposal.edit, input.pod)).unwrap_or_default(),
        lands_on: Some(node.to_string()),
        description: parts.iter().map(|part| part.description.as_str()).collect::<Vec<_>>().join(", and "),
        disturbs: parts.iter().filter_map(|part| part.disturbs.clone()).collect(),
        cost: proposals.iter().map(|proposal| proposal.cost).max().unwrap_or(Cost::None),
        commands: parts.into_iter().flat_map(|part| part.commands).collect(),
        needs,
        allowed: None,
        edits: proposals.iter().map(|proposal| proposal.edit.clone()).collect(),
    })
}

fn part(cluster: &mut Cluster, input: &Input<'_>, proposal: &Proposal) -> Option<FixPart> {
    let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let nodes = || vec![right("patch", "nodes", None)];
    Some(match &proposal.edit {
        Edit::Uncordon(node) => FixPart {
            kind: "Uncordon",
            description: "undo the cordon, if nobody works on the node".to_owned(),
            disturbs: None,
            commands: vec![kubectl(input, &text(&["uncordon", node.as_str()]))],
            needs: nodes(),
        },
        Edit::Untaint(node, taint) => {
            let gone = format!("{}-", words::taint(taint));
            FixPart {
                kind: "Untaint",
                description: format!("take the taint {} away", words::taint(taint)),
                disturbs: Some("opens the node to all other pods".to_owned()),
                commands: vec![kubectl(input, &text(&["taint", "nodes", node.as_str(), &gone]))],
                needs: nodes(),
            }
        }
        Edit::Label(node, labels) => label(input, node, labels),
        Edit::Release(..) if proposal.is_wait() => wait(input, proposal.reservation.as_ref()?),
        Edit::Release(node, _) => release(input, node, proposal, proposal.reservation.as_ref()?),
        Edit::Request(amounts) => lower(cluster, input, amounts, proposal.restarts)?,
        Edit::Tolerate(_) | Edit::Priority(_) | Edit::RemovePod(_) | Edit::AddNode(_) => return None,
    })
}

fn label(input: &Input<'_>, node: &NodeName, labels: &[(String, Option<String>)]) -> FixPart {
    let shown = |(key, value): &(String, Option<String>)| match value {
        Some(value) => format!("{key}={value}"),
        None => format!("{key}-"),
    };
    let all: Vec<String> = labels.iter().map(shown).collect();
    let mut words = vec!["label".to_owned(), "node".to_owned(), node.to_string()];
    words.extend(all.iter().cloned());
    words.push("--overwrite".to_owned());
    FixPart {
        kind: "Label",
        description: format!("label the node {}, if that is true of it", all.join(" ")),
        disturbs: Some("other pods may come, and DaemonSets may remove theirs".to_owned()),
        commands: vec![kubectl(input, &words)],
        needs: vec![right("patch", "nodes", None)],
    }
}

fn tolerated(edit: &Edit) -> Option<&Taint> {
    if let Edit::Tolerate(taint) = edit { Some(taint) } else { None }
}

/// Tolerations are added to the template of the pod's workload, so that all of its pods get them; or to the pod itself, if that has no
/// workload whose template can be changed.
fn tolerate(cluster: &mut Cluster, input: &Input<'_>, taints: &[&Taint]) -> Option<FixPart> {
    let names: Vec<String> = taints.iter().map(|taint| words::taint(taint)).collect();
    let names = names.join(" and ");
    if !input.manifests.is_empty() {
        return Some(FixPart {
            kind: "Tolerate",
            description: format!("add a toleration of {names} to the manifest"),
            disturbs: None,
            commands: Vec::new(),
            needs: Vec::new(),
        });
    }
    let new: Vec<Value> = taints.iter().map(|taint| toleration(taint)).collect();
    let snapshot = cluster.snapshot(input.now);
    let top = snapshot.context(input.pod).top().map(|top| (top.kind, OwnerName::new(&top.owner())));
    let Some((kind, owner)) = top.filter(|(kind, _)| template::is_rolled_out(*kind)) else {
        return Some(tolerate_alone(input, new, &names));
    };
    let patch = template::with_tolerations(input.source?, new)?.to_string();
    let words = ["patch", &owner.reference(), "--type=merge", "-p", &patch].map(str::to_owned);
    let mut part = FixPart {
        kind: "Tolerate",
        description: format!("let the pods of {}/{} tolerate {names}", owner.kind, owner.name),
        disturbs: Some(format!("rolls {}/{}", owner.kind, owner.name)),
        commands: vec![kubectl_in(input, &owner.namespace, &words)],
        needs: vec![RequiredRight { group: "apps", ..right("patch", kind.plural(), Some(&owner.namespace)) }],
    };
    if kind == OwnerKind::StatefulSet {
        let (command, right) = template::delete_pod(input);
        part.commands.push(command);
        part.needs.push(right);
    }
    Some(part)
}

fn toleration(taint: &Taint) -> Value {
    match &*taint.value {
        "" => json!({ "key": &*taint.key, "operator": "Exists", "effect": taint.effect.as_str() }),
        value => json!({ "key": &*taint.key, "value": value, "effect": taint.effect.as_str() }),
    }
}

/// Tolerations can be added to an existing pod.
fn tolerate_alone(input: &Input<'_>, all: Vec<Value>, names: &str) -> FixPart {
    let patch: Vec<Value> = if input.pod.spec.tolerations.is_empty() {
        vec![json!({ "op": "add", "path": "/spec/tolerations", "value": all })]
    } else {
        let add = |one: Value| json!({ "op": "add", "path": "/spec/tolerations/-", "value": one });
        all.into_iter().map(add).collect()
    };
    let patch = Value::from(patch).to_string();
    let words = ["patch", "pod", &*input.pod.key.name, "--type=json", "-p", &patch].map(str::to_owned);
    let namespace = &*input.pod.key.namespace;
    FixPart {
        kind: "Tolerate",
        description: format!("let this pod tolerate {names}"),
        disturbs: None,
        commands: vec![kubectl_in(input, namespace, &words)],
        needs: vec![right("patch", "pods", Some(namespace))],
    }
}

/// Nothing is done: the daemon releases the reservation when it has expired.
fn wait(input: &Input<'_>, released: &ReleaseDetails) -> FixPart {
    let owner = released.owner.as_ref();
    let owner = owner.map_or_else(|| "its owner".to_owned(), |one| format!("{}/{}", one.kind, one.name));
    let left = released.expires.map(|at| crate::render::time::between(input.now, at)).unwrap_or_default();
    FixPart {
        kind: "Wait",
        description: format!(
            "wait: reservation {} ends in {left}, unless a pod of {owner} takes the room before",
            released.name
        ),
        disturbs: None,
        commands: Vec::new(),
        needs: Vec::new(),
    }
}

fn release(input: &Input<'_>, node: &NodeName, proposal: &Proposal, released: &ReleaseDetails) -> FixPart {
    let until = released.expires.map_or_else(
        || "no expiry".to_owned(),
        |expires| format!("{} left", crate::render::time::between(input.now, expires)),
    );
    let is_orphan = proposal.cost == Cost::None;
    let owner = released.owner.as_ref().map(|owner| format!("{}/{}", owner.kind, owner.name));
    let whom = match &owner {
        Some(owner) if is_orphan => format!("{owner}, which is gone"),
        Some(owner) => owner.clone(),
        None => "an owner that was not found".to_owned(),
    };
    let loses = format!("{} may lose its place", owner.as_deref().unwrap_or("its owner"));
    // A name without its node is only unique within the namespace of the owner.
    let name = match (&released.owner, released.is_manual) {
        (Some(_), false) => released.name.clone(),
        _ => format!("{node}/{}", released.name),
    };
    let words = ["reserve".to_owned(), "release".to_owned(), name];
    let command = match &released.owner {
        Some(owner) => kubectl_in(input, &owner.namespace, &words),
        None => kubectl(input, &words),
    };
    FixPart {
        kind: "Release",
        description: format!("release {} (kept for {whom}, {until})", released.name),
        disturbs: (!is_orphan).then_some(loses),
        commands: vec![command],
        needs: vec![right("patch", "nodes", None)],
    }
}

/// How much the pods really use is not known here, so that is left to the reader.
fn lower(
    cluster: &mut Cluster,
    input: &Input<'_>,
    amounts: &[(ResourceName, i64)],
    restarts: usize,
) -> Option<FixPart> {
    let snapshot = cluster.snapshot(input.now);
    let lowered = request::command(input, &snapshot, amounts)?;
    let all: Vec<String> =
        amounts.iter().map(|(resource, amount)| format!("{resource} {}", shown(resource, *amount))).collect();
    let owner = format!("{}/{}", lowered.rolls.kind, lowered.rolls.name);
    Some(FixPart {
        kind: request::KIND,
        description: format!(
            "ask for less, if {owner} needs no more: {} is the most that fits now",
            all.join(", ")
        ),
        disturbs: (restarts > 0)
            .then(|| format!("recreates {} of {owner}", words::count(restarts, "running pod"))),
        commands: lowered.commands,
        needs: lowered.needs,
    })
}

/// A required right in the core API group.
pub(super) fn right(verb: &'static str, resource: &str, namespace: Option<&str>) -> RequiredRight {
    RequiredRight { verb, group: "", resource: resource.to_owned(), namespace: namespace.map(str::to_owned) }
}
