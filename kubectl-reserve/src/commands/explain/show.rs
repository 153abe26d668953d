//! The output of `explain`, in every form of `-o`.

use super::answer::{Answers, PodAnswer};
use super::triage::asked;
use crate::error::Failure;
use crate::explain::{Conclusion, Report, WhatIfOutcome};
use crate::pending::{BlockedWorkload, group_causes};
use crate::print::{self, document};
use crate::render::explain::fixes::preempting;
use crate::render::explain::{Layout, PodExplanation, checklist, document as explain_report, render};
use crate::render::wrap::wrap;
use crate::render::{pending, printable};
use serde_json::Value;

/// The answers, and whether only one line per pod is printed.
pub(super) struct ExplainOutput<'a> {
    pub(super) answers: &'a Answers,
    pub(super) is_brief: bool,
}

impl print::Printable for ExplainOutput<'_> {
    fn table(&self, _is_wide: bool, _has_headers: bool) -> String {
        let answers = self.answers;
        let mut parts: Vec<String> = Vec::new();
        if let Some(causes) = &answers.causes {
            parts.push(pending::table(causes, answers.namespace.as_deref(), &answers.flags));
        }
        for one in &answers.pods {
            parts.push(if self.is_brief { brief(&one.report) } else { whole(one) });
        }
        let blocked_workloads = answers.blocked_workloads.iter().map(blocked_workload);
        let complete_workloads = answers.complete_workloads.iter().map(|line| format!("{line}\n"));
        parts.extend(blocked_workloads.chain(complete_workloads));
        parts.join(if self.is_brief { "" } else { "\n" })
    }

    fn names(&self) -> Vec<String> {
        let answers = self.answers;
        let explained = answers.pods.iter().filter(|one| one.report.is_no_fit());
        let explained =
            explained.flat_map(|one| std::iter::once(&one.report.pod_summary.name).chain(&one.others));
        let groups = answers.causes.iter().flat_map(|causes| &causes.groups).filter(|one| one.is_blocked);
        explained.chain(groups.flat_map(|one| &one.pods)).map(|name| format!("pod/{name}")).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        let answers = self.answers;
        match &answers.causes {
            Some(causes) => document(&pending::report(causes, answers.now)),
            // A workload without pods: only the reason why it has none is printed.
            None if answers.pods.is_empty() && !answers.blocked_workloads.is_empty() => document(
                &pending::report(&group_causes(Vec::new(), answers.blocked_workloads.clone()), answers.now),
            ),
            None => Ok(explain_report(
                &self.answers.pods.iter().map(explanation).collect::<Vec<_>>(),
                self.answers.now,
            )),
        }
    }
}

fn explanation(one: &PodAnswer) -> PodExplanation<'_> {
    PodExplanation { report: &one.report, checklists: &one.checklists, outcome: one.outcome.as_ref() }
}

fn whole(one: &PodAnswer) -> String {
    if !one.checklists.is_empty() {
        let about = &one.report.pod_summary;
        let lists = one.checklists.iter().map(|list| checklist(list, about.enforced, &Layout::default()));
        return format!("Pod {}/{}\n{}", about.namespace, about.name, lists.collect::<String>());
    }
    if let Some(outcome) = &one.outcome {
        let about = &one.report.pod_summary;
        return wrap(
            "",
            &format!("{}/{}: {}", about.namespace, about.name, supposed(outcome, &about.scheduler)),
            2,
            80,
        );
    }
    let mut text = render(&one.report, &Layout::default());
    if !one.others.is_empty() {
        let count = one.others.len();
        let pods = if count == 1 { "pod waits".into() } else { format!("{count} pods wait") };
        let lead = format!("\nAnother {pods} for the same: ");
        text += &wrap(&lead, &one.others.join(", "), 2, 81);
    }
    text
}

/// The result of `--what-if`, in words.
fn supposed(outcome: &WhatIfOutcome, scheduler: &str) -> String {
    let (before, after) = (outcome.before.len(), outcome.after.len());
    let mut text = format!("feasible nodes {before} -> {after}");
    if let Some(first) = outcome.after.first() {
        text += &format!(": {first}");
        if let Some((resource, free)) = &outcome.free {
            text += &format!(" ({resource} {free} free)");
        }
        if after > 1 {
            text += &format!(" and {} more", after - 1);
        }
    }
    if let Some(preemption) = &outcome.preemption {
        text += &format!(". Preemption: {}", printable(&preempting(scheduler, preemption)));
    }
    let still: Vec<String> =
        outcome.still_blocked.iter().map(|(label, count)| format!("{label} {count}")).collect();
    let sum: usize = outcome.still_blocked.iter().map(|(_, count)| count).sum();
    if sum > 0 {
        text += &format!(". Still blocked: {sum} ({})", still.join(", "));
    }
    text
}

/// The verdict in one line: what the pod asks for, and the cause.
fn brief(report: &Report) -> String {
    let about = &report.pod_summary;
    let words = match &report.conclusion {
        Conclusion::NodeAnalysis(judged) => {
            let asks = asked(&about.asks);
            let asks = if asks.is_empty() { String::new() } else { format!(" (asks {asks})") };
            format!("{}{asks}", judged.cause.label)
        }
        Conclusion::PodFinding(finding) => finding.words.first().cloned().unwrap_or_default(),
        Conclusion::Refused(why) | Conclusion::Failed(why) => why.clone(),
        Conclusion::Bound(node) => format!("It is bound to {node}."),
        Conclusion::Deleting => "It is being deleted.".into(),
        Conclusion::Ended => "It has ended.".into(),
    };
    format!("{}/{}: {words}\n", about.namespace, about.name)
}

fn blocked_workload(one: &BlockedWorkload) -> String {
    let missing = match one.missing {
        Some(1) => "1 pod is missing".into(),
        Some(count) => format!("{count} pods are missing"),
        None => "pods are missing".to_owned(),
    };
    wrap("", &format!("{} ({missing})", one.sentence()), 2, 80)
}
