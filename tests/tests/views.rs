//! `list`, `describe`, `nodes`, `add`, `release` and `extend` on a real control plane with the daemon, typed into real kubectl
//! with our plugin on its PATH.

use anyhow::{Context as _, Result, ensure};
use common::api::names;
use reserve_tests::control_plane::{Cluster, User, bare_pod, deployment, name_of};
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::{SOON, SharedCluster};
use serde_json::{Value, json};
use std::process::Output;

static SHARED_CLUSTER: SharedCluster = SharedCluster::new("views", Some(|| daemon(names::SCHEDULER_NAME)));

const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

/// What came of a command.
struct Typed {
    code: i32,
    out: String,
    talk: String,
}

impl From<Output> for Typed {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), talk: text(output.stderr) }
    }
}

/// Types `kubectl reserve …` as somebody, in a namespace.
fn typed_as(cluster: &Cluster, user: User, namespace: &str, line: &str) -> Result<Typed> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut command = cluster.kubectl(user)?;
    let output = command.arg("reserve").args(&words).args(["-n", namespace]).output();
    Ok(output.with_context(|| format!("kubectl reserve {line}"))?.into())
}

fn typed(cluster: &Cluster, namespace: &str, line: &str) -> Result<Typed> {
    typed_as(cluster, User::Admin, namespace, line)
}

/// The same for a command that must succeed.
fn done(cluster: &Cluster, namespace: &str, line: &str) -> Result<Typed> {
    let typed = typed(cluster, namespace, line)?;
    ensure!(typed.code == 0, "kubectl reserve {line}: {}\n{}{}", typed.code, typed.out, typed.talk);
    Ok(typed)
}

/// The name in `reservation/NAME reserved`.
fn name(typed: &Typed) -> Result<String> {
    let name = typed.out.strip_prefix("reservation/").and_then(|rest| rest.split(' ').next());
    name.map(str::to_owned).with_context(|| typed.out.clone())
}

fn json_of(typed: &Typed) -> Result<Value> {
    serde_json::from_str(&typed.out).with_context(|| typed.out.clone())
}

/// How often the command has changed a node for good.
async fn stored(cluster: &Cluster, node: &str) -> Result<usize> {
    let writes = cluster.audit().await?.to("nodes").named(node).stored();
    Ok(writes.writes().iter().filter(|write| write.user_agent.contains("kubectl-reserve")).count())
}

#[test]
fn the_place_of_a_pod_is_kept_by_hand() -> Result<()> {
    SHARED_CLUSTER.run("by-hand", async |ns| {
        let (cluster, here) = (ns.cluster, ns.name);
        let node = ns.node("a", "4").await?;
        let web = ns.deploy(deployment("web").cpu("3").memory("1Gi")).await?;
        let old = ns.running(&web, 1).await?;
        let stranger = ns.deploy_waiting(deployment("stranger").cpu("3")).await?;
        let pod = name_of(&old[0]);
        let added = done(cluster, here, &format!("add --pod {pod} --reason moving"))?;
        let seat = name(&added)?;
        for word in [
            "seen by the daemon",
            "enforced by reserve-scheduler (the daemon)",
            "default-scheduler does not enforce it",
        ] {
            ensure!(added.talk.contains(word), "{word}: {}", added.talk);
        }
        let again = done(cluster, here, &format!("add --pod {pod}"))?;
        ensure!(again.out == format!("reservation/{seat} unchanged\n"), "{}", again.out);

        let listed = done(cluster, here, &format!("list --node {node}"))?.out;
        ensure!(listed.contains("Deployment/web") && listed.contains("Occupied"), "{listed}");
        let described = done(cluster, here, &format!("describe {seat}"))?.out;
        for word in [
            &*format!("pod {here}/{pod}, whose place is kept, still sits there"),
            "moving",
            "By:           admin",
        ] {
            ensure!(described.contains(word), "{word}: {described}");
        }
        let of_pod = done(cluster, here, &format!("describe pod/{pod}"))?.out;
        ensure!(of_pod.contains(&seat), "{of_pod}");
        ns.delete(&old[0]).await?;
        ns.replacement(&web, &old).await?;
        ns.still_waits(&stranger).await?;
        ns.reserved(&node, 0).await?;
        // Elsewhere in this cluster something is reserved for nobody, which is listed everywhere.
        let none = done(cluster, here, &format!("list --node {node}"))?;
        ensure!(
            none.out.is_empty() && none.talk.contains(&format!("No reservations found in {here} namespace."))
        );
        Ok(())
    })
}

