//! A drawn cluster on the real control plane: a few nodes of one region, and a namespace.

use super::drawn::{Drawn, DrawnNode, Filler, Reserved};
use super::shapes::{filler, waiting_pod};
use anyhow::{Context as _, Result, ensure};
use common::api::names::SCHEDULER_NAME;
use futures::future::try_join_all;
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use reserve_tests::control_plane::{Cluster, Workload, WorkloadShape, deployment, describe, node};
use reserve_tests::shared_cluster::SOON;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What keeps pods to the nodes of their cluster. Nobody is told to correct this label, since it says what a node is.
pub(super) const REGION: &str = "topology.kubernetes.io/region";

pub(super) const HOSTNAME: &str = "kubernetes.io/hostname";

/// What the pod that waits, or its workload, is called.
pub(super) const WORKLOAD: &str = "waiting";

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
        let mut owner = None;
        for at in 0..drawn.nodes.len() {
            let first = ground.fill(at, drawn).await?;
            owner = owner.or(first);
        }
        if let Some(most) = drawn.budget {
            ground.add_budget(most).await?;
        }
        let finished =
            drawn.nodes.iter().enumerate().map(|(at, one)| ground.finish_node(at, one, owner.as_ref()));
        try_join_all(finished).await?;
        cluster.deploy(ground.of(waiting_pod(&ground, &drawn.waiting_pod))).await?;
        Ok(ground)
    }

    pub(super) fn node_name(&self, at: usize) -> String {
        format!("{}-n{at}", self.name)
    }

    /// Placed by our scheduler.
    fn of(&self, shape: WorkloadShape) -> WorkloadShape {
        shape.namespace(&self.name).scheduler(SCHEDULER_NAME)
    }

    async fn add_node(&self, at: usize, drawn: &DrawnNode) -> Result<()> {
        let shape = node(&self.node_name(at)).cpu(&drawn.cpu.to_string());
        let shape = shape.memory(&format!("{}Gi", drawn.memory)).pods(drawn.slots);
        let shape = shape.label(REGION, &self.name).label("disk", drawn.disk).label("zone", drawn.zone);
        self.cluster.add_node(shape).await?;
        self.patch_node(at, &json!({ "spec": { "unschedulable": true } })).await
    }

    async fn patch_node(&self, at: usize, patch: &Value) -> Result<()> {
        let (nodes, name): (Api<Node>, _) = (Api::all(self.cluster.admin()), self.node_name(at));
        let patched = nodes.patch(&name, &PatchParams::default(), &Patch::Strategic(patch)).await;
        patched.map(drop).with_context(|| format!("patch {name}"))
    }

    /// Fills a node while no other is open, so that its pods are tied to it by nothing but chance.
    async fn fill(&self, at: usize, drawn: &Drawn) -> Result<Option<Workload>> {
        let fillers: Vec<(usize, &Filler)> =
            drawn.fillers.iter().enumerate().filter(|(_, one)| one.on == at).collect();
        if fillers.is_empty() {
            return Ok(None);
        }
        self.patch_node(at, &json!({ "spec": { "unschedulable": false } })).await?;
        let deployed = fillers.iter().map(|(at, one)| self.cluster.deploy(self.of(filler(self, *at, one))));
        let workloads = try_join_all(deployed).await?;
        for (workload, (_, one)) in workloads.iter().zip(&fillers) {
            self.cluster.wait_until_running_in(&self.name, &workload.selector, one.replicas as usize).await?;
        }
        self.patch_node(at, &json!({ "spec": { "unschedulable": true } })).await?;
        Ok(workloads.into_iter().next())
    }

    /// What would have kept the fillers away.
    async fn finish_node(&self, at: usize, drawn: &DrawnNode, owner: Option<&Workload>) -> Result<()> {
        let taint = |(key, value, effect): &(&str, &str, &str)| json!({ "key": key, "value": value, "effect": effect });
        let taints: Vec<Value> = drawn.taints.iter().map(taint).collect();
        let mut patch = json!({ "spec": { "unschedulable": drawn.is_cordoned, "taints": taints } });
        let annotation = |uid: &str, cpu: u32| json!({ format!("reserve.cpu/{uid}"): cpu.to_string() });
        match (drawn.reserved, owner) {
            (Some((cpu, Reserved::Plain)), _) => {
                patch["metadata"]["annotations"] = annotation("0c1f8f4e-0000-4000-8000-00000000dead", cpu);
            }
            (Some((cpu, Reserved::PlainForOwner)), Some(owner)) => {
                patch["metadata"]["annotations"] = annotation(&owner.uid, cpu);
            }
            (Some((cpu, Reserved::Recorded)), Some(owner)) => {
                self.add_reservation(at, &owner.name, cpu).await?
            }
            _ => {}
        }
        self.patch_node(at, &patch).await
    }

    async fn add_reservation(&self, at: usize, owner: &str, cpu: u32) -> Result<()> {
        let (node, cpu) = (self.node_name(at), cpu.to_string());
        let add = ["reserve", "add", "--node", &node, "--for", owner, "--cpu", &cpu, "--ttl", "50m"];
        self.cluster.run_kubectl(&[&add[..], &["-n", &self.name]].concat()).await.map(drop)
    }

    async fn add_daemon_set(&self, drawn: &Drawn) -> Result<()> {
        if !drawn.has_daemon_set {
            return Ok(());
        }
        let shape = self.of(deployment("agent").cpu("100m"));
        let shape = shape.pod_field("nodeSelector", json!({ REGION: self.name }));
        let set = json!({ "metadata": { "name": "agent" },
            "spec": { "selector": { "matchLabels": { "app": "agent" } }, "template": shape.template() } });
        let sets: Api<DaemonSet> = Api::namespaced(self.cluster.admin(), &self.name);
        sets.create(&PostParams::default(), &serde_json::from_value(set)?).await?;
        self.cluster.wait_until_running_in(&self.name, "app=agent", drawn.nodes.len()).await.map(drop)
    }

    async fn add_budget(&self, most: u32) -> Result<()> {
        let budget = json!({ "metadata": { "name": "crowd" },
            "spec": { "maxUnavailable": most, "selector": { "matchLabels": { "crowd": "a" } } } });
        let budgets: Api<PodDisruptionBudget> = Api::namespaced(self.cluster.admin(), &self.name);
        budgets.create(&PostParams::default(), &serde_json::from_value(budget)?).await?;
        let pods = i32::try_from(self.cluster.pods_in(&self.name, "crowd=a").await?.len())?;
        self.cluster
            .wait_until("the budget is worked out", SOON, async || {
                let status = budgets.get("crowd").await?.status.context("no status")?;
                ensure!(
                    (status.expected_pods, status.current_healthy) == (Some(pods), Some(pods)),
                    "{status:?}"
                );
                Ok(())
            })
            .await
    }

    /// The pods of the one that waits.
    pub(super) async fn waiting_pods(&self) -> Result<Vec<Pod>> {
        let pods = self.cluster.pods_in(&self.name, &format!("role={WORKLOAD}")).await?;
        Ok(pods.into_iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).collect())
    }

    /// Makes room for the next. The namespace stays: its deletion would keep the controllers busy that the next one needs.
    pub(super) async fn clear(&self) -> Result<()> {
        self.remove::<Deployment>().await?;
        self.remove::<ReplicaSet>().await?;
        self.remove::<StatefulSet>().await?;
        self.remove::<DaemonSet>().await?;
        self.remove::<Job>().await?;
        self.remove::<PodDisruptionBudget>().await?;
        self.remove::<Pod>().await?;
        for node in self.nodes().await? {
            let nodes: Api<Node> = Api::all(self.cluster.admin());
            nodes.delete(&node.metadata.name.unwrap_or_default(), &DeleteParams::default()).await?;
        }
        Ok(())
    }

    async fn remove<K>(&self) -> Result<()>
    where
        K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + std::fmt::Debug + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.cluster.admin(), &self.name);
        let at_once = DeleteParams::background().grace_period(0);
        api.delete_collection(&at_once, &ListParams::default()).await.map(drop).context("clear up")
    }

    async fn nodes(&self) -> Result<Vec<Node>> {
        let nodes: Api<Node> = Api::all(self.cluster.admin());
        let own = ListParams::default().labels(&format!("{REGION}={}", self.name));
        Ok(nodes.list(&own).await?.items)
    }

    /// Everything that is there, for somebody who has to find out what went wrong.
    pub(super) async fn described(&self) -> Result<String> {
        let mut lines = Vec::new();
        for node in self.nodes().await? {
            let (spec, status) = (json!(node.spec), json!(node.status));
            let kept = json!(node.metadata.annotations.unwrap_or_default());
            let name = node.metadata.name.unwrap_or_default();
            lines.push(format!("{name} {spec} {} {kept}", status["allocatable"]));
        }
        for pod in self.cluster.pods_in(&self.name, "").await? {
            let requests =
                json!(pod.spec.iter().flat_map(|spec| &spec.containers).collect::<Vec<_>>()[0].resources);
            lines.push(format!("{} {}", describe(std::slice::from_ref(&pod)), requests["requests"]));
        }
        Ok(lines.join("\n"))
    }
}
