//! The repository's text files, and how a rule reports what it found in them.

use std::fs;
use std::path::Path;

use crate::lexer::Code;
use crate::syntax::{is_word_byte, words};

/// What builds, fuzzing and git leave behind; everything else in the tree is ours.
const SKIPPED: [&str; 6] = [".git", "target", "dist", "fuzz/target", "fuzz/corpus", "fuzz/artifacts"];

pub(crate) struct File {
    /// From the root of the repository, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Its parent module declares it behind `#[cfg(test)]`.
    declared_as_test: bool,
}

impl File {
    pub(crate) fn new(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned(), declared_as_test: false }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Code that exists to test other code; most rules about the product do not bind it.
    pub(crate) fn is_test(&self) -> bool {
        self.declared_as_test
            || self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || self.path.contains("/benches/")
            || self.path.ends_with("/tests.rs")
    }

    /// Rust that ends up in a program: under the `src` of a crate, tests excluded.
    pub(crate) fn is_product(&self) -> bool {
        self.is_rust() && self.path.contains("/src/") && !self.is_test()
    }

    /// `path:line: what is wrong; what to do`
    pub(crate) fn violation(&self, line: usize, what: impl AsRef<str>) -> String {
        format!("{}:{line}: {}", self.path, what.as_ref())
    }
}

/// Every text file of the repository. A walk, not a question to git, so that it works in an unpacked archive too.
pub(crate) fn repository() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    walk(&root, "", &mut files);
    mark_declared_tests(&mut files);
    assert!(
        files.iter().any(|file| file.path == "Cargo.toml"),
        "this is not the repository: {}",
        root.display()
    );
    files
}

fn walk(root: &Path, folder: &str, files: &mut Vec<File>) {
    let dir = root.join(folder);
    let entries = fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for name in names {
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let on_disk = root.join(&path);
        if SKIPPED.contains(&path.as_str()) || on_disk.is_symlink() {
            continue;
        }
        if on_disk.is_dir() {
            walk(root, &path, files);
        } else if let Ok(text) = fs::read_to_string(&on_disk) {
            // What is not UTF-8 is not text, and what went away meanwhile is nobody's violation.
            files.push(File::new(&path, &text));
        }
    }
}

/// Finds `#[cfg(test)] mod name;`: the file it means is test code, whatever its name, and so is what lies below it.
fn mark_declared_tests(files: &mut [File]) {
    let modules: Vec<String> = files.iter().filter(|file| file.is_rust()).flat_map(declared_tests).collect();
    for file in files {
        file.declared_as_test = modules.iter().any(|module| {
            file.path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
    }
}

/// The modules that `file` declares for tests only, as paths without `.rs`.
fn declared_tests(file: &File) -> Vec<String> {
    let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let folder = if matches!(name, "mod" | "lib" | "main") { folder } else { stem };
    let code = Code::new(&file.text);
    let declared = words(&code.text, "mod").filter(|at| code.is_test(*at)).filter_map(|at| {
        let (name, _) = code.text.get(at + "mod".len()..)?.split_once(';')?;
        let name = name.trim();
        name.bytes().all(is_word_byte).then(|| format!("{folder}/{name}"))
    });
    declared.collect()
}

#[track_caller]
pub(crate) fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "{} violation(s)\n{}\n", violations.len(), violations.join("\n"));
}

/// The rule found exactly these places, given as `path:line`.
#[track_caller]
pub(crate) fn assert_found(violations: &[String], places: &[&str]) {
    let found: Vec<String> =
        violations.iter().map(|v| v.splitn(3, ':').take(2).collect::<Vec<_>>().join(":")).collect();
    assert_eq!(found, places, "{violations:#?}");
}

#[cfg(test)]
mod tests {
    use super::{File, mark_declared_tests};

    #[test]
    fn a_module_declared_for_tests_is_test_code() {
        let mut files = [
            File::new(
                "a/src/b/mod.rs",
                "mod c;\n#[cfg(test)]\nmod d;\n#[cfg(test)]\nmod e { fn f() {} }\nmod g;\n",
            ),
            File::new("a/src/b/c.rs", "#[cfg(test)] mod h;"),
            File::new("a/src/b/d.rs", ""),
            File::new("a/src/b/d/i.rs", ""),
            File::new("a/src/b/g.rs", ""),
            File::new("a/src/b/c/h.rs", ""),
        ];
        mark_declared_tests(&mut files);
        let tests: Vec<&str> =
            files.iter().filter(|file| file.is_test()).map(|file| file.path.as_str()).collect();
        assert_eq!(tests, ["a/src/b/d.rs", "a/src/b/d/i.rs", "a/src/b/c/h.rs"]);
    }
}
