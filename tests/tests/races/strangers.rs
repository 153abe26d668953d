//! A stranger and a replacement race for the room of a pod that was deleted. kube-scheduler places both, and asks the daemon.
//!
//! Each race has a node that one workload fills. A stranger that would fit waits for the node, and another one comes while the
//! pod is being deleted. Many nodes race at the same time. In the same cluster other workloads are not kept a place: there
//! strangers must get in, else this would prove nothing.

use super::number;
use anyhow::{Context as _, Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{DeleteParams, ListParams};
use reserve_tests::control_plane::{
    Cluster, ControlPlane, WorkloadShape, bare_pod, deployment, describe, is_running, name_of, node, node_of,
    unscheduled,
};
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::KEEP;
use serde_json::json;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::Duration;

const RACES: usize = 20;
/// So many nodes race at the same time. A namespace can have a hundred automatic reservations.
const NODES_MAX: usize = 50;
/// So many workloads are not kept a place.
const CONTROL: usize = 10;
/// Each stranger comes a little later after the deletion than the one before, so that all moments are met.
const APART: Duration = Duration::from_millis(40);
/// How long pods stay terminating.
const GRACE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(240);
const NODE: &str = "test.reserve/node";
const ROLE: &str = "test.reserve/role";
const NEWCOMER: &str = "test.reserve/role=newcomer";

/// One namespace with its nodes.
struct Side<'c> {
    cluster: &'c Cluster,
    namespace: &'static str,
    nodes: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn no_stranger_gets_a_place_that_is_kept() -> Result<()> {
    let races = number("RESERVE_RACES", RACES);
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let yaml = format!(
        "percentageOfNodesToScore: 100\nextenders:\n- {{urlPrefix: 'http://127.0.0.1:{port}', filterVerb: filter, \
         prioritizeVerb: prioritize, preemptVerb: preempt, weight: 100, ignorable: true, httpTimeout: 5s, \
         nodeCacheCapable: true}}"
    );
    let cluster = ControlPlane::start("races_strangers").with_scheduler_configuration(&yaml).await?;
    let shape = daemon("reserve-scheduler").argument(&format!("--extender-address=127.0.0.1:{port}"));
    let _daemon = shape.start(&cluster).await?;

    let control = Side::new(&cluster, "unkept", CONTROL).await?;
    control.race(0).await?;
    let taken = control.strangers_bound().await?;
    println!("without a reservation: {taken} strangers got {CONTROL} places");
    ensure!(taken > 0, "no stranger got in without a reservation, so that the races prove nothing");

    let kept = Side::new(&cluster, "kept", races.min(NODES_MAX)).await?;
    let mut run = 0;
    while run < races {
        kept.race(run).await.with_context(|| format!("after {run} races"))?;
        run += kept.nodes.len();
        println!("{run} of {races} races: every replacement is in its place");
    }
    let bound = kept.strangers_bound().await?;
    println!("with reserve/keep: {bound} strangers got in, in {run} races through kube-scheduler");
    ensure!(bound == 0, "{bound} strangers were bound to a node that is kept for others");
    Ok(())
}

impl<'c> Side<'c> {
    /// Nodes that are full, each with a stranger that waits for it.
    async fn new(cluster: &'c Cluster, namespace: &'static str, count: usize) -> Result<Self> {
        cluster.add_namespace(namespace).await?;
        let nodes: Vec<String> = (0..count).map(|number| format!("{namespace}-{number}")).collect();
        let side = Self { cluster, namespace, nodes };
        for some in side.nodes.chunks(10) {
            try_join_all(some.iter().map(|name| side.fill(name))).await?;
        }
        side.wait("the nodes are full", async || {
            let there = side.pods("owner").await?;
            let running = there.iter().filter(|pod| is_running(pod)).count();
            ensure!(running == side.nodes.len(), "{running} run: {}", describe(&there));
            Ok(())
        })
        .await?;
        for name in &side.nodes {
            let waits = deployment(&format!("stranger-{name}")).cpu("3");
            cluster.deploy(side.on(waits, name, "stranger")).await?;
        }
        side.wait("the strangers wait", async || {
            let there = side.pods("stranger").await?;
            let told = there.iter().filter(|pod| unscheduled(pod).is_some()).count();
            ensure!(told == side.nodes.len(), "{told} were told: {}", describe(&there));
            Ok(())
        })
        .await?;
        Ok(side)
    }

    async fn fill(&self, name: &str) -> Result<()> {
        self.cluster.add_node(node(name).cpu("4").label(NODE, name)).await?;
        let owner = deployment(&format!("owner-{name}")).cpu("3").terminate_after(GRACE);
        let owner = self.on(owner, name, "owner");
        let is_kept = self.namespace == "kept";
        let owner = if is_kept { owner.annotation(KEEP, "true") } else { owner };
        self.cluster.deploy(owner).await.map(drop)
    }

    /// A workload of this side that can go to one node only. kube-scheduler places it.
    fn on(&self, shape: WorkloadShape, node: &str, role: &str) -> WorkloadShape {
        let shape = shape.namespace(self.namespace).pod_label(ROLE, role);
        shape.pod_field("nodeSelector", json!({NODE: node}))
    }

    async fn pods(&self, role: &str) -> Result<Vec<Pod>> {
        self.cluster.pods_in(self.namespace, &format!("{ROLE}={role}")).await
    }

    async fn wait<T>(&self, what: &str, check: impl AsyncFnMut() -> Result<T>) -> Result<T> {
        self.cluster.wait_until(&format!("{what} in {}", self.namespace), PATIENCE, check).await
    }

    /// Every pod that fills a node is deleted, and a stranger comes for each.
    async fn race(&self, number: usize) -> Result<()> {
        let old = self.pods("owner").await?;
        let old: Vec<&Pod> = old.iter().filter(|pod| is_running(pod)).collect();
        ensure!(old.len() == self.nodes.len() || self.namespace != "kept", "{} pods to delete", old.len());
        let starts = old.iter().enumerate().map(|(index, pod)| self.start(number + index, index, pod));
        try_join_all(starts).await?;
        let gone: BTreeSet<&str> = old.iter().map(|pod| uid_of(pod)).collect();
        self.wait("every place has somebody again", async || {
            let (owners, strangers) = (self.pods("owner").await?, self.pods("stranger").await?);
            let newcomers = self.pods("newcomer").await?;
            let all = owners.iter().chain(&strangers).chain(&newcomers);
            let here = all.filter(|pod| is_running(pod) && !gone.contains(uid_of(pod)));
            let places: BTreeSet<&str> = here.map(node_of).collect();
            ensure!(places.len() == self.nodes.len(), "{} places: {}", places.len(), describe(&owners));
            Ok(())
        })
        .await?;
        if self.namespace == "kept" {
            let owners = self.pods("owner").await?;
            let back = owners.iter().filter(|pod| is_running(pod)).count();
            ensure!(back == self.nodes.len(), "{back} are back: {}", describe(&owners));
        }
        let all: Api<Pod> = Api::namespaced(self.cluster.admin(), self.namespace);
        let newcomers = ListParams::default().labels(NEWCOMER);
        all.delete_collection(&DeleteParams::default().grace_period(0), &newcomers).await?;
        Ok(())
    }

    /// One race: the pod is deleted, and a stranger comes a moment later.
    async fn start(&self, number: usize, index: usize, old: &Pod) -> Result<()> {
        let pods: Api<Pod> = Api::namespaced(self.cluster.admin(), self.namespace);
        pods.delete(name_of(old), &DeleteParams::default()).await.context("delete")?;
        tokio::time::sleep(APART * u32::try_from(index)?).await;
        let newcomer = bare_pod(&format!("newcomer-{number}")).cpu("3");
        self.cluster.deploy(self.on(newcomer, node_of(old), "newcomer")).await.map(drop)
    }

    /// How many strangers were ever bound, by the audit log.
    async fn strangers_bound(&self) -> Result<usize> {
        let bound = self.cluster.audit().await?.to("pods/binding").stored();
        let is_stranger = |name: &str| name.starts_with("stranger-") || name.starts_with("newcomer-");
        let bound = bound.keep(|write| write.namespace == self.namespace && is_stranger(&write.name));
        Ok(bound.writes().len())
    }
}

fn uid_of(pod: &Pod) -> &str {
    pod.metadata.uid.as_deref().unwrap_or_default()
}
