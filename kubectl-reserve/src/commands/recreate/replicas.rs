//! The replicas of the daemon, by their Leases: who obeys, and who has seen what.

use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::names::escaped;
use common::api::names::{APP, APP_LABEL};
use common::api::replica::replica;
use common::cluster::{Rung, rung};
use common::model::Replica;
use jiff::Timestamp;

/// What the Leases say.
#[derive(Default)]
pub(crate) struct Replicas {
    pub(super) all: Vec<Replica>,
    /// The server's time when it said so.
    pub(super) now: Timestamp,
    /// Whether the caller may not read them.
    pub(super) is_hidden: bool,
}

/// Reads the Leases of all replicas, in whichever namespace.
pub(crate) async fn read(session: &Session) -> Result<Replicas, ApiError> {
    let query = format!("labelSelector={}", escaped(&format!("{APP_LABEL}={APP}")));
    let mut all = Vec::new();
    let each = |json: &str| {
        // The Lease of whoever leads, and what else has the label, is no replica's.
        all.extend(replica(json).ok().filter(|one| one.renewed.is_some()));
        Ok(())
    };
    match calls::list(session, "/apis/coordination.k8s.io/v1/leases", &query, JSON, each).await {
        Ok(now) => Ok(Replicas { all, now: now.unwrap_or_default(), is_hidden: false }),
        Err(error) if error.code() == Some(403) => Ok(Replicas { is_hidden: true, ..Replicas::default() }),
        Err(error) => Err(error),
    }
}

impl Replicas {
    /// How the scheduler called `name` obeys reservations.
    pub(crate) fn rung(&self, name: &str) -> Rung {
        rung(self.all.iter(), name, self.now)
    }

    /// How many are live.
    pub(crate) fn live(&self) -> usize {
        self.all.iter().filter(|replica| replica.is_live(self.now)).count()
    }
}
