//! `ExplainReport`, for machines. Within a version fields are only added.

use crate::explain::{
    Answer, Blocker, Checklist, Figure, Fix, Group, Judged, Keeper, Miss, Outcome, Preemption, Report,
};
use crate::render::json::API_VERSION;
use common::model::{ResourceName, Resources};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// What is said about one pod: the report, the nodes that were asked for, and what a supposed change comes to.
pub(crate) struct Said<'r> {
    pub(crate) report: &'r Report,
    pub(crate) checklists: &'r [Checklist],
    pub(crate) outcome: Option<&'r Outcome>,
}

impl<'r> From<&'r Report> for Said<'r> {
    fn from(report: &'r Report) -> Self {
        Self { report, checklists: &[], outcome: None }
    }
}

/// The document about these pods.
pub(crate) fn document(all: &[Said<'_>], now: Timestamp) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": "ExplainReport",
        "metadata": { "generatedAt": now.to_string() },
        "items": all.iter().map(item).collect::<Vec<_>>(),
    })
}

fn item(said: &Said<'_>) -> Value {
    let report = said.report;
    let about = &report.about;
    let (verdict, message) = verdict(report);
    let mut item = json!({
        "metadata": { "name": about.name, "namespace": about.namespace },
        "pod": { "namespace": about.namespace, "name": about.name, "uid": about.uid },
        "scheduler": about.scheduler,
        "reservationsEnforced": about.enforced,
        "priority": about.priority,
        "asks": amounts(&about.asks),
        "verdict": verdict,
        "message": message,
        "blocked": report.is_no_fit(),
    });
    if let Some(owner) = &about.owner {
        item["owner"] = json!({ "kind": owner.kind, "namespace": owner.namespace, "name": owner.name });
    }
    if let Answer::Stated(stated) = &report.answer {
        item["code"] = json!(stated.code);
    }
    if let Answer::Bound(node) = &report.answer {
        item["node"] = json!(node);
    }
    if let Answer::Judged(judged) = &report.answer {
        add_judged(&mut item, judged);
    }
    let autoscaler = report.autoscaler.iter().map(|one| {
        json!({ "source": one.source, "reason": one.reason, "message": one.message, "at": one.at.map(|at| at.to_string()) })
    });
    item["autoscaler"] = Value::from_iter(autoscaler);
    if let Some(words) = &report.said {
        item["schedulerMessage"] = json!(words);
    }
    if !said.checklists.is_empty() {
        item["checklists"] = Value::from_iter(said.checklists.iter().map(checklist));
    }
    if let Some(one) = said.outcome {
        let still = one.still.iter().map(|(label, count)| json!({ "label": label, "count": count }));
        item["whatIf"] =
            json!({ "before": one.before, "after": one.after, "stillBlocked": Value::from_iter(still) });
    }
    item
}

/// The verdict in one word and in plain ones.
fn verdict(report: &Report) -> (&'static str, String) {
    match &report.answer {
        Answer::Ended => ("Ended", "It has ended.".to_owned()),
        Answer::Deleting => ("Deleting", "It is being deleted.".to_owned()),
        Answer::Bound(node) => ("Bound", format!("It is bound to {node}.")),
        Answer::Refused(why) => ("Refused", why.clone()),
        Answer::Failed(why) => ("Failed", why.clone()),
        Answer::Stated(stated) => ("Stated", stated.words.join(" ")),
        Answer::Judged(judged) => {
            let word = match () {
                () if judged.awaits.is_some() => "Waiting",
                () if judged.fits.is_empty() => "Unschedulable",
                () => "Fits",
            };
            (word, judged.verdict.join(" "))
        }
    }
}

fn add_judged(item: &mut Value, judged: &Judged) {
    if let Some(dominant) = &judged.dominant {
        item["dominant"] = json!({ "code": dominant.code, "label": dominant.label, "nodes": dominant.nodes, "of": dominant.of });
    }
    if let Some(awaits) = &judged.awaits {
        item["waitsFor"] =
            json!({ "node": awaits.node, "because": awaits.because, "seconds": awaits.for_at_most });
    }
    let group = |group: &Group| json!({ "label": group.label, "codes": group.codes, "count": group.nodes.len(), "nodes": group.nodes });
    item["summary"] = json!({
        "nodes": judged.nodes,
        "fit": judged.fits.len(),
        "fits": judged.fits,
        "groups": Value::from_iter(judged.groups.iter().map(group)),
    });
    item["nodes"] = Value::from_iter(judged.misses.iter().map(node));
    item["fixes"] = Value::from_iter(judged.fixes.iter().map(fix));
    if let Some(preemption) = &judged.preemption {
        item["preemption"] = preempting(preemption);
    }
    item["notes"] = json!(judged.notes);
}

