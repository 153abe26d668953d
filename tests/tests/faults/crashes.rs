//! The daemon dies between every two writes of a flow, and the next one finishes it.

use super::{SHARED_CLUSTER, behind};
use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use reserve_tests::control_plane::{Workload, bare_pod, deployment};
use reserve_tests::programs::Daemon;
use reserve_tests::proxy::{Fault, Proxy, rule};
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::{Value, json};
use std::time::Duration;

/// More writes than this no flow takes.
const WRITES_MAX: usize = 12;

/// Something that can be made to happen again and again.
trait Flow {
    /// What is there before.
    type Before;

    /// Waits until all is quiet, or puts up what is needed for round `number`.
    async fn prepare(&self, number: usize) -> Result<Self::Before>;

    /// Makes it happen.
    async fn begin(&self, before: &Self::Before) -> Result<()>;

    /// Waits until it has happened, and looks that nothing else has.
    async fn end(&self, before: &Self::Before) -> Result<()>;
}

/// Lets it happen again and again, with a death at the first write, at the second and so on, until no more writes are
/// needed than were let through.
async fn dies_at_each_write<F: Flow>(ns: TestNamespace, proxy: &Proxy, fault: Fault, flow: F) -> Result<()> {
    let mut daemon = behind(ns, proxy)?.start(ns.cluster).await?;
    for write in 0..WRITES_MAX {
        let before = flow.prepare(write).await?;
        proxy.heal();
        proxy.add(rule(fault).skip(write).and_cut());
        flow.begin(&before).await?;
        let died = tokio::select! {
            biased;
            cut = proxy.wait_until_cut(3 * SOON) => cut.map(|()| true)?,
            end = flow.end(&before) => end.map(|()| false)?,
        };
        if !died {
            ensure!(write > 2, "it took only {write} writes");
            return Ok(());
        }
        daemon = restart(ns, proxy, daemon).await?;
        flow.end(&before).await.with_context(|| format!("after a death at write {write}"))?;
    }
    anyhow::bail!("it took more than {WRITES_MAX} writes: {:?}", proxy.writes())
}

/// Kills the daemon, and starts another one.
async fn restart(ns: TestNamespace, proxy: &Proxy, daemon: Daemon) -> Result<Daemon> {
    daemon.kill()?;
    proxy.heal();
    behind(ns, proxy)?.start(ns.cluster).await
}

/// A pod is deleted and comes back; a stranger wants its place.
struct Recreation {
    ns: TestNamespace,
    node: String,
    web: Workload,
    stranger: Workload,
}

impl Flow for Recreation {
    type Before = Vec<Pod>;

    async fn prepare(&self, _number: usize) -> Result<Vec<Pod>> {
        self.ns.reserved(&self.node, 0).await?;
        self.ns.running(&self.web, 1).await
    }

    async fn begin(&self, old: &Vec<Pod>) -> Result<()> {
        self.ns.delete(&old[0]).await
    }

    async fn end(&self, old: &Vec<Pod>) -> Result<()> {
        self.ns.replacement(&self.web, old).await?;
        self.ns.reserved(&self.node, 0).await?;
        self.ns.still_waits(&self.stranger).await
    }
}

async fn recreation(ns: TestNamespace, fault: Fault) -> Result<()> {
    let node = ns.node("a", "4").await?;
    let proxy = Proxy::start(ns.cluster).await?;
    let (web, stranger) = {
        let _daemon = behind(ns, &proxy)?.start(ns.cluster).await?;
        let web = deployment("web").cpu("3").terminate_after(Duration::from_secs(2));
        let web = ns.deploy_kept(web, 1).await?;
        (web, ns.deploy_waiting(deployment("stranger").cpu("3")).await?)
    };
    dies_at_each_write(ns, &proxy, fault, Recreation { ns, node, web, stranger }).await
}

#[test]
fn the_daemon_dies_before_each_write_of_a_recreation() -> Result<()> {
    SHARED_CLUSTER.run_alone("dies-before", |ns| recreation(ns, Fault::LoseRequest))
}

