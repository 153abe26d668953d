//! The text of `status` for people.

use super::{Installation, ReplicaLine, SchedulerLine, ShortNode, StatusReport};
use crate::amount::column;
use crate::render::table::table;
use crate::render::time::between;
use crate::render::wrap::{WIDTH, wrap};
use crate::render::{plural, printable, wrapped};
use common::cluster::Enforcement;
use jiff::Timestamp;

const NONE: &str = "<none>";

/// The width of the labels.
const LABEL: usize = 14;

pub(super) fn text(status: &StatusReport, is_wide: bool, has_headers: bool) -> String {
    let mut text = daemon(status, is_wide, has_headers);
    text.push_str(&schedulers(status, has_headers));
    text.push_str(&reservations(status, has_headers));
    text.push_str(&events(status));
    if !status.missing.is_empty() {
        text.push_str("\nNOT SHOWN     what you may not read\n");
        text.extend(status.missing.iter().map(|rule| format!("  needs: {rule}\n")));
    }
    text
}

fn daemon(status: &StatusReport, is_wide: bool, has_headers: bool) -> String {
    if status.replicas.is_empty() && !status.can_see("leases") {
        return "DAEMON        not known: you may not see the Leases of its replicas\n".into();
    }
    let installation = installation(&status.installation);
    if status.replicas.is_empty() {
        return wrap("DAEMON        ", &installation, LABEL, WIDTH);
    }
    let live = status.live().count();
    let mut text = format!("DAEMON        {} of {} live", live, plural(status.replicas.len(), "replica"));
    text.push_str(&format!("; {}\n", skew(status)));
    if live == 0 {
        text.push_str(&wrapped(&installation, "  ", WIDTH));
    }
    let mut headers = vec!["NAME", "STATE", "LEADS", "VERSION", "SEEN"];
    if is_wide {
        headers.extend(["SERVES", "EXTENDS", "NAMESPACE", "RENEWED"]);
    }
    let rows: Vec<Vec<String>> =
        status.replicas.iter().map(|replica| replica_cells(replica, is_wide, status.now)).collect();
    text.push_str(&indented(&table(has_headers.then_some(&headers), &rows)));
    let restricted: Vec<&str> =
        status.live().filter(|replica| replica.is_restricted).map(|replica| replica.name.as_str()).collect();
    if !restricted.is_empty() {
        let who = printable(&restricted.join(", "));
        let what =
            format!("{who}: may not write reservations, so it honours them, but makes and releases none");
        text.push_str(&wrapped(&what, "  ", WIDTH));
    }
    text
}

/// What is said if no replica is live.
fn installation(installation: &Installation) -> String {
    match installation {
        Installation::Missing => {
            "not installed: nothing keeps reservations. Install it: kubectl reserve install. If it runs in \
                                  another namespace than usual: --daemon-namespace NAME"
                .to_owned()
        }
        Installation::NotReady { namespace, why } => {
            format!(
                "installed in {namespace}, no replica ready: {}. Nothing keeps reservations",
                printable(why)
            )
        }
        Installation::Unknown => {
            "no replica is live: nothing keeps reservations. Whether the daemon is installed is unknown: \
                                  needs get deployments.apps in its namespace"
                .to_owned()
        }
    }
}

/// The versions of the replicas, compared with that of this command.
fn skew(status: &StatusReport) -> String {
    let mut versions: Vec<&str> = status.live().map(|replica| replica.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let client = &status.client;
    match &versions[..] {
        [] => "nothing keeps reservations now".into(),
        [one] if one == client => format!("version {one}, as this command"),
        [one] => format!("version {one}, this command is {client}"),
        several => format!("versions {}, this command is {client}", several.join(", ")),
    }
}

fn replica_cells(replica: &ReplicaLine, is_wide: bool, now: Timestamp) -> Vec<String> {
    let names = |names: &[String]| if names.is_empty() { NONE.into() } else { printable(&names.join(",")) };
    let seen = match (replica.is_live, replica.is_behind) {
        (false, _) => NONE,
        (true, true) => "behind",
        (true, false) => "all",
    };
    let mut cells = vec![
        printable(&replica.name),
        if replica.is_live { "Live" } else { "Gone" }.into(),
        if replica.is_leader { "yes" } else { "no" }.into(),
        printable(&replica.version),
        seen.into(),
    ];
    if is_wide {
        let renewed = replica.renewed.map_or_else(|| NONE.into(), |at| format!("{} ago", between(at, now)));
        cells.extend([
            names(&replica.schedulers),
            names(&replica.extends),
            replica.namespace.clone(),
            renewed,
        ]);
    }
    cells
}

fn schedulers(status: &StatusReport, has_headers: bool) -> String {
    if status.schedulers.is_empty() {
        return String::new();
    }
    let cells = |line: &SchedulerLine| {
        let enforces = match line.enforcement {
            Enforcement::Scheduler => "yes: it is the daemon",
            Enforcement::Extender => "yes: it asks the daemon",
            Enforcement::Nobody if !status.can_see("leases") => "not known",
            Enforcement::Nobody => "no: reserved room looks free to it",
        };
        vec![printable(&line.name), line.pods.to_string(), line.pending.to_string(), enforces.into()]
    };
    let rows: Vec<Vec<String>> = status.schedulers.iter().map(cells).collect();
    let headers: &[&str] = &["NAME", "PODS", "PENDING", "ENFORCES"];
    format!(
        "\nSCHEDULERS    by the pods that name them\n{}",
        indented(&table(has_headers.then_some(headers), &rows))
    )
}

fn reservations(status: &StatusReport, has_headers: bool) -> String {
    if !status.can_see("nodes") {
        return String::new();
    }
    if status.total() == 0 {
        return "\nRESERVATIONS  none\n".into();
    }
    let states: Vec<String> = status.states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let manual = if status.manual > 0 { format!(" ({} made by hand)", status.manual) } else { String::new() };
    let nodes = plural(status.nodes, "node");
    let summary = format!("{} on {nodes}: {}{manual}", status.total(), states.join(", "));
    let mut text = format!("\n{}", wrap("RESERVATIONS  ", &summary, LABEL, WIDTH));
    if !status.short.is_empty() {
        let headers: &[&str] = &["SHORT-NODE", "RESOURCE", "ALLOC", "USED", "RESERVED", "SHORT"];
        let rows: Vec<Vec<String>> = status.short.iter().flat_map(short_cells).collect();
        text.push_str(&indented(&table(has_headers.then_some(headers), &rows)));
    }
    text
}

fn short_cells(node: &ShortNode) -> Vec<Vec<String>> {
    let cells = |(resource, has, used, kept): &(common::model::ResourceName, i64, i64, i64)| {
        let short = used.saturating_add(*kept).saturating_sub(*has);
        let mut cells = vec![node.name.clone(), resource.to_string()];
        cells.extend(column(resource, &[*has, *used, *kept, short]));
        cells
    };
    node.resources.iter().map(cells).collect()
}

fn events(status: &StatusReport) -> String {
    if status.events.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nEVENTS        what the daemon warned of in the last hour\n");
    for event in &status.events {
        let age = event.at.map_or_else(|| "<unknown>".into(), |at| between(at, status.now));
        let place =
            if event.namespace.is_empty() { String::new() } else { format!(" in {}", event.namespace) };
        let about = format!("{}/{}{place}", event.kind, event.name);
        text.push_str(&format!("  {age} ago  {}  {}\n", printable(&event.reason), printable(&about)));
        text.push_str(&wrapped(&printable(&event.message), "    ", WIDTH));
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
