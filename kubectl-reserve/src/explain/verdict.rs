//! The verdict: a few sentences that sum the results up. Entry points: [`verdict`], [`dominant`].

use super::judge::{ClassifiedRejection, FilterResults, NodeDescriber, NodeResult};
use super::rank::missing;
use super::report::{AwaitedNode, Cause, DominantReason, Figure};
use super::words::count;
use crate::render::time::human;
use common::framework::{BlockerClass, RefusalCode};
use common::model::ResourceName;
use jiff::SignedDuration;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The verdict, one string for each sentence, and the cause that it names.
pub(super) fn verdict(
    filter_results: &FilterResults,
    order: &[usize],
    describer: &NodeDescriber<'_>,
) -> (Vec<String>, Cause) {
    let cause = |code: &str, label: &str, detail: &str| Cause {
        code: code.to_owned(),
        label: label.to_owned(),
        detail: detail.to_owned(),
    };
    if let Some(awaited_node) = &filter_results.awaited_node {
        let words = awaited_node_words(filter_results, awaited_node);
        let cause = cause("Awaits", "waits for its node", &words.join(" "));
        return (words, cause);
    }
    if let Some(words) = fits(filter_results, describer) {
        let detail = format!("{} Its scheduler should place it soon.", words[0]);
        return (words, cause("Fits", "fits now", &detail));
    }
    if filter_results.nodes.is_empty() {
        let words = "There are no nodes.".to_owned();
        let cause = cause("NoNodes", "no nodes", &words);
        return (vec![words], cause);
    }
    let dominant = dominant(&filter_results.nodes);
    let of = |result: &NodeResult, detail: &str| {
        let is_dominant = |one: &&ClassifiedRejection| {
            dominant.as_ref().is_some_and(|dominant| dominant.code == one.kind.code_name)
        };
        let decisive = result.blockers.iter().find(is_dominant).or(result.blockers.first());
        decisive.map_or_else(Cause::default, |one| cause(&one.kind.code_name, &one.kind.label, detail))
    };
    if let Some(words) = refused(filter_results) {
        let cause = of(&filter_results.nodes[0], &words);
        return (vec![words], cause);
    }
    let ranked: Vec<&NodeResult> =
        order.iter().filter_map(|index| filter_results.nodes.get(*index)).collect();
    let (words, decisive) = none_fits(&ranked, describer);
    let detail = words.get(1).cloned().unwrap_or_default();
    (words, of(decisive.unwrap_or(&filter_results.nodes[0]), &detail))
}

fn fits(filter_results: &FilterResults, describer: &NodeDescriber<'_>) -> Option<Vec<String>> {
    let mut fits = filter_results.nodes.iter().filter(|result| result.fits());
    let first = &fits.next()?.name;
    let more = match fits.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let scheduler = &describer.context.pod.spec.scheduler_name;
    let asks = format!("If it stays Pending, is a scheduler called {scheduler} running?");
    Some(vec![format!("It fits now on {first}{more}."), asks])
}

fn refused(filter_results: &FilterResults) -> Option<String> {
    let first = filter_results.refused.first()?;
    let whole =
        filter_results.refused.iter().map(|one| one.reason.to_string()).collect::<Vec<_>>().join(", ");
    let by = if first.plugin.is_empty() { String::new() } else { format!(" ({})", first.plugin) };
    Some(format!("No node is even looked at: {whole}{by}."))
}

fn awaited_node_words(filter_results: &FilterResults, awaited_node: &AwaitedNode) -> Vec<String> {
    let mut all =
        vec![format!("It waits for {}, which is kept for it: {}.", awaited_node.node, awaited_node.because)];
    let others = filter_results
        .nodes
        .iter()
        .filter(|result| result.fits() && result.name.as_str() != awaited_node.node)
        .count();
    let could = if others == 0 {
        String::new()
    } else {
        format!(", although {} could have it", count(others, "other node"))
    };
    all.push(match awaited_node.for_at_most {
        Some(seconds) => {
            let left = human(SignedDuration::from_secs(seconds));
            format!("It waits {left} more at most, and then goes elsewhere if it can{could}.")
        }
        None => format!("It goes nowhere else while the reservation lives{could} (placement require)."),
    });
    all
}

