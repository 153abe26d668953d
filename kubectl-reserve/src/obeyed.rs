//! What the daemon's replicas say in their Leases: who has seen a write, and which schedulers obey reservations.

use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::reservations::local_time;
use common::api::names;
use common::api::replica::replica;
use common::cluster::{Acknowledged, Rung, acknowledged, rung};
use common::model::Replica;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

const LEASES: &str = "/apis/coordination.k8s.io/v1/leases";

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// How long replicas have to say that they have seen a write.
pub(crate) const SEEN_MAX: Duration = Duration::from_secs(10);

/// The right that reading the Leases needs.
pub(crate) const RIGHT: &str = "list leases.coordination.k8s.io (all namespaces)";

/// The replicas that have a Lease, and the API server's time.
#[derive(Clone, Debug)]
pub(crate) struct Replicas {
    pub(crate) all: Vec<Replica>,
    pub(crate) now: Timestamp,
}

/// What came of waiting until all have seen a write.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) by: Acknowledged,
    pub(crate) replicas: Replicas,
}

/// Reads the Leases.
pub(crate) async fn read(session: &Session) -> Result<Replicas, ApiError> {
    let query = format!("labelSelector={}%3D{}", names::APP_LABEL.replace('/', "%2F"), names::APP);
    let mut all = Vec::new();
    let each = |json: &str| {
        // The leader's Lease is no replica's.
        all.extend(replica(json).ok());
        Ok(())
    };
    let at = calls::list(session, LEASES, &query, JSON, each).await?;
    Ok(Replicas { all, now: at.unwrap_or_else(local_time) })
}

/// Waits until all live replicas have seen version `written` of a node, or for long enough.
pub(crate) async fn wait(session: &Session, written: u64) -> Result<Heard, ApiError> {
    let looks = SEEN_MAX.as_millis() / PAUSE.as_millis();
    for _ in 0..looks {
        let replicas = read(session).await?;
        let by = acknowledged(replicas.all.iter(), written, replicas.now);
        if !matches!(by, Acknowledged::NotBy(_)) {
            return Ok(Heard { by, replicas });
        }
        tokio::time::sleep(PAUSE).await;
    }
    let replicas = read(session).await?;
    let by = acknowledged(replicas.all.iter(), written, replicas.now);
    Ok(Heard { by, replicas })
}

impl Replicas {
    /// How many are live.
    pub(crate) fn live(&self) -> usize {
        self.all.iter().filter(|one| one.is_live(self.now)).count()
    }

    /// The schedulers that obey reservations, and how.
    pub(crate) fn obeying(&self) -> BTreeMap<String, Rung> {
        let live = self.all.iter().filter(|one| one.is_live(self.now));
        let names = live.flat_map(|one| one.schedulers.iter().chain(one.extends.iter()));
        names.map(|name| (name.to_string(), rung(self.all.iter(), name, self.now))).collect()
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