fn amounts(resources: &Resources) -> Value {
    let amounts = resources.iter().map(|(resource, amount)| (resource.to_string(), shown(&resource, amount)));
    Value::Object(amounts.collect::<Map<_, _>>())
}

fn shown(resource: &ResourceName, amount: i64) -> Value {
    json!(if amount == 0 { "0".to_owned() } else { resource.format(amount) })
}

fn node(miss: &Miss) -> Value {
    json!({
        "name": miss.name,
        "rank": miss.rank,
        "fits": false,
        "blockers": Value::from_iter(miss.blockers.iter().map(blocker)),
        "resources": Value::from_iter(miss.figures.iter().map(figure)),
        "reservations": Value::from_iter(miss.keeps.iter().map(keeper)),
    })
}

fn figure(figure: &Figure) -> Value {
    let numbers = &figure.numbers;
    let show = |amount| shown(&figure.resource, amount);
    json!({
        "resource": figure.resource.as_str(),
        "asks": show(numbers.asks),
        "allocatable": show(numbers.allocatable),
        "used": show(numbers.used),
        "reserved": show(numbers.reserved),
        "free": show(figure.free()),
        "short": show(figure.short()),
    })
}

fn blocker(blocker: &Blocker) -> Value {
    let mut value = blocker.figure.as_ref().map_or_else(|| json!({}), figure);
    value["filter"] = json!(blocker.filter);
    value["code"] = json!(blocker.code);
    value["class"] = json!(blocker.class.as_str());
    value["upstreamReason"] = json!(blocker.upstream);
    value["label"] = json!(blocker.label);
    if let Some(evidence) = &blocker.evidence {
        value["evidence"] = json!(evidence);
    }
    value
}

fn keeper(keeper: &Keeper) -> Value {
    let keeps =
        keeper.keeps.iter().map(|(resource, amount)| (resource.to_string(), shown(resource, *amount)));
    let owner = keeper.owner.as_ref();
    json!({
        "name": keeper.name,
        "owner": owner.map(|owner| json!({ "kind": owner.kind, "namespace": owner.namespace, "name": owner.name })),
        "keeps": Value::Object(keeps.collect()),
        "expires": keeper.expires.map(|expires| expires.to_string()),
    })
}

fn fix(fix: &Fix) -> Value {
    let needs = fix.needs.iter().map(|right| {
        json!({ "verb": right.verb, "group": right.group, "resource": right.resource, "namespace": right.namespace })
    });
    json!({
        "id": fix.id,
        "kind": fix.kind,
        "target": fix.target,
        "description": fix.what,
        "command": fix.commands.first().cloned().unwrap_or_default(),
        "commands": fix.commands,
        "verified": true,
        "landsOn": fix.lands_on,
        "cost": fix.cost.as_str(),
        "allowed": fix.allowed,
        "needs": Value::from_iter(needs),
        "disturbs": fix.disturbs,
    })
}

fn preempting(preemption: &Preemption) -> Value {
    match preemption {
        Preemption::Possible { node, victims, violations } => {
            json!({ "possible": true, "node": node, "victims": victims, "budgetViolations": violations })
        }
        Preemption::Impossible { reason, because, with } => {
            let mut value = json!({ "possible": false, "reason": reason, "message": because });
            if let Some(with) = with {
                value["wouldNeedPriority"] = json!(with.priority);
                value["priorityClass"] = json!(with.class);
                value["node"] = json!(with.node);
                value["victims"] = json!(with.victims);
            }
            value
        }
    }
}

fn checklist(list: &Checklist) -> Value {
    let check = |check: &crate::explain::Check| {
        json!({ "filter": check.filter, "passed": check.blockers.is_empty(), "evidence": check.evidence,
            "blockers": Value::from_iter(check.blockers.iter().map(blocker)) })
    };
    json!({
        "node": list.node,
        "fits": list.fits(),
        "refused": list.refused,
        "checks": Value::from_iter(list.checks.iter().map(check)),
        "resources": Value::from_iter(list.figures.iter().map(figure)),
        "reservations": Value::from_iter(list.keeps.iter().map(keeper)),
    })
}
