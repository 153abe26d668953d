//! What watches the daemon: rules, dashboard, runbook and keys for k9s name only what there is, and Prometheus' own promtool takes
//! the rules.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Binaries, workspace_dir};
use reserve_tests::monitoring::{ALERTS, Family, MetricKind, dashboard, families, rules};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

fn text(path: &str) -> String {
    std::fs::read_to_string(workspace_dir().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const PREFIXES: [&str; 5] = ["reserve_", "scheduler_", "leader_election_", "rest_client_", "process_"];

/// Every metric that an expression names, with the labels that stand in its braces.
fn named(expression: &str) -> Vec<(String, Vec<String>)> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut found = vec![];
    let mut rest = expression;
    while let Some(start) = rest.find(is_word) {
        rest = &rest[start..];
        let (word, after) = rest.split_at(rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()));
        rest = after;
        if !PREFIXES.iter().any(|prefix| word.starts_with(prefix)) {
            continue;
        }
        let braces =
            rest.strip_prefix('{').and_then(|inner| inner.split_once('}')).map_or("", |(inner, _)| inner);
        let labels = braces.split("\",").filter_map(|pair| pair.split(['=', '!']).next());
        let labels = labels.map(|label| label.trim().to_owned()).filter(|label| !label.is_empty()).collect();
        found.push((word.to_owned(), labels));
    }
    found
}

/// What an expression names that the daemon does not have.
fn unknown(expression: &str, families: &BTreeMap<String, Family>) -> Vec<String> {
    let mut unknown = vec![];
    for (name, labels) in named(expression) {
        let of_histogram = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|suffix| families.get(name.strip_suffix(suffix)?))
            .filter(|family| family.kind == MetricKind::Histogram);
        let exact = families.get(&name).filter(|family| family.kind != MetricKind::Histogram);
        let Some(family) = exact.or(of_histogram) else {
            unknown.push(name);
            continue;
        };
        // Prometheus itself adds these two.
        let is_known =
            |label: &String| ["job", "instance"].contains(&&**label) || family.labels.contains(label);
        unknown
            .extend(labels.iter().filter(|label| !is_known(label)).map(|label| format!("{name}{{{label}}}")));
    }
    unknown
}

/// Every expression of the rules and of the dashboard.
fn expressions() -> Result<Vec<String>> {
    let mut expressions: Vec<String> = ALERTS.iter().map(|alert| alert.expression.to_owned()).collect();
    let dashboard: Value = serde_json::from_str(&text("monitoring/dashboard.json"))?;
    for panel in dashboard["panels"].as_array().context("no panels")? {
        for target in panel["targets"].as_array().into_iter().flatten() {
            expressions.push(target["expr"].as_str().context("no expression")?.to_owned());
        }
    }
    Ok(expressions)
}

#[test]
fn every_metric_that_is_named_exists() -> Result<()> {
    let families = families();
    let expressions = expressions()?;
    assert!(expressions.len() > families.len(), "{}", expressions.len());
    for expression in expressions {
        assert!(!named(&expression).is_empty(), "{expression}");
        assert_eq!(unknown(&expression, &families), Vec::<String>::new(), "{expression}");
    }
    Ok(())
}

#[test]
fn a_metric_that_does_not_exist_is_found() {
    let families = families();
    for (expression, wanted) in [
        ("reserve_heldd > 1", "reserve_heldd"),
        ("rate(reserve_held_total[5m])", "reserve_held_total"),
        ("reserve_reservations{status=\"short\"}", "reserve_reservations{status}"),
        ("reserve_acknowledgement_seconds > 1", "reserve_acknowledgement_seconds"),
        ("sum(reserve_held_bucket)", "reserve_held_bucket"),
        ("x * on (job) reserve_biuld_info", "reserve_biuld_info"),
    ] {
        assert_eq!(unknown(expression, &families), [wanted], "{expression}");
    }
}

/// Every metric has a panel; one that is new, or gone, is noticed.
#[test]
fn the_files_are_what_make_monitoring_writes() -> Result<()> {
    let families = families();
    let wanted = serde_json::to_string_pretty(&dashboard(&families))? + "\n";
    assert!(text("monitoring/dashboard.json") == wanted, "run `make monitoring`");
    assert_eq!(text("monitoring/rules.yaml"), rules(), "run `make monitoring`");
    let shown: BTreeSet<String> =
        expressions()?.iter().flat_map(|one| named(one)).map(|(name, _)| name).collect();
    for (name, family) in &families {
        let shown_as =
            if family.kind == MetricKind::Histogram { format!("{name}_bucket") } else { name.clone() };
        assert!(shown.contains(&shown_as), "{name} is shown nowhere");
    }
    Ok(())
}

