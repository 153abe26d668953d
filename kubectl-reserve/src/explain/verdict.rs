//! What it all comes to, in plain words with one number.

use super::judge::{Seen, Sight, Teller, View};
use super::kind::Class;
use super::rank::missing;
use super::report::{Awaits, Dominant, Figure};
use super::words::count;
use common::model::ResourceName;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The verdict, a sentence each.
pub(super) fn verdict(sight: &Sight, order: &[usize], tell: &Teller<'_>) -> Vec<String> {
    if let Some(awaits) = &sight.awaits {
        return waiting(sight, awaits);
    }
    let fits: Vec<&str> =
        sight.views.iter().filter(|view| view.fits()).map(|view| view.name.as_str()).collect();
    if let Some((first, rest)) = fits.split_first() {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let scheduler = &tell.pod_context.pod.spec.scheduler_name;
        let asks = format!("If it stays Pending, is a scheduler called {scheduler} running?");
        return vec![format!("It fits now on {first}{more}."), asks];
    }
    if sight.views.is_empty() {
        return vec!["There are no nodes.".to_owned()];
    }
    if let [first, ..] = &sight.refused[..] {
        let whole = sight.refused.iter().map(|one| one.reason.to_string()).collect::<Vec<_>>().join(", ");
        let by = if first.plugin.is_empty() { String::new() } else { format!(" ({})", first.plugin) };
        return vec![format!("No node is even looked at: {whole}{by}.")];
    }
    none_fits(sight, order, tell)
}

fn waiting(sight: &Sight, awaits: &Awaits) -> Vec<String> {
    let mut all = vec![format!("It waits for {}, which is kept for it: {}.", awaits.node, awaits.because)];
    let others = sight.views.iter().filter(|view| view.fits() && view.name.as_str() != awaits.node).count();
    let could = if others == 0 {
        String::new()
    } else {
        format!(", although {} could have it", count(others, "other node"))
    };
    all.push(match awaits.for_at_most {
        Some(seconds) => {
            format!("It waits {seconds}s more at most, and then goes elsewhere if it can{could}.")
        }
        None => format!("It goes nowhere else while the reservation lives{could} (placement require)."),
    });
    all
}

fn none_fits(sight: &Sight, order: &[usize], tell: &Teller<'_>) -> Vec<String> {
    let mut all = vec!["No node fits.".to_owned()];
    let ranked: Vec<&View> = order.iter().filter_map(|index| sight.views.get(*index)).collect();
    let told = ranked.iter().find_map(|view| Some((view.id, but(view, tell)?)));
    let told_of = told.as_ref().map(|(id, _)| *id);
    all.extend(told.map(|(_, words)| words));
    let open: Vec<&View> = ranked.iter().copied().filter(|view| view.is_right_kind()).collect();
    if open.is_empty() {
        if all.len() == 1 {
            all.extend(ranked.first().map(|nearest| nearest_words(nearest, tell, "The nearest is")));
        }
        let are = if sight.views.len() == 1 { "The one node is" } else { "None of them is" };
        all.push(format!("{are} open to this pod ({}).", causes(&ranked)));
        return all;
    }
    if let Some(large) = too_large(&open) {
        all.push(large);
        return all;
    }
    let lead = match () {
        () if open.len() == sight.views.len() => "The nearest is".to_owned(),
        () => format!("Of the {} open to this pod the nearest is", count(open.len(), "node")),
    };
    if let Some(nearest) = open.first().filter(|nearest| Some(nearest.id) != told_of) {
        all.push(nearest_words(nearest, tell, &lead));
    }
    all.extend(fragmented(&open));
    all
}

/// `node-1 has the room but is cordoned.`
fn but(view: &View, tell: &Teller<'_>) -> Option<String> {
    let name = &view.name;
    if view.classes() == [Class::Hold] {
        let short: Vec<String> =
            view.lacking().map(|one| format!("{} {} short", one.resource, one.show(one.short()))).collect();
        let short = if short.is_empty() { String::new() } else { format!(" ({})", short.join(", ")) };
        return Some(format!("{name} has the room, but keeps it for others{short}."));
    }
    let [only] = &view.blockers[..] else { return None };
    if !view.has_room() || only.kind.is_amount() {
        return None;
    }
    let particulars = tell.evidence(view, only);
    Some(match (&*only.kind.code, particulars) {
        ("Cordoned", _) => format!("{name} has the room but is cordoned."),
        ("Taint", Some(taint)) => format!("{name} has the room, but its taint {taint} is not tolerated."),
        ("NodeAffinity", Some(labels)) => format!("{name} has the room, but: {labels}."),
        (_, Some(why)) => format!("{name} has the room, but: {} ({why}).", only.kind.label),
        (_, None) => format!("{name} has the room, but: {}.", only.kind.label),
    })
}

