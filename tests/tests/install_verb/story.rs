//! From nothing to an installation and back to nothing.

use crate::asked::{no_is_no, yes_is_yes};
use crate::health::{check_expired, check_healthy, check_sick, check_tenant, check_without_daemon};
use crate::{
    NAMESPACE, OWNER, SOON, Said, daemon_pod, inventory, reserve, reserve_with, reserved, start_daemon,
    stored_since, write_recorded,
};
use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use reserve_tests::control_plane::{Cluster, ControlPlane, Program, User, deployment, node};
use reserve_tests::programs;
use serde_json::json;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn what_install_makes_uninstall_removes() -> Result<()> {
    let cluster = ControlPlane::start("install_verb").with_scheduler().plugin_dir(programs::build()?).await?;
    cluster.add_node(node("n1").cpu("8")).await?;
    cluster.add_node(node("n2").cpu("8")).await?;
    let before = settled(&cluster).await?;

    check_without_daemon(&cluster).await?;
    rights_come_first(&cluster).await?;
    dry_runs_write_nothing(&cluster, &before).await?;
    no_is_no(&cluster, &before).await?;
    install(&cluster).await?;
    again_changes_nothing(&cluster).await?;
    upgrade_prunes(&cluster).await?;
    yes_is_yes(&cluster)?;

    let daemon = start_daemon(&cluster).await?;
    check_healthy(&cluster, &daemon).await?;
    check_tenant(&cluster).await?;
    check_sick(&cluster).await?;

    uninstall_refuses(&cluster).await?;
    drop(daemon);
    check_expired(&cluster).await?;
    uninstall(&cluster, &before).await
}

/// What there is, once controllers have made what they make for every namespace.
async fn settled(cluster: &Cluster) -> Result<Vec<String>> {
    cluster
        .wait_until("every namespace has what namespaces have", SOON, async || {
            let all = inventory(cluster).await?;
            for namespace in ["default", "kube-system", "kube-public", "kube-node-lease"] {
                for name in ["ConfigMap {} kube-root-ca.crt", "ServiceAccount {} default"] {
                    let wanted = name.replace("{}", namespace);
                    ensure!(all.contains(&wanted), "no {wanted}");
                }
            }
            Ok(all)
        })
        .await
}

async fn rights_come_first(cluster: &Cluster) -> Result<()> {
    let start = Timestamp::now();
    for verb in ["install", "uninstall"] {
        let said = reserve_with(cluster, User::Tenant, None, &[verb, "--yes"])?.ended(14)?;
        let rule = "deployments.apps (namespace kube-reserve)";
        assert!(said.talk.contains(rule) && said.talk.contains("nothing was changed"), "{}", said.talk);
    }
    // With rights of its own it still cannot give more than it has: the server's check comes before any write.
    let audit = cluster.audit().await?.since(start).by("tenant").stored();
    let writes = audit.keep(|write| !write.resource.ends_with("reviews"));
    assert_eq!(writes.writes().len(), 0, "{:?}", writes.writes());
    Ok(())
}

async fn dry_runs_write_nothing(cluster: &Cluster, before: &[String]) -> Result<()> {
    let start = Timestamp::now();
    let said = reserve(cluster, &["install", "--dry-run"])?.ended(0)?;
    assert!(said.out.contains("deployment.apps/reserve-daemon created (dry run)\n"), "{}", said.out);
    let said = reserve(cluster, &["install", "--dry-run=server"])?.ended(0)?;
    assert!(
        said.out.contains("clusterrole.rbac.authorization.k8s.io/reserve-daemon created (server dry run)\n")
    );
    let said = reserve(cluster, &["install"])?.ended(2)?;
    assert!(said.talk.contains("pass --yes"), "{}", said.talk);
    for namespace in ["kube-system", "default"] {
        reserve(cluster, &["install", "--yes", "-n", namespace])?.ended(2)?;
    }
    assert_eq!(stored_since(cluster, start).await?, vec![]);
    assert_eq!(inventory(cluster).await?, before);
    // What is printed is what kubectl can apply.
    let yaml = reserve(cluster, &["install", "--dry-run=client", "-o", "yaml"])?.ended(0)?.out;
    let file = cluster.dir().join("printed.yaml");
    std::fs::write(&file, yaml)?;
    let applied = cluster.run_kubectl(&["apply", "--dry-run=client", "-f", &file.to_string_lossy()]).await?;
    assert_eq!(applied.lines().count(), 41, "{applied}");
    Ok(())
}

fn changes(said: &Said, word: &str) -> usize {
    said.out.lines().filter(|line| line.ends_with(word)).count()
}

async fn install(cluster: &Cluster) -> Result<()> {
    let said = reserve(cluster, &["install", "--yes"])?.ended(0)?;
    assert_eq!(changes(&said, " created"), 41, "{}", said.out);
    assert!(said.talk.contains("successfully rolled out"), "{}", said.talk);
    assert!(said.talk.contains("\"schedulerName\":\"reserve-scheduler\""), "the next step: {}", said.talk);
    let first = said.out.lines().next();
    assert_eq!(first, Some("namespace/kube-reserve created"));
    let labelled = [
        "get",
        "all,leases",
        "-n",
        NAMESPACE,
        "-l",
        "app.kubernetes.io/part-of=kubectl-reserve",
        "-o",
        "name",
    ];
    assert!(cluster.run_kubectl(&labelled).await?.contains("lease.coordination.k8s.io/reserve-daemon"));
    daemon_pod(cluster).await.map(drop)
}

