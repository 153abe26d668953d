//! `kubectl reserve doctor`: checks this machine, the server, the rights of the caller, the installation, the replicas and the
//! reservations, and says what to do about each problem. What the caller may not read is reported, and the rest is checked.

mod caller;
mod installation;
mod leases;
mod machine;
mod running;

use super::{Context, status};
use crate::api::{self, METADATA};
use crate::cli::{self, Connection};
use crate::clock::local_time;
use crate::connect::{Session, connect};
use crate::error::{Exit, Failure};
use crate::manifests::{self, InstallOptions};
use crate::print::print;
use crate::reader::{readable, served};
use crate::render::doctor::{Check, DoctorReport, Level};
use crate::ui::Ui;
use common::api::names;
use jiff::Timestamp;
use machine::Machine;
use running::ClusterFacts;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Runs the checks. It connects itself, because a failed connection is one of the results.
pub(crate) async fn run(
    args: &cli::Doctor,
    flags: &Connection,
    verbosity: u8,
    ui: Ui,
) -> Result<(), Failure> {
    let paint = ui.paint();
    let mut checks = Machine::look(std::env::var_os("PATH").as_deref()).checks();
    let mut at = local_time();
    match connect(flags, verbosity).await {
        Ok(session) => {
            let daemon_namespace = flags.namespace.clone().or_else(|| flags.daemon_namespace.clone());
            let namespace = daemon_namespace.unwrap_or_else(|| names::NAMESPACE.into());
            let context = Context { session, ui, context: flags.context.clone() };
            if let Err(failure) = examine(&context, &namespace, &mut checks, &mut at).await {
                checks.push(failed("server", failure));
            }
        }
        Err(failure) => checks.push(failed("kubeconfig", failure)),
    }
    let report = DoctorReport { checks, at, paint };
    print(&args.print, &report)?;
    if report.count(Level::Fail) > 0 { Err(Failure::silent(Exit::Error)) } else { Ok(()) }
}

fn failed(name: &'static str, failure: Failure) -> Check {
    let message = failure.message.unwrap_or_default();
    Check::fail(name, message, failure.hint.unwrap_or_else(|| "kubectl cluster-info".into()))
}

/// The checks of the cluster.
async fn examine(
    context: &Context,
    namespace: &str,
    checks: &mut Vec<Check>,
    at: &mut Timestamp,
) -> Result<(), Failure> {
    let session = &context.session;
    let server = caller::ask(session).await?;
    checks.extend(caller::server(&server, local_time()));
    *at = server.at.unwrap_or(*at);
    checks.extend(caller::rights(session).await?);
    let choice = InstallOptions { image: None, namespace: namespace.into(), is_extender: false };
    let wanted = manifests::objects(&choice).map_err(Failure::new)?;
    let seen = installation::look(session, wanted).await;
    let (mut data, status) = status::read(context).await?;
    checks.extend(installation::checks(&seen, namespace, status.live().next().is_some()));
    let facts = ClusterFacts {
        namespace: namespace.into(),
        is_extender: installation::is_extender(&seen),
        autoscalers: autoscalers(session).await?,
        nodes: nodes(session).await?,
    };
    checks.extend(running::replicas(&status, &facts));
    checks.extend(leases::checks(leases::look(session).await?, &session.daemon));
    checks.extend(running::schedulers(&status, &facts));
    checks.extend(running::reservations(&mut data, &status));
    if status.can_see("nodes") {
        checks.extend(running::bounds(&facts));
    }
    checks.push(running::autoscalers(&facts));
    Ok(())
}

#[derive(Deserialize)]
struct ObjectWire {
    metadata: MetaWire,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct MetaWire {
    name: String,
    namespace: String,
    annotations: BTreeMap<String, String>,
}

/// Calls `each` with the metadata of all objects at a path; not at all if the caller may not list them, which the checks of rights
/// report.
async fn metadata(session: &Session, path: &str, mut each: impl FnMut(MetaWire)) -> Result<(), Failure> {
    let read = |json: &str| {
        let ObjectWire { metadata } = serde_json::from_str(json).map_err(|error| error.to_string())?;
        each(metadata);
        Ok(())
    };
    let listed = readable(served(api::list(session, path, "", METADATA, read).await));
    listed.map(drop).map_err(|error| error.into_failure("list", path))
}

async fn nodes(session: &Session) -> Result<Vec<(String, BTreeMap<String, String>)>, Failure> {
    let mut all = Vec::new();
    metadata(session, "/api/v1/nodes", |meta| all.push((meta.name, meta.annotations))).await?;
    Ok(all)
}

async fn autoscalers(session: &Session) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    metadata(session, "/apis/apps/v1/deployments", |meta| {
        if ["cluster-autoscaler", "karpenter"].iter().any(|name| meta.name.contains(name)) {
            all.push(format!("{}/{}", meta.namespace, meta.name));
        }
    })
    .await?;
    Ok(all)
}