#[test]
fn the_daemon_dies_after_each_write_of_a_recreation() -> Result<()> {
    SHARED_CLUSTER.run_alone("dies-after", |ns| recreation(ns, Fault::LoseAnswer))
}

/// A pod that has to go for a more important one.
struct Preemption {
    ns: TestNamespace,
}

impl Flow for Preemption {
    type Before = usize;

    async fn prepare(&self, number: usize) -> Result<usize> {
        self.ns.node(&format!("n{number}"), "4").await?;
        let victim = self.ns.deploy(bare_pod(&format!("victim-{number}")).cpu("3")).await?;
        self.ns.running(&victim, 1).await?;
        Ok(number)
    }

    async fn begin(&self, number: &usize) -> Result<()> {
        let high = bare_pod(&format!("high-{number}")).cpu("3");
        self.ns.deploy(high.pod_field("priorityClassName", json!("high"))).await.map(drop)
    }

    async fn end(&self, number: &usize) -> Result<()> {
        let pods = |who: &str| format!("app={who}-{number}");
        self.ns.cluster.wait_until_running_in(self.ns.name, &pods("high"), 1).await?;
        let left = self.ns.cluster.pods_in(self.ns.name, &pods("victim")).await?;
        ensure!(left.is_empty(), "the victim of round {number} is still there");
        Ok(())
    }
}

async fn preemption(ns: TestNamespace, fault: Fault) -> Result<()> {
    let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000,
                       "metadata": {"name": "high"}});
    ns.cluster.apply(&class.to_string()).await?;
    let proxy = Proxy::start(ns.cluster).await?;
    dies_at_each_write(ns, &proxy, fault, Preemption { ns }).await
}

#[test]
fn the_daemon_dies_before_each_write_of_a_preemption() -> Result<()> {
    SHARED_CLUSTER.run_alone("preempts-before", |ns| preemption(ns, Fault::LoseRequest))
}

#[test]
fn the_daemon_dies_after_each_write_of_a_preemption() -> Result<()> {
    SHARED_CLUSTER.run_alone("preempts-after", |ns| preemption(ns, Fault::LoseAnswer))
}

/// A pod whose claim waits for its first pod: the daemon has to choose the volume.
struct VolumeBinding {
    ns: TestNamespace,
    node: String,
}

impl VolumeBinding {
    fn objects(&self, name: &str) -> Value {
        let on_node = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": [self.node]}]}]}});
        let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "later",
                     "local": {"path": "/data"}, "nodeAffinity": on_node}});
        let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": self.ns.name},
            "spec": {"storageClassName": "later", "accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "1Gi"}}}});
        json!({"apiVersion": "v1", "kind": "List", "items": [volume, claim]})
    }
}

impl Flow for VolumeBinding {
    type Before = String;

    async fn prepare(&self, number: usize) -> Result<String> {
        let name = format!("{}-{number}", self.ns.name);
        self.ns.cluster.apply(&self.objects(&name).to_string()).await?;
        Ok(name)
    }

    async fn begin(&self, name: &String) -> Result<()> {
        let volume = json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}]);
        self.ns.deploy(bare_pod(name).cpu("100m").pod_field("volumes", volume)).await.map(drop)
    }

    async fn end(&self, name: &String) -> Result<()> {
        self.ns.cluster.wait_until_running_in(self.ns.name, &format!("app={name}"), 1).await.map(drop)
    }
}

async fn volume_binding(ns: TestNamespace, fault: Fault) -> Result<()> {
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "later"},
                       "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"});
    ns.cluster.apply(&class.to_string()).await?;
    let node = ns.node("a", "4").await?;
    let proxy = Proxy::start(ns.cluster).await?;
    dies_at_each_write(ns, &proxy, fault, VolumeBinding { ns, node }).await
}

#[test]
fn the_daemon_dies_before_each_write_of_a_volume_binding() -> Result<()> {
    SHARED_CLUSTER.run_alone("volume-before", |ns| volume_binding(ns, Fault::LoseRequest))
}

#[test]
fn the_daemon_dies_after_each_write_of_a_volume_binding() -> Result<()> {
    SHARED_CLUSTER.run_alone("volume-after", |ns| volume_binding(ns, Fault::LoseAnswer))
}
