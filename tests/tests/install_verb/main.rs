//! `install`, `uninstall`, `status` and `doctor` on a real control plane, typed by real kubectl. The daemon's pods are
//! kwok's; where one must work, the program runs beside its pod, with that pod's token.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]

mod asked;
mod health;
mod manifests;
mod story;

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use reserve_tests::control_plane::{Cluster, Program, User, Write, is_running, workspace_dir};
use reserve_tests::programs;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const NAMESPACE: &str = "kube-reserve";
const SOON: Duration = Duration::from_secs(90);
/// An owner that nobody is.
const OWNER: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

/// What a command said, and how it ended.
struct Said {
    code: i32,
    out: String,
    talk: String,
}

/// Types `kubectl reserve …`, with nobody at the terminal, and `first` before everything else on the PATH.
fn reserve_with(cluster: &Cluster, user: User, first: Option<&Path>, arguments: &[&str]) -> Result<Said> {
    let mut command = cluster.kubectl(user)?;
    if let Some(first) = first {
        let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
        let path = path.context("no PATH")?.to_owned();
        let dirs = std::iter::once(first.to_owned()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(dirs)?);
    }
    let output =
        command.arg("reserve").args(arguments).stdin(Stdio::null()).output().context("run kubectl")?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).context("read what kubectl printed");
    Ok(Said {
        code: output.status.code().context("killed")?,
        out: text(output.stdout)?,
        talk: text(output.stderr)?,
    })
}

fn reserve(cluster: &Cluster, arguments: &[&str]) -> Result<Said> {
    reserve_with(cluster, User::Admin, None, arguments)
}

impl Said {
    /// Fails unless it ended so.
    fn ended(self, code: i32) -> Result<Self> {
        ensure!(self.code == code, "exit code {}, not {code}\n{}\n{}", self.code, self.out, self.talk);
        Ok(self)
    }

    fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.out).with_context(|| self.out.clone())
    }
}

/// The names of everything that an installation could leave behind.
async fn inventory(cluster: &Cluster) -> Result<Vec<String>> {
    let kinds = "namespaces,resourcequotas,serviceaccounts,clusterroles,roles,clusterrolebindings,rolebindings,leases,\
                 validatingadmissionpolicies,validatingadmissionpolicybindings,flowschemas,prioritylevelconfigurations,\
                 configmaps,services,networkpolicies,poddisruptionbudgets,deployments,replicasets";
    let columns = "custom-columns=K:.kind,NS:.metadata.namespace,N:.metadata.name";
    let text = cluster.run_kubectl(&["get", kinds, "-A", "--no-headers", "-o", columns]).await?;
    let mut names: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    names.sort();
    Ok(names)
}

/// What the admin stored since `start`, questions about rights apart.
async fn stored_since(cluster: &Cluster, start: Timestamp) -> Result<Vec<Write>> {
    let audit = cluster.audit().await?.since(start).by("admin").stored();
    let is_question = |write: &Write| write.resource.ends_with("reviews");
    Ok(audit.keep(|write| !is_question(write)).writes().to_vec())
}

/// The annotations of ours on a node.
async fn reserved(cluster: &Cluster, node: &str) -> Result<Vec<String>> {
    let annotations = cluster.node(node).await?.metadata.annotations.unwrap_or_default();
    Ok(annotations.into_keys().filter(|key| key.starts_with("reserve.")).collect())
}

/// Writes a reservation as our programs do, which ends at `expires`.
async fn write_recorded(cluster: &Cluster, node: &str, seat: &str, expires: Timestamp) -> Result<()> {
    let created = expires - Duration::from_secs(600);
    let info = json!({
        "v": 1, "owner": {"kind": "Deployment", "namespace": "default", "name": "web", "uid": OWNER}, "priority": 0,
        "created": created, "expires": expires, "request": seat, "by": "a test", "reason": "",
        "placement": "prefer",
    });
    let keys = [format!("reserve.cpu/{OWNER}.{seat}=1"), format!("reserve.info/{OWNER}.{seat}={info}")];
    cluster.run_kubectl(&["annotate", "node", node, &keys[0], &keys[1]]).await.map(drop)
}

/// A pod of the installed Deployment, once it runs.
async fn daemon_pod(cluster: &Cluster) -> Result<Pod> {
    let pods: Api<Pod> = Api::namespaced(cluster.admin(), NAMESPACE);
    let ours = ListParams::default().labels("app.kubernetes.io/name=kubectl-reserve");
    cluster
        .wait_until("a pod of the daemon runs", SOON, async || {
            let pods = pods.list(&ours).await?.items;
            pods.into_iter()
                .find(|pod| is_running(pod) && pod.metadata.deletion_timestamp.is_none())
                .context("none")
        })
        .await
}

/// The daemon's program beside one of its pods, with that pod's name, token and configuration.
async fn start_daemon(cluster: &Cluster) -> Result<Program> {
    let pod = daemon_pod(cluster).await?;
    let account = cluster.account_of(&pod).await?;
    let kubeconfig = cluster.kubeconfig_of(&account)?;
    let config = workspace_dir().join("manifests/daemon/config.yaml");
    let arguments = [
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--config={}", config.display()),
        format!("--namespace={NAMESPACE}"),
        format!("--replica-name={}", account.pod),
        "--secure-port=0".to_owned(),
        "-v=4".to_owned(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    cluster.run_program("installed-daemon", &programs::build()?.join("reserve-daemon"), &arguments)
}
