//! Changing the annotations of one node: `rewrite` reads the node, asks for a patch, and writes it on the condition that the node
//! has not changed; if it has, everything is repeated. The only place of the command that writes annotations of nodes.

use crate::api::{self, ApiError, JSON, JSON_PATCH};
use crate::clock::local_time;
use crate::connect::Session;
use crate::error::Failure;
use common::api::reservation::patch::ObservedNode;
use http::Method;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The number of tries: a node that somebody writes to all the time must not delay the command for ever.
const TRIES_MAX: u32 = 8;

/// The pause after the first try; each later pause is longer by this much.
const PAUSE: Duration = Duration::from_millis(60);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DryRun {
    /// Everything is written.
    #[default]
    None,
    /// Nothing is sent to the server.
    Client,
    /// The server checks each write and stores nothing.
    Server,
}

/// The result of `rewrite`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchOutcome {
    /// The version of the node with the change; the version that was read if nothing was written.
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

/// Changes the annotations of `node`. For each try `plan` gets the node as it was read, and the server's time, and returns a JSON patch
/// (`common::api::reservation::patch`), `None` if there is nothing to do, or an error, which is returned.
pub(crate) async fn rewrite<E: From<Failure>>(
    session: &Session,
    node: &str,
    dry_run: DryRun,
    mut plan: impl FnMut(&ObservedNode<'_>, Timestamp) -> Result<Option<Value>, E>,
) -> Result<PatchOutcome, E> {
    let path = format!("/api/v1/nodes/{node}");
    let mut last = String::new();
    for attempt in 1..=TRIES_MAX {
        let answer = api::get(session, &path, JSON).await;
        let answer = answer.map_err(|error| error.into_failure("read the node", "get nodes"))?;
        let (node, now) = (read(&answer.text)?, answer.at.unwrap_or_else(local_time));
        let Some(patch) = plan(&node.as_observed(), now)? else { return Ok(outcome(&node, false)?) };
        if dry_run == DryRun::Client {
            return Ok(outcome(&node, true)?);
        }
        let path = if dry_run == DryRun::Server { format!("{path}?dryRun=All") } else { path.clone() };
        match api::write(session, Method::PATCH, &path, JSON_PATCH, patch.to_string()).await {
            Ok(answer) => return Ok(outcome(&read(&answer.text)?, true)?),
            // The node has changed since it was read; or there was no response, and the next read tells whether it was written.
            Err(ApiError::Refused(refused)) if matches!(refused.code, 409 | 422) => last = refused.message,
            Err(ApiError::Broken(why)) => last = why,
            Err(error) => return Err(error.into_failure("write the node", "patch nodes").into()),
        }
        tokio::time::sleep(PAUSE * attempt).await;
    }
    Err(Failure::new(format!("node {node} could not be written in {TRIES_MAX} tries: {last}")).into())
}

impl NodeWire {
    fn as_observed(&self) -> ObservedNode<'_> {
        let meta = &self.metadata;
        ObservedNode { uid: &meta.uid, version: &meta.resource_version, annotations: &meta.annotations }
    }
}

fn read(text: &str) -> Result<NodeWire, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(format!("read the node: {error}")))
}

fn outcome(node: &NodeWire, is_changed: bool) -> Result<PatchOutcome, Failure> {
    let version = node.metadata.resource_version.parse();
    let version = version.map_err(|error| Failure::new(format!("read the node's version: {error}")))?;
    Ok(PatchOutcome { version, is_changed })
}
