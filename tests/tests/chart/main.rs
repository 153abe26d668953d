//! The Helm chart, by the real helm: it renders what `manifests/` has, refuses values that mean nothing, and installs, upgrades and
//! uninstalls on a real control plane.
#![forbid(unsafe_code)]

mod rendered;
mod story;
mod values;

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Binaries, workspace_dir};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const NAMESPACE: &str = "kube-reserve";

fn chart_dir() -> PathBuf {
    workspace_dir().join("charts/kubectl-reserve")
}

/// helm, with nothing of the user who runs the tests. It reaches no cluster but that of a kubeconfig.
fn helm(home: &Path) -> Result<Command> {
    static HELM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let located = HELM.get_or_init(|| Binaries::locate_checker("helm").map_err(|error| format!("{error:#}")));
    let mut command = Command::new(located.as_ref().map_err(|error| anyhow::anyhow!("{error}"))?);
    for (name, folder) in
        [("HOME", "."), ("HELM_CACHE_HOME", "c"), ("HELM_CONFIG_HOME", "f"), ("HELM_DATA_HOME", "d")]
    {
        command.env(name, home.join(folder));
    }
    command.env("KUBECONFIG", home.join("none")).current_dir(home);
    Ok(command)
}

/// What a program prints, or else what it says about its failure.
fn printed(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("run {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).context("read what was printed")
}

/// The chart of a folder or an archive, rendered for a namespace with values as `--set` takes them.
fn rendered_in(namespace: &str, chart: &Path, set: &[&str]) -> Result<String> {
    let home = tempfile::tempdir()?;
    let mut command = helm(home.path())?;
    command.args(["template", "reserve"]).arg(chart).args(["--namespace", namespace]);
    for value in set {
        command.args(["--set", value]);
    }
    printed(&mut command)
}

/// The objects that the chart has with these values.
fn objects(set: &[&str]) -> Result<BTreeMap<String, Value>> {
    by_name(&rendered_in(NAMESPACE, &chart_dir(), set)?)
}

/// Each object of a stream of documents by its kind, namespace and name.
fn by_name(text: &str) -> Result<BTreeMap<String, Value>> {
    let documents: Vec<Option<Value>> = serde_saphyr::from_multiple(text)?;
    let mut all = BTreeMap::new();
    for object in documents.into_iter().flatten().filter(|object| !object.is_null()) {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let name =
            format!("{} {} {}", word(&object["kind"]), word(&metadata["namespace"]), word(&metadata["name"]));
        ensure!(all.insert(name.clone(), object).is_none(), "{name} is there twice");
    }
    Ok(all)
}

/// The only object of a kind.
fn only<'a>(all: &'a BTreeMap<String, Value>, kind: &str) -> Result<&'a Value> {
    let mut found = all.values().filter(|object| object["kind"] == kind);
    let first = found.next().with_context(|| format!("no {kind} in {:?}", all.keys()))?;
    ensure!(found.next().is_none(), "more than one {kind}");
    Ok(first)
}
