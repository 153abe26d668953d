//! Deploys workloads: `cluster.deploy(deployment("testngx").replicas(1).cpu("1000m"))`.

use std::time::Duration;

use anyhow::{Context as _, Result};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, PostParams};
use kube::core::NamespaceResourceScope;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::cluster::Cluster;

/// The settings of a workload before it is deployed. Its pods have the label `app: <name>`.
#[derive(Clone, Debug)]
#[must_use = "give it to Cluster::deploy"]
pub struct WorkloadShape {
    kind: WorkloadKind,
    name: String,
    namespace: String,
    replicas: u32,
    annotations: Map<String, Value>,
    pod_labels: Map<String, Value>,
    pod_annotations: Map<String, Value>,
    spec: Map<String, Value>,
    fields: Map<String, Value>,
    requests: Map<String, Value>,
    image: String,
}

#[derive(Clone, Copy, Debug)]
enum WorkloadKind {
    Deployment,
    StatefulSet,
    Job,
    Pod,
}

/// A deployed workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The namespace of the workload.
    pub namespace: String,
    /// The name of the workload.
    pub name: String,
    /// The UID of the workload.
    pub uid: String,
    /// A label selector for its pods.
    pub selector: String,
}

/// A Deployment; by default one replica in the namespace `default`.
pub fn deployment(name: &str) -> WorkloadShape {
    WorkloadShape::new(WorkloadKind::Deployment, name)
}

/// A StatefulSet; by default one replica in the namespace `default`.
pub fn stateful_set(name: &str) -> WorkloadShape {
    WorkloadShape::new(WorkloadKind::StatefulSet, name)
}

/// A Job; by default one pod in the namespace `default`, which succeeds as soon as it runs.
pub fn job(name: &str) -> WorkloadShape {
    WorkloadShape::new(WorkloadKind::Job, name)
}

/// A pod without a controller, so that nothing recreates it.
pub fn bare_pod(name: &str) -> WorkloadShape {
    WorkloadShape::new(WorkloadKind::Pod, name)
}

impl WorkloadShape {
    fn new(kind: WorkloadKind, name: &str) -> Self {
        let mut pod_labels = Map::new();
        pod_labels.insert("app".to_owned(), name.into());
        Self {
            kind,
            name: name.to_owned(),
            namespace: "default".to_owned(),
            replicas: 1,
            annotations: Map::new(),
            pod_labels,
            pod_annotations: Map::new(),
            spec: Map::new(),
            fields: Map::new(),
            requests: Map::new(),
            image: "nginx".to_owned(),
        }
    }

