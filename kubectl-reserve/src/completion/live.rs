//! Candidates from the kubeconfig and the cluster: the names on the first page of a list.

use super::request::{CandidateKind, CompletionRequest};
use crate::api;
use crate::api::METADATA;
use crate::connect::{Environment, Session, connect_silently, kubeconfig};
use crate::error::Failure;
use crate::names::ObjectKind;
use crate::reader::{Metadata, NODES, ObjectWithMetadata, pods_in};
use common::api::list::page;
use common::api::reservation;

/// The candidates of all kinds that the request asks for.
pub(super) async fn find(request: &CompletionRequest) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for kind in &request.kinds {
        match kind {
            CandidateKind::Contexts | CandidateKind::Clusters | CandidateKind::Users => {
                names.extend(configured(request, *kind)?)
            }
            CandidateKind::Files => {}
            _ => {
                let session = connect_silently(&request.connection).await?;
                names.extend(cluster(&session, *kind, &request.prefix).await?);
            }
        }
    }
    Ok(names)
}

fn configured(request: &CompletionRequest, kind: CandidateKind) -> Result<Vec<String>, Failure> {
    let kubeconfig = kubeconfig::load(&request.connection, &Environment::read())?.unwrap_or_default();
    Ok(match kind {
        CandidateKind::Contexts => kubeconfig.contexts.into_iter().map(|context| context.name).collect(),
        CandidateKind::Clusters => kubeconfig.clusters.into_iter().map(|cluster| cluster.name).collect(),
        _ => kubeconfig.auth_infos.into_iter().map(|user| user.name).collect(),
    })
}

async fn cluster(session: &Session, kind: CandidateKind, prefix: &str) -> Result<Vec<String>, Failure> {
    let pods = pods_in(&session.namespace);
    let phase = |operator: &str, phase: &str| format!("fieldSelector=status.phase{operator}{phase}");
    match kind {
        CandidateKind::Namespaces => names(session, "/api/v1/namespaces", "").await,
        CandidateKind::Nodes => names(session, NODES, "").await,
        CandidateKind::Reservations => reservations(session).await,
        CandidateKind::RunningPods => names(session, &pods, &phase("%3D", "Running")).await,
        CandidateKind::PendingPods => {
            let mut pending = names(session, &pods, &phase("%3D", "Pending")).await?;
            pending.extend(names(session, &pods, &phase("%21%3D", "Pending")).await?);
            Ok(pending)
        }
        CandidateKind::Workloads => workloads(session, prefix).await,
        CandidateKind::Contexts | CandidateKind::Clusters | CandidateKind::Users | CandidateKind::Files => {
            Ok(Vec::new())
        }
    }
}

async fn names(session: &Session, path: &str, query: &str) -> Result<Vec<String>, Failure> {
    let objects = read(session, path, query).await?;
    Ok(objects.into_iter().map(|object| object.name).collect())
}

/// The workloads of the type in `prefix`. The type stays as it was typed: `deploy/` is not changed to `deployment/`.
async fn workloads(session: &Session, prefix: &str) -> Result<Vec<String>, Failure> {
    let Some((word, _)) = prefix.split_once('/') else { return Ok(Vec::new()) };
    let Some(kind) = ObjectKind::from_word(word) else { return Ok(Vec::new()) };
    let namespace = &session.namespace;
    let path = match kind {
        ObjectKind::Pod => pods_in(namespace),
        ObjectKind::Workload(kind) => kind.path_in(namespace),
    };
    let names = names(session, &path, "").await?;
    Ok(names.iter().map(|name| format!("{word}/{name}")).collect())
}

async fn reservations(session: &Session) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    for node in read(session, NODES, "").await? {
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

/// The metadata of the objects on the first page of a list. More candidates are of no use.
async fn read(session: &Session, path: &str, query: &str) -> Result<Vec<Metadata>, Failure> {
    let answer = api::get(session, &format!("{path}?limit=500&{query}"), METADATA).await;
    let answer = answer.map_err(|error| error.into_failure("complete", ""))?;
    let page = page(&answer.text).map_err(Failure::new)?;
    let object =
        |json: &&str| serde_json::from_str::<ObjectWithMetadata>(json).ok().map(|object| object.metadata);
    Ok(page.items.iter().filter_map(object).collect())
}
