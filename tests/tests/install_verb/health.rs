//! `status` and `doctor`: without a daemon, with one, when something is wrong, and for somebody without rights.

use crate::story::{at, log_of};
use crate::{OWNER, SOON, reserve, reserve_with, reserved, write_recorded};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Cluster, Program, User};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

/// The messages of `doctor` at one level.
fn told(report: &Value, level: &str) -> Vec<String> {
    let items = report["items"].as_array().cloned().unwrap_or_default();
    let words = |item: &Value| {
        format!(
            "{}: {}",
            item["metadata"]["name"].as_str().unwrap_or_default(),
            item["message"].as_str().unwrap_or_default()
        )
    };
    items.iter().filter(|item| item["level"] == level).map(words).collect()
}

pub(crate) async fn check_without_daemon(cluster: &Cluster) -> Result<()> {
    let said = reserve(cluster, &["status"])?.ended(0)?;
    assert!(said.out.starts_with("DAEMON        not installed: "), "{}", said.out);
    let said = reserve(cluster, &["doctor", "-o", "json"])?.ended(0)?;
    let warned = told(&said.json()?, "warn").join("\n");
    assert!(warned.contains("the daemon is not installed in namespace kube-reserve"), "{warned}");
    assert!(told(&said.json()?, "ok").iter().any(|line| line.starts_with("server: v1.")), "{}", said.out);
    let said = reserve(cluster, &["doctor", "--server", "https://127.0.0.1:1"])?.ended(1)?;
    assert!(said.out.contains("fail  server:"), "{}", said.out);
    let missing = reserve(cluster, &["doctor", "--kubeconfig", "no-such-file"])?.ended(1)?;
    assert!(missing.out.contains("fail  kubeconfig:"), "{}", missing.out);
    Ok(())
}

pub(crate) async fn check_healthy(cluster: &Cluster, daemon: &Program) -> Result<()> {
    let status = cluster
        .wait_until("the daemon says in its Lease that it leads", SOON, async || {
            let status = reserve(cluster, &["status", "-o", "json"])?.ended(0)?.json()?;
            let leads = at(&status, "/replicas/0/leader")? == true;
            let serves = at(&status, "/replicas/0/schedulers")? == &json!(["reserve-scheduler"]);
            ensure!(leads && serves, "{status:#}\n{}", log_of(daemon));
            Ok(status)
        })
        .await?;
    assert_eq!(at(&status, "/kind")?, "Status");
    assert_eq!(at(&status, "/replicas/0/live")?, true);
    assert_eq!(at(&status, "/replicas/0/restricted")?, false, "its roles are enough: {}", log_of(daemon));
    assert_eq!(at(&status, "/replicas/0/version")?, at(&status, "/clientVersion")?);
    let schedulers = status["schedulers"].as_array().context("no schedulers")?;
    let ours = schedulers.iter().find(|line| line["metadata"]["name"] == "reserve-scheduler");
    assert_eq!(ours.map(|line| &line["enforcement"]), Some(&Value::from("Scheduler")));
    let said = reserve(cluster, &["status"])?.ended(0)?;
    assert!(said.out.starts_with("DAEMON        1 of 1 replica live; version "), "{}", said.out);

    let said = reserve(cluster, &["doctor", "-o", "json"])?.ended(0)?;
    let report = said.json()?;
    assert_eq!(told(&report, "fail"), Vec::<String>::new());
    let good = told(&report, "ok").join("\n");
    for wanted in [
        "roles: ",
        "policies: ",
        "leader: ",
        "version: ",
        "bounds: ",
        "shadow: ",
        "clock: ",
        "rights: you may explain",
    ] {
        assert!(good.contains(wanted), "{wanted} is not ok:\n{}", said.out);
    }
    Ok(())
}

/// Somebody without any rights is told what is missing, and shown the rest: everybody may see the Leases of replicas.
pub(crate) async fn check_tenant(cluster: &Cluster) -> Result<()> {
    let said = reserve_with(cluster, User::Tenant, None, &["status"])?.ended(0)?;
    assert!(said.out.starts_with("DAEMON        1 of 1 replica live"), "{}\n{}", said.out, said.talk);
    assert!(said.out.contains("needs: list nodes (cluster scope)"), "{}", said.out);
    let said = reserve_with(cluster, User::Tenant, None, &["doctor", "-o", "json"])?.ended(0)?;
    let report = said.json()?;
    assert!(
        told(&report, "warn").iter().any(|line| line.contains("create pods/eviction (namespace default)")),
        "{}",
        said.out
    );
    assert!(told(&report, "note").iter().any(|line| line.contains("not checked: needs get")), "{}", said.out);
    assert!(told(&report, "ok").iter().any(|line| line.starts_with("leader: ")), "{}", said.out);
    Ok(())
}

pub(crate) async fn check_sick(cluster: &Cluster) -> Result<()> {
    cluster.run_kubectl(&["delete", "validatingadmissionpolicy", "reserve-writers"]).await?;
    let said = reserve(cluster, &["doctor"])?.ended(1)?;
    let gone = "validatingadmissionpolicy.admissionregistration.k8s.io/reserve-writers is";
    assert!(said.out.contains(gone) && said.out.contains("cure: kubectl reserve install\n"), "{}", said.out);
    reserve(cluster, &["install", "--image", "example.com/reserve-daemon:8", "--yes"])?.ended(0)?;
    reserve(cluster, &["doctor"])?.ended(0)?;

    cluster.run_kubectl(&["annotate", "node", "n2", &format!("reserve.cpu/{OWNER}=1")]).await?;
    let said = reserve(cluster, &["doctor", "-o", "json"])?.ended(0)?;
    let warned = told(&said.json()?, "warn").join("\n");
    assert!(
        warned.contains(&format!("1 reservation is for an owner that was not found: n2/{OWNER}")),
        "{warned}"
    );
    cluster.run_kubectl(&["annotate", "node", "n2", &format!("reserve.cpu/{OWNER}-")]).await?;
    check_shadow(cluster)
}

/// What is over stays written down while no daemon runs.
pub(crate) async fn check_expired(cluster: &Cluster) -> Result<()> {
    write_recorded(cluster, "n2", "over", "2026-01-01T00:10:00Z".parse()?).await?;
    let report = reserve(cluster, &["doctor", "-o", "json"])?.json()?;
    let warned = told(&report, "warn").join("\n");
    assert!(warned.contains("1 reservation is over, and still written down: n2/over"), "{warned}");
    for key in reserved(cluster, "n2").await? {
        cluster.run_kubectl(&["annotate", "node", "n2", &format!("{key}-")]).await?;
    }
    Ok(())
}

fn check_shadow(cluster: &Cluster) -> Result<()> {
    let dir = cluster.dir().join("shadow");
    std::fs::create_dir_all(&dir)?;
    let file = dir.join("kubectl-reserve-list");
    std::fs::write(&file, "#!/bin/sh\n")?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
    let said = reserve_with(cluster, User::Admin, Some(&dir), &["doctor", "-o", "json"])?.ended(0)?;
    let warned = told(&said.json()?, "warn").join("\n");
    assert!(warned.contains("shadow: for `kubectl reserve list` kubectl runs"), "{warned}");
    std::fs::remove_dir_all(&dir).context("remove the shadow")
}
