//! A sandbox with a client, and the real daemon in it.

use anyhow::{Context as _, Result};
use clap::Parser as _;
use daemon::args::Args;
use daemon::clock::Clock;
use daemon::config::Config as DaemonConfig;
use daemon::connect::Clients;
use daemon::metrics::Metrics;
use jiff::Timestamp;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::discovery::ApiResource;
use kube::core::gvk::GroupVersionKind;
use sandbox::{Config, Sandbox};
use serde_json::{Value, json};
use std::time::Duration;

/// When every story begins.
pub(crate) fn start() -> Timestamp {
    "2026-11-17T08:00:00Z".parse().expect("a time")
}

/// A sandbox, and a client in the same process.
pub(crate) struct Place {
    pub(crate) sandbox: Sandbox,
    site: Site,
}

/// A cluster of any kind, through a client.
pub(crate) struct Site {
    pub(crate) client: kube::Client,
}

impl std::ops::Deref for Place {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

impl Place {
    pub(crate) fn new(seed: u64) -> Self {
        let sandbox = Sandbox::new(&Config::starting_at(start(), seed));
        let client = kube::Client::new(sandbox.api(), "default");
        Self { sandbox, site: Site { client } }
    }

    /// Runs the real daemon until `stop`.
    pub(crate) async fn daemon(&self, replica: &str, stop: impl Future<Output = ()>) -> Result<()> {
        daemon(kube::Client::new(self.sandbox.api(), "default"), replica, stop).await
    }
}

/// Runs the real daemon until `stop`, from the time on when every story begins.
pub(crate) async fn daemon(
    client: kube::Client,
    replica: &str,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let flags = ["reserve-daemon", "--secure-port=0", "--namespace=kube-system", "--replica-name", replica];
    let config = DaemonConfig::try_from(Args::try_parse_from(flags)?)?;
    let (clock, rng) = (Clock::start_at(start()), fastrand::Rng::with_seed(7));
    daemon::run::run(&config, Clients::from(client), Metrics::default(), clock, rng, stop).await
}

impl Site {
    /// Makes an object of any kind.
    pub(crate) async fn create(&self, object: Value) -> Result<DynamicObject> {
        let object: DynamicObject = serde_json::from_value(object)?;
        let kind = object.types.clone().context("a kind")?;
        let resource = ApiResource::from_gvk(&GroupVersionKind::try_from(&kind)?);
        let api: Api<DynamicObject> = match kind.kind.as_str() {
            "Node" | "PriorityClass" => Api::all_with(self.client.clone(), &resource),
            _ => Api::default_namespaced_with(self.client.clone(), &resource),
        };
        Ok(api.create(&PostParams::default(), &object).await?)
    }

    /// Reads whatever is at a path.
    pub(crate) async fn read(&self, path: &str) -> Result<Value> {
        let request = http::Request::get(path).body(Vec::new())?;
        Ok(self.client.request(request).await?)
    }

    /// The pods with a label `app`, as `name node phase`, replaced ones included.
    pub(crate) async fn pods(&self, app: &str) -> Result<Vec<Value>> {
        let list = self.read(&format!("/api/v1/pods?labelSelector=app%3D{app}")).await?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// Looks until `check` answers, for two minutes of the sandbox's time.
    pub(crate) async fn wait<T>(
        &self,
        what: &str,
        mut check: impl AsyncFnMut() -> Result<Option<T>>,
    ) -> Result<T> {
        for _ in 0..1200 {
            if let Some(found) = check().await? {
                return Ok(found);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let nodes = self.read("/api/v1/nodes").await?;
        let pods = self.read("/api/v1/pods").await?;
        anyhow::bail!("waited until {what}\n{nodes:#}\n{pods:#}")
    }

    /// The records of the reservations on a node, by the names of their keys.
    pub(crate) async fn reservations(&self, node: &str) -> Result<Vec<String>> {
        let node = self.read(&format!("/api/v1/nodes/{node}")).await?;
        let annotations = node["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
        Ok(annotations.keys().filter(|key| key.starts_with("reserve.info/")).cloned().collect())
    }

    /// Waits until a pod is told that there is no place for it, and returns what it is told.
    pub(crate) async fn told(&self, app: &str) -> Result<String> {
        self.wait(&format!("{app} is told that there is no room"), async || {
            let pods = self.pods(app).await?;
            let conditions = pods
                .iter()
                .flat_map(|pod| pod["status"]["conditions"].as_array().cloned().unwrap_or_default());
            let mut unplaced = conditions.filter(|one| text(one, "/reason") == "Unschedulable");
            Ok(unplaced.next().map(|one| text(&one, "/message").to_owned()))
        })
        .await
    }

    /// Waits until exactly so many pods run, and returns them.
    pub(crate) async fn running(&self, app: &str, count: usize) -> Result<Vec<Value>> {
        let what = format!("{count} pods of {app} run");
        self.wait(&what, async || {
            let pods = self.pods(app).await?;
            let is_well = |pod: &Value| {
                pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null()
            };
            Ok((pods.len() == count && pods.iter().all(is_well)).then_some(pods))
        })
        .await
    }
}

/// Tells a story while the daemon and the sandbox live.
pub(crate) async fn story(place: &Place, story: impl Future<Output = Result<()>>) -> Result<()> {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let daemon = place.daemon("a", async { drop(stopped.await) });
    let told = async {
        story.await?;
        drop(stop);
        Ok(())
    };
    tokio::select! {
        biased;
        both = futures::future::try_join(daemon, told) => both.map(drop),
        () = place.sandbox.run() => Ok(()),
    }
}

pub(crate) fn node(name: &str, cpu: &str) -> Value {
    let room = json!({ "cpu": cpu, "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi" });
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name } },
            "status": { "capacity": room, "allocatable": room } })
}

pub(crate) fn pod_template(app: &str, cpu: &str) -> Value {
    let container =
        json!({ "name": "c", "image": "i", "resources": { "requests": { "cpu": cpu, "memory": "128Mi" } } });
    json!({ "metadata": { "labels": { "app": app } },
            "spec": { "schedulerName": "reserve-scheduler", "terminationGracePeriodSeconds": 5, "containers": [container] } })
}

pub(crate) fn workload(kind: &str, app: &str, replicas: u32, cpu: &str, annotations: Value) -> Value {
    json!({ "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": app, "namespace": "default", "annotations": annotations },
            "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": app } }, "template": pod_template(app, cpu), "serviceName": app } })
}

pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}
