//! The plan: what will be done to which pod, what protects it, who could take its room.

use crate::flow::budget::Budget;
use crate::flow::recreate::Keeping;
use crate::render::printable;
use common::cluster::Enforcement;

/// The widest line, if it can be broken at all.
const WIDTH: usize = 80;

/// Where what is said about something begins.
const INDENT: usize = 12;

/// Rivals that are named.
const NAMED_MAX: usize = 3;

/// What there is to know before anything is done.
pub(crate) struct Plan {
    /// `namespace/name`.
    pub(crate) pod: String,
    /// The owners, nearest first.
    pub(crate) owners: Vec<String>,
    pub(crate) node: String,
    /// In a word or two; none if it may not be read.
    pub(crate) node_state: Option<String>,
    /// Where it is to go instead, if it is moved.
    pub(crate) to: Option<String>,
    pub(crate) keeping: Keeping,
    /// What is kept.
    pub(crate) amount: String,
    /// None if they may not be read.
    pub(crate) budgets: Option<Vec<Budget>>,
    pub(crate) shutdown: Shutdown,
    pub(crate) scheduler: String,
    /// None if that may not be read.
    pub(crate) enforcement: Option<Enforcement>,
    /// None if they may not be read.
    pub(crate) rivals: Option<Vec<Rival>>,
    /// Whatever else is worth knowing.
    pub(crate) notes: Vec<String>,
}

/// How the pod ends.
pub(crate) struct Shutdown {
    /// Seconds.
    pub(crate) grace: i64,
    pub(crate) empty_dirs: Vec<String>,
    pub(crate) finalizers: Vec<String>,
    /// Whether budgets are not asked.
    pub(crate) ignores_budgets: bool,
}

/// A Pending pod that would fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rival {
    /// `namespace/name`.
    pub(crate) name: String,
    pub(crate) asks: String,
    pub(crate) scheduler: String,
    /// Whether its scheduler enforces reservations.
    pub(crate) enforces: bool,
}

/// The plan as text.
pub(crate) fn plan(plan: &Plan) -> String {
    let owners = match &plan.owners[..] {
        [] => "no controller".to_owned(),
        owners => owners.join(" < "),
    };
    let state = plan.node_state.as_deref().unwrap_or("state unknown");
    let node = format!("{}  ({state})", plan.node);
    let mut text = said("Pod", &[plan.pod.clone(), owners]);
    text += &said("Node", &[node, keeps(plan)]);
    text += &said("Budget", &[budgets(plan)]);
    text += &said("Shutdown", &[shutdown(&plan.shutdown)]);
    text += &said("Scheduler", &[format!("{}: {}", plan.scheduler, enforced(plan.enforcement))]);
    for note in &plan.notes {
        text += &said("Note", std::slice::from_ref(note));
    }
    text += &rivals(plan);
    text
}

fn keeps(plan: &Plan) -> String {
    match (plan.keeping, &plan.to) {
        (Keeping::Reservation, Some(to)) => format!("moves to {to}, where {} is kept for it", plan.amount),
        (Keeping::Reservation, None) => format!("keeps {} for it while it is away", plan.amount),
        (Keeping::Wish, _) => format!("the daemon keeps {} for it (reserve/keep)", plan.amount),
        (Keeping::Nothing, _) => "nothing is kept there for it".to_owned(),
    }
}

fn budgets(plan: &Plan) -> String {
    if plan.shutdown.ignores_budgets {
        return "not asked (--ignore-pdb)".to_owned();
    }
    let one = |budget: &Budget| {
        let plural = if budget.allowed == 1 { "" } else { "s" };
        format!(
            "{}: {} disruption{plural} allowed (needs {} healthy, has {})",
            budget.name, budget.allowed, budget.needs, budget.has
        )
    };
    match plan.budgets.as_deref() {
        None => "unknown: you may not list poddisruptionbudgets".to_owned(),
        Some([]) => "none".to_owned(),
        Some(budgets) => budgets.iter().map(one).collect::<Vec<_>>().join("; "),
    }
}

fn shutdown(shutdown: &Shutdown) -> String {
    let list = |what: &str, all: &[String]| match all {
        [] => format!("no {what}s").replace("emptyDirs", "emptyDir"),
        all => format!("{what} {}", all.join(", ")),
    };
    format!(
        "grace {}s, {}, {}",
        shutdown.grace,
        list("emptyDir", &shutdown.empty_dirs),
        list("finalizer", &shutdown.finalizers)
    )
}

fn enforced(enforcement: Option<Enforcement>) -> &'static str {
    match enforcement {
        Some(Enforcement::Scheduler) => "enforces reservations (it is the daemon)",
        Some(Enforcement::Extender) => "enforces reservations (it asks the daemon)",
        Some(Enforcement::Nobody) => "does not enforce reservations",
        None => "unknown whether it enforces (you may not list leases)",
    }
}

fn rivals(plan: &Plan) -> String {
    let Some(rivals) = &plan.rivals else { return String::new() };
    let node = &plan.node;
    let head = match rivals.len() {
        0 => return format!("Nobody who is Pending now could take its place on {node}\n"),
        1 => "1 Pending pod".to_owned(),
        count => format!("{count} Pending pods"),
    };
    let mut text = wrapped(
        &format!("If it were deleted without a reservation: {head} could take its place on {node}"),
        0,
    );
    let named: Vec<String> =
        rivals.iter().take(NAMED_MAX).map(|rival| format!("{} {}", rival.name, rival.asks)).collect();
    let more = match rivals.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(", +{more} more"),
    };
    text += &format!("{:INDENT$}{}", "", wrapped(&format!("({}{more})", named.join(", ")), INDENT));
    text
}

/// A label and what is said about it: on one line if it fits, else one part below the other.
fn said(label: &str, parts: &[String]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| printable(part)).collect();
    let line = parts.join("   ");
    let start = format!("{label:<INDENT$}");
    if INDENT + line.chars().count() <= WIDTH {
        return format!("{start}{line}\n");
    }
    let below = |part: &String| wrapped(part, INDENT);
    start + &parts.iter().map(below).collect::<Vec<_>>().join(&" ".repeat(INDENT))
}

/// Broken between words so that it fits, what follows the first line under its beginning; ends with a line's end.
fn wrapped(text: &str, indent: usize) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    let between = format!("\n{}", " ".repeat(if indent == 0 { INDENT } else { indent }));
    lines.join(&between) + "\n"
}