#[test]
fn room_is_reserved_shown_extended_and_released() -> Result<()> {
    SHARED_CLUSTER.run("room", async |ns| {
        let (cluster, here) = (ns.cluster, ns.name);
        let node = ns.node("a", "4").await?;
        ns.deploy(deployment("web").replicas(0)).await?;
        let added =
            done(cluster, here, &format!("add --node {node} --for deployment/web --cpu 3 --ttl 20m"))?;
        let seat = name(&added)?;
        let stranger = ns.deploy_waiting(deployment("stranger").cpu("2")).await?;

        let rooms = json_of(&done(cluster, here, &format!("nodes {node} -o json"))?)?;
        let item = &rooms["items"][0];
        ensure!(item["reserved"]["cpu"] == "3000m" && item["free"]["cpu"] == "1000m", "{rooms}");
        let described = done(cluster, here, &format!("describe {node}/{seat}"))?.out;
        ensure!(described.contains("Held: the room is empty and kept for Deployment/web"), "{described}");
        ensure!(described.contains("would fit there without it"), "{described}");
        ensure!(done(cluster, here, &format!("describe node/{node}"))?.out.contains(&seat));

        let list = json_of(&done(cluster, here, &format!("list --node {node} -o json"))?)?;
        ensure!(
            list["kind"] == "ReservationList" && list["items"][0]["metadata"]["namespace"] == here,
            "{list}"
        );
        let path = done(cluster, here, "list --owner web -o jsonpath={.items[*].metadata.name}")?.out;
        ensure!(path.trim() == seat, "{path}");
        ensure!(done(cluster, here, "list --owner web -o name")?.out == format!("reservation/{seat}\n"));
        ensure!(done(cluster, here, "list --owner deploy/web")?.out.contains(&seat));
        ensure!(done(cluster, here, &format!("list {seat} --expired"))?.out.is_empty());

        let extended = done(cluster, here, &format!("extend {seat} --ttl 40m"))?;
        ensure!(extended.out == format!("reservation/{seat} extended\n"), "{}", extended.out);
        ensure!(done(cluster, here, &format!("extend {seat} --ttl 5m"))?.out.ends_with("unchanged\n"));
        ns.still_waits(&stranger).await?;
        let released = done(cluster, here, &format!("release {seat}"))?;
        ensure!(released.out == format!("reservation/{seat} released\n"), "{}", released.out);
        ensure!(released.talk.contains("Deployment/web in room may lose its place"), "{}", released.talk);
        ns.running(&stranger, 1).await.map(drop)
    })
}

#[test]
fn the_plain_form_is_never_released_by_accident() -> Result<()> {
    SHARED_CLUSTER.run("plain", async |ns| {
        let (cluster, here) = (ns.cluster, ns.name);
        let node = ns.node("a", "4").await?;
        done(cluster, here, &format!("add --node {node} --for {NOBODY} --cpu 500m --plain"))?;
        let annotations = cluster.node(&node).await?.metadata.annotations.unwrap_or_default();
        let value = annotations.get(&format!("reserve.cpu/{NOBODY}")).context("the original form")?;
        ensure!(value == "500m", "{value}");
        let listed = done(cluster, here, &format!("list --node {node}"))?;
        ensure!(listed.out.contains("<unknown>") && listed.out.contains("Held (manual)"), "{}", listed.out);
        let cure = format!("free cpu 0.5 with: kubectl reserve release {node}/{NOBODY}");
        ensure!(listed.talk.contains(&cure), "{}", listed.talk);
        for line in ["release --orphaned", "release --all --yes", &format!("release --node {node}")] {
            let typed = done(cluster, here, line)?;
            ensure!(typed.out.is_empty(), "{line}: {}", typed.out);
        }
        ensure!(done(cluster, here, &format!("extend {node}/{NOBODY} --ttl 5m"))?.talk.contains("no expiry"));
        cluster.run_kubectl(&["annotate", "node", &node, "reserve.cpu/oops=1"]).await?;
        let described = done(cluster, here, &format!("describe {node}/reserve.cpu/oops"))?.out;
        ensure!(described.contains("Invalid: "), "{described}");
        done(cluster, here, &format!("release {node}/reserve.cpu/oops {node}/{NOBODY}"))?;
        let annotations = cluster.node(&node).await?.metadata.annotations.unwrap_or_default();
        ensure!(!annotations.keys().any(|key| key.starts_with("reserve.")), "{annotations:?}");
        Ok(())
    })
}

