//! Reads what a name can mean. A pod of exactly that name is read with one GET; only if there is none, the namespace is listed.

use super::{NamespaceObjects, ObjectArg, ObjectKind, PodOrWorkload, PodWithReadiness, resolve};
use crate::api::{self as calls, ApiError, JSON, METADATA};
use crate::connect::Session;
use crate::error::Failure;
use common::api;
use common::model::chain::chain;
use common::model::owner::{OwnerKind, Workload};
use futures::future::try_join_all;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct PodWire {
    status: StatusWire,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StatusWire {
    conditions: Option<Vec<ConditionWire>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ConditionWire {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

/// The object that `asked` names in `namespace`.
pub(crate) async fn find(
    session: &Session,
    namespace: &str,
    asked: &ObjectArg,
) -> Result<PodOrWorkload, Failure> {
    if matches!(asked.kind, None | Some(ObjectKind::Pod))
        && let Some(pod) = pod(session, namespace, &asked.name).await?
    {
        return Ok(PodOrWorkload::Pod(Box::new(pod)));
    }
    let seen = read(session, namespace, asked).await?;
    let is_hidden = |kind: ObjectKind| match kind {
        ObjectKind::Workload(kind) => seen.unreadable.contains(&kind),
        ObjectKind::Pod => false,
    };
    if let Some(kind) = asked.kind.filter(|kind| is_hidden(*kind)) {
        let needs = format!("get,list {} (namespace {namespace})", kind.resource());
        return Err(crate::error::forbidden(&format!("list {}", kind.resource()), &needs));
    }
    resolve(asked, seen).map_err(|why| why.into_failure(asked, namespace))
}

/// The pods that a label selector selects, in one namespace or in all.
pub(crate) async fn labelled(
    session: &Session,
    namespace: Option<&str>,
    selector: &str,
) -> Result<Vec<PodWithReadiness>, Failure> {
    let path = match namespace {
        Some(namespace) => format!("/api/v1/namespaces/{namespace}/pods"),
        None => "/api/v1/pods".into(),
    };
    let query = format!("labelSelector={}", escaped(selector));
    let pods = pods(session, &path, &query).await;
    pods.map_err(|error| error.into_failure("list pods", "list pods"))
}

async fn pod(session: &Session, namespace: &str, name: &str) -> Result<Option<PodWithReadiness>, Failure> {
    match calls::get(session, &format!("/api/v1/namespaces/{namespace}/pods/{name}"), JSON).await {
        Ok(answer) => read_pod(&answer.text).map(Some).map_err(Failure::new),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error.into_failure("read the pod", &format!("get pods in namespace {namespace}"))),
    }
}

async fn read(session: &Session, namespace: &str, asked: &ObjectArg) -> Result<NamespaceObjects, Failure> {
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let pods = async {
        let pods = pods(session, &path, "").await;
        pods.map_err(|error| error.into_failure("list pods", &format!("list pods in namespace {namespace}")))
    };
    let kinds: Vec<OwnerKind> = match asked.kind {
        Some(ObjectKind::Pod) => Vec::new(),
        _ => OwnerKind::ALL.into(),
    };
    let workloads = try_join_all(kinds.into_iter().map(|kind| workloads(session, namespace, kind)));
    let (pods, workloads) = futures::future::try_join(pods, workloads).await?;
    let mut seen = NamespaceObjects { pods, ..NamespaceObjects::default() };
    for read in workloads {
        match read {
            Ok(live) => seen.workloads.extend(live),
            Err(kind) => seen.unreadable.push(kind),
        }
    }
    Ok(seen)
}

/// The workloads of one kind; the kind as an error if the caller may not list it.
async fn workloads(
    session: &Session,
    namespace: &str,
    kind: OwnerKind,
) -> Result<Result<Vec<Workload>, OwnerKind>, Failure> {
    let mut live = Vec::new();
    let each = |json: &str| {
        live.push(api::workload::workload(kind, json).map_err(|error| chain(&error))?);
        Ok(())
    };
    match calls::list(session, &kind.path_in(namespace), "", METADATA, each).await {
        Ok(_) => Ok(Ok(live)),
        Err(error) if error.code() == Some(403) => Ok(Err(kind)),
        Err(error) if error.code() == Some(404) => Ok(Ok(Vec::new())),
        Err(error) => Err(error.into_failure("list workloads", &format!("list {}", kind.plural()))),
    }
}

async fn pods(session: &Session, path: &str, query: &str) -> Result<Vec<PodWithReadiness>, ApiError> {
    let mut live = Vec::new();
    calls::list(session, path, query, JSON, |json| {
        live.push(read_pod(json)?);
        Ok(())
    })
    .await?;
    Ok(live)
}

fn read_pod(json: &str) -> Result<PodWithReadiness, String> {
    let pod = api::pod::pod(json).map_err(|error| chain(&error))?;
    let wire: PodWire = serde_json::from_str(json).unwrap_or_default();
    let mut conditions = wire.status.conditions.into_iter().flatten();
    let is_ready = conditions.any(|condition| condition.kind == "Ready" && condition.status == "True");
    Ok(PodWithReadiness { pod, is_ready })
}

/// Percent-encodes text for a query.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => escaped.push(byte.into()),
            _ => escaped += &format!("%{byte:02X}"),
        }
    }
    escaped
}
