//! What `common` must not know — runtime, client, clock, machine, log —, where names on the wire are spelled, and that `explain`
//! reads no messages.

use crate::files::File;
use crate::lexer::Code;
use crate::syntax::{line_of, paths, words};

/// Paths that `common` may not name; a single segment stands for anything reached through it or by it.
const FORBIDDEN_PATHS: [(&[&str], &str); 7] = [
    (&["tokio"], "common is not asynchronous"),
    (&["kube"], "common has no client"),
    (&["tracing"], "common does not log, it returns what it found"),
    (&["SystemTime"], "take `now` as an argument"),
    (&["Instant", "now"], "take `now` as an argument"),
    (&["std", "fs"], "common does not read files; take the content as an argument"),
    (&["std", "env"], "common has no settings of its own; take them as arguments"),
];
const FORBIDDEN_MACROS: [&str; 4] = ["println", "eprintln", "print", "eprint"];

const COMMON: &str = "common/src/";
/// The only rooms that know how values look on the wire and in a file.
const WIRE: [&str; 2] = ["common/src/api/", "common/src/config/"];
const SERDE: [&str; 3] = ["serde", "serde_json", "serde_saphyr"];

/// The only file that spells our annotations, and how they begin.
const NAMES: &str = "common/src/api/names.rs";
const PREFIXES: [&str; 2] = ["reserve.", "reserve/"];

/// Where refusals are explained by their codes.
const EXPLAIN: &str = "kubectl-reserve/src/explain/";
/// What reads text from outside: the message of another scheduler, and what people write behind a flag.
const PARSERS: [&str; 2] =
    ["kubectl-reserve/src/explain/scheduler_message.rs", "kubectl-reserve/src/explain/what_if/"];
const COMPARISONS: [&str; 6] =
    ["contains", "starts_with", "ends_with", "strip_prefix", "strip_suffix", "split_once"];

/// Calls that look for a constant text in another: what a refusal is about, its plugin says.
fn reading_messages(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    let is_parser = |file: &File| PARSERS.iter().any(|parser| file.path.starts_with(parser));
    let explain = files.iter().filter(|file| file.is_product() && file.path.starts_with(EXPLAIN));
    for file in explain.filter(|file| !is_parser(file)) {
        let code = Code::new(&file.text);
        for name in COMPARISONS {
            let is_call =
                |at: &usize| code.text.get(at + name.len()..).is_some_and(|rest| rest.starts_with("(\""));
            for at in words(&code.text, name).filter(|at| is_call(at) && !code.is_test(*at)) {
                let what =
                    format!("`{name}(\"…\")`: do not read a text, ask for `Reason::code` or the evidence");
                violations.push(file.violation(line_of(&code.text, at), what));
            }
        }
    }
    violations
}

fn purity(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_product() && file.path.starts_with(COMMON)) {
        let code = Code::new(&file.text);
        let mut report = |at: usize, what: String| {
            if !code.is_test(at) {
                violations.push(file.violation(line_of(&code.text, at), what));
            }
        };
        for path in paths(&code.text).iter().filter(|path| path.segments.len() > 1) {
            for (forbidden, why) in FORBIDDEN_PATHS.iter().filter(|(forbidden, _)| path.contains(forbidden)) {
                report(path.at, format!("`{}`: {why}", forbidden.join("::")));
            }
            let is_wire = WIRE.iter().any(|room| file.path.starts_with(room));
            if SERDE.iter().any(|name| path.segments.first() == Some(name)) && !is_wire {
                let rooms = WIRE.join(" and ");
                report(path.at, format!("serde outside {rooms}; convert there to and from a wire type"));
            }
        }
        for name in FORBIDDEN_MACROS {
            let calls = words(&code.text, name)
                .filter(|at| code.text.get(at + name.len()..).is_some_and(|rest| rest.starts_with('!')));
            calls.for_each(|at| {
                report(at, format!("`{name}!`: common does not print, it returns what it found"))
            });
        }
        words(&code.text, "async")
            .for_each(|at| report(at, "`async`: common is not asynchronous".to_owned()));
    }
    violations
}

fn names_on_the_wire(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_product() && file.path != NAMES) {
        let code = Code::new(&file.text);
        for (at, literal) in code.literals().filter(|(at, _)| !code.is_test(*at)) {
            if PREFIXES.iter().any(|prefix| literal.starts_with(prefix)) {
                let what = format!("\"{literal}\" is spelled out; use or add a constant in {NAMES}");
                violations.push(file.violation(line_of(&code.text, at), what));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{assert_found, assert_none, repository};

    #[test]
    fn common_is_pure() {
        assert_none(&purity(&repository()));
    }

    #[test]
    fn purity_can_fail() {
        let bad = [
            "use tokio::sync;",
            "fn f(c: &kube::Client) {}",
            "tracing::info!(x);",
            "use std::time::{Duration, SystemTime};",
            "let t = std::time::Instant::now();",
            "use std::{collections::BTreeMap, fs};",
            "let a = std::env::args();",
            "println!(\"a\");",
            "eprintln!(\"a\");",
            "pub async fn f() {}",
            "use serde::Serialize;",
            "let v = serde_json::Value::Null;",
            "let text = serde_saphyr::to_string(&v);",
        ];
        for text in bad {
            assert_found(
                &purity(&[File::new("common/src/model/pod.rs", text)]),
                &["common/src/model/pod.rs:1"],
            );
            assert_none(&purity(&[File::new("daemon/src/watch.rs", text)]));
        }
        let good = "//! tokio, println! and async are for others\nlet kube = \"tokio::x println!\"; fn instant(now: Instant) {}";
        assert_none(&purity(&[File::new("common/src/model/pod.rs", good)]));
        assert_none(&purity(&[File::new(
            "common/src/model/pod.rs",
            "#[cfg(test)] mod tests { use std::fs; }",
        )]));
        for wire in ["common/src/api/extender.rs", "common/src/config/yaml.rs"] {
            assert_none(&purity(&[File::new(wire, "use serde::Serialize;")]));
        }
    }

    #[test]
    fn explain_reads_no_messages() {
        assert_none(&reading_messages(&repository()));
    }

    #[test]
    fn reading_messages_can_fail() {
        let text = "let a = text.contains(\"x\");\nlet b = names.contains(name);\nlet c = label.strip_suffix(\"y\");\n";
        let found = |path: &str| reading_messages(&[File::new(path, text)]);
        let kind = "kubectl-reserve/src/explain/kind.rs";
        assert_found(&found(kind), &[&format!("{kind}:1"), &format!("{kind}:3")]);
        PARSERS.iter().for_each(|parser| assert_none(&found(parser)));
        assert_none(&found("kubectl-reserve/src/explain/tests.rs"));
    }

    #[test]
    fn names_are_spelled_once() {
        assert_none(&names_on_the_wire(&repository()));
    }

    #[test]
    fn names_on_the_wire_can_fail() {
        let text = "// \"reserve.cpu\"\nlet a = \"reserve.cpu/\";\nlet b = r\"reserve/x\";\nlet c = \"kubectl reserve.\";\n";
        let found = names_on_the_wire(&[File::new("daemon/src/watch.rs", text)]);
        assert_found(&found, &["daemon/src/watch.rs:2", "daemon/src/watch.rs:3"]);
        assert_none(&names_on_the_wire(&[File::new(NAMES, text)]));
        assert_none(&names_on_the_wire(&[File::new("daemon/src/watch/tests.rs", text)]));
    }
}
