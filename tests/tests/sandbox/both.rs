//! A story that is told twice: in the sandbox with the daemon in the same process, and on a real control plane with its real
//! controllers and the real daemon program. It must read the same.

use crate::place::{Place, Site, node, story, text, workload};
use anyhow::{Context as _, Result};
use http::Request;
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::client::Body;
use reserve_tests::control_plane::{ControlPlane, node as real_node};
use reserve_tests::programs::{self, daemon};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_story_reads_the_same() -> Result<()> {
    let cluster = ControlPlane::start("sandbox_both").plugin_dir(programs::build()?).await?;
    let _daemon = daemon("reserve-scheduler").start(&cluster).await?;
    for name in ["n1", "n2"] {
        cluster.add_node(real_node(name).cpu("1").memory("8Gi")).await?;
    }
    let real = tell(&Site { client: cluster.admin() }).await?;
    let ours = tokio::task::spawn_blocking(in_the_sandbox).await??;
    assert_eq!(real, ours);
    Ok(())
}

/// The same story, in no time.
fn in_the_sandbox() -> Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
    runtime.block_on(async {
        let place = Place::new(5);
        let mut told = Vec::new();
        story(&place, async {
            for name in ["n1", "n2"] {
                place.create(node(name, "1")).await?;
            }
            told = tell(&place).await?;
            Ok(())
        })
        .await?;
        Ok(told)
    })
}

async fn tell(site: &Site) -> Result<Vec<String>> {
    let mut told = Vec::new();
    recreate(site, &mut told).await?;
    budget(site, &mut told).await?;
    shrink(site, &mut told).await?;
    numbered(site, &mut told).await?;
    important(site, &mut told).await?;
    Ok(told)
}

/// Where the pods are, in order.
async fn nodes(site: &Site, app: &str) -> Result<Vec<String>> {
    let mut nodes: Vec<String> =
        site.pods(app).await?.iter().map(|pod| text(pod, "/spec/nodeName").to_owned()).collect();
    nodes.sort();
    Ok(nodes)
}

/// A pod of a workload whose place is kept is deleted while a rival waits.
async fn recreate(site: &Site, told: &mut Vec<String>) -> Result<()> {
    site.create(workload("Deployment", "kept", 2, "1", json!({ "reserve/keep": "true" }))).await?;
    let before = site.running("kept", 2).await?;
    told.push(format!("kept runs on {:?}", nodes(site, "kept").await?));
    site.create(workload("Deployment", "rival", 1, "1", json!({}))).await?;
    told.push(format!("the rival: {}", site.told("rival").await?));
    let pods: Api<Pod> = Api::namespaced(site.client.clone(), "default");
    pods.delete(text(&before[0], "/metadata/name"), &DeleteParams::default()).await?;
    returned(site, "kept", &before, told).await
}

/// Waits until none of the pods of before is missing, and the reservation is released.
async fn returned(site: &Site, app: &str, before: &[Value], told: &mut Vec<String>) -> Result<()> {
    let after = site
        .wait("there is a new pod", async || {
            let after = site.running(app, before.len()).await?;
            let is_new = |pod: &Value| {
                before.iter().all(|old| text(old, "/metadata/uid") != text(pod, "/metadata/uid"))
            };
            Ok(after.iter().any(is_new).then_some(after))
        })
        .await?;
    told.push(format!("{app} runs {} times on {:?}", after.len(), nodes(site, app).await?));
    for node in ["n1", "n2"] {
        site.wait("it is released", async || Ok(site.reservations(node).await?.is_empty().then_some(())))
            .await?;
    }
    told.push(format!("the rival: {:?}", nodes(site, "rival").await?));
    Ok(())
}

async fn evict(site: &Site, pod: &Value) -> Result<String> {
    let name = text(pod, "/metadata/name");
    let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name, "namespace": "default" } });
    let request = Request::post(format!("/api/v1/namespaces/default/pods/{name}/eviction"))
        .header("content-type", "application/json");
    let response = site.client.send(request.body(Body::from(eviction.to_string().into_bytes()))?).await?;
    let code = response.status().as_u16();
    let answer: Value = serde_json::from_slice(&response.into_body().collect().await?.to_bytes())?;
    Ok(format!("eviction: {code} {} {}", answer["reason"], answer["details"]["causes"]))
}

