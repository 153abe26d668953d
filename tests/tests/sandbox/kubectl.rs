//! Real kubectl against the sandbox over HTTP, with the real daemon as its scheduler.

use crate::place::{Place, node, workload};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::Binaries;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tokio::net::TcpListener;

/// kubectl with a home of its own.
struct Kubectl {
    program: std::path::PathBuf,
    home: tempfile::TempDir,
}

impl Kubectl {
    fn new(port: u16) -> Result<Self> {
        let home = tempfile::tempdir()?;
        let config = json!({ "apiVersion": "v1", "kind": "Config", "current-context": "s",
            "clusters": [{ "name": "s", "cluster": { "server": format!("http://127.0.0.1:{port}") } }],
            "contexts": [{ "name": "s", "context": { "cluster": "s", "user": "" } }] });
        std::fs::write(home.path().join("config"), config.to_string())?;
        Ok(Self { program: Binaries::locate()?.path("kubectl")?.to_owned(), home })
    }

    /// Runs it, and returns what it printed and whether it succeeded.
    async fn run(&self, arguments: &str, input: &str) -> Result<(String, bool)> {
        let file = self.home.path().join("input.json");
        std::fs::write(&file, input)?;
        let mut command = Command::new(&self.program);
        command.args(arguments.split(' ')).current_dir(self.home.path()).env("HOME", self.home.path());
        command.env("KUBECONFIG", Path::new("config")).env("KUBERC", "off");
        let output = tokio::task::spawn_blocking(move || command.output()).await??;
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ok((said, output.status.success()))
    }

    /// Runs it, and fails if it fails.
    async fn ok(&self, arguments: &str) -> Result<String> {
        let (said, is_well) = self.run(arguments, "").await?;
        ensure!(is_well, "kubectl {arguments}: {said}");
        Ok(said)
    }

