//! The extension points after a node was chosen: Reserve, Permit, PreBind, Bind, PostBind, in this order. `cycle` calls
//! them. Bind plugins only say whether they bind a pod; the daemon writes the Binding, and before it what Reserve plugins need.

use super::{Plugin, Rejection};
use crate::cluster::{Ledger, PodContext, Snapshot};
use crate::model::{Claim, Claims, NodeName, ObjectWrite};
use std::time::Duration;

/// Chooses what a pod takes on its node besides room, prepares it before the binding, and takes it back.
pub trait Reserve: Plugin {
    /// What the pod takes on this node.
    ///
    /// # Errors
    /// When something that the pod needs is no longer available on this node.
    fn reserve(
        &self,
        context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Result<Vec<Claim>, Rejection>;

    /// What has to be done for those of `claims` that are of this plugin before a pod is bound to `node`.
    fn prepare_claims(
        &self,
        _claims: &Claims,
        _node: &NodeName,
        _world: &Snapshot<'_>,
    ) -> Vec<PreparedClaim> {
        Vec::new()
    }

    /// Whether what [`Reserve::prepare_claims`] returned is done. Asked once the writes are answered, and then after each change.
    fn progress(
        &self,
        _prepared: &[PreparedClaim],
        _node: &NodeName,
        _world: &Snapshot<'_>,
    ) -> ClaimProgress {
        ClaimProgress::Done
    }

    /// How long that may take, and the error text if it takes longer.
    fn timeout(&self) -> (Duration, &'static str) {
        (PREPARE_MAX, "context deadline exceeded")
    }

    /// What has to be written because a pod with these claims is not bound to `node` after all. Nobody waits for it.
    fn release_claims(&self, _claims: &Claims, _node: &NodeName, _world: &Snapshot<'_>) -> Vec<ObjectWrite> {
        Vec::new()
    }

    /// Called when the pod is not bound to the node. The belief itself forgets what `reserve` returned.
    fn unreserve(&self, _context: &PodContext<'_>, _ledger: &Ledger) {}
}

/// How long claims may take, unless the plugin says otherwise: the default of kube-scheduler's plugins.
const PREPARE_MAX: Duration = Duration::from_secs(600);

/// A claim for which something has to be done before its pod is bound.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedClaim {
    pub claim: Claim,
    /// The write to the API server; `None` if the object is as wanted already.
    pub write: Option<ObjectWrite>,
    /// The version of the object that has the write. Until the write is answered it is `u64::MAX`: no version is new enough.
    pub version: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimProgress {
    Done,
    /// Something is missing yet.
    Waiting,
    /// The preparation failed, and the pod has to be scheduled again.
    Failed(String),
}

/// Allows, delays or denies the binding of a pod.
pub trait Permit: Plugin {
    fn permit(&self, context: &PodContext<'_>, ledger: &Ledger) -> Permission;
}

#[derive(Clone, Debug, PartialEq)]
pub enum Permission {
    Granted,
    /// The pod waits until the plugin allows it, at most this long.
    Wait(Duration),
    Denied(Rejection),
}

pub trait PreBind: Plugin {
    /// Called right before the binding is written.
    ///
    /// # Errors
    /// When the pod cannot be bound to this node.
    fn pre_bind(&self, context: &PodContext<'_>, ledger: &Ledger) -> Result<(), Rejection>;
}

/// Binds pods. The first Bind plugin that accepts a pod binds it.
pub trait Bind: Plugin {
    /// Whether this plugin binds the pod; false: the next Bind plugin is asked.
    fn binds(&self, context: &PodContext<'_>) -> bool;
}

/// Called after a pod was bound.
pub trait PostBind: Plugin {
    fn post_bind(&self, context: &PodContext<'_>, ledger: &Ledger);
}
