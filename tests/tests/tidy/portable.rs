//! The repository belongs to no one machine or network, and its documents name only make targets that exist.

use std::collections::BTreeSet;

use crate::files::File;
use crate::syntax::is_word_byte;

/// Split, so that this file does not break its own rule.
const MACHINE_PATHS: [&str; 3] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];
/// Where package managers download from; a build must work behind whatever mirror the reader has.
const REGISTRIES: [&str; 7] = [
    concat!("npm", "js"),
    concat!("python", "hosted"),
    concat!("pypi", ".org"),
    concat!("rust", "-lang"),
    concat!("crates", ".io"),
    concat!("go", "lang"),
    concat!("deb", "ian"),
];
const DOCUMENTS: [&str; 2] = ["README.md", "CONTRIBUTING.md"];

fn machine_traces(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    let generated = |file: &&File| file.path.ends_with(".lock") || file.path.ends_with("go.sum");
    for file in files.iter().filter(|file| !generated(file)) {
        for (index, line) in file.text.lines().enumerate() {
            let document = file.path.ends_with(".md");
            // A document may show a reader's own directory in an example.
            let paths = MACHINE_PATHS.iter().filter(|path| !(document && **path == MACHINE_PATHS[1]));
            for path in paths.filter(|path| line.match_indices(**path).any(|(at, _)| is_absolute(line, at))) {
                violations.push(file.violation(
                    index + 1,
                    format!("`{path}` is a path of one machine; make it relative or a parameter"),
                ));
            }
            for url in urls(line).filter(|url| REGISTRIES.iter().any(|host| url.contains(host))) {
                violations.push(file.violation(
                    index + 1,
                    format!("{url} names a package registry; leave it to the reader's settings"),
                ));
            }
        }
    }
    violations
}

/// Whether the `/` at `at` begins a path, and is not the middle of one, as in `tests/x` or `$DIR/x`.
fn is_absolute(line: &str, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|i| line.as_bytes().get(i));
    !before.is_some_and(|byte| is_word_byte(*byte) || b".-})]*~$".contains(byte))
}

fn urls(line: &str) -> impl Iterator<Item = &str> {
    let starts = line.match_indices("http").filter_map(|(at, _)| line.get(at..));
    let urls = starts.filter(|rest| rest.starts_with("http://") || rest.starts_with("https://"));
    urls.filter_map(|rest| rest.split_whitespace().next())
}

fn documented_targets(files: &[File]) -> Vec<String> {
    let makefile = files.iter().find(|file| file.path == "Makefile").map_or("", |file| file.text.as_str());
    let targets: BTreeSet<&str> = makefile.lines().filter_map(rule).flat_map(str::split_whitespace).collect();
    let mut violations = Vec::new();
    for document in files.iter().filter(|file| DOCUMENTS.contains(&file.path.as_str())) {
        for (line, target) in mentioned_targets(&document.text) {
            if !targets.contains(target) {
                violations.push(document.violation(
                    line,
                    format!("`make {target}` is not in the Makefile; add it or do not promise it"),
                ));
            }
        }
    }
    violations
}

/// The targets that a line of a Makefile defines: what stands before a `:` that assigns nothing.
fn rule(line: &str) -> Option<&str> {
    let (targets, rest) = line.split_once(':')?;
    let defines =
        !line.starts_with(['\t', '#', '.', ' ']) && !rest.starts_with('=') && !targets.contains('=');
    defines.then_some(targets)
}

/// Each `make TARGET` in a code block or a code span. In prose, "make sure" is not one.
fn mentioned_targets(document: &str) -> Vec<(usize, &str)> {
    let mut mentioned = Vec::new();
    let mut in_block = false;
    for (index, line) in document.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let whole = in_block || line.starts_with("    ");
        let spans = line.split('`').skip(1).step_by(2);
        let code: Vec<&str> = if whole { vec![line] } else { spans.collect() };
        let commands = code.iter().flat_map(|code| code.split(['&', ';', '|']));
        mentioned.extend(commands.flat_map(made).map(|target| (index + 1, target)));
    }
    mentioned
}

/// The targets of one command, if it is a `make`.
fn made(command: &str) -> Vec<&str> {
    let mut words = command.split_whitespace().skip_while(|word| *word == "$" || word.contains('='));
    if words.next() != Some("make") {
        return Vec::new();
    }
    let before_comment = words.take_while(|word| !word.starts_with('#'));
    before_comment
        .filter(|word| word.bytes().all(|b| is_word_byte(b) || b == b'-') && !word.starts_with('-'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{assert_found, assert_none, repository};

    #[test]
    fn nothing_points_to_one_machine_or_registry() {
        assert_none(&machine_traces(&repository()));
    }

    #[test]
    fn machine_traces_can_fail() {
        for path in MACHINE_PATHS {
            let text = format!("ok\nx = \"{path}x\"\ny = tests{path}x $DIR{path}x ..{path}x\n");
            assert_found(&machine_traces(&[File::new("a/b.rs", &text)]), &["a/b.rs:2"]);
            assert_none(&machine_traces(&[File::new("Cargo.lock", &text)]));
        }
        for host in REGISTRIES {
            let text = format!("see https://static.{host}/x for it\n{host}/x is a module\n");
            assert_found(&machine_traces(&[File::new("a/go.mod", &text)]), &["a/go.mod:1"]);
        }
        assert_none(&machine_traces(&[File::new("README.md", &format!("cd {}me", MACHINE_PATHS[1]))]));
    }

    #[test]
    fn documented_make_targets_exist() {
        assert_none(&documented_targets(&repository()));
    }

    #[test]
    fn documented_targets_can_fail() {
        let makefile = File::new("Makefile", "X := y\nall: build ## all\nbuild test:\n\tmake other: x\n");
        let text = "make sure\n`make build`, `make bild`\n```\n$ cd x && make test # make x\nN=1 make -j2 tset V=1\n```\n    make none\n";
        let readme = File::new("README.md", text);
        assert_found(
            &documented_targets(&[makefile, readme]),
            &["README.md:2", "README.md:5", "README.md:7"],
        );
    }
}