fn nearest_words(view: &View, tell: &Teller<'_>, lead: &str) -> String {
    let short = view.lacking().map(|one| format!("{} {} short", one.resource, one.show(one.short())));
    let other = |seen: &&Seen| !seen.kind.is_amount();
    let words = |seen: &Seen| tell.evidence(view, seen).unwrap_or_else(|| seen.kind.label.clone());
    let all: Vec<String> = short.chain(view.blockers.iter().filter(other).map(words)).collect();
    format!("{lead} {}: {}.", view.name, all.join(", "))
}

/// `taint 5, wrong label 4`: each node by the first thing that makes it wrong.
fn causes(views: &[&View]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for seen in views.iter().filter_map(|view| view.blockers.first()) {
        *counts.entry(&seen.kind.label).or_default() += 1;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|(_, count)| Reverse(*count));
    sorted.iter().map(|(label, count)| format!("{label} {count}")).collect::<Vec<_>>().join(", ")
}

/// `It asks for cpu 64000m and the largest node open to it has 16000m.`
fn too_large(open: &[&View]) -> Option<String> {
    let resources = open.first()?.figures.iter();
    resources.filter_map(|one| largest(open, &one.resource)).find_map(|(name, most)| {
        (most.numbers.asks > most.numbers.allocatable).then(|| {
            format!(
                "It asks for {} {}, larger than any node open to it: {name} has {}.",
                most.resource,
                most.show(most.numbers.asks),
                most.show(most.numbers.allocatable)
            )
        })
    })
}

fn largest<'v>(open: &[&'v View], resource: &ResourceName) -> Option<(&'v str, &'v Figure)> {
    let figure = |view: &&'v View| {
        let own = view.figures.iter().find(|one| one.resource == *resource)?;
        Some((view.name.as_str(), own))
    };
    open.iter().filter_map(figure).max_by_key(|(name, one)| (one.numbers.allocatable, Reverse(*name)))
}

/// `Together they have cpu 11600m free, but no single one has 4000m: fragmented, not full.`
fn fragmented(open: &[&View]) -> Option<String> {
    let resources = open.first()?.figures.iter().map(|one| &one.resource);
    resources.filter(|resource| **resource != ResourceName::Pods).find_map(|resource| {
        let of = |view: &&View| view.figures.iter().find(|one| one.resource == *resource).cloned();
        let figures: Vec<Figure> = open.iter().filter_map(of).collect();
        // A node that could never have it is no part of the room that is there.
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

/// What is in the way on most nodes of the right kind; of all nodes if none is.
pub(super) fn dominant(views: &[View]) -> Option<Dominant> {
    let blocked: Vec<&View> = views.iter().filter(|view| !view.fits()).collect();
    let right: Vec<&View> = blocked.iter().copied().filter(|view| view.is_right_kind()).collect();
    let of = if right.is_empty() { &blocked } else { &right };
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for view in of {
        let mut codes: Vec<(&str, &str)> =
            view.blockers.iter().map(|seen| (&*seen.kind.code, &*seen.kind.label)).collect();
        codes.sort_unstable();
        codes.dedup_by_key(|(code, _)| *code);
        codes.into_iter().for_each(|code| *counts.entry(code).or_default() += 1);
    }
    let ((code, label), nodes) = counts.into_iter().max_by_key(|(key, count)| (*count, Reverse(*key)))?;
    let has_it = of.iter().filter(|view| view.blockers.iter().any(|seen| seen.kind.code == code));
    let nearest =
        has_it.min_by_key(|view| (view.blockers.len(), missing(view), &view.name)).and_then(|view| {
            let lacks: Vec<String> =
                view.lacking().map(|one| format!("{} {}", one.resource, one.show(one.short()))).collect();
            (!lacks.is_empty()).then(|| format!("{} lacks {}", view.name, lacks.join(", ")))
        });
    Some(Dominant { code: code.to_owned(), label: label.to_owned(), nodes, of: of.len(), nearest })
}
