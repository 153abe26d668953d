//! Which crate of the workspace may depend on which, read from the manifests, and the lints that each takes part in.

use std::collections::BTreeMap;

use crate::files::File;
use crate::lexer::Code;

/// Each crate by its folder, and the crates it may depend on. Tests included: what needs more belongs into `tests`.
const CRATES: [(&str, &[&str]); 5] = [
    ("common", &[]),
    ("daemon", &["common"]),
    ("sandbox", &["common", "daemon"]),
    // The last two for one room of it: `rooms.rs` says which.
    ("kubectl-reserve", &["common", "daemon", "sandbox"]),
    ("tests", &["common", "daemon", "sandbox", "kubectl-reserve"]),
];

/// What would give `common` a runtime, a client, a log, errors without a type, or chance.
const NOT_IN_COMMON: [&str; 8] = ["anyhow", "hyper", "kube", "log", "rand", "reqwest", "tokio", "tracing"];

/// One `key = value` of a manifest.
struct Entry {
    line: usize,
    section: String,
    key: String,
    value: String,
}

impl Entry {
    /// The name of the dependency that this line is about, if it is about one.
    fn dependency(&self) -> Option<&str> {
        let (before, after) = self.section.rsplit_once("dependencies")?;
        if before.starts_with("workspace") {
            return None;
        }
        // `[dependencies.name]`, or `name = …` and `name.workspace = …` below `[dependencies]`.
        let name = after.strip_prefix('.').or_else(|| self.key.split('.').next())?;
        Some(name.trim_matches('"'))
    }

    /// The quoted strings of the value.
    fn quoted(&self) -> impl Iterator<Item = &str> {
        self.value.split('"').skip(1).step_by(2)
    }
}

/// As much of TOML as manifests use: sections, `key = value`, and arrays over several lines.
fn entries(manifest: &str) -> Vec<Entry> {
    let mut section = String::new();
    let mut entries: Vec<Entry> = Vec::new();
    let mut open_brackets = 0;
    for (index, line) in manifest.lines().enumerate() {
        let line = without_comment(line).trim();
        if open_brackets > 0 {
            entries.iter_mut().last().into_iter().for_each(|entry| entry.value.push_str(line));
        } else if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).trim().to_owned();
            continue;
        } else if let Some((key, value)) = line.split_once('=') {
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            entries.push(Entry { line: index + 1, section: section.clone(), key, value });
        }
        open_brackets += line.matches(['[', '{']).count();
        open_brackets = open_brackets.saturating_sub(line.matches([']', '}']).count());
    }
    entries
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let end = line.find(|c| {
        quoted ^= c == '"';
        c == '#' && !quoted
    });
    line.get(..end.unwrap_or(line.len())).unwrap_or(line)
}

/// The manifests of the workspace's members, by folder.
fn members(files: &[File]) -> BTreeMap<String, Option<&File>> {
    let root = entries(text_of(files, "Cargo.toml"));
    let listed = root
        .iter()
        .filter(|entry| entry.section == "workspace" && entry.key == "members")
        .flat_map(Entry::quoted);
    let manifest = |folder: &str| files.iter().find(|file| file.path == format!("{folder}/Cargo.toml"));
    listed.map(|folder| (folder.to_owned(), manifest(folder))).collect()
}

fn text_of<'a>(files: &'a [File], path: &str) -> &'a str {
    files.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str())
}

/// Every name under which a manifest can mean a member: its folder, its package, its alias in the workspace.
fn aliases(files: &[File]) -> BTreeMap<String, String> {
    let members = members(files);
    let mut aliases: BTreeMap<String, String> =
        members.keys().map(|folder| (folder.clone(), folder.clone())).collect();
    for (folder, manifest) in &members {
        let entries = manifest.map(|file| entries(&file.text)).unwrap_or_default();
        let names = entries
            .iter()
            .filter(|entry| entry.section == "package" && entry.key == "name")
            .flat_map(Entry::quoted);
        aliases.extend(names.map(|name| (name.to_owned(), folder.clone())));
    }
    for entry in entries(text_of(files, "Cargo.toml")) {
        let folder = entry.quoted().find_map(|text| members.get_key_value(text)).map(|(folder, _)| folder);
        if let Some(folder) = folder.filter(|_| entry.section == "workspace.dependencies") {
            aliases.insert(entry.key.clone(), folder.clone());
        }
    }
    aliases
}

fn crate_direction(files: &[File]) -> Vec<String> {
    let aliases = aliases(files);
    let mut violations = Vec::new();
    for (folder, manifest) in members(files) {
        let Some(manifest) = manifest else { continue };
        let Some((_, allowed)) = CRATES.iter().find(|(name, _)| *name == folder) else {
            violations.push(
                manifest
                    .violation(1, "a crate without a place; add it to CRATES in tests/tests/tidy/crates.rs"),
            );
            continue;
        };
        for entry in entries(&manifest.text) {
            let Some(name) = entry.dependency() else { continue };
            // A path or a `package = …` on the line says more than the name does.
            let last_parts = entry.quoted().filter_map(|text| text.rsplit('/').next());
            let used = last_parts.chain([name]).find_map(|name| aliases.get(name));
            if let Some(used) = used.filter(|used| !allowed.contains(&used.as_str())) {
                let what = format!("{folder} may not depend on {used}; move what both need down into common");
                violations.push(manifest.violation(entry.line, what));
            }
            if folder == "common" && NOT_IN_COMMON.contains(&name) {
                let what =
                    format!("common may not depend on {name}; it returns what it found, others act on it");
                violations.push(manifest.violation(entry.line, what));
            }
        }
    }
    violations
}

