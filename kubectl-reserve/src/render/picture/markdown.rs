//! `-o markdown`: a report for tickets and chat, of at most [`LINES_MAX`] lines; the details are folded.

use super::{Layer, NodeTile, Picture, Remedy, TileReservation};
use crate::amount::rounded_column;
use crate::capacity::Room;
use crate::render::time::between;
use crate::render::{plural, printable};
use common::model::ResourceName;
use std::collections::BTreeMap;

/// No report is longer.
pub(super) const LINES_MAX: usize = 60;

/// With more layers than this each is one line.
const LAYERS_WHOLE: usize = 1;
/// The most lines of each part.
const CATEGORIES: usize = 6;
const FIXES: usize = 3;
const LINES: usize = 3;
const COMMANDS: usize = 2;
const NODES: usize = 5;
const POOLS: usize = 4;
const RESERVATIONS: usize = 12;
const LAYERS: usize = 20;

impl Picture {
    /// The report.
    pub(crate) fn markdown(&self) -> String {
        let mut lines =
            vec![format!("## {}", cell(&self.title)), String::new(), self.origin(), String::new()];
        match &self.layers[..] {
            layers if layers.len() <= LAYERS_WHOLE => {
                layers.iter().for_each(|layer| whole(&mut lines, layer))
            }
            layers => each(&mut lines, layers),
        }
        if self
            .layers
            .iter()
            .all(|layer| layer.remedies.is_empty() && layer.marks.values().all(|mark| mark.rank == 0))
        {
            self.reservations(&mut lines);
        }
        self.rooms(&mut lines);
        debug_assert!(lines.len() <= LINES_MAX, "{} lines", lines.len());
        lines.join("\n") + "\n"
    }

    fn origin(&self) -> String {
        let source = &self.source;
        let what = if source.is_snapshot {
            let age = between(self.read_at, source.made_at);
            format!("Snapshot {}, {age} old", cell(&source.name))
        } else {
            format!("Cluster {}", cell(&source.name))
        };
        format!("{what}, read at {}, kubectl reserve {}", self.read_at, env!("CARGO_PKG_VERSION"))
    }

    /// What is reserved, folded.
    fn reservations(&self, lines: &mut Vec<String>) {
        let all = self.tiles.iter().flat_map(|tile| tile.reservations.iter().map(move |one| (tile, one)));
        let row = |(tile, one): (&NodeTile, &TileReservation)| {
            let cells = [&one.owner, &tile.name, &one.amount, &one.state, &one.expires, &one.name];
            format!("| {} |", cells.map(|text| cell(text)).join(" | "))
        };
        let rows: Vec<String> = all.clone().take(RESERVATIONS).map(row).collect();
        if rows.is_empty() {
            return;
        }
        let summary = match all.count() {
            count if count > RESERVATIONS => format!("{RESERVATIONS} of {count} reservations"),
            count => plural(count, "reservation"),
        };
        fold(lines, &summary, &["owner", "node", "amount", "state", "expires", "name"], rows);
    }

    /// What the pools have, folded.
    fn rooms(&self, lines: &mut Vec<String>) {
        let mut pools: BTreeMap<&str, (usize, Room)> = BTreeMap::new();
        for tile in &self.tiles {
            let (count, room) = pools.entry(&tile.pool).or_default();
            *count += 1;
            room.add(&tile.room);
        }
        let mut total = Room::default();
        self.tiles.iter().for_each(|tile| total.add(&tile.room));
        let resources = [ResourceName::Cpu, ResourceName::Memory, ResourceName::Pods];
        let row = |name: &str, count: usize, room: &Room| {
            let cells =
                resources.iter().map(|resource| rounded_column(resource, &room.get(resource)).join(" / "));
            format!("| {} | {count} | {} |", cell(name), cells.collect::<Vec<_>>().join(" | "))
        };
        let mut pools: Vec<_> = pools.into_iter().collect();
        pools.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        let mut rows: Vec<String> =
            pools.iter().take(POOLS).map(|(name, (count, room))| row(name, *count, room)).collect();
        rows.push(row("all", self.tiles.len(), &total));
        let left = pools.len().saturating_sub(POOLS);
        let more =
            if left > 0 { format!(", the {POOLS} largest of {} pools", pools.len()) } else { String::new() };
        let summary = format!("Room: allocatable / used / reserved / free{more}");
        fold(lines, &summary, &["pool", "nodes", "cpu", "memory", "pods"], rows);
    }
}

