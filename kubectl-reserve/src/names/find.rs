//! Reads what a name can mean. A pod of exactly that name is read with one GET; only if there is none, the namespace is listed.

use super::{NamespaceObjects, ObjectArg, ObjectKind, PodOrWorkload, resolve};
use crate::api::METADATA;
use crate::connect::Session;
use crate::error::Failure;
use crate::reader::{PODS, PodView, pod, pods, pods_in, with_labels, workloads};
use common::model::{OwnerKind, PodKey};
use futures::future::{try_join, try_join_all};

/// The object that `asked` names in `namespace`.
pub(crate) async fn find(
    session: &Session,
    namespace: &str,
    asked: &ObjectArg,
) -> Result<PodOrWorkload, Failure> {
    if matches!(asked.kind, None | Some(ObjectKind::Pod)) {
        let found = pod(session, &PodKey::new(namespace, &*asked.name)).await;
        let needs = format!("get pods in namespace {namespace}");
        if let Some(pod) = found.map_err(|error| error.into_failure("read the pod", &needs))? {
            return Ok(PodOrWorkload::Pod(Box::new(pod)));
        }
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
) -> Result<Vec<PodView>, Failure> {
    let path = namespace.map_or_else(|| PODS.to_owned(), pods_in);
    let pods = pods(session, &path, &with_labels(selector)).await;
    pods.map_err(|error| error.into_failure("list pods", "list pods"))
}

async fn read(session: &Session, namespace: &str, asked: &ObjectArg) -> Result<NamespaceObjects, Failure> {
    let pods = async {
        let pods = pods(session, &pods_in(namespace), "").await;
        pods.map_err(|error| error.into_failure("list pods", &format!("list pods in namespace {namespace}")))
    };
    let kinds: Vec<OwnerKind> = match asked.kind {
        Some(ObjectKind::Pod) => Vec::new(),
        _ => OwnerKind::ALL.into(),
    };
    let of_kind = async |kind: OwnerKind| {
        let read = workloads(session, kind, &kind.path_in(namespace), METADATA).await;
        let read = read.map_err(|error| error.into_failure("list workloads", "list workloads"));
        read.map(|read| (kind, read))
    };
    let (pods, workloads) = try_join(pods, try_join_all(kinds.into_iter().map(of_kind))).await?;
    let mut seen = NamespaceObjects { pods, ..NamespaceObjects::default() };
    for (kind, read) in workloads {
        match read {
            Some(live) => seen.workloads.extend(live),
            None => seen.unreadable.push(kind),
        }
    }
    Ok(seen)
}
