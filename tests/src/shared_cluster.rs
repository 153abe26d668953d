//! One control plane that all tests of a binary share. Each test has a [`TestNamespace`]: a namespace, and nodes that only the pods
//! of this test tolerate. [`SharedCluster::run`] runs a test in it.
//!
//! A control plane takes seconds to start, and tests mostly wait, so sharing keeps the suite short. After each test the history of
//! the whole cluster is checked against the rules of [`crate::history`].

use crate::control_plane::{
    Cluster, ControlPlane, NodeShape, Workload, WorkloadShape, describe, is_running, name_of, node, node_of,
};
use crate::programs::{self, Daemon, DaemonShape};
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams};
use serde_json::{Value, json};
use std::sync::LazyLock;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{OnceCell, RwLock};

/// The key of the label and the taint of a test's nodes, which the pods of the test select and tolerate.
const NAMESPACE_LABEL: &str = "test.reserve/ns";
pub use common::api::names::KEEP;
/// The default time limit of a wait.
pub const SOON: Duration = Duration::from_secs(90);

/// A shared control plane, started by the first test that needs it. It ends with the process.
pub struct SharedCluster {
    name: &'static str,
    scheduler: Option<&'static str>,
    daemon: Option<fn() -> DaemonShape>,
    runtime: LazyLock<Runtime>,
    started: OnceCell<(Cluster, Option<Daemon>)>,
    /// Tests that make the API server or the only daemon fail take the write lock, all others the read lock.
    alone: RwLock<()>,
}

/// The part of a cluster that one test has.
#[derive(Clone, Copy)]
pub struct TestNamespace {
    /// The control plane.
    pub cluster: &'static Cluster,
    /// The namespace, which is also the name of the pool of nodes.
    pub name: &'static str,
}

impl SharedCluster {
    /// A cluster with the common daemon for all tests, or without one.
    pub const fn new(name: &'static str, daemon: Option<fn() -> DaemonShape>) -> Self {
        let runtime: LazyLock<Runtime> = LazyLock::new(runtime);
        Self {
            name,
            scheduler: None,
            daemon,
            runtime,
            started: OnceCell::const_new(),
            alone: RwLock::const_new(()),
        }
    }

    /// Adds the real kube-scheduler with this configuration.
    #[must_use]
    pub const fn with_scheduler(mut self, configuration: &'static str) -> Self {
        self.scheduler = Some(configuration);
        self
    }

    /// Runs a test in the namespace `name`, in parallel with others.
    ///
    /// # Errors
    /// The error of the test, or a broken rule.
    pub fn run<F>(&'static self, name: &'static str, test: impl FnOnce(TestNamespace) -> F) -> Result<()>
    where
        F: Future<Output = Result<()>>,
    {
        self.runtime.block_on(async {
            let _beside = self.alone.read().await;
            self.run_now(name, test).await
        })
    }

    /// Runs a test in the namespace `name`, while no other test runs.
    ///
    /// # Errors
    /// The error of the test, or a broken rule.
    pub fn run_alone<F>(
        &'static self,
        name: &'static str,
        test: impl FnOnce(TestNamespace) -> F,
    ) -> Result<()>
    where
        F: Future<Output = Result<()>>,
    {
        self.runtime.block_on(async {
            let _alone = self.alone.write().await;
            self.run_now(name, test).await
        })
    }

    async fn run_now<F>(
        &'static self,
        name: &'static str,
        test: impl FnOnce(TestNamespace) -> F,
    ) -> Result<()>
    where
        F: Future<Output = Result<()>>,
    {
        let (cluster, daemon) = self.started.get_or_try_init(|| self.start()).await?;
        cluster.add_namespace(name).await?;
        test(TestNamespace { cluster, name }).await?;
        tokio::task::block_in_place(|| {
            if let Some(daemon) = daemon {
                daemon.check_belief()?;
            }
            cluster.check_rules()
        })
    }

    async fn start(&self) -> Result<(Cluster, Option<Daemon>)> {
        let plane = ControlPlane::start(self.name).plugin_dir(programs::build()?);
        let cluster = match self.scheduler {
            Some(configuration) => plane.with_scheduler_configuration(configuration).await?,
            None => plane.await?,
        };
        let daemon = match self.daemon {
            Some(shape) => Some(shape().start(&cluster).await?),
            None => None,
        };
        Ok((cluster, daemon))
    }
}

/// A connection belongs to the runtime that it was made on, so all tests share one runtime.
fn runtime() -> Runtime {
    match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => panic!("no runtime: {error}"),
    }
}

impl TestNamespace {
    /// Adds a node with `cpu` CPUs, and returns its full name.
    ///
    /// # Errors
    /// When the node does not get ready.
    pub async fn node(&self, name: &str, cpu: &str) -> Result<String> {
        self.node_with(name, |shape| shape.cpu(cpu)).await
    }

    /// Adds a node with the settings that `more` makes, and returns its full name.
    ///
    /// # Errors
    /// When the node does not get ready.
    pub async fn node_with(&self, name: &str, more: impl FnOnce(NodeShape) -> NodeShape) -> Result<String> {
        let name = format!("{}-{name}", self.name);
        let shape = more(node(&name)).label(NAMESPACE_LABEL, self.name).taint(
            NAMESPACE_LABEL,
            self.name,
            "NoSchedule",
        );
        self.cluster.add_node(shape).await?;
        Ok(name)
    }

