//! The default output: everything on one screen of 24 lines. Of what the whole report has, this is the verdict, the largest groups
//! of nodes, the nearest node and the least harmful fixes. Entry point: [`screen`].

use super::fixes::{Section, preempting, scaling};
use super::{Layout, fill, groups, misses, notes, verdict};
use crate::explain::{Conclusion, NodeAnalysis, PodSummary, Preemption, Report};
use crate::render::wrap::{clipped, columns};
use crate::render::{plural, printable};
use crate::ui::Paint;

/// The lines of a small terminal without the one of the prompt.
const LINES: usize = 23;

/// The number of groups of nodes that are shown.
const GROUPS: usize = 3;

/// The number of fixes that are shown.
const FIXES: usize = 3;

/// The text of a report on one screen. What is not about nodes is short anyway.
pub(crate) fn screen(report: &Report, layout: &Layout) -> String {
    let Conclusion::NodeAnalysis(analysis) = &report.conclusion else {
        return super::render(report, layout);
    };
    // Colours take no room.
    let plain = Layout { paint: Paint::default(), ..*layout };
    let used = rows(&without_fixes(report, analysis, &plain), &plain);
    // The line about --full is one more.
    let count = count(analysis, LINES.saturating_sub(used + 1), &plain);
    let fixes = Section { fixes: &analysis.fixes, count }.text(layout);
    without_fixes(report, analysis, layout) + &fixes + &more(report, analysis, count)
}

fn without_fixes(report: &Report, analysis: &NodeAnalysis, layout: &Layout) -> String {
    let mut text = header(&report.pod_summary, layout) + "\n" + &verdict(report, layout);
    if !analysis.groups.is_empty() {
        text += &groups::largest(analysis, GROUPS, layout);
    }
    if let Some(nearest) = analysis.misses.first().filter(|_| analysis.fits.is_empty()) {
        text += &misses::nearest(&report.pod_summary, nearest, layout);
    }
    if let Some(possible @ Preemption::Possible { .. }) = &analysis.preemption {
        let words = preempting(&report.pod_summary.scheduler, possible);
        text += &clipped(&printable(&format!("PREEMPTION  {words}")), layout.width);
    }
    for event in report.autoscaler.iter().take(1) {
        let words = scaling(&report.pod_summary, event);
        text += &clipped(&printable(&format!("AUTOSCALER  {words}")), layout.width);
    }
    text + &notes(analysis, layout)
}

fn header(pod_summary: &PodSummary, layout: &Layout) -> String {
    let mut parts = super::about(pod_summary);
    let enforces = if pod_summary.enforced { "" } else { " (reservations not enforced)" };
    parts.push(format!("scheduler {}{enforces}", pod_summary.scheduler));
    fill(&parts, "   ", layout)
}

/// How many of the fixes there are lines for, but at least one.
fn count(analysis: &NodeAnalysis, lines: usize, layout: &Layout) -> usize {
    let most = analysis.fixes.len().min(FIXES);
    let fits = |count: &usize| {
        rows(&Section { fixes: &analysis.fixes, count: *count }.text(layout), layout) <= lines
    };
    (1..=most).rev().find(fits).unwrap_or(most.min(1))
}

/// The number of rows of a terminal that the text takes: it breaks long commands.
fn rows(text: &str, layout: &Layout) -> usize {
    text.lines().map(|line| columns(line).div_ceil(layout.width).max(1)).sum()
}

/// What `--full` would add.
fn more(report: &Report, analysis: &NodeAnalysis, shown: usize) -> String {
    let mut parts = Vec::new();
    let fixes = analysis.fixes.len() - shown + analysis.more_fixes;
    if fixes > 0 {
        parts.push(plural(fixes, "more fix").replace("fixs", "fixes"));
    }
    if !analysis.misses.is_empty() {
        parts.push("more numbers".to_owned());
    }
    if report.scheduler_message.is_some() {
        parts.push("the scheduler's message".to_owned());
    }
    if parts.is_empty() { String::new() } else { format!("With --full: {}\n", parts.join(", ")) }
}
