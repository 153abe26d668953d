//! The output of `explain` as text: the verdict first, then the nodes by blocker, the nearest misses, the fixes; the scheduler's
//! own message last. `screen` makes the default output of it, `json` the document. Entry points: [`screen()`], [`render`] (all of
//! it), [`checklist()`], [`document`].

mod checklist;
pub(crate) mod fixes;
mod groups;
mod json;
mod misses;
mod screen;
#[cfg(test)]
mod tests;

pub(crate) use checklist::checklist;
pub(crate) use fixes::shell;
pub(crate) use json::{PodExplanation, document, verdict as verdict_words};
pub(crate) use screen::screen;

use super::printable;
use super::time::between;
use super::wrap::{WIDTH, fold, wrap};
use crate::amount::shown;
use crate::explain::{Conclusion, NodeAnalysis, PodSummary, Report};
use crate::ui::{Paint, Tone};
use common::model::ResourceName;

/// The layout of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The width that text is wrapped at.
    pub(crate) width: usize,
    pub(crate) paint: Paint,
}

impl Default for Layout {
    fn default() -> Self {
        Self { width: WIDTH, paint: Paint::default() }
    }
}

/// The whole text of a report.
pub(crate) fn render(report: &Report, layout: &Layout) -> String {
    let mut text = header(&report.pod_summary, layout) + "\n" + &verdict(report, layout);
    if let Conclusion::NodeAnalysis(analysis) = &report.conclusion {
        text += &nodes(report, analysis, layout);
    }
    text + &scheduler_message(report, layout) + &next(report)
}

fn verdict(report: &Report, layout: &Layout) -> String {
    let pod_summary = &report.pod_summary;
    let words = match &report.conclusion {
        Conclusion::Ended => "It has ended; there is nothing to place.".to_owned(),
        Conclusion::Deleting => "It is being deleted; there is nothing to place.".to_owned(),
        Conclusion::Bound(node) => format!(
            "It is bound to {node}, so this is not a scheduling problem. See: kubectl describe pod {} -n {}",
            pod_summary.name, pod_summary.namespace
        ),
        // Our PreEnqueue plugins say nothing about a pod of another scheduler.
        Conclusion::Refused(why) if pod_summary.enforced => printable(why),
        Conclusion::Refused(why) => format!("It cannot be judged yet: {}", printable(why)),
        Conclusion::Failed(why) => format!("It cannot be judged: {}", printable(why)),
        Conclusion::NodeAnalysis(analysis) => analysis.verdict.join(" "),
        Conclusion::PodFinding(finding) => finding.words.join(" "),
    };
    let text = wrap("VERDICT  ", &words, 9, layout.width);
    let tone = match &report.conclusion {
        Conclusion::NodeAnalysis(analysis) if analysis.awaited_node.is_some() => Tone::Careful,
        _ if report.is_no_fit() => Tone::Bad,
        Conclusion::NodeAnalysis(_) => Tone::Good,
        _ => Tone::Strong,
    };
    // The first sentence, or what of it is on the first line.
    let line = text.lines().next().unwrap_or_default();
    let sentence = line.find(". ").map_or(line, |at| &line[..=at]);
    layout.paint.paint(tone, sentence) + &text[sentence.len()..]
}

/// The pod in a few words: its name, its owner, how long it has been Pending, what it asks for.
fn about(pod_summary: &PodSummary) -> Vec<String> {
    let asks: Vec<String> = pod_summary
        .asks
        .iter()
        .filter(|(resource, _)| *resource != ResourceName::Pods)
        .map(|(resource, amount)| format!("{resource} {}", shown(&resource, amount)))
        .collect();
    let asks = if asks.is_empty() { "nothing".to_owned() } else { asks.join(", ") };
    let mut lines = vec![format!("Pod {}/{}", pod_summary.namespace, pod_summary.name)];
    if let Some(owner) = &pod_summary.owner {
        lines.push(format!("of {}/{}", owner.kind, owner.name));
    }
    if let Some(since) = pod_summary.waits_since {
        lines.push(format!("Pending {}", between(since, pod_summary.now)));
    }
    lines.push(format!("asks {asks}"));
    lines
}

pub(crate) fn header(pod_summary: &PodSummary, layout: &Layout) -> String {
    let mut second =
        vec![format!("scheduler {}", pod_summary.scheduler), format!("priority {}", pod_summary.priority)];
    if let Some(at) = pod_summary.last_try {
        second.push(format!("last try {} ago", between(at, pod_summary.now)));
    }
    match (pod_summary.enforced, pod_summary.enforcement_known) {
        (true, _) => {}
        (false, true) => second.push("reservations not enforced".to_owned()),
        (false, false) => second.push("unknown whether reservations are enforced".to_owned()),
    }
    fill(&about(pod_summary), "   ", layout) + &fill(&second, ", ", layout)
}

/// Joins the parts with `between`, in as few lines as possible.
fn fill(parts: &[String], between: &str, layout: &Layout) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.len() + between.len() + part.len() <= layout.width => {
                line.push_str(between);
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    let broken = |line: &String| {
        if line.len() <= layout.width { format!("{line}\n") } else { wrap("", line, 2, layout.width) }
    };
    lines.iter().map(broken).collect()
}

fn nodes(report: &Report, analysis: &NodeAnalysis, layout: &Layout) -> String {
    let mut text = String::new();
    if !analysis.groups.is_empty() {
        text += &groups::section(analysis, layout);
    }
    if !analysis.misses.is_empty() {
        text += &misses::section(analysis, layout);
        text += &misses::reservations(&report.pod_summary, analysis, layout);
    }
    text += &fixes::section(analysis, layout);
    text += &fixes::not_possible(report, analysis, layout);
    if !analysis.notes.is_empty() {
        text.push('\n');
    }
    text + &notes(analysis, layout)
}

/// The notes. A command in one stays on one line.
fn notes(analysis: &NodeAnalysis, layout: &Layout) -> String {
    let note = |note: &String| fold(&format!("note: {}", printable(note)), layout.width) + "\n";
    analysis.notes.iter().map(note).collect()
}

/// The scheduler's own message, so that it can be found in dashboards.
fn scheduler_message(report: &Report, layout: &Layout) -> String {
    match &report.scheduler_message {
        Some(scheduler_message) => {
            let lead = format!("{} said: ", report.pod_summary.scheduler);
            format!("\n{}", wrap(&lead, &printable(scheduler_message), 2, layout.width))
        }
        None => String::new(),
    }
}

/// The `--what-if` command for the first fix that has one.
fn next(report: &Report) -> String {
    let Conclusion::NodeAnalysis(analysis) = &report.conclusion else { return String::new() };
    let expression = analysis.fixes.iter().find_map(|fix| fix.what_if());
    let (Some(expression), Some(command)) = (expression, &report.pod_summary.command) else {
        return String::new();
    };
    let words = [&command[..], &["--what-if".to_owned(), expression]].concat();
    format!("Try it first:\n  {}\n", shell(&words))
}
