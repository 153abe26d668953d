//! The reports that are opened: made by the program from snapshots of made-up clusters.

use anyhow::{Context as _, Result, ensure};
use common::api::names;
use flate2::Compression;
use flate2::write::GzEncoder;
use reserve_tests::control_plane::workspace_dir;
use reserve_tests::programs;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const OWNER: &str = "7f3a0c1e-47c9-4475-b1f4-cac44597e173";

/// Nobody wrote an event about the pod; with the scheduler named, its nodes are looked at all the same.
const WEB: [&str; 6] = ["explain", "web", "-n", "shop", "--scheduler", "default-scheduler"];

/// The reports, by verb and size.
pub(crate) struct Reports {
    pub(crate) folder: PathBuf,
    pub(crate) explain: PathBuf,
    pub(crate) nodes: PathBuf,
    pub(crate) list: PathBuf,
    pub(crate) fit: PathBuf,
    /// `explain` in a cluster of 5,000 nodes.
    pub(crate) large: PathBuf,
    /// What `nodes -o json` says of the same three nodes.
    pub(crate) room: Value,
}

impl Reports {
    pub(crate) fn make() -> Result<Self> {
        let folder = programs::build()?.join("../browser");
        std::fs::create_dir_all(&folder)?;
        let folder = folder.canonicalize()?;
        let (three, many) = (snapshot(&folder, 3)?, snapshot(&folder, 5000)?);
        let html = |name: &str, words: &[&str], snapshot: &Path| -> Result<PathBuf> {
            let file = folder.join(name).with_extension("html");
            std::fs::write(&file, program(&[words, &["-o", "html"]].concat(), snapshot)?)?;
            Ok(file)
        };
        Ok(Self {
            explain: html("explain", &WEB, &three)?,
            nodes: html("nodes", &["nodes"], &three)?,
            list: html("list", &["list", "-A"], &three)?,
            fit: html("fit", &["fit", "--cpu", "2", "--replicas", "9"], &three)?,
            large: html("large", &WEB, &many)?,
            room: serde_json::from_slice(&program(&["nodes", "-o", "json"], &three)?)?,
            folder,
        })
    }

    pub(crate) fn all(&self) -> [&Path; 5] {
        [&self.explain, &self.nodes, &self.list, &self.fit, &self.large].map(PathBuf::as_path)
    }
}

/// What the program prints about a snapshot.
fn program(words: &[&str], snapshot: &Path) -> Result<Vec<u8>> {
    let mut command = Command::new(programs::build()?.join("kubectl-reserve"));
    command.args(words).arg("--snapshot").arg(snapshot).stderr(Stdio::piped());
    let output = command.output().context("run kubectl-reserve")?;
    // 10: not everything fits.
    let is_expected = matches!(output.status.code(), Some(0 | 10)) && output.stderr.is_empty();
    ensure!(is_expected, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

/// A snapshot of a cluster with so many nodes, all of which refuse the pod `shop/web`.
fn snapshot(folder: &Path, nodes: usize) -> Result<PathBuf> {
    let path = folder.join(format!("{nodes}.gz"));
    let mut file = GzEncoder::new(File::create(&path)?, Compression::fast());
    writeln!(file, "{}", json!({ "apiVersion": "kubectl-reserve/v1alpha1", "kind": "Snapshot" }))?;
    for at in 0..nodes {
        writeln!(file, "{}", json!({ "resource": "nodes", "object": node(at) }))?;
        for pod in 0..3 {
            writeln!(file, "{}", json!({ "resource": "pods", "object": bound(at, pod) }))?;
        }
    }
    let web = json!({
        "metadata": { "name": "web", "namespace": "shop", "uid": "web", "creationTimestamp": "2026-11-16T08:09:00Z" },
        "spec": { "schedulerName": "default-scheduler", "containers": [{ "name": "c", "resources": { "requests": { "cpu": "2", "memory": "4Gi" } } }] },
        "status": { "phase": "Pending", "conditions": [{ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "" }] },
    });
    writeln!(file, "{}", json!({ "resource": "pods", "object": web }))?;
    writeln!(
        file,
        "{}",
        json!({ "end": { "at": "2026-11-16T08:10:00Z", "namespace": "shop", "objects": 4 * nodes + 1 } })
    )?;
    file.finish()?;
    Ok(path)
}

/// Some are cordoned, some have a taint, of the others cpu is too low; every third has a reservation.
fn node(at: usize) -> Value {
    let name = format!("node-{at:05}");
    let taint = |key: &str| json!([{ "key": key, "effect": "NoSchedule" }]);
    let (taints, is_cordoned) = match at % 7 {
        3 => (taint("dedicated"), false),
        5 => (taint("node.kubernetes.io/unschedulable"), true),
        _ => (json!([]), false),
    };
    let mut annotations = json!({});
    if at.is_multiple_of(3) {
        annotations[format!("{}/{OWNER}", names::CPU)] = json!("1500m");
    }
    json!({
        "metadata": { "name": name, "uid": name, "annotations": annotations, "labels": {
            "pool": format!("pool-{}", at % 10), "topology.kubernetes.io/zone": format!("zone-{}", at % 3) } },
        "spec": { "taints": taints, "unschedulable": is_cordoned },
        "status": { "allocatable": { "cpu": "4", "memory": "32Gi", "pods": "110" },
                    "conditions": [{ "type": "Ready", "status": "True" }] },
    })
}

fn bound(node: usize, pod: usize) -> Value {
    let name = format!("pod-{node}-{pod}");
    let cpu = format!("{}m", 750 + (node * 7 + pod * 13) % 200);
    json!({
        "metadata": { "name": name, "namespace": "load", "uid": name },
        "spec": { "nodeName": format!("node-{node:05}"),
                  "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu, "memory": "3000Mi" } } }] },
        "status": { "phase": "Running" },
    })
}

/// The npm packages that check pages, installed if need be; `None` if there is no npm.
pub(crate) fn packages() -> Result<Option<PathBuf>> {
    let has_npm = Command::new("npm").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !has_npm.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let into = programs::build()?.join("..");
    let output = Command::new(workspace_dir().join(".ci/web-packages")).arg(into).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(String::from_utf8(output.stdout)?.trim().into()))
}
