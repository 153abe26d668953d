//! The output of `explain`, in every form of `-o`.

use super::answer::{Answers, PodAnswer};
use super::triage::asked;
use crate::error::Failure;
use crate::explain::{Conclusion, Report, WhatIfOutcome};
use crate::pending::{BlockedWorkload, group_causes};
use crate::print::{self, document};
use crate::render::explain::fixes::preempting;
use crate::render::explain::{Layout, PodExplanation, checklist, document as explain_report, render, screen};
use crate::render::wrap::{clipped, wrap};
use crate::render::{pending, plural, printable};
use serde_json::Value;

/// How much is printed about each pod.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// One line.
    Verdict,
    /// What one screen holds.
    Screen,
    Full,
}

/// The answers, and how they are printed.
pub(super) struct ExplainOutput<'a> {
    pub(super) answers: &'a Answers,
    pub(super) detail: Detail,
    pub(super) layout: Layout,
}

impl print::Printable for ExplainOutput<'_> {
    fn table(&self, _is_wide: bool, _has_headers: bool) -> String {
        let (answers, is_brief) = (self.answers, self.detail == Detail::Verdict);
        let mut parts: Vec<String> = Vec::new();
        if let Some(causes) = &answers.causes {
            let namespace = answers.namespace.as_deref();
            parts.push(pending::table(causes, namespace, &answers.flags, self.layout.width));
        }
        for one in &answers.pods {
            parts.push(if is_brief { brief(&one.report) } else { self.pod(one) });
        }
        let width = self.layout.width;
        let blocked_workloads = answers.blocked_workloads.iter().map(|one| blocked_workload(one, width));
        let complete_workloads = answers.complete_workloads.iter().map(|line| format!("{line}\n"));
        parts.extend(blocked_workloads.chain(complete_workloads));
        parts.join(if is_brief { "" } else { "\n" })
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

impl ExplainOutput<'_> {
    fn pod(&self, one: &PodAnswer) -> String {
        let (layout, about) = (&self.layout, &one.report.pod_summary);
        if !one.checklists.is_empty() {
            let lists = one.checklists.iter().map(|list| checklist(list, about.enforced, layout));
            return format!("Pod {}/{}\n{}", about.namespace, about.name, lists.collect::<String>());
        }
        if let Some(outcome) = &one.outcome {
            let words =
                format!("{}/{}: {}", about.namespace, about.name, supposed(outcome, &about.scheduler));
            return wrap("", &words, 2, layout.width);
        }
        let text = if self.detail == Detail::Full { render } else { screen };
        text(&one.report, layout) + &self.others(one)
    }

    /// The other pods with the same cause: all of them, or as many as fit on a line.
    fn others(&self, one: &PodAnswer) -> String {
        let (count, width) = (one.others.len(), self.layout.width);
        if count == 0 {
            return String::new();
        }
        let wait = if count == 1 { "pod waits".into() } else { format!("{} wait", plural(count, "pod")) };
        let lead = format!("Another {wait} for the same: ");
        match self.detail {
            Detail::Full => format!("\n{}", wrap(&lead, &one.others.join(", "), 2, width)),
            _ => clipped(&format!("{lead}{}", one.others.join(", ")), width),
        }
    }
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

fn blocked_workload(one: &BlockedWorkload, width: usize) -> String {
    let missing = match one.missing {
        Some(1) => "1 pod is missing".into(),
        Some(count) => format!("{count} pods are missing"),
        None => "pods are missing".to_owned(),
    };
    wrap("", &format!("{} ({missing})", one.sentence()), 2, width)
}