#[test]
fn many_writers_at_once_lose_nothing() -> Result<()> {
    SHARED_CLUSTER.run("writers", async |ns| {
        let (cluster, here) = (ns.cluster, ns.name);
        let node = ns.node("a", "16").await?;
        ns.deploy(deployment("web").replicas(0)).await?;
        let line = format!("add --node {node} --for deployment/web --cpu 100m");
        let at_once = |line: &str, count: usize| -> Result<Vec<Typed>> {
            std::thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..count).map(|_| scope.spawn(|| typed(cluster, here, line))).collect();
                threads.into_iter().map(|one| one.join().map_err(|_| anyhow::anyhow!("a panic"))?).collect()
            })
        };
        let added = tokio::task::block_in_place(|| at_once(&line, 4))?;
        for one in &added {
            ensure!(one.code == 0, "{}", one.talk);
        }
        ns.reserved(&node, 4).await?;
        let seat = name(&added[0])?;
        let released = tokio::task::block_in_place(|| at_once(&format!("release {node}/{seat}"), 4))?;
        let count = released.iter().filter(|one| one.out.contains("released")).count();
        let talk: Vec<&String> = released.iter().map(|one| &one.talk).collect();
        ensure!(count == 1, "{count} released it: {talk:?}");
        ns.reserved(&node, 3).await?;
        ensure!(done(cluster, here, "release --all --yes")?.out.lines().count() == 3);
        ns.reserved(&node, 0).await.map(drop)
    })
}

#[test]
fn what_is_refused_or_rehearsed_changes_nothing() -> Result<()> {
    SHARED_CLUSTER.run("nothing", async |ns| {
        let (cluster, here) = (ns.cluster, ns.name);
        let node = ns.node("a", "4").await?;
        ns.deploy(deployment("web").replicas(0)).await?;
        let seat = name(&done(cluster, here, &format!("add --node {node} --for deploy/web --cpu 1"))?)?;
        let before = stored(cluster, &node).await?;
        let to = format!("add --node {node} --for deploy/web");
        for (code, line) in [
            (13, format!("{to} --cpu 5")),
            (2, format!("{to} --cpu -1")),
            (2, format!("{to} --cpu 1 --ttl 2h")),
            (2, format!("{to} --resource gpu=1")),
            (2, to.clone()),
            (2, format!("add --node {node} --cpu 1")),
            (2, format!("add --node {node} --for {NOBODY} --cpu 1")),
            (1, "add --node no-such-node --for deploy/web --cpu 1".into()),
            (1, format!("add --node {node} --for deploy/wep --cpu 1")),
            (1, "add --pod no-such-pod".into()),
            (1, "release nope".into()),
            (2, "release".into()),
            (2, "release --all".into()),
            (1, format!("extend {node}/nope --ttl 5m")),
            (2, format!("extend {seat} --ttl soon")),
            (0, format!("{to} --cpu 1 --dry-run")),
            (0, format!("{to} --cpu 1 --dry-run=server")),
            (0, format!("{to} --cpu 9 --force-overcommit --dry-run=server")),
            (0, format!("release {seat} --dry-run=server")),
            (0, format!("release {seat} --dry-run=client")),
            (0, format!("extend {seat} --ttl 50m --dry-run=server")),
            (0, "release nope --ignore-not-found".into()),
        ] {
            let typed = typed(cluster, here, &line)?;
            ensure!(typed.code == code, "{line}: exit {}\n{}{}", typed.code, typed.out, typed.talk);
            let is_told = line.contains("dry-run") && typed.out.contains("dry run)");
            ensure!(is_told || !line.contains("dry-run"), "{line}: {}", typed.out);
        }
        ensure!(stored(cluster, &node).await? == before, "something was written");
        let over = done(cluster, here, &format!("{to} --cpu 4"))?;
        ensure!(over.talk.contains("cpu 4 is more than the 3 free"), "{}", over.talk);
        ensure!(done(cluster, here, &format!("list --node {node}"))?.out.contains("Short"));
        Ok(())
    })
}