fn lints(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    let has = |text: &str, section: &str, key: &str, value: &str| {
        entries(text).iter().any(|entry| entry.section == section && entry.key == key && entry.value == value)
    };
    if !has(text_of(files, "Cargo.toml"), "workspace.lints.rust", "unsafe_code", "\"forbid\"") {
        violations.push("Cargo.toml:1: unsafe code is not forbidden; set unsafe_code = \"forbid\" in [workspace.lints.rust]".to_owned());
    }
    for (folder, manifest) in members(files) {
        let Some(manifest) = manifest else {
            violations.push(format!(
                "Cargo.toml:1: the member {folder} has no Cargo.toml; add it or strike it from the list"
            ));
            continue;
        };
        if !has(&manifest.text, "lints", "workspace", "true") {
            violations.push(
                manifest.violation(1, "the workspace's lints are not used; add [lints] workspace = true"),
            );
        }
        for root in files.iter().filter(|file| is_crate_root(&folder, &file.path)) {
            if !Code::new(&root.text).text.contains("#![forbid(unsafe_code)]") {
                violations.push(
                    root.violation(
                        1,
                        "a crate root without `#![forbid(unsafe_code)]`; add it below the header",
                    ),
                );
            }
        }
    }
    violations
}

fn is_crate_root(folder: &str, path: &str) -> bool {
    match path.strip_prefix(folder).and_then(|rest| rest.strip_prefix("/src/")) {
        Some("lib.rs" | "main.rs") => true,
        Some(rest) => rest.strip_prefix("bin/").is_some_and(|bin| {
            if bin.contains('/') {
                bin.matches('/').count() == 1 && bin.ends_with("/main.rs")
            } else {
                bin.ends_with(".rs")
            }
        }),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{assert_found, assert_none, repository};

    const ROOT: &str = r#"
[workspace]
members = [
  "common", # the core
  "daemon",
]
[workspace.dependencies]
core = { path = "common", package = "reserve-common" }
[workspace.lints.rust]
unsafe_code = "forbid"
"#;

    fn workspace(common: &str, daemon: &str) -> Vec<File> {
        let manifest = |name: &str, rest: &str| {
            let text = format!("[package]\nname = \"reserve-{name}\"\n{rest}\n[lints]\nworkspace = true\n");
            File::new(&format!("{name}/Cargo.toml"), &text)
        };
        vec![File::new("Cargo.toml", ROOT), manifest("common", common), manifest("daemon", daemon)]
    }

    #[test]
    fn crates_depend_downwards_only() {
        assert_none(&crate_direction(&repository()));
    }

    #[test]
    fn crate_direction_can_fail() {
        assert_none(&crate_direction(&workspace(
            "[dependencies]\nserde.workspace = true",
            "[dependencies]\ncore.workspace = true",
        )));
        let upwards = [
            "[dependencies]\ndaemon = { path = \"../daemon\" }",
            "[dev-dependencies]\nx = { path = \"../daemon\" }",
            "[dependencies]\nreserve-daemon.workspace = true",
            "[target.'cfg(unix)'.dependencies.daemon]\nworkspace = true",
            "[dependencies]\ntokio = { version = \"1\" }",
        ];
        for common in upwards {
            assert_found(&crate_direction(&workspace(common, "")), &["common/Cargo.toml:4"]);
        }
        let mut stranger = workspace("", "");
        stranger[0].text = ROOT.replace("daemon", "stranger");
        stranger[2].path = "stranger/Cargo.toml".to_owned();
        assert_found(&crate_direction(&stranger), &["stranger/Cargo.toml:1"]);
    }

    #[test]
    fn every_crate_takes_the_lints_and_forbids_unsafe() {
        assert_none(&lints(&repository()));
    }

    #[test]
    fn lints_can_fail() {
        let root = |path: &str, text: &str| File::new(path, text);
        let mut files = workspace("", "");
        files.push(root("common/src/lib.rs", "//! a\n#![forbid(unsafe_code)]\n"));
        assert_none(&lints(&files));
        files.push(root("daemon/src/bin/b.rs", "// #![forbid(unsafe_code)]\n"));
        files.push(root("daemon/src/bin/c/main.rs", ""));
        files.push(root("daemon/src/bin/c/d.rs", ""));
        assert_found(&lints(&files), &["daemon/src/bin/b.rs:1", "daemon/src/bin/c/main.rs:1"]);

        let mut files = workspace("", "");
        files[0].text = ROOT.replace("forbid", "warn");
        files[1].text = "[package]\nname = \"reserve-common\"\n".to_owned();
        files.truncate(2);
        assert_found(&lints(&files), &["Cargo.toml:1", "common/Cargo.toml:1", "Cargo.toml:1"]);
    }
}
