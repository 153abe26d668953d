//! The layers of a picture: what `explain`, `fit`, `nodes` and `list` found, node by node.

use super::{Layer, Meaning, NodeTile, Remedy};
use crate::explain::{Blocker, Conclusion, Fix, Harm, Miss, NodeAnalysis, Report};
use crate::fit::FitResult;
use crate::render::explain::{Layout, header, shell, verdict_words};
use crate::render::fit::verdict as fit_verdict;
use crate::render::plural;
use crate::ui::style::Paint;
use std::collections::BTreeMap;

/// The width of lines that pages wrap by themselves.
const UNWRAPPED: Layout = Layout { width: usize::MAX, paint: Paint { has_color: false } };

/// A layer without nodes.
pub(crate) fn of_words(title: &str, lines: Vec<String>) -> Layer {
    Layer { title: title.to_owned(), lines, ..Layer::default() }
}

/// Every node, by whether it is ready and something is reserved there.
pub(crate) fn of_nodes(tiles: &[NodeTile]) -> Layer {
    let mut layer = of_words("All nodes", Vec::new());
    for tile in tiles {
        let is_overcommitted = tile.room.free().iter().any(|(_, free)| free < 0);
        let (label, meaning) = match () {
            () if tile.status != "Ready" => (tile.status.as_str(), Meaning::Blocked),
            () if is_overcommitted => ("promised more than it has", Meaning::Blocked),
            () if !tile.room.reserved.is_zero() => ("room is reserved", Meaning::Blocked),
            () => ("nothing reserved", Meaning::Plain),
        };
        layer.mark(&tile.name, label, meaning, 0, String::new());
    }
    layer
}

/// The nodes with reservations, by the states of these.
pub(crate) fn of_reservations(tiles: &[NodeTile]) -> Layer {
    let count = tiles.iter().map(|tile| tile.reservations.len()).sum();
    let line = format!("{} on {}.", plural(count, "reservation"), plural(tiles.len(), "node"));
    let mut layer = of_words("Reservations", vec![line]);
    for tile in tiles {
        // Without the remark in brackets.
        let states = tile.reservations.iter().filter_map(|one| one.state.split(" (").next());
        let mut states: Vec<&str> = states.collect();
        states.sort_unstable();
        states.dedup();
        layer.mark(&tile.name, &states.join(" + "), Meaning::Blocked, 0, String::new());
    }
    layer
}

/// The answer about one pod; if it is not about nodes, they are shown as `of_nodes` does. `analyse` must have been asked to group by reason.
pub(crate) fn of_report(report: &Report, tiles: &[NodeTile]) -> Layer {
    let pod_summary = &report.pod_summary;
    let (_, verdict) = verdict_words(report);
    let mut lines: Vec<String> = header(pod_summary, &UNWRAPPED).lines().map(str::to_owned).collect();
    lines.insert(0, verdict);
    let mut layer = of_words(&format!("{}/{}", pod_summary.namespace, pod_summary.name), lines);
    layer.asks = pod_summary.asks.clone();
    if let Conclusion::NodeAnalysis(analysis) = &report.conclusion {
        add_analysis(&mut layer, analysis);
        layer.remedies = analysis.fixes.iter().map(remedy).collect();
        layer.lines.extend(analysis.notes.iter().cloned());
    } else {
        Layer { categories: layer.categories, marks: layer.marks, .. } = of_nodes(tiles);
    }
    if let Some(message) = &report.scheduler_message {
        layer.lines.push(format!("{} said: {message}", pod_summary.scheduler));
    }
    layer
}

fn add_analysis(layer: &mut Layer, analysis: &NodeAnalysis) {
    for node in &analysis.fits {
        layer.mark(node, "fits", Meaning::Fits, 0, String::new());
    }
    let misses: BTreeMap<&str, &Miss> =
        analysis.misses.iter().map(|miss| (miss.name.as_str(), miss)).collect();
    for group in &analysis.groups {
        for (at, node) in group.nodes.iter().enumerate() {
            let miss = misses.get(node.as_str());
            let rank = miss.map_or(at + 1, |miss| miss.rank);
            layer.mark(
                node,
                &group.label,
                Meaning::Blocked,
                rank,
                miss.map_or_else(String::new, |miss| words(miss)),
            );
        }
    }
}

/// Why the pod does not fit on a node, with the numbers.
fn words(miss: &Miss) -> String {
    let one = |blocker: &Blocker| match (&blocker.figure, &blocker.evidence) {
        (Some(figure), _) => {
            let show = |amount| figure.show(amount);
            let (asks, free, short) = (show(figure.numbers.asks), show(figure.free()), show(figure.short()));
            format!("{}: asks {asks}, free {free}, short {short}", blocker.label)
        }
        (None, Some(evidence)) => format!("{} ({evidence})", blocker.label),
        (None, None) => blocker.label.clone(),
    };
    miss.blockers.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn remedy(fix: &Fix) -> Remedy {
    let place = fix.lands_on.as_ref().map_or_else(String::new, |node| format!(" It then fits on {node}."));
    let disturbs = match (&fix.disturbs[..], &fix.lands_on) {
        ([], None) => String::new(),
        ([], Some(_)) => "; disturbs nobody".to_owned(),
        (some, _) => format!("; {}", some.join(", ")),
    };
    let missing = if fix.allowed == Some(false) { " You lack the rights for it." } else { "" };
    let commands = fix.commands.iter().map(|command| shell(command)).collect();
    let lead = if fix.harm() == Harm::Disruptive { "DISRUPTIVE: " } else { "" };
    Remedy { words: format!("{lead}{}{disturbs}.{place}{missing}", fix.description), commands }
}

/// Where the pods went, and why the other nodes do not take the next one.
pub(crate) fn of_fit(result: &FitResult, next_pod: &Conclusion) -> Layer {
    let mut lines = vec![fit_verdict(result)];
    lines.extend(
        result
            .because
            .iter()
            .filter(|_| !result.is_complete())
            .map(|because| format!("The next one: {because}")),
    );
    match result.is_enforced {
        Some(true) => {}
        Some(false) => lines.push("Their scheduler does not enforce reservations.".to_owned()),
        None => lines.push("It is unknown whether their scheduler enforces reservations.".to_owned()),
    }
    let mut layer = of_words(&result.from, lines);
    layer.asks = result.asks.clone();
    if let Conclusion::NodeAnalysis(analysis) = next_pod {
        add_analysis(&mut layer, analysis);
    }
    for (node, count) in &result.nodes {
        let pods = plural(*count as usize, "pod");
        layer.mark(
            node.as_str(),
            "gets pods",
            Meaning::Fits,
            0,
            format!("gets {pods}, which are counted as used"),
        );
    }
    layer
}