/// The verdict if no node fits, and the node that its second sentence is about. `ranked` are the nodes, the nearest first.
fn none_fits<'r>(
    ranked: &[&'r NodeResult],
    describer: &NodeDescriber<'_>,
) -> (Vec<String>, Option<&'r NodeResult>) {
    let mut all = vec!["No node fits.".to_owned()];
    let obstacle = ranked.iter().find_map(|result| Some((*result, single_obstacle(result, describer)?)));
    let decisive = obstacle.as_ref().map(|(result, _)| *result);
    all.extend(obstacle.map(|(_, words)| words));
    let open: Vec<&NodeResult> = ranked.iter().copied().filter(|result| result.is_right_kind()).collect();
    if open.is_empty() {
        let nearest = ranked.first().copied();
        if decisive.is_none() {
            all.extend(nearest.map(|nearest| nearest_words(nearest, describer, "The nearest is")));
        }
        let every = if ranked.len() == 1 { "the only node" } else { "every node" };
        all.push(format!("More room would not help, {every} has another obstacle: {}.", causes(ranked)));
        return (all, decisive.or(nearest));
    }
    if let Some(large) = too_large(&open) {
        all.push(large);
        return (all, decisive.or(open.first().copied()));
    }
    let lead = match () {
        () if open.len() == ranked.len() => "The nearest is".to_owned(),
        () if open.len() == 1 => "The one node whose labels and taints suit this pod is".to_owned(),
        () => format!("Of the {} nodes whose labels and taints suit this pod the nearest is", open.len()),
    };
    let is_told = |nearest: &&&NodeResult| decisive.is_some_and(|decisive| decisive.id == nearest.id);
    if let Some(nearest) = open.first().filter(|nearest| !is_told(nearest)) {
        all.push(nearest_words(nearest, describer, &lead));
    }
    all.extend(fragmented(&open));
    (all, decisive.or(open.first().copied()))
}

/// A sentence about a node that has the room and one other obstacle: `node-1 has the room but is cordoned.`
fn single_obstacle(result: &NodeResult, describer: &NodeDescriber<'_>) -> Option<String> {
    let name = &result.name;
    if result.classes() == [BlockerClass::Hold] {
        let short: Vec<String> =
            result.lacking().map(|one| format!("{} {} short", one.resource, one.show(one.short()))).collect();
        let short = if short.is_empty() { String::new() } else { format!(" ({})", short.join(", ")) };
        return Some(format!("{name} has the room, but keeps it for others{short}."));
    }
    let [only] = &result.blockers[..] else { return None };
    if !result.has_room() || only.kind.is_amount() {
        return None;
    }
    let particulars = describer.evidence(result, only);
    Some(match (only.kind.code, particulars) {
        (RefusalCode::Cordoned, _) => format!("{name} has the room but is cordoned."),
        (RefusalCode::Taint, Some(taint)) => {
            format!("{name} has the room, but its taint {taint} is not tolerated.")
        }
        (RefusalCode::NodeAffinity, Some(labels)) => format!("{name} has the room, but: {labels}."),
        (_, Some(why)) => format!("{name} has the room, but: {} ({why}).", only.kind.label),
        (_, None) => format!("{name} has the room, but: {}.", only.kind.label),
    })
}

fn nearest_words(result: &NodeResult, describer: &NodeDescriber<'_>, lead: &str) -> String {
    let short = result.lacking().map(|one| format!("{} {} short", one.resource, one.show(one.short())));
    let other = |blocker: &&ClassifiedRejection| !blocker.kind.is_amount();
    let words = |blocker: &ClassifiedRejection| {
        describer.evidence(result, blocker).unwrap_or_else(|| blocker.kind.label.clone())
    };
    let all: Vec<String> = short.chain(result.blockers.iter().filter(other).map(words)).collect();
    format!("{lead} {}: {}.", result.name, all.join(", "))
}

