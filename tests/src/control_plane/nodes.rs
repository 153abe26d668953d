//! Adds nodes: `cluster.add_node(node("n1").cpu("6000m").memory("8Gi"))`.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Map, Value, json};

use super::cluster::Cluster;
use super::modules;

/// The prefix of the taints that the node lifecycle controller sets on nodes that are not ready.
const CONDITION_TAINTS: &str = "node.kubernetes.io/";
const READY_MAX: Duration = Duration::from_secs(120);

/// The settings of a node before it is added.
#[derive(Clone, Debug)]
#[must_use = "give it to Cluster::add_node"]
pub struct NodeShape {
    name: String,
    labels: Map<String, Value>,
    annotations: Map<String, Value>,
    taints: Vec<Value>,
    resources: Map<String, Value>,
    images: Vec<Value>,
}

/// A node with the defaults: 4 CPUs, 16 GiB of memory and room for 110 pods.
pub fn node(name: &str) -> NodeShape {
    let mut labels = Map::new();
    labels.insert("kubernetes.io/hostname".to_owned(), name.into());
    labels.insert("kubernetes.io/os".to_owned(), "linux".into());
    labels.insert("kubernetes.io/arch".to_owned(), "amd64".into());
    let shape = NodeShape {
        name: name.to_owned(),
        labels,
        annotations: Map::new(),
        taints: vec![],
        resources: Map::new(),
        images: vec![],
    };
    shape.cpu("4").memory("16Gi").resource("ephemeral-storage", "100Gi").pods(110)
}

impl NodeShape {
    /// Allocatable CPU, such as `6000m`.
    pub fn cpu(self, quantity: &str) -> Self {
        self.resource("cpu", quantity)
    }

    /// Allocatable memory, such as `8Gi`.
    pub fn memory(self, quantity: &str) -> Self {
        self.resource("memory", quantity)
    }

    /// Allocatable pods.
    pub fn pods(self, pods: u32) -> Self {
        self.resource("pods", &pods.to_string())
    }

    /// Any other allocatable resource, such as `nvidia.com/gpu`.
    pub fn resource(mut self, name: &str, quantity: &str) -> Self {
        self.resources.insert(name.to_owned(), quantity.into());
        self
    }

    /// Adds a label.
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.labels.insert(key.to_owned(), value.into());
        self
    }

    /// Adds an annotation.
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.annotations.insert(key.to_owned(), value.into());
        self
    }

    /// Adds a taint; the effect is `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub fn taint(mut self, key: &str, value: &str, effect: &str) -> Self {
        self.taints.push(json!({"key": key, "value": value, "effect": effect}));
        self
    }

    /// Adds an image that the node has already.
    pub fn image(mut self, name: &str, size_bytes: u64) -> Self {
        self.images.push(json!({"names": [name], "sizeBytes": size_bytes}));
        self
    }

    fn into_node(self) -> Result<Node> {
        let version = modules::kubernetes_version()?;
        let kwok = "kwok";
        let node = json!({
            "metadata": {"name": self.name, "labels": self.labels, "annotations": self.annotations},
            "spec": {"taints": self.taints},
            "status": {
                "allocatable": self.resources,
                "capacity": self.resources,
                "images": self.images,
                "addresses": [{"type": "Hostname", "address": self.name}],
                "nodeInfo": {
                    "architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": version,
                    "kubeProxyVersion": "", "containerRuntimeVersion": kwok, "kernelVersion": kwok,
                    "osImage": kwok, "bootID": "", "machineID": "", "systemUUID": "",
                },
            },
        });
        serde_json::from_value(node).context("make a node")
    }
}

impl Cluster {
    /// Adds a node and waits until pods can be scheduled to it.
    ///
    /// # Errors
    /// When the API server refuses the node, or the node does not get ready.
    pub async fn add_node(&self, shape: NodeShape) -> Result<Node> {
        let node = shape.into_node()?;
        let created = self.nodes().create(&PostParams::default(), &node).await.context("add a node")?;
        self.wait_until_ready(&created.metadata.name.unwrap_or_default()).await
    }

    /// The node as it is now.
    ///
    /// # Errors
    /// When no node has this name.
    pub async fn node(&self, name: &str) -> Result<Node> {
        self.nodes().get(name).await.with_context(|| format!("get node {name}"))
    }

    /// Waits until a node is ready and the taints of its conditions are gone.
    ///
    /// # Errors
    /// When that takes too long.
    pub async fn wait_until_ready(&self, name: &str) -> Result<Node> {
        self.wait_until(&format!("node {name} is ready"), READY_MAX, async || {
            let node = self.node(name).await?;
            let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
            let ready = conditions.into_iter().find(|condition| condition.type_ == "Ready");
            ensure!(ready.is_some_and(|condition| condition.status == "True"), "condition Ready: {ready:?}");
            let mut taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
            let taint = taints.find(|taint| taint.key.starts_with(CONDITION_TAINTS));
            ensure!(taint.is_none(), "taint {taint:?}");
            Ok(node)
        })
        .await
    }

    /// Sets an annotation of a node, or with `None` removes it.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn annotate_node(&self, name: &str, key: &str, value: Option<&str>) -> Result<Node> {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {key: value}}}));
        let patched = self.nodes().patch(name, &PatchParams::default(), &patch).await;
        patched.with_context(|| format!("annotate node {name} with {key}"))
    }

    /// Makes the fake kubelet of a node report that it is ready or not, without waiting for it.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn report_ready(&self, name: &str, ready: bool) -> Result<()> {
        let value = if ready { None } else { Some("false") };
        self.annotate_node(name, "test.reserve/ready", value).await.map(drop)
    }

    fn nodes(&self) -> Api<Node> {
        Api::all(self.admin())
    }
}
