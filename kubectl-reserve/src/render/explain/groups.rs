//! The nodes that cannot have the pod: one line for what stands in the way, with the nodes.

use super::View;
use crate::explain::{Group, Judged, Member};
use crate::render::wrap::{columns, wrap};

/// The labels of groups get no more columns than this before what follows goes to the next line.
const LABEL_MAX: usize = 24;

/// So many different things are said of one group.
const MEMBERS: usize = 6;

/// So many nodes are named of which the same is said.
const NAMED: usize = 4;

pub(super) fn section(judged: &Judged, view: &View) -> String {
    let blocked: usize = judged.groups.iter().map(|group| group.nodes.len()).sum();
    let mut text = format!("\nBLOCKED NODES  {blocked} of {}, each counted once\n", judged.nodes);
    if judged.is_folded {
        text += "               (put together by pool; --group-by=reason, --nodes=all)\n";
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
        let own = wrap("", &format!("{:>4}  {}", group.nodes.len(), group.label), 6, view.width);
        let own = format!(
            "{:>4}  {}\n",
            group.nodes.len(),
            own.trim().split_once("  ").map_or("", |(_, rest)| rest)
        );
        return own + &wrap(&" ".repeat(indent), &words, indent, view.width);
    }
    wrap(&lead, &words, indent, view.width)
}

fn members(group: &Group) -> String {
    let mut shown: Vec<String> = group.members.iter().take(MEMBERS).map(member).collect();
    let left: usize = group.members.iter().skip(MEMBERS).map(|member| member.nodes.len()).sum();
    if left > 0 {
        shown.push(format!("+{left} more"));
    }
    let is_short = group.members.iter().all(|member| !member.words.contains(' '));
    shown.join(if is_short { ", " } else { "; " })
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
    let Some(dominant) = judged.dominant.as_ref().filter(|_| judged.is_folded) else { return String::new() };
    let nearest = judged.misses.first().map_or_else(String::new, |miss| {
        let short: Vec<String> = miss
            .figures
            .iter()
            .filter(|one| one.short() > 0)
            .map(|one| format!("{} {}", one.resource, one.show(one.short())))
            .collect();
        if short.is_empty() {
            String::new()
        } else {
            format!(" The nearest, {}, lacks {}.", miss.name, short.join(", "))
        }
    });
    let words = format!(
        "{} of the {} nodes of the right kind: {}.{nearest}",
        dominant.nodes, dominant.of, dominant.label
    );
    wrap("DOMINANT REASON  ", &words, 17, view.width)
}
