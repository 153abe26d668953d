//! The nodes that come nearest, with the numbers; and for whom they keep room.

use super::View;
use crate::explain::{About, Blocker, Figure, Judged, Keeper, Miss};
use crate::render::printable;
use crate::render::time::between;
use crate::render::wrap::{columns, wrap};
use common::model::ResourceName;

const HEADERS: [&str; 9] = ["#", "NODE", "BLOCKERS", "ASKS", "ALLOC", "USED", "RESERVED", "FREE", "SHORT"];

/// Nearest misses whose reservations are told one by one.
const TOLD: usize = 8;

pub(super) fn section(judged: &Judged, view: &View) -> String {
    let mut text = "\nNEAREST MISSES\n".to_owned();
    let rows: Vec<[String; 9]> = judged.misses.iter().flat_map(rows).collect();
    let widths: Vec<usize> = HEADERS
        .iter()
        .enumerate()
        .map(|(column, header)| {
            let widest = rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
            widest.max(header.len())
        })
        .collect();
    if widths.iter().sum::<usize>() + 2 * widths.len() <= view.width {
        text += &line(&HEADERS.map(str::to_owned), &widths);
        text += &rows.iter().map(|row| line(row, &widths)).collect::<String>();
    } else {
        text += &judged.misses.iter().map(|miss| stacked(miss, view)).collect::<String>();
    }
    let blocked: usize = judged.groups.iter().map(|group| group.nodes.len()).sum();
    let hidden = blocked.saturating_sub(judged.misses.len());
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

/// The resources that are shown of a node: those that it lacks, else the first that the pod asks for.
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

/// `cpu, memory`, `label disktype`, `taint dedicated`: what is in the way in as few words as a column has.
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

/// One node in two lines, where a table is too wide.
fn stacked(miss: &Miss, view: &View) -> String {
    let mut text =
        wrap(&format!("  {:<2} ", miss.rank), &format!("{}: {}", miss.name, blockers(miss)), 5, view.width);
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
        text += &wrap("     ", &words, 7, view.width);
    }
    text
}

/// For whom room is kept on the nearest nodes, of what the pod lacks there.
pub(super) fn reservations(about: &About, judged: &Judged, view: &View) -> String {
    let mut text = String::new();
    for miss in judged.misses.iter().take(TOLD) {
        for keeper in &miss.keeps {
            text += &kept(about, miss, keeper, view);
        }
    }
    if text.is_empty() { text } else { format!("\nRESERVED\n{text}") }
}

/// The owner on this line, the reservation on the next: a UID alone takes half a terminal.
fn kept(about: &About, miss: &Miss, keeper: &Keeper, view: &View) -> String {
    let amounts: Vec<String> = keeper
        .keeps
        .iter()
        .map(|(resource, amount)| format!("{resource} {}", resource.format(*amount)))
        .collect();
    let whose = match &keeper.owner {
        Some(owner) => format!("{}/{} in {}", owner.kind, owner.name, owner.namespace),
        None => "an owner that was not found".to_owned(),
    };
    let not_enforced = if about.enforced { "" } else { " (not enforced)" };
    let until = match keeper.expires {
        Some(expires) => format!("{} left", between(about.now, expires)),
        None => "no expiry".to_owned(),
    };
    let words = format!("{} keeps {} for {}{not_enforced}", miss.name, amounts.join(", "), printable(&whose));
    wrap("  ", &words, 4, view.width) + &format!("    reservation {}, {until}\n", keeper.name)
}
