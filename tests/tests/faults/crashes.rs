//! The daemon dies between every two writes of a flow, and the next one finishes it.

use super::{TOWN, behind};
use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use reserve_tests::control_plane::{Workload, bare_pod, deployment};
use reserve_tests::programs::Daemon;
use reserve_tests::proxy::{Fault, Proxy, rule};
use reserve_tests::town::{Plot, SOON};
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
async fn dies_at_each_write<F: Flow>(plot: Plot, proxy: &Proxy, fault: Fault, flow: F) -> Result<()> {
    let mut daemon = behind(plot, proxy)?.start(plot.cluster).await?;
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
        daemon = restart(plot, proxy, daemon).await?;
        flow.end(&before).await.with_context(|| format!("after a death at write {write}"))?;
    }
    anyhow::bail!("it took more than {WRITES_MAX} writes: {:?}", proxy.writes())
}

/// Kills the daemon, and starts another one.
async fn restart(plot: Plot, proxy: &Proxy, daemon: Daemon) -> Result<Daemon> {
    daemon.kill()?;
    proxy.heal();
    behind(plot, proxy)?.start(plot.cluster).await
}

/// A pod is deleted and comes back; a stranger wants its place.
struct Recreation {
    plot: Plot,
    node: String,
    web: Workload,
    stranger: Workload,
}

impl Flow for Recreation {
    type Before = Vec<Pod>;

    async fn prepare(&self, _number: usize) -> Result<Vec<Pod>> {
        self.plot.reserved(&self.node, 0).await?;
        self.plot.running(&self.web, 1).await
    }

    async fn begin(&self, old: &Vec<Pod>) -> Result<()> {
        self.plot.delete(&old[0]).await
    }

    async fn end(&self, old: &Vec<Pod>) -> Result<()> {
        self.plot.replacement(&self.web, old).await?;
        self.plot.reserved(&self.node, 0).await?;
        self.plot.still_waits(&self.stranger).await
    }
}

async fn recreation(plot: Plot, fault: Fault) -> Result<()> {
    let node = plot.node("a", "4").await?;
    let proxy = Proxy::start(plot.cluster).await?;
    let (web, stranger) = {
        let _daemon = behind(plot, &proxy)?.start(plot.cluster).await?;
        let web = deployment("web").cpu("3").terminate_after(Duration::from_secs(2));
        let web = plot.deploy_kept(web, 1).await?;
        (web, plot.deploy_waiting(deployment("stranger").cpu("3")).await?)
    };
    dies_at_each_write(plot, &proxy, fault, Recreation { plot, node, web, stranger }).await
}

#[test]
fn the_daemon_dies_before_each_write_of_a_recreation() -> Result<()> {
    TOWN.run_alone("dies-before", |plot| recreation(plot, Fault::LoseRequest))
}

#[test]
fn the_daemon_dies_after_each_write_of_a_recreation() -> Result<()> {
    TOWN.run_alone("dies-after", |plot| recreation(plot, Fault::LoseAnswer))
}

/// A pod that has to go for a more important one.
struct Preemption {
    plot: Plot,
}

impl Flow for Preemption {
    type Before = usize;

    async fn prepare(&self, number: usize) -> Result<usize> {
        self.plot.node(&format!("n{number}"), "4").await?;
        let victim = self.plot.deploy(bare_pod(&format!("victim-{number}")).cpu("3")).await?;
        self.plot.running(&victim, 1).await?;
        Ok(number)
    }

    async fn begin(&self, number: &usize) -> Result<()> {
        let high = bare_pod(&format!("high-{number}")).cpu("3");
        self.plot.deploy(high.pod_field("priorityClassName", json!("high"))).await.map(drop)
    }

    async fn end(&self, number: &usize) -> Result<()> {
        let pods = |who: &str| format!("app={who}-{number}");
        self.plot.cluster.wait_until_running_in(self.plot.name, &pods("high"), 1).await?;
        let left = self.plot.cluster.pods_in(self.plot.name, &pods("victim")).await?;
        ensure!(left.is_empty(), "the victim of round {number} is still there");
        Ok(())
    }
}

async fn preemption(plot: Plot, fault: Fault) -> Result<()> {
    let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000,
                       "metadata": {"name": "high"}});
    plot.cluster.apply(&class.to_string()).await?;
    let proxy = Proxy::start(plot.cluster).await?;
    dies_at_each_write(plot, &proxy, fault, Preemption { plot }).await
}

#[test]
fn the_daemon_dies_before_each_write_of_a_preemption() -> Result<()> {
    TOWN.run_alone("preempts-before", |plot| preemption(plot, Fault::LoseRequest))
}

#[test]
fn the_daemon_dies_after_each_write_of_a_preemption() -> Result<()> {
    TOWN.run_alone("preempts-after", |plot| preemption(plot, Fault::LoseAnswer))
}

/// A pod whose claim waits for its first pod: the daemon has to choose the volume.
struct VolumeBinding {
    plot: Plot,
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
            "metadata": {"name": name, "namespace": self.plot.name},
            "spec": {"storageClassName": "later", "accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "1Gi"}}}});
        json!({"apiVersion": "v1", "kind": "List", "items": [volume, claim]})
    }
}

impl Flow for VolumeBinding {
    type Before = String;

    async fn prepare(&self, number: usize) -> Result<String> {
        let name = format!("{}-{number}", self.plot.name);
        self.plot.cluster.apply(&self.objects(&name).to_string()).await?;
        Ok(name)
    }

    async fn begin(&self, name: &String) -> Result<()> {
        let volume = json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}]);
        self.plot.deploy(bare_pod(name).cpu("100m").pod_field("volumes", volume)).await.map(drop)
    }

    async fn end(&self, name: &String) -> Result<()> {
        self.plot.cluster.wait_until_running_in(self.plot.name, &format!("app={name}"), 1).await.map(drop)
    }
}

async fn volume_binding(plot: Plot, fault: Fault) -> Result<()> {
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "later"},
                       "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"});
    plot.cluster.apply(&class.to_string()).await?;
    let node = plot.node("a", "4").await?;
    let proxy = Proxy::start(plot.cluster).await?;
    dies_at_each_write(plot, &proxy, fault, VolumeBinding { plot, node }).await
}

#[test]
fn the_daemon_dies_before_each_write_of_a_volume_binding() -> Result<()> {
    TOWN.run_alone("volume-before", |plot| volume_binding(plot, Fault::LoseRequest))
}

#[test]
fn the_daemon_dies_after_each_write_of_a_volume_binding() -> Result<()> {
    TOWN.run_alone("volume-after", |plot| volume_binding(plot, Fault::LoseAnswer))
}
