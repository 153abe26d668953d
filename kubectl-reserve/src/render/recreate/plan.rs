//! The plan of a recreation: what is done to the pod, which budgets protect it, which Pending pods could take its room.

use crate::flow::budget::Budget;
use crate::flow::recreate::KeepMethod;
use crate::render::printable;
use common::cluster::Enforcement;

/// The width that lines are wrapped at.
const WIDTH: usize = 80;

/// The column where the text beside a label begins.
const INDENT: usize = 12;

/// The maximum number of competing pods that are named.
const NAMED_MAX: usize = 3;

/// What the user should know before the pod is recreated.
pub(crate) struct RecreatePlan {
    /// `namespace/name`.
    pub(crate) pod: String,
    /// The owners, nearest first.
    pub(crate) owners: Vec<String>,
    pub(crate) node: String,
    /// The state of the node; `None` if it may not be read.
    pub(crate) node_state: Option<String>,
    /// The target node, if the pod is moved.
    pub(crate) to: Option<String>,
    pub(crate) keep_method: KeepMethod,
    pub(crate) amount: String,
    /// `None` if they may not be read.
    pub(crate) budgets: Option<Vec<Budget>>,
    pub(crate) shutdown: Shutdown,
    pub(crate) scheduler: String,
    /// `None` if the Leases may not be read.
    pub(crate) enforcement: Option<Enforcement>,
    /// `None` if pods may not be read.
    pub(crate) competing_pods: Option<Vec<CompetingPod>>,
    /// Other remarks.
    pub(crate) notes: Vec<String>,
}

/// How the old pod is terminated.
pub(crate) struct Shutdown {
    /// The grace period in seconds.
    pub(crate) grace: i64,
    pub(crate) empty_dirs: Vec<String>,
    pub(crate) finalizers: Vec<String>,
    pub(crate) ignores_budgets: bool,
}

/// A Pending pod that could take the room of the recreated pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompetingPod {
    /// `namespace/name`.
    pub(crate) name: String,
    pub(crate) asks: String,
    pub(crate) scheduler: String,
    /// Whether its scheduler enforces reservations; `None` if the Leases may not be read.
    pub(crate) enforces: Option<bool>,
}

pub(crate) fn plan(plan: &RecreatePlan) -> String {
    let owners = match &plan.owners[..] {
        [] => "no controller".to_owned(),
        owners => owners.join(" < "),
    };
    let state = plan.node_state.as_deref().unwrap_or("state unknown");
    let node = format!("{}  ({state})", plan.node);
    let mut text = labelled_line("Pod", &[plan.pod.clone(), owners]);
    text += &labelled_line("Node", &[node, keeps(plan)]);
    text += &labelled_line("Budget", &[budgets(plan)]);
    text += &labelled_line("Shutdown", &[shutdown(&plan.shutdown)]);
    text += &labelled_line("Scheduler", &[format!("{}: {}", plan.scheduler, enforced(plan.enforcement))]);
    for note in &plan.notes {
        text += &labelled_line("Note", std::slice::from_ref(note));
    }
    text += &competing_pods(plan);
    text
}

fn keeps(plan: &RecreatePlan) -> String {
    match (plan.keep_method, &plan.to) {
        (KeepMethod::Reservation, Some(to)) => format!("moves to {to}, where {} is kept for it", plan.amount),
        (KeepMethod::Reservation, None) => format!("keeps {} for it while it is away", plan.amount),
        (KeepMethod::KeepAnnotation, _) => format!("the daemon keeps {} for it (reserve/keep)", plan.amount),
        (KeepMethod::Nothing, _) => "nothing is kept there for it".to_owned(),
    }
}

fn budgets(plan: &RecreatePlan) -> String {
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

fn competing_pods(plan: &RecreatePlan) -> String {
    let Some(competing_pods) = &plan.competing_pods else { return String::new() };
    let node = &plan.node;
    let head = match competing_pods.len() {
        0 => return format!("Nobody who is Pending now could take its place on {node}\n"),
        1 => "1 Pending pod".to_owned(),
        count => format!("{count} Pending pods"),
    };
    let mut text = wrapped(
        &format!("If it were deleted without a reservation: {head} could take its place on {node}"),
        0,
    );
    let named: Vec<String> =
        competing_pods.iter().take(NAMED_MAX).map(|rival| format!("{} {}", rival.name, rival.asks)).collect();
    let more = match competing_pods.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(", +{more} more"),
    };
    text += &format!("{:INDENT$}{}", "", wrapped(&format!("({}{more})", named.join(", ")), INDENT));
    text
}

/// A label with parts beside it: on one line if they fit, else one part below the other.
fn labelled_line(label: &str, parts: &[String]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| printable(part)).collect();
    let line = parts.join("   ");
    let start = format!("{label:<INDENT$}");
    if INDENT + line.chars().count() <= WIDTH {
        return format!("{start}{line}\n");
    }
    let below = |part: &String| wrapped(part, INDENT);
    start + &parts.iter().map(below).collect::<Vec<_>>().join(&" ".repeat(INDENT))
}

/// Text wrapped between words; continuation lines are indented. Ends with a newline.
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
