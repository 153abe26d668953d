//! One run ([`run`]): a fresh cluster, one contender, the figures.

use super::bindings::{Bindings, Watch};
use super::contender::Contender;
use super::load::{post, post_one};
use super::plan::BenchPlan;
use super::shape::{NAMESPACE, Shape};
use super::usage::{Usage, usage};
use crate::control_plane::{Cluster, ControlPlane, Program};
use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::ListParams;
use serde_json::{Value, json};
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

/// The run fails if it takes longer than this per pod, plus a minute for the start.
const POD_MAX: Duration = Duration::from_millis(100);
const START_MAX: Duration = Duration::from_secs(60);
/// A scheduler is idle when it used less processor time than this in a second.
const REST: Duration = Duration::from_millis(30);
/// Events are written after the pods were bound; a scheduler that still writes after this time is measured as it is.
const REST_MAX: Duration = Duration::from_secs(120);

/// The figures of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The shape of its pods.
    pub shape: Shape,
    /// The program that bound them.
    pub contender: Contender,
    /// The number of pods.
    pub pods: usize,
    /// From the first to the last binding.
    pub lasted: Duration,
    /// From the start of the contender to the first binding.
    pub first_after: Duration,
    /// Processor time of the contender, from its start until it is idle.
    pub cpu: Duration,
    /// Its peak memory, in KiB.
    pub peak_kib: u64,
    /// How many events it wrote: they are half of the writes, and a scheduler that drops them does less work.
    pub events: usize,
}

impl Run {
    /// One line of JSON, for programs.
    pub fn json(&self, pair: usize, nodes: usize) -> Value {
        json!({
            "shape": self.shape.name(),
            "scheduler": self.contender.name(),
            "pair": pair,
            "nodes": nodes,
            "pods": self.pods,
            "pods_per_s": rounded(self.pods_per_second()),
            "cpu_s_per_1000": rounded(self.cpu_per_thousand()),
            "peak_rss_mib": rounded(self.peak_mib()),
            "events": self.events,
            "first_binding_after_s": rounded(self.first_after.as_secs_f64()),
        })
    }

    /// Pods bound in a second.
    #[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "a measurement, not a decision")]
    pub fn pods_per_second(&self) -> f64 {
        (self.pods - 1) as f64 / self.lasted.as_secs_f64()
    }

    /// Processor seconds for a thousand pods.
    #[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "a measurement, not a decision")]
    pub fn cpu_per_thousand(&self) -> f64 {
        self.cpu.as_secs_f64() * 1000.0 / self.pods as f64
    }

    /// The peak memory, in MiB.
    #[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "a measurement, not a decision")]
    pub fn peak_mib(&self) -> f64 {
        self.peak_kib as f64 / 1024.0
    }
}

/// Rounds to three decimals, which is more precise than the measurement.
#[expect(clippy::float_arithmetic, reason = "a measurement, not a decision")]
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// Runs `contender` on a cluster of its own.
///
/// # Errors
/// When the cluster does not start, or the contender exits or takes too long.
pub async fn run(plan: &BenchPlan, shape: Shape, contender: Contender) -> Result<Run> {
    let cluster = ControlPlane::start("bench_cluster").bare().await?;
    fill(&cluster, plan, shape).await?;
    if !plan.is_stream {
        make_pods(&cluster, plan, shape).await?;
    }
    let watch = Watch::from_now(cluster.admin()).await?;
    let started = Instant::now();
    let mut program = contender.start(&cluster, plan).await?;
    let most = START_MAX + POD_MAX * u32::try_from(plan.pods).context("too many pods")?;
    let making = async { if plan.is_stream { make_pods(&cluster, plan, shape).await } else { Ok(()) } };
    let counting = counted(watch, plan.pods, most, &mut program);
    let ((), bindings) = futures::try_join!(making, counting)?;
    let used = at_rest(&program).await?;
    let (pods, lasted, first_after) = (plan.pods, bindings.lasted(), bindings.first - started);
    let (cpu, peak_kib, events) = (used.cpu, used.peak_kib, events(&cluster).await?);
    Ok(Run { shape, contender, pods, lasted, first_after, cpu, peak_kib, events })
}

/// How many events there are about the pods.
async fn events(cluster: &Cluster) -> Result<usize> {
    let events: Api<Event> = Api::namespaced(cluster.admin(), NAMESPACE);
    let first = events.list_metadata(&ListParams::default().limit(1)).await.context("list events")?;
    let more = first.metadata.remaining_item_count.unwrap_or_default();
    Ok(first.items.len() + usize::try_from(more).context("count events")?)
}

async fn fill(cluster: &Cluster, plan: &BenchPlan, shape: Shape) -> Result<()> {
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
    post_one(&cluster.admin(), "/api/v1/namespaces", &namespace).await?;
    let make = move |number| ("/api/v1/nodes".to_owned(), shape.node(number));
    post(&cluster.admin(), plan.nodes, make).await
}

async fn make_pods(cluster: &Cluster, plan: &BenchPlan, shape: Shape) -> Result<()> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    post(&cluster.admin(), plan.pods, move |number| (path.clone(), shape.pod(number))).await
}

/// Waits until all pods are bound. An error when the program exits or takes too long.
async fn counted(watch: Watch, pods: usize, most: Duration, program: &mut Program) -> Result<Bindings> {
    let mut counting = pin!(watch.count(pods));
    let started = Instant::now();
    loop {
        if let Ok(counted) = tokio::time::timeout(Duration::from_secs(1), counting.as_mut()).await {
            return counted.context("count bindings");
        }
        program.check_alive()?;
        ensure!(started.elapsed() < most, "{pods} pods were not bound in {most:?}:\n{}", program.log()?);
    }
}

/// Waits until the program is idle, and returns what it has used.
async fn at_rest(program: &Program) -> Result<Usage> {
    let (pid, started) = (program.pid()?, Instant::now());
    let mut before = usage(pid)?;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let now = usage(pid)?;
        if now.cpu - before.cpu < REST || started.elapsed() > REST_MAX {
            return Ok(now);
        }
        before = now;
    }
}