/// One line for each layer.
fn each(lines: &mut Vec<String>, layers: &[Layer]) {
    let line = |layer: &Layer| {
        let first = layer.lines.first().map_or_else(String::new, |line| cell(line));
        format!("- **{}**: {first}", cell(&layer.title))
    };
    lines.extend(layers.iter().take(LAYERS).map(line));
    if layers.len() > LAYERS {
        lines.push(format!("- and {} more", layers.len() - LAYERS));
    }
    lines.push(String::new());
}

/// A layer with its reasons, its fixes, and the nearest nodes.
fn whole(lines: &mut Vec<String>, layer: &Layer) {
    if let Some((first, rest)) = layer.lines.split_first() {
        lines.extend([format!("**{}**", cell(first)), String::new()]);
        lines.extend(rest.iter().take(LINES).map(|line| format!("- {}", cell(line))));
        lines.extend((!rest.is_empty()).then(String::new));
    }
    categories(lines, layer);
    for remedy in layer.remedies.iter().take(FIXES) {
        lines.extend(fix(remedy));
    }
    let mut marks: Vec<_> = layer.marks.iter().filter(|(_, mark)| !mark.words.is_empty()).collect();
    marks.sort_by_key(|(name, mark)| (mark.rank, *name));
    let rows: Vec<String> = marks
        .iter()
        .take(NODES)
        .map(|(name, mark)| format!("| {} | {} |", cell(name), cell(&mark.words)))
        .collect();
    if !rows.is_empty() {
        fold(lines, &format!("The nearest of {}", plural(layer.marks.len(), "node")), &["node", "why"], rows);
    }
}

fn categories(lines: &mut Vec<String>, layer: &Layer) {
    if layer.categories.is_empty() {
        return;
    }
    let counts = layer.counts();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(counts.get(*at).copied()));
    lines.extend(["| nodes | | such as |", "|---|---|---|"].map(str::to_owned));
    for at in order.iter().take(CATEGORIES) {
        let label = layer.categories.get(*at).map_or("", |category| &category.label);
        let names: Vec<String> = layer.nearest(*at).into_iter().take(3).map(cell).collect();
        lines.push(format!(
            "| {} | {} | {} |",
            counts.get(*at).copied().unwrap_or(0),
            cell(label),
            names.join(", ")
        ));
    }
    if order.len() > CATEGORIES {
        let rest: usize = order.iter().skip(CATEGORIES).filter_map(|at| counts.get(*at)).sum();
        lines.push(format!("| {rest} | {} more reasons | |", order.len() - CATEGORIES));
    }
    lines.push(String::new());
}

fn fix(remedy: &Remedy) -> Vec<String> {
    let mut lines = vec![format!("Fix: {}", cell(&remedy.words)), String::new()];
    if !remedy.commands.is_empty() {
        // Indented code needs no fence, which a command could end.
        lines.extend(
            remedy.commands.iter().take(COMMANDS).map(|command| format!("    {}", printable(command))),
        );
        lines.push(String::new());
    }
    lines
}

/// A table that is shown on a click.
fn fold(lines: &mut Vec<String>, summary: &str, headers: &[&str], rows: Vec<String>) {
    lines.extend([format!("<details><summary>{}</summary>", cell(summary)), String::new()]);
    lines.extend([format!("| {} |", headers.join(" | ")), format!("|{}", "---|".repeat(headers.len()))]);
    lines.extend(rows);
    lines.extend([String::new(), "</details>".to_owned(), String::new()]);
}

/// Text that means nothing to Markdown, and stays in its cell.
fn cell(text: &str) -> String {
    let mut escaped = String::new();
    for letter in printable(text).chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' | '@' => escaped.extend(['\\', letter]),
            letter => escaped.push(letter),
        }
    }
    escaped
}
