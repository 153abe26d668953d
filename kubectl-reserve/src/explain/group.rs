//! Nodes put together so that the counts sum to all of them: by what stands in the way, or by pool where there are hundreds.

use super::input::GroupBy;
use super::judge::{Seen, Sight, Teller, View};
use super::kind::Class;
use super::report::{Figure, Group, Member};
use super::{evidence, pool};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Above so many nodes they are put together by pool.
const MANY: usize = 40;

/// So many pools still read well.
const POOLS: usize = 12;

/// Particulars that cost a look at all pods are told of so many nodes of a group.
const TOLD: usize = 8;

/// All nodes that cannot have the pod, each in one group, the largest first; and whether they are put together by pool or zone.
/// `order` has the nearest first.
pub(super) fn groups(sight: &Sight, order: &[usize], tell: &Teller<'_>, by: GroupBy) -> (Vec<Group>, bool) {
    let views: Vec<&View> = order.iter().filter_map(|index| sight.views.get(*index)).collect();
    match by {
        GroupBy::Reason => {}
        GroupBy::Pool => return (pool::groups(&views, tell, &pool::pool_of), true),
        GroupBy::Zone => return (pool::groups(&views, tell, &pool::zone_of), true),
        GroupBy::Auto if sight.views.len() > MANY && sight.refused.is_empty() => {
            let groups = pool::groups(&views, tell, &pool::pool_of);
            if groups.len() <= POOLS {
                return (groups, true);
            }
        }
        GroupBy::Auto => {}
    }
    (by_reason(&views, tell), false)
}

fn by_reason(views: &[&View], tell: &Teller<'_>) -> Vec<Group> {
    let mut found: BTreeMap<String, Vec<&View>> = BTreeMap::new();
    for view in views {
        found.entry(label(view)).or_default().push(view);
    }
    let mut groups: Vec<Group> = found
        .into_iter()
        .map(|(label, views)| {
            let codes = views.first().map(|view| codes(view)).unwrap_or_default();
            let nodes = views.iter().map(|view| view.name.to_string()).collect();
            Group { label, codes, nodes, members: members(&views, tell) }
        })
        .collect();
    groups.sort_by_key(|group| Reverse(group.nodes.len()));
    groups
}

/// What is in the way besides amounts; if that is nothing, the amounts.
pub(super) fn main_blockers(view: &View) -> Vec<&Seen> {
    let hard: Vec<&Seen> = view.blockers.iter().filter(|seen| !seen.kind.is_amount()).collect();
    if hard.is_empty() { view.blockers.iter().collect() } else { hard }
}

/// What stands in the way, in a few words.
pub(super) fn label(view: &View) -> String {
    const LOW: &str = " too low";
    let mut low = Vec::new();
    let mut labels: Vec<String> = Vec::new();
    for seen in main_blockers(view) {
        let label = &seen.kind.label;
        match label.strip_suffix(LOW) {
            Some(resource) => low.push(resource),
            None if labels.contains(label) => {}
            None => labels.push(label.clone()),
        }
    }
    if !low.is_empty() {
        labels.insert(0, format!("{}{LOW}", low.join(" + ")));
    }
    labels.join(" + ")
}

fn codes(view: &View) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for seen in main_blockers(view) {
        if !codes.contains(&seen.kind.code) {
            codes.push(seen.kind.code.clone());
        }
    }
    codes
}

/// The nodes of a group with what is to be said about each; those about which the same is said come together.
fn members(views: &[&View], tell: &Teller<'_>) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for (index, view) in views.iter().enumerate() {
        let words = words(view, tell, index < TOLD);
        let place = *at.entry(words.clone()).or_insert_with(|| {
            members.push(Member { nodes: Vec::new(), words });
            members.len() - 1
        });
        if let Some(member) = members.get_mut(place) {
            member.nodes.push(view.name.to_string());
        }
    }
    members
}

/// What is to be said about one node. `is_told` if particulars may cost something.
fn words(view: &View, tell: &Teller<'_>, is_told: bool) -> String {
    let main = main_blockers(view);
    let is_amount = |seen: &&Seen| seen.kind.is_amount();
    if main.iter().all(is_amount) && view.lacking().next().is_some() {
        return amounts(view);
    }
    let may_tell = |seen: &&&Seen| is_told || evidence::is_cheap(&seen.rejection);
    let particulars = main.iter().filter(may_tell).filter_map(|seen| tell.evidence(view, seen));
    let mut words: Vec<String> = particulars.collect();
    words.extend(aside(view));
    words.join(" ")
}

/// `-200m, -3Gi`: what is missing of each resource.
pub(super) fn amounts(view: &View) -> String {
    let missing = |figure: &Figure| format!("-{}", figure.show(figure.short()));
    view.lacking().map(missing).collect::<Vec<_>>().join(", ")
}

/// `(also cpu -700m)`, `(otherwise fits)`.
fn aside(view: &View) -> Option<String> {
    let short: Vec<String> =
        view.lacking().map(|one| format!("{} -{}", one.resource, one.show(one.short()))).collect();
    if !short.is_empty() {
        return Some(format!("(also {})", short.join(", ")));
    }
    let [only] = &view.blockers[..] else { return None };
    let free = view.figures.iter().find(|_| only.kind.class == Class::State);
    Some(match free {
        Some(free) => format!("(otherwise fits: {} {} free)", free.resource, free.show(free.free())),
        None => "(otherwise fits)".to_owned(),
    })
}
