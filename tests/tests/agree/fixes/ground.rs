//! A drawn cluster on the real control plane: a few nodes of one region, and a namespace.

use super::drawn::{Drawn, DrawnNode, Filler, Reserved};
use super::shapes::{asker, filler};
use anyhow::{Context as _, Result, ensure};
use common::api::names::SCHEDULER_NAME;
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use reserve_tests::control_plane::{
    Cluster, Workload, WorkloadShape, deployment, describe, is_running, node, unscheduled,
};
use reserve_tests::town::SOON;
use serde_json::{Value, json};

/// What keeps pods to the nodes of their cluster. Nobody is told to correct this label, since it says what a node is.
pub(super) const REGION: &str = "topology.kubernetes.io/region";

pub(super) const HOSTNAME: &str = "kubernetes.io/hostname";

/// What the pod that waits, or its workload, is called.
pub(super) const ASKER: &str = "asker";

/// A cluster that was made.
pub(super) struct Ground {
    pub(super) cluster: &'static Cluster,
    /// The namespace and the region.
    pub(super) name: String,
}

/// What all of them share.
pub(super) async fn prepare(cluster: &Cluster) -> Result<()> {
    let class = |name: &str, value: i32, policy: &str| {
        json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": name },
                "value": value, "preemptionPolicy": policy })
    };
    let classes =
        [class("fixes-patient", 100, "Never"), class("fixes-important", 1000, "PreemptLowerPriority")];
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": classes });
    cluster.apply(&list.to_string()).await.map(drop)
}

impl Ground {
    /// Makes it, up to the pod that waits.
    pub(super) async fn make(cluster: &'static Cluster, name: &str, drawn: &Drawn) -> Result<Self> {
        let ground = Self { cluster, name: name.to_owned() };
        let nodes = drawn.nodes.iter().enumerate().map(|(at, one)| ground.add_node(at, one));
        tokio::try_join!(cluster.add_namespace(name), try_join_all(nodes))?;
        ground.add_daemon_set(drawn).await?;
        let fillers = drawn.fillers.iter().enumerate();
        let shapes = fillers.map(|(at, one)| ground.of(filler(&ground, at, one)));
        let workloads = try_join_all(shapes.map(|shape| cluster.deploy(shape))).await?;
        for (workload, filler) in workloads.iter().zip(&drawn.fillers) {
            ground.settle(workload, filler).await?;
        }
        if let Some(most) = drawn.budget {
            ground.add_budget(most).await?;
        }
        let owner = workloads.first().map(|workload| workload.uid.as_str());
        for (at, one) in drawn.nodes.iter().enumerate() {
            ground.finish_node(at, one, owner).await?;
        }
        cluster.deploy(ground.of(asker(&ground, &drawn.asker))).await?;
        Ok(ground)
    }

    pub(super) fn node_name(&self, at: usize) -> String {
        format!("{}-n{at}", self.name)
    }

    /// Only for nodes of this cluster, by our scheduler.
    fn of(&self, shape: WorkloadShape) -> WorkloadShape {
        shape.namespace(&self.name).scheduler(SCHEDULER_NAME)
    }

    async fn add_node(&self, at: usize, drawn: &DrawnNode) -> Result<()> {
        let shape = node(&self.node_name(at)).cpu(&drawn.cpu.to_string());
        let shape = shape.memory(&format!("{}Gi", drawn.memory)).pods(drawn.slots);
        let shape = shape.label(REGION, &self.name).label("disk", drawn.disk).label("zone", drawn.zone);
        self.cluster.add_node(shape).await.map(drop)
    }

    /// What would have kept the fillers away.
    async fn finish_node(&self, at: usize, drawn: &DrawnNode, owner: Option<&str>) -> Result<()> {
        let name = self.node_name(at);
        let taint = |(key, value, effect): &(&str, &str, &str)| json!({ "key": key, "value": value, "effect": effect });
        let taints: Vec<Value> = drawn.taints.iter().map(taint).collect();
        let mut patch = json!({ "spec": { "unschedulable": drawn.is_cordoned, "taints": taints } });
        match (drawn.reserved, owner) {
            (Some((cpu, Reserved::Plain)), _) => {
                patch["metadata"]["annotations"]["reserve.cpu/0c1f8f4e-0000-4000-8000-00000000dead"] =
                    json!(cpu.to_string());
            }
            (Some((cpu, Reserved::PlainForOwner)), Some(uid)) => {
                patch["metadata"]["annotations"][format!("reserve.cpu/{uid}")] = json!(cpu.to_string());
            }
            (Some((cpu, Reserved::Recorded)), Some(_)) => self.add_reservation(&name, cpu).await?,
            _ => {}
        }
        let nodes: Api<Node> = Api::all(self.cluster.admin());
        nodes.patch(&name, &PatchParams::default(), &Patch::Strategic(patch)).await.map(drop).context(name)
    }

