//! A tenant whose pods ask for their places to be kept for a second: each extension is a write to a node.

use super::SHARED_CLUSTER;
use crate::tenant::Tenant;
use crate::time::let_time_pass;
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use futures::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, ListParams};
use reserve_tests::control_plane::{Audit, User, Workload, deployment, name_of};
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::{KEEP, SOON, TestNamespace};
use serde_json::{Value, json};
use std::time::Duration;

/// Pods that ask, each on a node of its own, and others that are placed meanwhile.
const MANY: usize = 100;
const OTHERS: usize = 10;
/// So few requests may the daemon make in a second, and at once, that those which stand in line are felt.
const REQUESTS: usize = 10;
/// So much before its end a reservation for the shortest time that anybody can ask for is extended.
const EXTENDED_BELOW: SignedDuration = SignedDuration::from_secs(60);

/// A Deployment of the tenant, once its pods run.
async fn run(
    ns: TestNamespace,
    tenant: &Tenant,
    name: &str,
    count: usize,
    template: &Value,
) -> Result<Workload> {
    let spec = json!({"replicas": count, "selector": {"matchLabels": {"app": name}}, "template": template});
    let made = tenant.create::<Deployment>(json!({"metadata": {"name": name}, "spec": spec})).await?;
    ns.running(&made, count).await?;
    Ok(made)
}

/// In how many seconds each reservation has to be extended.
async fn due(ns: TestNamespace) -> Result<Vec<f64>> {
    let nodes: Api<Node> = Api::all(ns.cluster.admin());
    let ours = ListParams::default().labels(&format!("test.reserve/ns={}", ns.name));
    let mut due = vec![];
    for node in nodes.list(&ours).await? {
        let annotations = node.metadata.annotations.unwrap_or_default();
        for (_, json) in annotations.iter().filter(|(key, _)| key.starts_with(names::INFO)) {
            let record: Value = serde_json::from_str(json)?;
            let expires: Timestamp = record["expires"].as_str().context("no expires")?.parse()?;
            due.push((expires - EXTENDED_BELOW).duration_since(Timestamp::now()).as_secs_f64());
        }
    }
    ensure!(due.len() == MANY, "{} reservations", due.len());
    Ok(due)
}

/// Waits until there are all reservations and none of them has to be extended now.
async fn wait_until_calm(ns: TestNamespace) -> Result<Vec<f64>> {
    ns.cluster
        .wait_until("all are reserved for a while", SOON, async || {
            let due = due(ns).await?;
            ensure!(due.iter().all(|seconds| *seconds > 0.0), "{due:?}");
            Ok(due)
        })
        .await
}

/// What the daemon has written to nodes.
async fn writes(ns: TestNamespace) -> Result<Audit> {
    Ok(ns.cluster.audit().await?.to("nodes").by(&ns.cluster.user_name(User::Daemon)))
}

/// Lets all reservations come to their end at once, over and over, so that the daemon is never done with extending them.
async fn storm(ns: TestNamespace, nodes: &[String]) -> Result<()> {
    loop {
        try_join_all(nodes.iter().map(|node| let_time_pass(ns, node, EXTENDED_BELOW / 2))).await?;
        wait_until_calm(ns).await?;
    }
}

/// How long pods of the tenant wait for their binding: the median, by the API server's own log. Says, too, how often
/// the daemon wrote to nodes meanwhile.
async fn placed(ns: TestNamespace, tenant: &Tenant, name: &str) -> Result<(Duration, usize)> {
    let template = ns.fit(deployment(name).cpu("10m")).template();
    let pods = ns.pods(&run(ns, tenant, name, OTHERS, &template).await?).await?;
    let audit = ns.cluster.audit().await?;
    let (mut waited, mut times) = (vec![], vec![]);
    for pod in &pods {
        let of = |resource: &str| -> Result<Timestamp> {
            let writes = audit.clone().to(resource).verb("create").named(name_of(pod)).stored();
            Ok(writes.writes().first().with_context(|| format!("no {resource}"))?.answered)
        };
        let (made, bound) = (of("pods")?, of("pods/binding")?);
        waited.push(Duration::try_from(bound.duration_since(made)).unwrap_or_default());
        times.extend([made, bound]);
    }
    waited.sort();
    let (first, last) = (times.iter().min().context("none")?, times.iter().max().context("none")?);
    let meanwhile = writes(ns).await?.keep(|write| (first..=last).contains(&&write.at));
    Ok((waited[waited.len() / 2], meanwhile.writes().len()))
}

/// The same, as soon as the storm has begun, and the daemon has made all requests that it may make at once.
async fn placed_in_storm(ns: TestNamespace, tenant: &Tenant) -> Result<(Duration, usize)> {
    let before = writes(ns).await?.writes().len();
    ns.cluster
        .wait_until("the storm has begun", SOON, async || {
            let now = writes(ns).await?.writes().len();
            ensure!(now > before + REQUESTS, "{} writes", now - before);
            Ok(())
        })
        .await?;
    placed(ns, tenant, "during").await
}

#[test]
fn a_hundred_pods_that_ask_for_a_second_cause_few_writes() -> Result<()> {
    SHARED_CLUSTER.run_alone("storm", async |ns| {
        let limit = ["qps", "burst"].map(|word| format!("--kube-api-{word}={REQUESTS}"));
        let shape = limit.iter().fold(daemon(names::SCHEDULER_NAME), |shape, limit| shape.argument(limit));
        let _daemon = shape.start(ns.cluster).await?;
        let tenant = Tenant::of(ns).await?;
        let names: Vec<String> = (0..MANY).map(|number| number.to_string()).collect();
        let nodes = try_join_all(names.iter().map(|name| ns.node(name, "100m"))).await?;
        let asking = ns.fit(deployment("many").cpu("60m").pod_annotation(KEEP, "1s")).template();
        run(ns, &tenant, "many", MANY, &asking).await?;
        wait_until_calm(ns).await?;
        let (calm, _) = placed(ns, &tenant, "calm").await?;

        // Even if all of them have to be extended at once, and again and again, others are placed as fast as without.
        let (during, extended) = tokio::select! {
            failed = storm(ns, &nodes) => return failed,
            placed = placed_in_storm(ns, &tenant) => placed?,
        };
        ensure!(extended > 0, "there was no storm");
        ensure!(during < calm * 2 + Duration::from_secs(3), "{during:?} instead of {calm:?}");

        // By themselves they do not fall due so often: once extended, each is left alone for long enough.
        let due = wait_until_calm(ns).await?;
        let to_come: f64 = due.iter().map(|seconds| seconds.recip()).sum();
        ensure!(to_come < 1.0, "{to_come:.1} writes a second to come: {due:?}");
        few_writes(ns).await
    })
}

/// The daemon writes less than once a second to nodes while it renews its Lease three times, which it does every five seconds.
async fn few_writes(ns: TestNamespace) -> Result<()> {
    let since = Timestamp::now();
    for _ in 0..3 {
        let before = writes_of_lease(ns).await?;
        ns.cluster
            .wait_until("the Lease is renewed", SOON, async || {
                ensure!(writes_of_lease(ns).await? > before);
                Ok(())
            })
            .await?;
    }
    let written = writes(ns).await?.since(since).writes().len();
    let seconds = Timestamp::now().duration_since(since).as_secs_f64();
    ensure!((written as f64) < seconds, "{written} writes to nodes in {seconds:.0} s");
    Ok(())
}

async fn writes_of_lease(ns: TestNamespace) -> Result<usize> {
    let audit = ns.cluster.audit().await?.to("leases").named("reserve-reserve-daemon");
    Ok(audit.stored().writes().len())
}