/// A budget forbids an eviction, and then allows it.
async fn budget(site: &Site, told: &mut Vec<String>) -> Result<()> {
    let spec = json!({ "minAvailable": 2, "selector": { "matchLabels": { "app": "kept" } } });
    site.create(json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": { "name": "b", "namespace": "default" }, "spec": spec })).await?;
    let allowed = async |count: i64| {
        site.wait("the budget is looked at", async || {
            let budget = site.read("/apis/policy/v1/namespaces/default/poddisruptionbudgets/b").await?;
            let is_seen = budget["status"]["observedGeneration"] == budget["metadata"]["generation"];
            // The controller may hear later than we do that both are ready, and the refusal says how many are.
            let is_well = budget["status"]["currentHealthy"] == 2;
            Ok((is_seen && is_well && budget["status"]["disruptionsAllowed"] == count)
                .then(|| budget["status"]["expectedPods"].clone()))
        })
        .await
    };
    told.push(format!("the budget expects {}", allowed(0).await?));
    let before = site.running("kept", 2).await?;
    told.push(evict(site, &before[0]).await?);
    let budgets: Api<k8s_openapi::api::policy::v1::PodDisruptionBudget> =
        Api::namespaced(site.client.clone(), "default");
    budgets
        .patch("b", &PatchParams::default(), &Patch::Merge(json!({ "spec": { "minAvailable": 1 } })))
        .await?;
    allowed(1).await?;
    told.push(evict(site, &before[0]).await?);
    returned(site, "kept", &before, told).await
}

/// The rival gets what is given up, and what is deleted goes with all it owns.
async fn shrink(site: &Site, told: &mut Vec<String>) -> Result<()> {
    let deployments: Api<k8s_openapi::api::apps::v1::Deployment> =
        Api::namespaced(site.client.clone(), "default");
    deployments
        .patch("kept", &PatchParams::default(), &Patch::Merge(json!({ "spec": { "replicas": 1 } })))
        .await?;
    site.running("rival", 1).await?;
    site.running("kept", 1).await?;
    told.push("the rival runs beside one that is kept".to_owned());
    for name in ["kept", "rival"] {
        deployments.delete(name, &DeleteParams::foreground()).await?;
        site.running(name, 0).await?;
    }
    let sets = site.wait("all is gone", async || {
        let sets = site.read("/apis/apps/v1/namespaces/default/replicasets").await?;
        Ok(sets["items"].as_array().is_some_and(Vec::is_empty).then_some(()))
    });
    sets.await?;
    told.push("all is gone".to_owned());
    Ok(())
}

/// A pod with a number comes back under its name, to its place.
async fn numbered(site: &Site, told: &mut Vec<String>) -> Result<()> {
    site.create(workload("StatefulSet", "db", 2, "1", json!({ "reserve/keep": "true" }))).await?;
    let before = site.running("db", 2).await?;
    let pods: Api<Pod> = Api::namespaced(site.client.clone(), "default");
    pods.delete("db-0", &DeleteParams::default()).await?;
    let home = |pods: &[Value]| {
        let found = pods
            .iter()
            .find(|pod| text(pod, "/metadata/name") == "db-0")
            .map(|pod| text(pod, "/spec/nodeName").to_owned());
        found.context("no db-0")
    };
    let after = site
        .wait("db-0 is another one", async || {
            let after = site.running("db", 2).await?;
            Ok((text(&after[0], "/metadata/uid") != text(&before[0], "/metadata/uid")).then_some(after))
        })
        .await?;
    told.push(format!("db-0 is back at its place: {}", home(&before)? == home(&after)?));
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(())
}

/// Priorities are what their classes say.
async fn important(site: &Site, told: &mut Vec<String>) -> Result<()> {
    site.create(json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": "high" }, "value": 1000 })).await?;
    // A real server learns of a class by a watch of its own.
    site.wait("the class is known", async || Ok(site.create(of_class("high", "first")).await.ok())).await?;
    for class in ["high", "system-node-critical", "nobody", ""] {
        let made = site.create(of_class(class, &format!("p-{}", class.len())));
        told.push(match made.await {
            Ok(pod) => {
                format!("{class}: {} {}", pod.data["spec"]["priority"], pod.data["spec"]["preemptionPolicy"])
            }
            Err(error) => format!("{class}: {error}"),
        });
    }
    Ok(())
}

/// A pod of that class.
fn of_class(class: &str, name: &str) -> Value {
    let mut spec = json!({ "schedulerName": "nobody", "containers": [{ "name": "c", "image": "i" }] });
    if !class.is_empty() {
        spec["priorityClassName"] = class.into();
    }
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "default" }, "spec": spec })
}
