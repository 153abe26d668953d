//! The roles: what the API server's own authorizer says to each right, and the daemon at work with no more than its own.

use crate::work::{it_binds_volumes, it_preempts};
use crate::{NAMESPACE, SOON, SharedCluster, shared_cluster};
use anyhow::{Context as _, Result, ensure};
use daemon::rights::{RightScope, rights};
use k8s_openapi::api::authorization::v1::ResourceAttributes;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use reserve_tests::control_plane::{Account, Cluster, Program, Write, deployment, workspace_dir};
use reserve_tests::programs;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// One question to the authorizer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Asked {
    verb: String,
    group: String,
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
}

/// Every verb of every right, for a daemon whose Leases are in `own`.
fn all_rights(own: &str) -> BTreeSet<Asked> {
    let mut all = BTreeSet::new();
    for right in rights() {
        let (namespace, name) = match right.scope {
            RightScope::Cluster => (None, None),
            RightScope::OwnNamespace => (Some(own.to_owned()), None),
            RightScope::KubeSystem => {
                (Some("kube-system".to_owned()), Some("extension-apiserver-authentication".to_owned()))
            }
            // Nobody has added any.
            RightScope::Aggregated => continue,
        };
        all.extend(right.verbs.iter().map(|verb| Asked {
            verb: (*verb).to_owned(),
            group: right.group.to_owned(),
            resource: right.resource.to_owned(),
            namespace: namespace.clone(),
            name: name.clone(),
        }));
    }
    all
}

pub(crate) fn asked(verb: &str, group: &str, resource: &str, namespace: Option<&str>) -> Asked {
    let [verb, group, resource] = [verb, group, resource].map(str::to_owned);
    Asked { verb, group, resource, namespace: namespace.map(str::to_owned), name: None }
}

pub(crate) async fn may(cluster: &Cluster, user: &str, asked: &Asked) -> Result<bool> {
    let (resource, subresource) = match asked.resource.split_once('/') {
        Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
        None => (asked.resource.as_str(), None),
    };
    let attributes = ResourceAttributes {
        verb: Some(asked.verb.clone()),
        group: Some(asked.group.clone()),
        resource: Some(resource.to_owned()),
        subresource,
        namespace: asked.namespace.clone(),
        name: asked.name.clone(),
        ..ResourceAttributes::default()
    };
    cluster.may(user, attributes).await
}