async fn again_changes_nothing(cluster: &Cluster) -> Result<()> {
    let start = Timestamp::now();
    // Nothing is to be done, so that nobody has to agree.
    let said = reserve(cluster, &["install"])?.ended(0)?;
    assert_eq!(changes(&said, " unchanged"), 41, "{}", said.out);
    let before = cluster.audit().await?.by("admin").stored();
    for write in stored_since(cluster, start).await? {
        let same = |one: &&reserve_tests::control_plane::Write| {
            one.name == write.name && one.resource == write.resource
        };
        let versions: Vec<_> =
            before.writes().iter().filter(same).map(|one| &one.resource_version_after).collect();
        assert!(versions.len() > 1, "{write:?} is new");
    }
    Ok(())
}

async fn upgrade_prunes(cluster: &Cluster) -> Result<()> {
    let left = |labels: serde_json::Value, name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels}});
    cluster
        .apply(&left(json!({"app.kubernetes.io/part-of": "kubectl-reserve"}), "former").to_string())
        .await?;
    cluster.apply(&left(json!({}), "somebodys").to_string()).await?;
    let said = reserve(cluster, &["install", "--image", "example.com/reserve-daemon:7"])?.ended(2)?;
    assert!(said.talk.contains("reserve-daemon:0.1.0 becomes example.com/reserve-daemon:7"), "{}", said.talk);
    let said =
        reserve(cluster, &["install", "--image", "example.com/reserve-daemon:7", "--yes"])?.ended(0)?;
    assert_eq!((changes(&said, " configured"), changes(&said, " unchanged")), (1, 40), "{}", said.out);
    assert!(said.out.ends_with("configmap/former pruned\n"), "{}", said.out);
    let maps = cluster.run_kubectl(&["-n", NAMESPACE, "get", "configmaps", "-o", "name"]).await?;
    assert!(maps.contains("configmap/somebodys") && !maps.contains("configmap/former"), "{maps}");
    let image = ["-n", NAMESPACE, "get", "deployment", "reserve-daemon", "-o", "jsonpath={..image}"];
    assert_eq!(cluster.run_kubectl(&image).await?, "example.com/reserve-daemon:7");
    cluster.run_kubectl(&["-n", NAMESPACE, "delete", "configmap", "somebodys"]).await.map(drop)
}

async fn uninstall_refuses(cluster: &Cluster) -> Result<()> {
    cluster.deploy(deployment("web").cpu("100m").scheduler("reserve-scheduler")).await?;
    let start = Timestamp::now();
    let said = reserve(cluster, &["uninstall", "--yes"])?.ended(15)?;
    let user = "Deployment/web in namespace default has schedulerName reserve-scheduler";
    assert!(said.talk.contains(user) && said.talk.contains("--force"), "{}", said.talk);
    assert!(!said.talk.contains("ReplicaSet") && !said.talk.contains("Pod/"), "each once: {}", said.talk);
    let said = reserve(cluster, &["uninstall", "--dry-run=server"])?.ended(0)?;
    assert!(
        said.out.starts_with("deployment.apps/reserve-daemon deleted (server dry run)\n"),
        "{}",
        said.out
    );
    reserve(cluster, &["uninstall", "--force"])?.ended(2)?;
    assert_eq!(stored_since(cluster, start).await?, vec![]);
    Ok(())
}

async fn uninstall(cluster: &Cluster, before: &[String]) -> Result<()> {
    let manual = format!("reserve.cpu/{OWNER}");
    cluster.run_kubectl(&["annotate", "node", "n1", &format!("{manual}=2")]).await?;
    let expires = Timestamp::now() + Duration::from_secs(3600);
    write_recorded(cluster, "n1", "one", expires).await?;
    write_recorded(cluster, "n1", "two", expires).await?;
    let start = Timestamp::now();
    let said = reserve(cluster, &["uninstall", "--force", "--yes"])?.ended(0)?;
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.first(), Some(&"deployment.apps/reserve-daemon deleted"), "the daemon goes first");
    assert_eq!(lines.last(), Some(&"namespace/kube-reserve deleted"));
    assert!(lines.contains(&"node/n1 2 reservations released"), "{}", said.out);
    assert!(said.talk.contains("1 reservation stays"), "{}", said.talk);
    assert_eq!(reserved(cluster, "n1").await?, std::slice::from_ref(&manual));
    let patches = cluster.audit().await?.since(start).by("admin").to("nodes").stored();
    assert_eq!(patches.writes().len(), 1, "all of a node in one write");
    cluster.run_kubectl(&["delete", "deployment", "web"]).await?;
    cluster
        .wait_until("everything is as before", SOON, async || {
            let after = inventory(cluster).await?;
            let more: Vec<_> = after.iter().filter(|name| !before.contains(name)).collect();
            let less: Vec<_> = before.iter().filter(|name| !after.contains(name)).collect();
            ensure!(more.is_empty() && less.is_empty(), "too much: {more:?}, too little: {less:?}");
            Ok(())
        })
        .await?;

    let said = reserve(cluster, &["uninstall", "--yes"])?.ended(0)?;
    assert!(said.talk.contains("Nothing to remove"), "{}", said.talk);
    let said = reserve(cluster, &["uninstall", "--yes", "--all"])?.ended(0)?;
    assert_eq!(said.out, "node/n1 1 reservation released\n");
    assert_eq!(reserved(cluster, "n1").await?, Vec::<String>::new());
    Ok(())
}

/// What the daemon's program says, for whoever has to find out why a test failed.
pub(crate) fn log_of(daemon: &Program) -> String {
    daemon.log().unwrap_or_else(|error| format!("{error:#}"))
}

/// The value at a path of a document.
pub(crate) fn at<'v>(document: &'v serde_json::Value, pointer: &str) -> Result<&'v serde_json::Value> {
    document.pointer(pointer).with_context(|| format!("no {pointer} in {document:#}"))
}
