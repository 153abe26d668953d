//! The replicas of the daemon, as their Leases tell.

use crate::api::{self, ApiError, JSON};
use crate::connect::Session;
use crate::objects::{found, get};
use common::api::names;
use common::api::replica::replica;
use common::model::Replica;
use jiff::Timestamp;
use serde_json::Value;

const LEASES: &str = "/apis/coordination.k8s.io/v1";

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Replicas {
    /// By name.
    pub(crate) all: Vec<Replica>,
    /// Who leads, by the Lease of the election: the replica's name.
    pub(crate) leader: Option<String>,
    /// The server's time, if it was asked.
    pub(crate) now: Option<Timestamp>,
    /// The one namespace that was looked at, when not all may be.
    pub(crate) only_in: Option<String>,
}

/// Reads the Leases of all namespaces; of the daemon's own alone where the caller may not.
pub(crate) async fn read(session: &Session, namespace: &str) -> Result<Replicas, ApiError> {
    match read_at(session, &format!("{LEASES}/leases")).await {
        Err(error) if error.code() == Some(403) => {
            let path = format!("{LEASES}/namespaces/{namespace}/leases");
            let mut replicas = read_at(session, &path).await?;
            replicas.only_in = Some(namespace.to_owned());
            Ok(replicas)
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
    let leader = leader(session, &all).await;
    Ok(Replicas { all, leader, now, only_in: None })
}

/// The holder of the election's Lease is `<replica>_<something>`.
async fn leader(session: &Session, all: &[Replica]) -> Option<String> {
    let mut namespaces: Vec<&str> = all.iter().map(|replica| &*replica.meta.namespace).collect();
    namespaces.dedup();
    for namespace in namespaces {
        let path = format!("{LEASES}/namespaces/{namespace}/leases/{}", names::LEADER_LEASE);
        // Without the election's Lease the one that serves leads: without an election all do.
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
