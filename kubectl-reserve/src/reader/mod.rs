//! Reads pods, nodes and workloads from the API server, for all verbs: the same error, the same missing right and the same object
//! that is gone are handled in the same way everywhere.
//!
//! An object that does not exist is `None`: [`existing`], and so is a list of a kind that the server does not have: [`served`]. A
//! 403 is an error unless the verb can do without the objects: [`readable`].
//! Workloads that the caller may not read never are an error, because a chain of owners may end anywhere: see `owners`.

mod metadata;
mod owners;
mod pod;

pub(crate) use metadata::{Metadata, ObjectWithMetadata};
pub(crate) use owners::{
    OwnerChains, PARALLEL, WorkloadKey, WorkloadView, key, owner_chains, workload_path, workloads,
};
pub(crate) use pod::{PodView, status};

use crate::api::{self, ApiError, ErrorStatus, JSON, ListMeta};
use crate::connect::Session;
use common::api::{self as wire, DecodeError};
use common::model::chain::chain;
use common::model::{Node, PodKey};
use jiff::Timestamp;

pub(crate) const NODES: &str = "/api/v1/nodes";

/// The path of the pods of all namespaces.
pub(crate) const PODS: &str = "/api/v1/pods";

/// A field selector for pods that have not ended, as a part of a query.
pub(crate) const LIVE: &str = "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

pub(crate) fn pod_path(key: &PodKey) -> String {
    format!("{}/{}", pods_in(&key.namespace), key.name)
}

pub(crate) fn pods_in(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/pods")
}

/// The query for objects whose labels match a selector.
pub(crate) fn with_labels(selector: &str) -> String {
    format!("labelSelector={}", escaped(selector))
}

/// The query for the pods that are bound to a node.
pub(crate) fn on_node(node: &str) -> String {
    format!("fieldSelector=spec.nodeName%3D{node}")
}

/// Percent-encodes text for a query.
pub(crate) fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escape = |byte: u8| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(escape).collect()
}

/// Turns a 403 into `None`.
pub(crate) fn readable<T>(answer: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    without(answer, |refused| refused.code == 403)
}

/// Turns the API server's answer that an object does not exist into `None`; the 404 of a proxy is an error.
pub(crate) fn existing<T>(answer: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    without(answer, ErrorStatus::is_not_found)
}

/// Turns a 404 into `None`, for kinds that not every server has: for an unknown API group the API server sends no `Status`.
pub(crate) fn served<T>(answer: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    without(answer, |refused| refused.code == 404)
}

fn without<T>(
    answer: Result<T, ApiError>,
    is_none: impl Fn(&ErrorStatus) -> bool,
) -> Result<Option<T>, ApiError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(ApiError::Refused(refused)) if is_none(&refused) => Ok(None),
        Err(error) => Err(error),
    }
}

/// One object, and the server's time.
pub(crate) async fn get<T>(
    session: &Session,
    path: &str,
    decode: impl Fn(&str) -> Result<T, DecodeError>,
) -> Result<(T, Option<Timestamp>), ApiError> {
    let answer = api::get(session, path, JSON).await?;
    let object = decode(&answer.text).map_err(api::broken)?;
    Ok((object, answer.at))
}

/// All objects of a list. `accept` says whether whole objects are read or only their metadata.
pub(crate) async fn list<T>(
    session: &Session,
    path: &str,
    query: &str,
    accept: &str,
    decode: impl Fn(&str) -> Result<T, DecodeError>,
) -> Result<(Vec<T>, ListMeta), ApiError> {
    let mut all = Vec::new();
    let each = |json: &str| {
        all.push(decode(json).map_err(|error| chain(&error))?);
        Ok(())
    };
    let meta = api::list(session, path, query, accept, each).await?;
    Ok((all, meta))
}

/// The pod called `key`; `None` if it does not exist.
pub(crate) async fn pod(session: &Session, key: &PodKey) -> Result<Option<PodView>, ApiError> {
    let found = existing(get(session, &pod_path(key), PodView::read).await)?;
    Ok(found.map(|(pod, _)| pod))
}

pub(crate) async fn pods(session: &Session, path: &str, query: &str) -> Result<Vec<PodView>, ApiError> {
    Ok(list(session, path, query, JSON, PodView::read).await?.0)
}

/// The node with this name, and the server's time; `None` if it does not exist.
pub(crate) async fn node(
    session: &Session,
    name: &str,
) -> Result<Option<(Node, Option<Timestamp>)>, ApiError> {
    existing(get(session, &format!("{NODES}/{name}"), wire::node::node).await)
}
