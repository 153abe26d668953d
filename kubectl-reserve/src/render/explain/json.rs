//! The document of `explain`: kind `ExplainReport`. Within a version fields are only added.

use crate::explain::{
    Blocker, BlockingReservation, Checklist, Conclusion, Figure, Fix, Miss, NodeAnalysis, NodeGroup,
    Preemption, Report, WhatIfOutcome,
};
use crate::render::json::API_VERSION;
use common::model::{ResourceName, Resources};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Everything about one pod: the report, the checklists of `--node`, and the outcome of `--what-if`.
pub(crate) struct PodExplanation<'r> {
    pub(crate) report: &'r Report,
    pub(crate) checklists: &'r [Checklist],
    pub(crate) outcome: Option<&'r WhatIfOutcome>,
}

impl<'r> From<&'r Report> for PodExplanation<'r> {
    fn from(report: &'r Report) -> Self {
        Self { report, checklists: &[], outcome: None }
    }
}

pub(crate) fn document(all: &[PodExplanation<'_>], now: Timestamp) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": "ExplainReport",
        "metadata": { "generatedAt": now.to_string() },
        "items": all.iter().map(item).collect::<Vec<_>>(),
    })
}

fn item(explanation: &PodExplanation<'_>) -> Value {
    let report = explanation.report;
    let pod_summary = &report.pod_summary;
    let (verdict, message) = verdict(report);
    let mut item = json!({
        "metadata": { "name": pod_summary.name, "namespace": pod_summary.namespace },
        "pod": { "namespace": pod_summary.namespace, "name": pod_summary.name, "uid": pod_summary.uid },
        "scheduler": pod_summary.scheduler,
        "reservationsEnforced": pod_summary.enforced,
        "priority": pod_summary.priority,
        "asks": amounts(&pod_summary.asks),
        "verdict": verdict,
        "message": message,
        "blocked": report.is_no_fit(),
    });
    if let Some(owner) = &pod_summary.owner {
        item["owner"] = json!({ "kind": owner.kind, "namespace": owner.namespace, "name": owner.name });
    }
    let finding = match &report.conclusion {
        Conclusion::PodFinding(finding) => Some(finding),
        Conclusion::NodeAnalysis(analysis) => analysis.finding.as_ref(),
        _ => None,
    };
    if let Some(finding) = finding {
        item["code"] = json!(finding.code);
    }
    if let Conclusion::Bound(node) = &report.conclusion {
        item["node"] = json!(node);
    }
    if let Conclusion::NodeAnalysis(analysis) = &report.conclusion {
        add_analysis(&mut item, analysis);
    }
    let autoscaler = report.autoscaler.iter().map(|one| {
        json!({ "source": one.source, "reason": one.reason, "message": one.message, "at": one.at.map(|at| at.to_string()) })
    });
    item["autoscaler"] = Value::from_iter(autoscaler);
    if let Some(words) = &report.scheduler_message {
        item["schedulerMessage"] = json!(words);
    }
    if !explanation.checklists.is_empty() {
        item["checklists"] = Value::from_iter(explanation.checklists.iter().map(checklist));
    }
    if let Some(one) = explanation.outcome {
        let still = one.still_blocked.iter().map(|(label, count)| json!({ "label": label, "count": count }));
        item["whatIf"] =
            json!({ "before": one.before, "after": one.after, "stillBlocked": Value::from_iter(still) });
        if let Some(preemption) = &one.preemption {
            item["whatIf"]["preemption"] = preempting(preemption);
        }
    }
    item
}

/// The verdict as a stable word, and as text for people.
pub(crate) fn verdict(report: &Report) -> (&'static str, String) {
    match &report.conclusion {
        Conclusion::Ended => ("Ended", "It has ended.".to_owned()),
        Conclusion::Deleting => ("Deleting", "It is being deleted.".to_owned()),
        Conclusion::Bound(node) => ("Bound", format!("It is bound to {node}.")),
        Conclusion::Refused(why) => ("Refused", why.clone()),
        Conclusion::Failed(why) => ("Failed", why.clone()),
        Conclusion::PodFinding(finding) => ("Stated", finding.words.join(" ")),
        Conclusion::NodeAnalysis(analysis) => {
            let is_short = analysis.copies.is_some_and(|(fit, of)| fit < of);
            let word = match () {
                () if analysis.finding.is_some() => "Stated",
                () if analysis.awaited_node.is_some() => "Waiting",
                () if analysis.fits.is_empty() || is_short => "Unschedulable",
                () => "Fits",
            };
            (word, analysis.verdict.join(" "))
        }
    }
}

fn add_analysis(item: &mut Value, analysis: &NodeAnalysis) {
    if let Some(dominant) = &analysis.dominant {
        item["dominant"] = json!({ "code": dominant.code, "label": dominant.label, "nodes": dominant.nodes, "of": dominant.of });
    }
    if let Some((fit, of)) = analysis.copies {
        item["replicas"] = json!({ "wanted": of, "fit": fit });
    }
    if let Some(awaited_node) = &analysis.awaited_node {
        item["waitsFor"] = json!({ "node": awaited_node.node, "because": awaited_node.because, "seconds": awaited_node.for_at_most });
    }
    let group = |group: &NodeGroup| json!({ "label": group.label, "codes": group.codes, "count": group.nodes.len(), "nodes": group.nodes });
    item["summary"] = json!({
        "nodes": analysis.nodes,
        "fit": analysis.fits.len(),
        "fits": analysis.fits,
        "groups": Value::from_iter(analysis.groups.iter().map(group)),
    });
    item["nodes"] = Value::from_iter(analysis.misses.iter().map(node));
    item["fixes"] = Value::from_iter(analysis.fixes.iter().map(fix));
    if let Some(preemption) = &analysis.preemption {
        item["preemption"] = preempting(preemption);
    }
    item["notes"] = json!(analysis.notes);
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
        "reservations": Value::from_iter(miss.reservations.iter().map(reservation)),
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

fn reservation(reservation: &BlockingReservation) -> Value {
    let keeps =
        reservation.amounts.iter().map(|(resource, amount)| (resource.to_string(), shown(resource, *amount)));
    let owner = reservation.owner.as_ref();
    json!({
        "name": reservation.name,
        "owner": owner.map(|owner| json!({ "kind": owner.kind, "namespace": owner.namespace, "name": owner.name })),
        "keeps": Value::Object(keeps.collect()),
        "expires": reservation.expires.map(|expires| expires.to_string()),
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
        "description": fix.description,
        "command": fix.commands.first().cloned().unwrap_or_default(),
        "commands": fix.commands,
        "verified": true,
        "landsOn": fix.lands_on,
        "harm": fix.harm().as_str(),
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
    let check = |check: &crate::explain::FilterCheck| {
        json!({ "filter": check.filter, "passed": check.blockers.is_empty(), "evidence": check.evidence,
            "blockers": Value::from_iter(check.blockers.iter().map(blocker)) })
    };
    json!({
        "node": list.node,
        "fits": list.fits(),
        "refused": list.refused,
        "checks": Value::from_iter(list.checks.iter().map(check)),
        "resources": Value::from_iter(list.figures.iter().map(figure)),
        "reservations": Value::from_iter(list.reservations.iter().map(reservation)),
    })
}
