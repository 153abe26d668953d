//! The section `BLOCKED NODES`: one line for each group of nodes.

use super::Layout;
use crate::explain::{Member, NodeAnalysis, NodeGroup};
use crate::render::plural;
use crate::render::wrap::{clipped, columns, wrap};

/// The maximum width of the column of labels; after a longer label the text goes to the next line.
const LABEL_MAX: usize = 24;

/// The maximum number of members that are shown of one group.
const MEMBERS: usize = 6;

/// After this many letters no more members of a group are shown.
const LETTERS: usize = 160;

/// The maximum number of nodes that are named for one member.
const NAMED: usize = 4;

/// The heading, with the number of nodes that do not fit.
fn heading(analysis: &NodeAnalysis) -> String {
    let blocked: usize = analysis.groups.iter().map(|group| group.nodes.len()).sum();
    format!("BLOCKED NODES  {blocked} of {}, each counted once\n", analysis.nodes)
}

/// The largest groups, each on one line, and the sum of the others.
pub(super) fn largest(analysis: &NodeAnalysis, most: usize, layout: &Layout) -> String {
    let mut text = heading(analysis);
    let (shown, others) = analysis.groups.split_at(most.min(analysis.groups.len()));
    let longest = shown.iter().map(|group| columns(&group.label)).max().unwrap_or(0);
    for group in shown {
        let label_width = longest.min(layout.width / 2);
        let line = |most: usize| {
            let words = members(group, most);
            format!("{:>4}  {:<label_width$}  {words}", group.nodes.len(), group.label).trim_end().to_owned()
        };
        let whole = (1..=MEMBERS).rev().map(line).find(|line| columns(line) <= layout.width);
        text += &clipped(&whole.unwrap_or_else(|| line(1)), layout.width);
    }
    if !others.is_empty() {
        let nodes: usize = others.iter().map(|group| group.nodes.len()).sum();
        text += &format!("{nodes:>4}  {}\n", plural(others.len(), "more group"));
    }
    text
}

pub(super) fn section(analysis: &NodeAnalysis, layout: &Layout) -> String {
    let mut text = format!("\n{}", heading(analysis));
    if let Some(by) = analysis.grouped_by {
        text += &format!("               (put together by {by}; see also --group-by=reason, --nodes=all)\n");
    }
    let longest = analysis.groups.iter().map(|group| columns(&group.label)).max().unwrap_or(0);
    let label_width = longest.min(LABEL_MAX);
    for group in &analysis.groups {
        text += &line(group, label_width, layout);
    }
    text + &dominant(analysis, layout)
}

fn line(group: &NodeGroup, label_width: usize, layout: &Layout) -> String {
    let lead = format!("{:>4}  {:<label_width$}  ", group.nodes.len(), group.label);
    let indent = 6 + label_width + 2;
    let words = members(group, MEMBERS);
    if columns(&group.label) > label_width {
        let own = wrap(&format!("{:>4}  ", group.nodes.len()), &group.label, 6, layout.width);
        return own + &wrap(&" ".repeat(indent), &words, indent, layout.width);
    }
    wrap(&lead, &words, indent, layout.width)
}

/// At most so many members of a group, and how many nodes are not named.
fn members(group: &NodeGroup, most: usize) -> String {
    let is_short = group.members.iter().all(|member| !member.words.contains(' '));
    let between = if is_short { ", " } else { "; " };
    let mut shown: Vec<String> = Vec::new();
    let mut left = group.nodes.len();
    for one in &group.members {
        let length: usize = shown.iter().map(String::len).sum();
        if shown.len() == most || length > LETTERS {
            break;
        }
        shown.push(member(one));
        left = left.saturating_sub(one.nodes.len());
    }
    if left > 0 && group.members.iter().any(|one| !one.nodes.is_empty()) {
        shown.push(format!("+{left} more"));
    }
    shown.join(between)
}

fn member(member: &Member) -> String {
    let mut names: Vec<&str> = member.nodes.iter().take(NAMED).map(String::as_str).collect();
    let more = format!("+{}", member.nodes.len().saturating_sub(NAMED));
    if member.nodes.len() > NAMED {
        names.push(&more);
    }
    let names = names.join(" ");
    [names.as_str(), member.words.as_str()]
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The dominant reason, if nodes are grouped by pool or zone, so that reasons are not visible at a glance.
fn dominant(analysis: &NodeAnalysis, layout: &Layout) -> String {
    let Some(dominant) = analysis.dominant.as_ref().filter(|_| analysis.grouped_by.is_some()) else {
        return String::new();
    };
    let nearest = dominant.nearest.as_ref().map_or_else(String::new, |words| format!(" Nearest: {words}."));
    let words = format!(
        "{} of the {} nodes of the right kind: {}.{nearest}",
        dominant.nodes, dominant.of, dominant.label
    );
    wrap("DOMINANT REASON  ", &words, 17, layout.width)
}
