//! The bill of materials of a program, in CycloneDX' JSON: every crate that is linked into it on any platform, with version, license and
//! checksum. It follows from `Cargo.lock` and the manifests of the crates alone, so the same sources give the same document.

use crate::programs::cargo;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The bill of materials of a package of this workspace.
///
/// # Errors
/// When cargo does not know the package, or cannot read the manifests of its dependencies.
pub fn sbom(package: &str) -> Result<Value> {
    let words = ["metadata", "--format-version", "1", "--locked"];
    let output = cargo().args(words).output().context("run cargo")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).context("read cargo's metadata")?;
    let lock = crate::control_plane::workspace_dir().join("Cargo.lock");
    let lock = std::fs::read_to_string(&lock).with_context(|| format!("read {}", lock.display()))?;
    document(&metadata, &checksums(&lock), package)
}

/// Checksums by the names and versions of crates.
type Checksums = BTreeMap<(String, String), String>;

fn document(metadata: &Value, checksums: &Checksums, package: &str) -> Result<Value> {
    let packages = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let root = packages.iter().find(|(_, one)| one["name"] == *package && one["source"].is_null());
    let (root, of_root) = root.with_context(|| format!("this workspace has no package {package}"))?;
    let mut linked = BTreeSet::from([*root]);
    let mut open = vec![*root];
    while let Some(id) = open.pop() {
        open.extend(linked_by(nodes.get(id).copied()).filter(|id| linked.insert(id)));
    }
    let reference = |id: &str| packages.get(id).map(|one| purl(one));
    let mut components = vec![];
    let mut dependencies = vec![];
    for id in &linked {
        let on: BTreeSet<String> = linked_by(nodes.get(id).copied()).filter_map(reference).collect();
        dependencies.push(json!({"ref": reference(id), "dependsOn": on}));
        if id != root {
            components.push(component(packages[id], checksums));
        }
    }
    let mut program = component(of_root, checksums);
    program["type"] = "application".into();
    Ok(json!({
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": program},
        "components": components,
        "dependencies": dependencies,
    }))
}

fn by_id(all: &Value) -> BTreeMap<&str, &Value> {
    all.as_array().into_iter().flatten().filter_map(|one| Some((one["id"].as_str()?, one))).collect()
}

/// What a package links: neither what only its tests use nor what only builds it.
fn linked_by(node: Option<&Value>) -> impl Iterator<Item = &str> {
    let all = node.and_then(|node| node["deps"].as_array()).into_iter().flatten();
    let is_linked = |one: &&Value| {
        one["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
    };
    all.filter(is_linked).filter_map(|one| one["pkg"].as_str())
}

fn word<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or_default()
}

fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", word(package, "name"), word(package, "version"))
}

fn component(package: &Value, checksums: &Checksums) -> Value {
    let (name, version) = (word(package, "name"), word(package, "version"));
    let mut component = json!({
        "type": "library", "bom-ref": purl(package), "name": name, "version": version, "purl": purl(package),
    });
    if let Some(license) = package["license"].as_str() {
        // A slash is the old way to write it, and no SPDX expression.
        let expression = license.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ");
        component["licenses"] = json!([{"expression": expression}]);
    }
    if let Some(checksum) = checksums.get(&(name.to_owned(), version.to_owned())) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// The checksums in the text of a `Cargo.lock`.
fn checksums(lock: &str) -> Checksums {
    let value = |part: &str, field: &str| {
        let line = part.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(" = \""));
        line.and_then(|rest| rest.strip_suffix('"')).map(str::to_owned)
    };
    let parts = lock.split("[[package]]");
    parts
        .filter_map(|part| Some(((value(part, "name")?, value(part, "version")?), value(part, "checksum")?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{checksums, document};
    use serde_json::{Value, json};

    fn package(name: &str, source: Option<&str>) -> Value {
        json!({"id": format!("{name}-id"), "name": name, "version": "1.0.0", "license": "MIT / Apache-2.0", "source": source})
    }

    fn dependency(name: &str, kind: Option<&str>) -> Value {
        json!({"pkg": format!("{name}-id"), "dep_kinds": [{"kind": kind}]})
    }

    #[test]
    fn what_is_linked_is_listed_and_nothing_else() {
        let registry = Some("registry");
        let metadata = json!({
            "packages": [package("a", None), package("b", registry), package("c", registry), package("t", registry)],
            "resolve": {"nodes": [
                {"id": "a-id", "deps": [dependency("b", None), dependency("t", Some("dev"))]},
                {"id": "b-id", "deps": [dependency("c", None), dependency("t", Some("build"))]},
                {"id": "c-id", "deps": []},
                {"id": "t-id", "deps": []},
            ]},
        });
        let lock = "[[package]]\nname = \"b\"\nversion = \"1.0.0\"\nsource = \"x\"\nchecksum = \"12ab\"\n";
        let bill = document(&metadata, &checksums(lock), "a").unwrap();
        assert_eq!(bill["metadata"]["component"]["purl"], "pkg:cargo/a@1.0.0");
        let names: Vec<&Value> =
            bill["components"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["b", "c"]);
        assert_eq!(bill["components"][0]["hashes"], json!([{"alg": "SHA-256", "content": "12ab"}]));
        assert_eq!(bill["components"][0]["licenses"], json!([{"expression": "MIT OR Apache-2.0"}]));
        assert!(bill["components"][1].get("hashes").is_none());
        assert_eq!(
            bill["dependencies"][0],
            json!({"ref": "pkg:cargo/a@1.0.0", "dependsOn": ["pkg:cargo/b@1.0.0"]})
        );
        assert!(document(&metadata, &checksums(lock), "b").is_err(), "a dependency is no program of ours");
    }
}
