//! The names in the code: words that were given up do not come back, and a crate has no two public types of one name.
//! docs/glossary.md says what each name means.

use crate::files::File;
use crate::lexer::Code;
use crate::syntax::{is_word_byte, line_of, words};
use std::collections::BTreeMap;

/// Words that are no part of a name any more, and what is said instead.
const RETIRED_WORDS: [(&str, &str); 17] = [
    ("asker", "PodContext"),
    ("desk", "ExtenderLogic"),
    ("guest", "TestPod, or pod"),
    ("honesty", "what it warns of"),
    ("kit", "Implementations"),
    ("minders", "PodAffinityCounts"),
    ("moot", "ignored"),
    ("obey", "enforce"),
    ("obeyed", "enforced"),
    ("obeys", "enforces"),
    ("office", "AdminServer"),
    ("plot", "TestNamespace"),
    ("rung", "Enforcement"),
    ("station", "ExtensionPoint"),
    ("stations", "ExtensionPoint"),
    ("tools", "PluginList"),
    ("town", "SharedCluster, TestCluster or Scenario"),
];

/// Words that are no name by themselves: of a variable, a function or a file.
const RETIRED_NAMES: [(&str, &str); 2] =
    [("sight", "what is known"), ("whose", "the word for what it says the owner of")];

/// Words that say nothing about what a file has.
const RETIRED_FILES: [&str; 14] = [
    "choosing",
    "hands",
    "judged",
    "keeping",
    "line",
    "looks",
    "made",
    "seen",
    "stage",
    "taken",
    "telling",
    "told",
    "unwritten",
    "wanted",
];

/// Names of types that say nothing about the value.
const RETIRED_TYPES: [&str; 13] = [
    "Asked", "Flight", "Found", "Front", "Hands", "House", "Said", "Seen", "Sight", "Standing", "Thing",
    "Told", "Whom",
];

const KINDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// The parts of a name: `fooBarBaz` and `foo_bar_baz` have three, in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let is_new = letter == '_' || letter.is_uppercase() && was_lower;
        if is_new {
            parts.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let Some(part) = parts.last_mut().filter(|_| letter != '_') {
            part.extend(letter.to_lowercase());
        }
    }
    parts
}

/// Every identifier of a text in which comments and literals are blanked, with its place.
fn identifiers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_start = |at: usize| at == 0 || !text.as_bytes().get(at - 1).copied().is_some_and(is_word_byte);
    let starts = (0..text.len()).filter(move |at| {
        is_start(*at)
            && text.as_bytes().get(*at).is_some_and(|byte| is_word_byte(*byte) && !byte.is_ascii_digit())
    });
    starts.filter_map(move |at| {
        let rest = text.get(at..)?;
        let end = rest.bytes().position(|byte| !is_word_byte(byte)).unwrap_or(rest.len());
        Some((at, rest.get(..end)?))
    })
}

fn retired_words(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let stem = file.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        if RETIRED_FILES.contains(&stem) {
            violations.push(
                file.violation(1, format!("`{stem}.rs` does not say what the file has; name it by a noun")),
            );
        }
        let code = Code::new(&file.text);
        for (at, name) in std::iter::once((0, stem)).chain(identifiers(&code.text)) {
            let parts = parts(name);
            let mut retired = RETIRED_WORDS.iter().filter(|(word, _)| parts.iter().any(|part| part == word));
            if let Some((word, instead)) =
                retired.next().or(RETIRED_NAMES.iter().find(|(word, _)| *word == name))
            {
                let what = format!("`{name}` has the word `{word}`; say {instead}");
                violations.push(file.violation(line_of(&code.text, at), what));
            }
        }
    }
    violations.dedup();
    violations
}

