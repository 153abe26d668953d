//! Objects of any kind as JSON: read, listed, applied, deleted. For `install`, `uninstall` and `doctor`.

use crate::api::{self, APPLY_PATCH, ApiError, JSON};
use crate::connect::Session;
use crate::manifests::{ManifestKind, Object};
use crate::node_patch::DryRun;
use crate::reader::served;
use common::api::names;
use http::Method;
use serde_json::{Value, json};

/// The field manager of server-side apply.
const FIELD_MANAGER: &str = "kubectl-reserve";

/// The query for objects with our label `app.kubernetes.io/part-of`.
pub(crate) fn label_query() -> String {
    format!("labelSelector={}%3D{}", names::PART_LABEL.replace('/', "%2F"), names::APP)
}

/// The object as the server has it, if it exists and the server has its kind.
pub(crate) async fn find(session: &Session, object: &Object) -> Result<Option<Value>, ApiError> {
    served(get(session, &object.path()).await)
}

pub(crate) async fn get(session: &Session, path: &str) -> Result<Value, ApiError> {
    parse(&api::get(session, path, JSON).await?.text)
}

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
    kind: ManifestKind,
    namespace: Option<&str>,
) -> Result<Vec<Object>, ApiError> {
    let items = list(session, &kind.path(namespace), &label_query()).await?;
    let object = |mut json: Value| {
        // The server leaves out the kind of the items in a list.
        json["kind"] = kind.kind.into();
        Object::new(json)
    };
    Ok(items.into_iter().filter_map(object).collect())
}

/// Applies an object on the server, and takes over fields of other managers. Returns the stored object.
pub(crate) async fn apply(session: &Session, object: &Object, dry_run: DryRun) -> Result<Value, ApiError> {
    let dry = if dry_run == DryRun::Server { "&dryRun=All" } else { "" };
    let path = format!("{}?fieldManager={FIELD_MANAGER}&force=true{dry}", object.path());
    let answer = api::write(session, Method::PATCH, &path, APPLY_PATCH, object.json.to_string()).await?;
    parse(&answer.text)
}

/// Deletes an object, and its dependents first. Returns whether it existed.
pub(crate) async fn delete(session: &Session, object: &Object) -> Result<bool, ApiError> {
    let mut options =
        json!({ "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground" });
    // Only the object that was read: another one of the same name may have been created since.
    if let Some(uid) = object.json.pointer("/metadata/uid") {
        options["preconditions"] = json!({ "uid": uid });
    }
    let answer = api::write(session, Method::DELETE, &object.path(), JSON, options.to_string()).await;
    Ok(served(answer)?.is_some())
}

fn parse(text: &str) -> Result<Value, ApiError> {
    serde_json::from_str(text).map_err(api::broken)
}