    /// The namespace; it must exist.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = namespace.to_owned();
        self
    }

    /// The number of replicas.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.replicas = replicas;
        self
    }

    /// The CPU each pod requests.
    pub fn cpu(self, quantity: &str) -> Self {
        self.request("cpu", quantity)
    }

    /// The memory each pod requests.
    pub fn memory(self, quantity: &str) -> Self {
        self.request("memory", quantity)
    }

    /// Any other resource each pod requests.
    pub fn request(mut self, resource: &str, quantity: &str) -> Self {
        self.requests.insert(resource.to_owned(), quantity.into());
        self
    }

    /// The scheduler of the pods.
    pub fn scheduler(self, name: &str) -> Self {
        self.pod_field("schedulerName", json!(name))
    }

    /// The image of the one container.
    pub fn image(mut self, image: &str) -> Self {
        self.image = image.to_owned();
        self
    }

    /// An annotation of the workload itself.
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.annotations.insert(key.to_owned(), value.into());
        self
    }

    /// A label of each pod.
    pub fn pod_label(mut self, key: &str, value: &str) -> Self {
        self.pod_labels.insert(key.to_owned(), value.into());
        self
    }

    /// An annotation of each pod.
    pub fn pod_annotation(mut self, key: &str, value: &str) -> Self {
        self.pod_annotations.insert(key.to_owned(), value.into());
        self
    }

    /// Pods stay terminating for this many whole seconds, at most one second longer.
    pub fn terminate_after(self, time: Duration) -> Self {
        self.pod_annotation("test.reserve/terminate-after", &format!("{}s", time.as_secs()))
    }

    /// Pods stay Pending this many seconds once they are bound.
    pub fn start_after(self, time: Duration) -> Self {
        self.pod_annotation("test.reserve/start-after", &format!("{}s", time.as_secs()))
    }

    /// Pods succeed this many seconds after they started to run.
    pub fn complete_after(self, time: Duration) -> Self {
        self.pod_annotation("test.reserve/complete-after", &format!("{}s", time.as_secs()))
    }

    /// Any field of the pod's `spec`, such as `nodeSelector` or `priorityClassName`.
    pub fn pod_field(mut self, name: &str, value: Value) -> Self {
        self.spec.insert(name.to_owned(), value);
        self
    }

    /// Any field of the workload's own `spec`, such as `strategy`.
    pub fn field(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// The template of its pods, for workloads of other kinds.
    pub fn template(&self) -> Value {
        let metadata = json!({"labels": self.pod_labels, "annotations": self.pod_annotations});
        json!({"metadata": metadata, "spec": self.pod_spec()})
    }

    fn pod_spec(&self) -> Value {
        let mut spec = self.spec.clone();
        let container =
            json!({"name": self.name, "image": self.image, "resources": {"requests": self.requests}});
        spec.entry("containers").or_insert_with(|| json!([container]));
        if matches!(self.kind, WorkloadKind::Job) {
            spec.entry("restartPolicy").or_insert_with(|| json!("Never"));
        }
        Value::Object(spec)
    }

    fn object(&self) -> Value {
        let template = self.template();
        let selector = json!({"matchLabels": {"app": self.name}});
        let mut spec = match self.kind {
            WorkloadKind::Deployment => {
                json!({"replicas": self.replicas, "selector": selector, "template": template})
            }
            WorkloadKind::StatefulSet => json!({
                "replicas": self.replicas, "selector": selector, "serviceName": self.name, "template": template,
            }),
            WorkloadKind::Job => {
                json!({"parallelism": self.replicas, "completions": self.replicas, "template": template})
            }
            WorkloadKind::Pod => {
                let mut annotations = self.annotations.clone();
                annotations.extend(self.pod_annotations.clone());
                let metadata =
                    json!({"name": self.name, "labels": self.pod_labels, "annotations": annotations});
                return json!({"metadata": metadata, "spec": self.pod_spec()});
            }
        };
        self.fields.iter().for_each(|(name, value)| spec[name] = value.clone());
        json!({"metadata": {"name": self.name, "annotations": self.annotations}, "spec": spec})
    }
}

impl Cluster {
    /// Creates a workload, and does not wait for its pods.
    ///
    /// # Errors
    /// When the API server refuses it.
    pub async fn deploy(&self, shape: WorkloadShape) -> Result<Workload> {
        let uid = match shape.kind {
            WorkloadKind::Deployment => self.create::<Deployment>(&shape).await,
            WorkloadKind::StatefulSet => self.create::<StatefulSet>(&shape).await,
            WorkloadKind::Job => self.create::<Job>(&shape).await,
            WorkloadKind::Pod => self.create::<Pod>(&shape).await,
        };
        let uid = uid.with_context(|| format!("deploy {}", shape.name))?;
        let selector = format!("app={}", shape.name);
        Ok(Workload { namespace: shape.namespace, name: shape.name, uid, selector })
    }

    async fn create<K>(&self, shape: &WorkloadShape) -> Result<String>
    where
        K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
    {
        let object: K = serde_json::from_value(shape.object()).context("put the object together")?;
        let api: Api<K> = Api::namespaced(self.admin(), &shape.namespace);
        let created = api.create(&PostParams::default(), &object).await?;
        created.meta().uid.clone().context("the API server gave no UID")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{bare_pod, deployment};

    #[test]
    fn a_deployment_reads_as_it_was_said() {
        let shape =
            deployment("web").replicas(2).cpu("1").scheduler("s").terminate_after(Duration::from_secs(5));
        let pod_annotations = json!({"test.reserve/terminate-after": "5s"});
        let container = json!({"name": "web", "image": "nginx", "resources": {"requests": {"cpu": "1"}}});
        let template = json!({
            "metadata": {"labels": {"app": "web"}, "annotations": pod_annotations},
            "spec": {"schedulerName": "s", "containers": [container]},
        });
        let spec = json!({"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template});
        assert_eq!(shape.object(), json!({"metadata": {"name": "web", "annotations": {}}, "spec": spec}));
    }

    #[test]
    fn a_bare_pod_is_its_own_template() {
        let object = bare_pod("p").annotation("a", "1").pod_annotation("b", "2").object();
        assert_eq!(object["metadata"]["annotations"], json!({"a": "1", "b": "2"}));
        assert_eq!(object["spec"]["containers"][0]["name"], "p");
    }
}