/// The types that a file declares: where, how visible, and the name.
fn types(code: &Code<'_>) -> Vec<(usize, bool, String)> {
    let mut found = Vec::new();
    for kind in KINDS {
        for at in words(&code.text, kind).filter(|at| !code.is_test(*at)) {
            let rest = code.text.get(at + kind.len()..).unwrap_or_default().trim_start();
            let end = rest.bytes().position(|byte| !is_word_byte(byte)).unwrap_or(rest.len());
            let name = rest.get(..end).unwrap_or_default();
            let line = code.text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
            let is_item = line.trim().is_empty() || line.trim_start().starts_with("pub");
            if is_item && name.starts_with(|letter: char| letter.is_uppercase()) {
                found.push((
                    at,
                    line.trim_start().starts_with("pub") && !line.contains("pub(super)"),
                    name.to_owned(),
                ));
            }
        }
    }
    found
}

fn retired_types(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_product()) {
        let code = Code::new(&file.text);
        for (at, _, name) in types(&code) {
            if RETIRED_TYPES.contains(&name.as_str()) {
                let what = format!("`{name}` does not say what the value is; name it by a noun");
                violations.push(file.violation(line_of(&code.text, at), what));
            }
        }
    }
    violations
}

fn duplicate_types(files: &[File]) -> Vec<String> {
    let mut known: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut violations = Vec::new();
    // Of the two files for Unix and for Windows only one is compiled.
    for file in files.iter().filter(|file| file.is_product() && !file.path.ends_with("/windows.rs")) {
        let Some((krate, _)) = file.path.split_once("/src/") else { continue };
        let code = Code::new(&file.text);
        for (at, _, name) in types(&code).into_iter().filter(|(_, is_public, _)| *is_public) {
            let place = format!("{}:{}", file.path, line_of(&code.text, at));
            if let Some(other) = known.insert((krate.to_owned(), name.clone()), place) {
                let what = format!("a public type `{name}` is in {other}, too; name each by what it is");
                violations.push(file.violation(line_of(&code.text, at), what));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::{duplicate_types, parts, retired_types, retired_words};
    use crate::files::{File, assert_found, assert_none, repository};

    #[test]
    fn words_that_were_given_up_do_not_come_back() {
        assert_none(&retired_words(&repository()));
    }

    #[test]
    fn words_can_fail() {
        let bad = [
            File::new("a/src/b.rs", "//! b\nfn f() { let new_town = 1; }\nstruct MyDesk;\n"),
            File::new("a/src/town.rs", ""),
            File::new("a/src/whose.rs", ""),
            File::new("a/src/seen.rs", ""),
        ];
        let good = [File::new("a/src/b.rs", "// a town\nfn deskew_whose() { \"town\" }\n")];
        let places =
            ["a/src/b.rs:2", "a/src/b.rs:3", "a/src/town.rs:1", "a/src/whose.rs:1", "a/src/seen.rs:1"];
        assert_found(&retired_words(&bad), &places);
        assert_none(&retired_words(&good));
        assert_eq!(parts("PodContext_of"), ["pod", "context", "of"]);
    }

    #[test]
    fn types_are_nouns() {
        assert_none(&retired_types(&repository()));
    }

    #[test]
    fn types_can_fail() {
        assert_found(
            &retired_types(&[File::new("a/src/b.rs", "pub struct Seen;\nenum Found {}\n")]),
            &["a/src/b.rs:1", "a/src/b.rs:2"],
        );
        assert_none(&retired_types(&[File::new("a/src/b.rs", "fn f() -> Seen {}\n")]));
    }

    #[test]
    fn a_name_has_one_meaning_in_a_crate() {
        assert_none(&duplicate_types(&repository()));
    }

    #[test]
    fn duplicates_can_fail() {
        let of = |path: &str, text: &str| File::new(path, text);
        let bad = [of("a/src/b.rs", "pub struct X;\n"), of("a/src/c.rs", "pub(crate) enum X {}\n")];
        let good = [
            of("a/src/b.rs", "pub struct X;\n"),
            of("a/src/c.rs", "struct X;\n"),
            of("d/src/b.rs", "pub struct X;\n"),
        ];
        assert_found(&duplicate_types(&bad), &["a/src/c.rs:1"]);
        assert_none(&duplicate_types(&good));
    }
}
