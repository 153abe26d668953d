//! The replicas of the daemon, as their Leases tell.

use crate::api::{self, ApiError, JSON};
use crate::connect::Session;
use crate::objects::{found, get};
use common::api::names;
use common::api::replica::replica;
use common::model::Replica;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;

const LEASES: &str = "/apis/coordination.k8s.io/v1";

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Replicas {
    /// By name.
    pub(crate) all: Vec<Replica>,
    /// The server's time, if it was asked.
    pub(crate) now: Option<Timestamp>,
}

/// Reads the Leases of all namespaces; of the daemon's own alone where the caller may not.
pub(crate) async fn read(session: &Session, namespace: &str) -> Result<Replicas, ApiError> {
    match read_at(session, &format!("{LEASES}/leases")).await {
        Err(error) if error.code() == Some(403) => {
            let path = format!("{LEASES}/namespaces/{namespace}/leases");
            read_at(session, &path).await
        }
        other => other,
    }
}

async fn read_at(session: &Session, path: &str) -> Result<Replicas, ApiError> {
    let label = format!("labelSelector={}%3D{}", names::APP_LABEL.replace('/', "%2F"), names::APP);
    let mut all = Vec::new();
    // A Lease that cannot be read is nobody's word.
    let each = |json: &str| {
        all.extend(replica(json).ok());
        Ok(())
    };
    let now = api::list(session, path, &label, JSON, each).await?;
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Replicas { all, now })
}

/// Which of the replicas leads, by the Lease of the election in their namespaces: its holder is `<replica>_<something>`.
/// None where there is no election.
pub(crate) async fn leader(session: &Session, all: &[&Replica]) -> Option<String> {
    let namespaces: BTreeSet<&str> = all.iter().map(|replica| &*replica.meta.namespace).collect();
    for namespace in namespaces {
        let path = format!("{LEASES}/namespaces/{namespace}/leases/{}", names::LEADER_LEASE);
        let lease = found(get(session, &path).await).ok().flatten();
        let holder =
            lease.as_ref().and_then(|lease| lease.pointer("/spec/holderIdentity")).and_then(Value::as_str);
        let name = holder.and_then(|holder| holder.split('_').next()).filter(|name| !name.is_empty());
        if let Some(name) = name {
            return Some(name.to_owned());
        }
    }
    None
}

impl Replicas {
    /// Those whose word is good at `now`.
    pub(crate) fn live(&self, now: Timestamp) -> impl Iterator<Item = &Replica> {
        self.all.iter().filter(move |replica| replica.is_live(now))
    }
}
