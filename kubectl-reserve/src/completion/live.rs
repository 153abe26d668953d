//! Names for completion, from the kubeconfig and the cluster: one page of metadata of each kind.

use super::asked::{Asked, Wanted};
use crate::api;
use crate::api::METADATA;
use crate::connect::{Environment, Session, connect_silently, kubeconfig};
use crate::error::Failure;
use crate::names::Kind;
use common::api::list::page;
use common::api::reservation;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Wire {
    metadata: MetaWire,
}

#[derive(Deserialize)]
struct MetaWire {
    name: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// The candidates for everything that is wanted.
pub(super) async fn find(asked: &Asked) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for wanted in &asked.wanted {
        match wanted {
            Wanted::Contexts | Wanted::Clusters | Wanted::Users => names.extend(configured(asked, *wanted)?),
            Wanted::Files => {}
            _ => {
                let session = connect_silently(&asked.connection).await?;
                names.extend(cluster(&session, *wanted, &asked.begun).await?);
            }
        }
    }
    Ok(names)
}

fn configured(asked: &Asked, wanted: Wanted) -> Result<Vec<String>, Failure> {
    let kubeconfig = kubeconfig::load(&asked.connection, &Environment::read())?.unwrap_or_default();
    Ok(match wanted {
        Wanted::Contexts => kubeconfig.contexts.into_iter().map(|context| context.name).collect(),
        Wanted::Clusters => kubeconfig.clusters.into_iter().map(|cluster| cluster.name).collect(),
        _ => kubeconfig.auth_infos.into_iter().map(|user| user.name).collect(),
    })
}

async fn cluster(session: &Session, wanted: Wanted, begun: &str) -> Result<Vec<String>, Failure> {
    let pods = format!("/api/v1/namespaces/{}/pods", session.namespace);
    let phase = |operator: &str, phase: &str| format!("fieldSelector=status.phase{operator}{phase}");
    match wanted {
        Wanted::Namespaces => names(session, "/api/v1/namespaces", "").await,
        Wanted::Nodes => names(session, "/api/v1/nodes", "").await,
        Wanted::Reservations => reservations(session).await,
        Wanted::RunningPods => names(session, &pods, &phase("%3D", "Running")).await,
        Wanted::PendingPods => {
            let mut pending = names(session, &pods, &phase("%3D", "Pending")).await?;
            pending.extend(names(session, &pods, &phase("%21%3D", "Pending")).await?);
            Ok(pending)
        }
        Wanted::Workloads => workloads(session, begun).await,
        Wanted::Contexts | Wanted::Clusters | Wanted::Users | Wanted::Files => Ok(Vec::new()),
    }
}

async fn names(session: &Session, path: &str, query: &str) -> Result<Vec<String>, Failure> {
    let objects = read(session, path, query).await?;
    Ok(objects.into_iter().map(|object| object.name).collect())
}

/// `deploy/` stays as it was typed, whatever else it could be called.
async fn workloads(session: &Session, begun: &str) -> Result<Vec<String>, Failure> {
    let Some((word, _)) = begun.split_once('/') else { return Ok(Vec::new()) };
    let Some(kind) = Kind::from_word(word) else { return Ok(Vec::new()) };
    let namespace = &session.namespace;
    let path = match kind {
        Kind::Pod => format!("/api/v1/namespaces/{namespace}/pods"),
        Kind::Workload(kind) => {
            let whole = kind.path();
            let (group, plural) = whole.rsplit_once('/').unwrap_or((&whole, ""));
            format!("{group}/namespaces/{namespace}/{plural}")
        }
    };
    let names = names(session, &path, "").await?;
    Ok(names.iter().map(|name| format!("{word}/{name}")).collect())
}

async fn reservations(session: &Session) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    for node in read(session, "/api/v1/nodes", "").await? {
        let annotations = node.annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        for parsed in reservation::parse(annotations) {
            let Some(reservation) = parsed.valid() else { continue };
            let id = &reservation.id;
            let name = id.seat.as_ref().map_or_else(|| id.owner.to_string(), |seat| seat.as_str().to_owned());
            lines.push(format!("{name}\ton {}", node.name));
        }
    }
    Ok(lines)
}

/// The first page; more than that nobody reads.
async fn read(session: &Session, path: &str, query: &str) -> Result<Vec<MetaWire>, Failure> {
    let answer = api::get(session, &format!("{path}?limit=500&{query}"), METADATA).await;
    let answer = answer.map_err(|error| error.into_failure("complete", ""))?;
    let page = page(&answer.text).map_err(Failure::new)?;
    let object = |json: &&str| serde_json::from_str::<Wire>(json).ok().map(|wire| wire.metadata);
    Ok(page.items.iter().filter_map(object).collect())
}