    /// Runs it until its output has `word`.
    async fn until(&self, arguments: &str, word: &str) -> Result<String> {
        let mut said = String::new();
        for _ in 0..300 {
            said = self.ok(arguments).await?;
            if said.contains(word) {
                return Ok(said);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        anyhow::bail!("kubectl {arguments} never said {word:?}: {said}")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_is_at_home() -> Result<()> {
    let place = Place::new(4);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let kubectl = Kubectl::new(listener.local_addr()?.port())?;
    tokio::select! {
        biased;
        told = story(&kubectl) => told,
        served = place.sandbox.serve(listener) => served.context("serve"),
        () = place.sandbox.run() => Ok(()),
        ran = place.daemon("a", std::future::pending()) => ran,
    }
}

async fn story(kubectl: &Kubectl) -> Result<()> {
    create(kubectl).await?;
    look(kubectl).await?;
    change(kubectl).await?;
    drain(kubectl).await?;
    remove(kubectl).await
}

async fn create(kubectl: &Kubectl) -> Result<()> {
    let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": { "name": "web" },
        "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } } });
    for object in [node("n1", "4"), node("n2", "4"), workload("Deployment", "web", 2, "1", json!({})), budget]
    {
        let (said, is_well) = kubectl.run("create -f input.json", &object.to_string()).await?;
        ensure!(is_well && said.contains("created"), "{said}");
    }
    let (said, is_well) = kubectl.run("create -f input.json", &node("n1", "4").to_string()).await?;
    ensure!(!is_well && said.contains("AlreadyExists"), "{said}");
    let (said, is_well) = kubectl
        .run("apply --server-side --validate=false -f input.json", &node("n1", "4").to_string())
        .await?;
    ensure!(!is_well && said.contains("Server-side apply not available"), "apply is not served: {said}");
    applied(kubectl).await?;
    kubectl.ok("rollout status deployment/web --timeout=60s").await?;
    kubectl.until("get deployment web", "2/2").await.map(drop)
}

/// Manifests can be applied, and changed, as anywhere. Where kubectl sends protobuf, the error says what to type.
async fn applied(kubectl: &Kubectl) -> Result<()> {
    let map = |value: &str| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "applied" }, "data": { "a": value } });
    for (value, word) in [("1", "created"), ("2", "configured"), ("2", "unchanged")] {
        let (said, is_well) = kubectl.run("apply -f input.json", &map(value).to_string()).await?;
        ensure!(is_well && said.contains(word) && !said.contains("rror"), "{said}");
    }
    let read = kubectl.ok("get configmap applied -o jsonpath={.data}").await?;
    ensure!(read == r#"{"a":"2"}"#, "{read}");
    kubectl.ok("delete configmap applied").await?;
    let (said, is_well) = kubectl.run("create deployment typed --image=typed", "").await?;
    ensure!(!is_well && said.contains("add: --dry-run=client -o yaml | kubectl create -f -"), "{said}");
    let manifest = kubectl.ok("create deployment typed --image=typed --dry-run=client -o yaml").await?;
    let (said, is_well) = kubectl.run("create -f input.json", &manifest).await?;
    ensure!(is_well && said.contains("deployment.apps/typed created"), "{said}");
    kubectl.ok("delete deployment typed --cascade=foreground --timeout=60s").await.map(drop)
}

async fn look(kubectl: &Kubectl) -> Result<()> {
    let nodes = kubectl.ok("get nodes").await?;
    ensure!(nodes.contains("STATUS") && nodes.contains("Ready"), "{nodes}");
    let pods = kubectl.ok("get pods -o wide -A").await?;
    ensure!(pods.contains("1/1") && pods.contains("Running") && pods.contains("NODE"), "{pods}");
    let all = kubectl.ok("get deploy,rs,sts,pdb,ev,lease,ns -A").await?;
    for word in ["UP-TO-DATE", "DESIRED", "Scheduled", "reserve-a", "kube-system"] {
        ensure!(all.contains(word), "{word}: {all}");
    }
    let described = kubectl.ok("describe node n1").await?;
    ensure!(
        described.contains("Non-terminated Pods:") && described.contains("Allocated resources:"),
        "{described}"
    );
    let pod = kubectl.ok("get pods -o name").await?.lines().next().context("a pod")?.to_owned();
    let described = kubectl.ok(&format!("describe {pod}")).await?;
    ensure!(described.contains("Successfully assigned default/web-"), "{described}");
    let described = kubectl.ok("describe deployment web").await?;
    ensure!(described.contains("2 desired | 2 updated | 2 total | 2 available"), "{described}");
    kubectl.ok("get pods -o yaml").await?;
    kubectl.ok("api-resources").await?;
    let named = kubectl.ok("get pods --field-selector status.phase=Running -o name").await?;
    ensure!(named.lines().count() == 2, "{named}");
    let (said, is_well) = kubectl.run("get pod nobody", "").await?;
    ensure!(!is_well && said.contains("Error from server (NotFound): pods \"nobody\" not found"), "{said}");
    let watched = kubectl.ok("get pods --watch --request-timeout=2s").await;
    ensure!(format!("{watched:?}").contains("Running"), "{watched:?}");
    Ok(())
}

async fn change(kubectl: &Kubectl) -> Result<()> {
    for arguments in [
        "annotate node n1 example.com/a=b",
        "label node n1 pool=x",
        "label node n1 pool-",
        "scale deployment web --replicas=3",
    ] {
        kubectl.ok(arguments).await?;
    }
    let annotated = kubectl.ok("get node n1 -o jsonpath={.metadata.annotations}").await?;
    ensure!(annotated.contains("\"example.com/a\":\"b\""), "{annotated}");
    kubectl.until("get deployment web", "3/3").await?;
    kubectl.ok("rollout restart deployment/web").await?;
    kubectl.ok("rollout status deployment/web --timeout=60s").await?;
    kubectl.ok("set image deployment/web c=other").await?;
    kubectl.ok("rollout status deployment/web --timeout=60s").await.map(drop)
}

async fn drain(kubectl: &Kubectl) -> Result<()> {
    kubectl.ok("cordon n2").await?;
    let nodes = kubectl.ok("get nodes").await?;
    ensure!(nodes.contains("Ready,SchedulingDisabled"), "{nodes}");
    kubectl.ok("uncordon n2").await?;
    let drained = kubectl.ok("drain n1 --force --ignore-daemonsets --timeout=60s").await?;
    ensure!(drained.contains("node/n1 drained"), "{drained}");
    kubectl.until("get deployment web", "3/3").await?;
    let left = kubectl.ok("get pods -A --field-selector spec.nodeName=n1 -o name").await?;
    ensure!(left.is_empty(), "{left}");
    kubectl.ok("uncordon n1").await.map(drop)
}

async fn remove(kubectl: &Kubectl) -> Result<()> {
    let pod = kubectl.ok("get pods -o name").await?.lines().next().context("a pod")?.to_owned();
    kubectl.ok(&format!("delete {pod} --timeout=60s")).await?;
    kubectl.ok("delete deployment web --cascade=foreground --timeout=60s").await?;
    let left = kubectl.ok("get pods,rs -o name").await?;
    ensure!(left.is_empty(), "{left}");
    let space = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "short" } });
    let map =
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c", "namespace": "short" } });
    for object in [space, map] {
        let (said, is_well) = kubectl.run("create -f input.json", &object.to_string()).await?;
        ensure!(is_well, "{said}");
    }
    kubectl.ok("delete namespace short --timeout=60s").await?;
    kubectl.ok("delete node n2").await.map(drop)
}
