//! The shape of files and functions: a header that says what a file is for, a length that fits a head, a plugin folder
//! that is complete, and no loose ends without an owner.

use std::collections::BTreeSet;

use crate::files::File;
use crate::lexer::Code;
use crate::syntax::{is_word_byte, item_end, line_of, words};

/// The aim is 300; this is where it stops.
const FILE_LINES: usize = 500;
/// The aim is 40; this is where it stops.
const FUNCTION_LINES: usize = 70;
/// A bound, not an aim.
const SANDBOX_LINES: usize = 3000;
/// Split, so that this file does not break its own rule.
const LOOSE_ENDS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const PLUGINS: &str = "common/src/plugins/";

fn headers(files: &[File]) -> Vec<String> {
    let bound =
        |file: &&File| file.is_rust() && (file.path.contains("/src/") || file.path.starts_with("tests/"));
    let missing = files.iter().filter(bound).filter(|file| !file.text.starts_with("//!"));
    missing
        .map(|file| file.violation(1, "no header; open with `//!` and say what this file is for"))
        .collect()
}

fn file_lengths(files: &[File]) -> Vec<String> {
    let lengths = files.iter().filter(|file| file.is_rust()).map(|file| (file, file.text.lines().count()));
    let too_long = lengths.filter(|(_, lines)| *lines > FILE_LINES);
    too_long
        .map(|(file, lines)| {
            file.violation(
                lines,
                format!("{lines} lines, the limit is {FILE_LINES}; split the file by subject"),
            )
        })
        .collect()
}

fn function_lengths(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let text = &Code::new(&file.text).text;
        for at in words(text, "fn") {
            let Some(name) = function_name(text, at) else { continue };
            let line = line_of(text, at);
            let lines = line_of(text, item_end(text, at).saturating_sub(1)) - line + 1;
            if lines > FUNCTION_LINES {
                let what = format!(
                    "`{name}` has {lines} lines, the limit is {FUNCTION_LINES}; take a step out and name it"
                );
                violations.push(file.violation(line, what));
            }
        }
    }
    violations
}

/// The name after the `fn` at `at`; a function type, `fn(…)`, has none.
fn function_name(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at + "fn".len()..)?.trim_start();
    let length = rest.bytes().position(|byte| !is_word_byte(byte))?;
    rest.get(..length).filter(|name| !name.is_empty())
}

fn plugin_folders(files: &[File]) -> Vec<String> {
    let inside = files.iter().filter_map(|file| file.path.strip_prefix(PLUGINS)?.split_once('/'));
    let folders: BTreeSet<&str> = inside.map(|(folder, _)| folder).collect();
    let find = |path: String| files.iter().find(|file| file.path == path);
    let list = find(format!("{PLUGINS}mod.rs")).map(|file| Code::new(&file.text).text).unwrap_or_default();
    let mut violations = Vec::new();
    for folder in folders {
        for part in ["mod.rs", "tests.rs"] {
            if find(format!("{PLUGINS}{folder}/{part}")).is_none() {
                violations.push(format!("{PLUGINS}{folder}:1: the plugin has no {part}; every plugin has its rule and its table of cases"));
            }
        }
        let named =
            words(&list, folder).any(|at| list.get(..at).is_some_and(|before| before.ends_with("mod ")));
        if !named {
            violations.push(format!(
                "{PLUGINS}mod.rs:1: `mod {folder}` is missing; without it the plugin is not compiled"
            ));
        }
    }
    violations
}

fn loose_ends(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    let generated = |file: &&File| file.path.ends_with(".lock") || file.path.ends_with("go.sum");
    for file in files.iter().filter(|file| !generated(file)) {
        for (index, line) in file.text.lines().enumerate() {
            let open = LOOSE_ENDS.iter().find(|word| words(line, word).next().is_some());
            if let Some(word) = open.filter(|_| !has_issue_number(line)) {
                violations.push(file.violation(
                    index + 1,
                    format!("{word} without an issue number; write `{word} #123: …`, or do it"),
                ));
            }
        }
    }
    violations
}

fn has_issue_number(line: &str) -> bool {
    line.match_indices('#').any(|(at, _)| line.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit))
}

