//! The real daemon in the sandbox, under virtual time: it places pods, honours reservations, makes and releases them.

use crate::place::{Place, node, story, text, workload};
use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn pods_are_placed_and_a_reservation_is_honoured() -> Result<()> {
    let place = Place::new(1);
    story(&place, async {
        place.create(node("n1", "2")).await?;
        place.create(node("n2", "1")).await?;
        let nodes: Api<Node> = Api::all(place.client.clone());
        let owner = "11111111-1111-4111-8111-111111111111";
        let held = json!({ "metadata": { "annotations": { format!("reserve.cpu/{owner}"): "2" } } });
        nodes.patch("n1", &PatchParams::default(), &Patch::Merge(held)).await?;
        place.create(workload("Deployment", "web", 2, "1", json!({}))).await?;
        let waits = place.wait("one pod of two is placed, the other told why", async || {
            let pods = place.pods("web").await?;
            let placed: Vec<&Value> =
                pods.iter().filter(|pod| text(pod, "/status/phase") == "Running").collect();
            let told = pods.iter().find(|pod| text(pod, "/status/conditions/0/reason") == "Unschedulable");
            Ok(told.filter(|_| placed.len() == 1 && text(placed[0], "/spec/nodeName") == "n2").cloned())
        });
        let told = waits.await?;
        ensure!(text(&told, "/status/conditions/0/message").contains("2 Insufficient cpu"), "{told:#}");
        let released = json!({ "metadata": { "annotations": { format!("reserve.cpu/{owner}"): null } } });
        nodes.patch("n1", &PatchParams::default(), &Patch::Merge(released)).await?;
        place.running("web", 2).await.map(drop)
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_kept_place_is_kept_and_then_released() -> Result<()> {
    let place = Place::new(2);
    story(&place, async {
        place.create(node("n1", "1")).await?;
        place.create(node("n2", "1")).await?;
        place.create(workload("Deployment", "kept", 2, "1", json!({ "reserve/keep": "true" }))).await?;
        let before = place.running("kept", 2).await?;
        place.create(workload("Deployment", "rival", 1, "1", json!({}))).await?;
        place.told("rival").await?;
        let (name, node) = (text(&before[0], "/metadata/name"), text(&before[0], "/spec/nodeName"));
        let pods: Api<Pod> = Api::default_namespaced(place.client.clone());
        pods.delete(name, &DeleteParams::default()).await?;
        place.wait("a reservation is made", async || Ok(place.reservations(node).await?.pop())).await?;
        let after = place.running("kept", 2).await?;
        ensure!(
            after
                .iter()
                .any(|pod| text(pod, "/spec/nodeName") == node && text(pod, "/metadata/name") != name),
            "{after:#?}"
        );
        place
            .wait("it is released", async || Ok(place.reservations(node).await?.is_empty().then_some(())))
            .await?;
        tokio::time::sleep(Duration::from_secs(30)).await;
        let rival = place.pods("rival").await?;
        ensure!(text(&rival[0], "/spec/nodeName").is_empty(), "{rival:#?}");
        Ok(())
    })
    .await
}

/// The same seed tells the same story, to the last version of the last object.
#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_history() -> Result<()> {
    let mut ends = Vec::new();
    for _ in 0..2 {
        let place = Place::new(3);
        story(&place, async {
            place.create(node("n1", "4")).await?;
            place.create(node("n2", "4")).await?;
            place.create(workload("StatefulSet", "db", 3, "1", json!({ "reserve/keep": "true" }))).await?;
            let before = place.running("db", 3).await?;
            let pods: Api<Pod> = Api::default_namespaced(place.client.clone());
            pods.delete("db-1", &DeleteParams::default()).await?;
            place
                .wait("it is another one", async || {
                    let pods = place.pods("db").await?;
                    let is_new =
                        |pod: &Value| text(pod, "/metadata/uid") != text(&before[1], "/metadata/uid");
                    Ok(pods.get(1).is_some_and(is_new).then_some(()))
                })
                .await?;
            place.running("db", 3).await?;
            tokio::time::sleep(Duration::from_secs(60)).await;
            let mut end = String::new();
            for path in ["nodes", "pods", "events"] {
                end.push_str(&place.read(&format!("/api/v1/{path}")).await?.to_string());
            }
            ends.push(end);
            Ok(())
        })
        .await?;
    }
    assert!(ends[0] == ends[1], "{}\n{}", ends[0], ends[1]);
    Ok(())
}
