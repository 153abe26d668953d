//! The sections `NEAREST MISSES`, with numbers, and `RESERVED`: the reservations on these nodes.

use super::Layout;
use crate::explain::{Blocker, BlockingReservation, Figure, Miss, NodeAnalysis, PodSummary};
use crate::render::printable;
use crate::render::time::between;
use crate::render::wrap::{columns, wrap};
use common::model::ResourceName;

const HEADERS: [&str; 9] = ["#", "NODE", "BLOCKERS", "ASKS", "ALLOC", "USED", "RESERVED", "FREE", "SHORT"];

/// The number of nearest misses whose reservations are shown.
const RESERVED_MAX: usize = 8;

pub(super) fn section(analysis: &NodeAnalysis, layout: &Layout) -> String {
    let mut text = "\nNEAREST MISSES\n".to_owned();
    let rows: Vec<[String; 9]> = analysis.misses.iter().flat_map(rows).collect();
    let widths: Vec<usize> = HEADERS
        .iter()
        .enumerate()
        .map(|(column, header)| {
            let widest = rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
            widest.max(header.len())
        })
        .collect();
    if widths.iter().sum::<usize>() + 2 * widths.len() <= layout.width {
        text += &line(&HEADERS.map(str::to_owned), &widths);
        text += &rows.iter().map(|row| line(row, &widths)).collect::<String>();
    } else {
        text += &analysis.misses.iter().map(|miss| stacked(miss, layout)).collect::<String>();
    }
    let blocked: usize = analysis.groups.iter().map(|group| group.nodes.len()).sum();
    let hidden = blocked.saturating_sub(analysis.misses.len());
    if hidden > 0 {
        text += &format!("  ({hidden} more: --nodes=all)\n");
    }
    text
}

fn line(cells: &[String; 9], widths: &[usize]) -> String {
    let padded: Vec<String> =
        cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
    format!("  {}\n", padded.join("  ").trim_end())
}

/// The resources that are shown for a node: those that are short, else the first that the pod requests.
fn shown(miss: &Miss) -> Vec<&Figure> {
    let lacking: Vec<&Figure> = miss.figures.iter().filter(|one| one.short() > 0).collect();
    if !lacking.is_empty() {
        return lacking;
    }
    let first = miss.figures.iter().find(|one| one.resource != ResourceName::Pods);
    first.or(miss.figures.first()).into_iter().collect()
}

fn rows(miss: &Miss) -> Vec<[String; 9]> {
    let name = [miss.rank.to_string(), miss.name.clone(), blockers(miss)];
    let figures = shown(miss);
    if figures.is_empty() {
        let [rank, node, blockers] = name;
        return vec![
            [rank, node, blockers]
                .into_iter()
                .chain(vec![String::new(); 6])
                .collect::<Vec<_>>()
                .try_into()
                .unwrap_or_default(),
        ];
    }
    let mut rows = Vec::new();
    for (at, figure) in figures.into_iter().enumerate() {
        let [rank, node, blockers] = if at == 0 { name.clone() } else { Default::default() };
        let numbers = &figure.numbers;
        let short = if figure.short() == 0 { "-".to_owned() } else { figure.show(figure.short()) };
        rows.push([
            rank,
            node,
            blockers,
            format!("{} {}", figure.resource, figure.show(numbers.asks)),
            figure.show(numbers.allocatable),
            figure.show(numbers.used),
            figure.show(numbers.reserved),
            figure.show(figure.free()),
            short,
        ]);
    }
    rows
}

/// The blockers in few words, for a column: `cpu, memory`, `label`, `taint`.
fn blockers(miss: &Miss) -> String {
    let mut all: Vec<String> = Vec::new();
    for blocker in &miss.blockers {
        let word = word(blocker);
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all.join(", ")
}

fn word(blocker: &Blocker) -> String {
    match &blocker.figure {
        Some(figure) => figure.resource.to_string(),
        None => match &*blocker.code {
            "Spread" => "spread".to_owned(),
            "SpreadLabel" | "NodeAffinity" => "label".to_owned(),
            "Affinity" => "affinity".to_owned(),
            "AntiAffinity" | "ExistingAntiAffinity" => "anti-affinity".to_owned(),
            "VolumeElsewhere" | "VolumeZone" => "volume".to_owned(),
            _ => blocker.label.clone(),
        },
    }
}

/// One node on several lines, if the table would be too wide.
fn stacked(miss: &Miss, layout: &Layout) -> String {
    let mut text =
        wrap(&format!("  {:<2} ", miss.rank), &format!("{}: {}", miss.name, blockers(miss)), 5, layout.width);
    for figure in shown(miss) {
        let numbers = &figure.numbers;
        let short = if figure.short() == 0 { "-".to_owned() } else { figure.show(figure.short()) };
        let words = format!(
            "{}: asks {}, alloc {}, used {}, reserved {}, free {}, short {short}",
            figure.resource,
            figure.show(numbers.asks),
            figure.show(numbers.allocatable),
            figure.show(numbers.used),
            figure.show(numbers.reserved),
            figure.show(figure.free()),
        );
        text += &wrap("     ", &words, 7, layout.width);
    }
    text
}

/// The reservations on the nearest nodes that hold resources of which the pod finds too little.
pub(super) fn reservations(pod_summary: &PodSummary, analysis: &NodeAnalysis, layout: &Layout) -> String {
    let mut text = String::new();
    for miss in analysis.misses.iter().take(RESERVED_MAX) {
        for reservation in &miss.reservations {
            text += &kept(pod_summary, miss, reservation, layout);
        }
    }
    if text.is_empty() { text } else { format!("\nRESERVED\n{text}") }
}

/// A reservation on two lines, owner and name: a UID alone takes half of a terminal's width.
fn kept(pod_summary: &PodSummary, miss: &Miss, reservation: &BlockingReservation, layout: &Layout) -> String {
    let amounts: Vec<String> = reservation
        .amounts
        .iter()
        .map(|(resource, amount)| format!("{resource} {}", resource.format(*amount)))
        .collect();
    let owner_text = match &reservation.owner {
        Some(owner) => format!("{}/{} in {}", owner.kind, owner.name, owner.namespace),
        None => "an owner that was not found".to_owned(),
    };
    let not_enforced = match (pod_summary.enforced, pod_summary.enforcement_known) {
        (true, _) => "",
        (false, true) => " (not enforced)",
        (false, false) => " (unknown whether enforced)",
    };
    let until = match reservation.expires {
        Some(expires) => format!("{} left", between(pod_summary.now, expires)),
        None => "no expiry".to_owned(),
    };
    let words =
        format!("{} keeps {} for {}{not_enforced}", miss.name, amounts.join(", "), printable(&owner_text));
    wrap("  ", &words, 4, layout.width) + &format!("    reservation {}, {until}\n", reservation.name)
}