    /// `shape` with the selector and the toleration for this test's nodes, placed by our scheduler.
    pub fn fit(&self, shape: WorkloadShape) -> WorkloadShape {
        self.fit_for(shape, names::SCHEDULER_NAME)
    }

    /// The same, placed by another scheduler.
    pub fn fit_for(&self, shape: WorkloadShape, scheduler: &str) -> WorkloadShape {
        let tolerations = json!([{"key": NAMESPACE_LABEL, "operator": "Equal", "value": self.name, "effect": "NoSchedule"}]);
        let shape = shape.namespace(self.name).scheduler(scheduler);
        shape
            .pod_field("nodeSelector", json!({NAMESPACE_LABEL: self.name}))
            .pod_field("tolerations", tolerations)
    }

    /// Deploys a workload in this namespace.
    ///
    /// # Errors
    /// When the API server refuses it.
    pub async fn deploy(&self, shape: WorkloadShape) -> Result<Workload> {
        self.cluster.deploy(self.fit(shape)).await
    }

    /// Deploys a workload with `reserve/keep`, and waits until `count` pods of it run.
    ///
    /// # Errors
    /// When the pods do not run in time.
    pub async fn deploy_kept(&self, shape: WorkloadShape, count: usize) -> Result<Workload> {
        let workload = self.deploy(shape.annotation(KEEP, "true")).await?;
        self.running(&workload, count).await?;
        Ok(workload)
    }

    /// Deploys a workload that fits no node, and waits until its pods are unschedulable: they have waited longest when room gets
    /// free.
    ///
    /// # Errors
    /// When the pods do not become unschedulable in time.
    pub async fn deploy_waiting(&self, shape: WorkloadShape) -> Result<Workload> {
        let workload = self.deploy(shape).await?;
        self.cluster.wait_until_unschedulable(self.name, &workload.selector).await?;
        Ok(workload)
    }

    /// The pods of a workload.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn pods(&self, workload: &Workload) -> Result<Vec<Pod>> {
        self.cluster.pods_in(&workload.namespace, &workload.selector).await
    }

    /// Waits until exactly `count` pods of a workload are there, all running.
    ///
    /// # Errors
    /// When that takes too long.
    pub async fn running(&self, workload: &Workload, count: usize) -> Result<Vec<Pod>> {
        self.cluster.wait_until_running_in(&workload.namespace, &workload.selector, count).await
    }

    /// Waits until a pod of the workload runs that is none of `old`, and returns it.
    ///
    /// # Errors
    /// When that takes too long.
    pub async fn replacement(&self, workload: &Workload, old: &[Pod]) -> Result<Pod> {
        let is_new = |pod: &&Pod| !old.iter().any(|old| old.metadata.uid == pod.metadata.uid);
        let what = format!("a new pod of {}/{} runs", workload.namespace, workload.name);
        self.cluster
            .wait_until(&what, SOON, async || {
                let pods = self.pods(workload).await?;
                let new = pods.iter().filter(is_new).find(|pod| is_running(pod));
                new.cloned().with_context(|| describe(&pods))
            })
            .await
    }

    /// Deletes a pod, as `kubectl delete` does.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn delete(&self, pod: &Pod) -> Result<()> {
        self.delete_with(pod, &DeleteParams::default()).await
    }

    /// Deletes a pod with these parameters.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn delete_with(&self, pod: &Pod, how: &DeleteParams) -> Result<()> {
        let api: Api<Pod> =
            Api::namespaced(self.cluster.admin(), pod.metadata.namespace.as_deref().unwrap_or(self.name));
        api.delete(name_of(pod), how).await.map(drop).with_context(|| format!("delete {}", name_of(pod)))
    }

    /// Checks that no pod of the workload has a node.
    ///
    /// # Errors
    /// When a pod has one.
    pub async fn still_waits(&self, workload: &Workload) -> Result<()> {
        let pods = self.pods(workload).await?;
        ensure!(pods.iter().all(|pod| node_of(pod).is_empty()), "it must still wait: {}", describe(&pods));
        Ok(())
    }

    /// The records of the reservations on a node.
    ///
    /// # Errors
    /// When there is no such node, or a record is not JSON.
    pub async fn reservations(&self, node: &str) -> Result<Vec<Value>> {
        let annotations = self.cluster.node(node).await?.metadata.annotations.unwrap_or_default();
        let records = annotations.iter().filter(|(key, _)| key.starts_with(names::INFO));
        records.map(|(key, json)| serde_json::from_str(json).with_context(|| key.clone())).collect()
    }

    /// Waits until a node has exactly `count` reservations, and returns their records.
    ///
    /// # Errors
    /// When that takes too long.
    pub async fn reserved(&self, node: &str, count: usize) -> Result<Vec<Value>> {
        let what = format!("{count} reservations on {node}");
        self.cluster
            .wait_until(&what, SOON, async || {
                let found = self.reservations(node).await?;
                ensure!(found.len() == count, "{found:?}");
                Ok(found)
            })
            .await
    }
}
