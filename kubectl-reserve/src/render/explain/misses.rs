//! The sections `NEAREST MISSES`, with numbers, and `RESERVED`: the reservations on these nodes.

use super::Layout;
use crate::amount::{column, shown as shown_amount};
use crate::explain::{Blocker, BlockingReservation, Figure, Miss, NodeAnalysis, PodSummary};
use crate::render::printable;
use crate::render::time::between;
use crate::render::wrap::{columns, wrap};
use crate::ui::{Paint, Tone};
use common::model::ResourceName;
use std::collections::BTreeMap;

const HEADERS: [&str; 9] = ["#", "NODE", "BLOCKERS", "ASKS", "ALLOC", "USED", "RESERVED", "FREE", "SHORT"];

/// The number of nearest misses whose reservations are shown.
const RESERVED_MAX: usize = 8;

pub(super) fn section(analysis: &NodeAnalysis, layout: &Layout) -> String {
    let mut text = "\nNEAREST MISSES\n".to_owned();
    let units = Units::of(analysis.misses.iter().flat_map(shown));
    let rows: Vec<[String; 9]> = analysis.misses.iter().flat_map(|miss| rows(miss, &units)).collect();
    let widths: Vec<usize> = HEADERS
        .iter()
        .enumerate()
        .map(|(column, header)| {
            let widest = rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
            widest.max(header.len())
        })
        .collect();
    if widths.iter().sum::<usize>() + 2 * widths.len() <= layout.width {
        text += &line(&HEADERS.map(str::to_owned), &widths, Paint::default());
        text += &rows.iter().map(|row| line(row, &widths, layout.paint)).collect::<String>();
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

/// A row of the table; the shortage, its last cell, is painted.
fn line(cells: &[String; 9], widths: &[usize], paint: Paint) -> String {
    let padded: Vec<String> =
        cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
    let line = format!("  {}", padded.join("  ").trim_end());
    let short = cells[8].as_str();
    match line.strip_suffix(short).filter(|_| short != "-") {
        Some(before) => format!("{before}{}\n", paint.paint(Tone::Bad, short)),
        None => line + "\n",
    }
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

fn rows(miss: &Miss, units: &Units) -> Vec<[String; 9]> {
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
        let [asks, allocatable, used, reserved, free, short] = units.show(figure);
        let asks = format!("{} {asks}", figure.resource);
        rows.push([rank, node, blockers, asks, allocatable, used, reserved, free, short]);
    }
    rows
}

/// The amounts of each resource in the table, which are all shown in one unit.
struct Units(BTreeMap<ResourceName, Vec<i64>>);

impl Units {
    fn of<'f>(figures: impl Iterator<Item = &'f Figure>) -> Self {
        let mut all: BTreeMap<ResourceName, Vec<i64>> = BTreeMap::new();
        figures.for_each(|figure| all.entry(figure.resource.clone()).or_default().extend(amounts(figure)));
        Self(all)
    }

    /// What is asked for, allocatable, used, reserved, free and short.
    fn show(&self, figure: &Figure) -> [String; 6] {
        let all = self.0.get(&figure.resource).map_or(&[][..], Vec::as_slice);
        let own = amounts(figure);
        let cells = column(&figure.resource, &[&own[..], all].concat());
        let mut cells: Vec<String> = cells.into_iter().take(own.len()).collect();
        if let (0, Some(short)) = (figure.short(), cells.last_mut()) {
            "-".clone_into(short);
        }
        cells.try_into().unwrap_or_default()
    }
}

fn amounts(figure: &Figure) -> [i64; 6] {
    let numbers = &figure.numbers;
    [numbers.asks, numbers.allocatable, numbers.used, numbers.reserved, figure.free(), figure.short()]
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
        let [asks, allocatable, used, reserved, free, short] = Units::of([figure].into_iter()).show(figure);
        let words = format!(
            "{}: asks {asks}, alloc {allocatable}, used {used}, reserved {reserved}, free {free}, short {short}",
            figure.resource
        );
        text += &wrap("     ", &words, 7, layout.width);
    }
    text
}

/// The nearest node on few lines: what it lacks in numbers, and its other blockers.
pub(super) fn nearest(pod_summary: &PodSummary, miss: &Miss, layout: &Layout) -> String {
    let lacking: Vec<&Figure> = miss.figures.iter().filter(|one| one.short() > 0).collect();
    let sums = lacking.iter().map(|figure| {
        let [asks, allocatable, used, reserved, free, short] = Units::of([*figure].into_iter()).show(figure);
        let holders = holders(miss, &figure.resource, pod_summary.enforced);
        format!(
            "{} {short} short: asks {asks}, free {free} = {allocatable} - {used} used - {reserved} reserved{holders}",
            figure.resource
        )
    });
    let other = |blocker: &Blocker| match &blocker.evidence {
        Some(evidence) => format!("{} ({evidence})", blocker.label),
        None => blocker.label.clone(),
    };
    let others = miss.blockers.iter().filter(|blocker| blocker.figure.is_none()).map(other);
    let mut parts: Vec<String> = sums.chain(others).collect();
    if lacking.is_empty() && miss.blockers.len() == 1 {
        parts.push("it has the room".to_owned());
    }
    let text =
        wrap("NEAREST  ", &format!("{}: {}", miss.name, printable(&parts.join("; "))), 9, layout.width);
    let paint = |text: String, figure: &&Figure| {
        let short = format!("{} {} short", figure.resource, figure.show(figure.short()));
        text.replacen(&short, &layout.paint.paint(Tone::Bad, &short), 1)
    };
    lacking.iter().fold(text, paint)
}

/// The reservations that hold the resource: ` (7f3a0c for StatefulSet/pg)`.
fn holders(miss: &Miss, resource: &ResourceName, is_enforced: bool) -> String {
    let holds = |one: &&BlockingReservation| one.amounts.iter().any(|(held, _)| held == resource);
    let all: Vec<String> = miss.reservations.iter().filter(holds).map(holder).collect();
    match &all[..] {
        [] => String::new(),
        all if is_enforced => format!(" ({})", all.join(", ")),
        all => format!(" ({}, not enforced)", all.join(", ")),
    }
}

/// A reservation and its owner, in words.
pub(super) fn holder(reservation: &BlockingReservation) -> String {
    let owner = reservation.owner.as_ref();
    let owner = owner
        .map_or_else(|| "an owner that was not found".to_owned(), |one| format!("{}/{}", one.kind, one.name));
    format!("{} for {owner}", reservation.name)
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
        .map(|(resource, amount)| format!("{resource} {}", shown_amount(resource, *amount)))
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
