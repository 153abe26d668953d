//! The replicas of the daemon, as their Leases tell: who is there, who has seen a write, and which schedulers obey reservations.

use crate::api::{self, ApiError, JSON};
use crate::connect::Session;
use crate::objects::{found, get};
use crate::reservations::local_time;
use common::api::names;
use common::api::replica::replica;
use common::cluster::{Acknowledged, Rung, acknowledged, rung};
use common::model::Replica;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const LEASES: &str = "/apis/coordination.k8s.io/v1";

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// How long replicas have to say that they have seen a write.
pub(crate) const SEEN_MAX: Duration = Duration::from_secs(10);

/// The right that reading the Leases needs.
pub(crate) const RIGHT: &str = "list leases.coordination.k8s.io (all namespaces)";

/// The replicas that have a Lease, and the API server's time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replicas {
    /// By name.
    pub(crate) all: Vec<Replica>,
    pub(crate) now: Timestamp,
    /// Whether the caller may not read them.
    pub(crate) is_hidden: bool,
}

/// What came of waiting until all have seen a write.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) by: Acknowledged,
    pub(crate) replicas: Replicas,
}

/// Reads the Leases of all namespaces; of `namespace` alone, where the daemon should be, if the caller may not.
pub(crate) async fn read(session: &Session, namespace: &str) -> Result<Replicas, ApiError> {
    match read_at(session, &format!("{LEASES}/leases")).await {
        Err(error) if error.code() == Some(403) => {
            read_at(session, &format!("{LEASES}/namespaces/{namespace}/leases")).await
        }
        other => other,
    }
}

/// The same for somebody who goes on without.
pub(crate) async fn read_if_allowed(session: &Session) -> Result<Replicas, ApiError> {
    match read(session, names::NAMESPACE).await {
        Err(error) if error.code() == Some(403) => Ok(Replicas { is_hidden: true, ..Replicas::default() }),
        other => other,
    }
}

async fn read_at(session: &Session, path: &str) -> Result<Replicas, ApiError> {
    let label = format!("labelSelector={}%3D{}", names::APP_LABEL.replace('/', "%2F"), names::APP);
    let mut all = Vec::new();
    // A Lease that cannot be read is nobody's word, and that of the election no replica's.
    let each = |json: &str| {
        all.extend(replica(json).ok().filter(|one| one.renewed.is_some()));
        Ok(())
    };
    let now = api::list(session, path, &label, JSON, each).await?.at;
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Replicas { all, now: now.unwrap_or_else(local_time), is_hidden: false })
}

/// Waits until all live replicas have seen version `written` of a node, or for long enough.
pub(crate) async fn wait(session: &Session, written: u64) -> Result<Heard, ApiError> {
    let looks = SEEN_MAX.as_millis() / PAUSE.as_millis();
    for _ in 0..looks {
        let replicas = read(session, names::NAMESPACE).await?;
        let by = acknowledged(replicas.all.iter(), written, replicas.now);
        if !matches!(by, Acknowledged::NotBy(_)) {
            return Ok(Heard { by, replicas });
        }
        tokio::time::sleep(PAUSE).await;
    }
    let replicas = read(session, names::NAMESPACE).await?;
    let by = acknowledged(replicas.all.iter(), written, replicas.now);
    Ok(Heard { by, replicas })
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
    /// Those whose word is good.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Replica> {
        self.all.iter().filter(|one| one.is_live(self.now))
    }

    /// How the scheduler called `name` obeys reservations.
    pub(crate) fn rung(&self, name: &str) -> Rung {
        rung(self.all.iter(), name, self.now)
    }

    /// The schedulers that obey reservations, and how.
    pub(crate) fn obeying(&self) -> BTreeMap<String, Rung> {
        let names = self.live().flat_map(|one| one.schedulers.iter().chain(one.extends.iter()));
        names.map(|name| (name.to_string(), self.rung(name))).collect()
    }

    /// Who obeys, in words: `reserve-scheduler (the daemon), default-scheduler (through its extender)`.
    pub(crate) fn words(&self) -> String {
        let word = |(name, rung): (String, Rung)| match rung {
            Rung::Scheduler => format!("{name} (the daemon)"),
            Rung::Extender => format!("{name} (through its extender)"),
            Rung::Nobody => name,
        };
        self.obeying().into_iter().map(word).collect::<Vec<_>>().join(", ")
    }
}
