//! Objects of any kind, as JSON: read, applied, removed. For what `install` puts into a cluster.

use crate::api::{self, APPLY_PATCH, ApiError, JSON};
use crate::connect::Session;
use crate::manifests::{Kind, Object};
use crate::node_patch::DryRun;
use common::api::names;
use http::Method;
use serde_json::{Value, json};

/// Who is said to have written.
const FIELD_MANAGER: &str = "kubectl-reserve";

/// Our label, as a query.
pub(crate) fn ours() -> String {
    format!("labelSelector={}%3D{}", names::PART_LABEL.replace('/', "%2F"), names::APP)
}

/// An object as it is now, if it is there.
pub(crate) async fn find(session: &Session, object: &Object) -> Result<Option<Value>, ApiError> {
    found(get(session, &object.path()).await)
}

/// The JSON at a path.
pub(crate) async fn get(session: &Session, path: &str) -> Result<Value, ApiError> {
    value(&api::get(session, path, JSON).await?.text)
}

/// Nothing, where what was asked for is not there.
pub(crate) fn found<T>(answer: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}

/// All objects at a path.
pub(crate) async fn list(session: &Session, path: &str, query: &str) -> Result<Vec<Value>, ApiError> {
    let mut all = Vec::new();
    let each = |json: &str| {
        all.push(serde_json::from_str(json).map_err(|error| error.to_string())?);
        Ok(())
    };
    api::list(session, path, query, JSON, each).await?;
    Ok(all)
}

/// Objects of a kind with our label, in one namespace or in all.
pub(crate) async fn labelled(
    session: &Session,
    kind: Kind,
    namespace: Option<&str>,
) -> Result<Vec<Object>, ApiError> {
    let items = list(session, &kind.path(namespace), &ours()).await?;
    let object = |mut json: Value| {
        // Items of a list do not say what they are.
        json["kind"] = kind.kind.into();
        Object::new(json)
    };
    Ok(items.into_iter().filter_map(object).collect())
}

/// Applies an object, whoever had a say in its fields before. Returns it as it is now.
pub(crate) async fn apply(session: &Session, object: &Object, dry_run: DryRun) -> Result<Value, ApiError> {
    let dry = if dry_run == DryRun::Server { "&dryRun=All" } else { "" };
    let path = format!("{}?fieldManager={FIELD_MANAGER}&force=true{dry}", object.path());
    let answer = api::write(session, Method::PATCH, &path, APPLY_PATCH, object.json.to_string()).await?;
    value(&answer.text)
}

/// Removes an object, and what belongs to it first. Whether it was there.
pub(crate) async fn delete(session: &Session, object: &Object) -> Result<bool, ApiError> {
    let mut options =
        json!({ "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground" });
    // Only the one that was looked at: another one of its name may have been made since.
    if let Some(uid) = object.json.pointer("/metadata/uid") {
        options["preconditions"] = json!({ "uid": uid });
    }
    let answer = api::write(session, Method::DELETE, &object.path(), JSON, options.to_string()).await;
    Ok(found(answer)?.is_some())
}

fn value(text: &str) -> Result<Value, ApiError> {
    serde_json::from_str(text).map_err(|error| ApiError::Broken(error.to_string()))
}