/// The sandbox must not become a second product: lines of code, without tests, comments and empty lines.
fn sandbox_size(files: &[File]) -> usize {
    let ours = files.iter().filter(|file| file.is_product() && file.path.starts_with("sandbox/src/"));
    let count = |file: &File| {
        let code = Code::new(&file.text);
        let mut at = 0;
        let lines = code.text.split_inclusive('\n').filter(|line| {
            at += line.len();
            !line.trim().is_empty() && !code.is_test(at - line.len())
        });
        lines.count()
    };
    ours.map(count).sum()
}

fn silenced_lints(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let text = &Code::new(&file.text).text;
        for (at, found) in text.match_indices("#[allow(").chain(text.match_indices("#![allow(")) {
            let what = format!(
                "`{found}…`; write `expect(lint, reason = \"…\")`, which complains once it is not needed"
            );
            violations.push(file.violation(line_of(text, at), what));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{assert_found, assert_none, repository};

    #[test]
    fn every_file_opens_with_a_header() {
        assert_none(&headers(&repository()));
    }

    #[test]
    fn headers_can_fail() {
        let bad = [File::new("a/src/lib.rs", "use b;\n"), File::new("tests/tests/c.rs", "// c\n")];
        let good = [File::new("a/src/d.rs", "//! d\n"), File::new("fuzz/fuzz_targets/e.rs", "use b;\n")];
        assert_found(&headers(&bad), &["a/src/lib.rs:1", "tests/tests/c.rs:1"]);
        assert_none(&headers(&good));
    }

    #[test]
    fn files_stay_short() {
        assert_none(&file_lengths(&repository()));
    }

    #[test]
    fn file_lengths_can_fail() {
        let of = |lines: usize| [File::new("a/src/lib.rs", &"x\n".repeat(lines))];
        assert_found(&file_lengths(&of(501)), &["a/src/lib.rs:501"]);
        assert_none(&file_lengths(&of(500)));
    }

    #[test]
    fn functions_stay_short() {
        assert_none(&function_lengths(&repository()));
    }

    #[test]
    fn function_lengths_can_fail() {
        let of = |lines: usize| {
            let text = format!(
                "//! a\nfn short() {{}}\npub fn long(f: fn() -> u8) {{\n{}}}\n",
                "x;\n".repeat(lines - 2)
            );
            [File::new("a/src/lib.rs", &text)]
        };
        assert_found(&function_lengths(&of(71)), &["a/src/lib.rs:3"]);
        assert_none(&function_lengths(&of(70)));
    }

    #[test]
    fn plugins_are_complete() {
        assert_none(&plugin_folders(&repository()));
    }

    #[test]
    fn plugin_folders_can_fail() {
        let whole = |list: &str| {
            let file = |path: &str, text: &str| File::new(&format!("{PLUGINS}{path}"), text);
            vec![file("mod.rs", list), file("a/mod.rs", ""), file("a/tests.rs", "")]
        };
        assert_none(&plugin_folders(&whole("pub mod a;")));
        assert_found(&plugin_folders(&whole("// mod a;\nmod ab;")), &["common/src/plugins/mod.rs:1"]);
        let mut partial = whole("mod a;");
        partial.truncate(2);
        assert_found(&plugin_folders(&partial), &["common/src/plugins/a:1"]);
    }

    #[test]
    fn loose_ends_have_an_issue() {
        assert_none(&loose_ends(&repository()));
    }

    #[test]
    fn loose_ends_can_fail() {
        let word = LOOSE_ENDS[0];
        let text = format!("# {word}: later\n# {word} #12: later\n# {word}S, mktemp {}\n", "X".repeat(6));
        assert_found(&loose_ends(&[File::new("Makefile", &text)]), &["Makefile:1"]);
    }

    #[test]
    fn the_sandbox_stays_small() {
        let lines = sandbox_size(&repository());
        assert!((1..=SANDBOX_LINES).contains(&lines), "{lines} lines, the limit is {SANDBOX_LINES}");
        let text = "//! a\n\nfn a() {\n    // b\n}\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
        assert_eq!(
            sandbox_size(&[File::new("sandbox/src/a.rs", text), File::new("daemon/src/b.rs", text)]),
            2
        );
    }

    #[test]
    fn lints_are_not_silenced() {
        assert_none(&silenced_lints(&repository()));
    }

    #[test]
    fn silenced_lints_can_fail() {
        let text = "//! `#[allow(x)]`\n#[allow(dead_code)]\nfn a() {}\n#[expect(dead_code, reason = \"b\")]\nfn c() {}\n";
        assert_found(&silenced_lints(&[File::new("a/src/lib.rs", text)]), &["a/src/lib.rs:2"]);
    }
}
