//! A tenant floods the API server with requests: the daemon's stand in another line, and its Leases before them.

use crate::installed::{NAMESPACE, run};
use anyhow::{Context as _, Result, ensure};
use http::Request;
use k8s_openapi::api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use kube::client::Body;
use kube::{Api, Client, ResourceExt as _};
use reserve_tests::control_plane::User;
use reserve_tests::shared_cluster::{SOON, TestNamespace};

/// Requests of the tenant, and how many of them at once.
const FLOOD: usize = 400;
const AT_ONCE: usize = 20;

/// Where the API server put a request: the UIDs of the FlowSchema and of the level.
#[derive(Debug, PartialEq)]
struct Line {
    schema: String,
    level: String,
}

async fn line_of(client: &Client, path: &str) -> Result<Line> {
    let request = Request::get(path).body(Body::empty()).context("make a request")?;
    let answer = client.send(request).await?;
    ensure!(answer.status().is_success(), "{path}: {}", answer.status());
    let header = |name: &str| -> Result<String> {
        let value = answer.headers().get(name).with_context(|| format!("{path}: no {name}"))?;
        Ok(value.to_str()?.to_owned())
    };
    let schema = header("x-kubernetes-pf-flowschema-uid")?;
    Ok(Line { schema, level: header("x-kubernetes-pf-prioritylevel-uid")? })
}

async fn named(ns: TestNamespace, schema: &str, level: &str) -> Result<Line> {
    let schemas: Api<FlowSchema> = Api::all(ns.cluster.admin());
    let levels: Api<PriorityLevelConfiguration> = Api::all(ns.cluster.admin());
    let schema = schemas.get(schema).await?.uid().context("no UID")?;
    Ok(Line { schema, level: levels.get(level).await?.uid().context("no UID")? })
}

#[test]
fn a_flood_of_a_tenants_requests_is_in_another_line_than_the_daemons() -> Result<()> {
    run("flood", async |ns, daemon| {
        ns.cluster.let_tenant_edit(ns.name).await?;
        let tenant = ns.cluster.client(User::Tenant)?;
        let leases_line = named(ns, "reserve-daemon-leases", "leader-election").await?;
        let own_line = named(ns, "reserve-daemon", "reserve-daemon").await?;
        let lease = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/reserve-daemon");
        ns.cluster
            .wait_until("the FlowSchemas are in force", SOON, async || {
                let found = (line_of(&daemon, &lease).await?, line_of(&daemon, "/api/v1/nodes").await?);
                ensure!(found.0 == leases_line && found.1 == own_line, "{found:?}");
                Ok(())
            })
            .await?;
        let pods = format!("/api/v1/namespaces/{}/pods", ns.name);
        let flood = async {
            for _ in 0..FLOOD / AT_ONCE {
                let lines =
                    futures::future::try_join_all((0..AT_ONCE).map(|_| line_of(&tenant, &pods))).await?;
                for line in lines {
                    ensure!(line.level != own_line.level && line.level != leases_line.level, "{line:?}");
                }
            }
            Ok(())
        };
        let at_work = async {
            for _ in 0..FLOOD / AT_ONCE {
                let found = line_of(&daemon, &lease).await?;
                ensure!(found == leases_line, "a Lease is in {found:?}");
                for path in ["/api/v1/nodes", "/api/v1/pods", "/version"] {
                    let found = line_of(&daemon, path).await?;
                    ensure!(found == own_line, "{path} is in {found:?}");
                }
            }
            Ok(())
        };
        futures::future::try_join(flood, at_work).await.map(drop)
    })
}
