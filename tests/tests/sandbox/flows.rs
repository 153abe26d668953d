//! What is recorded: the real daemon and the real command in a sandbox where nothing happens but by requests. Controllers and
//! kubelets are played by hand, so that the recording tells all that ever happened.

use crate::place::{Place, daemon, node, pod_template, text};
use crate::recording::Recording;
use anyhow::{Context as _, Result, ensure};
use kubectl_reserve::HostProgram;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

const PODS: &str = "/api/v1/namespaces/default/pods";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/// The recording of all of it.
pub(crate) fn record() -> Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
    // What the command makes ids from.
    fastrand::seed(11);
    runtime.block_on(async {
        let shared_cluster = SharedCluster::new();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let client = shared_cluster.recording.client(shared_cluster.place.sandbox.api(), "daemon");
        let daemon = daemon(client, "a", async { drop(stopped.await) });
        let told = async {
            shared_cluster.story().await?;
            drop(stop);
            Ok(())
        };
        tokio::select! {
            biased;
            both = futures::future::try_join(daemon, told) => drop(both?),
            failed = shared_cluster.hands() => failed?,
        }
        shared_cluster.recording.text()
    })
}

struct SharedCluster {
    place: Place,
    recording: Recording,
    /// As everybody who is not played by our programs.
    others: kube::Client,
}

impl SharedCluster {
    fn new() -> Self {
        let (place, recording) = (Place::new(9), Recording::default());
        let others = recording.client(place.sandbox.api(), "test");
        Self { place, recording, others }
    }

    async fn story(&self) -> Result<()> {
        for (name, cpu) in [("n1", "2"), ("n2", "2"), ("n3", "1")] {
            self.write("POST", "/api/v1/nodes", node(name, cpu)).await?;
        }
        self.write("POST", SETS, set("web", 2, "1", json!({}))).await?;
        self.place.running("web", 2).await?;
        self.reserve().await?;
        self.wait_in_vain().await?;
        self.keep().await?;
        self.recreate().await?;
        self.drain().await
    }

    /// Reservations by hand, and all that shows them.
    async fn reserve(&self) -> Result<()> {
        self.command("add --pod web-1 --ttl=60s --dry-run=server").await?;
        // While somebody else writes to the same node, so that not every write succeeds.
        let meanwhile = async {
            for number in 0..8 {
                let other =
                    json!({ "metadata": { "annotations": { "example.com/other": number.to_string() } } });
                self.write("PATCH", "/api/v1/nodes/n1", other).await?;
            }
            Ok(())
        };
        futures::future::try_join(self.command("add --pod web-1 --ttl=60s"), meanwhile).await?;
        for words in ["list", "list -A -o json", "status", "nodes", "doctor"] {
            self.command(words).await?;
        }
        let keys = self.reservations().await?;
        let id = keys.first().and_then(|key| key.rsplit('.').next()).context("a reservation")?;
        self.command(&format!("extend {id} --ttl=90s")).await?;
        self.command(&format!("describe {id}")).await?;
        self.command("release --pod web-1").await
    }

    /// A pod without a place, and those who ask why.
    async fn wait_in_vain(&self) -> Result<()> {
        self.write("POST", SETS, set("large", 1, "3", json!({}))).await?;
        self.place.told("large").await?;
        for words in ["explain", "explain large-3 -o json", "fit --cpu 1 --replicas 2"] {
            self.command(words).await?;
        }
        Ok(())
    }

    /// A pod whose place is kept is deleted: the daemon reserves it, and releases it when it is taken.
    async fn keep(&self) -> Result<()> {
        self.write("POST", SETS, set("kept", 1, "1", json!({ "reserve/keep": "60s" }))).await?;
        let before = self.place.running("kept", 1).await?;
        let path = format!("{PODS}/{}", text(&before[0], "/metadata/name"));
        self.write("DELETE", &path, json!({})).await?;
        self.place.wait("it is reserved", async || Ok(self.reservations().await?.pop())).await?;
        self.place.running("kept", 1).await?;
        self.place
            .wait("it is released", async || Ok(self.reservations().await?.is_empty().then_some(())))
            .await
    }

