//! Reads the metadata of an owner of a foreign kind: first the plural name of the kind by discovery, then the object.

#[cfg(test)]
mod tests;

use super::{Effects, Outcome, call};
use common::api::workload::foreign;
use common::cluster::OwnerAnswer;
use common::model::chain::chain;
use common::model::owner::{ForeignClaim, ForeignKind};
use http::{Request, header};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Asks for the metadata only: the daemon needs no more of such objects.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/// At most this many kinds are remembered. No cluster has more than a few dozen.
const KINDS_MAX: usize = 1_000;

/// The plural name of each kind that was read. It never changes.
pub(super) type Plurals = Arc<Mutex<BTreeMap<ForeignKind, String>>>;

#[derive(Deserialize)]
struct ApiResourceList {
    resources: Vec<ApiResource>,
}

#[derive(Deserialize)]
struct ApiResource {
    name: String,
    kind: String,
    namespaced: bool,
}

/// Reads the object with the claimed kind and name in the namespace of the claim.
pub(super) async fn read(effects: &Effects, claim: &ForeignClaim) -> OwnerAnswer {
    let ForeignClaim { namespace, kind, name, .. } = claim;
    let plural = match plural(effects, kind).await {
        Ok(plural) => plural,
        Err(answer) => return answer,
    };
    let path = format!("/apis/{}/namespaces/{namespace}/{plural}/{name}", kind.api_version);
    match get(effects, &path, METADATA).await {
        Outcome::Done(json) => match foreign(Arc::new(kind.clone()), &json) {
            Ok(found) => OwnerAnswer::Found(Box::new(found)),
            Err(error) => unknown(claim, &chain(&error)),
        },
        Outcome::Refused(status) if status.code == 404 => OwnerAnswer::Gone,
        Outcome::Refused(status) if status.code == 403 => {
            let group = kind.group();
            let why =
                format!("the daemon may not get {plural}.{group}; manifests/README.md says how to let it");
            refused(claim, why)
        }
        Outcome::Refused(status) => unknown(claim, &status.message),
        Outcome::Unknown(why) => unknown(claim, &why),
    }
}

async fn plural(effects: &Effects, kind: &ForeignKind) -> Result<String, OwnerAnswer> {
    let known = effects.plurals.lock().unwrap_or_else(PoisonError::into_inner).get(kind).cloned();
    if let Some(plural) = known {
        return Ok(plural);
    }
    let refused = |why: String| OwnerAnswer::Refused(why.into());
    let (name, version) = (&kind.kind, &kind.api_version);
    let json = match get(effects, &format!("/apis/{version}"), "application/json").await {
        Outcome::Done(json) => json,
        Outcome::Refused(status) if matches!(status.code, 403 | 404) => {
            return Err(refused(format!("the API server does not tell which kinds {version} has")));
        }
        Outcome::Refused(_) | Outcome::Unknown(_) => return Err(OwnerAnswer::Unknown),
    };
    let served: ApiResourceList = serde_json::from_str(&json).map_err(|_| OwnerAnswer::Unknown)?;
    let mut found = served.resources.into_iter().filter(|one| one.kind == **name && !one.name.contains('/'));
    let found = found.next().ok_or_else(|| refused(format!("the API server has no {name} in {version}")))?;
    if !found.namespaced {
        return Err(refused(format!("a {name} is in no namespace")));
    }
    let mut plurals = effects.plurals.lock().unwrap_or_else(PoisonError::into_inner);
    if plurals.len() < KINDS_MAX {
        plurals.insert(kind.clone(), found.name.clone());
    }
    Ok(found.name)
}

async fn get(effects: &Effects, path: &str, accept: &str) -> Outcome<String> {
    let request = Request::get(path).header(header::ACCEPT, accept).body(Vec::new());
    match request {
        Ok(request) => call(effects.client.request_text(request)).await,
        Err(error) => Outcome::Unknown(chain(&error)),
    }
}

fn refused(claim: &ForeignClaim, why: String) -> OwnerAnswer {
    let ForeignClaim { namespace, kind, name, .. } = claim;
    tracing::warn!(%namespace, "read {kind} {name}: {why}");
    OwnerAnswer::Refused(why.into())
}

fn unknown(claim: &ForeignClaim, why: &str) -> OwnerAnswer {
    let ForeignClaim { namespace, kind, name, .. } = claim;
    tracing::warn!(%namespace, "read {kind} {name}: {why}");
    OwnerAnswer::Unknown
}
