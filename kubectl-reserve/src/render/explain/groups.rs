//! The nodes that cannot have the pod: one line for what stands in the way, with the nodes.

use super::View;
use crate::explain::{Group, Judged, Member};
use crate::render::wrap::{columns, wrap};

/// The labels of groups get no more columns than this before what follows goes to the next line.
const LABEL_MAX: usize = 24;

/// So many different things are said of one group.
const MEMBERS: usize = 6;

/// After so many letters no more is said of it.
const LETTERS: usize = 160;

/// So many nodes are named of which the same is said.
const NAMED: usize = 4;

pub(super) fn section(judged: &Judged, view: &View) -> String {
    let blocked: usize = judged.groups.iter().map(|group| group.nodes.len()).sum();
    let mut text = format!("\nBLOCKED NODES  {blocked} of {}, each counted once\n", judged.nodes);
    if let Some(by) = judged.folded_by {
        text += &format!("               (put together by {by}; see also --group-by=reason, --nodes=all)\n");
    }
    let longest = judged.groups.iter().map(|group| columns(&group.label)).max().unwrap_or(0);
    let label_width = longest.min(LABEL_MAX);
    for group in &judged.groups {
        text += &line(group, label_width, view);
    }
    text + &dominant(judged, view)
}

fn line(group: &Group, label_width: usize, view: &View) -> String {
    let lead = format!("{:>4}  {:<label_width$}  ", group.nodes.len(), group.label);
    let indent = 6 + label_width + 2;
    let words = members(group);
    if columns(&group.label) > label_width {
        let own = wrap(&format!("{:>4}  ", group.nodes.len()), &group.label, 6, view.width);
        return own + &wrap(&" ".repeat(indent), &words, indent, view.width);
    }
    wrap(&lead, &words, indent, view.width)
}

fn members(group: &Group) -> String {
    let is_short = group.members.iter().all(|member| !member.words.contains(' '));
    let between = if is_short { ", " } else { "; " };
    let mut shown: Vec<String> = Vec::new();
    let mut left = group.nodes.len();
    for one in &group.members {
        let length: usize = shown.iter().map(String::len).sum();
        if shown.len() == MEMBERS || length > LETTERS {
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

/// The one reason that matters, where there are too many to see it.
fn dominant(judged: &Judged, view: &View) -> String {
    let Some(dominant) = judged.dominant.as_ref().filter(|_| judged.folded_by.is_some()) else {
        return String::new();
    };
    let nearest = dominant.nearest.as_ref().map_or_else(String::new, |words| format!(" Nearest: {words}."));
    let words = format!(
        "{} of the {} nodes of the right kind: {}.{nearest}",
        dominant.nodes, dominant.of, dominant.label
    );
    wrap("DOMINANT REASON  ", &words, 17, view.width)
}