#[test]
fn a_tenant_is_told_which_right_is_missing() -> Result<()> {
    SHARED_CLUSTER.run("tenant", async |ns| {
        let (cluster, here) = (ns.cluster, ns.name);
        let node = ns.node("a", "4").await?;
        ns.deploy(deployment("web").replicas(0)).await?;
        let seat = name(&done(cluster, here, &format!("add --node {node} --for deploy/web --cpu 1"))?)?;
        cluster.let_tenant_edit(here).await?;
        let refused = |line: &str, rule: &str| -> Result<()> {
            let typed = typed_as(cluster, User::Tenant, here, line)?;
            let is_named = typed.talk.contains(rule) && typed.talk.contains("Forbidden");
            ensure!(
                typed.code == 14 && is_named && typed.out.is_empty(),
                "{line}: {}: {}",
                typed.code,
                typed.talk
            );
            Ok(())
        };
        refused("list", "get,list nodes (cluster scope)")?;
        refused("nodes", "get,list nodes (cluster scope)")?;
        refused(&format!("describe {node}/{seat}"), "get nodes (cluster scope)")?;
        refused(&format!("release {node}/{seat}"), "get nodes (cluster scope)")?;
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "look-at-nodes"},
            "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}]});
        cluster.apply(&role.to_string()).await?;
        cluster.grant(User::Tenant, "look-at-nodes", None).await?;
        let wait = cluster.wait_until("the right is there", SOON, async || {
            refused("list", "get,list pods (all namespaces)")
        });
        wait.await?;
        refused(&format!("release {node}/{seat}"), "patch nodes")?;
        refused(&format!("extend {node}/{seat} --ttl 40m"), "patch nodes")?;
        refused(&format!("add --node {node} --for deploy/web --cpu 1"), "patch nodes")?;
        let described = typed_as(cluster, User::Tenant, here, &format!("describe {node}/{seat}"))?;
        ensure!(
            described.code == 0 && described.out.contains("pods could not be read"),
            "{}",
            described.talk
        );
        Ok(())
    })
}

#[test]
fn sums_are_the_schedulers() -> Result<()> {
    SHARED_CLUSTER.run("sums", async |ns| {
        let (cluster, here) = (ns.cluster, ns.name);
        let node = ns.node_with("a", |shape| shape.cpu("4").resource("example.com/gpu", "2")).await?;
        let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "weighty"},
                           "handler": "weighty", "overhead": {"podFixed": {"cpu": "500m"}}});
        cluster.apply(&class.to_string()).await?;
        let asks = |name: &str| json!({"name": name, "image": "nginx", "resources": {"requests": {"cpu": "1"}}});
        let mut sidecar = asks("sidecar");
        sidecar["restartPolicy"] = json!("Always");
        let port = json!([{"containerPort": 80, "hostPort": 8080}]);
        let mut main = asks("web");
        main["ports"] = port;
        let pod = bare_pod("heavy").pod_field("runtimeClassName", json!("weighty"));
        let pod = pod.pod_field("initContainers", json!([sidecar])).pod_field("containers", json!([main]));
        let pod = ns.deploy(pod).await?;
        ns.running(&pod, 1).await?;
        let rooms = json_of(&done(cluster, here, &format!("nodes {node} -o json"))?)?;
        ensure!(rooms["items"][0]["requested"]["cpu"] == "2500m", "{rooms}");
        ensure!(rooms["items"][0]["free"]["cpu"] == "1500m", "{rooms}");
        let table = done(cluster, here, &format!("nodes {node} --show ports,gpu"))?.out;
        ensure!(table.contains("8080/TCP") && table.contains("EXAMPLE.COM/GPU") && table.contains("2/2"), "{table}");
        ensure!(table.contains("2.5 (63%)"), "{table}");
        Ok(())
    })
}