    async fn add_reservation(&self, node: &str, cpu: u32) -> Result<()> {
        let (kinds, cpu) = (self.kind_of("w0").await?, cpu.to_string());
        let owner = format!("{kinds}/w0");
        let add = ["reserve", "add", "--node", node, "--for", &owner, "--cpu", &cpu, "--ttl", "50m"];
        self.cluster.run_kubectl(&[&add[..], &["-n", &self.name]].concat()).await.map(drop)
    }

    async fn kind_of(&self, name: &str) -> Result<&'static str> {
        let get = ["get", "deployment", name, "-n", &self.name, "--ignore-not-found", "-o", "name"];
        Ok(if self.cluster.run_kubectl(&get).await?.is_empty() { "statefulset" } else { "deployment" })
    }

    /// Waits until all its pods run; where there is no room for all, it goes again.
    async fn settle(&self, workload: &Workload, filler: &Filler) -> Result<()> {
        let what = format!("{} settles in {}", workload.name, self.name);
        let is_settled = self
            .cluster
            .wait_until(&what, SOON, async || {
                let pods = self.cluster.pods_in(&self.name, &workload.selector).await?;
                if pods.iter().any(|pod| unscheduled(pod).is_some()) {
                    return Ok(false);
                }
                let running = pods.iter().filter(|pod| is_running(pod)).count();
                ensure!(running == filler.replicas as usize, "{}", describe(&pods));
                Ok(true)
            })
            .await?;
        if is_settled {
            return Ok(());
        }
        let kind = if filler.is_stateful { "statefulset" } else { "deployment" };
        let delete = ["delete", kind, &workload.name, "-n", &self.name, "--cascade=foreground"];
        self.cluster.run_kubectl(&delete).await.map(drop)
    }

    async fn add_daemon_set(&self, drawn: &Drawn) -> Result<()> {
        if !drawn.has_daemon_set {
            return Ok(());
        }
        let shape =
            self.of(deployment("agent").cpu("100m")).pod_field("nodeSelector", json!({ REGION: self.name }));
        let set = json!({ "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": { "name": "agent", "namespace": self.name },
            "spec": { "selector": { "matchLabels": { "app": "agent" } }, "template": shape.template() } });
        self.cluster.apply(&set.to_string()).await?;
        self.cluster.wait_until_running_in(&self.name, "app=agent", drawn.nodes.len()).await.map(drop)
    }

    async fn add_budget(&self, most: u32) -> Result<()> {
        let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": { "name": "crowd", "namespace": self.name },
            "spec": { "maxUnavailable": most, "selector": { "matchLabels": { "crowd": "a" } } } });
        self.cluster.apply(&budget.to_string()).await?;
        let pods = self.cluster.pods_in(&self.name, "crowd=a").await?.len();
        self.cluster
            .wait_until("the budget is worked out", SOON, async || {
                let path = "jsonpath={.status.currentHealthy}/{.status.expectedPods}";
                let said =
                    self.cluster.run_kubectl(&["get", "pdb", "crowd", "-n", &self.name, "-o", path]).await?;
                ensure!(said == format!("{pods}/{pods}"), "{said}");
                Ok(())
            })
            .await
    }

    /// The pods of the one that waits.
    pub(super) async fn askers(&self) -> Result<Vec<Pod>> {
        let pods = self.cluster.pods_in(&self.name, &format!("role={ASKER}")).await?;
        Ok(pods.into_iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).collect())
    }

    /// Makes room for the next.
    pub(super) async fn clear(&self) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.cluster.admin());
        namespaces.delete(&self.name, &DeleteParams::default()).await?;
        let nodes: Api<Node> = Api::all(self.cluster.admin());
        let own = kube::api::ListParams::default().labels(&format!("{REGION}={}", self.name));
        for node in nodes.list(&own).await?.items {
            let name = node.metadata.name.unwrap_or_default();
            nodes.delete(&name, &DeleteParams::default()).await?;
        }
        Ok(())
    }

    /// Everything that is there, for somebody who has to find out what went wrong.
    pub(super) async fn described(&self) -> String {
        let region = format!("{REGION}={}", self.name);
        let columns = "-o=custom-columns=NODE:.metadata.name,CORDONED:.spec.unschedulable,TAINTS:.spec.taints[*].key,\
                       ALLOC:.status.allocatable,LABELS:.metadata.labels,ANNOTATIONS:.metadata.annotations";
        let nodes = self.cluster.run_kubectl(&["get", "nodes", "-l", &region, columns]).await;
        let pods = self.cluster.run_kubectl(&["get", "pods,pdb", "-n", &self.name, "-o", "wide"]).await;
        let events =
            self.cluster.run_kubectl(&["get", "events", "-n", &self.name, "--sort-by=.lastTimestamp"]).await;
        let text = |said: Result<String>| said.unwrap_or_else(|error| format!("{error:#}\n"));
        let asker = self.askers().await.map(|pods| describe(&pods)).unwrap_or_default();
        let last: Vec<String> = text(events).lines().rev().take(12).map(str::to_owned).collect();
        format!("{}{}{asker}\n{}", text(nodes), text(pods), last.join("\n"))
    }
}
