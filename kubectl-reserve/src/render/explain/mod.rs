//! Why a pod is Pending, as text: the verdict first, then nodes grouped by what stands in the way, the nearest, what would help;
//! the scheduler's own words last.

mod checklist;
pub(crate) mod fixes;
mod groups;
mod json;
mod misses;
#[cfg(test)]
mod tests;

pub(crate) use checklist::checklist;
pub(crate) use fixes::shell;
pub(crate) use json::{Said, document};

use super::printable;
use super::time::between;
use super::wrap::wrap;
use crate::explain::{About, Answer, Judged, Report};
use common::model::ResourceName;

/// How it is to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// How many columns there are.
    pub(crate) width: usize,
}

impl Default for View {
    fn default() -> Self {
        Self { width: 80 }
    }
}

/// The whole answer.
pub(crate) fn render(report: &Report, view: &View) -> String {
    let mut text = header(&report.about, view);
    let about = &report.about;
    let verdict = match &report.answer {
        Answer::Ended => "It has ended; there is nothing to place.".to_owned(),
        Answer::Deleting => "It is being deleted; there is nothing to place.".to_owned(),
        Answer::Bound(node) => format!(
            "It is bound to {node}, so this is not a scheduling problem. See: kubectl describe pod {} -n {}",
            about.name, about.namespace
        ),
        // About another scheduler's pod that says nothing.
        Answer::Refused(why) if about.enforced => printable(why),
        Answer::Refused(why) => format!("It cannot be judged yet: {}", printable(why)),
        Answer::Failed(why) => format!("It cannot be judged: {}", printable(why)),
        Answer::Judged(judged) => judged.verdict.join(" "),
        Answer::Stated(stated) => stated.words.join(" "),
    };
    text.push('\n');
    text += &wrap("VERDICT  ", &verdict, 9, view.width);
    if let Answer::Judged(judged) = &report.answer {
        text += &nodes(report, judged, view);
    }
    text + &said(report, view) + &next(report)
}

fn header(about: &About, view: &View) -> String {
    let asks: Vec<String> = about
        .asks
        .iter()
        .filter(|(resource, _)| *resource != ResourceName::Pods)
        .map(|(resource, amount)| format!("{resource} {}", resource.format(amount)))
        .collect();
    let asks = if asks.is_empty() { "nothing".to_owned() } else { asks.join(", ") };
    let mut lines = vec![format!("Pod {}/{}", about.namespace, about.name)];
    if let Some(owner) = &about.owner {
        lines.push(format!("of {}/{}", owner.kind, owner.name));
    }
    if let Some(since) = about.waits_since {
        lines.push(format!("Pending {}", between(since, about.now)));
    }
    lines.push(format!("asks {asks}"));
    let mut second = vec![format!("scheduler {}", about.scheduler), format!("priority {}", about.priority)];
    if let Some(at) = about.last_try {
        second.push(format!("last try {} ago", between(at, about.now)));
    }
    if !about.enforced {
        second.push("reservations not enforced".to_owned());
    }
    fill(&lines, "   ", view) + &fill(&second, ", ", view)
}

/// Parts in as few lines as they need.
fn fill(parts: &[String], between: &str, view: &View) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.len() + between.len() + part.len() <= view.width => {
                line.push_str(between);
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    let broken = |line: &String| {
        if line.len() <= view.width { format!("{line}\n") } else { wrap("", line, 2, view.width) }
    };
    lines.iter().map(broken).collect()
}

fn nodes(report: &Report, judged: &Judged, view: &View) -> String {
    let mut text = String::new();
    if !judged.groups.is_empty() {
        text += &groups::section(judged, view);
    }
    if !judged.misses.is_empty() {
        text += &misses::section(judged, view);
        text += &misses::reservations(&report.about, judged, view);
    }
    text += &fixes::section(judged, view);
    text += &fixes::not_possible(report, judged, view);
    if !judged.notes.is_empty() {
        text.push('\n');
    }
    for note in &judged.notes {
        text += &wrap("note: ", &printable(note), 6, view.width);
    }
    text
}

/// What the scheduler itself told the pod, so that it can be found in dashboards.
fn said(report: &Report, view: &View) -> String {
    match &report.said {
        Some(said) => {
            let lead = format!("{} said: ", report.about.scheduler);
            format!("\n{}", wrap(&lead, &printable(said), 2, view.width))
        }
        None => String::new(),
    }
}

/// What to try first, if there is something.
fn next(report: &Report) -> String {
    let Answer::Judged(judged) = &report.answer else { return String::new() };
    let Some(expression) = judged.fixes.iter().find_map(|fix| fix.what_if()) else { return String::new() };
    let about = &report.about;
    let words =
        ["kubectl", "reserve", "explain", &about.name, "-n", &about.namespace, "--what-if", &expression];
    format!("Try it first:\n  {}\n", shell(&words.map(str::to_owned)))
}