    /// A budget forbids what the command wants, and then allows it.
    async fn recreate(&self) -> Result<()> {
        let spec = json!({ "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } });
        let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": { "name": "b" }, "spec": spec });
        self.write("POST", BUDGETS, budget).await?;
        let allowed = async |count: u32| {
            let status = json!({ "status": { "observedGeneration": 1, "disruptionsAllowed": count, "expectedPods": 2, "currentHealthy": 1 + count, "desiredHealthy": 1 } });
            self.write("PATCH", &format!("{BUDGETS}/b/status"), status).await
        };
        allowed(0).await?;
        let later = async {
            sleep(Duration::from_secs(4)).await;
            allowed(1).await.map(drop)
        };
        let command = self.command("pod web-1 --ttl=60s --timeout=3m --yes");
        futures::future::try_join(command, later).await.map(drop)
    }

    async fn drain(&self) -> Result<()> {
        self.write("DELETE", &format!("{BUDGETS}/b"), json!({})).await?;
        self.command("drain n1 --ttl=60s --timeout=3m --yes").await
    }

    /// The keys of all records, on whatever node.
    async fn reservations(&self) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        for node in ["n1", "n2", "n3"] {
            keys.extend(self.place.reservations(node).await?);
        }
        Ok(keys)
    }

    async fn command(&self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let host = HostProgram::default();
        let client = self.recording.client(self.place.sandbox.api(), "command");
        let code = Box::pin(kubectl_reserve::run_inside(&words, client, &host)).await;
        // 10: it was explained why something has no place.
        ensure!(matches!(code, 0 | 10), "kubectl reserve {line}: {code}\n{}", host.output());
        Ok(())
    }

    async fn write(&self, method: &str, path: &str, body: Value) -> Result<Value> {
        let kind =
            if method == "PATCH" { "application/strategic-merge-patch+json" } else { "application/json" };
        let request = http::Request::builder().method(method).uri(path).header("content-type", kind);
        Ok(self.others.request(request.body(body.to_string().into_bytes())?).await?)
    }

    /// Does what controllers and kubelets do, for ever.
    async fn hands(&self) -> Result<()> {
        let mut made = 0;
        loop {
            sleep(Duration::from_millis(100)).await;
            let pods = items(&self.place.read(PODS).await?);
            for pod in &pods {
                self.kubelet(pod).await?;
            }
            for set in items(&self.place.read(SETS).await?) {
                let id = text(&set, "/metadata/uid");
                let stands = |pod: &&Value| {
                    text(pod, "/metadata/ownerReferences/0/uid") == id
                        && pod["metadata"]["deletionTimestamp"].is_null()
                };
                for _ in pods.iter().filter(stands).count()
                    ..usize::try_from(set["spec"]["replicas"].as_u64().unwrap_or(0))?
                {
                    made += 1;
                    self.write("POST", PODS, pod_of(&set, made)).await?;
                }
            }
        }
    }

    async fn kubelet(&self, pod: &Value) -> Result<()> {
        let path = format!("{PODS}/{}", text(pod, "/metadata/name"));
        if !pod["metadata"]["deletionTimestamp"].is_null() {
            let id = text(pod, "/metadata/uid");
            let now = json!({ "apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": { "uid": id } });
            self.write("DELETE", &path, now).await?;
        } else if !text(pod, "/spec/nodeName").is_empty() && pod["status"]["phase"] != "Running" {
            let ready = json!({ "type": "Ready", "status": "True" });
            let status = json!({ "status": { "phase": "Running", "conditions": [ready] } });
            self.write("PATCH", &format!("{path}/status"), status).await?;
        }
        Ok(())
    }
}

fn items(list: &Value) -> Vec<Value> {
    list["items"].as_array().cloned().unwrap_or_default()
}

fn set(app: &str, replicas: u32, cpu: &str, annotations: Value) -> Value {
    json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": app, "namespace": "default", "annotations": annotations },
            "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": app } }, "template": pod_template(app, cpu) } })
}

fn pod_of(set: &Value, number: u32) -> Value {
    let (name, id) = (text(set, "/metadata/name"), text(set, "/metadata/uid"));
    let owner = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": id, "controller": true, "blockOwnerDeletion": true });
    json!({ "apiVersion": "v1", "kind": "Pod", "spec": set["spec"]["template"]["spec"],
            "metadata": { "name": format!("{name}-{number}"), "labels": { "app": name }, "ownerReferences": [owner] } })
}