/// The first blocker of each node, counted: `taint (5 nodes), wrong label (4 nodes)`.
fn causes(results: &[&NodeResult]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for blocker in results.iter().filter_map(|result| result.blockers.first()) {
        *counts.entry(&blocker.kind.label).or_default() += 1;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|(_, nodes)| Reverse(*nodes));
    sorted
        .iter()
        .map(|(label, nodes)| format!("{label} ({})", count(*nodes, "node")))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A sentence if the pod is too large: `It asks for cpu 64, and no node that it may go to has so much: the largest, node-1, has 16.`
fn too_large(open: &[&NodeResult]) -> Option<String> {
    let resources = open.first()?.figures.iter();
    resources.filter_map(|one| largest(open, &one.resource)).find_map(|(name, most)| {
        (most.numbers.asks > most.numbers.allocatable).then(|| {
            format!(
                "It asks for {} {}, and no node that it may go to has so much: the largest, {name}, has {}.",
                most.resource,
                most.show(most.numbers.asks),
                most.show(most.numbers.allocatable)
            )
        })
    })
}

fn largest<'v>(open: &[&'v NodeResult], resource: &ResourceName) -> Option<(&'v str, &'v Figure)> {
    let figure = |result: &&'v NodeResult| {
        let own = result.figures.iter().find(|one| one.resource == *resource)?;
        Some((result.name.as_str(), own))
    };
    open.iter().filter_map(figure).max_by_key(|(name, one)| (one.numbers.allocatable, Reverse(*name)))
}

/// A sentence if the free room is spread over nodes: `Together they have cpu 11.6 free, but no single one has 4: fragmented, not
/// full.`
fn fragmented(open: &[&NodeResult]) -> Option<String> {
    let resources = open.first()?.figures.iter().map(|one| &one.resource);
    resources.filter(|resource| **resource != ResourceName::Pods).find_map(|resource| {
        let of = |result: &&NodeResult| result.figures.iter().find(|one| one.resource == *resource).cloned();
        let figures: Vec<Figure> = open.iter().filter_map(of).collect();
        // A node that is too small for the pod does not count.
        let figures: Vec<&Figure> =
            figures.iter().filter(|one| one.numbers.asks <= one.numbers.allocatable).collect();
        let is_short = figures.len() > 1 && figures.iter().all(|one| one.short() > 0);
        let sum = figures.iter().map(|one| one.free().max(0)).fold(0, i64::saturating_add);
        let first = figures.first()?;
        (is_short && sum >= first.numbers.asks).then(|| {
            format!(
                "Together they have {resource} {} free, but no single one has {}: fragmented, not full.",
                first.show(sum),
                first.show(first.numbers.asks)
            )
        })
    })
}

/// The blocker on most nodes that are of the right kind; on most of all nodes if none is.
pub(super) fn dominant(results: &[NodeResult]) -> Option<DominantReason> {
    let blocked: Vec<&NodeResult> = results.iter().filter(|result| !result.fits()).collect();
    let right: Vec<&NodeResult> = blocked.iter().copied().filter(|result| result.is_right_kind()).collect();
    let of = if right.is_empty() { &blocked } else { &right };
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for result in of {
        let mut codes: Vec<(&str, &str)> =
            result.blockers.iter().map(|blocker| (&*blocker.kind.code_name, &*blocker.kind.label)).collect();
        codes.sort_unstable();
        codes.dedup_by_key(|(code, _)| *code);
        codes.into_iter().for_each(|code| *counts.entry(code).or_default() += 1);
    }
    let ((code, label), nodes) = counts.into_iter().max_by_key(|(key, count)| (*count, Reverse(*key)))?;
    let has_it =
        of.iter().filter(|result| result.blockers.iter().any(|blocker| blocker.kind.code_name == code));
    let nearest = has_it
        .min_by_key(|result| (result.blockers.len(), missing(result), &result.name))
        .and_then(|result| {
            let lacks: Vec<String> =
                result.lacking().map(|one| format!("{} {}", one.resource, one.show(one.short()))).collect();
            (!lacks.is_empty()).then(|| format!("{} lacks {}", result.name, lacks.join(", ")))
        });
    Some(DominantReason { code: code.to_owned(), label: label.to_owned(), nodes, of: of.len(), nearest })
}
