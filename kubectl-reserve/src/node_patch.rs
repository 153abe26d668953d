//! Changing the reservations on one node: look, plan, write on the condition that what was seen is still so; again if
//! somebody else was faster. The one place of the command that writes to nodes' annotations.

use crate::api::{self, ApiError, JSON, JSON_PATCH};
use crate::connect::Session;
use crate::error::Failure;
use common::api::reservation::patch::Seen;
use http::Method;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Tries of one write. Somebody who writes to a node all the time must not hold us up for ever.
const TRIES_MAX: u32 = 8;

/// The pause after the first try; each later one is longer by as much.
const PAUSE: Duration = Duration::from_millis(60);

/// Whether something is really written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DryRun {
    /// It is.
    #[default]
    None,
    /// Nothing is sent.
    Client,
    /// The server checks it and stores nothing.
    Server,
}

/// A node after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    /// The version that has the change; the one that was seen if there was nothing to do.
    pub(crate) version: u64,
    /// Whether anything was written.
    pub(crate) is_changed: bool,
}

#[derive(Deserialize)]
struct NodeWire {
    metadata: MetaWire,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetaWire {
    uid: String,
    resource_version: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// Changes the annotations of `node` as `plan` says, given what was seen: a JSON patch (`common::api::reservation::patch`),
/// nothing to do, or why not. `plan` is asked again for each try.
pub(crate) async fn rewrite(
    session: &Session,
    node: &str,
    dry_run: DryRun,
    mut plan: impl FnMut(&Seen<'_>) -> Result<Option<Value>, Failure>,
) -> Result<Written, Failure> {
    let path = format!("/api/v1/nodes/{node}");
    let mut last = String::new();
    for attempt in 1..=TRIES_MAX {
        let answer = api::get(session, &path, JSON).await;
        let answer = answer.map_err(|error| error.into_failure("read the node", "get nodes"))?;
        let seen = read(&answer.text)?;
        let Some(patch) = plan(&seen.as_seen())? else { return written(&seen, false) };
        if dry_run == DryRun::Client {
            return written(&seen, true);
        }
        let path = if dry_run == DryRun::Server { format!("{path}?dryRun=All") } else { path.clone() };
        match api::write(session, Method::PATCH, &path, JSON_PATCH, patch.to_string()).await {
            Ok(answer) => return written(&read(&answer.text)?, true),
            // What was seen is no longer so; or nobody knows, and the next look tells.
            Err(ApiError::Refused(refused)) if matches!(refused.code, 409 | 422) => last = refused.message,
            Err(ApiError::Broken(why)) => last = why,
            Err(error) => return Err(error.into_failure("write the node", "patch nodes")),
        }
        tokio::time::sleep(PAUSE * attempt).await;
    }
    Err(Failure::new(format!("node {node} could not be written in {TRIES_MAX} tries: {last}")))
}

impl NodeWire {
    fn as_seen(&self) -> Seen<'_> {
        let meta = &self.metadata;
        Seen { uid: &meta.uid, version: &meta.resource_version, annotations: &meta.annotations }
    }
}

fn read(text: &str) -> Result<NodeWire, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(format!("read the node: {error}")))
}

fn written(node: &NodeWire, is_changed: bool) -> Result<Written, Failure> {
    let version = node.metadata.resource_version.parse();
    let version = version.map_err(|error| Failure::new(format!("read the node's version: {error}")))?;
    Ok(Written { version, is_changed })
}
