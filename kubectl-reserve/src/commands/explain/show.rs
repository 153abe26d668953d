//! What `explain` prints, in every form.

use super::answer::{Answers, Explained};
use crate::error::Failure;
use crate::explain::{Answer, Outcome, Report};
use crate::pending::{Unmade, fold};
use crate::print::{self, document};
use crate::render::explain::{Said, View, checklist, document as explain_report, render};
use crate::render::pending;
use crate::render::wrap::wrap;
use serde_json::Value;

/// The answers, as they are to be shown.
pub(super) struct Shown<'a> {
    pub(super) answers: &'a Answers,
    pub(super) is_brief: bool,
}

impl print::Shown for Shown<'_> {
    fn table(&self, _is_wide: bool, _has_headers: bool) -> String {
        let answers = self.answers;
        let mut parts: Vec<String> = Vec::new();
        if let Some(causes) = &answers.causes {
            parts.push(pending::table(causes, answers.namespace.as_deref()));
        }
        for one in &answers.pods {
            parts.push(if self.is_brief { brief(&one.report) } else { whole(one) });
        }
        let unmade = answers.unmade.iter().map(unmade);
        let settled = answers.settled.iter().map(|line| format!("{line}\n"));
        parts.extend(unmade.chain(settled));
        parts.join(if self.is_brief { "" } else { "\n" })
    }

    fn names(&self) -> Vec<String> {
        let answers = self.answers;
        let explained = answers.pods.iter().filter(|one| one.report.is_no_fit());
        let explained = explained.flat_map(|one| std::iter::once(&one.report.about.name).chain(&one.others));
        let folded = answers.causes.iter().flat_map(|causes| &causes.folded).filter(|one| one.is_blocked);
        explained.chain(folded.flat_map(|one| &one.pods)).map(|name| format!("pod/{name}")).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        let answers = self.answers;
        match &answers.causes {
            Some(causes) => document(&pending::report(causes, answers.now)),
            // Of a workload without pods there is nothing to say but why it has none.
            None if answers.pods.is_empty() && !answers.unmade.is_empty() => {
                document(&pending::report(&fold(Vec::new(), answers.unmade.clone()), answers.now))
            }
            None => {
                Ok(explain_report(&self.answers.pods.iter().map(said).collect::<Vec<_>>(), self.answers.now))
            }
        }
    }
}

fn said(one: &Explained) -> Said<'_> {
    Said { report: &one.report, checklists: &one.checklists, outcome: one.outcome.as_ref() }
}

fn whole(one: &Explained) -> String {
    if !one.checklists.is_empty() {
        let about = &one.report.about;
        let lists = one.checklists.iter().map(|list| checklist(list, about.enforced, &View::default()));
        return format!("Pod {}/{}\n{}", about.namespace, about.name, lists.collect::<String>());
    }
    if let Some(outcome) = &one.outcome {
        let about = &one.report.about;
        return wrap("", &format!("{}/{}: {}", about.namespace, about.name, supposed(outcome)), 2, 80);
    }
    let mut text = render(&one.report, &View::default());
    if !one.others.is_empty() {
        let count = one.others.len();
        let pods = if count == 1 { "pod waits".into() } else { format!("{count} pods wait") };
        let lead = format!("\nAnother {pods} for the same: ");
        text += &wrap(&lead, &one.others.join(", "), 2, 81);
    }
    text
}

/// What a supposed change would do.
fn supposed(outcome: &Outcome) -> String {
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
    let still: Vec<String> = outcome.still.iter().map(|(label, count)| format!("{label} {count}")).collect();
    let sum: usize = outcome.still.iter().map(|(_, count)| count).sum();
    if sum > 0 {
        text += &format!(". Still blocked: {sum} ({})", still.join(", "));
    }
    text
}

/// The verdict in one line.
fn brief(report: &Report) -> String {
    let about = &report.about;
    let words = match &report.answer {
        Answer::Judged(judged) => judged.verdict.first().cloned().unwrap_or_default(),
        Answer::Stated(stated) => stated.words.first().cloned().unwrap_or_default(),
        Answer::Refused(why) | Answer::Failed(why) => why.clone(),
        Answer::Bound(node) => format!("It is bound to {node}."),
        Answer::Deleting => "It is being deleted.".into(),
        Answer::Ended => "It has ended.".into(),
    };
    format!("{}/{}: {words}\n", about.namespace, about.name)
}

fn unmade(one: &Unmade) -> String {
    let missing = match one.missing {
        Some(1) => "1 pod is missing".into(),
        Some(count) => format!("{count} pods are missing"),
        None => "pods are missing".to_owned(),
    };
    wrap("", &format!("{} ({missing})", one.sentence()), 2, 80)
}
