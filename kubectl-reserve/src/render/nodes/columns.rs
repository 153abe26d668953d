//! The columns of the table of nodes, and the bar.

use super::NodeRow;
use crate::capacity::{Room, percent, short};
use common::model::{HostPort, ResourceName};

/// One of the four amounts of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AmountKind {
    Allocatable,
    Requested,
    Reserved,
    Free,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Name,
    Status,
    /// The number of pods, and the maximum number.
    Pods,
    /// One amount of cpu, memory or pods.
    Amount(CommonResource, AmountKind),
    /// The free and the allocatable amount of any other resource.
    Other(ResourceName),
    /// Host ports; reserved ones are in brackets.
    Ports,
}

/// The resources that every node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommonResource {
    Cpu,
    Memory,
    Pods,
}

impl Column {
    pub(super) const CPU: [Self; 4] = [
        Self::Amount(CommonResource::Cpu, AmountKind::Allocatable),
        Self::Amount(CommonResource::Cpu, AmountKind::Requested),
        Self::Amount(CommonResource::Cpu, AmountKind::Reserved),
        Self::Amount(CommonResource::Cpu, AmountKind::Free),
    ];

    pub(super) const MEMORY: [Self; 3] = [
        Self::Amount(CommonResource::Memory, AmountKind::Allocatable),
        Self::Amount(CommonResource::Memory, AmountKind::Requested),
        Self::Amount(CommonResource::Memory, AmountKind::Reserved),
    ];

    pub(super) const FREE: [Self; 3] = [
        Self::Amount(CommonResource::Cpu, AmountKind::Free),
        Self::Amount(CommonResource::Memory, AmountKind::Free),
        Self::Amount(CommonResource::Pods, AmountKind::Free),
    ];

    pub(crate) fn free_of(resource: ResourceName) -> Self {
        match resource {
            ResourceName::Cpu => Self::Amount(CommonResource::Cpu, AmountKind::Free),
            ResourceName::Memory => Self::Amount(CommonResource::Memory, AmountKind::Free),
            ResourceName::Pods => Self::Amount(CommonResource::Pods, AmountKind::Free),
            other => Self::Other(other),
        }
    }

    pub(super) fn header(&self) -> String {
        match self {
            Self::Name => "NAME".into(),
            Self::Status => "STATUS".into(),
            Self::Pods => "PODS".into(),
            Self::Amount(of, part) => format!("{}-{}", of.word(), part.word()),
            Self::Other(resource) => resource.as_str().to_uppercase(),
            Self::Ports => "PORTS".into(),
        }
    }

    pub(super) fn cells(&self, lines: &[&NodeRow], has_percents: bool) -> Vec<String> {
        let plain = |line: &&NodeRow| self.cell(line);
        let Self::Amount(of, AmountKind::Requested) = self else { return lines.iter().map(plain).collect() };
        if !has_percents {
            return lines.iter().map(plain).collect();
        }
        let amounts: Vec<String> = lines.iter().map(plain).collect();
        let longest = amounts.iter().map(String::len).max().unwrap_or(0);
        let with_percent = |(line, amount): (&&NodeRow, &String)| {
            let [has, asked, ..] = line.room.get(&of.resource());
            match percent(asked, has) {
                Some(percent) => format!("{amount:<longest$} ({percent}%)"),
                None => amount.clone(),
            }
        };
        lines.iter().zip(&amounts).map(with_percent).collect()
    }

    fn cell(&self, line: &NodeRow) -> String {
        match self {
            Self::Name => line.name.clone(),
            Self::Status => line.status.clone(),
            Self::Pods => {
                let [has, asked, ..] = line.room.get(&ResourceName::Pods);
                format!("{asked}/{has}")
            }
            Self::Amount(of, part) => of.format(line.room.get(&of.resource())[*part as usize]),
            Self::Other(resource) => {
                let [has, _, _, free] = line.room.get(resource);
                format!("{}/{}", short(resource, free), short(resource, has))
            }
            Self::Ports => ports(line),
        }
    }
}

impl CommonResource {
    fn resource(self) -> ResourceName {
        match self {
            Self::Cpu => ResourceName::Cpu,
            Self::Memory => ResourceName::Memory,
            Self::Pods => ResourceName::Pods,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Memory => "MEM",
            Self::Pods => "PODS",
        }
    }

    fn format(self, amount: i64) -> String {
        short(&self.resource(), amount)
    }
}

impl AmountKind {
    fn word(self) -> &'static str {
        match self {
            Self::Allocatable => "ALLOC",
            Self::Requested => "REQ",
            Self::Reserved => "RSV",
            Self::Free => "FREE",
        }
    }
}

fn ports(line: &NodeRow) -> String {
    let (used, kept) = &line.ports;
    let used = used.iter().map(port);
    let kept = kept.iter().map(|one| format!("[{}]", port(one)));
    let all: Vec<String> = used.chain(kept).collect();
    if all.is_empty() { "<none>".into() } else { all.join(",") }
}

/// A port as `80/TCP`, with its address unless that is all addresses.
pub(super) fn port(port: &HostPort) -> String {
    let address = if port.ip.is_empty() || &*port.ip == HostPort::ALL_ADDRESSES {
        String::new()
    } else {
        format!("{}:", port.ip)
    };
    format!("{address}{}/{}", port.port, port.protocol())
}

/// How a bar is drawn: requested, reserved, free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    signs: [char; 3],
    cells: i64,
}

impl Bar {
    /// The length of the longest and of the shortest bar.
    const CELLS: i64 = 10;
    const CELLS_MIN: i64 = 4;

    /// A bar of characters that the terminal can show.
    pub(crate) fn new(has_unicode: bool) -> Self {
        Self { signs: if has_unicode { ['█', '▒', '░'] } else { ['#', '=', '.'] }, cells: Self::CELLS }
    }

    /// A bar that fits into `columns`; `None` if there are too few.
    pub(super) fn within(self, columns: usize) -> Option<Self> {
        let cells = i64::try_from(columns).unwrap_or(Self::CELLS).min(Self::CELLS);
        (cells >= Self::CELLS_MIN).then_some(Self { cells, ..self })
    }

    /// The bar of a node's cpu. An amount above zero has at least one cell, as long as there are cells left.
    pub(super) fn draw(self, room: &Room) -> String {
        let [has, asked, kept, _] = room.get(&ResourceName::Cpu);
        let cells = |amount: i64| match percent(amount, has) {
            Some(percent) if amount > 0 => percent.saturating_mul(self.cells).saturating_add(50) / 100,
            _ => 0,
        };
        let requested = cells(asked).max(i64::from(asked > 0)).min(self.cells);
        let reserved = cells(kept).max(i64::from(kept > 0)).min(self.cells - requested);
        let counts = [requested, reserved, self.cells - requested - reserved];
        let draw = |(sign, count): (char, i64)| {
            std::iter::repeat_n(sign, usize::try_from(count).unwrap_or(0)).collect::<String>()
        };
        self.signs.into_iter().zip(counts).map(draw).collect()
    }
}