pub(crate) async fn missing(cluster: &Cluster, user: &str, own: &str) -> Result<BTreeSet<Asked>> {
    let mut missing = BTreeSet::new();
    for right in all_rights(own) {
        if !may(cluster, user, &right).await? {
            missing.insert(right);
        }
    }
    Ok(missing)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_roles_are_enough_and_no_more() -> Result<()> {
    let shared_cluster = shared_cluster("manifests_rights").await?;
    let (cluster, daemon) = (&shared_cluster.cluster, shared_cluster.first.user.as_str());
    assert_eq!(
        missing(cluster, daemon, NAMESPACE).await?,
        BTreeSet::new(),
        "the daemon may do what its code does"
    );
    let too_much = [
        asked("get", "", "secrets", Some(NAMESPACE)),
        asked("create", "", "pods", None),
        asked("patch", "", "pods", None),
        asked("create", "", "pods/exec", None),
        asked("create", "", "pods/eviction", None),
        asked("update", "", "nodes", None),
        asked("delete", "", "nodes", None),
        asked("patch", "", "nodes/status", None),
        asked("get", "", "nodes/proxy", None),
        asked("delete", "", "persistentvolumes", None),
        asked("patch", "apps", "deployments", None),
        asked("update", "", "configmaps", Some(NAMESPACE)),
        asked("update", "coordination.k8s.io", "leases", Some("kube-system")),
        asked("update", "coordination.k8s.io", "leases", Some("kube-node-lease")),
        asked("create", "", "serviceaccounts/token", Some(NAMESPACE)),
        asked("update", "rbac.authorization.k8s.io", "clusterroles", None),
        asked("delete", "admissionregistration.k8s.io", "validatingadmissionpolicies", None),
    ];
    for right in too_much {
        assert!(!may(cluster, daemon, &right).await?, "the daemon may {right:?}");
    }
    the_daemon_works_with_its_own_role(&shared_cluster).await
}

/// The daemon as its two pods would run: the shipped configuration, each pod's own token, and nothing refused; neither
/// when the one that leads goes and the other takes over.
async fn the_daemon_works_with_its_own_role(shared_cluster: &SharedCluster) -> Result<()> {
    let cluster = &shared_cluster.cluster;
    let first = start(cluster, "first", &shared_cluster.first)?;
    wait_until_leading(cluster, &shared_cluster.first)
        .await
        .with_context(|| first.log().unwrap_or_default())?;
    let second = start(cluster, "second", &shared_cluster.second)?;
    let web = deployment("web").annotation("reserve/keep", "true").terminate_after(Duration::from_secs(2));
    let web = cluster.deploy(web.cpu("1").scheduler("reserve-scheduler")).await?;
    let big = cluster.deploy(deployment("big").cpu("64").scheduler("reserve-scheduler")).await?;
    let placed = cluster.wait_until_running(&web.selector, 1).await;
    placed.with_context(|| first.log().unwrap_or_default())?;
    wait_until_unschedulable(cluster, &big.selector).await?;
    cluster.run_kubectl(&["delete", "pod", "--wait=false", "--selector", &web.selector]).await?;
    wait_until_reserved_and_released(cluster, &shared_cluster.first).await?;
    it_preempts(cluster).await.with_context(|| first.log().unwrap_or_default())?;
    it_binds_volumes(cluster).await.with_context(|| first.log().unwrap_or_default())?;

    let mut logs = first.log()?;
    drop(first);
    wait_until_leading(cluster, &shared_cluster.second).await?;
    let later = cluster.deploy(deployment("later").cpu("1").scheduler("reserve-scheduler")).await?;
    let placed = cluster.wait_until_running(&later.selector, 1).await;
    placed.with_context(|| second.log().unwrap_or_default())?;
    logs += &second.log()?;

    // Without what this test itself has tried as the daemon.
    let audit = cluster.audit().await?.by(&shared_cluster.first.user);
    let audit = audit.keep(|write| write.user_agent.starts_with("reserve-daemon/"));
    // A 422 of a node is a patch that tests what is no longer so; of anything else it is a policy's.
    let is_refused = |write: &&Write| {
        matches!(write.code, 401 | 403) || (write.code == 422 && !write.resource.starts_with("nodes"))
    };
    let refused: Vec<_> = audit.writes().iter().filter(is_refused).collect();
    assert!(refused.is_empty(), "the daemon was refused: {refused:#?}");
    let bound = audit.clone().to("pods/binding").stored().writes().len();
    assert!(bound >= 7, "web, its replacement, two of low, high, found, and later: {bound}");
    for resource in ["persistentvolumes", "persistentvolumeclaims", "pods"] {
        assert!(
            !audit.clone().to(resource).stored().writes().is_empty(),
            "nothing was written to {resource}"
        );
    }
    // A time of day may contain any code; the API server says the word.
    let is_refusal = |line: &&str| line.to_lowercase().contains("forbidden");
    let refusals: Vec<&str> = logs.lines().filter(is_refusal).collect();
    assert!(refusals.is_empty(), "{}", refusals.join("\n"));
    Ok(())
}

/// Its place is kept and given back: two writes to the node, both through the policies.
async fn wait_until_reserved_and_released(cluster: &Cluster, daemon: &Account) -> Result<()> {
    cluster
        .wait_until("a place was reserved and released", SOON, async || {
            let writes = cluster.audit().await?.by(&daemon.user).to("nodes").stored();
            ensure!(writes.writes().len() >= 2, "{writes:?}");
            let nodes = cluster.run_kubectl(&["get", "nodes", "-o", "yaml"]).await?;
            ensure!(!nodes.contains("reserve.info/"), "still reserved");
            Ok(())
        })
        .await
}

async fn wait_until_leading(cluster: &Cluster, account: &Account) -> Result<()> {
    let leases: Api<Lease> = Api::namespaced(cluster.admin(), NAMESPACE);
    cluster
        .wait_until("it leads", SOON, async || {
            let lease = leases.get("reserve-daemon").await?;
            let holder = lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default();
            ensure!(holder.starts_with(&format!("{}_", account.pod)), "{holder:?} leads");
            Ok(())
        })
        .await
}

async fn wait_until_unschedulable(cluster: &Cluster, selector: &str) -> Result<()> {
    cluster
        .wait_until("the pod is told why it waits", SOON, async || {
            let events = cluster.run_kubectl(&["get", "events"]).await?;
            ensure!(events.contains("FailedScheduling") && events.contains("Scheduled"), "{events}");
            let pods = cluster.pods(selector).await?;
            let status = pods.iter().filter_map(|pod| pod.status.as_ref());
            let mut conditions = status.flat_map(|status| status.conditions.iter().flatten());
            ensure!(conditions.any(|one| one.reason.as_deref() == Some("Unschedulable")), "{pods:?}");
            Ok(())
        })
        .await
}

/// Its name and namespace come by the environment, as the Deployment has it.
fn start(cluster: &Cluster, name: &'static str, account: &Account) -> Result<Program> {
    let program = programs::build()?.join("reserve-daemon");
    let config = workspace_dir().join("manifests/daemon/config.yaml");
    let arguments = [
        format!("POD_NAME={}", account.pod),
        format!("POD_NAMESPACE={NAMESPACE}"),
        program.to_string_lossy().into_owned(),
        format!("--kubeconfig={}", cluster.kubeconfig_of(account)?.display()),
        format!("--config={}", config.display()),
        "--secure-port=0".to_owned(),
        "--v=4".to_owned(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    cluster.run_program(name, Path::new("env"), &arguments)
}