/// The tables of docs/metrics.md have each metric, and nothing else.
#[test]
fn the_documentation_names_every_metric() {
    let families = families();
    let rows = text("docs/metrics.md");
    let cells = rows.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let documented: BTreeSet<&str> = names
        .filter(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)) && !name.ends_with('…'))
        .collect();
    let of_process = |name: &&str| name.starts_with("process_");
    let existing: BTreeSet<&str> =
        families.keys().map(String::as_str).filter(|name| !of_process(name)).collect();
    assert_eq!(documented, existing);
}

#[test]
fn promtool_finds_no_fault_with_the_rules_and_each_alert_fires() -> Result<()> {
    let promtool = Binaries::locate_checker("promtool")?;
    let arguments: [&[&str]; 2] = [
        &["check", "rules", "--lint=all", "--lint-fatal", "rules.yaml"],
        &["test", "rules", "rules_test.yaml"],
    ];
    for words in arguments {
        let output =
            Command::new(&promtool).args(words).current_dir(workspace_dir().join("monitoring")).output()?;
        let said = [output.stdout, output.stderr].concat();
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said));
    }
    let cases = text("monitoring/rules_test.yaml");
    for alert in ALERTS {
        assert!(cases.contains(&format!("alertname=\"{}\"", alert.name)), "{} is not tested", alert.name);
    }
    Ok(())
}

/// Every query of the dashboard is PromQL: promtool takes it as a rule, with values for what Grafana puts in.
#[test]
fn promtool_reads_every_query_of_the_dashboard() -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut rules = vec![];
    for (number, expression) in expressions()?.iter().enumerate() {
        let expression = expression.replace("$__rate_interval", "5m").replace("$job", ".*");
        ensure!(!expression.contains("$__"), "{expression}");
        rules.push(json!({"record": format!("query:{number}"), "expr": expression}));
    }
    let file = json!({"groups": [{"name": "dashboard", "rules": rules}]});
    std::fs::write(home.path().join("rules.yaml"), file.to_string())?;
    let mut promtool = Command::new(Binaries::locate_checker("promtool")?);
    let output = promtool.args(["check", "rules", "rules.yaml"]).current_dir(home.path()).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Each alert links to a section that has its name, and the runbook has no sections of alerts that are gone.
#[test]
fn every_alert_has_its_section_in_the_runbook() {
    let runbook = text("docs/runbook.md");
    let sections: Vec<&str> = runbook.lines().filter_map(|line| line.strip_prefix("## Reserve")).collect();
    let names: Vec<&str> = ALERTS.iter().filter_map(|alert| alert.name.strip_prefix("Reserve")).collect();
    assert_eq!(sections, names);
    for alert in ALERTS {
        assert_eq!(alert.runbook(), format!("docs/runbook.md#{}", alert.name.to_lowercase()));
    }
}

/// The command of each key parses with the names that k9s puts in, and no two keys of one view are the same.
#[test]
fn the_keys_for_k9s_type_commands_that_exist() -> Result<()> {
    let plugins: Value = serde_saphyr::from_str(&text("monitoring/k9s-plugins.yaml"))?;
    let plugins = plugins["plugins"].as_object().context("no plugins")?;
    let mut keys = BTreeSet::new();
    for (name, plugin) in plugins {
        for scope in plugin["scopes"].as_array().context("no scopes")? {
            ensure!(keys.insert(format!("{scope} {}", plugin["shortCut"])), "{name} has a key that is taken");
        }
        let script = plugin["args"][1].as_str().context("no script")?;
        let command =
            script.split([';', '|']).next().unwrap_or_default().replace("2>&1", "").replace('"', "");
        let command = command
            .replace("$RESOURCE_NAME", "deployments")
            .replace("$NAMESPACE", "shop")
            .replace("$CONTEXT", "c")
            .replace("$NAME", "web");
        ensure!(!command.contains('$'), "{name}: {command}");
        let words = command.split_whitespace().skip_while(|word| *word == "kubectl");
        let parsed = kubectl_reserve::command().no_binary_name(false).try_get_matches_from(words);
        parsed.with_context(|| format!("{name}: {command}"))?;
    }
    assert_eq!(plugins.len(), 5);
    Ok(())
}
